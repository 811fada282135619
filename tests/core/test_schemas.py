import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runner.core.events import Hypothesis, Json
from runner.core.schemas import Fault, Problem, WorkerTurn, faults, judge_verdict, strict_form, worker_turn

SCHEMAS = Path(__file__).parents[2] / "schemas"
WORKER: dict[str, Any] = json.loads((SCHEMAS / "worker_turn.schema.json").read_text())
JUDGE: dict[str, Any] = json.loads((SCHEMAS / "judge_verdict.schema.json").read_text())
VERDICT = {"status": "keep", "acceptance_basis": "metric_improvement", "summary": "s", "conclusion": "c"}


def turn(**said: Json) -> WorkerTurn | Problem:
    return worker_turn(json.dumps({"hypothesis": {"statement": "s"}, **said}), WORKER)


def test_a_statement_alone_is_an_answer() -> None:
    assert turn() == WorkerTurn(Hypothesis("s", ""), None, None, "improvement", None, None, None)


def test_every_key_of_an_answer_is_read() -> None:
    said: dict[str, Json] = {
        "hypothesis": {"statement": " fewer passes ", "reasoning": "profile"},
        "approach": "caching",
        "commit_message": "Cache it\r\n\r\nBecause.",
        "declares": "bug_fix",
        "expected_effect": "-3%",
        "notes": "n",
        "parameters": {"a": 1, "b": "x", "c": True, "d": 0.5},
    }
    assert worker_turn(json.dumps(said), WORKER) == WorkerTurn(
        Hypothesis("fewer passes", "profile"),
        "caching",
        "Cache it\n\nBecause.",
        "bug_fix",
        "-3%",
        "n",
        {"a": 1, "b": "x", "c": True, "d": 0.5},
    )


def test_an_effect_may_be_a_number_and_what_is_null_was_not_said() -> None:
    answer = turn(expected_effect=-0.03, approach=None, declares=None, notes=None, parameters=None, commit_message="  ")
    assert answer == WorkerTurn(Hypothesis("s", ""), None, None, "improvement", "-0.03", None, None)


def test_keys_that_nobody_knows_are_ignored() -> None:
    assert turn(metrics={"speed": 2}, hypotheses=["x"]) == turn()


@pytest.mark.parametrize(
    "text",
    [
        'Here it is:\n```json\n{"hypothesis": {"statement": "s"}}\n```\nDone.',
        '\ufeff{"hypothesis": {"statement": "s"}}\n',
        'ok {"hypothesis": {"statement": "s"}}',
    ],
)
def test_an_answer_is_found_in_the_prose_around_it(text: str) -> None:
    assert worker_turn(text, WORKER) == turn()


def test_text_that_a_commit_could_not_carry_is_replaced() -> None:
    answer = worker_turn('{"hypothesis": {"statement": "a\\u0000b\\ud800\\u001b[31m\\tc\\nd"}}', WORKER)
    assert isinstance(answer, WorkerTurn)
    assert answer.hypothesis.statement == "a\ufffdb\ufffd\ufffd[31m\tc\nd"
    assert answer.hypothesis.statement.encode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the answer is empty"),
        ("I changed the cache.", "the answer is not JSON"),
        ("[1]", "expected a table of keys, found a list"),
        ("{}", "hypothesis: missing. Add it at the top level, e.g. hypothesis: {statement: ...}"),
        ('{"hypothesis": {}}', "hypothesis.statement: missing. Add it under hypothesis, e.g. statement: ..."),
        ('{"hypothesis": "s"}', "hypothesis: expected a table of keys, found 's'"),
        ('{"hypothesis": {"statement": " "}}', "hypothesis.statement: expected a sentence, found ' '"),
        ('{"hypothesis": {"statement": 5}}', "hypothesis.statement: expected text, found 5. Put it in quotes: '5'"),
        (
            '{"hypothesis": {"statement": "s"}, "declares": "bugfix", "approach": "' + "x" * 81 + '"}',
            "approach: expected at most 80 characters, found 81; declares: expected one of improvement, bug_fix, code_quality, "
            "found 'bugfix'. Did you mean 'bug_fix'?",
        ),
        ('{"hypothesis": {"statement": "s"}, "expected_effect": NaN}', "the answer is not JSON"),
        ('{"hypothesis": {"statement": "s"}, "parameters": {"a": 1e999}}', "the answer is not JSON"),
        (
            '{"hypothesis": {"statement": "s"}, "parameters": {"a": [1]}}',
            "parameters.a: expected text or a number or true or false, found a list",
        ),
        ("[" * 100_000, "the answer is not JSON"),
        ("{" + " " * (1 << 20), "the answer has 1048577 characters, at most 1048576 are read"),
    ],
)
def test_a_bad_answer_is_a_problem_in_one_sentence(text: str, reason: str) -> None:
    assert worker_turn(text, WORKER) == Problem(reason)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*WORKER["properties"], "statement"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(JSON | st.text(alphabet='{}[]":, ntruefals0e-\\"', max_size=30))
def test_no_answer_whatever_raises(said: Json) -> None:
    text = said if isinstance(said, str) else json.dumps(said)
    assert isinstance(worker_turn(text, WORKER), (WorkerTurn, Problem))
    assert isinstance(judge_verdict(text, JUDGE), (dict, Problem))


# --- the judge --------------------------------------------------------------------------------------------


def test_a_judges_verdict_is_handed_back() -> None:
    full = {**VERDICT, "primary_metric": 1.5, "secondary_metrics": {"a": None, "b": 2}}
    assert judge_verdict(json.dumps(full), JUDGE) == full
    assert judge_verdict(json.dumps({**VERDICT, "status": "discard", "acceptance_basis": "judge_veto"}), JUDGE) == {
        **VERDICT,
        "status": "discard",
        "acceptance_basis": "judge_veto",
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "keep", "acceptance_basis": "metric_regression"}, "'metric_regression' is no reason for status 'keep'"),
        ({"status": "discard"}, "'metric_improvement' is no reason for status 'discard'"),
        ({"status": "crash", "acceptance_basis": "judge_veto"}, "'judge_veto' is no reason for status 'crash'"),
    ],
)
def test_a_basis_that_does_not_fit_the_status_is_a_problem(changes: dict[str, str], reason: str) -> None:
    assert judge_verdict(json.dumps({**VERDICT, **changes}), JUDGE) == Problem(f"acceptance_basis: {reason}")


def test_a_verdict_without_its_parts_or_with_others_is_a_problem() -> None:
    assert judge_verdict('{"status": "kep", "sumary": "x"}', JUDGE) == Problem(
        "sumary: unknown key. Did you mean summary?; "
        "acceptance_basis: missing. Add it at the top level, e.g. acceptance_basis: metric_improvement; "
        "summary: missing. Add it at the top level, e.g. summary: text; "
        "conclusion: missing. Add it at the top level, e.g. conclusion: text; "
        "status: expected one of keep, discard, crash, found 'kep'. Did you mean 'keep'?"
    )


# --- structured output ------------------------------------------------------------------------------------


def objects(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        return ([node] if "properties" in node else []) + [found for child in node.values() for found in objects(child)]
    return []


@pytest.mark.parametrize("schema", [WORKER, JUDGE])
def test_the_strict_form_closes_every_table_and_requires_every_key(schema: dict[str, Any]) -> None:
    strict = dict(strict_form(schema))
    Draft202012Validator.check_schema(strict)
    for table in objects(strict):
        assert table["required"] == list(table["properties"])
        assert table["additionalProperties"] is False


def test_an_answer_by_the_strict_form_is_valid_by_the_schema_itself() -> None:
    said: Json = {
        "hypothesis": {"statement": "s", "reasoning": None},
        "approach": None,
        "commit_message": None,
        "declares": None,
        "expected_effect": None,
        "notes": None,
    }
    assert faults(said, strict_form(WORKER)) == ()
    assert worker_turn(json.dumps(said), WORKER) == turn()


# --- sentences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "schema", "sentence"),
    [
        (5, {"type": "array"}, "expected a list, found 5"),
        ("x", {"type": "array"}, "expected a list, found 'x'. Put it in brackets: [x]"),
        (None, {"type": "number"}, "expected a number, found nothing. Give it a value, or leave the key out"),
        (True, {"type": "integer"}, "expected a whole number, found true"),
        (1.5, {"type": "integer"}, "expected a whole number, found 1.5"),
        (11, {"maximum": 10}, "expected at most 10, found 11"),
        (0, {"exclusiveMinimum": 0}, "expected a number above 0, found 0"),
        ("a\n", {"pattern": "^a$", "errorMessage": "an a"}, "expected an a, found 'a\\n'"),
        ([1, 2, 1], {"uniqueItems": True}, "expected each entry once, found one twice"),
        ([1, 2, 3], {"maxItems": 2}, "expected a list of at most 2, found 3"),
        (3, {"multipleOf": 2}, "3 is not a multiple of 2"),
    ],
)
def test_a_fault_is_told_as_expected_and_found(value: Json, schema: dict[str, Any], sentence: str) -> None:
    assert faults(value, schema) == (Fault((), sentence),)


def test_one_and_true_are_different_choices() -> None:
    assert faults([1, True, 1.0, "1"], {"uniqueItems": True}) == ()
