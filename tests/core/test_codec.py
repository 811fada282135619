import dataclasses
import json

import pytest

from runner.core import codec, events
from runner.core.errors import JournalError
from runner.core.events import Change, Check, Gated, Measured, Proposed, Started
from runner.core.models import Basis, Oid, Reading, Status

READING = Reading("candidate", 1.5, {"seconds": None}, {"t1": 1.0}, 7, None, 0.25, True)


@pytest.mark.parametrize(
    "fact",
    [
        Measured(2, "candidate", (READING, dataclasses.replace(READING, value=None, ok=False, failure="timeout"))),
        Gated((Check("scope", "scope", False, "eval.sh is outside the surface", 0.1),), Status.REJECTED, Basis.SURFACE_VIOLATION),
        Started("box", "boot", 7, 1.5, {"level": 3, "not_held": ["the network"], "open": {"tcp": True}, "gone": None}, None, 2.0),
        Proposed(Oid("a" * 40), Oid("b" * 40), None, None, None, "m", (Change("M", "a", None, "100644", "100755", 3),), 0),
    ],
)
def test_a_fact_survives_the_way_through_strict_json(fact: events.Fact) -> None:
    line = json.loads(json.dumps(codec.encode(fact), allow_nan=False))
    assert codec.decode(type(fact).__name__, line) == fact


def test_nan_is_refused_at_the_pen() -> None:
    with pytest.raises(ValueError, match="no place in strict JSON"):
        codec.encode(
            dataclasses.replace(Measured(1, "candidate", ()), readings=(dataclasses.replace(READING, value=float("nan")),))
        )


def test_a_kind_of_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(JournalError, match="unknown kind of fact 'Teleported'"):
        codec.decode("Teleported", {})


@pytest.mark.parametrize(
    "line", [{"pair": True, "first": "candidate", "readings": []}, {"pair": 1}, {"pair": 1, "first": "x", "readings": []}]
)
def test_a_field_of_the_wrong_type_is_refused(line: dict[str, events.Json]) -> None:
    with pytest.raises(JournalError):
        codec.decode("Measured", line)
