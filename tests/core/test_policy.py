import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.core.events import Decided
from runner.core.models import Basis, Direction, Scale, Status
from runner.core.policy import Amount, Policy, Risk, allowance, alpha, inward, outward

POLICY = Policy("seconds", "lower")


@pytest.mark.parametrize(
    ("amount", "scale", "direction", "right"),
    [
        (Amount(1, True), "ratio", "lower", -math.log(0.99)),
        (Amount(1, True), "ratio", "higher", math.log(1.01)),
        (Amount(-5, True), "ratio", "lower", -math.log(1.05)),
        (Amount(-5, True), "ratio", "higher", math.log(0.95)),
        (Amount(0.5), "difference", "lower", 0.5),
        (Amount(-0.5), "difference", "higher", -0.5),
        (Amount(100, True), "ratio", "lower", math.inf),
        (Amount(-100, True), "ratio", "higher", -math.inf),
    ],
)
def test_an_amount_means_the_share_of_the_incumbents_value(
    amount: Amount, scale: Scale, direction: Direction, right: float
) -> None:
    assert inward(amount, scale, direction) == pytest.approx(right)


@given(st.floats(-0.9, 0.9), st.sampled_from(["ratio", "difference"]), st.sampled_from(["lower", "higher"]))
def test_outward_is_the_way_back(effect: float, scale: Scale, direction: Direction) -> None:
    assert outward(inward(Amount(effect), scale, direction), scale, direction) == pytest.approx(effect)


def test_a_time_that_halves_is_better_by_half_and_a_rate_that_doubles_by_all_of_it() -> None:
    assert outward(math.log(2), "ratio", "lower") == pytest.approx(0.5)
    assert outward(math.log(2), "ratio", "higher") == pytest.approx(1.0)


@pytest.mark.parametrize("direction", ["lower", "higher"])
def test_an_absurd_ratio_is_still_a_number(direction: Direction) -> None:
    assert math.isfinite(outward(1400, "ratio", direction))
    assert math.isfinite(outward(-1400, "ratio", direction))


def test_amounts_are_written_as_people_write_them() -> None:
    assert (str(Amount(5, True)), str(Amount(0.25))) == ("5 %", "0.25")


def test_the_cap_on_pairs_comes_from_the_preset_unless_given() -> None:
    assert POLICY.pairs_at_most == 60
    assert Policy("seconds", "lower", preset="quick").pairs_at_most == 40
    assert Policy("seconds", "lower", max_pairs=7).pairs_at_most == 7


@pytest.mark.parametrize(
    ("risk", "right"),
    [
        (Risk(1, 0), 8e-4),
        (Risk(100, 0), 8e-4),
        (Risk(50, 3), 32e-4),
        (Risk(101, 0), 8e-5),
        (Risk(300, 9), 8e-4),
        (Risk(100, 99999), 0.5),
    ],
)
def test_each_keep_earns_risk_back(risk: Risk, right: float) -> None:
    assert alpha(risk, POLICY) == pytest.approx(right)


def test_a_campaign_without_keeps_never_spends_more_than_its_risk() -> None:
    assert math.fsum(alpha(Risk(index, 0), POLICY) for index in range(1, 10_000)) <= 0.1


# --- the allowance for regressions ---

FIVE = Policy("seconds", "lower", margin=Amount(5, True))


def keep(basis: Basis, estimate: float) -> Decided:
    return Decided(Status.KEEP, basis, "", estimate=estimate, scale="ratio")


def test_keeps_that_lose_spend_the_campaigns_one_margin() -> None:
    half = 1 - math.exp(math.log(1.05) / 2)
    fix, simpler = Basis.NON_REGRESSION_BUG_FIX, Basis.NON_REGRESSION_CODE_QUALITY
    assert allowance(FIVE, []) == 1
    assert allowance(FIVE, [keep(fix, half)]) == pytest.approx(0.5)
    assert allowance(FIVE, [keep(fix, half), keep(simpler, half)]) == pytest.approx(0, abs=1e-9)
    assert allowance(FIVE, [keep(fix, half)] * 9) == 0


def test_keeps_that_gain_give_nothing_back_and_improvements_do_not_count() -> None:
    assert allowance(FIVE, [keep(Basis.NON_REGRESSION_BUG_FIX, 0.5), keep(Basis.METRIC_IMPROVEMENT, -0.5)]) == 1


def test_without_a_margin_nothing_is_allowed_and_a_margin_of_zero_allows_no_loss() -> None:
    assert allowance(POLICY, []) == 0
    zero = Policy("seconds", "lower", margin=Amount(0, True))
    assert allowance(zero, [keep(Basis.NON_REGRESSION_BUG_FIX, 0)]) == 1
    assert allowance(zero, [keep(Basis.NON_REGRESSION_BUG_FIX, -0.01)]) == 0
