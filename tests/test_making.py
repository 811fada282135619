"""What a command makes over a tree is kept whole or not at all, with times that tell its order and nothing else."""

import os
import sys
import threading
from pathlib import Path

import pytest

from runner import making, repo
from runner.making import Made
from runner.sandbox import Job, Sandbox, probe

THEN = 1_000_000_000


@pytest.fixture(scope="module", params=[3, 0], ids=["layers", "copies"])
def sandbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    found = probe(tmp_path_factory.mktemp("state"), "any", at_most=request.param)
    if found.level != request.param:
        pytest.skip(f"no confinement of level {request.param} here: {found.report}")
    return found


@pytest.fixture
def over(tmp_path: Path) -> Path:
    """A sealed tree."""
    tree = tmp_path / "trees/one"
    (tree / "src").mkdir(parents=True)
    (tree / "src/a.c").write_text("a\n")
    (tree / "keep").write_text("k\n")
    repo.seal(tree)
    return tree


def made(sandbox: Sandbox, over: Path, script: str, name: str = "x") -> tuple[Path, str | None]:
    place = over.parents[1] / "builds" / name
    job = Job(("sh", "-ec", script), over, timeout_s=20)
    finished, fault = making.make(sandbox, job, over, place, threading.Event())
    return place, fault or (None if finished.ok else f"exit code {finished.exit_code}")


def test_what_is_new_and_what_is_changed_is_told_topmost_only(sandbox: Sandbox, over: Path) -> None:
    script = (
        "mkdir -p out/deep src/gen; echo 1 > out/deep/f; echo 2 > src/gen/g; echo 3 > src/new; echo more >> keep; touch src/a.c"
    )
    place, fault = made(sandbox, over, script)
    assert fault is None
    found = making.look(place)
    assert found is not None
    assert (found.new, found.changed) == (("out", "src/gen", "src/new"), ("keep",))
    assert repo.verify(over) == ()
    assert (over / "keep").read_text() == "k\n"


def test_the_digest_is_of_what_was_written_and_not_of_when(sandbox: Sandbox, over: Path) -> None:
    scripts = ["mkdir out; echo 1 > out/f", "mkdir out; sleep 1; echo 1 > out/f", "mkdir out; echo 2 > out/f", "mkdir out"]
    found = [making.look(made(sandbox, over, script, str(number))[0]) for number, script in enumerate(scripts)]
    digests = [each and each.digest for each in found]
    assert digests[0] == digests[1] != digests[2]
    assert found[3] == Made(("out",), (), None)


def test_times_keep_their_order_above_every_source_and_forget_the_hour(sandbox: Sandbox, over: Path) -> None:
    script = "mkdir out; touch -d 2000-01-01 out/old; touch out/first; sleep 0.02; touch out/second; touch -d 2099-01-01 out/last"
    place, _ = made(sandbox, over, f"{script}; ln -s nowhere out/link")
    times = {each.name: each.lstat().st_mtime_ns / 1e9 for each in (place / "out").iterdir()}
    assert times["old"] == 946684800.0
    assert THEN < times["first"] < times["second"] < times["last"] < THEN + 20
    assert THEN < times["link"] < THEN + 20


def test_a_command_that_fails_leaves_nothing_and_takes_away_what_was_there(sandbox: Sandbox, over: Path) -> None:
    assert made(sandbox, over, "mkdir out")[1] is None
    place, fault = made(sandbox, over, "mkdir out; echo 1 > out/f; exit 3")
    assert fault == "exit code 3"
    assert making.look(place) is None
    assert list(place.parent.iterdir()) == []


def test_what_cannot_be_kept_is_the_commands_fault(sandbox: Sandbox, over: Path) -> None:
    deep = "import os\nfor _ in range(1100): os.mkdir('d' * 9); os.chdir('d' * 9)"
    place, fault = made(sandbox, over, f'{sys.executable} -I -S -c "{deep}"')
    assert fault is not None
    assert fault.startswith("what it made cannot be kept: ")
    assert list(place.parent.iterdir()) == []


def test_modes_of_000_and_pipes_hinder_nobody(sandbox: Sandbox, over: Path) -> None:
    place, fault = made(sandbox, over, "mkdir -p out/a/b; echo 1 > out/a/b/f; mkfifo out/p; chmod 000 out/a/b/f out/a/b out/a")
    assert fault is None
    assert (place / "out/a/b/f").read_text() == "1\n"
    assert not os.path.lexists(place / "out/p")


def test_what_was_touched_is_not_as_it_was_left(sandbox: Sandbox, over: Path) -> None:
    place, _ = made(sandbox, over, "echo 1 > out")
    assert making.look(place) is not None
    (place / "out").write_text("2\n")
    assert making.look(place) is None


def test_only_those_that_were_looked_at_last_are_kept(tmp_path: Path, over: Path) -> None:
    best = probe(tmp_path / "state", "any")
    places = [made(best, over, "echo 1 > out", name)[0] for name in "abc"]
    for number, place in enumerate((places[1], places[2], places[0])):
        assert making.look(place) is not None
        os.utime(repo.made(place), (number, number))
    making.drop_spare(over.parents[1] / "builds", 2)
    assert sorted(each.name for each in (over.parents[1] / "builds").iterdir()) == ["a", "a.made", "c", "c.made"]
