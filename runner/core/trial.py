"""One candidate's readings, added pair by pair."""

import dataclasses
from dataclasses import dataclass

from runner.core import stats
from runner.core.events import Calibrated, Measured
from runner.core.models import Declares, Reading, Scale
from runner.core.pairs import both, difference, fault, guarded, primary
from runner.core.policy import Amount, Guardrail, Policy, inward
from runner.core.pool import Noise, Pool, absorb
from runner.core.stats import Bet, Series

LEARNT = 5
"""Differences of candidates after which a coarse metric's noise is known well enough for the giants' shortcut."""


@dataclass(frozen=True, slots=True)
class Rail:
    """One guardrail in a trial: a bet that it holds within its tolerance, and a bet that it is broken."""

    guardrail: Guardrail
    null: float
    deterministic: bool
    shortcut: bool
    seen: Series
    holds: Bet = stats.FRESH
    broken: Bet = stats.FRESH


@dataclass(frozen=True, slots=True)
class Trial:
    """What the readings so far amount to.

    `null` is minus the margin for a candidate that may be "not worse", else None; `gain` bets on better than the incumbent,
    `harmless` on better than `null`. `pairs` counts pairs that said something, failures of the candidate included;
    `voids` those in which the incumbent failed or an evaluation could not even start, which is nobody's fault (the caller
    stops at 3). `retry`: the last reading of the candidate failed.
    """

    policy: Policy
    calibrated: Calibrated
    alpha: float
    declares: Declares
    allowance: float
    null: float | None
    shortcut: bool
    seen: Series
    rails: tuple[Rail, ...]
    gain: Bet = stats.FRESH
    harmless: Bet = stats.FRESH
    measured: tuple[Measured, ...] = ()
    pairs: int = 0
    failures: int = 0
    voids: int = 0
    retry: bool = False

    @property
    def scale(self) -> Scale:
        return self.calibrated.primary.scale

    @property
    def deterministic(self) -> bool:
        return self.calibrated.primary.deterministic


def begin(
    policy: Policy, calibrated: Calibrated, pool: Pool, alpha: float, declares: Declares | None = None, allowance: float = 1.0
) -> Trial:
    """A trial without readings; `allowance` is what is left for "not worse" keeps (policy.allowance)."""
    first, wanted = calibrated.primary, declares or "improvement"
    rails = tuple(
        Rail(
            guardrail=rail,
            null=inward(Amount(-rail.max_regression.value, rail.max_regression.per_cent), rail.scale, rail.direction),
            deterministic=found.deterministic,
            shortcut=found.shortcut or noise.differences >= LEARNT,
            seen=_series(noise, found.deterministic),
        )
        for rail, found, noise in zip(policy.guardrails, calibrated.guardrails, pool.guardrails, strict=True)
    )
    return Trial(
        policy=policy,
        calibrated=calibrated,
        alpha=alpha,
        declares=wanted,
        allowance=allowance,
        null=None if wanted == "improvement" else _margin(policy, calibrated),
        shortcut=first.shortcut or pool.primary.differences >= LEARNT,
        seen=_series(pool.primary, first.deterministic),
        rails=rails,
    )


def _margin(policy: Policy, calibrated: Calibrated) -> float | None:
    """The worst that a fix or simplification may be; a deterministic metric may at least stay equal."""
    if policy.margin is None:
        return 0.0 if calibrated.primary.deterministic else None
    return inward(Amount(-policy.margin.value, policy.margin.per_cent), calibrated.primary.scale, policy.direction)


def _series(noise: Noise, deterministic: bool) -> Series:
    return stats.series(0.0 if deterministic else noise.scale, min(stats.PRIOR, noise.weight))


def add(trial: Trial, measured: Measured) -> Trial:
    """The trial with one more `Measured` of its turn, in the order written."""
    trial = dataclasses.replace(trial, measured=(*trial.measured, measured))
    faults = {reading.side: fault(trial.policy, trial.scale, reading) for reading in measured.readings}
    if faults.get("incumbent") or any(reading.failure == "not_started" for reading in measured.readings):
        return dataclasses.replace(trial, voids=trial.voids + 1)
    if faults.get("candidate"):
        return _failed(trial)
    sides = both(measured)
    return _paired(trial, *sides) if sides else dataclasses.replace(trial, retry=False)


def _failed(trial: Trial) -> Trial:
    """A candidate without a reading lost by an infinite difference."""
    return dataclasses.replace(
        trial,
        pairs=trial.pairs + 1,
        failures=trial.failures + 1,
        retry=True,
        gain=stats.forfeit(trial.gain),
        harmless=stats.forfeit(trial.harmless),
    )


def _paired(trial: Trial, incumbent: Reading, candidate: Reading) -> Trial:
    noise, null = trial.calibrated.primary, trial.null
    d = difference(noise.scale, trial.policy.direction, primary(incumbent), primary(candidate))
    gain, harmless = trial.gain, trial.harmless
    if not noise.deterministic:
        gain = stats.wager(gain, d / trial.seen.scale)
        harmless = stats.wager(harmless, (d - null) / trial.seen.scale) if null is not None else harmless
    return dataclasses.replace(
        trial,
        seen=stats.extend(trial.seen, d),
        rails=tuple(_railed(rail, incumbent, candidate) for rail in trial.rails),
        gain=gain,
        harmless=harmless,
        pairs=trial.pairs + 1,
        retry=False,
    )


def _railed(rail: Rail, incumbent: Reading, candidate: Reading) -> Rail:
    limit = rail.guardrail
    d = difference(limit.scale, limit.direction, guarded(limit, incumbent), guarded(limit, candidate))
    seen = stats.extend(rail.seen, d)
    if rail.deterministic:
        return dataclasses.replace(rail, seen=seen)
    x = (d - rail.null) / rail.seen.scale
    return dataclasses.replace(rail, seen=seen, holds=stats.wager(rail.holds, x), broken=stats.wager(rail.broken, -x))


def learn(pool: Pool, trial: Trial) -> Pool:
    """The pool with what an ended trial showed of the noise; metrics that repeat themselves have none."""
    rails = zip(pool.guardrails, trial.rails, strict=True)
    return Pool(
        primary=pool.primary if trial.calibrated.primary.deterministic else absorb(pool.primary, trial.seen.d),
        guardrails=tuple(noise if rail.deterministic else absorb(noise, rail.seen.d) for noise, rail in rails),
    )
