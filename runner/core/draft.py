"""A contract on its way: valid by its schema, its paths absolute and its quantities numbers, but not yet checked as a whole."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, cast

from runner.core import quantities
from runner.core.contract import Argv, WritablePath
from runner.core.events import Json
from runner.core.spelling import Path, shown

Saying = tuple[Path, str]
"""A path and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Places:
    """What relative paths and `~` mean."""

    base: PurePath
    home: PurePath | None

    def path(self, text: str) -> PurePath:
        """The absolute path without `..`; raises ValueError where `~` cannot be meant."""
        if text.startswith("~"):
            if text != "~" and not text.startswith("~/"):
                raise ValueError(f"expected ~/ or a whole path, found {shown(text)}")
            if self.home is None:
                raise ValueError(f"'~' needs a home directory and none is known: write the whole path, found {shown(text)}")
            return normal(self.home / text[1:].lstrip("/"))
        return normal(self.base / re.sub("^/+", "/", text))


def normal(path: PurePath) -> PurePath:
    """The path with `.` and `..` taken out by their spelling."""
    kept: list[str] = []
    for part in path.parts[1:]:
        kept = kept[:-1] if part == ".." else [*kept, part]
    return type(path)(path.anchor or "/", *kept)


def covers(outer: PurePath, inner: PurePath) -> bool:
    """Whether `inner` is `outer` or lies below it, by components."""
    return outer == inner or outer in inner.parents


# --- what the schema's kinds of text mean -----------------------------------------------------------


def _argv(value: object, places: Places) -> Argv:
    """A string is one program's path; in a list a first element with ./ or ../ (or ~/) is relative to the contract."""
    if isinstance(value, str):
        return (str(places.path(value)),)
    program, *arguments = (str(element) for element in cast(Sequence[str | int], value))
    if program.startswith(("./", "../", "~/")):
        program = str(places.path(program))
    if not program:
        raise ValueError("expected a program as first element, found empty text")
    return (program, *arguments)


def _bin(value: object, places: Places) -> str:
    text = cast(str, value)
    return str(places.path(text)) if "/" in text else text


def _writable(value: object, places: Places) -> WritablePath:
    text = cast(str, value)
    return WritablePath(places.path(text), tree=text.split("/")[-1] in ("", ".", "..", "~"))


MEANINGS: Mapping[str, Callable[[object, Places], object]] = {
    "path": lambda value, places: places.path(cast(str, value)),
    "writable": _writable,
    "bin": _bin,
    "argv": _argv,
    "program": _argv,
    "duration": lambda value, places: quantities.seconds(value),
    "size": lambda value, places: quantities.size(value),
    "amount": lambda value, places: quantities.amount(value),
}
"""By the name under `$defs` that a key refers to."""


def meaning(value: Json, schema: Mapping[str, Any], places: Places) -> tuple[object, tuple[Saying, ...]]:
    """The schema-valid value with each kind of text as what it means, and what could not be read (left out as None)."""
    said: list[Saying] = []
    return _meaning(value, schema, schema, places, (), said), tuple(said)


def _meaning(
    value: Json, node: Mapping[str, Any], schema: Mapping[str, Any], places: Places, path: Path, said: list[Saying]
) -> object:
    name = node.get("$ref", "").removeprefix("#/$defs/")
    if name:
        node = {**schema["$defs"][name], **node}
    if isinstance(value, dict):
        known = node.get("properties", {})
        rest = node.get("additionalProperties") or {}
        return {k: _meaning(v, known.get(k, rest), schema, places, (*path, k), said) for k, v in value.items()}
    if value is None:
        return None
    if name in MEANINGS:
        try:
            return MEANINGS[name](value, places)
        except ValueError as unreadable:
            said.append((path, f"{unreadable}"))
            return None
    if isinstance(value, list):
        return [_meaning(v, node.get("items", {}), schema, places, (*path, i), said) for i, v in enumerate(value)]
    return value


# --- reading it ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draft:
    """The values that could be read; `written` holds every path of the file, `file` and `places` are the contract's own."""

    tree: object
    written: Mapping[Path, int]
    file: str
    places: Places

    def has(self, *path: str | int) -> bool:
        """Whether the file says something there, readable or not."""
        return path in self.written

    def pick(self, *path: str | int) -> object:
        value = self.tree
        for step in path:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, (list, tuple)) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def text(self, *path: str | int) -> str | None:
        value = self.pick(*path)
        return value if isinstance(value, str) else None

    def number(self, *path: str | int) -> float | None:
        value = self.pick(*path)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def count(self, *path: str | int) -> int | None:
        value = self.pick(*path)
        return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def path(self, *path: str | int) -> PurePath | None:
        value = self.pick(*path)
        return value if isinstance(value, PurePath) else None

    def argv(self, *path: str | int) -> Argv:
        value = self.pick(*path)
        return cast(Argv, value) if isinstance(value, tuple) else ()

    def table(self, *path: str | int) -> Mapping[str, object]:
        value = self.pick(*path)
        return value if isinstance(value, dict) else {}

    def entries(self, *path: str | int) -> Iterator[tuple[int, object]]:
        """The list's readable entries with their index; nothing where there is no list."""
        value = self.pick(*path)
        return ((i, entry) for i, entry in enumerate(value if isinstance(value, list) else []) if entry is not None)

    def texts(self, *path: str | int) -> tuple[str, ...]:
        return tuple(cast(str, entry) for _, entry in self.entries(*path))

    def settings_files(self) -> tuple[PurePath, ...]:
        return tuple(cast(PurePath, entry) for _, entry in self.entries("optimization_surface", "settings_files"))

    def writable_paths(self) -> tuple[WritablePath, ...]:
        return tuple(cast(WritablePath, entry) for _, entry in self.entries("writable_paths"))
