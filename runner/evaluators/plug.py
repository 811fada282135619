"""What a reading is made from, what is made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from runner.core.contract import MetricSource
from runner.core.ended import Ended
from runner.core.models import FailureKind


@dataclass(frozen=True, slots=True)
class Wanted:
    """The declared metric names, and where the numbers come from."""

    source: MetricSource
    primary: str
    secondary: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one evaluation in the metrics' units; a declared secondary that was not given is None."""

    value: float
    secondary: Mapping[str, float | None] = field(default_factory=dict)
    tasks: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """One evaluation as it counts: `value` is None exactly when `failure` says why not, `reason` with the offending text."""

    value: float | None
    secondary: Mapping[str, float | None]
    tasks: Mapping[str, float] | None
    failure: FailureKind | None = None
    reason: str = ""


Evaluator = Callable[[Ended, bytes | None, Wanted], Numbers | str]
"""Reads the numbers from a child's output or from the file it wrote (None: no file), or says in a sentence why there are none."""
