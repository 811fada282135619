"""Real commands below a warden: what they say, how they end, and that nothing of them is left."""

import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from runner.processes import Captured, Command, Finished, Limits, OnOutput, run
from runner.processes.tree import STILL_OURS

ENV = {"PATH": os.environ["PATH"]}
LEAVERS = {
    "leader gone, descendant deaf to TERM": "(trap '' TERM; exec sleep {n}) &",
    "own session": "setsid sleep {n} &",
    "double fork with an empty environment": "(setsid env -i sh -c 'sleep {n} & sleep {n} & exit' &) ; sleep 0.2",
}


def sh(script: str, *, timeout_s: float | None = 20, grace_s: float = 0.3, env: dict[str, str] | None = None) -> Command:
    return Command(("sh", "-c", script), Path("/"), ENV | (env or {}), timeout_s=timeout_s, grace_s=grace_s)


def sleepers(seconds: str) -> list[int]:
    return [
        each.pid for each in psutil.process_iter(["cmdline"]) if (each.info["cmdline"] or [])[-2:] == ["sleep", seconds]
    ]  # zombies have no command line


def unlikely() -> str:
    """A number of seconds that no other test sleeps for."""
    return f"6{time.time_ns() % 10**9}.{os.getpid()}"


def test_a_command_says_what_it_says_and_ends_with_its_code() -> None:
    done = run(sh("echo out; echo err >&2; exit 7"))
    assert (done.exit_code, done.signal, done.not_started, done.ok) == (7, None, None, False)
    assert (done.stdout.text(), done.stderr.text()) == ("out\n", "err\n")
    assert done.survivors == ()


def test_a_signal_is_told_as_a_signal() -> None:
    done = run(sh("kill -SEGV $$"))
    assert (done.exit_code, done.signal) == (None, 11)


@pytest.mark.parametrize("leave", LEAVERS.values(), ids=LEAVERS.keys())
def test_nothing_is_left_after_success(leave: str) -> None:
    seconds = unlikely()
    done = run(sh(leave.format(n=seconds) + "\nexit 0"))
    assert done.ok
    assert sleepers(seconds) == []
    assert done.wall_s < 5


@pytest.mark.parametrize("leave", LEAVERS.values(), ids=LEAVERS.keys())
def test_nothing_is_left_after_a_time_out(leave: str) -> None:
    seconds = unlikely()
    done = run(sh(f"{leave.format(n=seconds)}\nsleep {seconds}", timeout_s=0.6))
    assert done.timed_out
    assert not done.cancelled
    assert done.signal == 15
    assert sleepers(seconds) == []
    assert 0.6 <= done.wall_s < 5


@pytest.mark.parametrize("leave", LEAVERS.values(), ids=LEAVERS.keys())
def test_nothing_is_left_after_a_cancel(leave: str) -> None:
    seconds, cancel = unlikely(), threading.Event()
    script = f"trap '' TERM; {leave.format(n=seconds)}\necho up; sleep {seconds}; sleep {seconds}"
    done = run(sh(script), cancel=cancel, on_output=lambda *_: cancel.set())
    assert done.cancelled
    assert not done.timed_out
    assert done.signal == 9
    assert sleepers(seconds) == []
    assert done.wall_s < 5


def test_a_command_that_takes_term_may_finish_its_sentence() -> None:
    cancel = threading.Event()
    script = "trap 'echo bye; exit 3' TERM; echo hi; while :; do sleep 0.05; done"
    done = run(sh(script, grace_s=9), cancel=cancel, on_output=lambda *_: cancel.set())
    assert (done.cancelled, done.exit_code, done.stdout.text()) == (True, 3, "hi\nbye\n")
    assert done.wall_s < 8


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_runner_killed_with_sigkill_takes_the_tree_with_it(tmp_path: Path, when: str) -> None:
    seconds = unlikely()
    script = "\n".join(leave.format(n=seconds) for leave in LEAVERS.values())
    code = (
        "from pathlib import Path\nfrom runner.processes import Command, run\n"
        f"run(Command(('sh', '-c', {script + f'{chr(10)}echo up > {tmp_path}/up; sleep {seconds}'!r}), Path('/'), {ENV!r}))"
    )
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 20
    while when == "later" and not (tmp_path / "up").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if when == "later":
        assert len(sleepers(seconds)) == 5
    else:
        time.sleep(0.15)
    runner.kill()
    runner.wait()
    time.sleep(1)
    assert sleepers(seconds) == []


def test_a_launch_whose_runner_died_before_it_was_bound_to_it_starts_nothing() -> None:
    orphan = ("/bin/sh", "-c", STILL_OURS, "sh", "1", "echo", "started")
    done = subprocess.run(orphan, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (125, b"")
    ours = ("/bin/sh", "-c", STILL_OURS, "sh", str(os.getpid()), "echo", "started")
    assert subprocess.run(ours, capture_output=True, check=False).stdout == b"started\n"


def test_an_exception_in_the_runner_ends_the_tree_first() -> None:
    seconds = unlikely()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(sh(f"sleep {seconds} & echo up; sleep {seconds}"), on_output=interrupt)
    assert sleepers(seconds) == []


def test_stdin_is_at_its_end_at_once() -> None:
    done = run(sh("cat; echo end"))
    assert done.stdout.text() == "end\n"
    assert done.wall_s < 5


def test_megabytes_of_stdin_arrive_whole_then_end() -> None:
    fed = os.urandom(1 << 16) * 80
    done = run(Command(("sh", "-c", "cat | wc -c; echo more"), Path("/"), ENV, stdin=fed))
    assert done.stdout.text().split() == [str(len(fed)), "more"]


def test_a_command_that_does_not_read_its_stdin_is_not_held_up() -> None:
    assert run(Command(("true",), Path("/"), ENV, stdin=b"x" * (1 << 22))).ok


def test_forty_megabytes_of_output_are_counted_and_not_kept() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run(sh("printf first; head -c 40000000 /dev/zero; printf last"))
    assert done.stdout.size == 40_000_009
    assert done.stdout.head.startswith(b"first")
    assert done.stdout.tail.endswith(b"last")
    assert len(done.stdout.head) + len(done.stdout.tail) == 1 << 20
    assert done.stdout.text().count("[... 38951433 bytes left out ...]") == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10


def test_output_up_to_the_limit_is_kept_whole() -> None:
    done = run(Command(("sh", "-c", "printf 0123456789"), Path("/"), ENV, output_limit=10))
    assert done.stdout == Captured(b"01234", b"56789", 10)
    assert done.stdout.text() == "0123456789"


def test_bytes_that_are_not_utf_8_are_escaped_and_kept() -> None:
    done = run(sh(r"printf '\377\360\n'; head -c 300000 /dev/urandom >&2; printf 'caf\303'"))
    assert done.stdout.head + done.stdout.tail == b"\xff\xf0\ncaf\xc3"
    assert done.stdout.text() == "\\xff\\xf0\ncaf\\xc3"
    assert done.stderr.size == 300_000
    done.stderr.text().encode("utf-8")


def test_output_is_told_while_it_comes() -> None:
    told: list[tuple[str, bytes]] = []
    tell: OnOutput = lambda stream, piece: told.append((stream, piece))  # noqa: E731
    run(sh("echo a; sleep 0.2; echo b >&2"), on_output=tell)
    assert told == [("stdout", b"a\n"), ("stderr", b"b\n")]


def test_a_pipe_that_a_survivor_would_hold_is_not_waited_for() -> None:
    done = run(sh("sleep 600 & echo done"))
    assert done.stdout.text() == "done\n"
    assert done.wall_s < 5


def test_the_environment_is_exactly_the_one_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    done = run(Command((sys.executable, "-c", "import os; print(dict(os.environ))"), Path("/"), {"A": "1", "B": "é\udcff"}))
    found = eval(done.stdout.text())
    assert {name: value for name, value in found.items() if name != "LC_CTYPE"} == {"A": "1", "B": "é\udcff"}


def test_no_descriptor_is_inherited() -> None:
    with open(os.devnull) as file:  # noqa: PTH123
        os.set_inheritable(file.fileno(), True)
        done = run(sh("ls /proc/$$/fd"))
    assert done.stdout.text().split() == ["0", "1", "2"]


def test_the_command_has_a_session_of_its_own_and_default_signals() -> None:
    done = run(sh(f"ps -o sid= -p $$; grep SigIgn /proc/$$/status; echo {os.getsid(0)}"))
    session, ignored, ours = done.stdout.text().replace("SigIgn:", "").split()
    assert session != ours
    assert int(ignored, 16) == 0


def refusal(done: Finished) -> str:
    assert (done.exit_code, done.signal, done.ok, done.cpu_s) == (None, None, False, None)
    assert done.not_started is not None
    return done.not_started


def test_a_command_that_is_not_there_is_named() -> None:
    assert refusal(run(Command(("no-such-thing", "x"), Path("/"), ENV))) == "no such command: no-such-thing"


def test_a_file_that_may_not_be_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.sh").write_text("#!/bin/sh\n")
    done = run(Command((f"{tmp_path}/e.sh",), Path("/"), ENV))
    assert refusal(done) == f"not executable: {tmp_path}/e.sh; chmod +x makes it so"


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("#!/bin/sh\r", "bad interpreter: the first line of {} ends with CRLF; save the file with LF line ends"),
        ("#!/no/such/python -x", "bad interpreter: #!/no/such/python -x of {} is not there"),
    ],
)
def test_a_bad_interpreter_is_named(tmp_path: Path, first: str, says: str) -> None:
    path = tmp_path / "evaluate.sh"
    path.write_bytes(f"{first}\necho x\r\n".encode())
    path.chmod(0o755)
    assert refusal(run(Command((str(path),), Path("/"), ENV))) == says.format(path)


def test_a_script_without_a_first_line_is_run_by_the_shell(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_text("echo $1\n")
    path.chmod(0o755)
    assert run(Command((str(path), "x y"), Path("/"), ENV)).stdout.text() == "x y\n"


def test_a_working_directory_that_is_not_there_is_named() -> None:
    done = run(Command(("true",), Path("/no/such/place"), ENV))
    assert refusal(done) == "cannot enter the working directory /no/such/place: No such file or directory"


BURN = "import time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
ORPHAN = 'mkfifo "$TMPDIR/f"; (setsid sh -c \'"$PY" -I -S -c "$BURN"; : > "$TMPDIR/f"\' &); read x < "$TMPDIR/f"; sleep 0.5'


@pytest.mark.parametrize(
    "script",
    ['"$PY" -c "$BURN"', '(sh -c \'"$PY" -c "$BURN"; true\'; true); sleep 0.3', ORPHAN],
    ids=["child", "grandchild", "orphan that ended"],
)
def test_cpu_time_is_that_of_the_whole_tree_and_not_of_its_sleep(script: str, tmp_path: Path) -> None:
    done = run(sh(script, env={"PY": sys.executable, "BURN": BURN, "TMPDIR": str(tmp_path)}))
    assert done.ok
    assert done.cpu_s is not None
    assert 0.3 <= done.cpu_s < 0.45


def test_cpu_time_of_a_command_that_was_cut_off_is_known_too() -> None:
    done = run(sh('"$PY" -c "while True: pass"', timeout_s=0.6, env={"PY": sys.executable}))
    assert done.timed_out
    assert done.cpu_s is not None
    assert 0.05 < done.cpu_s < 0.8


def test_limits_are_set_on_the_command() -> None:
    limits = Limits(memory_bytes=1 << 28, file_bytes=1 << 20, open_files=64)
    done = run(Command(("sh", "-c", "ulimit -c; ulimit -d; ulimit -f; ulimit -n"), Path("/"), ENV, limits=limits))
    assert done.stdout.text().split() == ["0", str(1 << 18), str(1 << 11), "64"]
