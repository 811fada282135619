"""The clock and the machine."""

import functools
import os
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil


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
    return time.monotonic()


def host_name() -> str:
    """This machine's name."""
    return socket.gethostname()


@functools.cache
def boot_id() -> str:
    """A word that changes at every start of the machine: the kernel's, else the time of the start in seconds."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return str(round(psutil.boot_time()))


def process_id(pid: int | None = None) -> ProcessId | None:
    """Who `pid` (default: this process) is, or None when there is no such process."""
    pid = os.getpid() if pid is None else pid
    try:
        return ProcessId(pid, psutil.Process(pid).create_time(), boot_id())
    except psutil.NoSuchProcess:
        return None


def is_alive(process: ProcessId) -> bool:
    """Whether that very process still runs (a zombie does not).

    Start times are compared to within a second: a clock that was set shifts them by a little, a reused pid by much more, since
    the pids in between have to be used up first.
    """
    if process.boot != boot_id():
        return False
    try:
        found = psutil.Process(process.pid)
        return abs(found.create_time() - process.started) < 1 and found.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def load_average() -> float | None:
    """Mean number of runnable processes over the last minute, None where unknown."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
