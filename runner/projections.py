"""The files that are derived from the journal: one more line after each fact, built anew wherever they are not in step."""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from runner.core.errors import JournalError
from runner.core.events import Calibrated, Entry, Remeasured, Settled, Stopped
from runner.core.news import Warned
from runner.core.rows import TSV_HEADER, About, experiment_line, log_line, tsv_row, winner
from runner.core.state import State, fold, step
from runner.core.summary import summary
from runner.core.text import escaped_json, whole
from runner.journal import look

Line = Callable[[Entry, State, About], str | None]

# file name -> its first line and what an entry adds to it
_GROWING: dict[str, tuple[str, Line]] = {
    "results.tsv": (TSV_HEADER, tsv_row),
    "experiments.jsonl": ("", experiment_line),
    "runner.log": ("", lambda entry, state, about: log_line(entry, state)),
}
_NEWS_FOR_THE_PAGES = (Calibrated, Settled, Stopped, Remeasured)


@dataclass(slots=True)
class Projections:
    """The projections of one experiment; a file that cannot be written never stops a run: `warn` is told once for each.

    A growing file gets one more line as long as it is the very file, of the very length, that was written last; else all of it
    is built anew from the journal and replaced. One that could not be written is left alone until the next start.
    """

    directory: Path
    about: About
    warn: Callable[[Warned], None]
    _written: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _warned: set[str] = field(default_factory=set)

    def start(self, entries: Iterable[Entry]) -> None:
        """Bring every file in step with the journal's entries so far; call once, before the first fact is recorded."""
        told = list(entries)
        for name, content in self._contents(told).items():
            self._try(name, partial(self._settle, name, content))
        if told:
            self._pages(fold(told), told[-1])

    def fact(self, entry: Entry, state: State) -> None:
        """A ledger's listener: bring the files in step after one more entry."""
        for name, (_, line) in _GROWING.items():
            added = line(entry, state, self.about)
            if added is not None and name not in self._warned:
                self._try(name, partial(self._grow, name, added))
        if isinstance(entry.fact, _NEWS_FOR_THE_PAGES):
            self._pages(state, entry)

    # --- files that grow ---

    def _contents(self, entries: list[Entry]) -> dict[str, bytes]:
        lines: dict[str, list[str]] = {name: [first] for name, (first, _) in _GROWING.items()}
        for entry, state in zip(entries, _states(entries), strict=True):
            for name, (_, line) in _GROWING.items():
                lines[name].append(line(entry, state, self.about) or "")
        return {name: whole("".join(parts)).encode() for name, parts in lines.items()}

    def _settle(self, name: str, content: bytes) -> None:
        path = self.directory / name
        if _read(path, len(content) + 1) != content:
            replace(path, content)
        self._written[name] = _identity(os.lstat(path))

    def _grow(self, name: str, added: str) -> None:
        path = self.directory / name
        if name not in self._written or not _is_still(path, self._written[name]):
            self._settle(name, self._contents(list(look(self.directory).entries))[name])
            return
        del self._written[name]
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(file, "ab") as stream:
            stream.write(whole(added).encode())
            stream.flush()
            self._written[name] = _identity(os.fstat(file))

    # --- pages that are written whole ---

    def _pages(self, state: State, entry: Entry) -> None:
        page = summary(state, self.about)
        self._page("summary.md", page)
        if isinstance(entry.fact, Stopped):
            self._page(f"autoresearch_summary_{_stamp(entry)}.md", page)
        result = winner(state, self.about)
        if result is not None:
            text = json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False)
            self._page(str(self.about.winner), escaped_json(text) + "\n")

    def _page(self, name: str, text: str) -> None:
        content = whole(text).encode()
        path = self.directory / name
        if _read(path, len(content) + 1) != content:
            self._try(name, partial(replace, path, content))

    def _try(self, name: str, write: Callable[[], None]) -> None:
        try:
            write()
        except (OSError, JournalError) as error:
            self._written.pop(name, None)
            if name not in self._warned:
                self._warned.add(name)
                why = error.strerror if isinstance(error, OSError) else str(error)
                self.warn(
                    Warned(
                        f"{self.directory / name} not written: {why}",
                        "the run goes on; the next start builds it from the journal",
                    )
                )


def _states(entries: Iterable[Entry]) -> Iterator[State]:
    state = State()
    for entry in entries:
        state = step(state, entry)
        yield state


def _stamp(entry: Entry) -> str:
    """The time of the fact in a form that file names can bear: the same name each time the page is built."""
    return entry.at[:19].replace("-", "").replace(":", "") + "Z"


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_dev, found.st_ino, found.st_size


def _is_still(path: Path, identity: tuple[int, int, int]) -> bool:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and _identity(found) == identity


def _read(path: Path, most: int) -> bytes | None:
    """A plain file's first bytes, None for anything else: a FIFO would wait for ever."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        with os.fdopen(os.dup(file), "rb") as stream:
            return stream.read(most)
    finally:
        os.close(file)


def replace(path: Path, content: bytes) -> None:
    """Put whole content in a file's place at once; a reader sees the old file or the new one. Raises OSError, leaving the old."""
    aside = path.with_name(f".{path.name}.new")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(content)
        aside.replace(path)
    except OSError:
        with suppress(OSError):
            aside.unlink()
        raise
