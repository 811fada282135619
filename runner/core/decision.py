"""From readings to a verdict: go on, recalibrate, or decide; equal readings give equal verdicts, bit for bit."""

import math
from dataclasses import dataclass
from typing import Literal

from runner.core import reasons, stats
from runner.core.calibration import (
    Total,
    calibrate,
    calibration_wants_more,
    expected_pairs,
    recalibrated,
    remeasured,
    visible,
)
from runner.core.events import Decided, Measured
from runner.core.evidence import (
    admissible,
    affordable,
    better,
    breaks,
    differs,
    figures,
    holds,
    least,
    mean,
    question,
    valid,
    values,
    within,
)
from runner.core.models import Basis, Status
from runner.core.policy import Amount, Guardrail, Policy, Risk, allowance, alpha, plausible
from runner.core.pool import Pool, pool
from runner.core.reasons import End
from runner.core.trial import Trial, add, begin, learn

__all__ = [
    "Amount", "GoOn", "Guardrail", "Policy", "Pool", "Recalibrate", "Risk", "Total", "Trial", "add", "admissible", "allowance",
    "alpha", "begin", "calibrate", "calibration_wants_more", "expected_pairs", "learn", "pool", "recalibrated", "remeasured",
    "verdict", "visible",
]  # fmt: skip

CRASHES = 2
"""Failed readings of a candidate that end its trial."""
PATIENCE = 1.25
"""Real noise has longer tails than the forecast's: trials took 1.0 to 1.4 times as long as it says."""
FORESIGHT = 100_000
"""A forecast of more pairs than this is none."""


@dataclass(frozen=True, slots=True)
class GoOn:
    """Measure once more: a whole pair, or the candidate alone; `forecast` is about how many pairs are still to come (x/2)."""

    next: Literal["pair", "candidate"]
    forecast: int | None = None


@dataclass(frozen=True, slots=True)
class Recalibrate:
    """A metric taken for deterministic gave two values.

    The caller writes `recalibrated(policy, calibrated, measured)`, begins the trial anew on it with the same alpha and a new
    `pool`, adds the turn's `Measured` again, and goes on.
    """

    measured: tuple[Measured, ...]


def verdict(trial: Trial) -> GoOn | Recalibrate | Decided:
    """What the readings so far say; a pure function of them in their order."""
    if trial.failures >= CRASHES:
        return _crash(trial)
    if trial.retry:
        return GoOn("candidate" if trial.deterministic and trial.seen.d else "pair")
    if trial.deterministic and differs(trial):
        return Recalibrate(trial.measured)
    if not trial.seen.d:
        return GoOn("pair")
    end = _broken(trial) or _kept(trial) or (_missed(trial) if trial.deterministic else _spent(trial) or _hopeless(trial))
    return _decided(trial, end) if end else _next(trial)


def _next(trial: Trial) -> GoOn:
    if trial.deterministic:
        return GoOn("candidate" if all(map(holds, trial.rails)) else "pair")
    asked = question(trial)
    effect = (stats.estimate(trial.seen) - asked.null) / trial.seen.scale
    more = PATIENCE * stats.pairs_to_go(asked.bet, asked.needed, effect)
    return GoOn("pair", math.ceil(more) if len(trial.seen.d) >= 3 and 0 < more < FORESIGHT else None)


# --- the ends of a trial ----------------------------------------------------------------------------


def _broken(trial: Trial) -> End | None:
    rail = next((rail for rail in trial.rails if breaks(rail)), None)
    return End(Status.DISCARD, Basis.GUARDRAIL_REGRESSION, "broken", rail) if rail else None


def _kept(trial: Trial) -> End | None:
    """A keep, or what would be one if the person found it plausible or the campaign could afford it."""
    if within(trial) and not affordable(trial):
        return End(Status.DISCARD, None, "unaffordable")
    if trial.deterministic and len(values(trial, "candidate")) < 2:
        return None
    shown = admissible(trial)
    if shown and _implausible(trial):
        return End(Status.HELD, Basis.IMPLAUSIBLE_GAIN, "implausible")
    if Basis.METRIC_IMPROVEMENT in shown:
        return End(Status.KEEP, Basis.METRIC_IMPROVEMENT, "better")
    return End(Status.KEEP, shown[0], "harmless") if shown else None


def _implausible(trial: Trial) -> bool:
    effect = stats.shrunk(stats.estimate(trial.seen), stats.error(trial.seen))
    return effect > plausible(trial.policy, trial.scale, trial.deterministic)


def _missed(trial: Trial) -> End | None:
    """An exact metric says no at once; only its noisy guardrails may take up to the most pairs."""
    if not better(trial) and not within(trial):
        return End(Status.DISCARD, None, "exact")
    return _unshown(trial) if trial.pairs >= trial.policy.pairs_at_most else None


def _hopeless(trial: Trial) -> End | None:
    """A discard as soon as even an optimistic effect could not be kept."""
    asked = question(trial)
    hope = stats.estimate(trial.seen) + asked.optimism * stats.error(trial.seen)
    if hope <= asked.null:
        return End(Status.DISCARD, None, "no_sign", hope=hope)
    if trial.null is None and hope < least(trial):
        return End(Status.DISCARD, None, "too_small", hope=hope)
    more = stats.pairs_to_go(asked.bet, asked.needed, (hope - asked.null) / trial.seen.scale)
    if more > 0 and trial.pairs + more > trial.policy.pairs_at_most:
        return End(Status.DISCARD, None, "too_long", hope=hope, more=more)
    return None


def _spent(trial: Trial) -> End | None:
    """The end of patience: a gain whose guardrails are not shown, or is too small, or no gain."""
    if trial.pairs < trial.policy.pairs_at_most:
        return None
    if (better(trial) or within(trial)) and (end := _unshown(trial)):
        return end
    asked = question(trial)
    return End(Status.DISCARD, None, "small" if stats.wealth(asked.bet) >= asked.needed else "spent")


def _unshown(trial: Trial) -> End | None:
    rail = next((rail for rail in trial.rails if not holds(rail)), None)
    return End(Status.DISCARD, Basis.GUARDRAIL_REGRESSION, "unshown_rail", rail) if rail else None


# --- the verdict as a fact --------------------------------------------------------------------------


def _decided(trial: Trial, end: End) -> Decided:
    seen, asked = figures(trial), question(trial)
    by_interval = Basis.METRIC_REGRESSION if seen.d_high < 0 else Basis.NOT_GOOD_ENOUGH
    bet, needed = (trial.gain, 1 / trial.alpha) if end.basis == Basis.METRIC_IMPROVEMENT else (asked.bet, asked.needed)
    value, base = mean(values(trial, "candidate")), mean(values(trial, "incumbent"))
    delta = value - base if value is not None and base is not None else math.inf
    return Decided(
        status=end.status,
        basis=end.basis or by_interval,
        reason=reasons.sentence(end, trial, seen),
        effect=seen.effect if end.status in (Status.KEEP, Status.HELD) else seen.estimate,
        estimate=seen.estimate,
        interval=seen.interval,
        scale=trial.scale,
        pairs=trial.pairs,
        stake=None if trial.deterministic else stats.wealth(bet),
        needed=None if trial.deterministic else needed,
        metric_value=value,
        delta=delta if math.isfinite(delta) else None,
        secondary=_secondary(trial),
    )


def _secondary(trial: Trial) -> dict[str, float | None]:
    """The candidate's mean of every secondary metric, in the order of their names."""
    readings = [reading.secondary for reading in valid(trial) if reading.side == "candidate"]
    names = sorted({name for secondary in readings for name in secondary})
    found = {name: [v for s in readings if (v := s.get(name)) is not None and math.isfinite(v)] for name in names}
    return {name: mean(numbers) for name, numbers in found.items()}


def _crash(trial: Trial) -> Decided:
    last = next(r for m in reversed(trial.measured) for r in m.readings if r.side == "candidate")
    return Decided(
        status=Status.CRASH,
        basis=_CRASHES[last.failure or "invalid"],
        reason=reasons.crashed(trial),
        scale=trial.scale,
        pairs=trial.pairs,
        stake=None if trial.deterministic else stats.wealth(question(trial).bet),
        needed=None if trial.deterministic else question(trial).needed,
    )


# A reading that was ok by itself and cannot be compared is no evidence.
_CRASHES: dict[str, Basis] = {
    "timeout": Basis.EVALUATION_TIMEOUT,
    "exit_code": Basis.EVALUATION_FAILED,
    "invalid": Basis.INVALID_OR_MISSING_EVIDENCE,
}
