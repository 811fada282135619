"""Output that survives its reader: a closed pipe, a full disk or a vanished terminal makes it quiet, and nothing else."""

import io
import os
import sys
from contextlib import suppress
from typing import IO, Any, TextIO

from runner.core.errors import Stop


class Forgiving(io.TextIOBase):
    """Text for `out` as long as somebody takes it; `gone` afterwards."""

    def __init__(self, out: TextIO) -> None:
        self.gone = False
        self._out = out

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._out.encoding or "utf-8"

    def isatty(self) -> bool:
        return not self.gone and self._out.isatty()

    def fileno(self) -> int:
        return self._out.fileno()

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if not self.gone:
            try:
                self._out.write(text)
                self._out.flush()
            except (OSError, ValueError):
                self.gone = True
                let_go(self._out)
        return len(text)

    def flush(self) -> None:
        """Every write is flushed already."""


def put(out: TextIO, text: str) -> None:
    """Write to the end, now; raises Stop where there is no room, and BrokenPipeError where there is no reader."""
    try:
        out.write(text)
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        let_go(out)
        raise Stop(f"output not written: {error.strerror}", "make room, or write it elsewhere") from error


def complete() -> None:
    """Give a process that was started without some of its standard streams empty ones.

    The journal would otherwise be opened as descriptor 1, and get what a library prints.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  takes the lowest free descriptor


def let_go(stream: IO[Any]) -> None:
    """Point a stream at nothing: what it still holds would otherwise fail once more, with a traceback, when Python ends."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.dup2(nothing, stream.fileno())
        finally:
            os.close(nothing)
