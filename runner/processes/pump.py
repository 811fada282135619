"""Feed a child's stdin and keep the ends of what it says, in bounded memory."""

import contextlib
import os
import selectors
import time
from types import TracebackType
from typing import Self

from runner.processes.command import Captured, OnOutput, Stream

PIECE = 1 << 16
WORD_LIMIT = 1 << 12


class Kept:
    """A stream's first and last bytes; holds at most one and a half limits at any time."""

    def __init__(self, limit: int) -> None:
        self.size = 0
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        room = self._half - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def captured(self) -> Captured:
        return Captured(bytes(self._head), bytes(self._tail[-self._half :]), self.size)


class Pump:
    """The three pipes of one child, none of which is ever waited for alone: a grandchild may hold one open for ever.

    `word` is the launcher's first line on stderr when `wants_word`; it is no part of the command's output.
    """

    def __init__(
        self,
        pipes: tuple[int, int, int],
        stdin: bytes,
        limit: int,
        on_output: OnOutput | None,
        wants_word: bool,
        leader: int | None,
    ) -> None:
        self._stdin, stdout, stderr = pipes
        self._left = memoryview(stdin)
        self._tell = on_output
        self._wants_word = wants_word
        self._begun = bytearray()
        self.word: str | None = None
        self.kept: dict[Stream, Kept] = {"stdout": Kept(limit), "stderr": Kept(limit)}
        self._streams: dict[int, Stream] = {stdout: "stdout", stderr: "stderr"}
        self._ready = selectors.DefaultSelector()
        for fd in pipes:
            os.set_blocking(fd, False)
        for fd in self._streams:
            self._ready.register(fd, selectors.EVENT_READ)
        self._ready.register(self._stdin, selectors.EVENT_WRITE)
        if leader is not None:
            self._ready.register(leader, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ready.close()
        for fd in (self._stdin, *self._streams):
            if fd >= 0:
                os.close(fd)

    def turn(self, timeout_s: float) -> int:
        """Move what can be moved, waiting at most `timeout_s` for the first; how many output bytes came."""
        moved = 0
        for key, _ in self._ready.select(timeout_s):
            if key.fd == self._stdin:
                self._feed()
            elif key.fd in self._streams:
                moved += self._read(key.fd)
        return moved

    def drain(self, limit_s: float) -> None:
        """Take what is already in the pipes; the writers are gone, so no end of file is waited for."""
        deadline = time.monotonic() + limit_s
        while self._streams and self.turn(0) and time.monotonic() < deadline:
            pass

    def _feed(self) -> None:
        try:
            while self._left:
                self._left = self._left[os.write(self._stdin, self._left[:PIECE]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the child does not read on: its own affair
            pass
        self._ready.unregister(self._stdin)
        os.close(self._stdin)
        self._stdin = -1

    def _read(self, fd: int) -> int:
        piece = b""
        with contextlib.suppress(BlockingIOError):
            piece = os.read(fd, PIECE)
            if not piece:
                self._ready.unregister(fd)
                os.close(fd)
                del self._streams[fd]
                return 0
        self._take(self._streams[fd], piece)
        return len(piece)

    def _take(self, stream: Stream, piece: bytes) -> None:
        if stream == "stderr" and self._wants_word and self.word is None:
            self._begun += piece
            line, end, rest = bytes(self._begun).partition(b"\n")
            if not end and len(line) < WORD_LIMIT:
                return
            self.word, piece = line.decode("utf-8", "backslashreplace"), rest
        if piece:
            self.kept[stream].add(piece)
            if self._tell:
                self._tell(stream, piece)
