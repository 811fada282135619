import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.agents import space
from runner.agents.space import Trial
from runner.core.contract import Parameter
from runner.core.events import Json
from runner.core.models import Basis, Oid, Status
from tests.agents.orders import choice, flag, number, only, turn, whole

A = [number("a", 0, 10)]


def value(effect: float) -> float:
    return -math.log(1 - effect)


@pytest.mark.parametrize(
    ("parameter", "size"),
    [
        (number("a", 0, 1), None),
        (number("a", 2, 2), 1),
        (number("a", 0.1, 0.7, step=0.2), 4),
        (number("a", 0, 1, step=0.3), 4),
        (whole("a", 3, 9), 7),
        (whole("a", 0, 10, step=4), 3),
        (whole("a", 1, 64, log=True), 64),
        (choice("a", "x", 2, True), 3),
        (flag("a"), 2),
    ],
)
def test_a_parameter_knows_how_many_values_it_can_take(parameter: Parameter, size: int | None) -> None:
    assert space.size(parameter) == size


def test_every_point_of_a_finite_space_is_named_once_with_its_values() -> None:
    parameters = [number("a", 0.1, 0.7, step=0.3), whole("b", 1, 3, log=True), flag("c"), choice("d", "x", 2)]
    values = [space.settle(parameters, point)[1] for point in space.points(parameters)]
    assert len(values) == space.volume(parameters) == 36
    assert values[0] == {"a": 0.1, "b": 1, "c": False, "d": "x"}
    assert values[-1] == {"a": 0.7, "b": 3, "c": True, "d": 2}
    assert len({space.key(point) for point in space.points(parameters)}) == 36


@given(st.sampled_from([number("a", 0.1, 0.7, step=0.2), whole("a", 3, 90, step=4), whole("a", 2, 50, log=True)]), st.data())
def test_a_value_on_the_grid_is_its_own_nearest(parameter: Parameter, data: st.DataObject) -> None:
    point = data.draw(st.sampled_from(list(space.points([parameter]))))
    assert space.encode(parameter, space.decode(parameter, point["a"])) == point["a"]


@pytest.mark.parametrize(
    ("parameter", "raw", "written"),
    [
        (number("a", 0, 3), 1.23456789, 1.2346),
        (number("a", 1000, 1001), 1000.123456, 1000.1235),
        (number("a", 1e-6, 1e-1, log=True), 0.00001234567, 1.2346e-05),
        (number("a", 0.33333333, 1), 0.33333334, 0.33333333),
        (number("a", 0, 200_000), 123456.789, 123460.0),
    ],
)
def test_a_float_is_written_with_as_many_digits_as_its_range_can_use(parameter: Parameter, raw: float, written: float) -> None:
    assert space.decode(parameter, raw) == written


@pytest.mark.parametrize("value", ["3", True, None, float("nan"), [1]])
def test_what_is_no_number_has_no_place_on_a_number_s_axis(value: Json) -> None:
    assert space.encode(number("a", 0, 10), value) is None


def test_true_is_not_one_and_two_is_two_point_nought() -> None:
    assert space.encode(choice("a", 1, 2, True), True) == 2
    assert space.encode(choice("a", 1, 2, True), 2.0) == 1


def test_effects_multiply_along_the_kept_turns() -> None:
    second, third = Oid("b" * 40), Oid("c" * 40)
    records = [
        turn(1, 0.2, {"a": 1.0}, kept=second),
        turn(2, -0.1, {"a": 2.0}, incumbent=second),
        turn(3, 0.5, {"a": 3.0}, incumbent=second, kept=third),
        turn(4, 0.0, {"a": 4.0}, incumbent=third),
    ]
    known, notes = space.trials(A, {"a": 5.0}, records, "lower")
    assert notes == []
    assert [t.point for t in known] == [{"a": a} for a in (5.0, 1.0, 2.0, 3.0, 4.0)]
    # worth of each point against the first settings: 1, 0.8, 0.8 * 1.1, 0.8 * 0.5, 0.4
    assert [math.exp(-(t.value or 0)) for t in known] == pytest.approx([1, 0.8, 0.88, 0.4, 0.4])


def test_effects_add_up_on_difference_scale_and_multiply_upwards_for_higher() -> None:
    second = Oid("b" * 40)
    records = [
        turn(1, 2.0, {"a": 1.0}, kept=second, scale="difference"),
        turn(2, 3.0, {"a": 2.0}, incumbent=second, scale="difference"),
    ]
    assert [t.value for t in space.trials(A, {"a": 5.0}, records, "lower")[0]] == [0.0, 2.0, 5.0]
    up = [turn(1, 0.5, {"a": 1.0}, kept=second), turn(2, 1.0, {"a": 2.0}, incumbent=second)]
    assert [math.exp(t.value or 0) for t in space.trials(A, {"a": 5.0}, up, "higher")[0]] == pytest.approx([1, 1.5, 3])


@pytest.mark.parametrize(
    ("status", "basis", "effect", "trials"),
    [
        (Status.CRASH, Basis.EVALUATION_FAILED, None, [Trial({"a": 1.0}, None)]),
        (Status.REJECTED, Basis.GUARD_FAILED, None, [Trial({"a": 1.0}, None)]),
        (Status.HELD, Basis.IMPLAUSIBLE_GAIN, 0.9, [Trial({"a": 1.0}, None)]),
        (Status.DISCARD, Basis.GUARDRAIL_REGRESSION, 0.3, [Trial({"a": 1.0}, None)]),
        (Status.VETOED, Basis.JUDGE_VETO, 0.3, [Trial({"a": 1.0}, value(0.3))]),
        (Status.DISCARD, Basis.METRIC_REGRESSION, -0.3, [Trial({"a": 1.0}, value(-0.3))]),
        (Status.INTERRUPTED, Basis.INVALID_OR_MISSING_EVIDENCE, None, []),
        (Status.AGENT_ERROR, Basis.INVALID_OR_MISSING_EVIDENCE, None, []),
    ],
)
def test_what_a_turn_tells_depends_on_its_fate(status: Status, basis: Basis, effect: float | None, trials: list[Trial]) -> None:
    known, _ = space.trials(A, {"a": 5.0}, [turn(1, effect, {"a": 1.0}, status=status, basis=basis)], "lower")
    assert known == [Trial({"a": 5.0}, 0.0), *trials]


def test_a_gain_that_is_more_than_everything_tells_nothing() -> None:
    known, _ = space.trials(A, {"a": 5.0}, [turn(1, 1.0, {"a": 1.0})], "lower")
    assert known[1] == Trial({"a": 1.0}, None)


def test_starting_settings_outside_the_space_are_clamped_with_a_note_and_stay_open() -> None:
    parameters = [number("a", 0, 10), whole("b", 0, 10, step=5)]
    known, notes = space.trials(parameters, {"a": 12.5, "b": 4}, [], "lower")
    assert known == [Trial({"a": 10.0, "b": 1}, 0.0, tried=False)]
    assert notes == [
        "a starts at 12.5, which its declaration does not allow: taken as 10.0",
        "b starts at 4, which its declaration does not allow: taken as 5",
    ]


def test_a_starting_value_of_another_kind_leaves_trial_0_out() -> None:
    known, notes = space.trials([choice("a", "x", "y"), flag("b")], {"a": "z", "b": True}, [], "lower")
    assert (known, notes) == ([], ['the starting settings are no point of the declared space (a is "z") and are not used'])


def test_turns_that_do_not_fit_are_counted_and_not_used() -> None:
    known, notes = space.trials(A, {"a": 5}, [turn(1, 0.1, {"b": 1}), turn(2, 0.1, {"a": "x"}), turn(3, 0.1)], "lower")
    assert (known, notes) == ([Trial({"a": 5.0}, 0.0)], ["2 earlier turns do not fit the declared parameters"])


def test_parameters_survive_the_way_to_the_child() -> None:
    tied = only(flag("d"), b=(1, 9), c=("x", True))
    parameters = (number("a", 0, 1, log=False, step=0.1), whole("b", 1, 9, log=True), choice("c", "x", 1, True), tied)
    assert space.load(space.dump(parameters)) == parameters


def test_a_turn_whose_incumbent_is_unknown_tells_nothing() -> None:
    known, _ = space.trials(A, {"a": 5.0}, [turn(1, 0.1, {"a": 1.0}), turn(2, 0.1, {"a": 2.0}, incumbent=Oid("f" * 40))], "lower")
    assert [t.value is None for t in known] == [False, False, True]


# --- conditions -------------------------------------------------------------------------------------------

TIED = [
    only(whole("size", 1, 4), cache=(True,)),  # declared before what it depends on
    choice("mode", "plain", "deep", "wide"),
    only(flag("cache"), mode=("deep", "wide")),
    only(whole("depth", 1, 100), mode=("deep",)),
]


def test_a_point_holds_the_active_parameters_only() -> None:
    values: dict[str, Json] = {"mode": "plain", "cache": True, "size": 3, "depth": 7}
    assert space.place(TIED, values) == {"mode": 0}
    assert space.place(TIED, values | {"mode": "wide"}) == {"size": 2, "mode": 2, "cache": 1}
    assert space.place(TIED, values | {"mode": "wide", "cache": False}) == {"mode": 2, "cache": 0}
    assert space.place(TIED, values | {"mode": "deep"}) == {"size": 2, "mode": 1, "cache": 1, "depth": 6}


def test_a_missing_or_odd_value_counts_only_where_its_parameter_is_active() -> None:
    assert space.place(TIED, {"mode": "plain"}) == {"mode": 0}
    assert space.place(TIED, {"mode": "wide"}) is None
    assert space.place(TIED, {"mode": "wide", "cache": "yes"}) is None
    assert space.place(TIED, {"mode": "wide", "cache": True, "size": "big"}) is None


def test_points_that_differ_in_what_means_nothing_are_one() -> None:
    # plain: 1; wide: without cache 1, with it 4; deep: the same for each of 100 depths
    assert space.volume(TIED) == 1 + 5 + 500
    points = list(space.points(TIED))
    assert len(points) == len({space.key(point) for point in points}) == 506
    assert {"mode": 0} in points
    assert ["size", "mode", "cache", "depth"] in [list(point) for point in points]


def test_an_endless_parameter_counts_only_where_it_can_be_active() -> None:
    assert space.volume([flag("on"), only(number("a", 0, 1), on=(True,))]) is None
    never = only(number("a", 0, 1), on=(True,), mode=("x",))
    assert space.volume([choice("mode", "x", "y"), only(flag("on"), mode=("y",)), never]) == 3


def test_a_condition_on_many_values_does_not_make_the_count_long() -> None:
    parameters = [whole(f"p{i}", 0, 10**9) for i in range(6)]
    parameters.append(only(flag("last"), p0=(7,), p5=(1, 2)))
    each = 10**9 + 1
    assert space.volume(parameters) == each**6 + 2 * each**4


def test_true_is_not_the_1_of_a_condition() -> None:
    tied = [choice("a", 1, True, "x"), only(flag("b"), a=(1,))]
    assert space.place(tied, {"a": True, "b": True}) == {"a": 1}
    assert space.place(tied, {"a": 1.0, "b": True}) == {"a": 0, "b": 1}


def test_a_starting_value_that_means_nothing_is_neither_clamped_nor_refused() -> None:
    first: dict[str, Json] = {"mode": "wide", "cache": False, "size": "none", "depth": 900}
    assert space.trials(TIED, first, [], "lower") == ([Trial({"mode": 2, "cache": 0}, 0.0)], [])


def test_earlier_turns_are_read_by_their_active_parameters() -> None:
    records = [
        turn(1, 0.0, {"mode": "plain"}),
        turn(2, 0.0, {"mode": "deep", "cache": False, "depth": 5}),
        turn(3, 0.0, {"mode": "deep"}),
    ]
    known, notes = space.trials(TIED, {"mode": "plain", "cache": True, "size": 1, "depth": 1}, records, "lower")
    assert [t.point for t in known] == [{"mode": 0}, {"mode": 0}, {"mode": 1, "cache": 0, "depth": 4}]
    assert notes == ["1 earlier turns do not fit the declared parameters"]


def test_a_held_gain_that_a_person_accepted_later_counts_and_carries_the_chain() -> None:
    second = Oid("b" * 40)
    held = replace(turn(1, 0.5, {"a": 1.0}, status=Status.HELD, basis=Basis.IMPLAUSIBLE_GAIN), kept=second)
    known, _ = space.trials(A, {"a": 5.0}, [held, turn(2, 0.0, {"a": 2.0}, incumbent=second)], "lower")
    assert [t.value for t in known] == [0.0, value(0.5), value(0.5)]
