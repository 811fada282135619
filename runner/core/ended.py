"""How a child process ended, as the rooms that read its output need to know it."""

from typing import Protocol


class Ended(Protocol):
    """One finished child: bytes as it wrote them, head and tail where it wrote too much.

    `exit_code` is None where it never started, negative where a signal ended it; `cpu_s` is None where it cannot be measured;
    `dropped` counts the bytes of standard output that were not kept.
    """

    @property
    def exit_code(self) -> int | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...
    @property
    def dropped(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def cpu_s(self) -> float | None: ...
