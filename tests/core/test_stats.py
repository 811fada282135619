import itertools
import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.core import stats
from runner.core.stats import Bet, Series

SIZES = st.lists(st.floats(0, 1e3), min_size=1, max_size=7)
NUMBERS = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20)


def density(x: float) -> float:
    """Student's t with 4 degrees of freedom."""
    return math.gamma(2.5) / (math.sqrt(4 * math.pi) * math.gamma(2)) * math.pow(1 + x * x / 4, -2.5)


def brute(xs: list[float]) -> float:
    """The five gamblers' average, told without any of the product's words."""
    stakes = [1.0] * 5
    for i, x in enumerate(xs):
        thetas = [0.5, 1, 2, 5, max(0.0, statistics.median(xs[:i])) if i else 0]
        stakes = [s * 2 * density(x - t) / (density(x - t) + density(x + t)) for s, t in zip(stakes, thetas, strict=True)]
    return sum(stakes) / 5


def run(ds: list[float], start: float = 1.0, weight: float = 8.0) -> Series:
    seen = stats.series(start, weight)
    for d in ds:
        seen = stats.extend(seen, d)
    return seen


def bet(xs: list[float]) -> Bet:
    made = stats.FRESH
    for x in xs:
        made = stats.wager(made, x)
    return made


# --- bets ---


@pytest.mark.parametrize(("x", "theta"), [(1, 1), (-2, 0.5), (0.3, 5), (8, 2)])
def test_a_factor_is_the_likelihood_of_better_against_worse(x: float, theta: float) -> None:
    right = 2 * density(x - theta) / (density(x - theta) + density(x + theta))
    assert stats.factor(x, theta) == pytest.approx(right, rel=1e-12)


def test_a_tie_leaves_every_stake_as_it_was() -> None:
    assert bet([0.0] * 9).stakes == (1, 1, 1, 1, 1)


def test_an_outlier_is_worth_about_nothing() -> None:
    assert stats.factor(1000, 1) == pytest.approx(1, abs=0.01)
    assert stats.factor(-1000, 1) == pytest.approx(1, abs=0.01)


@given(NUMBERS)
@settings(deadline=None)
def test_the_stake_is_the_average_of_five_gamblers(xs: list[float]) -> None:
    assert stats.wealth(bet(xs)) == pytest.approx(brute(xs), rel=1e-6)


@given(SIZES, st.floats(0.01, 100))
@settings(deadline=None, max_examples=30)
def test_with_fair_signs_the_mean_stake_is_one(sizes: list[float], start: float) -> None:
    """All sign patterns of the same sizes are equally likely when a coin labels two equal sides: their mean must be exactly 1."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(sizes)):
        made, seen = stats.FRESH, stats.series(start, 8)
        for sign, size in zip(signs, sizes, strict=True):
            made = stats.wager(made, sign * size / seen.scale)
            seen = stats.extend(seen, sign * size)
        total += stats.wealth(made)
    assert total / 2 ** len(sizes) == pytest.approx(1, abs=1e-9)


def test_a_candidate_without_a_reading_loses_95_per_cent() -> None:
    assert stats.wealth(stats.forfeit(bet([2, 2, 2]))) == pytest.approx(stats.wealth(bet([2, 2, 2])) / 20)


def test_no_stake_overflows_or_becomes_nan() -> None:
    assert stats.wealth(bet([5.0] * 2000)) <= 1e300
    assert stats.wealth(bet([math.inf, -math.inf] * 20)) >= 0


@pytest.mark.parametrize(("effect", "nats"), [(0, 0), (0.1, 0.004982), (1, 0.3562106), (2, 0.6544467), (100, 0.693147)])
def test_growth_is_half_the_square_of_small_effects_and_one_coin_at_most(effect: float, nats: float) -> None:
    assert stats.growth(effect) == pytest.approx(nats, abs=2e-6)


def test_pairs_to_go_are_the_nats_still_missing() -> None:
    assert stats.pairs_to_go(stats.FRESH, 1250, 1.0) == pytest.approx(math.log(1250) / 0.3562106, rel=1e-5)
    assert stats.pairs_to_go(bet([100.0, *([3.0] * 15)]), 1250, 1.0) == 0
    assert stats.pairs_to_go(stats.FRESH, 1250, 0) == math.inf
    assert stats.pairs_to_go(stats.FRESH, 1250, -1) == math.inf


# --- risk ---


def test_gamma_gives_80_per_cent_to_the_first_hundred_and_never_more_than_all() -> None:
    shares = [stats.gamma(index, 100) for index in range(1, 6301)]
    assert shares[0] == shares[99] == pytest.approx(0.008)
    assert shares[100] == shares[299] == pytest.approx(0.0008)
    assert shares[300] == pytest.approx(0.032 / 400)
    assert math.fsum(shares) == pytest.approx(0.8 + 0.16 + 0.032 + 0.0064 + 0.00128 + 0.000256)


# --- scales ---


@pytest.mark.parametrize(("differences", "scale"), [([-3, 1, 2], 2 * 1.4826), ([1, -1, 2, -2], 1.5 * 1.4826), ([0, 0, 5], 0)])
def test_the_robust_scale_is_the_scaled_median_of_sizes(differences: list[float], scale: float) -> None:
    assert stats.robust_scale(differences) == pytest.approx(scale)


def test_the_scale_of_a_pair_was_known_before_it() -> None:
    seen = run([0, 2, 100], start=2)
    second = math.sqrt((8 * 4 + 2) / 9)
    assert seen.scales == pytest.approx((2, 2, second))
    assert seen.scale == pytest.approx(math.sqrt((8 * 4 + 2 + 9 * second**2) / 10)), "the wild third one counts as three scales"


def test_a_scale_that_is_a_guess_learns_from_the_first_difference_unclipped() -> None:
    assert run([0, 100], start=1e-9, weight=1).scale == pytest.approx(math.sqrt(5000 / 2))


@given(st.floats(0.1, 10), st.integers(1, 30))
def test_equal_differences_never_bring_the_scale_to_zero(start: float, number: int) -> None:
    assert run([1.0] * number, start).scale == pytest.approx(start * math.sqrt(8 / (8 + number - 1)))


@given(NUMBERS)
def test_swapped_labels_mirror_the_estimate_and_leave_the_scale(ds: list[float]) -> None:
    seen, mirrored = run(ds), run([-d for d in ds])
    assert stats.estimate(mirrored) == -stats.estimate(seen)
    assert mirrored.scale == seen.scale
    assert mirrored.scales == seen.scales


def test_the_estimate_clips_what_lies_two_scales_from_the_median() -> None:
    assert stats.estimate(Series(1, 8, 0, 0, 1.0, (0, 1, 10), (1, 1, 1))) == pytest.approx((0 + 1 + 3) / 3)


@pytest.mark.parametrize(("value", "se", "right"), [(2, 1, 1.5), (-2, 1, -1.5), (1, 1, 0), (0.5, 1, 0), (3, 0, 3), (0, 0, 0)])
def test_a_small_effect_shrinks_by_its_own_noise(value: float, se: float, right: float) -> None:
    assert stats.shrunk(value, se) == right


@pytest.mark.parametrize(
    ("ds", "null", "right"),
    [
        ([6, 6, 7, 8, 9], 0, True),
        ([6, 6, 7, 8], 0, False),
        ([5, 6, 7, 8, 9], 0, False),
        ([6, 6, 7, 8, 12], 0, False),
        ([6, 6, 7, 8, 9], 1, False),
        ([5, 6, 7, 8, 9], -1, True),
    ],
)
def test_a_giant_needs_five_close_wins_beyond_five_scales(ds: list[float], null: float, right: bool) -> None:
    assert stats.giant(Series(1, 8, 0, 0, 1, tuple(ds), (1,) * len(ds)), null) is right


# --- intervals ---


@pytest.mark.parametrize(("freedom", "right"), [(1, 6.3138), (8, 1.8595), (15, 1.7531)])
def test_the_quantile_is_that_of_students_t(freedom: int, right: float) -> None:
    assert stats.quantile(freedom) == pytest.approx(right, abs=1e-4)


def test_below_eight_pairs_the_interval_is_a_pooled_t_interval() -> None:
    assert stats.interval(run([3], start=2)) == pytest.approx((3 - 1.8595 * 2, 3 + 1.8595 * 2), abs=1e-3)


def test_from_eight_pairs_on_the_interval_ends_where_the_bet_refutes() -> None:
    seen = run([1.2, 0.3, 2.2, 0.9, 1.4, 0.1, 1.8, 1.1])
    low, high = stats.interval(seen)

    def refuting(effect: float, side: int) -> float:
        return brute([side * (d - effect) / s for d, s in zip(seen.d, seen.scales, strict=True)])

    assert refuting(low, 1) == pytest.approx(20, rel=0.01)
    assert refuting(high, -1) == pytest.approx(20, rel=0.01)
    assert low < 1.125 < high


@given(st.lists(st.floats(-50, 50), min_size=8, max_size=20))
@settings(deadline=None, max_examples=30)
def test_swapped_labels_mirror_the_interval(ds: list[float]) -> None:
    low, high = stats.interval(run(ds))
    assert stats.interval(run([-d for d in ds])) == (-high, -low)


def test_an_effect_that_no_bet_can_refute_has_a_t_interval() -> None:
    """Nine wild differences of both signs: even an effect a thousand scales away wins no bet."""
    seen = run([1e9, -1e9] * 4 + [0], start=1e-6)
    low, high = stats.interval(seen)
    assert math.isfinite(low)
    assert math.isfinite(high)
    assert low < 0 < high


def test_exact_values_have_an_interval_without_width() -> None:
    assert stats.interval(run([0.5] * 9, start=0)) == (0.5, 0.5)
