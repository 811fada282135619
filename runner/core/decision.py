"""From readings to a verdict: go on, recalibrate, or decide; equal readings give equal verdicts, bit for bit."""

from dataclasses import dataclass
from typing import Literal

from runner.core.calibration import Pool, Total, calibrate, calibration_wants_more, pool, recalibrated, remeasured
from runner.core.events import Decided, Measured
from runner.core.models import Basis
from runner.core.policy import Amount, Guardrail, Policy, Risk, allowance, alpha
from runner.core.trial import Trial, add, begin, learn

__all__ = [
    "Amount", "GoOn", "Guardrail", "Policy", "Pool", "Recalibrate", "Risk", "Total", "Trial", "add", "admissible", "allowance",
    "alpha", "begin", "calibrate", "calibration_wants_more", "learn", "pool", "recalibrated", "remeasured", "verdict",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class GoOn:
    """Measure once more: a whole pair, or the candidate alone; `forecast` is about how many pairs are still to come (x/2)."""

    next: Literal["pair", "candidate"]
    forecast: int | None = None


@dataclass(frozen=True, slots=True)
class Recalibrate:
    """A metric taken for deterministic gave two values. The caller writes `recalibrated(policy, calibrated, measured)`,
    begins the trial anew on it with the same alpha and a new `pool`, adds the turn's `Measured` again, and goes on."""

    measured: tuple[Measured, ...]


def verdict(trial: Trial) -> GoOn | Recalibrate | Decided:
    """What the readings so far say; a pure function of them in their order."""
    raise NotImplementedError


def admissible(trial: Trial) -> tuple[Basis, ...]:
    """The acceptance bases that the numbers support, for a judge to choose among; empty unless the verdict is a keep."""
    raise NotImplementedError
