"""What a confined child can do, asked by itself: run inside with the addresses of what it should not reach."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
import time


def main(outside: str, home: str, hidden: str, port: str, runner: str, tree: str, lock: str) -> None:
    found = {
        "fs_write_outside": can(lambda: os.close(os.open(outside, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))),
        "home_visible": os.path.lexists(os.path.join(home, hidden)) if hidden else None,  # noqa: PTH118
        "tcp": can(lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=0.5).close()),
        "signal_runner": can(lambda: os.kill(int(runner), 0)),
        "read_runner_env": can(lambda: reads(f"/proc/{runner}/environ")),
        "kernel_settings": can(lambda: os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY | os.O_CLOEXEC))),
        "tree_path_visible": tree in reads("/proc/self/mountinfo"),
        "uid": os.getuid(),
        "host": socket.gethostname(),
    }
    leave_an_orphan(lock)
    with contextlib.suppress(OSError):
        os.close(os.open("layer-probe", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    burnt = time.process_time() + 0.05
    while time.process_time() < burnt:
        pass
    print(json.dumps(found))  # noqa: T201 - its answer


def can(do: object) -> bool:
    try:
        do()  # type: ignore[operator]
    except OSError:
        return False
    return True


def reads(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()


def leave_an_orphan(lock: str) -> None:
    """A double fork with a session of its own, which holds a lock for as long as it lives, at most two seconds."""
    told, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            fd = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(fd, fcntl.LOCK_EX)
            for each in (0, 1, 2):
                os.close(each)
            os.write(tell, b"x")
            time.sleep(2)
        os._exit(0)
    os.wait()
    os.read(told, 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
