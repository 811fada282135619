"""The clock and the machine."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process that cannot be mistaken for a later one: pid, start time in seconds since the epoch, boot id."""

    pid: int
    started: float
    boot: str


def utc_now() -> str:
    """Now, as `2026-11-30T10:49:00.123Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def monotonic() -> float:
    """Seconds on a clock that never goes back and does not count sleep of the machine."""
    raise NotImplementedError


def host_name() -> str:
    """This machine's name."""
    raise NotImplementedError


def boot_id() -> str:
    """A word that changes at every start of the machine."""
    raise NotImplementedError


def process_id(pid: int | None = None) -> ProcessId | None:
    """Who `pid` (default: this process) is, or None when there is no such process."""
    raise NotImplementedError


def is_alive(process: ProcessId) -> bool:
    """Whether that very process still runs (a zombie does not)."""
    raise NotImplementedError


def load_average() -> float | None:
    """Mean number of runnable processes over the last minute, None where unknown."""
    raise NotImplementedError


def cores() -> int:
    """How many cores this process may use."""
    raise NotImplementedError
