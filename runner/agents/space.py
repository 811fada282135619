"""The space a tuner searches, as grid numbers; what the journal's turns say of its points."""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath

from runner.core.brief import Record
from runner.core.conditions import holds, in_order, same
from runner.core.contract import Choice, Parameter
from runner.core.events import Decided, Json
from runner.core.models import Basis, Direction, Oid, Scale, Status

Point = Mapping[str, int | float]
"""A code by the name of each active parameter: its index on the grid, or the number itself (floats without a step, log ints)."""

MEASURED = frozenset({Status.KEEP, Status.DISCARD, Status.VETOED})
"""Fates whose numbers count; a held gain is implausible and thus unknown."""
UNTRIED = frozenset({Status.AGENT_ERROR, Status.INTERRUPTED})


@dataclass(frozen=True, slots=True)
class Trial:
    """A point of the space; `value` grows with quality and is None where the turn told nothing of it.

    `tried` is false for a starting point that stands in for settings outside the space.
    """

    point: Point
    value: float | None
    tried: bool = True


# --- one parameter ------------------------------------------------------------------------------------


def size(p: Parameter) -> int | None:
    """How many values the parameter can take; None for a float without a step."""
    if p.type in ("categorical", "bool"):
        return len(_choices(p))
    low, high = bounds(p)
    if low == high:
        return 1
    step = _step(p)
    return None if step is None else int((Decimal(repr(high)) - Decimal(repr(low))) / step) + 1


def decode(p: Parameter, code: int | float) -> Json:
    """The value to write into the settings for the code."""
    if p.type in ("categorical", "bool"):
        return _choices(p)[int(code)]
    if by_number(p):
        return int(code) if p.type == "int" else tidy(p, float(code))
    value = Decimal(repr(bounds(p)[0])) + int(code) * (_step(p) or 0)
    return int(value) if p.type == "int" else float(value)


def encode(p: Parameter, value: Json) -> int | float | None:
    """The code of the nearest value the parameter can take; None where the value is of another kind."""
    if p.type in ("categorical", "bool"):
        found = [i for i, c in enumerate(_choices(p)) if same(c, value)]
        return found[0] if found else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    low, high = bounds(p)
    inside = min(max(value, low), high)
    if by_number(p):
        return round(inside) if p.type == "int" else float(inside)
    count, step = size(p), _step(p)
    if count is None or step is None:
        return 0
    return min(round((Decimal(repr(inside)) - Decimal(repr(low))) / step), count - 1)


def by_number(p: Parameter) -> bool:
    """Whether the code is the number itself and no index."""
    return p.type in ("int", "float") and p.low != p.high and (p.log or _step(p) is None)


def tidy(p: Parameter, value: float) -> float:
    """The value with a ten-thousandth of the range (on a log scale: of itself) as its last digit, inside the range."""
    low, high = bounds(p)
    span = min(high - low, abs(value) or high - low) if p.log else high - low
    return min(max(round(value, 4 - math.floor(math.log10(span))), low), high)


def bounds(p: Parameter) -> tuple[float, float]:
    """The lowest and the highest number (of a number's parameter), whole for an int."""
    assert p.low is not None, p.name
    assert p.high is not None, p.name
    return (int(p.low), int(p.high)) if p.type == "int" else (float(p.low), float(p.high))


def _step(p: Parameter) -> Decimal | None:
    if p.step is not None:
        return Decimal(repr(p.step))
    return Decimal(1) if p.type == "int" else None


def _choices(p: Parameter) -> tuple[Json, ...]:
    return (False, True) if p.type == "bool" else p.choices


# --- all of them ------------------------------------------------------------------------------------------


def ask(parameters: Sequence[Parameter], code: Callable[[Parameter], int | float]) -> tuple[Point, dict[str, Json]]:
    """A code for each parameter that means something beside those before it, and their values; as declared in both."""
    point: dict[str, int | float] = {}
    values: dict[str, Json] = {}
    for p in in_order(parameters):
        if holds(p, values):
            point[p.name] = code(p)
            values[p.name] = decode(p, point[p.name])
    names = [p.name for p in parameters if p.name in point]
    return {name: point[name] for name in names}, {name: values[name] for name in names}


def volume(parameters: Sequence[Parameter]) -> int | None:
    """How many points there are; None for without end."""
    return _volume(in_order(parameters), {})


def _volume(ordered: Sequence[Parameter], values: Mapping[str, Json]) -> int | None:
    """The points below these values; the values of a parameter that no condition tells apart are counted at once."""
    if not ordered:
        return 1
    p, rest = ordered[0], ordered[1:]
    count = size(p) if holds(p, values) else 1
    if count is None:
        return None
    named = [value for value in _named(p, rest) if encode(p, value) is not None] if holds(p, values) else []
    below = [_volume(rest, {**values, p.name: value}) for value in named]
    others = count - len(named)
    if others:
        common = _volume(rest, values)
        below.append(None if common is None else others * common)
    return None if None in below else sum(each for each in below if each is not None)


def _named(p: Parameter, rest: Sequence[Parameter]) -> list[Json]:
    """The values of the parameter that conditions of others speak of, each once."""
    named: list[Json] = []
    for value in (value for other in rest for name, wanted in other.when if name == p.name for value in wanted):
        if not any(same(value, known) for known in named):
            named.append(value)
    return named


def points(parameters: Sequence[Parameter]) -> Iterator[Point]:
    """Every point of a finite space, in a fixed order."""
    names = [p.name for p in parameters]
    for point in _points(in_order(parameters), {}):
        yield {name: point[name] for name in names if name in point}


def _points(ordered: Sequence[Parameter], values: Mapping[str, Json]) -> Iterator[Point]:
    if not ordered:
        yield {}
        return
    p, rest = ordered[0], ordered[1:]
    if not holds(p, values):
        yield from _points(rest, values)
        return
    for code in _codes(p):
        for point in _points(rest, {**values, p.name: decode(p, code)}):
            yield {p.name: code, **point}


def _codes(p: Parameter) -> Iterator[int]:
    first = int(bounds(p)[0]) if by_number(p) else 0
    yield from range(first, first + (size(p) or 0))


def settle(parameters: Sequence[Parameter], point: Point) -> tuple[Point, dict[str, Json]]:
    """The point as its written values spell it, and those values: what is tried is what stands in the file."""
    values = {p.name: decode(p, point[p.name]) for p in parameters if p.name in point}
    return place(parameters, values) or point, values


def place(parameters: Sequence[Parameter], values: Mapping[str, Json]) -> Point | None:
    """The point nearest to the values; None where one that counts is missing or of another kind."""
    codes = {p.name: encode(p, values.get(p.name)) for p in active(parameters, values)}
    return None if None in codes.values() else {name: code for name, code in codes.items() if code is not None}


def active(parameters: Sequence[Parameter], values: Mapping[str, Json]) -> list[Parameter]:
    """The parameters that mean something at the point nearest to the values, as declared."""
    near: dict[str, Json] = {}
    for p in in_order(parameters):
        if holds(p, near):
            code = encode(p, values.get(p.name))
            near[p.name] = None if code is None else decode(p, code)
    return [p for p in parameters if p.name in near]


def key(point: Point) -> str:
    """The point's identity (1 and 1.0 are the same)."""
    return json.dumps({name: float(code) for name, code in point.items()}, sort_keys=True)


# --- what is known ------------------------------------------------------------------------------------------


def trials(
    parameters: Sequence[Parameter], first: Mapping[str, Json], records: Sequence[Record], direction: Direction
) -> tuple[list[Trial], list[str]]:
    """The segment's first settings as trial 0 with the value 0, then each tried turn, chained to it; and notes for the person.

    A value is the turn's effect on top of what its incumbent is worth: on ratio scale a sum of logarithms, so that effects
    multiply along the kept turns, on difference scale a sum of effects; it is None where the incumbent's worth is not known.
    """
    start, notes = _start(parameters, first)
    known = [] if start is None else [start]
    worth: dict[Oid, float] = {records[0].incumbent: 0.0} if records else {}
    scale = next((r.decided.scale for r in records if r.decided and r.decided.scale), None)
    misfits = 0
    for record in records:
        if record.decided is None or record.decided.status in UNTRIED:
            continue
        gain = _gain(record.decided, record.kept is not None, direction, scale)
        value = None if gain is None or record.incumbent not in worth else worth[record.incumbent] + gain
        if record.kept is not None and value is not None:
            worth[record.kept] = value
        point = place(parameters, record.parameters) if record.parameters is not None else None
        if point is not None:
            known.append(Trial(point, value))
        elif record.parameters is not None:
            misfits += 1
    return known, [*notes, *([f"{misfits} earlier turns do not fit the declared parameters"] if misfits else [])]


def _start(parameters: Sequence[Parameter], first: Mapping[str, Json]) -> tuple[Trial | None, list[str]]:
    point = place(parameters, first)
    if point is None:
        known = active(parameters, first)
        odd = [f"{p.name} is {json.dumps(first[p.name])}" for p in known if encode(p, first[p.name]) is None]
        return None, [f"the starting settings are no point of the declared space ({', '.join(odd)}) and are not used"]
    moved = [p for p in parameters if p.name in point and not _fits(p, first[p.name])]
    return Trial(point, 0.0, tried=not moved), [
        f"{p.name} starts at {json.dumps(first[p.name])}, which its declaration does not allow: "
        f"taken as {json.dumps(decode(p, point[p.name]))}"
        for p in moved
    ]


def _fits(p: Parameter, value: Json) -> bool:
    """Whether the value is one that the parameter can take (a float without a step: any inside its range)."""
    code = encode(p, value)
    if code is None or not isinstance(value, (int, float)) or size(p) is not None:
        return code is not None and decode(p, code) == value
    return code == value


def _gain(decided: Decided, kept: bool, direction: Direction, scale: Scale | None) -> float | None:
    """The turn's effect as a summand; None where there is none that counts. What was kept counts whatever it was first (held)."""
    effect = decided.effect if kept else decided.estimate
    effect = effect if effect is not None else decided.estimate if kept else decided.effect
    counts = kept or (decided.status in MEASURED and decided.basis is not Basis.GUARDRAIL_REGRESSION)
    if not counts or effect is None or decided.scale != scale:
        return None
    if scale == "difference":
        return effect
    factor = 1 - effect if direction == "lower" else 1 + effect
    if factor <= 0:
        return None
    return -math.log(factor) if direction == "lower" else math.log(factor)


# --- on the way to the child ------------------------------------------------------------------------------------


def dump(parameters: Sequence[Parameter]) -> list[dict[str, Json]]:
    return [
        dataclasses.asdict(p)
        | {"file": str(p.file), "choices": list(p.choices), "when": [[name, list(values)] for name, values in p.when]}
        for p in parameters
    ]


def load(rows: Sequence[Mapping[str, Json]]) -> tuple[Parameter, ...]:
    """The parameters again; the rows are our own `dump`."""
    return tuple(_parameter(**row) for row in rows)  # type: ignore[arg-type]


def _parameter(file: str, choices: list[Choice], when: list[tuple[str, list[Choice]]], **rest: Json) -> Parameter:
    conditions = tuple((name, tuple(values)) for name, values in when)
    return Parameter(file=PurePath(file), choices=tuple(choices), when=conditions, **rest)  # type: ignore[arg-type]
