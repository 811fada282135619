"""What A/A pairs say of the noise before any candidate is judged, and whether the metric can carry the policy at all."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.core import stats
from runner.core.errors import CampaignError
from runner.core.events import Calibrated, Measured, MetricNoise
from runner.core.models import Direction, Reading, Scale
from runner.core.pairs import LARGEST, both, difference, fault, guarded, primary
from runner.core.policy import PRESETS, Guardrail, Policy, Risk, alpha, inward, outward

PAIRS, PAIRS_IF_EQUAL = 6, 3
FAINT = 1e-9
"""The scale, relative to the values, of a metric that is called noisy and showed no noise: any fixed before a pair is fair."""


def calibration_wants_more(policy: Policy, measured: Sequence[Measured]) -> bool:
    """Whether another A/A pair is needed: 6 in all, 3 where every metric repeats itself; a faulty reading ends it at once."""
    readings = [reading for pair in measured for reading in pair.readings]
    if any(fault(policy, None, reading) for reading in readings):
        return False
    if len(measured) < PAIRS_IF_EQUAL:
        return True
    repeats = all(_equal(values) for values in _columns(policy, readings)) and policy.deterministic is not False
    return len(measured) < PAIRS and not repeats and policy.deterministic is not True


def calibrate(policy: Policy, measured: Sequence[Measured], segment: int, host: str) -> Calibrated:
    """The noise of the incumbent against itself; raises CampaignError where the metric cannot carry the policy."""
    readings = [reading for pair in measured for reading in pair.readings]
    _refuse_faults(policy, readings)
    first, *rails = _columns(policy, readings)
    scale = _chosen_scale(policy, first)
    _refuse_units(policy, scale)
    _refuse_noise(policy, first)
    exact = _equal(first) and policy.deterministic is not False
    noise = _noise(policy.metric, scale, policy.direction, first, exact)
    _refuse_too_few(policy, noise)
    guards = tuple(
        _noise(rail.name, rail.scale, rail.direction, values, _equal(values))
        for rail, values in zip(policy.guardrails, rails, strict=True)
    )
    slowest = max(reading.wall_s for reading in readings)
    return Calibrated(
        segment=segment,
        host=host,
        primary=noise,
        guardrails=guards,
        pairs=len(measured),
        slowest_s=max(3 * slowest, slowest + 60),
        visible=visible(policy, noise),
        minutes=expected_pairs(policy, noise) * sum(reading.wall_s for reading in readings) / len(measured) / 60,
    )


def visible(policy: Policy, noise: MetricNoise, power: int = 50) -> float:
    """The smallest effect, as a person reads it, that is found with 50 % (or 90 %) power; never below min_effect."""
    preset = PRESETS[policy.preset]
    sight = noise.noise * (preset.visible if power == 50 else preset.sure)
    return outward(max(sight, inward(policy.min_effect, noise.scale, policy.direction)), noise.scale, policy.direction)


def expected_pairs(policy: Policy, noise: MetricNoise) -> float:
    """How many pairs a decision takes in a mix of candidates; one where nothing is random."""
    return 1.0 if noise.deterministic else PRESETS[policy.preset].pairs


def recalibrated(policy: Policy, calibrated: Calibrated, measured: Sequence[Measured]) -> Calibrated:
    """The same calibration with the primary metric noisy after all: `measured` are the turn's readings that showed it."""
    readings = [reading for pair in measured for reading in pair.readings]
    values = {
        side: [primary(r) for r in readings if r.side == side and not fault(policy, calibrated.primary.scale, r)]
        for side in ("incumbent", "candidate")
    }
    scale = calibrated.primary.scale
    steps = [abs(difference(scale, "higher", a, b)) for v in values.values() for a in v[:1] for b in v[1:] if a != b]
    least = max(min(steps), 1 / LARGEST)
    noise = dataclasses.replace(calibrated.primary, deterministic=False, noise=least, prior_weight=1.0, shortcut=False)
    return dataclasses.replace(
        calibrated,
        primary=noise,
        visible=visible(policy, noise),
        minutes=calibrated.minutes * expected_pairs(policy, noise),
    )


def _columns(policy: Policy, readings: Sequence[Reading]) -> list[list[float]]:
    """The primary metric's values, then each guardrail's, in the order read."""
    return [[primary(r) for r in readings], *([guarded(rail, r) for r in readings] for rail in policy.guardrails)]


def _equal(values: Sequence[float]) -> bool:
    return all(value == values[0] for value in values)


def _noise(name: str, scale: Scale, direction: Direction, values: Sequence[float], deterministic: bool) -> MetricNoise:
    """The noise in A/A values that come two by two."""
    mean = values[0] if _equal(values) else math.fsum(v / len(values) for v in values)
    found = MetricNoise(name, direction, scale, deterministic, 0.0, stats.PRIOR, True, mean)
    if deterministic:
        return found
    pairs = [difference(scale, direction, a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
    if (robust := stats.robust_scale(pairs)) > 0:
        return dataclasses.replace(found, noise=max(robust, 1 / LARGEST))
    coarse = max(_coarse(scale, pairs, values, mean), 1 / LARGEST)
    return dataclasses.replace(found, noise=coarse, prior_weight=1.0, shortcut=False)


def _coarse(scale: Scale, pairs: Sequence[float], values: Sequence[float], mean: float) -> float:
    """A scale where most A/A pairs are equal: a metric in coarse steps, or one whose noise is the seed that a pair shares."""
    if any(pairs):
        return min(abs(d) for d in pairs if d)
    steps = [abs(difference(scale, "higher", a, b)) for a, b in zip(values[::2], values[2::2], strict=False)]
    least = min((s for s in steps if s), default=FAINT if scale == "ratio" else FAINT * (abs(mean) or 1.0))
    return stats.robust_scale(steps) or least


# --- refusals ---------------------------------------------------------------------------------------


def _refuse_faults(policy: Policy, readings: Sequence[Reading]) -> None:
    if not readings:
        raise CampaignError("the incumbent was never measured", "take at least three A/A pairs")
    bare, by_hand = (
        dataclasses.replace(policy, guardrails=()),
        "run it by hand in a checkout of the incumbent, and mend the evaluator or what the contract says of it",
    )
    for reading in readings:
        if why := fault(bare, None, reading):
            raise CampaignError(f"no finite metric on the incumbent: {why}", by_hand)
        for rail in policy.guardrails:
            _refuse_rail(rail, reading)
        if why := fault(policy, None, reading):
            raise CampaignError(f"{why} on the incumbent", by_hand)


def _refuse_rail(rail: Guardrail, reading: Reading) -> None:
    there = sorted(name for name, value in reading.secondary.items() if value is not None)
    if rail.name not in there:
        raise CampaignError(
            f"guardrail {rail.name} is not among the readings; found {', '.join(there) or 'no secondary metric'}",
            "let the evaluator write it as a secondary metric, or correct the name",
        )
    if rail.scale == "ratio" and guarded(rail, reading) <= 0:
        raise CampaignError(
            f"guardrail {rail.name} is {guarded(rail, reading):g} on the incumbent, and per cent needs values above 0",
            "write max_regression as a plain number",
        )


def _chosen_scale(policy: Policy, values: Sequence[float]) -> Scale:
    positive = all(value > 0 for value in values)
    if policy.scale == "ratio" and not positive:
        raise CampaignError(
            f"{policy.metric} is {min(values):g} on the incumbent, and a ratio needs values above 0", "use scale: difference"
        )
    return policy.scale if policy.scale != "auto" else "ratio" if positive else "difference"


def _refuse_units(policy: Policy, scale: Scale) -> None:
    sizes = {"min_effect": policy.min_effect, "margin": policy.margin, "implausible": policy.implausible}
    for key, amount in sizes.items():
        if amount is not None and amount.value and amount.per_cent != (scale == "ratio"):
            raise CampaignError(f"{key} is {amount}, and {policy.metric} is compared by {scale}", _UNIT_MENDS[scale])
    if not math.isfinite(inward(policy.min_effect, scale, policy.direction)):
        raise CampaignError(f"min_effect is {policy.min_effect} of a metric that should go down", "write less than 100 %")


def _refuse_noise(policy: Policy, values: Sequence[float]) -> None:
    if policy.deterministic is True and not _equal(values):
        raise CampaignError(
            f"{policy.metric} is declared deterministic, and the incumbent gave {min(values):g} and {max(values):g}",
            "set deterministic: auto, or make the evaluator use RESEARCH_SEED for all it draws",
        )


def _refuse_too_few(policy: Policy, noise: MetricNoise) -> None:
    """A pair is worth one bit at most, so that few pairs could never keep anything."""
    least = math.ceil(math.log2(1 / alpha(Risk(1, 0), policy)))
    if policy.pairs_at_most < least and not noise.deterministic:
        raise CampaignError(
            f"max_pairs is {policy.pairs_at_most}, and at this risk no gain of a noisy metric can be shown in fewer than {least}",
            "raise max_pairs or risk, or lower expected_candidates",
        )


_UNIT_MENDS = {
    "ratio": "write it in per cent, or use scale: difference",
    "difference": "write a plain number in the metric's unit (per cent needs the ratio scale and values above 0)",
}


# --- the honest total -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Total:
    """An honest effect from fresh pairs, not shrunk; unknown is None."""

    pairs: int
    effect: float | None
    interval: tuple[float, float] | None
    scale: Scale


def remeasured(policy: Policy, calibrated: Calibrated, pairs: Sequence[Measured]) -> Total:
    """The campaign's honest total; in these pairs the side `incumbent` is the baseline and `candidate` today's winner."""
    noise, direction = calibrated.primary, policy.direction
    seen = stats.series(noise.noise, 1.0 if noise.deterministic else noise.prior_weight)
    for d in _differences(policy, noise, pairs):
        seen = stats.extend(seen, d)
    if not seen.d:
        return Total(0, None, None, noise.scale)
    low, high = stats.interval(seen)
    ends = (outward(low, noise.scale, direction), outward(high, noise.scale, direction))
    return Total(len(seen.d), outward(stats.estimate(seen), noise.scale, direction), ends, noise.scale)


def _differences(policy: Policy, noise: MetricNoise, pairs: Sequence[Measured]) -> Iterator[float]:
    bare = dataclasses.replace(policy, guardrails=())
    for pair in pairs:
        sides = both(pair)
        if sides and not any(fault(bare, noise.scale, reading) for reading in sides):
            yield difference(noise.scale, policy.direction, primary(sides[0]), primary(sides[1]))
