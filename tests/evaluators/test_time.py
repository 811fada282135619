from typing import Literal

import pytest

from runner.core.contract import TimeMetric
from runner.evaluators import observe
from runner.evaluators.plug import Observed, Wanted
from tests.evaluators.ends import End


@pytest.mark.parametrize(("clock", "seconds"), [("cpu", 1.25), ("wall", 2.5)])
def test_the_seconds_of_the_command_are_the_value(clock: Literal["cpu", "wall"], seconds: float) -> None:
    assert observe(Wanted(TimeMetric(clock), "seconds"), End(), None) == Observed(seconds, {}, None)


def test_unknown_processor_time_is_invalid_and_not_zero() -> None:
    seen = observe(Wanted(TimeMetric("cpu"), "seconds"), End(cpu_s=None), None)
    assert seen == Observed(None, {}, None, "invalid", "the processor time cannot be measured on this machine; use {time: wall}")


def test_the_time_of_a_failed_command_is_not_even_quoted() -> None:
    seen = observe(Wanted(TimeMetric("wall"), "seconds"), End(exit_code=1), None)
    assert seen == Observed(None, {}, None, "exit_code", "the exit code was 1")
