"""Output that survives its reader: a closed pipe, a full disk or a vanished terminal makes it quiet, and nothing else."""

import io
import os
from contextlib import suppress
from typing import IO, Any, TextIO


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


def let_go(stream: IO[Any]) -> None:
    """Point a stream at nothing: what it still holds would otherwise fail once more, with a traceback, when Python ends."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.dup2(nothing, stream.fileno())
        finally:
            os.close(nothing)
