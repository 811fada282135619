"""What a trial's readings show: better, not worse, guardrails held or broken, and by how much."""

import math
from dataclasses import dataclass

from runner.core import stats
from runner.core.models import Basis, Reading
from runner.core.pairs import fault, primary
from runner.core.policy import GUARD_ALPHA, PRESETS, inward, outward
from runner.core.trial import Rail, Trial

EXACT = 1e-9
"""Relative room for rounding where an exact difference meets a bound: 100 to 99 is a gain of 1 %."""
TINY = 1e-12
"""Relative difference that rounding alone can make of equal values."""
HARMLESS = {"bug_fix": Basis.NON_REGRESSION_BUG_FIX, "code_quality": Basis.NON_REGRESSION_CODE_QUALITY}


# --- the primary metric -----------------------------------------------------------------------------


def better(trial: Trial) -> bool:
    """Whether a gain of at least min_effect is shown."""
    wanted, estimate = least(trial), stats.estimate(trial.seen)
    if trial.deterministic:
        return estimate > tiny(trial) and estimate >= wanted * (1 - EXACT)
    return (stats.wealth(trial.gain) >= 1 / trial.alpha or _giant(trial, 0.0)) and estimate >= wanted


def least(trial: Trial) -> float:
    """min_effect on the scale of d."""
    return inward(trial.policy.min_effect, trial.scale, trial.policy.direction)


def within(trial: Trial) -> bool:
    """Whether a declared fix or simplification is shown to lose less than the margin."""
    if trial.null is None:
        return False
    if trial.deterministic:
        return stats.estimate(trial.seen) >= trial.null * (1 + EXACT) - tiny(trial)
    return stats.wealth(trial.harmless) >= 1 / GUARD_ALPHA or _giant(trial, trial.null)


def affordable(trial: Trial) -> bool:
    """Whether the campaign's allowance covers what a "not worse" candidate is estimated to lose."""
    lost, null = -stats.estimate(trial.seen), trial.null or 0.0
    share = 0.0 if lost <= tiny(trial) else lost / -null if null < 0 else math.inf
    return share <= trial.allowance * (1 + EXACT)


def tiny(trial: Trial) -> float:
    """What rounding can make of equal exact values; noise has no use for it."""
    if not trial.deterministic:
        return 0.0
    return TINY if trial.scale == "ratio" else TINY * max(abs(primary(reading)) for reading in valid(trial))


def _giant(trial: Trial, null: float) -> bool:
    return trial.shortcut and not trial.failures and stats.giant(trial.seen, null)


@dataclass(frozen=True, slots=True)
class Question:
    """What decides the trial: the bet against `null`, the wealth it needs, and how many standard errors to hope for."""

    null: float
    bet: stats.Bet
    needed: float
    optimism: float


def question(trial: Trial) -> Question:
    if trial.null is not None:
        return Question(trial.null, trial.harmless, 1 / GUARD_ALPHA, 1.0)
    return Question(0.0, trial.gain, 1 / trial.alpha, PRESETS[trial.policy.preset].optimism)


# --- guardrails -------------------------------------------------------------------------------------


def holds(rail: Rail) -> bool:
    """Whether the guardrail is shown to hold within its tolerance."""
    if rail.deterministic:
        return not breaks(rail)
    return stats.wealth(rail.holds) >= 1 / GUARD_ALPHA or (rail.shortcut and stats.giant(rail.seen, rail.null))


def breaks(rail: Rail) -> bool:
    """Whether the guardrail is shown to be broken; an exact one by its first reading below."""
    if rail.deterministic:
        return min(rail.seen.d) < rail.null * (1 + EXACT) - TINY
    return stats.wealth(rail.broken) >= 1 / GUARD_ALPHA


def admissible(trial: Trial) -> tuple[Basis, ...]:
    """The acceptance bases that the numbers support, for a judge to choose among; none unless all guardrails are shown."""
    if not trial.seen.d or trial.retry or not all(map(holds, trial.rails)):
        return ()
    gain = (Basis.METRIC_IMPROVEMENT,) if better(trial) else ()
    return (*gain, HARMLESS[trial.declares]) if within(trial) and affordable(trial) else gain


# --- readings and figures ---------------------------------------------------------------------------


def valid(trial: Trial) -> list[Reading]:
    """The readings that count, those of void and failed pairs left out."""
    pairs = (m.readings for m in trial.measured if not any(fault(trial.policy, trial.scale, r) for r in m.readings))
    return [reading for readings in pairs for reading in readings]


def values(trial: Trial, side: str) -> list[float]:
    return [primary(reading) for reading in valid(trial) if reading.side == side]


def differs(trial: Trial) -> bool:
    """Whether a side that should repeat itself did not."""
    return any(len(set(values(trial, side))) > 1 for side in ("incumbent", "candidate"))


@dataclass(frozen=True, slots=True)
class Figures:
    """A trial's effect as a person reads it, positive is better; `d_high` is the interval's better end on the scale of d."""

    effect: float
    estimate: float
    interval: tuple[float, float]
    d_high: float


def figures(trial: Trial) -> Figures:
    def told(d: float) -> float:
        return outward(d, trial.scale, trial.policy.direction)

    estimate, (low, high) = stats.estimate(trial.seen), stats.interval(trial.seen)
    effect = stats.shrunk(estimate, stats.error(trial.seen))
    return Figures(told(effect), told(estimate), (told(low), told(high)), high)


def mean(numbers: list[float]) -> float | None:
    """The mean, whatever the size of the numbers; None of nothing."""
    return math.fsum(number / len(numbers) for number in numbers) if numbers else None
