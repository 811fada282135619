"""However a confined job ends, nothing of it lives, and its time is known."""

import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from runner.core.errors import SandboxError
from runner.processes import Limits
from runner.sandbox import Job, Sandbox, probe

LEAVERS = (
    "(trap '' TERM; exec sleep {n}) &",
    "setsid sleep {n} &",
    "(setsid env -i /bin/sh -c 'sleep {n} & sleep {n} & exit' &) ; sleep 0.2",
)


def sleepers(seconds: str) -> list[int]:
    return [each.pid for each in psutil.process_iter(["cmdline"]) if (each.info["cmdline"] or [])[-2:] == ["sleep", seconds]]


def unlikely() -> str:
    return f"6{time.time_ns() % 10**9}.{os.getpid()}"


def leaving(seconds: str, then: str, tree: Path, **more: object) -> Job:
    script = "\n".join(leave.format(n=seconds) for leave in LEAVERS) + f"\n{then}"
    return Job(("sh", "-c", script), tree, grace_s=0.3, **more)  # type: ignore[arg-type]


def test_nothing_is_left_after_success(sandbox: Sandbox, tree: Path) -> None:
    seconds = unlikely()
    done = sandbox.run(leaving(seconds, "exit 0", tree))
    assert done.ok
    assert sleepers(seconds) == []
    assert done.wall_s < 5


def test_nothing_is_left_after_a_time_out(sandbox: Sandbox, tree: Path) -> None:
    seconds = unlikely()
    done = sandbox.run(leaving(seconds, f"trap '' TERM; sleep {seconds}; sleep {seconds}", tree, timeout_s=1.5))
    assert (done.timed_out, done.cancelled, done.signal) == (True, False, 9)
    assert sleepers(seconds) == []
    assert 1.5 <= done.wall_s < 8


def test_nothing_is_left_after_a_cancel(sandbox: Sandbox, tree: Path) -> None:
    seconds, cancel = unlikely(), threading.Event()
    done = sandbox.run(leaving(seconds, f"echo up; sleep {seconds}", tree), cancel=cancel, on_output=lambda *_: cancel.set())
    assert (done.timed_out, done.cancelled, done.signal) == (False, True, 15)
    assert sleepers(seconds) == []
    assert done.wall_s < 5


def test_a_job_that_takes_term_may_finish_its_sentence(sandbox: Sandbox, tree: Path) -> None:
    script = "trap 'echo bye; exit 3' TERM; echo hi; while :; do sleep 0.05; done"
    cancel = threading.Event()
    done = sandbox.run(Job(("sh", "-c", script), tree, grace_s=9), cancel=cancel, on_output=lambda *_: cancel.set())
    assert (done.cancelled, done.exit_code, done.stdout.text()) == (True, 3, "hi\nbye\n")
    assert done.wall_s < 8


@pytest.mark.parametrize(
    "delay", [0.03, None, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.0, 0.01, 0.06, 0.1))], ids=str
)
def test_a_runner_killed_with_sigkill_takes_the_tree_with_it(
    sandbox: Sandbox, tree: Path, tmp_path: Path, delay: float | None
) -> None:
    seconds, up, out = unlikely(), tmp_path / "up", tmp_path / "out"
    out.mkdir()
    job = leaving(seconds, f"echo up; sleep {seconds}", tree)
    code = (
        "import sys\nfrom pathlib import Path, PosixPath\n"
        "from runner.sandbox import Job, probe\nfrom runner.processes import Limits\n"
        f"box = probe(Path({str(tmp_path / 'state')!r}), 'any', at_most={sandbox.level})\n"
        f"print('ready', flush=True)\nbox.run({job!r}, on_output=lambda *_: Path({str(up)!r}).touch())"
    )
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2], stdout=subprocess.PIPE)
    assert runner.stdout is not None
    assert runner.stdout.readline() == b"ready\n"
    deadline = time.monotonic() + 20
    while delay is None and not up.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(delay or 0)
    if delay is None:
        assert len(sleepers(seconds)) == 5
    runner.kill()
    runner.wait()
    runner.stdout.close()
    time.sleep(1)
    assert sleepers(seconds) == []
    assert [each.pid for each in psutil.process_iter(["cmdline"]) if seconds in " ".join(each.info["cmdline"] or [])] == []


def test_where_setpriv_cannot_bind_a_child_to_us_a_warden_does(
    sandbox: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.processes.tree.setpriv", lambda: None)
    seconds = unlikely()
    done = sandbox.run(leaving(seconds, "echo out; echo err >&2; exit 3", tree))
    assert (done.exit_code, done.stdout.text(), done.stderr.text()) == (3, "out\n", "err\n")
    assert done.cpu_s is not None
    assert sandbox.run(leaving(seconds, f"sleep {seconds}", tree, timeout_s=0.8)).timed_out
    assert sleepers(seconds) == []


def test_what_a_killed_runner_left_in_its_room_is_gone_after_the_next_start(states: Path, tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    layers = tmp_path / "room/layers"
    (layers / f"{gone.pid}-1/upper").mkdir(parents=True)
    probe(tmp_path, "any")
    assert list(layers.iterdir()) == []


def test_stdin_is_fed_and_then_at_its_end(sandbox: Sandbox, tree: Path) -> None:
    assert sandbox.run(Job(("cat",), tree, timeout_s=20)).ok
    done = sandbox.run(Job(("wc", "-c"), tree, stdin=b"x" * 3_000_000, timeout_s=20))
    assert done.stdout.text() == "3000000\n"


def test_forty_megabytes_and_odd_bytes_are_no_trouble(sandbox: Sandbox, tree: Path) -> None:
    done = sandbox.run(Job(("sh", "-c", r"printf '\377\n'; head -c 40000000 /dev/zero; printf last; printf '\360' >&2"), tree))
    assert (done.stdout.size, done.stderr.text()) == (40_000_006, "\\xf0")
    assert (done.stdout.head[:2], done.stdout.tail[-4:]) == (b"\xff\n", b"last")


BURN = "import time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
ORPHAN = 'mkfifo "$TMPDIR/f"; (setsid sh -c \'"$PY" -I -S -c "$BURN"; : > "$TMPDIR/f"\' &); read x < "$TMPDIR/f"; sleep 0.5'


@pytest.mark.parametrize(
    "script",
    [
        '"$PY" -I -S -c "$BURN"',
        '(sh -c \'"$PY" -I -S -c "$BURN"; true\'; true); sleep 0.4',
        ORPHAN,
    ],
    ids=["child", "grandchild", "orphan that ended"],
)
def test_cpu_time_is_that_of_the_whole_tree_and_not_of_its_sleep(sandbox: Sandbox, tree: Path, script: str) -> None:
    done = sandbox.run(Job(("sh", "-c", script), tree, env={"PY": sys.executable, "BURN": BURN}))
    assert done.ok, done.stderr.text()
    assert done.cpu_s is not None
    assert 0.3 <= done.cpu_s < 0.45


def test_cpu_time_of_a_job_that_was_cut_off_is_known(sandbox: Sandbox, tree: Path) -> None:
    done = sandbox.run(Job((sys.executable, "-I", "-S", "-c", "while True: pass"), tree, timeout_s=0.8, grace_s=0.2))
    assert done.timed_out
    assert done.cpu_s is not None
    assert 0.05 < done.cpu_s < 1.0


def test_a_signal_is_told_as_a_signal(sandbox: Sandbox, tree: Path) -> None:
    done = sandbox.run(Job(("sh", "-c", "kill -SEGV $$"), tree))
    assert (done.exit_code, done.signal, done.not_started, done.stderr.text()) == (None, 11, None, "")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("no-such-thing",), "no such command: no-such-thing"),
        (("exit", "0"), "no such command: exit"),
        (("./plain",), "not executable: {tree}/plain; chmod +x makes it so"),
        (("./crlf.sh",), "bad interpreter: the first line of {tree}/crlf.sh ends with CRLF; save the file with LF line ends"),
        (("./lost.sh",), "bad interpreter: #!/no/such/python -x of {tree}/lost.sh is not there"),
    ],
)
def test_a_command_that_cannot_start_is_named_with_the_reason(
    sandbox: Sandbox, tree: Path, argv: tuple[str, ...], says: str
) -> None:
    (tree / "plain").write_text("#!/bin/sh\n")
    for name, first in (("crlf.sh", b"#!/bin/sh\r\n"), ("lost.sh", b"#!/no/such/python -x\n")):
        (tree / name).write_bytes(first + b"echo METRIC t=1\r\n")
        (tree / name).chmod(0o755)
    name = argv[0] if not argv[0].startswith("./") else f"{sandbox.places.tree}/{argv[0][2:]}"
    done = sandbox.run(Job((name, *argv[1:]), tree))
    assert (done.exit_code, done.signal) == (None, None)
    assert done.not_started == says.format(tree=sandbox.places.tree)


def test_limits_hold_inside(sandbox: Sandbox, tree: Path) -> None:
    limits = Limits(memory_bytes=1 << 28, file_bytes=1 << 20, open_files=64)
    done = sandbox.run(Job(("sh", "-c", "ulimit -c; ulimit -d; ulimit -f; ulimit -n"), tree, limits=limits))
    assert done.stdout.text().split() == ["0", str(1 << 18), str(1 << 11), "64"]
    eats = "x = bytearray(400_000_000)"
    assert not sandbox.run(Job((sys.executable, "-I", "-S", "-c", eats), tree, limits=limits)).ok
    assert sandbox.run(Job((sys.executable, "-I", "-S", "-c", eats), tree)).ok


def test_two_jobs_at_a_time_do_not_meet(sandbox: Sandbox, tree: Path) -> None:
    answers: list[str] = []

    def work(name: str) -> None:
        script = f"echo {name} > mine; echo {name} > $HOME/mine; sleep 0.3; cat mine $HOME/mine"
        answers.append(sandbox.run(Job(("sh", "-c", script), tree)).stdout.text())

    workers = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert sorted(answers) == ["a\na\n", "b\nb\n"]


def test_the_start_of_a_confined_command_is_cheap(best: Sandbox, tree: Path) -> None:
    """The aim is 30 ms on a quiet machine; what it costs in CPU time says so whatever else runs."""
    walls, costs = [], []
    for _ in range(30):
        before = time.process_time()
        done = best.run(Job(("true",), tree))
        assert done.cpu_s is not None
        walls.append(done.wall_s)
        costs.append(time.process_time() - before + done.cpu_s)
    print(f"wall: median {statistics.median(walls) * 1000:.1f} ms, fastest {min(walls) * 1000:.1f}")
    print(f"CPU: median {statistics.median(costs) * 1000:.1f} ms")
    assert statistics.median(costs) < 0.030


def test_a_command_whose_name_would_be_a_setting_is_refused(best: Sandbox, tree: Path) -> None:
    with pytest.raises(SandboxError, match="a command's name may not hold '='"):
        best.run(Job(("a=b",), tree))


def test_a_variable_with_an_odd_name_is_refused(best: Sandbox, tree: Path) -> None:
    with pytest.raises(SandboxError, match="a job's environment cannot hold 'a-b'"):
        best.run(Job(("true",), tree, env={"a-b": "c"}))


def test_more_words_than_the_kernel_takes_are_no_crash_of_ours(sandbox: Sandbox, tree: Path) -> None:
    done = sandbox.run(Job(("true", "x" * 200_000), tree))
    assert done.not_started is not None
    assert "Argument list too long" in done.not_started
