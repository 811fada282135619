from dataclasses import replace

import pytest

from runner.core.events import Remeasured, Stopped, Waited
from runner.core.models import Direction, Scale
from runner.core.standing import Gain, Spent, compound, doing, expected_false_keeps, gain, present_run, spent, status
from runner.core.state import State, fold
from tests.histories import (
    BASE,
    CALIBRATED,
    OPENED,
    STARTED,
    History,
    calibration,
    campaign,
    discard,
    entries,
    keep,
    oid,
    pair,
    turn,
)

TWO = 1 - (1 - 0.1) * (1 - 0.2)


def folded(history: History) -> State:
    return fold(entries(history))


START: History = [(OPENED, None), (STARTED, None), *calibration()]
ONE_KEEP: History = [*START, *turn(1, keep(0.1), kept=oid("d"))]
TWO_KEEPS: History = [*ONE_KEEP, *turn(2, keep(0.2), oid("d"), kept=oid("e"))]


@pytest.mark.parametrize(
    ("scale", "direction", "expected"),
    [("ratio", "lower", 1 - 0.9 * 0.8), ("ratio", "higher", 1.1 * 1.2 - 1), ("difference", "lower", 0.1 + 0.2)],
)
def test_gains_build_upon_one_another(scale: Scale, direction: Direction, expected: float) -> None:
    assert compound([0.1, 0.2], scale, direction) == pytest.approx(expected, abs=1e-12)


def test_one_unknown_effect_makes_the_gain_unknown_and_no_effect_at_all_is_none() -> None:
    assert compound([0.1, None], "ratio", "lower") is None
    assert compound([], "ratio", "lower") == 0.0
    assert gain(folded(START)) is None


def test_the_gain_of_one_keep_has_its_interval_and_that_of_two_has_none() -> None:
    assert gain(folded(ONE_KEEP)) == Gain(0.1, (0.1 - 0.02, 0.1 + 0.02), "ratio", False)
    assert gain(folded(TWO_KEEPS)) == Gain(TWO, None, "ratio", False)


def test_fresh_pairs_overrule_the_keeps_as_long_as_they_are_of_the_present_incumbent() -> None:
    fresh = Remeasured(BASE, oid("d"), 20, 0.07, (0.05, 0.09), "ratio")
    assert gain(folded([*ONE_KEEP, (fresh, None)])) == Gain(0.07, (0.05, 0.09), "ratio", True)
    later: History = [*ONE_KEEP, (fresh, None), *turn(2, keep(0.2), oid("d"), kept=oid("e"))]
    assert gain(folded(later)) == Gain(TWO, None, "ratio", False)


def test_expected_false_keeps_add_up_what_each_candidate_was_allowed_to_risk() -> None:
    assert expected_false_keeps(folded(START)) == 0.0
    assert expected_false_keeps(folded(campaign())) == pytest.approx(2 / 1000)


def test_a_keep_without_a_bound_is_unknown_on_a_noisy_metric_and_sure_on_one_that_never_differs() -> None:
    bare: History = [*START, *turn(1, replace(keep(), needed=None), kept=oid("d"))]
    assert expected_false_keeps(folded(bare)) is None
    certain = replace(CALIBRATED, primary=replace(CALIBRATED.primary, deterministic=True))
    history: History = [(OPENED, None), (STARTED, None), (certain, None), *turn(1, replace(keep(), needed=None), kept=oid("d"))]
    assert expected_false_keeps(folded(history)) == 0.0
    assert expected_false_keeps(folded([*START, *turn(1, replace(discard(), needed=None))])) == 0.0


def test_what_nobody_told_is_unknown_and_what_some_told_is_at_least_that() -> None:
    assert spent(folded(START), None) == Spent(3.0, None, None, 0)
    assert spent(folded(campaign()), None) == Spent(120.0, 3000, 0.75, 0)


def test_a_run_is_active_until_now_while_it_works_and_until_its_last_fact_once_it_is_dead() -> None:
    state = folded(START)
    assert present_run(state, "2026-11-30T10:01:02.500Z") == 60.5
    assert present_run(state, None) == 3.0
    assert present_run(state, "2026-11-30T09:00:00.000Z") == 0.0
    assert present_run(folded([*START, (Stopped("stop_file", "", 5.0), None)]), None) == 0.0


def test_what_it_is_doing_has_a_word() -> None:
    now = "2026-11-30T10:30:00.000Z"
    limit: History = [*START, (Waited("usage limit", "2026-11-30T11:00:00.000Z"), None)]
    assert doing(State(), False, now) == "new"
    assert doing(folded(START), True, now) == "running"
    assert doing(folded(START), False, now) == "killed"
    assert doing(folded(START), None, now) == "unknown"
    assert doing(folded(limit), True, now) == "waiting"
    assert doing(folded(limit), True, "2026-11-30T11:00:01.000Z") == "running"
    assert doing(folded(campaign()), True, now) == "stopped"


def test_the_keys_of_the_status_are_the_promised_ones_in_order() -> None:
    assert list(status(folded([*START, (pair(1, 2.0, 2.0), 0)]), False, "")) == [
        "state", "turns", "keeps", "incumbent", "baseline", "best_effect", "interval", "expected_false_keeps",
        "budget", "stopped_by", "confinement",
    ]  # fmt: skip
