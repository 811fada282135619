"""Kill it anywhere, as often as you like: the same command goes on, and ends where it would have ended."""

import itertools
import json
import os
import random
from typing import Any

import pytest

from tests.crash import scenes
from tests.crash.scenes import Runner

SEAMS = {"after": 2, "half": 3, "told": 2, "before": 3, "written": 2}
"""Where in the append of a line to die; which line of a start that is, so that each start gets one fact further."""
LINES = 36
"""Of the undisturbed campaign, its `Stopped` included."""
EVENTS = 1800
"""About so many things it does to files and processes."""
KILLED = -9


def same(runner: Runner, whole: dict[str, Any]) -> None:
    """The campaign ended as the undisturbed one, and left nothing else."""
    found = scenes.end(runner.scene)
    for part, expected in whole.items():
        assert found[part] == expected, f"{part}\n{runner.said[-3000:]}"
    assert scenes.unsound(runner.scene) == []


def finish(runner: Runner, whole: dict[str, Any]) -> None:
    """The same command once more, also where the kill came after the last fact: it writes what was left unwritten."""
    ended = runner.ended
    runner.play()
    assert len(runner.scene.facts("Stopped")) == 1 + ended
    same(runner, whole)


def kill(runner: Runner, **plan: Any) -> None:
    """One run that is killed, or ends before."""
    code = runner.run(**plan)
    assert code in (KILLED, 0), runner.said[-3000:]
    assert scenes.survivors(runner.scene, but=scenes.UNBORN) == []


def test_killed_at_each_line_of_its_journal_it_ends_where_it_would_have_ended(runner: Runner, whole: dict[str, Any]) -> None:
    """Each run writes one fact more and dies: before it, half-way through it, unsynced, synced, told."""
    for seam in itertools.cycle(SEAMS):
        if runner.ended:
            break
        kill(runner, seam=seam, line=runner.last + SEAMS[seam])
    assert len(runner.scene.facts("Started")) >= LINES - 4
    finish(runner, whole)


def test_killed_again_and_again_in_the_middle_of_things_it_ends_where_it_would_have_ended(
    runner: Runner, whole: dict[str, Any]
) -> None:
    chance = random.Random(1)
    for _ in range(16):
        if not runner.ended:
            kill(runner, event=chance.randrange(1, 900))
    finish(runner, whole)


def test_a_torn_last_line_is_set_aside_and_the_turn_goes_on(runner: Runner, whole: dict[str, Any]) -> None:
    path = runner.scene.experiment / "journal.jsonl"
    for line in (12, 30):
        kill(runner, seam="after", line=line)
        size = path.stat().st_size
        with path.open("r+b") as file:
            os.truncate(file.fileno(), size - 20)
        torn = size - 20 - (path.read_bytes().rfind(b"\n") + 1)
        assert runner.run(seam="after", line=line + 1) == KILLED
        assert f"{torn} bytes of an unfinished journal line were set aside in journal.jsonl.torn" in runner.said
        assert all(json.loads(text) for text in path.read_bytes().splitlines())
    finish(runner, whole)


@pytest.mark.slow
@pytest.mark.parametrize("seam", SEAMS)
def test_killed_in_the_same_place_of_every_line(runner: Runner, whole: dict[str, Any], seam: str) -> None:
    while not runner.ended:
        kill(runner, seam=seam, line=runner.last + SEAMS[seam])
    finish(runner, whole)


@pytest.mark.slow
@pytest.mark.parametrize("line", range(1, LINES + 1))
def test_killed_once_at_a_line(runner: Runner, whole: dict[str, Any], line: int) -> None:
    kill(runner, seam=list(SEAMS)[line % len(SEAMS)], line=line)
    finish(runner, whole)


@pytest.mark.slow
@pytest.mark.parametrize("event", range(7, EVENTS, 41))
def test_killed_once_at_one_of_the_things_it_does(runner: Runner, whole: dict[str, Any], event: int) -> None:
    kill(runner, event=event)
    finish(runner, whole)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_killed_at_random_times(runner: Runner, whole: dict[str, Any], seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 8)):
        if not runner.ended:
            kill(runner, seconds=chance.uniform(0.05, 2.0))
    finish(runner, whole)


@pytest.mark.slow
@pytest.mark.parametrize("line", [8, 9, 13, 20, 34])
def test_killed_at_many_of_the_things_it_does_to_recover(runner: Runner, whole: dict[str, Any], line: int) -> None:
    """Every start dies a little later than the one before, until one gets two facts further."""
    kill(runner, seam="written", line=line)
    facts = _further(runner)
    for event in range(3, EVENTS, 17):
        if _further(runner) >= facts + 2 or runner.ended:
            break
        kill(runner, event=event)
    finish(runner, whole)


def _further(runner: Runner) -> int:
    return sum(line["kind"] != "Started" for line in map(json.loads, _whole(runner)))


def _whole(runner: Runner) -> list[str]:
    text = (runner.scene.experiment / "journal.jsonl").read_text(encoding="utf-8")
    return text.splitlines()[: text.count("\n")]
