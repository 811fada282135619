"""JSON Schema validation, told as plain sentences with the path of each fault."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.core.events import Hypothesis, Json
from runner.core.models import Declares

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong at `path` (keys and indexes from the top), as a sentence; `unknown` and `missing` name the key."""

    path: Path
    sentence: str
    unknown: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerTurn:
    """What a worker said of its change; None where it said nothing. None of its numbers is believed."""

    hypothesis: Hypothesis
    approach: str | None
    commit_message: str | None
    declares: Declares
    expected_effect: str | None
    notes: str | None
    parameters: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an agent's answer cannot be used, in one sentence."""

    reason: str


def faults(value: object, schema: Schema) -> tuple[Fault, ...]:
    """Everything in which the plain value departs from the schema, in the order of the value."""
    raise NotImplementedError


def worker_turn(text: str, schema: Schema) -> WorkerTurn | Problem:
    """The worker's answer from the text of worker_turn.json (or its final answer); never raises."""
    raise NotImplementedError


def judge_verdict(text: str, schema: Schema) -> Mapping[str, Json] | Problem:
    """The judge's answer, valid by judge_verdict.schema.json; never raises."""
    raise NotImplementedError
