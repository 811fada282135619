import pytest

from runner.core.ended import how, last_line, lines, quoted
from tests.evaluators.ends import End, Said


def test_lines_keep_bytes_that_are_no_text_and_lose_only_their_ends() -> None:
    assert lines(Said(b"a\r\nb\xff\n\xc3", b"\xa9\n")) == ["a", "b\\xff", "é", ""]


def test_a_gap_joins_no_halves_and_a_cut_character_does_no_harm() -> None:
    assert lines(Said(b"METRIC t=1\xc3", b"\xa92\nx", 900)) == ["METRIC t=1\\xc3", "\\xa92", "x"]


def test_the_last_line_is_the_last_that_says_something() -> None:
    assert last_line(Said(b"one\ntwo \r\n\n  \n")) == "two"
    assert last_line(Said()) == ""


def test_foreign_text_is_quoted_short_and_harmless() -> None:
    assert quoted("a\x1b[1m\r\nµ") == '"a\\x1b[1m\\r\\nµ"'
    assert quoted("x" * 300, 10) == '"xxxxxxx..."'


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (End(0), "ended with exit code 0"),
        (End(None, signal=15, timed_out=True, wall_s=12.4), "timed out after 12 s"),
        (End(None, signal=15, cancelled=True), "was cancelled"),
        (End(None, signal=6), "was ended by signal 6"),
        (End(None, signal=9), "was ended by signal 9 (killed, perhaps for want of memory)"),
        (End(None, not_started="no such file"), "could not be started: no such file"),
    ],
)
def test_an_end_is_told_by_its_cause(end: End, told: str) -> None:
    assert how(end) == told
