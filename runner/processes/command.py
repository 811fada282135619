"""The words of running a command: what to run, what it may take, how it ended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[Stream, bytes], None]


class Cancel(Protocol):
    """Anything with the one question of a `threading.Event`."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may take; None leaves the machine's own limit. Core files are always off.

    `memory_bytes` is RLIMIT_DATA (writable private memory of each process, not of the tree), `file_bytes` RLIMIT_FSIZE,
    `open_files` RLIMIT_NOFILE. `processes` is RLIMIT_NPROC: so many more than this user has now; it does not bind root.
    """

    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """What to run: `env` is the exact environment, `stdin` is fed and then closed, times are in seconds, sizes in bytes.

    A `contained` command is one whose tree dies with its first process (a pid namespace); it ends with its leader, and its
    first line on stderr is the launcher's word: `started`, or `refused REASON`.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes = b""
    timeout_s: float | None = None
    grace_s: float = 2.0
    output_limit: int = 1 << 20
    limits: Limits = field(default_factory=Limits)
    contained: bool = False


@dataclass(frozen=True, slots=True)
class Captured:
    """What a stream said: the first and the last bytes of it, and how many there were."""

    head: bytes
    tail: bytes
    size: int

    @property
    def dropped(self) -> int:
        """Bytes between head and tail that were counted and not kept."""
        return self.size - len(self.head) - len(self.tail)

    def text(self) -> str:
        """Valid Unicode: bytes that are not UTF-8 are written as `\\xff`; a gap is one line that tells its size."""
        if not self.dropped:
            return (self.head + self.tail).decode("utf-8", "backslashreplace")
        gap = f"\n[... {self.dropped} bytes left out ...]\n"
        return self.head.decode("utf-8", "backslashreplace") + gap + self.tail.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: exactly one of `exit_code`, `signal` and `not_started` is given.

    `wall_s` on the monotonic clock (a suspended machine does not count), `cpu_s` user and system seconds of the whole tree, None
    where unknown; `survivors` names processes that could not be ended (empty in all but a broken system).
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    cancelled: bool
    not_started: str | None
    wall_s: float
    cpu_s: float | None
    stdout: Captured
    stderr: Captured
    survivors: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the command ended by itself with 0."""
        return self.exit_code == 0 and not self.timed_out and not self.cancelled
