import json
from pathlib import Path
from typing import Any

import pytest

from runner.agents import answer
from runner.agents.plug import Launch, Returned
from runner.core.events import Change, Hypothesis, Json, Usage
from runner.core.models import Outcome
from runner.core.schemas import WorkerTurn
from tests.evaluators.ends import End, Said

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[2] / "schemas" / "worker_turn.schema.json").read_text())
EDIT = (Change("M", "src/a.py", None, "100644", "100644", 30),)
SAID: dict[str, Json] = {"hypothesis": {"statement": "Caching helps", "reasoning": "hot loop"}, "approach": "caching"}


def back(ended: End, changes: tuple[Change, ...] = EDIT, said: bytes | None = None, launch: Launch | None = None) -> Returned:
    return Returned(launch or Launch(("agent",)), ended, said, changes, (3, 1) if changes else None, SCHEMA)


def test_a_good_run_is_taken_with_its_own_words() -> None:
    said = json.dumps(SAID | {"commit_message": "Cache the table\n\nIt is hot.", "declares": "bug_fix"}).encode()
    got = answer.read(back(End(), said=said))
    assert (got.outcome, got.reason, got.message) == (Outcome.OK, "", "Cache the table\n\nIt is hot.")
    assert got.turn is not None
    assert (got.turn.hypothesis, got.turn.approach, got.turn.declares) == (
        Hypothesis("Caching helps", "hot loop"),
        "caching",
        "bug_fix",
    )
    assert got.proposes


@pytest.mark.parametrize(
    ("ended", "changes", "outcome", "reason"),
    [
        (End(), EDIT, Outcome.OK, ""),
        (End(), (), Outcome.NO_CHANGE, "the agent changed nothing"),
        (
            End(3),
            EDIT,
            Outcome.OK,
            "the agent ended with exit code 3, but it left a change: that is measured all the same",
        ),
        (
            End(3, stderr=Said(b"Traceback\n\nKeyError: \xff\n")),
            (),
            Outcome.CRASHED,
            'the agent ended with exit code 3; its last words: "Traceback | KeyError: \\xff"',
        ),
        (
            End(None, signal=11),
            (),
            Outcome.CRASHED,
            "the agent was ended by signal 11",
        ),
        (
            End(None, signal=15, timed_out=True, wall_s=900),
            EDIT,
            Outcome.TIMEOUT,
            "the agent timed out after 900 s; what it changed (src/a.py) is not used",
        ),
        (End(None, signal=15, cancelled=True, stdout=Said(b"x")), EDIT, Outcome.CANCELLED, None),
        (End(None, not_started="no such file"), (), Outcome.NOT_STARTED, "the agent could not be started: no such file"),
    ],
)
def test_the_outcome_follows_from_the_end_and_the_change(
    ended: End, changes: tuple[Change, ...], outcome: Outcome, reason: str | None
) -> None:
    got = answer.read(back(ended, changes))
    assert got.outcome is outcome
    assert got.reason == reason or reason is None
    assert got.proposes == (outcome in (Outcome.OK, Outcome.NO_CHANGE))


@pytest.mark.parametrize(
    "stdout",
    [
        b'{"subtype":"success","is_error":true,"result":"API Error: Rate limit reached"}\n',
        b"Hello\nYou are not logged in. Please run /login\n",
        b"error: usage limit reached, try again at 5 pm\n\n",
    ],
)
def test_exit_code_0_with_an_api_error_for_a_last_word_is_no_mere_no_change(stdout: bytes) -> None:
    got = answer.read(back(End(stdout=Said(stdout)), ()))
    assert got.outcome is Outcome.API_ERROR
    assert not got.proposes
    assert got.reason.startswith('the agent ended with exit code 0, changed nothing and said "')
    assert answer.read(back(End(stdout=Said(stdout)))).outcome is Outcome.OK


def test_an_api_error_long_before_the_end_is_history() -> None:
    stdout = b"rate limit reached, waiting\n" + b"working\n" * 5
    assert answer.read(back(End(stdout=Said(stdout)), ())).outcome is Outcome.NO_CHANGE


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "the answer is empty"),
        (b"{not json", "the answer is not JSON"),
        (b'{"hypothesis": 7}', "hypothesis: expected a table of keys, found 7"),
        (b'{"hypothesis": {"statement": "\xff"}}', "byte 31 is not UTF-8"),
        (b"[" * 200_000, "the answer is not JSON"),
        (b" " * (5 << 20), "it has 5242880 bytes"),
    ],
)
def test_an_invalid_answer_never_loses_the_tree(said: bytes, why: str) -> None:
    got = answer.read(back(End(), said=said))
    assert (got.outcome, got.turn, got.message) == (Outcome.BAD_ANSWER, None, "Change src/a.py (+3 -1)")
    assert got.reason == f"worker_turn.json is not used: {why}"
    assert got.proposes


def test_an_invalid_answer_without_a_change_is_still_no_change() -> None:
    assert answer.read(back(End(), (), b"junk")).outcome is Outcome.NO_CHANGE


def test_what_is_known_beforehand_serves_where_the_agent_wrote_nothing() -> None:
    known = WorkerTurn(Hypothesis("From the patch", ""), "simd", "Use SIMD", "improvement", None, None, None)
    launch = Launch(("git",), answer=known, usage=Usage(0, 0.0))
    got = answer.read(back(End(), launch=launch))
    assert (got.turn, got.message, got.usage) == (known, "Use SIMD", Usage(0, 0.0))
    assert answer.read(back(End())).usage == Usage(None, None)


@pytest.mark.parametrize(
    "stdout",
    [json.dumps(SAID), "thinking {about} it\n" + json.dumps(SAID) + "\n\n", "Done:\n" + json.dumps(SAID, indent=2) + "\n"],
)
def test_a_final_answer_on_standard_output_serves_where_no_file_was_written(stdout: str) -> None:
    got = answer.read(back(End(stdout=Said(stdout.encode()))))
    assert got.turn is not None
    assert (got.outcome, got.turn.approach) == (Outcome.OK, "caching")


def test_talk_on_standard_output_is_no_bad_answer() -> None:
    got = answer.read(back(End(stdout=Said(b'I wrote {"hypothesis": 7} somewhere\n'))))
    assert (got.outcome, got.reason, got.turn) == (Outcome.OK, "", None)


def test_a_hypothesis_stands_in_for_a_missing_commit_message() -> None:
    assert answer.read(back(End(), said=json.dumps(SAID).encode())).message == "Caching helps"


@pytest.mark.parametrize(
    ("changes", "counted", "message"),
    [
        (EDIT, None, "Change src/a.py"),
        ((Change("A", "b", None, None, "100644", 3),), (9, 0), "Add b (+9 -0)"),
        (
            (Change("D", "b", None, "100644", None, None), Change("A", "c", None, None, "100644", 3)),
            (1, 2),
            "Change b, c (+1 -2)",
        ),
        ((Change("R", "new", "old", "100644", "100644", 3),), (0, 0), "Rename old to new (+0 -0)"),
        (
            tuple(Change("M", f"src/module_{i}.py", None, "100644", "100644", 1) for i in range(9)),
            (9, 9),
            "Change 9 files (+9 -9)",
        ),
        ((Change("M", "a\nb", None, "100644", "100644", 1),), None, "Change a?b"),
        ((), None, "Change nothing"),
    ],
)
def test_a_message_is_made_from_the_diff(changes: tuple[Change, ...], counted: tuple[int, int] | None, message: str) -> None:
    assert answer.message_of(changes, counted) == message
