import json

from hypothesis import given
from hypothesis import strategies as st

from runner.core.text import cut, escaped_json, shown, whole

ANY_TEXT = st.text(st.characters(), max_size=40)  # half surrogates and controls included


def test_what_a_terminal_obeys_is_spelled_out_and_lines_become_one() -> None:
    assert shown("a\tb\r\n  c\x1b[31m\x9bd\u202ee\x07") == "a b c\\x1b[31m\\x9bd\\u202ee\\x07"
    assert shown("see [/usr/bin/x] and [bold]no[/bold] — naïve") == "see [/usr/bin/x] and [bold]no[/bold] — naïve"


def test_long_text_is_cut_with_an_ellipsis() -> None:
    assert (cut("abcdef", 6), cut("abcdef", 5), cut("abcdef", 1), cut("", 1)) == ("abcdef", "abcd…", "…", "")


@given(ANY_TEXT)
def test_shown_text_is_valid_and_holds_no_control_and_stays_as_it_is(text: str) -> None:
    told = shown(text)
    told.encode()
    assert all(ord(c) >= 32 and not 127 <= ord(c) < 160 for c in told)
    assert shown(told) == told


@given(ANY_TEXT)
def test_escaped_json_says_the_same_and_nothing_a_terminal_obeys(text: str) -> None:
    escaped = escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(escaped) == whole(text)
    assert all(ord(c) >= 32 and not 127 <= ord(c) < 160 for c in escaped)
