"""What the person asked for, as the numbers the decision works with: units, presets, and the risk each candidate may spend."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from runner.core import stats
from runner.core.events import Decided
from runner.core.models import Basis, Direction, Scale

GUARD_ALPHA = 0.05
"""Risk of one guardrail or one "not worse" test; a candidate has to pass all, so nothing is divided."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A size of effect as a person writes it: `5%` is Amount(5, per_cent=True), a plain number is in the metric's unit."""

    value: float = 0.0
    per_cent: bool = False

    def __str__(self) -> str:
        return f"{self.value:g} %" if self.per_cent else f"{self.value:g}"


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Guardrail:
    """A secondary metric that must not get worse by more than `max_regression` (per cent: ratio scale, plain: difference)."""

    name: str
    direction: Direction
    max_regression: Amount

    @property
    def scale(self) -> Scale:
        return "ratio" if self.max_regression.per_cent else "difference"


@dataclass(frozen=True, slots=True)
class Preset:
    """How long a candidate is tried: `optimism` in standard errors; the rest is what the noise then lets one see.

    `pairs` are expected for a decision in a mix of good and bad candidates, `visible` and `sure` are the effects
    (in robust sd of a pair difference) found with 50 % and 90 % power; measured on normal noise.
    """

    max_pairs: int
    optimism: float
    pairs: float
    visible: float
    sure: float


PRESETS = {
    "quick": Preset(max_pairs=40, optimism=0.5, pairs=2.75, visible=0.9, sure=1.6),
    "thorough": Preset(max_pairs=60, optimism=1.0, pairs=5.5, visible=0.65, sure=1.1),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The contract's words on deciding.

    `margin` is how much worse a declared bug fix or simplification may be, one such amount for the whole campaign;
    None: none, except that a deterministic metric may stay equal. `implausible` is the claimed effect beyond which a
    keep is held for the person, `times` the same as a ratio of the two values where a noisy metric is compared by ratio;
    None: off. `risk` bounds the chance of any false keep in a campaign of worthless candidates.
    """

    metric: str
    direction: Direction
    scale: Literal["auto", "ratio", "difference"] = "auto"
    deterministic: Literal["auto"] | bool = "auto"
    min_effect: Amount = NOTHING
    preset: Literal["quick", "thorough"] = "thorough"
    max_pairs: int | None = None
    risk: float = 0.1
    expected_candidates: int = 100
    margin: Amount | None = None
    implausible: Amount | None = None
    times: float | None = None
    guardrails: tuple[Guardrail, ...] = ()

    @property
    def pairs_at_most(self) -> int:
        return self.max_pairs if self.max_pairs is not None else PRESETS[self.preset].max_pairs


# --- effects and differences ----------------------------------------------------------------------


def inward(amount: Amount, scale: Scale, direction: Direction) -> float:
    """The amount on the scale of d: log of the ratio, or the plain difference; better is positive, worse negative.

    A gain of 100 % or more of a lower-is-better metric, and a loss of as much of a higher-is-better one, are infinite.
    """
    if scale == "difference":
        return amount.value
    share = amount.value / 100 if amount.per_cent else amount.value
    signed = -share if direction == "lower" else share
    size = math.log1p(signed) if signed > -1 else -math.inf
    return -size if direction == "lower" else size


def outward(d: float, scale: Scale, direction: Direction) -> float:
    """The effect a person reads: the share of the incumbent's value on the ratio scale, the unit's difference otherwise."""
    if scale == "difference":
        return d
    return -math.expm1(min(-d, 700.0)) if direction == "lower" else math.expm1(min(d, 700.0))


def plausible(policy: Policy, scale: Scale, deterministic: bool) -> float:
    """The largest gain that is kept without a person's look, on the scale of d; infinite where nothing bounds it.

    `times` is meant for what is measured: an exact count may honestly go from 3 to 0.
    """
    if policy.implausible is not None:
        return inward(policy.implausible, scale, policy.direction)
    if policy.times is None or deterministic or scale != "ratio":
        return math.inf
    return math.log(policy.times)


# --- risk -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Risk:
    """Where the campaign stands: `index` of the candidate under test (1 for the first that is ever measured), `keeps` before it.

    The index counts candidates whose first reading was taken, over all segments; keeps are those by metric_improvement.
    """

    index: int
    keeps: int


def alpha(risk: Risk, policy: Policy) -> float:
    """The risk this candidate may spend, by e-LOND (Xu and Ramdas 2024): A gamma_t (keeps + 1), never above one half."""
    return min(0.5, policy.risk * stats.gamma(risk.index, policy.expected_candidates) * (risk.keeps + 1))


def allowance(policy: Policy, decided: Iterable[Decided]) -> float:
    """How much of the campaign's one margin for regressions is left, 1 = all of it, 0 = none.

    Every "not worse" keep spends what it was estimated to lose: twenty keeps that each lose 1 % would cost 20 %.
    """
    if policy.margin is None:
        return 0.0
    spent = 0.0
    for verdict in decided:
        if verdict.basis in (Basis.NON_REGRESSION_BUG_FIX, Basis.NON_REGRESSION_CODE_QUALITY) and verdict.scale is not None:
            bound = -inward(Amount(-policy.margin.value, policy.margin.per_cent), verdict.scale, policy.direction)
            lost = -inward(Amount(verdict.estimate or 0.0), verdict.scale, policy.direction)
            spent += max(0.0, lost) / bound if bound > 0 else float(lost > 0)
    return max(0.0, 1.0 - spent)
