import dataclasses
import math
from collections.abc import Sequence

import pytest

from runner.core import decision, stats
from runner.core.decision import GoOn, Policy
from runner.core.events import Decided, Measured
from runner.core.models import Basis, Declares, FailureKind, Status
from runner.core.policy import Amount, Guardrail
from tests.core.readings import about, alone, decided, going, noisy, pair, recalibrating, trial

POLICY = Policy("loss", "lower", scale="difference")
QUICK = dataclasses.replace(POLICY, preset="quick")
ONE = noisy(POLICY, 0.01)
"""The incumbent stands at 100 with a pair noise of exactly 1."""


def gains(*ds: float) -> list[Measured]:
    return [pair(100, 100 - d, at) for at, d in enumerate(ds, 1)]


STEADY = gains(*[3.3, 2.7, 3.1, 2.9] * 15)


# --- discards ---


def test_a_clear_loser_is_gone_after_one_pair() -> None:
    assert decided(trial(POLICY, ONE, gains(-5))) == Decided(
        status=Status.DISCARD,
        basis=Basis.METRIC_REGRESSION,
        reason="worse by 5 (90 % interval 3.14 to 6.86) after 1 pair",
        effect=-5,
        estimate=-5,
        interval=(about(-5 - 1.8595, 1e-4), about(-5 + 1.8595, 1e-4)),
        scale="difference",
        pairs=1,
        stake=about(stats.wealth(stats.wager(stats.FRESH, -5))),
        needed=1250,
        metric_value=105,
        delta=5,
    )


def test_a_small_loss_is_not_called_a_regression() -> None:
    end = decided(trial(POLICY, ONE, gains(-1.2)))
    assert (end.basis, end.reason) == (
        Basis.NOT_GOOD_ENOUGH,
        "no sign of a gain after 1 pair: even an optimistic effect is -0.2",
    )


def test_a_weak_start_ends_when_even_hope_would_take_too_long() -> None:
    """0.5 sd hoped for brings g(.5) = .11441 nats a pair; ln 1250 = 7.13090 nats are missing."""
    end = decided(trial(QUICK, ONE, gains(0)))
    assert end.reason == (
        "no sign of a gain after 1 pair: even an optimistic effect of 0.5 would need 63 more pairs of the 39 left"
    )
    assert math.ceil(math.log(1250) / 0.11441) == 63


def test_ties_bet_nothing_and_end_by_the_forecast() -> None:
    end = decided(trial(POLICY, ONE, gains(*[0.0] * 60)))
    assert (end.status, end.basis, end.stake, end.effect, end.pairs) == (Status.DISCARD, Basis.NOT_GOOD_ENOUGH, 1, 0, 4)
    assert end.reason.endswith("would need 63 more pairs of the 56 left"), "0.5 sd is hoped for again: 1 / sqrt 4"


def test_a_gain_below_min_effect_is_discarded_although_it_is_real() -> None:
    policy = dataclasses.replace(POLICY, min_effect=Amount(6))
    end = decided(trial(policy, ONE, STEADY))
    assert (end.status, end.basis, end.pairs) == (Status.DISCARD, Basis.NOT_GOOD_ENOUGH, 1)
    assert end.reason == "even an optimistic effect of 4.3 is below min_effect 6 after 1 pair"


def test_a_gain_not_shown_within_the_most_pairs_is_discarded() -> None:
    """The stake doubles at most with a pair, and the twelfth is a tie."""
    policy = dataclasses.replace(POLICY, max_pairs=12)
    end = decided(trial(policy, ONE, gains(*[2.0] * 11, 0.0)))
    assert (end.status, end.basis, end.pairs) == (Status.DISCARD, Basis.NOT_GOOD_ENOUGH, 12)
    assert end.stake == stats.wealth(trial(policy, ONE, gains(*[2.0] * 11)).gain)
    assert end.reason == (
        "not shown after 12 pairs, the most allowed: 1.879 (90 % interval 1.321 to 2.227); stake 1,057 against 1,250 needed"
    )


def test_a_shown_gain_that_stays_below_min_effect_is_discarded_at_the_cap() -> None:
    policy = dataclasses.replace(POLICY, max_pairs=13, min_effect=Amount(3.05))
    end = decided(trial(policy, ONE, STEADY))
    assert (end.status, end.basis, end.pairs) == (Status.DISCARD, Basis.NOT_GOOD_ENOUGH, 13)
    assert (
        end.reason
        == "better by 3.023 (90 % interval 2.739 to 3.309) after 13 pairs, the most allowed, and min_effect asks for 3.05"
    )


# --- keeps ---


def test_a_gain_of_three_sd_is_kept_when_the_stake_reaches_one_over_alpha() -> None:
    under = trial(POLICY, ONE, STEADY)
    end = decided(under)
    assert (end.status, end.basis, end.needed) == (Status.KEEP, Basis.METRIC_IMPROVEMENT, 1250)
    assert end.pairs == 12
    assert end.stake is not None
    assert end.stake >= 1250
    assert (end.estimate, end.delta, end.metric_value) == (about(3.0), about(-3.0), about(97.0))
    assert end.interval is not None
    assert end.effect is not None
    assert 0 < end.interval[0] < end.effect < 3 < end.interval[1]
    assert decision.admissible(under) == (Basis.METRIC_IMPROVEMENT,)
    low, high = end.interval
    assert end.reason == (
        f"better by {end.effect:.4g} (90 % interval {low:.4g} to {high:.4g}) after 12 pairs;"
        f" stake {end.stake:,.0f} against 1,250 needed"
    )


def test_no_keep_without_the_shortcut_comes_before_eleven_pairs() -> None:
    """One bit a pair: 2^10 < 1250 <= 2^11."""
    for effect in (2.0, 3.0, 4.9):
        assert decided(trial(POLICY, ONE, gains(*[effect] * 60))).pairs >= 11


def test_a_giant_is_kept_after_five_pairs() -> None:
    end = decided(trial(POLICY, ONE, gains(*[20, 21, 22, 21, 20])))
    assert (end.status, end.pairs) == (Status.KEEP, 5)
    assert end.reason.endswith("after 5 pairs; every pair towers over the noise")


def test_a_coarse_metric_has_no_shortcut_until_candidates_showed_their_noise() -> None:
    coarse = dataclasses.replace(ONE, primary=dataclasses.replace(ONE.primary, shortcut=False))
    giant = gains(20, 21, 22, 21, 20)
    assert isinstance(decision.verdict(trial(POLICY, coarse, giant)), GoOn)
    pool = decision.learn(decision.pool(coarse), trial(POLICY, coarse, gains(3, 3, 3, 3, 3, 3)))
    assert pool.primary.differences == 5
    learnt = decision.begin(POLICY, coarse, pool, 8e-4)
    for one in giant:
        learnt = decision.add(learnt, one)
    assert decided(learnt).status == Status.KEEP


DECLARED: tuple[Declares | None, ...] = (None, "bug_fix", "code_quality")


def test_a_gain_too_good_to_be_true_is_held_for_a_person() -> None:
    policy = dataclasses.replace(POLICY, implausible=Amount(15))
    end = decided(trial(policy, ONE, gains(20, 21, 22, 21, 20)))
    assert (end.status, end.basis) == (Status.HELD, Basis.IMPLAUSIBLE_GAIN)
    assert end.reason == "a gain of 20.79 after 5 pairs is more than the 15 thought plausible: held for a person to look at"
    assert decided(trial(policy, ONE, gains(*[14] * 5))).status == Status.KEEP


@pytest.mark.parametrize(("value", "status"), [(100 / 19, Status.KEEP), (100 / 21, Status.HELD)])
def test_a_gain_beyond_so_many_times_is_held_whatever_the_candidate_declares(value: float, status: Status) -> None:
    policy = Policy("seconds", "lower", times=20.0, margin=Amount(1, True))
    readings = [pair(100, value, at) for at in range(1, 6)]
    calibrated = noisy(policy, 0.01)
    for declares in DECLARED:
        end = decided(trial(policy, calibrated, readings, declares=declares))
        assert end.status == status
        if status is Status.HELD:
            assert end.reason.startswith("a gain of 95.2 % after ")
            assert end.reason.endswith(" pairs is more than the 20 times thought plausible: held for a person to look at")


def test_a_bound_in_times_says_nothing_of_an_exact_count() -> None:
    policy = Policy("errors", "lower", times=20.0)
    exact = decision.calibrate(policy, [pair(100, 100, at) for at in range(3)], 1, "here")
    assert decided(trial(policy, exact, [pair(100, 1, 1), alone(1, 2)])).status == Status.KEEP


def test_a_bound_in_times_says_nothing_of_a_metric_compared_by_difference() -> None:
    policy = dataclasses.replace(POLICY, times=20.0)
    assert decided(trial(policy, ONE, gains(*[21] * 5))).status == Status.KEEP


def test_on_the_ratio_scale_effects_are_shares_of_the_incumbent() -> None:
    policy = Policy("seconds", "lower")
    end = decided(trial(policy, noisy(policy, 0.01), [pair(100, 60, at) for at in range(1, 6)]))
    assert (end.status, end.scale, end.estimate) == (Status.KEEP, "ratio", about(0.4))
    assert end.reason.startswith("better by 40.0 % (90 % interval 39.")


# --- going on ---


def test_a_forecast_comes_from_the_third_pair_on() -> None:
    """Twice at d = 1, then again: E is known, and g(1/s) nats come a pair; 1.25 times as many pairs are told."""
    under = trial(POLICY, ONE, gains(1, 1))
    assert going(under) == GoOn("pair", None)
    under = decision.add(under, gains(1)[0])
    short = math.log(1250) - math.log(stats.wealth(under.gain))
    speed = math.log(2) * (1 - math.exp(-((1 / math.sqrt(8 / 10)) ** 2) / (2 * math.log(2))))
    assert going(under) == GoOn("pair", math.ceil(1.25 * short / speed))
    assert under.pairs == 3


def test_an_estimate_without_a_gain_has_no_forecast() -> None:
    assert going(trial(POLICY, ONE, gains(0.5, 0.0, -0.51))).forecast is None


def test_nothing_is_decided_before_the_first_pair() -> None:
    assert going(trial(POLICY, ONE, [])) == GoOn("pair", None)
    assert decision.admissible(trial(POLICY, ONE, [])) == ()


# --- failures ---


@pytest.mark.parametrize(
    ("failure", "basis"),
    [
        ("timeout", Basis.EVALUATION_TIMEOUT),
        ("exit_code", Basis.EVALUATION_FAILED),
        ("invalid", Basis.INVALID_OR_MISSING_EVIDENCE),
        (math.nan, Basis.INVALID_OR_MISSING_EVIDENCE),
        (-math.inf, Basis.INVALID_OR_MISSING_EVIDENCE),
    ],
)
def test_a_candidate_that_fails_twice_has_crashed(failure: FailureKind | float, basis: Basis) -> None:
    once = trial(POLICY, ONE, [pair(100, failure)])
    assert going(once) == GoOn("pair", None), "the first one gets a retry"
    end = decided(decision.add(once, pair(100, failure, 2)))
    assert (end.status, end.basis, end.pairs, end.metric_value, end.effect, end.interval) == (
        Status.CRASH,
        basis,
        2,
        None,
        None,
        None,
    )
    assert end.stake == about(0.0025)
    words = f"evaluate.sh: {failure}" if isinstance(failure, str) else f"loss is {failure}"
    assert end.reason == f"the evaluation gave no reading in 2 tries: {words}"


def test_a_failure_costs_95_per_cent_of_the_stake_and_the_trial_goes_on() -> None:
    whole, lame = trial(POLICY, ONE, STEADY[:8]), trial(POLICY, ONE, [*STEADY[:4], pair(100, "timeout"), *STEADY[4:8]])
    assert stats.wealth(lame.gain) == about(stats.wealth(whole.gain) / 20)
    assert (lame.failures, lame.pairs, lame.seen) == (1, 9, whole.seen)
    end = decided(trial(POLICY, ONE, [*STEADY[:4], pair(100, "timeout"), *STEADY[4:]]))
    assert end.status == Status.KEEP
    assert end.pairs > 12


def test_the_first_failure_is_tried_again_even_where_hope_is_gone() -> None:
    """At 0.2 sd the quick preset would not wait for the three nats that the failure cost."""
    lame = [*gains(0.2), pair(100, "timeout")]
    assert going(trial(QUICK, ONE, lame)) == GoOn("pair", None)
    assert decided(trial(QUICK, ONE, [*lame, *gains(0.2)])).status == Status.DISCARD


def test_a_candidate_that_failed_once_has_no_shortcut() -> None:
    assert isinstance(decision.verdict(trial(POLICY, ONE, [pair(100, "timeout"), *gains(20, 21, 22, 21, 20)])), GoOn)


def test_a_candidate_without_a_guardrails_value_has_failed() -> None:
    end = decided(
        trial(RAILED, RAIL, [railed(3, 1), pair(100, 97, 2, {"memory": 100.0}, {}), pair(100, 97, 3, {"memory": 100.0}, {})])
    )
    assert (end.status, end.basis) == (Status.CRASH, Basis.INVALID_OR_MISSING_EVIDENCE)
    assert end.reason == "the evaluation gave no reading in 2 tries: guardrail memory has no finite value"


def test_a_value_without_a_ratio_is_a_failure_on_the_ratio_scale() -> None:
    policy = Policy("seconds", "lower")
    end = decided(trial(policy, noisy(policy, 0.01), [pair(100, -1.0), pair(100, -1.0)]))
    assert end.reason == "the evaluation gave no reading in 2 tries: seconds is -1, which has no ratio"


def test_errors_that_become_none_are_a_gain_of_100_per_cent() -> None:
    policy = Policy("errors", "lower")
    end = decided(trial(policy, noisy(policy, 0.0), [pair(3, 0), alone(0)]))
    assert (end.status, end.effect, end.reason) == (Status.KEEP, 1, "better by 100.0 %, 3 to 0, the same in every reading")
    assert decided(trial(policy, noisy(policy, 0.0), [pair(0, 0)])).reason == "exactly equal: 0 to 0"


def test_an_evaluation_that_could_not_start_is_nobodys_fault() -> None:
    under = trial(POLICY, ONE, [*gains(3), pair(100, "not_started"), pair("not_started", 97)])
    assert (under.voids, under.failures, under.pairs) == (2, 0, 1)
    again = trial(POLICY, EXACT, [*gains(1), alone("not_started")])
    assert (again.voids, going(again)) == (1, GoOn("candidate"))


def test_pairs_in_which_the_incumbent_failed_are_void_and_counted() -> None:
    whole = trial(POLICY, ONE, gains(3))
    under = trial(POLICY, ONE, [*gains(3), pair("timeout", 97.0), pair(math.nan, "timeout")])
    assert (under.voids, under.pairs, under.failures) == (2, 1, 0)
    assert (under.seen, under.gain) == (whole.seen, whole.gain)
    assert going(under) == going(whole)


def test_void_pairs_do_not_count_in_the_means() -> None:
    assert decided(trial(POLICY, ONE, [pair("timeout", 1.0), *gains(-5)])).metric_value == 105


# --- deterministic metrics ---

EXACT = noisy(POLICY, 0.0)


def test_an_exact_gain_is_read_once_more_and_kept() -> None:
    under = trial(dataclasses.replace(POLICY, max_pairs=1), EXACT, gains(1))
    assert going(under) == GoOn("candidate")
    assert decided(decision.add(under, alone(99))) == Decided(
        status=Status.KEEP,
        basis=Basis.METRIC_IMPROVEMENT,
        reason="better by 1, 100 to 99, the same in every reading",
        effect=1,
        estimate=1,
        interval=(1, 1),
        scale="difference",
        pairs=1,
        metric_value=99,
        delta=-1,
    )


@pytest.mark.parametrize(
    ("value", "basis", "reason"),
    [
        (100, Basis.NOT_GOOD_ENOUGH, "exactly equal: 100 to 100"),
        (101, Basis.METRIC_REGRESSION, "worse by 1, 100 to 101"),
        (99.5, Basis.NOT_GOOD_ENOUGH, "better by 0.5, 100 to 99.5; min_effect asks for 1"),
    ],
)
def test_an_exact_metric_says_no_after_one_pair(value: float, basis: Basis, reason: str) -> None:
    policy = dataclasses.replace(POLICY, min_effect=Amount(1))
    end = decided(trial(policy, EXACT, [pair(100, value)]))
    assert (end.status, end.basis, end.reason, end.pairs, end.stake) == (Status.DISCARD, basis, reason, 1, None)


def test_rounding_neither_hides_min_effect_nor_makes_a_gain() -> None:
    policy = Policy("lines", "lower", min_effect=Amount(1, True))
    exact = noisy(policy, 0.0)
    assert going(trial(policy, exact, [pair(100, 99)])) == GoOn("candidate")
    assert decided(trial(Policy("lines", "lower"), exact, [pair(0.3, 0.1 + 0.2)])).status == Status.DISCARD
    assert decided(trial(Policy("lines", "lower"), exact, [pair(0.1 + 0.2, 0.3)])).status == Status.DISCARD
    assert decided(trial(POLICY, EXACT, [pair(0.1 + 0.2, 0.3)])).status == Status.DISCARD
    tenth = dataclasses.replace(POLICY, min_effect=Amount(0.1), margin=Amount(0.1))
    assert 0.3 - 0.2 < 0.1
    assert going(trial(tenth, EXACT, [pair(0.3, 0.2)])) == GoOn("candidate")
    assert 0.9 - 0.8 < 0.1 < 1.1 - 1.0
    assert going(trial(tenth, EXACT, [pair(1.0, 1.1)], declares="bug_fix")) == GoOn("candidate")
    railed = dataclasses.replace(POLICY, guardrails=(Guardrail("memory", "lower", Amount(0.1)),))
    exact = noisy(railed, 0.0, memory=0.0)
    assert going(trial(railed, exact, [pair(2, 1, 1, {"memory": 1.0}, {"memory": 1.1})])) == GoOn("candidate")


def test_an_exact_candidate_that_fails_its_second_reading_gets_one_more() -> None:
    under = trial(POLICY, EXACT, [*gains(1), alone("timeout")])
    assert going(under) == GoOn("candidate")
    assert decided(decision.add(under, alone(99, 3))).status == Status.KEEP
    assert decided(decision.add(under, alone("timeout", 3))).basis == Basis.EVALUATION_TIMEOUT


def test_an_exact_candidate_that_fails_its_first_reading_gets_a_whole_pair() -> None:
    assert going(trial(POLICY, EXACT, [pair(100, "timeout")])) == GoOn("pair")


def test_a_metric_that_gives_two_values_goes_on_as_a_noisy_one() -> None:
    measured = [*gains(1), alone(99.5)]
    again = recalibrating(trial(POLICY, EXACT, measured))
    assert again.measured == tuple(measured)
    calibrated = decision.recalibrated(POLICY, EXACT, again.measured)
    assert (calibrated.primary.deterministic, calibrated.primary.noise) == (False, 0.5)
    under = trial(POLICY, calibrated, measured)
    assert going(under) == GoOn("pair", None)
    assert under.pairs == 1
    assert decided(trial(POLICY, calibrated, [*measured, *gains(*[1.0] * 30)])).status == Status.KEEP


def test_an_exact_incumbent_that_gives_two_values_is_noticed() -> None:
    cheap = dataclasses.replace(POLICY, guardrails=(Guardrail("memory", "lower", Amount(5)),))
    exact = noisy(cheap, 0.0, memory=0.01)
    fine = {"memory": 100.0}
    recalibrating(trial(cheap, exact, [pair(100, 99, 1, fine, fine), pair(101, 99, 2, fine, fine)]))


# --- guardrails ---

RAILED = dataclasses.replace(POLICY, guardrails=(Guardrail("memory", "lower", Amount(5)),))
RAIL = noisy(RAILED, 0.01, memory=0.01)


def railed(gain: float, memory: float, at: int = 1) -> Measured:
    return pair(100, 100 - gain, at, {"memory": 100.0}, {"memory": 100 + memory, "size": at})


def test_a_gain_whose_guardrail_holds_is_kept() -> None:
    end = decided(trial(RAILED, RAIL, [railed(d, 1, at) for at, d in enumerate([3.3, 2.7, 3.1, 2.9] * 4, 1)]))
    assert (end.status, end.pairs, end.secondary) == (Status.KEEP, 12, {"memory": 101, "size": 6.5})


def test_a_broken_guardrail_ends_the_trial_at_once() -> None:
    end = decided(trial(RAILED, RAIL, [railed(3 + 0.1 * (at % 2), 8, at) for at in range(1, 60)]))
    assert (end.status, end.basis, end.pairs) == (Status.DISCARD, Basis.GUARDRAIL_REGRESSION, 5), (
        "2^5 is the first power beyond 20"
    )
    assert end.reason == "guardrail memory is broken: worse by 8 where 5 is allowed, after 5 pairs"


def test_a_guardrail_that_cannot_be_shown_ends_the_trial_at_the_cap() -> None:
    measured = [railed(3 + 0.1 * (at % 2), 5 + 0.3 * (-1) ** at, at) for at in range(1, 61)]
    under = trial(RAILED, RAIL, measured)
    end = decided(under)
    assert (end.status, end.basis, end.pairs) == (Status.DISCARD, Basis.GUARDRAIL_REGRESSION, 60)
    assert end.reason == "guardrail memory is not shown to hold within 5 after 60 pairs: worse by 5"
    assert decision.admissible(under) == ()


def test_an_exact_guardrail_is_broken_by_one_reading_and_held_by_equality() -> None:
    exact = noisy(RAILED, 0.01, memory=0.0)
    end = decided(trial(RAILED, exact, [railed(3, 6)]))
    assert (end.basis, end.pairs) == (Basis.GUARDRAIL_REGRESSION, 1)
    giant = [railed(20, 5, at) for at in range(1, 6)]
    assert decided(trial(RAILED, exact, giant)).status == Status.KEEP


def test_a_giant_guardrail_margin_is_shown_by_the_shortcut() -> None:
    end = decided(trial(RAILED, RAIL, [railed(20, -10, at) for at in range(1, 6)]))
    assert (end.status, end.pairs) == (Status.KEEP, 5)


def test_an_exact_gain_waits_for_its_noisy_guardrail() -> None:
    """The bet on a guardrail needs six pairs at least to reach 20."""
    exact = noisy(RAILED, 0.0, memory=0.01)
    assert going(trial(RAILED, exact, [railed(1, 1)])) == GoOn("pair")
    end = decided(trial(RAILED, exact, [railed(1, 1, at) for at in range(1, 60)]))
    assert (end.status, end.pairs) == (Status.KEEP, 6)
    capped = dataclasses.replace(RAILED, max_pairs=5)
    assert decided(trial(capped, exact, [railed(1, 1, at) for at in range(1, 60)])).reason == (
        "guardrail memory is not shown to hold within 5 after 5 pairs: worse by 1"
    )


# --- fixes and simplifications ---

MARGIN = dataclasses.replace(POLICY, margin=Amount(2))


@pytest.mark.parametrize(
    ("declares", "basis"),
    [("bug_fix", Basis.NON_REGRESSION_BUG_FIX), ("code_quality", Basis.NON_REGRESSION_CODE_QUALITY)],
)
def test_a_declared_fix_is_kept_when_it_is_not_worse_than_the_margin(declares: Declares, basis: Basis) -> None:
    under = trial(MARGIN, ONE, gains(*[0.1, -0.1] * 20), declares=declares)
    end = decided(under)
    assert (end.status, end.basis, end.needed) == (Status.KEEP, basis, 20)
    assert end.stake is not None
    assert 20 <= end.stake < 60
    assert decision.admissible(under) == (basis,)
    assert end.reason == (
        "not worse than the 2 allowed: better by 0.02 (90 % interval -0.634 to 0.674) after 5 pairs; stake 21 against 20 needed"
    )


def test_a_fix_that_is_worse_than_the_margin_is_not_kept() -> None:
    end = decided(trial(MARGIN, ONE, gains(*[-3.5] * 9), declares="bug_fix"))
    assert (end.status, end.basis, end.pairs) == (Status.DISCARD, Basis.METRIC_REGRESSION, 1)
    long = decided(trial(dataclasses.replace(MARGIN, max_pairs=6), ONE, gains(-1.7), declares="bug_fix"))
    assert long.reason.startswith("not shown to be within the margin after 1 pair: even an optimistic effect of -0.7 would need ")


def test_an_improvement_gets_no_margin() -> None:
    assert decided(trial(MARGIN, ONE, gains(*[0.1, -0.1] * 20))).status == Status.DISCARD


def test_a_fix_that_is_also_an_improvement_may_be_called_either() -> None:
    under = trial(MARGIN, ONE, gains(20, 21, 22, 21, 20), declares="bug_fix")
    assert decision.admissible(under) == (Basis.METRIC_IMPROVEMENT, Basis.NON_REGRESSION_BUG_FIX)
    end = decided(under)
    assert (end.basis, end.needed) == (Basis.METRIC_IMPROVEMENT, 1250)


def test_losses_of_fixes_come_out_of_one_allowance() -> None:
    small = gains(*[-0.5, -0.4, -0.6] * 20)
    assert decided(trial(MARGIN, ONE, small, declares="bug_fix")).status == Status.KEEP
    end = decided(trial(MARGIN, ONE, small, declares="bug_fix", allowance=0.2))
    assert (end.status, end.basis) == (Status.DISCARD, Basis.NOT_GOOD_ENOUGH)
    assert (
        end.reason == "within the margin of 2, but worse by 0.5: the campaign has only 20 % of its allowance for regressions left"
    )


def test_without_a_margin_a_noisy_fix_has_to_be_an_improvement() -> None:
    assert trial(POLICY, ONE, [], declares="bug_fix").null is None
    assert decided(trial(POLICY, ONE, gains(*[0.1, -0.1] * 20), declares="bug_fix")).status == Status.DISCARD


def test_an_exact_simplification_may_stay_equal_but_not_lose() -> None:
    equal = decided(trial(POLICY, EXACT, [*gains(0), alone(100)], declares="code_quality"))
    assert (equal.status, equal.basis) == (Status.KEEP, Basis.NON_REGRESSION_CODE_QUALITY)
    assert equal.reason == "not worse than the equal value allowed: 100 to 100, the same in every reading"
    assert decided(trial(POLICY, EXACT, gains(-1), declares="code_quality")).status == Status.DISCARD
    loss = decided(trial(MARGIN, EXACT, [*gains(-1), alone(101)], declares="code_quality"))
    assert (loss.status, loss.effect) == (Status.KEEP, -1)


# --- the means ---


def test_huge_values_have_a_mean_and_an_overflowing_delta_is_unknown() -> None:
    end = decided(trial(Policy("loss", "higher", scale="difference"), ONE, [pair(1.7e308, -1.7e308)]))
    assert (end.metric_value, end.delta) == (-1.7e308, None)


def test_a_secondary_metric_without_any_value_is_unknown() -> None:
    nothing: Sequence[Measured] = [pair(100, 105, 1, {}, {"speed": None, "size": 3.0})]
    assert decided(trial(POLICY, ONE, nothing)).secondary == {"size": 3.0, "speed": None}
