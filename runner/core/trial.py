"""One candidate's readings, added pair by pair."""

from dataclasses import dataclass

from runner.core.calibration import Pool
from runner.core.events import Calibrated, Measured
from runner.core.models import Declares
from runner.core.policy import Policy


@dataclass(frozen=True, slots=True)
class Trial:
    """What the readings so far amount to; `voids` counts pairs in which the incumbent failed (the caller stops at 3)."""

    policy: Policy
    calibrated: Calibrated
    alpha: float
    declares: Declares
    allowance: float
    measured: tuple[Measured, ...] = ()
    pairs: int = 0
    failures: int = 0
    voids: int = 0


def begin(
    policy: Policy, calibrated: Calibrated, pool: Pool, alpha: float, declares: Declares | None = None, allowance: float = 1.0
) -> Trial:
    """A trial without readings; `allowance` is what is left for "not worse" keeps (policy.allowance)."""
    raise NotImplementedError


def add(trial: Trial, measured: Measured) -> Trial:
    """The trial with one more `Measured` of its turn, in the order written."""
    raise NotImplementedError


def learn(pool: Pool, trial: Trial) -> Pool:
    """The pool with what an ended trial showed of the noise."""
    raise NotImplementedError
