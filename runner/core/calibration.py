"""What A/A pairs say of the noise, before and while candidates are judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.core.events import Calibrated, Measured
from runner.core.models import Scale
from runner.core.policy import Policy


@dataclass(frozen=True, slots=True)
class Noise:
    """What is known of one metric's pair noise: a forgetting sum of squares; `differences` counts those learnt from candidates."""

    weight: float
    squares: float
    differences: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The learnt noise of all metrics under one calibration."""

    primary: Noise
    guardrails: tuple[Noise, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """An honest effect from fresh pairs, not shrunk; unknown is None."""

    pairs: int
    effect: float | None
    interval: tuple[float, float] | None
    scale: Scale


def calibration_wants_more(policy: Policy, measured: Sequence[Measured]) -> bool:
    """Whether another A/A pair is needed: 6 in all, 3 where every metric repeats itself; a failed reading ends it at once."""
    raise NotImplementedError


def calibrate(policy: Policy, measured: Sequence[Measured], segment: int, host: str) -> Calibrated:
    """The noise of the incumbent against itself; raises CampaignError where the metric cannot carry the policy."""
    raise NotImplementedError


def recalibrated(policy: Policy, calibrated: Calibrated, measured: Sequence[Measured]) -> Calibrated:
    """The same calibration with the primary metric noisy after all: `measured` are the turn's readings that showed it."""
    raise NotImplementedError


def pool(calibrated: Calibrated) -> Pool:
    """The noise a segment begins with."""
    raise NotImplementedError


def remeasured(policy: Policy, calibrated: Calibrated, pairs: Sequence[Measured]) -> Total:
    """The campaign's honest total; in these pairs the side `incumbent` is the baseline and `candidate` today's winner."""
    raise NotImplementedError
