"""The nouns that every room shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NewType

Oid = NewType("Oid", str)
"""A git object name in hex, 40 (SHA-1) or 64 (SHA-256) characters."""
Seconds = NewType("Seconds", float)
TurnNo = NewType("TurnNo", int)

Side = Literal["incumbent", "candidate"]
Direction = Literal["lower", "higher"]
Scale = Literal["ratio", "difference"]
Declares = Literal["improvement", "bug_fix", "code_quality"]


class Status(StrEnum):
    """A turn's fate; only KEEP moves the branch."""

    KEEP = "keep"
    DISCARD = "discard"
    CRASH = "crash"
    REJECTED = "rejected"
    VETOED = "vetoed"
    NO_CHANGE = "no_change"
    DUPLICATE = "duplicate"
    HELD = "held"
    AGENT_ERROR = "agent_error"
    INTERRUPTED = "interrupted"

    @property
    def is_verdict(self) -> bool:
        """Whether it counts against `--max-turns` and `budget.turns`."""
        return self not in (Status.AGENT_ERROR, Status.INTERRUPTED)


class Basis(StrEnum):
    """Why a turn ended as it did."""

    METRIC_IMPROVEMENT = "metric_improvement"
    NON_REGRESSION_BUG_FIX = "non_regression_bug_fix"
    NON_REGRESSION_CODE_QUALITY = "non_regression_code_quality"
    NOT_GOOD_ENOUGH = "not_good_enough"
    METRIC_REGRESSION = "metric_regression"
    EVALUATION_TIMEOUT = "evaluation_timeout"
    EVALUATION_FAILED = "evaluation_failed"
    INVALID_OR_MISSING_EVIDENCE = "invalid_or_missing_evidence"
    SURFACE_VIOLATION = "surface_violation"
    SCREEN_FAILED = "screen_failed"
    GUARD_FAILED = "guard_failed"
    GUARDRAIL_REGRESSION = "guardrail_regression"
    JUDGE_VETO = "judge_veto"
    IMPLAUSIBLE_GAIN = "implausible_gain"
    NO_CHANGE = "no_change"
    DUPLICATE_CANDIDATE = "duplicate_candidate"


class Outcome(StrEnum):
    """How a worker's run ended, whatever its exit code says."""

    OK = "ok"
    NO_CHANGE = "no_change"
    BAD_ANSWER = "bad_answer"
    API_ERROR = "api_error"
    RATE_LIMITED = "rate_limited"
    AUTH = "auth"
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    CRASHED = "crashed"
    NOT_STARTED = "not_started"


FailureKind = Literal["timeout", "exit_code", "invalid", "not_started"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One evaluation's numbers; `value` is None exactly when `ok` is false.

    `value` in the metric's unit, `cpu_s` and `wall_s` in seconds (`cpu_s` None where it cannot be measured),
    `secondary` by metric name, `tasks` by task name, `reason` says what was wrong (with the offending text), `failure` its kind.
    """

    side: Side
    value: float | None
    secondary: Mapping[str, float | None]
    tasks: Mapping[str, float] | None
    seed: int
    cpu_s: float | None
    wall_s: float
    ok: bool
    failure: FailureKind | None = None
    reason: str = ""
