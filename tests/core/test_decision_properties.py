"""What holds of every verdict, whatever the readings."""

import dataclasses
import functools
import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.core import codec, decision, events
from runner.core.decision import GoOn, Policy, Recalibrate, Risk
from runner.core.errors import CampaignError
from runner.core.events import Decided, Measured
from runner.core.models import Basis, Declares, Direction, Scale, Status
from runner.core.policy import Amount, Guardrail
from tests.bench.campaigns import Lane, drawn, normal
from tests.core.readings import Value, about, calibrate, pair, reading

WILD: st.SearchStrategy[Value] = st.one_of(st.floats(), st.floats(1e-3, 1e3), st.integers(-5, 5).map(float), st.just("timeout"))
PAIRS = st.lists(st.tuples(WILD, WILD, WILD, WILD), max_size=25)


def run(policy: Policy, calibrated: events.Calibrated, measured: list[Measured], declares: Declares) -> list[object]:
    """All verdicts on the way, recalibrating as a caller does."""
    under = decision.begin(policy, calibrated, decision.pool(calibrated), 8e-4, declares)
    said: list[object] = []
    for one in measured:
        under = decision.add(under, one)
        said.append(verdict := decision.verdict(under))
        if isinstance(verdict, Recalibrate):
            again = decision.recalibrated(policy, calibrated, verdict.measured)
            codec.encode(again)
            return said + run(policy, again, measured, declares)
        if isinstance(verdict, Decided):
            decision.learn(decision.pool(calibrated), under)
            break
    return said


def rail(value: Value) -> dict[str, float | None]:
    return {"memory": None if isinstance(value, str) else value}


@given(PAIRS, PAIRS, st.sampled_from(["lower", "higher"]), st.booleans(), st.sampled_from(["improvement", "bug_fix"]))
@settings(deadline=None, max_examples=300)
def test_no_verdict_holds_nan_and_equal_readings_give_equal_verdicts(
    calibration: list[tuple[Value, Value, Value, Value]],
    pairs: list[tuple[Value, Value, Value, Value]],
    direction: Direction,
    guarded: bool,
    declares: Declares,
) -> None:
    rails = (Guardrail("memory", "lower", Amount(0.5)),) if guarded else ()
    policy = Policy("loss", direction, margin=Amount(0), guardrails=rails)
    measured = [pair(a, b, at, rail(c), rail(d)) for at, (a, b, c, d) in enumerate(pairs, 1)]
    try:
        calibrated = calibrate(policy, [pair(a, b, at, rail(c), rail(d)) for at, (a, b, c, d) in enumerate(calibration, 1)])
    except CampaignError:
        calibrated = calibrate(policy, [pair(v, -v, 1, rail(v), rail(-v)) for v in (1.0, 2.0, 3.0)])
    codec.encode(calibrated)
    first, second = (run(policy, calibrated, measured, declares) for _ in range(2))
    assert first == second
    for verdict in first:
        if isinstance(verdict, Decided):
            fields = codec.encode(verdict)
            again = codec.decode("Decided", json.loads(json.dumps(fields, allow_nan=False)))
            assert again == verdict


@given(st.lists(st.tuples(st.floats(1, 10), st.floats(1, 10)), min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_mirrored_values_under_the_other_direction_give_the_mirrored_verdict(pairs: list[tuple[float, float]]) -> None:
    low, high = Policy("m", "lower", scale="difference"), Policy("m", "higher", scale="difference")
    calibration = [pair(5, 5 + d) for d in (0.5, -0.5, 0.7, -0.7, 0.6, -0.6)]
    mirrored = [dataclasses.replace(p, readings=tuple(reading(r.side, -(r.value or 0)) for r in p.readings)) for p in calibration]
    one = run(low, calibrate(low, calibration), [pair(a, b) for a, b in pairs], "improvement")
    other = run(high, calibrate(high, mirrored), [pair(-a, -b) for a, b in pairs], "improvement")
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        if isinstance(left, Decided) and isinstance(right, Decided):
            assert left.metric_value is not None
            assert left.delta is not None
            assert right == dataclasses.replace(left, metric_value=-left.metric_value, delta=-left.delta)
        else:
            assert left == right


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.sampled_from(["ratio", "difference"]))
@settings(deadline=None, max_examples=60)
def test_swapped_labels_never_both_win(ds: list[float], scale: Scale) -> None:
    policy = Policy("m", "lower", scale=scale)
    calibrated = calibrate(policy, [pair(100, 100 + d) for d in (1, -1, 1, -1, 1, -1)])
    ends = []
    for sides in ([pair(100 + d, 100) for d in ds], [pair(100, 100 + d) for d in ds]):
        last = run(policy, calibrated, sides, "improvement")[-1]
        ends.append(isinstance(last, Decided) and last.status == Status.KEEP)
    assert ends != [True, True]


# --- outside cases, as pure simulations ---


def test_a_campaign_of_no_ops_shows_no_progress() -> None:
    """S1: twenty campaigns of fifty candidates that change nothing, noise 5 on 100.

    Each may keep with probability 8e-4 at most, 0.8 in all: five or more would be a one-in-700 accident.
    """
    kept = 0
    for seed in range(20):
        rng = random.Random(seed)
        policy = Policy("t", "lower", scale="difference")
        lane = Lane(policy, drawn(functools.partial(log_gauss, rng)), rng)
        kept += sum(lane.judge(0.0, decision.alpha(Risk(index, 0), policy)).status == Status.KEEP for index in range(1, 51))
    assert kept <= 4


def log_gauss(rng: random.Random) -> float:
    return math.log(rng.gauss(100, 5))


@pytest.mark.parametrize(("candidate", "status"), [(5.0, Status.DISCARD), (4.0, Status.KEEP)])
def test_equal_values_are_no_difference_and_constant_better_ones_a_keep(candidate: float, status: Status) -> None:
    """S4 and S11: no variance anywhere; one pair and a second look decide."""
    policy = Policy("n", "lower")
    calibrated = calibrate(policy, [pair(5, 5)] * 3)
    under = decision.add(decision.begin(policy, calibrated, decision.pool(calibrated), 8e-4), pair(5, candidate))
    verdict = decision.verdict(under)
    if verdict == GoOn("candidate"):
        verdict = decision.verdict(decision.add(under, Measured(2, "candidate", (reading("candidate", candidate),))))
    assert isinstance(verdict, Decided)
    assert (verdict.status, verdict.pairs) == (status, 1)


def test_a_constant_gain_under_a_metric_called_noisy_is_a_keep() -> None:
    """S4: five equal values a side, and a metric that is declared noisy."""
    policy = Policy("n", "lower", deterministic=False)
    calibrated = calibrate(policy, [pair(5, 5)] * 6)
    better = run(policy, calibrated, [pair(5, 4, at) for at in range(1, 61)], "improvement")[-1]
    equal = run(policy, calibrated, [pair(5, 5, at) for at in range(1, 61)], "improvement")[-1]
    assert isinstance(better, Decided)
    assert isinstance(equal, Decided)
    assert (better.status, equal.status, equal.basis) == (Status.KEEP, Status.DISCARD, Basis.NOT_GOOD_ENOUGH)


def test_a_candidate_is_compared_with_the_last_kept_state() -> None:
    """S8: base 100, kept 80, candidate 90 without noise: +12.5 % against the incumbent."""
    policy = Policy("n", "lower")
    calibrated = calibrate(policy, [pair(100, 100)] * 3)
    verdict = run(policy, calibrated, [pair(80, 90)], "improvement")[-1]
    assert isinstance(verdict, Decided)
    assert (verdict.status, verdict.basis, verdict.effect) == (Status.DISCARD, Basis.METRIC_REGRESSION, about(-0.125))
    assert verdict.reason == "worse by 12.5 %, 80 to 90"


def test_a_lucky_incumbent_does_not_spoil_later_candidates() -> None:
    """S1: the incumbent is read afresh in every pair, so its own luck is gone with the pair."""
    rng = random.Random(4)
    policy = Policy("t", "lower")
    lane = Lane(policy, normal(rng), rng)
    ends = [lane.judge(0.0, 8e-4) for _ in range(300)]
    worse = sum(end.basis == Basis.METRIC_REGRESSION for end in ends)
    assert worse / len(ends) < 0.1
