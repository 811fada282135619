"""The noise of a segment's metrics, learnt from its calibration and from every candidate since."""

import itertools
from collections.abc import Sequence

from runner.core import stats
from runner.core.events import Calibrated, Noise, Pool

__all__ = ["Noise", "Pool", "absorb", "pool"]


def pool(calibrated: Calibrated) -> Pool:
    """The noise a segment begins with."""
    first, *rails = (
        Noise(found.prior_weight, found.prior_weight * found.noise**2, 0)
        for found in (calibrated.primary, *calibrated.guardrails)
    )
    return Pool(first, tuple(rails))


def absorb(noise: Noise, seen: Sequence[float]) -> Noise:
    """The noise with the successive differences of one trial: each forgets one per cent and is winsorised at three scales."""
    for before, after in itertools.pairwise(seen):
        sample = stats.step(before, after, noise.scale, noise.weight)
        noise = Noise(0.99 * noise.weight + 1, 0.99 * noise.squares + sample**2, noise.differences + 1)
    return noise
