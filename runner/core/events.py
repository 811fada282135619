"""The facts a campaign is made of: one frozen dataclass a kind, and their form as strict JSON."""

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union, cast

from runner.core.errors import JournalError
from runner.core.models import Basis, Declares, Direction, Oid, Outcome, Reading, Scale, Side, Status, TurnNo

FORMAT = 1
"""The journal's format; a newer one is refused by name, an older one is read."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


# --- facts around the turns ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CampaignOpened:
    """A segment begins: the first one opens the campaign, a later one says in `changed` what was edited.

    `baseline` is the commit that was checked out when the campaign began, `incumbent` the winner this segment starts from.
    `digests` are SHA-256 hex of contract, goal, judge and evaluator; `evaluator_commit` is None where it is not committed.
    """

    format: int
    campaign: str
    experiment: str
    segment: int
    branch: str
    baseline: Oid
    incumbent: Oid
    seed: int
    digests: Mapping[str, str]
    evaluator_commit: Oid | None
    versions: Mapping[str, str]
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """A runner process took the campaign up; `confinement` holds probe results, not tool names."""

    host: str
    boot: str
    pid: int
    process_started: float
    confinement: Mapping[str, Json]
    max_turns: int | None
    budget_s: float | None


@dataclass(frozen=True, slots=True)
class MetricNoise:
    """What A/A pairs say of one metric: `noise` is the robust scale of a pair difference on `scale` (1.4826 median |d|)."""

    name: str
    direction: Direction
    scale: Scale
    deterministic: bool
    noise: float
    prior_weight: float
    shortcut: bool
    mean: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The noise of the incumbent against itself, once a segment and host, or again where a metric turned out noisy.

    `visible` is the smallest effect found with 50 % power, `minutes` the expected length of a decision;
    `slowest_s` bounds a candidate's reading.
    """

    segment: int
    host: str
    primary: MetricNoise
    guardrails: tuple[MetricNoise, ...]
    pairs: int
    slowest_s: float
    visible: float
    minutes: float


@dataclass(frozen=True, slots=True)
class Remeasured:
    """The incumbent against the baseline on fresh pairs: what the campaign really gained."""

    baseline: Oid
    incumbent: Oid
    pairs: int
    effect: float | None
    interval: tuple[float, float] | None
    scale: Scale


@dataclass(frozen=True, slots=True)
class Waited:
    """The runner waits for something that is not its own, e.g. an agent's usage limit."""

    why: str
    until: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A person's word while it runs: a note, pause, skip."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Abandoned:
    """Readings of this turn up to `before_pair` are set aside (another boot or host); the turn goes on with fresh pairs."""

    before_pair: int
    why: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The loop ended by `rule`; counts "in a row" and `--max-turns` begin anew after it."""

    rule: str
    reason: str
    active_s: float


# --- facts of one turn ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnOpened:
    incumbent: Oid


@dataclass(frozen=True, slots=True)
class Usage:
    """What the worker says it used; unknown is None."""

    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Worked:
    """The agent ended and its process tree is gone; its finished copy stands in the state directory until `Proposed`."""

    outcome: Outcome
    exit_code: int | None
    seconds: float
    usage: Usage
    reason: str
    not_held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    statement: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs from the incumbent; modes are git's (100644, 100755, 120000), None where the side lacks it.

    `kind` is git's letter: A added, D deleted, M modified, T type changed, R renamed (`old` is then the source).
    Sizes in bytes.
    """

    kind: Literal["A", "D", "M", "T", "R"]
    path: str
    old: str | None
    old_mode: str | None
    new_mode: str | None
    size: int | None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Proposed:
    """The tree the worker left, as one commit; `candidate` is None where it changed nothing.

    `problems` are what the import refused to take (one sentence each); `ignored` counts left-out files.
    """

    candidate: Oid | None
    tree: Oid | None
    hypothesis: Hypothesis | None
    approach: str | None
    declares: Declares | None
    message: str
    changes: tuple[Change, ...]
    ignored: int
    problems: tuple[str, ...] = ()
    parameters: Mapping[str, Json] | None = None
    expected_effect: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    gate: Literal["scope", "no_change", "duplicate", "build", "screen", "guard"]
    name: str
    ok: bool
    reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Gated:
    """Every check up to the first refusal; `status` and `basis` are set exactly when one refused."""

    checks: tuple[Check, ...]
    status: Status | None
    basis: Basis | None
    twin: TurnNo | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One pair, readings in the order taken; a deterministic metric's re-run before a keep holds the candidate's reading only."""

    pair: int
    first: Side
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    status: Status
    basis: Basis
    summary: str
    conclusion: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The verdict: a pure function of the turn's facts, written before anything moves.

    `effect` > 0 is better, shrunk, on the calibrated scale; `stake` is the bet's wealth, kept when it reaches `needed` (1/alpha).
    `metric_value` and `delta` are raw means over the pairs in the metric's unit; unknown is None.
    """

    status: Status
    basis: Basis
    reason: str
    effect: float | None = None
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    scale: Scale | None = None
    pairs: int = 0
    stake: float | None = None
    needed: float | None = None
    metric_value: float | None = None
    delta: float | None = None
    secondary: Mapping[str, float | None] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settled:
    """The turn is over: the branch moved by compare-and-swap to `incumbent`, or nothing did."""

    incumbent: Oid
    moved: bool


Fact = (
    CampaignOpened | Started | Calibrated | Remeasured | Waited | Noted | Abandoned | Stopped
    | TurnOpened | Worked | Proposed | Gated | Measured | Judged | Decided | Settled
)  # fmt: skip
KINDS: Mapping[str, type[Fact]] = {kind.__name__: kind for kind in typing.get_args(Fact)}


@dataclass(frozen=True, slots=True)
class Entry:
    """A journal line: `turn` is None for facts around the turns, 0 for calibration and re-measuring."""

    seq: int
    at: str
    turn: TurnNo | None
    fact: Fact


# --- their form as JSON -----------------------------------------------------------------------------


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
