import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.core.models import Scale
from runner.core.pairs import both, difference, fault
from runner.core.policy import Amount, Guardrail, Policy
from tests.core.readings import alone, pair, reading

RAILS = (Guardrail("memory", "lower", Amount(5, True)), Guardrail("accuracy", "higher", Amount(0.01)))
POLICY = Policy("seconds", "lower", guardrails=RAILS)
FINE = {"memory": 10.0, "accuracy": -1.0}


def test_a_faster_candidate_has_a_positive_difference() -> None:
    assert difference("ratio", "lower", 100, 80) == pytest.approx(math.log(100 / 80))
    assert difference("ratio", "higher", 100, 80) == pytest.approx(-math.log(100 / 80))
    assert difference("difference", "lower", 3, 5) == -2
    assert difference("difference", "higher", -3, 5) == 8


def test_nothing_left_is_better_than_any_rest_and_equal_to_nothing() -> None:
    assert difference("ratio", "lower", 5e-324, 0) > 0
    assert difference("ratio", "lower", 0, 0) == 0
    assert difference("ratio", "higher", 1, 0) == -745


@given(st.floats(0, 1e300), st.floats(0, 1e300), st.sampled_from(["ratio", "difference"]))
def test_swapping_the_labels_turns_the_sign_and_nothing_else(a: float, b: float, scale: Scale) -> None:
    assert difference(scale, "lower", a, b) == -difference(scale, "lower", b, a) == -difference(scale, "higher", a, b)


def test_a_difference_whose_square_would_overflow_is_cut() -> None:
    assert difference("difference", "higher", -1e308, 1e308) == 1e100


@pytest.mark.parametrize(
    ("value", "secondary", "scale", "right"),
    [
        (1.0, FINE, "ratio", None),
        (0.0, FINE, "difference", None),
        (0.0, FINE, None, None),
        ("timeout", FINE, "ratio", "evaluate.sh: timeout"),
        (math.nan, FINE, "ratio", "seconds is nan"),
        (math.inf, FINE, "ratio", "seconds is inf"),
        (-2.0, FINE, "ratio", "seconds is -2, which has no ratio"),
        (1.0, {"accuracy": 1.0}, "ratio", "guardrail memory has no finite value"),
        (1.0, {**FINE, "accuracy": None}, "ratio", "guardrail accuracy has no finite value"),
        (1.0, {**FINE, "accuracy": math.nan}, "ratio", "guardrail accuracy has no finite value"),
        (1.0, {**FINE, "memory": -1.0}, "ratio", "guardrail memory is -1, which has no ratio"),
        (0.0, {**FINE, "memory": 0.0}, "ratio", None),
    ],
)
def test_a_fault_is_named_with_the_offending_value(
    value: float, secondary: dict[str, float | None], scale: Scale | None, right: str | None
) -> None:
    assert fault(POLICY, scale, reading("candidate", value, secondary)) == right


def test_a_reading_that_says_ok_without_a_value_is_a_fault() -> None:
    empty = dataclasses.replace(reading("candidate", 1.0, FINE), value=None)
    assert fault(POLICY, "ratio", empty) == "seconds is None"


def test_a_whole_pair_is_incumbent_then_candidate_whatever_ran_first() -> None:
    one = pair(1, 2)
    assert both(dataclasses.replace(one, readings=one.readings[::-1])) == one.readings
    assert both(alone(2)) is None
