import pytest

from runner.core.events import Json
from runner.core.spelling import Path
from runner.core.yaml_lines import DEEPEST, MOST_VALUES, line_of, read


def told(text: str) -> list[str]:
    return [finding.told("e.yaml") for finding in read(text).findings]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-3", 0.001),
        ("1e3", 1000.0),
        ("5E-2", 0.05),
        ("+1.5e+2", 150.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("2_000_000", 2000000),
        ("1_000.5", 1000.5),
        ("0o17", 15),
        ("0x1F", 31),
        ("-3", -3),
        ("0", 0),
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("No", "No"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("190:20:30", "190:20:30"),
        ("2026-01-01", "2026-01-01"),
        ("1%", "1%"),
        ("8h", "8h"),
        ("1,5", "1,5"),
        ("'1e-3'", "1e-3"),
        ('"7"', "7"),
        ("!!str 7", "7"),
        ("=", "="),
        ("~", None),
        ("null", None),
        ("", None),
        ("[1, [a], {b: c}]", [1, ["a"], {"b": "c"}]),
    ],
)
def test_a_scalar_is_what_yaml_1_2_says(written: str, value: Json) -> None:
    document = read(f"k: {written}")
    assert document.findings == ()
    assert document.value == {"k": value}
    assert document.value is not None
    assert type(document.value["k"]) is type(value)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("017", "'017' with a leading zero is read in two ways: write 17, or '017' in quotes for text"),
        ("-00", "'-00' with a leading zero is read in two ways: write 0, or '-00' in quotes for text"),
        (".nan", "expected a finite number such as 0.5 or 1e-3, found '.nan'"),
        ("-.INF", "expected a finite number such as 0.5 or 1e-3, found '-.INF'"),
        ("1e999", "expected a finite number such as 0.5 or 1e-3, found '1e999'"),
        ("1__0", "expected a number such as 900 or 2_000_000, found '1__0'"),
        ("9" * 50, f"expected a number such as 900 or 2_000_000, found '{'9' * 50}'"),
        ("!!int abc", "expected a number such as 900 or 2_000_000, found 'abc'"),
        ("!!bool maybe", "expected true or false, found 'maybe'"),
        (
            "!!python/object:os.system x",
            "the tag !!python/object:os.system means nothing here: take it out, or put the text in quotes",
        ),
        ("!env {a: 1}", "the tag !env means nothing here: take it out"),
        ("!!binary aGk=", "the tag !!binary means nothing here: take it out, or put the text in quotes"),
    ],
)
def test_a_scalar_that_cannot_be_meant_is_named(written: str, sentence: str) -> None:
    assert told(f"a: 1\nk: {written}\n") == [f"e.yaml:2: k: {sentence}"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\n\na: 3\n", "e.yaml:4: a: given twice, on line 1 and line 4: keep one"),
        ("a:\n  b: 1\n  'b': 2\n", "e.yaml:3: a.b: given twice, on line 2 and line 3: keep one"),
        ("l:\n- {x: 1, x: 2}\n", "e.yaml:2: l[0].x: given twice, on line 2 and line 2: keep one"),
        ("a: 1\n---\nb: 2\n", "e.yaml:2: expected one document, found a second one after '---': keep one"),
        ("a:\n\t- 1\n", "e.yaml:2: this line is indented with a tab; YAML allows spaces only"),
        ("\ta: 1\n", "e.yaml:1: this line is indented with a tab; YAML allows spaces only"),
        ("# c\n%YAML 1.1\n---\na: yes\n", "e.yaml:2: the directive %YAML is not understood: take it out (YAML 1.2 is meant)"),
        ("a: 1\nb: \x00\n", "e.yaml:2: the character U+0000 is not allowed in YAML: take it out"),
        ("a: \ud800\n", "e.yaml:1: the character U+D800 is not allowed in YAML: take it out"),
        ("- 1\n", "e.yaml: expected keys and values such as 'version: 1', found a list"),
        ("word\n", "e.yaml: expected keys and values such as 'version: 1', found 'word'"),
        ("", "e.yaml: expected keys and values such as 'version: 1', found nothing"),
        ("# only a comment\n", "e.yaml: expected keys and values such as 'version: 1', found nothing"),
        ("a: *nope\n", "e.yaml:1: not YAML: found undefined alias 'nope'"),
        ("a: 1\nb: c: d\n", "e.yaml:2: not YAML: mapping values are not allowed here"),
        ("a: &x [*x]\n", "e.yaml:1: a[0]: this alias stands inside its own anchor: write the value out"),
        ("? [k]\n: 1\n", "e.yaml:1: expected a word as key, found a list or table"),
        ("b: &b {a: 1}\nc:\n  <<: *b\n", "e.yaml:3: c: the merge key '<<' is not understood: write the keys out"),
        ("a: " + "[" * 100 + "]" * 100, f"e.yaml:1: a{'[0]' * (DEEPEST - 1)}: expected at most {DEEPEST} levels, found more"),
        ("a: " + "[" * 100_000, f"e.yaml: expected at most {DEEPEST} levels, found more"),
        ("a: '" + "x" * (1 << 20) + "'", "e.yaml: expected at most 1 MiB, found 1048581 bytes"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_in_one_sentence(text: str, message: str) -> None:
    assert told(text) == [message]


def test_aliases_are_copies_and_anchors_may_be_used_again() -> None:
    document = read("a: &x 1\nb: &x [2]\nc: *x\n")
    assert (document.value, document.findings) == ({"a": 1, "b": [2], "c": [2]}, ())


def test_aliases_cannot_multiply_without_end() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    (message,) = told(text)
    assert message.endswith(f"expected at most {MOST_VALUES} values, found more (aliases count each time)")


def test_tabs_inside_text_are_text() -> None:
    assert read("a: 'x\ty'\nb: |\n  x\n  \ty\n").value == {"a": "x\ty", "b": "x\n\ty\n"}


def test_a_byte_order_mark_and_crlf_change_nothing() -> None:
    document = read("\ufeffa: 1\r\nb:\r\n- c\r\n")
    assert document.value == {"a": 1, "b": ["c"]}
    assert document.lines == {("a",): 1, ("b",): 2, ("b", 0): 3}


@pytest.mark.parametrize(
    ("path", "line"),
    [(("b",), 2), (("b", 1), 4), (("b", 1, "d"), 5), (("b", 1, "x"), 4), (("b", 7), 2), (("z",), None), ((), None)],
)
def test_a_path_has_its_line_or_that_of_the_nearest_key_around_it(path: Path, line: int | None) -> None:
    assert line_of(read("a: 1\nb:\n- c\n- e: 1\n  d: 2\n").lines, path) == line
