"""How a child process ended, as the rooms that read its output need to know it."""

from typing import Protocol


class Output(Protocol):
    """The first and the last bytes of a stream, and how many between them were counted and not kept."""

    @property
    def head(self) -> bytes: ...
    @property
    def tail(self) -> bytes: ...
    @property
    def dropped(self) -> int: ...


class Ended(Protocol):
    """One finished child: exactly one of `exit_code`, `signal` and `not_started` (why) is given; times in seconds.

    `cpu_s` is None where it cannot be measured.
    """

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def not_started(self) -> str | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def cpu_s(self) -> float | None: ...
    @property
    def stdout(self) -> Output: ...
    @property
    def stderr(self) -> Output: ...


def lines(output: Output) -> list[str]:
    """The lines of the stream without their ends; bytes that are not UTF-8 stand as `\\xff`, a gap never joins two halves."""
    parts = (output.head, output.tail) if output.dropped else (output.head + output.tail,)
    return [line.removesuffix("\r") for part in parts for line in part.decode("utf-8", "backslashreplace").split("\n")]


def last_line(output: Output) -> str:
    """The last line that says something; "" where none does."""
    return next((line.strip() for line in reversed(lines(output)) if line.strip()), "")


def quoted(text: str, limit: int = 160) -> str:
    """A short piece of foreign text in double quotes, with everything unprintable escaped."""
    short = text if len(text) <= limit else f"{text[: limit - 3]}..."
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in short) + '"'


def how(ended: Ended) -> str:
    """How the child ended, as the end of a sentence that begins with it."""
    if ended.not_started is not None:
        return f"could not be started: {ended.not_started}"
    if ended.timed_out:
        return f"timed out after {ended.wall_s:.0f} s"
    if ended.cancelled:
        return "was cancelled"
    if ended.signal is not None:
        return f"was ended by signal {ended.signal}{' (killed, perhaps for want of memory)' if ended.signal == 9 else ''}"
    return f"ended with exit code {ended.exit_code}"
