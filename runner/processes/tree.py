"""Start a command as a tree that can be ended: below a warden, or below the first process of a pid namespace."""

import contextlib
import functools
import marshal
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Protocol

import psutil

from runner.processes.command import Command

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin"
WARDEN = Path(__file__).with_name("warden.py")
# The death signal is set before the question who our parent is: a runner that died in between is seen by one or by the other.
STILL_OURS = '[ "$PPID" = "$1" ] || exit 125; shift; exec "$@"'


@dataclass(frozen=True, slots=True)
class Ended:
    """A tree's last word: a wait status or a refusal, and the CPU seconds of all of it where they are known."""

    status: int | None
    refused: str | None
    cpu_s: float | None
    survivors: tuple[str, ...] = ()


class Tree(Protocol):
    """A running tree; `pipes` are our ends of stdin, stdout and stderr."""

    @property
    def pipes(self) -> tuple[int, int, int]: ...
    @property
    def pid(self) -> int: ...
    def poll(self) -> Ended | None:
        """How it ended, or None while it runs."""
        ...

    def ask(self) -> None:
        """Send TERM to the command and its descendants."""
        ...

    def force(self, since_s: float) -> None:
        """KILL, from the inside out the longer it takes; called again and again, `since_s` after the first."""
        ...

    def destroy(self) -> None:
        """End all of it now and wait for that."""
        ...


class Leader:
    """The direct child: its pipes, and a wait that also yields the tree's CPU time."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: str, keep: tuple[int, ...] = ()) -> None:
        self._child = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=keep,
            start_new_session=True,  # the terminal's Ctrl-C reaches the runner alone
        )
        self.pid = self._child.pid
        self.status: int | None = None
        self.cpu_s = 0.0
        self.pipes = (_ours(self._child.stdin), _ours(self._child.stdout), _ours(self._child.stderr))

    def poll(self) -> bool:
        if self.status is None:
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.status, self.cpu_s = status, used.ru_utime + used.ru_stime
                self._child.returncode = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def kill(self) -> None:
        if not self.poll():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def wait(self, limit_s: float) -> bool:
        deadline = time.monotonic() + limit_s
        while not self.poll():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True


def _ours(pipe: IO[bytes] | None) -> int:
    """A descriptor of our own for a pipe, so that nobody else closes it."""
    assert pipe is not None
    fd = os.dup(pipe.fileno())
    pipe.close()
    return fd


class Warded:
    """A tree below a warden (`warden.py`), which ends it, counts it and dies with us."""

    WARDEN_LATE_S = 8.0

    def __init__(self, command: Command) -> None:
        control, self._control = os.pipe()
        self._report, report = os.pipe()
        argv = [sys.executable, "-I", "-S", "-B", "-X", "utf8", str(WARDEN), str(control), str(report)]
        try:
            self._leader = Leader(argv, {}, "/", (control, report))
        except BaseException:
            os.close(self._control)
            os.close(self._report)
            raise
        finally:
            os.close(control)
            os.close(report)
        self.pid, self.pipes = self._leader.pid, self._leader.pipes
        self._last: Ended | None = None
        job = marshal.dumps(_spec(command))
        self._say(len(job).to_bytes(4, "big") + job)

    def _say(self, words: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            while words:
                words = words[os.write(self._control, words) :]

    def poll(self) -> Ended | None:
        if self._last is None and self._leader.poll():
            self._last = self._ended()
        return self._last

    def _ended(self) -> Ended:
        os.close(self._control)
        with open(self._report, "rb") as pipe:  # noqa: PTH123 - a descriptor
            said = pipe.read()
        if not said:  # somebody killed the warden: what it knew is lost, and what it kept may live
            return Ended(self._leader.status, None, None, ("unknown: the warden of this command was killed",))
        report = marshal.loads(said)
        if "refused" in report:
            return Ended(None, report["refused"], None)
        return Ended(report["status"], None, report["cpu_s"], tuple(report["survivors"]))

    def ask(self) -> None:
        self._say(b"stop\n")

    def force(self, since_s: float) -> None:
        if since_s > self.WARDEN_LATE_S:
            self._sweep()

    def _sweep(self) -> None:
        """A warden that was stopped by its own charges does not answer: end it with all that still hangs on it."""
        with contextlib.suppress(psutil.NoSuchProcess):
            for each in psutil.Process(self.pid).children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()
        self._leader.kill()

    def destroy(self) -> None:
        if not self._leader.poll():
            os.close(self._control)
            self._control = os.open(os.devnull, os.O_WRONLY)
            if not self._leader.wait(self.WARDEN_LATE_S):
                self._sweep()
                self._leader.wait(1)
        self.poll()


class Contained:
    """A tree below the first process of a pid namespace: leader, first process, command. With the first process all dies."""

    def __init__(self, command: Command, setpriv: str) -> None:
        launch = [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", STILL_OURS, "sh", str(os.getpid())]
        self._leader = Leader([*launch, *command.argv], dict(command.env), str(command.cwd))
        self._whole = True
        self.pid, self.pipes = self._leader.pid, self._leader.pipes

    def poll(self) -> Ended | None:
        if not self._leader.poll():
            return None
        return Ended(self._leader.status, None, self._leader.cpu_s if self._whole else None)

    def ask(self) -> None:
        self._signal(inside=True, number=signal.SIGTERM)

    def force(self, since_s: float) -> None:
        """The command first, then the namespace: a parent that lives to wait for its children counts their CPU time."""
        self._signal(inside=True, number=signal.SIGKILL)
        if since_s > 1:
            self._whole = False
            self._signal(inside=False, number=signal.SIGKILL)
        if since_s > 2:
            self._leader.kill()

    def _signal(self, *, inside: bool, number: int) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            leader = psutil.Process(self.pid)
            first = leader.children()
            chosen = [each for each in leader.children(recursive=True) if each not in first] if inside else first
            for each in chosen:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.send_signal(number)

    def destroy(self) -> None:
        self._whole = False
        first = []
        with contextlib.suppress(psutil.NoSuchProcess):
            first = psutil.Process(self.pid).children()
        self._signal(inside=False, number=signal.SIGKILL)
        if not self._leader.wait(1):
            self._leader.kill()
            self._leader.wait(1)
        psutil.wait_procs(first, timeout=2)


def _spec(command: Command) -> dict[str, object]:
    return {
        "argv": list(command.argv),
        "cwd": str(command.cwd),
        "env": {**command.env},
        "grace_s": command.grace_s,
        **asdict(command.limits),
    }


@functools.cache
def setpriv() -> str | None:
    """A setpriv that can bind a child's life to ours, tried once (busybox's and those before util-linux 2.33 cannot)."""
    path = shutil.which("setpriv", path=SYSTEM_PATH)
    if path is None:
        return None
    tried = subprocess.run([path, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", ":"], env={}, capture_output=True, check=False)
    return path if tried.returncode == 0 else None


def plant(command: Command) -> Tree:
    """Start `command` in the way that its kind allows."""
    binder = setpriv() if command.contained else None
    return Contained(command, binder) if binder else Warded(command)
