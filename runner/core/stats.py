"""The mathematics of betting on paired differences: stakes, robust scales, intervals, forecasts."""

import math


def gamma(index: int, expected: int) -> float:
    """The share of all risk for candidate `index` (from 1): 80 % evenly over the first `expected`, 16 % over the next twice as many, ..."""
    share, block = 0.8, expected
    while index > block:
        index, block, share = index - block, 2 * block, share / 5
    return share / block
