"""Numbers with units, as people write them: durations, sizes and per cent."""

import math
import re

from runner.core.contract import Amount
from runner.core.spelling import shown

NUMBER = r"[0-9]+(?:\.[0-9]+)?"
SPAN = re.compile("".join(rf"(?:({NUMBER})\s*{unit}\s*)?" for unit in ("d", "h", "m", "s")))
SPAN_SECONDS = (86400, 3600, 60, 1)
SIZE = re.compile(rf"({NUMBER})\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
SIZE_BYTES = {"B": 1} | {p + "B": 1000**i for i, p in enumerate("kMGT", 1)} | {p + "iB": 1024**i for i, p in enumerate("KMGT", 1)}
SIZE_BYTES["KB"] = 1000
PERCENT = re.compile(rf"({NUMBER}(?:[eE][-+]?[0-9]+)?)\s*%")
LONGEST_S = 366 * 86400.0


def seconds(value: object) -> float:
    """A duration in seconds, above zero and at most a year; raises ValueError with the accepted spellings."""
    expected = "expected a duration such as 900 (seconds), 90m, 8h or 1h30m"
    if isinstance(value, str):
        found = SPAN.fullmatch(value.strip())
        parts = found.groups() if found and value.strip() else (None,)
        if all(part is None for part in parts):
            raise ValueError(f"{expected}, found {shown(value)}")
        span = sum(float(part) * unit for part, unit in zip(parts, SPAN_SECONDS, strict=True) if part)
    else:
        span = _number(value, expected)
    if not 0 < span <= LONGEST_S:
        raise ValueError(f"{expected}, above zero and at most a year, found {shown(value)}")
    return span


def size(value: object) -> int:
    """A size in bytes, at least one; raises ValueError with the accepted spellings."""
    expected = "expected a size such as 512MB, 4GiB or a number of bytes"
    if isinstance(value, str):
        found = SIZE.fullmatch(value.strip())
        if not found:
            raise ValueError(f"{expected}, found {shown(value)}")
        amount = float(found[1]) * SIZE_BYTES[found[2]]
    else:
        amount = _number(value, expected)
    if not 1 <= amount < 2**63 or amount != int(amount):
        raise ValueError(f"{expected}, whole and above zero, found {shown(value)}")
    return int(amount)


def amount(value: object) -> Amount:
    """A share of the incumbent (`1%`) or a plain number in the metric's unit, not negative; raises ValueError."""
    expected = "expected per cent such as 1% or a number in the metric's unit such as 0.05"
    if isinstance(value, str):
        found = PERCENT.fullmatch(value.strip())
        if not found:
            raise ValueError(f"{expected}, found {shown(value)}")
        result = Amount(float(found[1]) / 100, percent=True)
    else:
        result = Amount(_number(value, expected))
    if not 0 <= result.value < math.inf:
        raise ValueError(f"{expected}, not below zero, found {shown(value)}")
    return result


def _number(value: object, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e300 < value < 1e300:
        raise ValueError(f"{expected}, found {shown(value)}")
    return float(value)
