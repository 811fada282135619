import math

import pytest

from runner.core import decision, stats
from runner.core.policy import Amount, Guardrail, Policy
from runner.core.pool import Noise, absorb, pool
from tests.core.readings import about, noisy, pair, trial

POLICY = Policy("loss", "lower", scale="difference")


def test_a_segment_begins_with_eight_differences_worth_of_its_calibration() -> None:
    calibrated = noisy(POLICY, 0.01)
    learnt = pool(calibrated).primary
    assert (learnt.weight, learnt.differences) == (8, 0)
    assert learnt.scale == pytest.approx(1.0)


def test_each_difference_forgets_one_per_cent_and_the_effect_cancels() -> None:
    learnt = absorb(Noise(8, 8, 0), [5.0, 6.0])
    assert (learnt.weight, learnt.differences) == (about(0.99 * 8 + 1), 1)
    assert learnt.squares == pytest.approx(0.99 * 8 + 0.5)


def test_a_spike_counts_as_three_scales() -> None:
    assert absorb(Noise(8, 8, 0), [0.0, 1000.0]).squares == pytest.approx(0.99 * 8 + 9)


def test_a_single_pair_teaches_nothing() -> None:
    assert absorb(Noise(8, 8, 0), [5.0]) == Noise(8, 8, 0)


def test_a_trial_teaches_the_noise_of_every_metric_that_has_any() -> None:
    rails = (Guardrail("memory", "lower", Amount(5)), Guardrail("size", "lower", Amount(5)))
    policy = Policy("loss", "lower", scale="difference", guardrails=rails)
    calibrated = noisy(policy, 0.01, memory=0.02, size=0.0)
    fine = {"memory": 100.0, "size": 100.0}
    worse = {"memory": 102.0, "size": 100.0}
    under = trial(policy, calibrated, [pair(100, 99, 1, fine, fine), pair(100, 98, 2, fine, worse)])
    learnt = decision.learn(pool(calibrated), under)
    assert calibrated.guardrails[1].deterministic
    assert learnt.primary.squares == pytest.approx(0.99 * 8 + 0.5)
    assert learnt.guardrails[0].squares == pytest.approx(0.99 * 8 * 4 + 2)
    assert learnt.guardrails[1] == Noise(8, 0, 0)
    assert math.isclose(learnt.guardrails[0].weight, 8.92)


def test_a_deterministic_metric_has_nothing_to_teach() -> None:
    calibrated = noisy(POLICY, 0.0)
    under = trial(POLICY, calibrated, [pair(100, 99)])
    assert decision.learn(pool(calibrated), under) == pool(calibrated)


def test_within_a_trial_the_learnt_noise_is_never_worth_more_than_eight_differences() -> None:
    calibrated = noisy(POLICY, 0.01)
    learnt = decision.Pool(Noise(50, 200, 90), ())
    assert decision.begin(POLICY, calibrated, learnt, 8e-4).seen == stats.series(2, 8)
    assert decision.begin(POLICY, calibrated, decision.Pool(Noise(3, 12, 2), ()), 8e-4).seen == stats.series(2, 3)
