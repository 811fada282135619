"""The facts a campaign is made of: one frozen dataclass a kind."""

import dataclasses
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

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


GateKind = Literal["scope", "no_change", "duplicate", "build", "screen", "guard"]


@dataclass(frozen=True, slots=True)
class Check:
    gate: GateKind
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
class Noise:
    """What is known of one metric's pair noise: a forgetting sum of squares; `differences` counts those from candidates."""

    weight: float
    squares: float
    differences: int

    @property
    def scale(self) -> float:
        return math.sqrt(self.squares / self.weight)


@dataclass(frozen=True, slots=True)
class Pool:
    """The learnt noise of all metrics under one calibration."""

    primary: Noise
    guardrails: tuple[Noise, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """The verdict: a pure function of the turn's facts, written before anything moves.

    `effect` > 0 is better, shrunk, on the calibrated scale; `stake` is the bet's wealth, kept when it reaches `needed` (1/alpha).
    `pool` is the campaign's noise with what this candidate showed of it, so that a state needs no earlier readings.
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
    pool: Pool | None = None


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
    """A journal line: `turn` is None for facts around the turns, 0 for calibration and re-measuring.

    `link` is the SHA-256 hex of the line without its newline.
    """

    seq: int
    at: str
    turn: TurnNo | None
    fact: Fact
    link: str = dataclasses.field(default="", compare=False)
