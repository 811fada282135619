"""The only room that reads and writes the journal: one fsynced, chained line a fact."""

import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.core.codec import decode, encode
from runner.core.errors import JournalError
from runner.core.events import FORMAT, Entry, Fact, Json, Started
from runner.core.models import TurnNo
from runner.core.text import escaped_json

NAME = "journal.jsonl"
FIRST_LINK = "0" * 64
_ENVELOPE = ("seq", "at", "turn", "kind", "prev")


@dataclass(frozen=True, slots=True)
class Scan:
    """What stands in a journal's bytes: whole lines up to `good` bytes, the head of their chain, and what follows them.

    `damage` is (line number, why) for anything wrong before the last line; `torn` counts the bytes of an unfinished last line.
    """

    entries: tuple[Entry, ...]
    head: str
    good: int
    torn: int
    damage: tuple[int, str] | None


def link(line: bytes) -> str:
    """SHA-256 hex of a line without its newline: the `prev` of the next one."""
    return hashlib.sha256(line).hexdigest()


def line(entry: Entry, prev: str) -> bytes:
    """The entry as the journal's line, without its newline; raises ValueError on NaN or infinity.

    Characters that a terminal obeys are written as JSON escapes (a person may `cat` the file), half a surrogate as U+FFFD.
    """
    kind = type(entry.fact).__name__
    record = {"seq": entry.seq, "at": entry.at, "turn": entry.turn, "kind": kind, "prev": prev, **encode(entry.fact)}
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return escaped_json(text).encode()


def scan(data: bytes) -> Scan:
    """Read a journal from its bytes; stops at the first damage, never guesses."""
    entries: list[Entry] = []
    head, good = FIRST_LINK, 0
    lines = data.split(b"\n")
    tail = lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            entry = _entry(line, number, head)
        except ValueError as error:
            last = number == len(lines) and not tail
            torn = len(data) - good if last else 0
            return Scan(tuple(entries), head, good, torn, None if last else (number, str(error)))
        entries.append(entry)
        head, good = link(line), good + len(line) + 1
    return Scan(tuple(entries), head, good, len(tail), None)


def _entry(line: bytes, number: int, head: str) -> Entry:
    """One line as an entry; ValueError where it is not JSON or not the next link, JournalError where it is not ours to read."""
    record = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_no_twins)
    if not _is_envelope(record):
        raise ValueError("not a journal line")
    if record["prev"] != head:
        raise ValueError("it does not continue the line before it (hash chain)")
    if record["seq"] != number:
        raise ValueError(f"its seq is {record['seq']!r}")
    seq, at, turn, kind, _ = (record.pop(k) for k in _ENVELOPE)
    written = record.get("format") if kind == "CampaignOpened" else None
    if isinstance(written, int) and written > FORMAT:
        raise JournalError(f"{NAME}:{number}: written in format {written}, this runner reads up to {FORMAT}", "update the runner")
    try:
        return Entry(seq, at, None if turn is None else TurnNo(turn), decode(kind, record), link(line))
    except JournalError as error:
        raise JournalError(f"{NAME}:{number}: {error.what}", error.mend) from None


_HEADER = re.compile(rb'\{"seq":(\d+),"at":"[^"\\]*","turn":(null|\d+),"kind":"(\w+)","prev":"')
_COUNTED = (b"TurnOpened", b"Worked", b"Decided", b"Settled")
_WHOLE_TURNS = 10


def glance(experiment: Path) -> Scan:
    """As `look`, five times as fast, for a view that counts: of turns settled long ago only what they cost and became is told.

    The fold of its entries agrees with the journal's in all but `tried` and what those turns proposed.
    """
    data = _bytes(experiment / NAME)
    return _skim(data) or scan(data)


def _skim(data: bytes) -> Scan | None:
    """None where anything is unusual, so that the careful scan can tell; the chain vouches for every line but the last."""
    lines = data.split(b"\n")
    tail = lines.pop()
    head, before, headers = FIRST_LINK.encode(), b"", []
    for number, text in enumerate(lines, 1):
        found = _HEADER.match(text)
        if not found or int(found[1]) != number or not text.startswith(head, found.end()):
            return None
        headers.append((found[2], found[3]))
        before, head = head, hashlib.sha256(text).hexdigest().encode()
    try:
        last = [_entry(lines.pop(), len(headers), before.decode())] if lines else []
        return Scan((*_counted(lines, headers), *last), head.decode(), len(data) - len(tail), len(tail), None)
    except (ValueError, JournalError):
        return None


def _counted(lines: list[bytes], headers: list[tuple[bytes, bytes]]) -> Iterator[Entry]:
    """What a view counts, all parsed in one go."""
    newest = max((int(turn) for turn, kind in headers if kind == b"TurnOpened"), default=0)
    old = {b"%d" % turn for turn in range(1, newest - _WHOLE_TURNS)}
    wanted = [text for text, (turn, kind) in zip(lines, headers, strict=False) if turn not in old or kind in _COUNTED]
    for record in json.loads(b"[" + b",".join(wanted) + b"]"):
        seq, at, turn, kind, _ = (record.pop(k) for k in _ENVELOPE)
        yield Entry(seq, at, None if turn is None else TurnNo(turn), decode(kind, record))


def _is_envelope(record: object) -> bool:
    return (
        isinstance(record, dict)
        and all(k in record for k in _ENVELOPE)
        and type(record["seq"]) is int
        and isinstance(record["at"], str)
        and isinstance(record["kind"], str)
        and (record["turn"] is None or type(record["turn"]) is int)
    )


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _no_twins(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key stands twice")
    return record


def look(experiment: Path) -> Scan:
    """The journal as it stands, for views: reads only, takes no lock, leaves a torn tail where it is."""
    return scan(_bytes(experiment / NAME))


def _bytes(path: Path) -> bytes:
    """A plain file's bytes, none where there is no file; a FIFO would keep a view waiting for ever."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}", "expected a plain file that can be read") from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise JournalError(f"{path}: not a plain file", "expected the journal of an experiment")
        return _read_all(file)
    finally:
        os.close(file)


@dataclass(slots=True)
class Journal:
    """The one writer's hold on a journal; the file is made with its first line, closing lets go of the lock."""

    path: Path
    head: str
    _file: int | None
    _lock: int
    _next: int
    _size: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever written to it."""
        return self._next == 1

    def append(self, fact: Fact, turn: TurnNo | None, at: str) -> Entry:
        """Write one line and sync it; when it cannot be written whole, the file is put back and JournalError raised."""
        self._file = file = _open(self.path) if self._file is None else self._file
        self._must_be_ours(file)
        text = line(Entry(self._next, at, turn, fact), self.head)
        try:
            _write_all(file, text + b"\n")
            os.fsync(file)
        except OSError as error:
            _put_back(file, self._size)
            raise JournalError(
                f"journal not written: {error.strerror} ({self.path})", "nothing has moved; make room, then run the same command"
            ) from error
        entry = _entry(text, self._next, self.head)
        self.head, self._next, self._size = link(text), self._next + 1, self._size + len(text) + 1
        return entry

    def _must_be_ours(self, file: int) -> None:
        """An editor that saved the file under us leaves us writing into a file without a name, or after a hole."""
        found = os.fstat(file)
        if found.st_nlink != 1 or found.st_size != self._size:
            raise JournalError(
                f"{self.path}: replaced or changed by another program while the runner worked",
                "leave it alone while a run works; put it back as it was, then run the same command",
            )

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        os.close(self._lock)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_journal(experiment: Path) -> tuple[Journal, Scan]:
    """Take the lock and the journal of an experiment, and say what stands in it; there may be none yet.

    A torn last line is cut and kept in `journal.jsonl.torn`; damage anywhere else, or a second writer, is refused.
    """
    lock, path, file = _lock(experiment), experiment / NAME, None
    try:
        if not os.path.lexists(path):
            return Journal(path, FIRST_LINK, None, lock, 1, 0), scan(b"")
        file = _open(path)
        found = scan(_read_all(file))
        if found.damage:
            number, why = found.damage
            raise JournalError(
                f"{NAME}:{number}: damaged: {why}", "put the file back from a copy; the runner never goes on past a hole in it"
            )
        if found.torn:
            _set_aside(experiment / f"{NAME}.torn", file, found.good)
        return Journal(path, found.head, file, lock, len(found.entries) + 1, found.good), found
    except BaseException:
        os.close(lock)
        if file is not None:
            os.close(file)
        raise


def _lock(experiment: Path) -> int:
    """flock on the directory itself: a lock file could be unlinked under a live holder, and a second runner would get in."""
    try:
        descriptor = os.open(experiment, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise JournalError(f"{experiment}: {error.strerror}", "expected an experiment directory that can be read") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise JournalError(
            f"another runner{_holder(experiment)} works on {experiment}", f"wait for it, or stop it: ./research stop {experiment}"
        ) from None
    except OSError as error:
        os.close(descriptor)
        raise JournalError(
            f"{experiment}: cannot be locked: {error.strerror}", "move the experiment to a file system that knows flock"
        ) from error
    return descriptor


def _holder(experiment: Path) -> str:
    starts = [e.fact for e in look(experiment).entries if isinstance(e.fact, Started)]
    return f" (pid {starts[-1].pid} on {starts[-1].host})" if starts else ""


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    fresh = not path.exists()
    try:
        file = os.open(path, flags, 0o644)
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}", "expected a plain file that can be written") from error
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(file)
        raise JournalError(f"{path}: not a plain file with one name", "remove it; the journal is a file of its own")
    if fresh:
        _sync_directory(path.parent)
    return file


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_all(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(os.dup(file), "rb") as stream:
        return stream.read()


def _write_all(file: int, data: bytes) -> None:
    """A write may be short, e.g. on a disk that fills up."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _put_back(file: int, size: int) -> None:
    try:
        os.ftruncate(file, size)
        os.fsync(file)
    except OSError:
        return  # the next start cuts the torn line


def _set_aside(aside: Path, file: int, good: int) -> None:
    """Keep the torn bytes, durably, before they are cut off."""
    torn = _read_all(file)[good:]
    descriptor = os.open(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        _write_all(descriptor, torn + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.ftruncate(file, good)
    os.fsync(file)
