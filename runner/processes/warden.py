"""The parent of one command: a small program that outlives it and ends all that it leaves behind.

Run as a script, on the standard library alone, with two descriptors: `control` brings the job (its length in four bytes, then
marshalled), later `stop` or the end of file; `report` gets the answer at the end. It is a process of its own, and no thread or
`preexec_fn` of the runner, for three reasons: code between fork and exec is not safe beside threads; a parent death signal is
bound to the thread that forked, and is lost over a set-user-id program; and only a subreaper is handed the orphans of a double
fork, so that "no child left" (ECHILD) is the kernel's word that all is gone. The runner's death is the end of `control`.
"""

from __future__ import annotations

# ruff: noqa: PTH116, PTH118, PTH123, PTH208, SIM105
# Without pathlib, contextlib, typing and json this program starts in three quarters of the time.
import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Spec(TypedDict):
        argv: list[str]
        cwd: str
        env: dict[str, str]
        grace_s: float
        memory_bytes: int | None
        processes: int | None
        file_bytes: int | None
        open_files: int | None

    class Report(TypedDict, total=False):
        refused: str
        status: int
        cpu_s: float
        survivors: list[str]


PR_SET_CHILD_SUBREAPER = 36
KILL_WAIT_S = 5.0


def main() -> None:
    control, report = int(sys.argv[1]), int(sys.argv[2])
    for fd in (control, report):
        os.set_inheritable(fd, False)
    spec: Spec = marshal.loads(exactly(int.from_bytes(exactly(4, control), "big"), control))
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.write(report, marshal.dumps({**watch(spec, control)}))


def exactly(size: int, fd: int) -> bytes:
    """So many bytes and not one more: a `stop` may stand right behind the job."""
    got = bytearray()
    while len(got) < size:
        piece = os.read(fd, size - len(got))
        if not piece:
            sys.exit(0)  # the runner died before it had told us the job
        got += piece
    return bytes(got)


def watch(spec: Spec, control: int) -> Report:
    wake, wake_w = os.pipe()
    os.set_blocking(wake_w, False)
    signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    pid, refused = start(spec)
    if refused:
        os.waitpid(pid, 0)
        return {"refused": refused}
    status = wait(pid, control, wake, spec["grace_s"])
    survivors = end_all(pid)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"status": status, "cpu_s": used.ru_utime + used.ru_stime, "survivors": survivors}


def start(spec: Spec) -> tuple[int, str]:
    """Fork the command into a session of its own; the second value says why it could not be run, or is empty."""
    said, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become(spec)
        except OSError as error:
            os.write(say, reason(error, spec["argv"][0], spec).encode("utf-8", "backslashreplace"))
        finally:
            os._exit(127)
    os.close(say)
    with open(said, "rb") as pipe:
        return pid, pipe.read().decode()


def become(spec: Spec) -> None:
    os.setsid()
    os.chdir(spec["cwd"])
    signal.set_wakeup_fd(-1)
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_DFL)
    limit(spec)
    try:
        os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        path = found(spec["argv"][0], spec) or spec["argv"][0]
        os.execve("/bin/sh", ["sh", path, *spec["argv"][1:]], spec["env"])  # as every shell does with a script without `#!`


def limit(spec: Spec) -> None:
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, spec["memory_bytes"]),
        (resource.RLIMIT_FSIZE, spec["file_bytes"]),
        (resource.RLIMIT_NOFILE, spec["open_files"]),
        (resource.RLIMIT_NPROC, None if spec["processes"] is None else tasks_of_this_user() + spec["processes"]),
    ]
    for which, value in wanted:
        if value is not None:
            hard = resource.getrlimit(which)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, value))


def tasks_of_this_user() -> int:
    """The kernel counts a user's threads in all sessions, so a limit for one tree has to stand on top of them."""
    return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in all_pids() if owner(pid) == os.getuid())


def owner(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def reason(error: OSError, name: str, spec: Spec) -> str:
    if error.filename == spec["cwd"]:
        return f"cannot enter the working directory {spec['cwd']}: {error.strerror}"
    path = found(name, spec)
    if path is None:
        return f"no such command: {name}"
    if error.errno == errno.EACCES:
        return f"not executable: {path}; chmod +x makes it so"
    return shebang_fault(path) or f"cannot run {path}: {error.strerror}"


def found(name: str, spec: Spec) -> str | None:
    places = [""] if "/" in name else spec["env"].get("PATH", os.defpath).split(":")
    paths = (os.path.join(place, name) for place in places)
    return next((path for path in paths if os.path.lexists(path)), None)


def shebang_fault(path: str) -> str:
    """What is wrong with the first line of a script, or nothing."""
    try:
        with open(path, "rb") as file:
            line = file.read(256).split(b"\n")[0]
    except OSError:
        return ""
    if not line.startswith(b"#!"):
        return ""
    if line.endswith(b"\r"):
        return f"bad interpreter: the first line of {path} ends with CRLF; save the file with LF line ends"
    return f"bad interpreter: {line.decode('utf-8', 'backslashreplace')} of {path} is not there"


def wait(pid: int, control: int, wake: int, grace_s: float) -> int:
    """Wait for the command; a word on `control` ends it, politely when the runner lives, at once when it is gone."""
    watched, deadline, ending = [control, wake], None, False
    while True:
        ready = select.select(watched, [], [], None if not ending else 0.05)[0]
        if wake in ready:
            os.read(wake, 4096)
        status = reap(pid)
        if status is not None:
            return status
        if control in ready:
            stop = os.read(control, 64)
            watched = [control, wake] if stop else [wake]
            ending, deadline = True, time.monotonic() + (grace_s if stop else 0)
            if stop:
                signal_all(pid, signal.SIGTERM)
        if deadline is not None and time.monotonic() >= deadline:
            signal_all(pid, signal.SIGKILL)


def reap(wanted: int) -> int | None:
    """Collect every child that has ended; the status of `wanted` if it is among them."""
    status = None
    try:
        while True:
            pid, code = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == wanted:
                status = code
    except ChildProcessError:
        pass
    return status


def end_all(pid: int) -> list[str]:
    """Kill what is left until the kernel says that we have no child; name what would not die."""
    deadline = time.monotonic() + KILL_WAIT_S
    while True:
        signal_all(pid, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return []
        if time.monotonic() > deadline:
            return [f"{each} ({name_of(each)})" for each in descendants()]


def signal_all(pid: int, number: int) -> None:
    """Signal all that descends from us: orphans too, for they are handed to us."""
    for each in descendants():
        try:
            os.kill(each, number)
        except OSError:
            pass
    if sys.platform != "linux":
        try:
            os.killpg(pid, number)
        except OSError:
            pass


def all_pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def descendants() -> list[int]:
    parents = {pid: parent_of(pid) for pid in all_pids()}
    tree, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in tree} - tree
        tree |= more
        grown = bool(more)
    return sorted(tree - {os.getpid()})


def parent_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None


def name_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "gone"


if __name__ == "__main__":
    main()
