"""What the tuner may turn: each declaration checked, each name found in its settings file."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Literal, cast

from runner.core import conditions
from runner.core.contract import Choice, Parameter
from runner.core.draft import Draft, Saying, normal
from runner.core.spelling import shown

FIELDS = {
    "float": ("low", "high", "log", "step", "when"),
    "int": ("low", "high", "log", "step", "when"),
    "categorical": ("choices", "when"),
    "bool": ("when",),
}
NEEDED = {"float": ("low", "high"), "int": ("low", "high"), "categorical": ("choices",), "bool": ()}


def place(d: Draft, name: str) -> tuple[PurePath, str] | None:
    """The settings file and the dotted path that the name means; None where FILE is no settings file, or not only one.

    FILE is a settings file's path (relative to the contract), or as much of its end as is needed (`server.yaml:pool.size`).
    """
    settings_files = d.settings_files()
    file, colon, key = name.partition(":")
    if not colon:
        return (settings_files[0], name) if settings_files else None
    tail = PurePath(file).parts
    whole = normal(d.places.base / file)
    found = [path for path in settings_files if path == whole or (tail and path.parts[-len(tail) :] == tail)]
    return (found[0], key) if len(found) == 1 else None


def check(d: Draft) -> Iterator[Saying]:
    """What is wrong with the declarations."""
    seen: dict[tuple[PurePath, str], str] = {}
    for name in d.table("parameters"):
        yield from _declared(name, d.table("parameters", name))
        meant = place(d, name)
        if meant is None and d.settings_files():
            yield ("parameters", name), "expected FILE:path with FILE naming one of optimization_surface.settings_files"
        elif meant is not None:
            if not all(meant[1].split(".")):
                yield ("parameters", name), "expected a dotted path such as solver.alpha, found an empty step"
            if meant in seen:
                yield ("parameters", name), f"means the same value as parameters.{seen[meant]}: keep one"
            seen.setdefault(meant, name)
    yield from conditions.check(d.table("parameters"))


def _declared(name: str, declared: Mapping[str, object]) -> Iterator[Saying]:
    kind = declared.get("type")
    if not isinstance(kind, str):
        return
    for key in declared:
        if key not in ("type", *FIELDS[kind]):
            yield ("parameters", name, key), f"type: {kind} does not take it (it takes {', '.join(FIELDS[kind])})"
    for key in NEEDED[kind]:
        if key not in declared:
            yield ("parameters", name, key), f"missing. type: {kind} needs {' and '.join(NEEDED[kind])}"
    if kind in ("float", "int"):
        yield from _numbers(name, kind, declared)


def _numbers(name: str, kind: str, declared: Mapping[str, object]) -> Iterator[Saying]:
    if kind == "int":
        for key in ("low", "high", "step"):
            value = declared.get(key)
            if isinstance(value, float) and not value.is_integer():
                yield ("parameters", name, key), f"type: int expects a whole number, found {shown(value)}"
    low, high, step = (cast("float | None", declared.get(key)) for key in ("low", "high", "step"))
    log = declared.get("log") is True
    if low is not None and high is not None and low >= high:
        yield ("parameters", name, "high"), f"expected a number above low ({shown(low)}), found {shown(high)}"
    elif low is not None and high is not None and step is not None and step > high - low:
        yield ("parameters", name, "step"), f"expected at most high - low ({shown(high - low)}), found {shown(step)}"
    if log and low is not None and low <= 0:
        yield ("parameters", name, "low"), f"log: true expects a number above 0, found {shown(low)}"
    if log and step is not None:
        yield ("parameters", name, "step"), "log: true and step exclude each other: leave one out"


def build(d: Draft) -> tuple[Parameter, ...]:
    """The declarations of a draft in which nothing is wrong."""
    return tuple(_parameter(d, name) for name in d.table("parameters"))


def _parameter(d: Draft, name: str) -> Parameter:
    meant = place(d, name)
    declared = d.table("parameters", name)
    assert meant is not None
    return Parameter(
        name=name,
        file=meant[0],
        key=meant[1],
        type=cast(Literal["float", "int", "categorical", "bool"], declared["type"]),
        low=d.number("parameters", name, "low"),
        high=d.number("parameters", name, "high"),
        log=declared.get("log") is True,
        step=d.number("parameters", name, "step"),
        choices=tuple(cast(list[Choice], declared.get("choices", []))),
        when=tuple((other, tuple(cast(list[Choice], values))) for other, values in d.table("parameters", name, "when").items()),
    )
