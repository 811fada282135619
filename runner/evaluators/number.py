"""Text as a number, or not at all: no unit, no thousands separator, no guess."""

import math
import re

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def number(text: str) -> float | None:
    """The finite number that the whole text spells in plain decimal or exponent form, else None."""
    bare = text.strip(" \t")
    value = float(bare) if NUMBER.fullmatch(bare) else math.inf
    return value if math.isfinite(value) else None
