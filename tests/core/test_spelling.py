import pytest

from runner.core.events import Json
from runner.core.spelling import Finding, distance, dotted, meant, nearest, plain, shown


def test_a_path_is_told_with_dots_and_indexes_on_one_line() -> None:
    assert dotted(("guards", 0, "run")) == "guards[0].run"
    assert dotted(("a\nb", "\x1b[31m")) == "a\\nb.\\x1b[31m"
    assert len(dotted(("x" * 10_000,))) == 200


def test_a_finding_is_one_line_with_file_line_and_path() -> None:
    assert Finding(12, ("a", "b"), "is odd").told("e.yaml") == "e.yaml:12: a.b: is odd"
    assert Finding(None, ("a",), "missing").told("e.yaml") == "e.yaml: a: missing"
    assert Finding(3, (), "is odd").told("e.yaml") == "e.yaml:3: is odd"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (0.5, "0.5"),
        ("", "empty text"),
        ("a\nb", "'a\\nb'"),
        ([], "a list"),
        ({}, "a table of keys"),
    ],
)
def test_a_found_value_is_named(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_long_text_is_cut() -> None:
    assert shown("x" * 100) == f"'{'x' * 57}...'"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (["python", "-m", 3], "[python, -m, 3]"),
        ({"a": True, "b": None}, "{a: true, b: null}"),
        ("a: b", '"a: b"'),
        ("./x", "./x"),
        ("", '""'),
    ],
)
def test_an_example_is_written_as_in_the_file(value: Json, text: str) -> None:
    assert plain(value) == text


def test_a_swap_is_one_edit() -> None:
    assert (distance("nmae", "name"), distance("a", "a"), distance("direcion", "direction")) == (1, 0, 1)
    assert distance("evaluate_timout", "evaluation_timeout_seconds") == 3


def test_the_nearest_word_is_found_only_near() -> None:
    assert nearest("budgt", ["build", "budget"]) == "budget"
    assert nearest("frobnicate", ["build", "budget"]) is None
    assert nearest("x", []) is None


@pytest.mark.parametrize(
    ("found", "allowed", "expected"),
    [
        ("maximise", ["lower", "higher"], "higher"),
        ("off", ["auto", False], False),
        ("of", ["auto", False], None),
        (3, ["3"], None),
        ("Lower", ["lower", "higher"], "lower"),
        ("max", ["auto"], None),
    ],
)
def test_other_tools_words_are_understood_in_messages(found: object, allowed: list[Json], expected: Json) -> None:
    assert meant(found, allowed) == expected
