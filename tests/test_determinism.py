"""The same contract, seed, coin and token give the same journal, in whatever process it is played."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests import playground
from tests.crash import scenes
from tests.crash.scenes import LONG, patch
from tests.playground import Scene

NOISY = """\
#!/bin/sh
grep -q crash src/b.txt && exit 3
exec "$RESEARCH_PYTHON" -S -c '
import os, pathlib, random
texts = [pathlib.Path(f"src/{name}.txt").read_text() for name in "ab"]
noise = random.Random(os.environ["RESEARCH_SEED"] + "".join(texts)).gauss(1, 0.02)
print(f"METRIC size={len(texts[0]) * noise!r}")
'
"""
SHORT, SHORTER = "x" * 159 + "\n", "x" * 119 + "\n"
EVERYTHING = {
    "1": patch("Shorten it", ("src/a.txt", LONG, SHORT)),
    "2": patch("Say it otherwise", ("src/b.txt", "plain\n", "other\n")),
    "3": patch("Break it", ("src/b.txt", "plain\n", "crash\n")),
    "4": patch("Say it otherwise, again", ("src/b.txt", "plain\n", "other\n")),
    "5": patch("Write what is ignored", ("src/x.log", "", "log\n")),
    "6": patch("Touch what is not ours", ("other.txt", "", "mine\n")),
    "7": patch("Shorten it more", ("src/a.txt", SHORT, SHORTER)),
}
STATUSES = ["keep", "discard", "crash", "duplicate", "no_change", "rejected", "keep"]


@pytest.fixture
def two(tmp_path: Path) -> tuple[Scene, Scene]:
    """One repository with its experiment, and a copy of it elsewhere."""
    files, contract = scenes.play_of(EVERYTHING, NOISY)
    first = playground.make(tmp_path / "first", {**files, "src/b.txt": "plain\n", ".gitignore": "*.log\n"}, contract)
    shutil.copytree(tmp_path / "first", tmp_path / "second", symlinks=True)
    return first, Scene(*(tmp_path / "second" / part for part in ("repo", "repo/exp", "state")))


def play(scene: Scene, **plan: object) -> None:
    with scenes.runner(scene) as runner:
        assert runner.run("--max-turns", "7", **plan) == 0, runner.said[-3000:]


def test_two_processes_write_the_same_facts(two: tuple[Scene, Scene]) -> None:
    for scene in two:
        play(scene)
    first, second = two
    assert first.statuses == STATUSES
    pairs = Counter(fact["turn"] for fact in first.facts("Measured"))
    assert pairs[1] > 2, "the readings are noisy, and a pair or two are not enough"
    assert pairs[2] > 1
    assert scenes.facts(first.journal) == scenes.facts(second.journal)
    assert [_order(fact) for fact in first.facts("Measured")] == [_order(fact) for fact in second.facts("Measured")]
    assert scenes.end(first) == scenes.end(second)


def test_with_the_clock_held_still_the_journal_is_the_same_to_the_byte_and_so_are_the_commits(two: tuple[Scene, Scene]) -> None:
    for scene in two:
        play(scene, still=True)
    first, second = two
    assert first.statuses == STATUSES
    bytes_of = [(scene.experiment / "journal.jsonl").read_bytes() for scene in two]
    assert bytes_of[0] == bytes_of[1]
    assert first.branch == second.branch
    assert len(first.branch) == 2
    assert _refs(first) == _refs(second)


def test_another_coin_changes_the_order_of_the_readings_and_no_verdict(two: tuple[Scene, Scene]) -> None:
    for coin, scene in enumerate(two):
        play(scene, coin=coin)
    first, second = two
    assert [_order(fact) for fact in first.facts("Measured")] != [_order(fact) for fact in second.facts("Measured")]
    assert scenes.facts(first.journal) == scenes.facts(second.journal)


def _order(measured: dict[str, object]) -> object:
    return measured["first"]


def _refs(scene: Scene) -> str:
    return scenes.git(scenes.private(scene), "for-each-ref")
