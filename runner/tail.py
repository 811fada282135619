"""The human-readable log, from its end on and as it grows."""

import os
import select
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO

from runner.core.errors import Stop
from runner.core.rows import log_line
from runner.core.state import State, step
from runner.core.text import shown
from runner.journal import glance, look
from runner.streams import put
from runner.views import tell_damage

LOG = "runner.log"
_POLL_MS = 250
_BLOCK = 1 << 15


def show_log(experiment: Path, lines: int, out: TextIO, warn: Callable[[str], None]) -> int:
    """The last lines of runner.log, made from the journal where there is no log; hands back up to which byte the log was read."""
    text, end = _last_lines(experiment / LOG, lines)
    _write(out, text if end else _from_journal(experiment, lines, warn))
    return end


def _write(out: TextIO, lines: list[str]) -> None:
    put(out, "".join(f"{shown(line)}\n" for line in lines))


def _last_lines(path: Path, lines: int) -> tuple[list[str], int]:
    """The last whole lines, and where they end; reads back from the end until there are enough."""
    stream = _open(path)
    if stream is None:
        return [], 0
    with stream:
        end, block = stream.seek(0, os.SEEK_END), _BLOCK
        start, whole = end, b""
        while start and whole.count(b"\n") <= lines:
            start = stream.seek(max(0, end - block))
            whole = _whole(stream.read(end - start))
            block *= 4
    found = _text(whole)
    return found[len(found) - min(lines, len(found)) :], start + len(whole)


def _whole(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def _text(whole: bytes) -> list[str]:
    return whole.decode("utf-8", "replace").split("\n")[:-1]


def _open(path: Path) -> BinaryIO | None:
    """A file to read, None where there is none; a FIFO does not keep us waiting."""
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Stop(f"{path}: {error.strerror}", "expected a plain file that can be read") from error


def _from_journal(experiment: Path, lines: int, warn: Callable[[str], None]) -> list[str]:
    """A glance serves where the last facts, which it holds whole, are enough."""
    found = glance(experiment)
    last = found.entries[-lines:]
    if (last and last[-1].seq - last[0].seq >= lines) or len(last) < lines:
        found = look(experiment)
    tell_damage(found, warn)
    state, told = State(), []
    for place, entry in enumerate(found.entries, 1):
        state = step(state, entry)
        if place > len(found.entries) - lines:
            told.append(log_line(entry, state).rstrip("\n"))
    return told


def follow_log(experiment: Path, start: int, out: TextIO) -> None:
    """Lines of runner.log from byte `start` on as they come, until nobody reads `out` any more."""
    reader = select.poll()
    reader.register(out.fileno(), 0)
    for text in _growing(experiment / LOG, start):
        if text:
            _write(out, text)
        if reader.poll(_POLL_MS):  # nothing was asked for: only a closed pipe or a vanished terminal answers
            return


def _growing(path: Path, at: int) -> Iterator[list[str]]:
    """Whole lines added since the last look, perhaps none; in a file that was replaced, cut or built anew, those after the last
    line that was told."""
    inode, last = None, b""
    while True:
        stream = _open(path)
        added = b""
        if stream is not None:
            with stream:
                found = os.fstat(stream.fileno())
                if (inode is not None and found.st_ino != inode) or found.st_size < at:
                    at = _after(stream.read(), last)
                inode = found.st_ino
                stream.seek(at)
                added = _whole(stream.read())
            at += len(added)
            last = added.rstrip(b"\n").rpartition(b"\n")[2] + b"\n" if added else last
        yield _text(added)


def _after(data: bytes, line: bytes) -> int:
    """Where the file goes on after that line, which bears its time; its start where the line is not in it."""
    found = data.rfind(line) if line else -1
    return found + len(line) if found >= 0 else 0
