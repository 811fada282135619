"""How alike two texts are."""

import math
from collections.abc import Mapping


def similarity(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """The cosine between two counts: 1 for equal proportions, 0 where nothing is shared."""
    product = 0
    for word in one:
        if word in other:
            product += one[word] * other[word]
    return product / (_length(one) * _length(other))


def _length(counts: Mapping[str, int]) -> float:
    return math.sqrt(sum(count**2 for count in counts.values()))
