"""However a run is stopped, nothing is lost, nothing stays behind, and the same command goes on."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import playground
from tests.crash.scenes import alive, survivors
from tests.playground import Scene

EVALUATE = """\
#!/bin/sh
size=$(wc -c < src/a.txt)
while [ "$size" -lt 200 ] && [ -e gate/evaluate ]; do sleep 0.05; done
echo "METRIC size=$size"
"""
"""Waits on a candidate for as long as the person's gate is shut."""
WORK = "#!/bin/sh\nwhile [ -e gate/work ]; do sleep 0.05; done\n" + playground.SHORTEN.removeprefix("#!/bin/sh\n")
STEPS = {"work": ("worker.sh", "Worked"), "evaluate": ("evaluate.sh", "Measured")}
"""Each gate's step: the program that waits in it, the fact that it ends with."""
SOON_S = 8.0


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = playground.make(
        tmp_path,
        {"exp/evaluate.sh": EVALUATE, "exp/worker.sh": WORK, ".gitignore": "gate/\n"},
        more="setup: {link: [gate]}\n",
    )
    (made.repo / "gate").mkdir()
    return made


@dataclass(frozen=True, slots=True)
class Run:
    """A run that a person has started and looks at."""

    scene: Scene
    process: "subprocess.Popen[str]"

    def until(self, text: str) -> None:
        """Reads along until a line begins with this."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(text):
                return
        raise AssertionError(f"ended without {text!r}: {self.process.wait()}")

    def waits(self, gate: str = "evaluate") -> None:
        """Until the gate's program has begun to wait in turn 1."""
        self.until("turn 1   the agent works" if gate == "work" else "turn 1   gates passed")
        program = STEPS[gate][0]
        until = time.monotonic() + 20
        while not any(program in line for line in alive(self.scene)):
            assert time.monotonic() < until, f"{program} was never begun"
            time.sleep(0.02)

    def end(self, within_s: float = 30.0) -> int:
        """The exit code; what is still said is thrown away."""
        self.process.communicate(timeout=within_s)
        return self.process.returncode


@contextmanager
def running(scene: Scene, *words: str) -> Iterator[Run]:
    argv = [sys.executable, "-m", "runner.cli", os.fspath(scene.experiment), *(words or ("--max-turns", "1"))]
    process = subprocess.Popen(
        argv, cwd=playground.CLONE, env=scene.environment({"PYTHONUNBUFFERED": "1"}), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    with process:
        try:
            yield Run(scene, process)
        finally:
            process.kill()


def shut(scene: Scene, gate: str) -> Path:
    path = scene.repo / "gate" / gate
    path.touch()
    return path


def kinds(scene: Scene, turn: int = 1) -> list[str]:
    return [line["kind"] for line in scene.journal if line["turn"] == turn]


def go_on(scene: Scene, *words: str) -> None:
    """The same command ends with one keep, of one turn that was opened once."""
    done = scene.command(os.fspath(scene.experiment), *(words or ("--max-turns", "1")))
    assert done.returncode == 0, done
    assert scene.statuses == ["keep"]
    assert kinds(scene).count("TurnOpened") == 1
    assert len(scene.branch) == 1
    assert survivors(scene) == []


# --- signals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gate", STEPS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_signal_lets_the_step_end_and_the_same_command_goes_on(scene: Scene, number: signal.Signals, gate: str) -> None:
    _, fact = STEPS[gate]
    path = shut(scene, gate)
    with running(scene) as run:
        run.waits(gate)
        os.killpg(run.process.pid, number)  # a terminal sends it to all that it started
        time.sleep(0.3)
        assert run.process.poll() is None, "it waits for the step"
        path.unlink()
        assert run.end() == 130
    assert [line["kind"] for line in scene.journal][-2:] == [fact, "Stopped"]
    assert scene.facts("Stopped")[0]["rule"] == "interrupted"
    assert scene.branch == []
    assert survivors(scene) == []
    go_on(scene)
    assert kinds(scene).count("Worked") == 1, "the agent was not asked again"


@pytest.mark.parametrize("gate", STEPS)
def test_two_signals_end_it_at_once_and_the_step_is_nobodys_fault(scene: Scene, gate: str) -> None:
    _, fact = STEPS[gate]
    path = shut(scene, gate)
    with running(scene) as run:
        run.waits(gate)
        os.killpg(run.process.pid, signal.SIGINT)
        time.sleep(0.1)
        os.killpg(run.process.pid, signal.SIGINT)
        assert run.end(SOON_S) == 130
    assert fact not in kinds(scene)
    assert scene.statuses == []
    assert scene.facts("Stopped")[0]["rule"] == "interrupted"
    assert survivors(scene) == []
    path.unlink()
    go_on(scene)


def test_two_signals_during_the_calibration_lose_the_pair_under_way_alone(scene: Scene) -> None:
    scene.write({"exp/evaluate.sh": EVALUATE.replace('[ "$size" -lt 200 ] && ', "")})
    scene.commit()
    with running(scene) as run:
        run.until("pair 1:")
        path = shut(scene, "evaluate")
        time.sleep(0.3)
        os.killpg(run.process.pid, signal.SIGINT)
        time.sleep(0.1)
        os.killpg(run.process.pid, signal.SIGINT)
        assert run.end(SOON_S) == 130
    before = len(scene.facts("Measured"))
    assert 1 <= before <= 2
    assert survivors(scene) == []
    path.unlink()
    go_on(scene)
    assert [fact["pair"] for fact in scene.facts("Measured") if fact["turn"] == 0] == [1, 2, 3]


def test_many_signals_are_one_stop(scene: Scene) -> None:
    shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        for _ in range(20):
            os.killpg(run.process.pid, signal.SIGINT)
            time.sleep(0.01)
        assert run.end(SOON_S) in (130, -signal.SIGINT), "one may come when all is done and the handlers are put back"
    assert len(scene.facts("Stopped")) == 1
    assert survivors(scene) == []
    shutil.rmtree(scene.repo / "gate")
    (scene.repo / "gate").mkdir()
    go_on(scene)


# --- STOP and the verb ---------------------------------------------------------------------------------


def test_a_stop_file_ends_a_run_after_its_step_and_holds_the_next_until_it_is_removed(scene: Scene) -> None:
    path = shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        (scene.experiment / "STOP").touch()
        path.unlink()
        assert run.end() == 0
    assert kinds(scene)[-1] == "Measured"
    assert scene.facts("Stopped")[-1]["rule"] == "stop_file"
    before = scene.journal
    held = scene.command(os.fspath(scene.experiment), "--max-turns", "1")
    assert held.returncode == 0
    assert f"{scene.experiment}/STOP is there: nothing is started (remove it to go on)" in held.stdout + held.stderr
    assert scene.journal == before
    (scene.experiment / "STOP").unlink()
    go_on(scene)


@pytest.mark.parametrize("words", [(), ("--now",)], ids=["soon", "now"])
def test_the_verb_stop_ends_a_run_and_waits_for_its_end(scene: Scene, words: tuple[str, ...]) -> None:
    path = shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        argv = [sys.executable, "-m", "runner.cli", "stop", os.fspath(scene.experiment), *words]
        with subprocess.Popen(argv, cwd=playground.CLONE, env=scene.environment(), stdout=-1, stderr=-1, text=True) as asking:
            if not words:
                time.sleep(1.0)
                path.unlink()
            said, asked = asking.communicate(timeout=30)
        assert asking.returncode == 0
        assert said == "stopped\n"
        assert f"asked the runner (pid {run.process.pid}) to stop" in asked
        assert run.end(SOON_S) == 130
    assert ("Measured" in kinds(scene)) is not bool(words)
    assert survivors(scene) == []
    path.unlink(missing_ok=True)
    go_on(scene)


# --- who looks, and who else runs ----------------------------------------------------------------------


def test_a_run_whose_reader_is_gone_works_to_its_end(scene: Scene) -> None:
    path = shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        assert run.process.stdout is not None
        run.process.stdout.close()
        path.unlink()
        assert run.process.wait(30) == 0
    assert scene.statuses == ["keep"]
    assert scene.facts("Stopped")[0]["rule"] == "max_turns"


def test_a_second_runner_is_refused_by_the_pid_of_the_first_which_goes_on_undisturbed(scene: Scene) -> None:
    path = shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        before = scene.journal
        for _ in range(2):
            second = scene.command(os.fspath(scene.experiment), "--max-turns", "1")
            assert second.returncode == 1
            assert re.search(
                rf"another runner \(pid {run.process.pid} on .*\) works on {re.escape(str(scene.experiment))}", second.stderr
            )
            assert scene.command("status", os.fspath(scene.experiment)).returncode == 0
        assert scene.journal == before
        path.unlink()
        assert run.end() == 0
    assert scene.statuses == ["keep"]
    assert len(scene.facts("Started")) == 1


def test_a_copy_of_an_experiment_that_runs_does_not_share_its_state(scene: Scene, tmp_path: Path) -> None:
    path = shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        copy = tmp_path / "copy"
        shutil.copytree(scene.repo, copy)
        second = scene.command(os.fspath(copy / "exp"), "--max-turns", "1", "--allow-dirty", "--yes")
        assert (second.returncode, "this experiment is a copy of one that runs" in second.stderr) == (1, True)
        path.unlink()
        assert run.end() == 0
    assert scene.statuses == ["keep"]


# --- no room -------------------------------------------------------------------------------------------


def known_to_the_journal(scene: Scene) -> None:
    """No winner stands on the branch whose verdict is not written."""
    keeps = sum(status == "keep" for status in scene.statuses)
    assert len(scene.branch) <= keeps


def test_a_journal_that_cannot_grow_stops_the_run_and_nothing_has_moved(scene: Scene) -> None:
    path = shut(scene, "evaluate")
    with running(scene) as run:
        run.waits()
        before = (scene.experiment / "journal.jsonl").read_bytes()
        _, most = resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (len(before) + 100, most))
        path.unlink()
        assert run.process.stdout is not None
        said = run.process.stdout.read()
        assert run.end() == 1
    assert f"journal not written: File too large ({scene.experiment}/journal.jsonl)" in said
    assert "nothing has moved; make room, then run the same command" in said
    assert (scene.experiment / "journal.jsonl").read_bytes() == before
    assert scene.branch == []
    assert survivors(scene) == []
    go_on(scene)


@pytest.mark.slow
@pytest.mark.parametrize("most", range(1000, 8000, 500))
def test_wherever_a_file_meets_its_limit_the_run_ends_with_a_sentence_and_goes_on(scene: Scene, most: int) -> None:
    argv = [sys.executable, "-m", "runner.cli", os.fspath(scene.experiment), "--max-turns", "1"]
    done = subprocess.run(
        argv, cwd=playground.CLONE, env=scene.environment(), capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert done.returncode == 1, done
    assert "File too large" in done.stderr
    known_to_the_journal(scene)
    go_on(scene)


@contextmanager
def small_disk(scene: Scene, size: str) -> Iterator[None]:
    """The experiment directory on a disk of its own."""
    kept = scene.repo.parent / "kept"
    shutil.copytree(scene.experiment, kept)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", os.fspath(scene.experiment)], capture_output=True
    )
    if made.returncode:
        pytest.skip(f"no disk can be mounted here: {made.stderr.decode()}")
    try:
        shutil.copytree(kept, scene.experiment, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", "-l", os.fspath(scene.experiment)], check=True)


def fill(scene: Scene, but: int) -> Path:
    """Leave so many bytes of the experiment's disk."""
    ballast = scene.experiment / "artifacts" / "ballast"
    ballast.parent.mkdir(exist_ok=True)
    free = shutil.disk_usage(scene.experiment).free
    ballast.write_bytes(b"x" * max(0, free - but))
    return ballast


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts a disk")
@pytest.mark.parametrize("free", [0, 4096, 20480, 32768, 45056, 61440])
def test_on_a_full_disk_it_ends_with_a_sentence_and_goes_on_after_room_is_made(scene: Scene, free: int) -> None:
    with small_disk(scene, "4m"):
        ballast = fill(scene, free)
        done = scene.command(os.fspath(scene.experiment), "--max-turns", "1")
        if done.returncode:
            assert done.returncode == 1, done
            assert "No space left on device" in done.stderr, done
        known_to_the_journal(scene)
        assert survivors(scene) == []
        ballast.unlink()
        if done.returncode:
            go_on(scene)


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts a disk")
def test_an_experiment_that_cannot_be_written_to_is_refused_and_nothing_is_left(scene: Scene) -> None:
    with small_disk(scene, "4m"):
        subprocess.run(["mount", "-o", "remount,ro", os.fspath(scene.experiment)], check=True)
        done = scene.command(os.fspath(scene.experiment), "--max-turns", "1")
        assert done.returncode == 1
        assert "Read-only file system" in done.stderr
        assert list((scene.state_home / "research").iterdir()) == []
        subprocess.run(["mount", "-o", "remount,rw", os.fspath(scene.experiment)], check=True)
        go_on(scene)
