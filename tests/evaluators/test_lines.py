import pytest

from runner.core.contract import LinesMetric
from runner.evaluators import observe
from runner.evaluators.plug import Observed, Wanted
from tests.evaluators.ends import End, Said, printed

T = Wanted(LinesMetric(), "t")


def invalid(reason: str) -> Observed:
    return Observed(None, {}, None, "invalid", reason)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("-0.5", -0.5), ("+2.", 2), (".5", 0.5), ("1e-3", 0.001), ("1\r", 1), (" 3.5 \t", 3.5), ("6.02E23", 6.02e23)],
)
def test_a_plain_number_is_read_whatever_its_line_end(text: str, value: float) -> None:
    assert observe(T, printed(f"noise\nMETRIC t={text}\nmore\n"), None) == Observed(value, {}, None)


@pytest.mark.parametrize(
    "text",
    [
        "12.5ms",
        "12.5 ms",
        "1,234.5",
        "0,95",
        "nan",
        "inf",
        "-inf",
        "NaN",
        "",
        "True",
        "1_000",
        "0x10",
        "١٢",
        "1e999",
        "--1",
        "1 2",
    ],
)
def test_anything_else_is_invalid_with_the_offending_text(text: str) -> None:
    assert observe(T, printed(f"METRIC t={text}\n"), None) == invalid(f'METRIC t="{text}" is not a plain finite number')


def test_a_metric_printed_twice_has_to_say_the_same() -> None:
    assert observe(T, printed("METRIC t=1\nMETRIC t=1.0\n"), None).value == 1
    assert observe(T, printed("METRIC t=1\nMETRIC t=2\n"), None) == invalid("METRIC t was printed with different values: 1, 2")


@pytest.mark.parametrize(
    ("name", "output", "reason"),
    [
        ("combined_µs", "METRIC combined_us=3818\n", "no METRIC combined_µs; found combined_us"),
        (
            "combined_\u00b5s",
            "METRIC combined_\u03bcs=3818\n",
            "no METRIC combined_\u00b5s; found combined_\u03bcs "
            "(\u00b5 is U+00B5 in the contract, \u03bc is U+03BC in the output)",
        ),
        ("t", "all done\n", "no METRIC t; found no METRIC line"),
        ("t", "  METRIC t=1\nmetric t=2\nMETRICt=3\n", "no METRIC t; found no METRIC line"),
        ("t", "METRIC ok=True\nMETRIC bad\x1b[1m=2\n", "no METRIC t; found ok, bad\\x1b[1m"),
    ],
)
def test_a_name_that_is_not_there_is_named_with_what_was_found(name: str, output: str, reason: str) -> None:
    assert observe(Wanted(LinesMetric(), name), printed(output), None) == invalid(reason)


def test_secondary_metrics_are_read_and_unknown_where_absent() -> None:
    wanted = Wanted(LinesMetric(), "t", ("seconds", "size"))
    seen = observe(wanted, printed("METRIC t=1\nMETRIC seconds=2.5\nMETRIC other=junk\n"), None)
    assert seen == Observed(1, {"seconds": 2.5, "size": None}, None)
    bad = observe(wanted, printed("METRIC t=1\nMETRIC size=big\n"), None)
    assert (bad.value, bad.failure, bad.reason) == (None, "invalid", 'METRIC size="big" is not a plain finite number')


def test_bytes_that_are_no_text_do_not_hide_a_metric() -> None:
    assert observe(T, printed(b"\xff\xf0\n\x00\nMETRIC t=1\n\xce"), None).value == 1


def test_a_gap_in_the_kept_output_is_told_and_never_joins_two_halves() -> None:
    gap = End(stdout=Said(b"x" * 10 + b"\nMETRIC t=1", b"2.5\nend\n", 4096))
    assert observe(T, gap, None).value == 1
    lost = End(stdout=Said(b"start\n", b"end\n", 4096))
    assert observe(T, lost, None) == invalid("no METRIC t; found no METRIC line; 4096 bytes of the output were not kept")


@pytest.mark.parametrize(
    ("end", "failure", "reason"),
    [
        (printed("METRIC t=0.1\n", 1), "exit_code", "0.1 was printed, but the exit code was 1"),
        (
            printed("METRIC t=x\n", 3, b"Traceback\nValueError: b\xff\n"),
            "exit_code",
            'the exit code was 3; standard error ends with "ValueError: b\\xff"',
        ),
        (
            End(None, signal=15, timed_out=True, wall_s=180.2, stdout=Said(b"METRIC t=0.5\n")),
            "timeout",
            "0.5 was printed, but the evaluation timed out after 180 s",
        ),
        (
            End(None, signal=9),
            "exit_code",
            "the evaluation was ended by signal 9 (killed, perhaps for want of memory)",
        ),
        (End(None, not_started="no such file"), "not_started", "the evaluation could not be started: no such file"),
        (
            printed("", 127, b"evaluate.sh: 2: \r: not found\n"),
            "exit_code",
            'the exit code was 127; standard error ends with "evaluate.sh: 2: \\r: not found"'
            " (a script with CRLF line ends? save it with LF)",
        ),
    ],
)
def test_a_number_before_a_failure_is_quoted_and_never_used(end: End, failure: str, reason: str) -> None:
    assert observe(T, end, None) == Observed(None, {}, None, failure, reason)  # type: ignore[arg-type]
