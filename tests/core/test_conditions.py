"""Conditions of parameters: in which order they are asked, and when they hold."""

from pathlib import PurePath

import pytest

from runner.core import conditions
from runner.core.contract import Parameter
from runner.core.events import Json


def named(name: str, **when: tuple[str | int | float | bool, ...]) -> Parameter:
    return Parameter(name, PurePath("/s.yaml"), name, "bool", when=tuple(when.items()))


def test_each_parameter_comes_after_those_it_depends_on_and_else_as_declared() -> None:
    declared = [named("a", c=(True,)), named("b"), named("c", d=(True,), b=(True,)), named("d"), named("e")]
    assert [p.name for p in conditions.in_order(declared)] == ["b", "d", "c", "a", "e"]


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ({"b": "x", "c": 2}, True),
        ({"b": "y", "c": 2.0}, True),
        ({"b": "z", "c": 2}, False),
        ({"b": "x", "c": 3}, False),
        ({"b": "x", "c": True}, False),
        ({"b": "x"}, False),
        ({}, False),
    ],
)
def test_every_condition_has_to_hold_and_what_is_not_active_holds_for_none(values: dict[str, Json], holds: bool) -> None:
    assert conditions.holds(named("a", b=("x", "y"), c=(1, 2)), values) is holds


def test_without_conditions_a_parameter_always_counts() -> None:
    assert conditions.holds(named("a"), {})
