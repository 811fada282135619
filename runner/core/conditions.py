"""When a parameter means something: the conditions of the contract checked, and told of a set of values."""

from collections.abc import Iterator, Mapping, Sequence

from runner.core.contract import Parameter
from runner.core.draft import Saying
from runner.core.events import Json
from runner.core.spelling import Path, nearest, plain, shown

Declared = Mapping[str, object]
"""One parameter as it is written, or all of them by name."""


def same(one: Json, other: Json) -> bool:
    """Whether two plain values are one: 2 and 2.0 are, 1 and true are not."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def holds(p: Parameter, values: Mapping[str, Json]) -> bool:
    """Whether the parameter means something beside these values of active parameters."""
    return all(other in values and any(same(values[other], value) for value in wanted) for other, wanted in p.when)


def in_order(parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Each parameter after those that its conditions name, else as declared."""
    placed: list[Parameter] = []
    waiting = list(parameters)
    while waiting:
        known = {p.name for p in placed}
        ready = next(p for p in waiting if all(other in known for other, _ in p.when))
        placed.append(ready)
        waiting.remove(ready)
    return tuple(placed)


# --- what is wrong with them --------------------------------------------------------------------------


def check(declared: Declared) -> Iterator[Saying]:
    """Conditions that name no fitting parameter, values that it cannot take, and circles."""
    for name in declared:
        for other, values in _when(declared, name).items():
            at = ("parameters", name, "when", other)
            if other not in declared:
                near = nearest(other, declared)
                yield (
                    at,
                    f"expected the name of a declared parameter, found {shown(other)}."
                    + (f" Did you mean '{near}'?" if near else ""),
                )
            elif (trouble := _unfit(_kind(declared, other))) is not None:
                yield at, trouble
            else:
                yield from _values(at, values, declared[other])
    circle = next((found for name in declared if (found := _circle(declared, name))), None)
    if circle:
        yield ("parameters", circle[0], "when"), f"the conditions go round in a circle: {' -> '.join(circle)}"


def _when(declared: Declared, name: str) -> Mapping[str, object]:
    one = declared[name]
    when = one.get("when") if isinstance(one, dict) else None
    return when if isinstance(when, dict) else {}


def _kind(declared: Declared, name: str) -> object:
    one = declared[name]
    return one.get("type") if isinstance(one, dict) else None


def _unfit(kind: object) -> str | None:
    return "expected a categorical, bool or int parameter, found a float" if kind == "float" else None


def _values(at: Path, values: object, other: object) -> Iterator[Saying]:
    """The values that the parameter cannot take."""
    if not isinstance(values, list) or not isinstance(other, dict):
        return
    for i, value in enumerate(values):
        possible = _possible(other, value)
        if possible is not None:
            yield (*at, i), f"expected {possible}, found {shown(value)}"


def _possible(other: Declared, value: Json) -> str | None:
    """What the parameter can take, in words, where the value is no such thing; None where it is, or the declaration is broken."""
    low, high, step = (other.get(key) for key in ("low", "high", "step"))
    if other.get("type") == "int" and isinstance(low, (int, float)) and isinstance(high, (int, float)):
        width = step if isinstance(step, (int, float)) else 1
        fits = not isinstance(value, (bool, str)) and isinstance(value, (int, float)) and low <= value <= high
        if fits and isinstance(value, (int, float)) and (value - low) % width == 0:
            return None
        return f"a whole number from {shown(low)} to {shown(high)}" + (f" in steps of {shown(step)}" if step else "")
    choices = [False, True] if other.get("type") == "bool" else other.get("choices")
    if not isinstance(choices, list) or any(same(choice, value) for choice in choices):
        return None
    return f"one of {', '.join(plain(choice) for choice in choices)}"


def _circle(declared: Declared, start: str) -> list[str] | None:
    """The way along the conditions from the parameter back to itself, or None."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop(0)
        for other in _when(declared, way[-1]):
            if other == start:
                return [*way, start]
            if other in declared and other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return None
