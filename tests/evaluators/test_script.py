import json

import pytest

from runner.core.contract import CallableMetric, ScriptMetric
from runner.evaluators import observe
from runner.evaluators.plug import Observed, Wanted
from tests.evaluators.ends import End, printed

T = Wanted(ScriptMetric(), "t", ("seconds",))
OK = End()


def reason(output: bytes | None) -> str:
    seen = observe(T, OK, output)
    assert (seen.value, seen.secondary, seen.tasks, seen.failure) == (None, {"seconds": None}, None, "invalid")
    return seen.reason


@pytest.mark.parametrize(
    ("document", "seen"),
    [
        ('{"primaryMetric": {"name": "t", "value": 1.5}}', Observed(1.5, {"seconds": None}, None)),
        ('{"primaryMetric": 2}', Observed(2, {"seconds": None}, None)),
        (
            '{"primaryMetric": -1e-3, "secondaryMetrics": {"seconds": 3, "other": true}, "tasks": {"a": 1, "b": 2.5}}',
            Observed(-0.001, {"seconds": 3}, {"a": 1, "b": 2.5}),
        ),
        ('{"primaryMetric": 0, "secondaryMetrics": {"seconds": null}, "host": ["x"]}', Observed(0, {"seconds": None}, None)),
    ],
)
def test_the_declared_numbers_are_read(document: str, seen: Observed) -> None:
    assert observe(T, OK, document.encode()) == seen
    assert observe(Wanted(CallableMetric("m", "f"), "t", ("seconds",)), OK, document.encode()) == seen


EXPECTED = 'expected {"primaryMetric": {"name": ..., "value": ...}, "secondaryMetrics": {...}}'


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ('{"primaryMetric": NaN}', "NaN is not a number in strict JSON"),
        ('{"primaryMetric": 1, "secondaryMetrics": {"x": -Infinity}}', "-Infinity is not a number in strict JSON"),
        ('{"primaryMetric": 1e999}', '"1e999" is beyond every finite number'),
        ('{"primaryMetric": true}', "primaryMetric has to be a number, found true"),
        ('{"primaryMetric": "0.5"}', 'primaryMetric has to be a number, found "0.5"'),
        ('{"primaryMetric": null}', "primaryMetric has to be a number, found null"),
        ('{"primaryMetric": [1]}', "primaryMetric has to be a number, found [1]"),
        ('{"primaryMetric": {"name": "t", "value": {"v": 1}}}', 'primaryMetric.value has to be a number, found {"v": 1}'),
        ('{"primaryMetric": {"name": "T", "value": 1}}', 'primaryMetric is named "T", the contract names "t"'),
        ('{"primaryMetric": {"value": 1}}', 'primaryMetric has to have a name and a value, found {"value": 1}'),
        ('{"primaryMetric": 1, "primaryMetric": 2}', 'the key "primaryMetric" stands there twice'),
        ('{"error": 0.0, "timeout": true}', EXPECTED + ', found the keys "error", "timeout"'),
        ("[1]", EXPECTED + ", found [1]"),
        ("0.5", EXPECTED + ", found 0.5"),
        ('{"primarymetric": 1}', 'unknown key "primarymetric": did you mean primaryMetric?'),
        (
            '{"primaryMetric": 1, "secondaryMetric": {"seconds": 1}}',
            'unknown key "secondaryMetric": did you mean secondaryMetrics?',
        ),
        ('{"primaryMetric": 1, "secondaryMetrics": {"seconds": "2"}}', 'secondaryMetrics.seconds has to be a number, found "2"'),
        ('{"primaryMetric": 1, "secondaryMetrics": [1]}', "secondaryMetrics has to be an object of name and number, found [1]"),
        ('{"primaryMetric": 1, "tasks": {"a": null}}', "tasks.a has to be a number, found null"),
        ('{"primaryMetric": 1, "tasks": {"\\ud800": 1}}', "the key '\\ud800' is no valid Unicode"),
        ("", "the output is not JSON at line 1: Expecting value, near an empty file"),
        ('{"primaryMetric": 1}\nMETRIC', 'the output is not JSON at line 2: Extra data, near ""primaryMetric": 1}\\nMETRIC"'),
        ("{'primaryMetric': 1}", None),
        ("[" * 100_000, "the output is nested too deeply"),
    ],
)
def test_everything_else_is_invalid_with_the_offending_text(document: str, why: str | None) -> None:
    said = reason(document.encode())
    assert said == why if why is not None else "{'primaryMetric': 1}" in said


def test_a_number_too_large_for_a_float_or_for_python_is_invalid() -> None:
    assert reason(b'{"primaryMetric": 1' + b"0" * 400 + b"}").startswith("primaryMetric is beyond every finite number")
    assert reason(b'{"primaryMetric": 1' + b"0" * 5000 + b"}").startswith("the output holds no usable number")


def test_bytes_that_are_no_text_and_files_without_end_are_invalid() -> None:
    assert reason(b'{"primaryMetric": \xff}') == "the output is not UTF-8: byte 19 is b'\\xff'"
    assert reason(b" " * (1 << 20) + b"1") == "the output has 1048577 bytes, at most 1048576 are read"


def test_the_offending_text_is_cut_short() -> None:
    assert len(reason(json.dumps({"primaryMetric": "x" * 5000}).encode())) < 250


def test_a_missing_file_is_told_with_the_command_s_last_word() -> None:
    assert reason(None) == "nothing was written to the output path"
    seen = observe(T, printed("", 0, b"warming up\ncannot open data.csv\n\n"), None)
    assert seen.reason == 'nothing was written to the output path; standard error ends with "cannot open data.csv"'


def test_a_file_beside_a_failing_exit_code_is_quoted_and_never_used() -> None:
    seen = observe(T, printed("", 1), b'{"primaryMetric": 0.1}')
    assert seen == Observed(None, {"seconds": None}, None, "exit_code", "0.1 was printed, but the exit code was 1")
