"""One pair of readings as one difference: what can be compared, and which way is better."""

import math

from runner.core.events import Measured
from runner.core.models import Direction, Reading, Scale
from runner.core.policy import Guardrail, Policy

LARGEST = 1e100
"""Differences are cut here, and scales at its inverse, so that no square overflows or vanishes."""
NOTHING_LEFT = -745.0
"""Below the logarithm of every positive number."""


def fault(policy: Policy, scale: Scale | None, reading: Reading) -> str | None:
    """What keeps a reading from being compared, None where nothing does; `scale` is None while it is not chosen yet."""
    if not reading.ok or reading.value is None or not math.isfinite(reading.value):
        return reading.reason or f"{policy.metric} is {reading.value}"
    if scale == "ratio" and reading.value < 0:
        return f"{policy.metric} is {reading.value:g}, which has no ratio"
    for rail in policy.guardrails:
        value = reading.secondary.get(rail.name)
        if value is None or not math.isfinite(value):
            return f"guardrail {rail.name} has no finite value"
        if rail.scale == "ratio" and value < 0:
            return f"guardrail {rail.name} is {value:g}, which has no ratio"
    return None


def difference(scale: Scale, direction: Direction, incumbent: float, candidate: float) -> float:
    """d of one pair, positive where the candidate is better; swapping the labels turns the sign and nothing else."""
    gain = _log(candidate) - _log(incumbent) if scale == "ratio" else candidate - incumbent
    gain = min(LARGEST, max(-LARGEST, gain))
    return -gain if direction == "lower" else gain


def _log(value: float) -> float:
    """The logarithm, of 0 as of the least number there is: three errors that become none are a gain of 100 %."""
    return math.log(value) if value > 0 else NOTHING_LEFT


def both(measured: Measured) -> tuple[Reading, Reading] | None:
    """The incumbent's and the candidate's reading of a whole pair."""
    sides = {reading.side: reading for reading in measured.readings}
    return (sides["incumbent"], sides["candidate"]) if len(sides) == 2 else None


def guarded(rail: Guardrail, reading: Reading) -> float:
    """The guardrail's value in a reading without a fault."""
    value = reading.secondary[rail.name]
    assert value is not None
    return value


def primary(reading: Reading) -> float:
    """The primary metric's value in a reading without a fault."""
    assert reading.value is not None
    return reading.value
