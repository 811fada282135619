import pytest

from runner.core.contract import Amount
from runner.core.quantities import amount, seconds, size


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (900, 900),
        (0.5, 0.5),
        ("8h", 28800),
        ("90m", 5400),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d", 172800),
        ("1.5 h", 5400),
        ("1d2h3m4s", 93784),
        (" 45s ", 45),
    ],
)
def test_a_duration_is_read_in_seconds(written: object, meant: float) -> None:
    assert seconds(written) == meant


@pytest.mark.parametrize(
    "written", ["", " ", "8", "8 hours", "h", "30m1h", "-1h", "1e3s", "8H", "١h", "inf", None, True, [8], "1h30"]
)
def test_another_duration_is_refused_with_the_spellings(written: object) -> None:
    with pytest.raises(ValueError, match=r"^expected a duration such as 900 \(seconds\), 90m, 8h or 1h30m, found "):
        seconds(written)


@pytest.mark.parametrize("written", [0, -1, "0s", 1e9, "400d"])
def test_a_duration_of_nothing_or_of_years_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match=r"above zero and at most a year, found "):
        seconds(written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("4GiB", 4 << 30),
        ("512MB", 512000000),
        ("1.5KiB", 1536),
        ("1kB", 1000),
        ("1KB", 1000),
        ("7 B", 7),
        (1000000.0, 1000000),
        (9, 9),
        ("1TiB", 1 << 40),
    ],
)
def test_a_size_is_read_in_bytes(written: object, meant: int) -> None:
    assert size(written) == meant


@pytest.mark.parametrize("written", ["4G", "4gib", "", "GiB", "-1GiB", 0, 1.5, "0.5B", "9999999999TiB", None, False, "4"])
def test_another_size_is_refused_with_the_spellings(written: object) -> None:
    with pytest.raises(ValueError, match=r"^expected a size such as 512MB, 4GiB or a number of bytes"):
        size(written)


@pytest.mark.parametrize(
    ("written", "meant", "shown"),
    [
        ("1%", Amount(0.01, True), "1%"),
        ("0.5 %", Amount(0.005, True), "0.5%"),
        ("1e-1%", Amount(0.001, True), "0.1%"),
        (0.05, Amount(0.05), "0.05"),
        (2, Amount(2.0), "2"),
        (0, Amount(0.0), "0"),
    ],
)
def test_an_amount_is_per_cent_or_a_plain_number(written: object, meant: Amount, shown: str) -> None:
    assert amount(written) == meant
    assert str(amount(written)) == shown


@pytest.mark.parametrize(
    "written", ["1", "one", "%", "-1%", -0.5, "1 percent", "1,5%", None, True, "1e999%", float("nan"), 10**400]
)
def test_another_amount_is_refused_with_the_spellings(written: object) -> None:
    with pytest.raises(ValueError, match=r"^expected per cent such as 1% or a number in the metric's unit such as 0.05"):
        amount(written)
