"""Facts as strict JSON, and back again with every type checked."""

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, cast

from runner.core.errors import JournalError
from runner.core.events import KINDS, Fact, Json


def encode(fact: Fact) -> dict[str, Json]:
    """The fact's fields as strict JSON values; raises ValueError on NaN or infinity."""
    return {f.name: _plain(getattr(fact, f.name)) for f in dataclasses.fields(fact)}


def _plain(value: Any) -> Json:
    if isinstance(value, enum.Enum):
        return cast(str, value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{value} has no place in strict JSON")
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}


def decode(kind: str, fields: Mapping[str, Json]) -> Fact:
    """The fact of that kind; raises JournalError where the fields are not its own."""
    if kind not in KINDS:
        raise JournalError(f"unknown kind of fact {kind!r}", "the journal was written by a newer version: update the runner")
    return cast(Fact, _reader(cast(Any, KINDS[kind]))(fields, kind))


_Read = Callable[[Any, str], Any]


@functools.cache
def _reader(hint: Any) -> _Read:
    """A function that takes parsed JSON as the type `hint`, for the handful of type forms the facts use."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, typing.NewType):
        return _reader(hint.__supertype__)
    if origin in (Union, types.UnionType):
        if len(args) > 2:  # Json, which is another object each time its forward references are resolved
            return lambda value, where: value
        inner = _reader(next(a for a in args if a is not type(None)))
        return lambda value, where: None if value is None else inner(value, where)
    if origin is Literal:
        return lambda value, where: _must(value in args, value, where)
    if origin is tuple:
        return _sequence(_reader(args[0]), None if args[-1] is ... else len(args))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_reader(args[1]))
    if dataclasses.is_dataclass(hint):
        return _record(cast(type, hint))
    if issubclass(hint, enum.Enum):
        members = {e.value: e for e in hint}
        return lambda value, where: members[value if type(value) is str and value in members else _must(False, value, where)]
    if hint is float:
        return lambda value, where: value if type(value) is float else float(_must(type(value) is int, value, where))
    return lambda value, where: _must(type(value) is hint, value, where)


def _sequence(item: _Read, length: int | None) -> _Read:
    def read(value: Any, where: str) -> tuple[Any, ...]:
        _must(isinstance(value, (list, tuple)) and length in (None, len(value)), value, where)
        return tuple([item(v, where) for v in value])

    return read


def _mapping(item: _Read) -> _Read:
    def read(value: Any, where: str) -> dict[str, Any]:
        _must(isinstance(value, dict), value, where)
        return {k: item(v, where) for k, v in value.items()}

    return read


_PLAIN = frozenset({bool, int, float, str, type(None)})


def _record(cls: type) -> _Read:
    """A missing or an unknown field is refused by name; most values are plain, and one look at their type is all they cost."""
    hints = typing.get_type_hints(cls)
    fields = {f.name: _reader(hints[f.name]) for f in dataclasses.fields(cls)}
    plain = {name: _plain_types(hint) for name, hint in hints.items()}
    none = dataclasses.MISSING
    every, required = fields.keys(), {f.name for f in dataclasses.fields(cls) if f.default is none and f.default_factory is none}

    def read(value: Any, where: str) -> Any:
        _must(isinstance(value, Mapping), value, where)
        if value.keys() != every and not required <= value.keys() <= every:
            odd = ", ".join(sorted((required - value.keys()) | (value.keys() - every)))
            raise JournalError(f"{where}: fields missing or unknown: {odd}", "the line was not written by this runner")
        return cls(**{name: v if type(v) in plain[name] else fields[name](v, name) for name, v in value.items()})

    return read


def _plain_types(hint: Any) -> frozenset[object]:
    """The types whose values need no further look in a field of this type."""
    arms = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
    return _PLAIN & {getattr(arm, "__supertype__", arm) for arm in arms}


def _must(ok: bool, value: Any, where: str) -> Any:
    if not ok:
        raise JournalError(f"{where}: {value!r} is not of the expected type", "the line was not written by this runner")
    return value
