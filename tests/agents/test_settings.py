import json

import pytest

from runner.agents import settings
from runner.core.errors import ContractError
from runner.core.events import Json

FILE = """\
# solver settings, tuned by hand in May
cfr:                    # the inner loop
    "alpha":  1.5       # discount; was 1.0
    beta: 0.0
averaging: {delay: 10, 'mode': "linear"}   # flow style
layers:
-   size: 64
-   size: 128

update: alternating\t# tab before this
deep.dotted.key: 7
empty:
none: null
note: 'it''s µ'
"""


def changed(changes: dict[str, Json], text: str = FILE, name: str = "settings.yaml") -> str:
    return settings.rewrite(name, text.encode(), changes).decode()


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("cfr.alpha", 2.25, "1.5       #", "2.25       #"),
        ("cfr.beta", 1e-05, "beta: 0.0", "beta: 1.0e-05"),
        ("averaging.delay", 25, "delay: 10", "delay: 25"),
        ("averaging.mode", "quadratic", '"linear"', '"quadratic"'),
        ("layers.1.size", 256, "size: 128", "size: 256"),
        ("update", "simultaneous", "update: alternating\t", "update: simultaneous\t"),
        ("update", "yes", "update: alternating\t", 'update: "yes"\t'),
        ("deep.dotted.key", 8, "key: 7", "key: 8"),
        ("none", True, "none: null", "none: true"),
        ("note", "don't", "'it''s µ'", "'don''t'"),
    ],
)
def test_only_the_value_changes_and_every_other_byte_stays(key: str, value: Json, before: str, after: str) -> None:
    assert FILE.count(before) == 1
    assert changed({key: value}) == FILE.replace(before, after)


def test_several_values_change_at_once() -> None:
    text = changed({"update": "simultaneous", "cfr.alpha": 3.0, "averaging.delay": 0})
    assert text == FILE.replace("alternating", "simultaneous").replace("1.5", "3.0").replace("delay: 10", "delay: 0")


def test_line_ends_of_windows_and_a_byte_order_mark_stay() -> None:
    text = "\ufeff" + FILE.replace("\n", "\r\n")
    assert changed({"cfr.alpha": 2.0}, text) == text.replace("1.5", "2.0")


def test_json_is_edited_in_place_with_its_tabs_and_order() -> None:
    text = '{\n\t"b": {"rate":1e-3, "on" : true},\n\t"a": "x\\u00e9"\r\n}'
    new = changed({"b.rate": 1e-05, "b.on": False, "a": "yes"}, text, "s.json")
    assert new == '{\n\t"b": {"rate":1.0e-05, "on" : false},\n\t"a": "yes"\r\n}'
    assert json.loads(new) == {"b": {"rate": 1e-05, "on": False}, "a": "yes"}


def test_values_are_read_with_their_plain_types() -> None:
    keys = ["cfr.alpha", "averaging.delay", "update", "none", "note"]
    assert settings.values("s.yml", FILE.encode(), keys) == dict(zip(keys, [1.5, 10, "alternating", None, "it's µ"], strict=True))


@pytest.mark.parametrize(
    ("name", "text", "key", "message"),
    [
        ("s.yaml", FILE, "cfr.alhpa", "s.yaml: there is no cfr.alhpa\n  the nearest is cfr.alpha"),
        ("s.yaml", FILE, "cfr", "s.yaml: cfr is not a single value\n  a parameter has to name a number, a word or true/false"),
        ("s.yaml", FILE, "empty", "s.yaml: empty has no value\n  write one there (null where none is meant)"),
        ("s.yaml", "a: &x 1\nb: *x\n", "b", "s.yaml: b carries the anchor &x\n  write the value out where it is tuned"),
        ("s.yaml", "a: &x [*x, *x]\nbee: 1\n", "be", "s.yaml: there is no be\n  the nearest is bee"),
        ("s.yaml", "a: 1\na: 2\n", "a", "s.yaml: a stands there 2 times\n  remove all but one"),
        ("s.yaml", "", "a", "s.yaml: the settings file is empty\n  write the starting settings into it"),
        (
            "s.toml",
            "a = 1",
            "a",
            "s.toml: the tuner edits YAML and JSON settings only\n  use a .yaml, .yml or .json settings file",
        ),
    ],
)
def test_what_cannot_be_edited_is_refused_by_file_and_key(name: str, text: str, key: str, message: str) -> None:
    with pytest.raises(ContractError) as stop:
        settings.rewrite(name, text.encode(), {key: 2})
    assert str(stop.value) == message


@pytest.mark.parametrize(("file", "what"), [(b"a: 1\n---\nb: 2\n", "expected a single document"), (b"a: [1\n", "flow sequence")])
def test_a_broken_document_is_refused_with_the_parsers_words(file: bytes, what: str) -> None:
    with pytest.raises(ContractError, match=what):
        settings.values("s.yaml", file, ["a"])


def test_bytes_that_are_not_utf_8_are_refused_with_their_place() -> None:
    with pytest.raises(ContractError, match=r"s.yaml: byte 4 is not UTF-8"):
        settings.values("s.yaml", b"a: \xff\n", ["a"])
