import dataclasses
import math
from collections.abc import Sequence

import pytest

from runner.core import decision
from runner.core.calibration import Total, calibration_wants_more, remeasured
from runner.core.errors import CampaignError
from runner.core.events import Calibrated, Measured, MetricNoise
from runner.core.policy import Amount, Guardrail, Policy
from tests.core.readings import Value, about, alone, calibrate, pair

POLICY = Policy("seconds", "lower")
NOISY = [pair(100, 100 * math.exp(d), at) for at, d in enumerate((0.01, -0.02, 0.03, -0.01, 0.02, -0.03), 1)]


def equal(number: int, value: Value = 5.0) -> list[Measured]:
    return [pair(value, value, at) for at in range(1, number + 1)]


# --- how many pairs ---


@pytest.mark.parametrize(
    ("policy", "measured", "right"),
    [
        (POLICY, [], True),
        (POLICY, equal(2), True),
        (POLICY, equal(3), False),
        (POLICY, NOISY[:3], True),
        (POLICY, NOISY[:5], True),
        (POLICY, NOISY, False),
        (POLICY, [*equal(3), pair(5, 6)], True),
        (POLICY, [pair("exit_code", 5.0)], False),
        (POLICY, [pair(math.nan, 5.0)], False),
        (dataclasses.replace(POLICY, deterministic=False), equal(5), True),
        (dataclasses.replace(POLICY, deterministic=False), equal(6), False),
        (dataclasses.replace(POLICY, deterministic=True), equal(2), True),
        (dataclasses.replace(POLICY, deterministic=True), NOISY[:3], False),
    ],
)
def test_six_pairs_are_taken_and_three_where_nothing_varies(policy: Policy, measured: Sequence[Measured], right: bool) -> None:
    assert calibration_wants_more(policy, measured) is right


def test_a_noisy_guardrail_needs_six_pairs_beside_a_deterministic_metric() -> None:
    policy = dataclasses.replace(POLICY, guardrails=(Guardrail("memory", "lower", Amount(1)),))
    wobbly = [pair(5, 5, at, {"memory": 1.0}, {"memory": 2.0}) for at in (1, 2, 3)]
    assert calibration_wants_more(policy, wobbly)


# --- what they say ---


def test_a_calibration_holds_the_robust_scale_of_log_ratios() -> None:
    found = calibrate(POLICY, NOISY)
    noise = 1.4826 * 0.02
    values = [r.value for p in NOISY for r in p.readings if r.value is not None]
    assert found == Calibrated(
        segment=1,
        host="here",
        primary=MetricNoise("seconds", "lower", "ratio", False, about(noise), 8, True, about(sum(values) / 12)),
        guardrails=(),
        pairs=6,
        slowest_s=61,
        visible=about(1 - math.exp(-0.65 * noise)),
        minutes=about(5.5 * 2 / 60),
    )


def test_ninety_per_cent_power_needs_a_larger_effect() -> None:
    noise = calibrate(POLICY, NOISY).primary
    assert decision.visible(POLICY, noise, 90) == about(1 - math.exp(-1.1 * 1.4826 * 0.02))


def test_what_is_visible_is_never_below_min_effect() -> None:
    assert calibrate(dataclasses.replace(POLICY, min_effect=Amount(7, True)), NOISY).visible == about(0.07)


def test_a_slow_reading_may_take_three_times_as_long() -> None:
    slow = [dataclasses.replace(p, readings=tuple(dataclasses.replace(r, wall_s=50.0) for r in p.readings)) for p in NOISY]
    assert calibrate(POLICY, slow).slowest_s == 150


def test_equal_values_make_a_metric_deterministic() -> None:
    found = calibrate(POLICY, equal(3, 0.1))
    assert (found.primary, found.visible) == (MetricNoise("seconds", "lower", "ratio", True, 0, 8, True, 0.1), 0)
    assert found.minutes == about(2 / 60)


def test_auto_takes_the_difference_where_a_value_is_not_positive() -> None:
    found = calibrate(POLICY, [pair(-1, 1), pair(-1, 2), pair(-1, 0)])
    assert (found.primary.scale, found.primary.noise) == ("difference", about(2 * 1.4826))


def test_a_coarse_metric_takes_its_smallest_step_as_noise_and_trusts_it_little() -> None:
    coarse = [pair(10, 10)] * 4 + [pair(10, 13), pair(12, 10)]
    policy = dataclasses.replace(POLICY, scale="difference")
    assert calibrate(policy, coarse).primary == MetricNoise(
        "seconds", "lower", "difference", False, 2, 1, False, about((10 * 10 + 13 + 12) / 12)
    )


def test_a_seeded_metric_takes_the_spread_of_its_seeds_as_noise() -> None:
    """A pair shares its seed, so every A/A difference is 0 although the values are not equal."""
    seeded = [pair(v, v) for v in (10.0, 11.0, 13.0, 12.0, 10.0, 13.0)]
    policy = dataclasses.replace(POLICY, scale="difference")
    found = calibrate(policy, seeded).primary
    assert (found.noise, found.prior_weight, found.shortcut, found.deterministic) == (about(2 * 1.4826), 1, False, False)


def test_a_seed_that_rarely_matters_still_gives_a_scale() -> None:
    seeded = [pair(v, v) for v in (10.0, 10.0, 10.0, 10.0, 10.0, 13.0)]
    assert calibrate(dataclasses.replace(POLICY, scale="difference"), seeded).primary.noise == 3


@pytest.mark.parametrize(("value", "right"), [(5.0, 5e-9), (0.0, 1e-9)])
def test_a_metric_declared_noisy_that_shows_no_noise_gets_a_faint_scale(value: float, right: float) -> None:
    policy = dataclasses.replace(POLICY, deterministic=False, scale="difference")
    found = calibrate(policy, equal(6, value)).primary
    assert (found.deterministic, found.noise, found.prior_weight) == (False, right, 1)


def test_guardrails_have_a_noise_of_their_own() -> None:
    rails = (Guardrail("memory", "lower", Amount(5, True)), Guardrail("accuracy", "higher", Amount(0.1)))
    policy = dataclasses.replace(POLICY, guardrails=rails)
    found = calibrate(
        policy, [pair(1, 2, at, {"memory": 1.0, "accuracy": -1.0}, {"memory": 2.0, "accuracy": -1.0}) for at in range(6)]
    )
    assert found.guardrails == (
        MetricNoise("memory", "lower", "ratio", False, about(1.4826 * math.log(2)), 8, True, 1.5),
        MetricNoise("accuracy", "higher", "difference", True, 0, 8, True, -1),
    )


def test_a_deterministic_metric_that_gave_two_values_is_noisy_by_their_difference() -> None:
    found = calibrate(POLICY, equal(3))
    again = decision.recalibrated(POLICY, found, [pair(5, 4), alone(4.5)])
    assert again.primary == MetricNoise("seconds", "lower", "ratio", False, about(math.log(4.5 / 4)), 1, False, 5)
    assert again.visible == about(1 - (4 / 4.5) ** 0.65)
    assert again.minutes == about(5.5 * found.minutes)


# --- refusals ---

RAIL = Policy("seconds", "lower", guardrails=(Guardrail("memory", "lower", Amount(5, True)),))


@pytest.mark.parametrize(
    ("policy", "measured", "what", "mend"),
    [
        (POLICY, [], "the incumbent was never measured", "take at least three A/A pairs"),
        (
            POLICY,
            [pair("invalid", 5.0)],
            "no finite metric on the incumbent: evaluate.sh: invalid",
            "run it by hand in a checkout of the incumbent, and mend the evaluator or what the contract says of it",
        ),
        (
            POLICY,
            [pair(5.0, math.inf)],
            "no finite metric on the incumbent: seconds is inf",
            "run it by hand in a checkout of the incumbent, and mend the evaluator or what the contract says of it",
        ),
        (
            dataclasses.replace(POLICY, scale="ratio"),
            [pair(1.0, 0.0)],
            "seconds is 0 on the incumbent, and a ratio needs values above 0",
            "use scale: difference",
        ),
        (
            dataclasses.replace(POLICY, min_effect=Amount(1, True)),
            [pair(-1.0, 2.0)],
            "min_effect is 1 %, and seconds is compared by difference",
            "write a plain number in the metric's unit (per cent needs the ratio scale and values above 0)",
        ),
        (
            dataclasses.replace(POLICY, min_effect=Amount(0.5)),
            NOISY,
            "min_effect is 0.5, and seconds is compared by ratio",
            "write it in per cent, or use scale: difference",
        ),
        (
            dataclasses.replace(POLICY, margin=Amount(0.5)),
            NOISY,
            "margin is 0.5, and seconds is compared by ratio",
            "write it in per cent, or use scale: difference",
        ),
        (
            dataclasses.replace(POLICY, min_effect=Amount(100, True)),
            NOISY,
            "min_effect is 100 % of a metric that should go down",
            "write less than 100 %",
        ),
        (
            dataclasses.replace(POLICY, deterministic=True),
            [pair(5.0, 5.0), pair(5.0, 5.5)],
            "seconds is declared deterministic, and the incumbent gave 5 and 5.5",
            "set deterministic: auto, or make the evaluator use RESEARCH_SEED for all it draws",
        ),
        (
            dataclasses.replace(POLICY, max_pairs=10),
            NOISY,
            "max_pairs is 10, and at this risk no gain of a noisy metric can be shown in fewer than 11",
            "raise max_pairs or risk, or lower expected_candidates",
        ),
        (
            RAIL,
            [pair(5, 5, 1, {"size": 1.0, "mem": 2.0}, {})],
            "guardrail memory is not among the readings; found mem, size",
            "let the evaluator write it as a secondary metric, or correct the name",
        ),
        (
            RAIL,
            [pair(5, 5, 1, {"memory": None}, {})],
            "guardrail memory is not among the readings; found no secondary metric",
            "let the evaluator write it as a secondary metric, or correct the name",
        ),
        (
            RAIL,
            [pair(5, 5, 1, {"memory": 0.0}, {})],
            "guardrail memory is 0 on the incumbent, and per cent needs values above 0",
            "write max_regression as a plain number",
        ),
        (
            RAIL,
            [pair(5, 5, 1, {"memory": math.inf}, {})],
            "guardrail memory has no finite value on the incumbent",
            "run it by hand in a checkout of the incumbent, and mend the evaluator or what the contract says of it",
        ),
    ],
)
def test_a_metric_that_cannot_carry_the_policy_is_refused(policy: Policy, measured: list[Measured], what: str, mend: str) -> None:
    with pytest.raises(CampaignError) as refused:
        calibrate(policy, measured)
    assert (refused.value.what, refused.value.mend) == (what, mend)


def test_eleven_pairs_may_be_enough() -> None:
    assert calibrate(dataclasses.replace(POLICY, max_pairs=11), NOISY).pairs == 6


# --- the honest total ---


def test_the_total_is_the_plain_estimate_of_fresh_pairs() -> None:
    policy = dataclasses.replace(POLICY, scale="difference")
    found = calibrate(policy, [pair(10, 10 + d) for d in (1, -1, 1, -1, 1, -1)])
    total = remeasured(policy, found, [pair(10, 8, 1), pair(10, 9, 2), pair("timeout", 9.0, 3), pair(10, 7, 4)])
    assert (total.pairs, total.effect, total.scale) == (3, 2.0, "difference")
    scale = math.sqrt((8 * 1.4826**2 + 0.5 + 2) / 10)
    reach = 1.8125 * scale / math.sqrt(3)
    assert total.interval == pytest.approx((2 - reach, 2 + reach), rel=1e-3)


def test_thirty_pairs_bound_the_total_by_the_bet() -> None:
    found = calibrate(POLICY, NOISY)
    total = remeasured(POLICY, found, [pair(100, 80 * math.exp(0.01 * (-1) ** at), at) for at in range(30)])
    assert total.effect == pytest.approx(0.2, abs=1e-3)
    assert total.interval is not None
    assert 0.18 < total.interval[0] < 0.2 < total.interval[1] < 0.22


def test_an_exact_total_has_no_width_and_no_pairs_have_no_total() -> None:
    found = calibrate(POLICY, equal(3))
    exact = remeasured(POLICY, found, [pair(5, 4)] * 3)
    assert exact.interval == (exact.effect, exact.effect) == (about(0.2), about(0.2))
    assert remeasured(POLICY, found, [pair("timeout", 4.0)]) == Total(0, None, None, "ratio")


def test_a_total_does_not_need_the_guardrails() -> None:
    found = calibrate(POLICY, equal(3))
    policy = dataclasses.replace(POLICY, guardrails=(Guardrail("memory", "lower", Amount(5, True)),))
    assert remeasured(policy, found, [pair(5, 4)]).pairs == 1
