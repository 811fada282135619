"""The right answers, by a second implementation that the code under test has no part in."""

import math
import re
from collections import Counter
from collections.abc import Sequence

WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def answer(text: str, other: str) -> dict[str, object]:
    """What `report` has to say of two texts in plain ASCII."""
    words, counts = _words(text), Counter(_words(text))
    sentences = SENTENCE_END.split(text.strip())
    syllables = sum(_syllables(word) for word in words)
    return {
        "words": len(words),
        "distinct": len(counts),
        "sentences": len(sentences),
        "longest": max(len(_words(sentence)) for sentence in sentences),
        "top_words": _top(counts),
        "top_pairs": _top(_runs(words, 2)),
        "top_triples": _top(_runs(words, 3)),
        "reading_ease": 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syllables / len(words),
        "similarity": _cosine(counts, Counter(_words(other))),
    }


def wrong(expected: dict[str, object], found: object) -> str | None:
    """The first statistic that is not as expected, in words; None where all of them are."""
    if not isinstance(found, dict) or found.keys() != expected.keys():
        return f"expected the statistics {', '.join(expected)}, found {f'{found!r}':.100}"
    for name, value in expected.items():
        said = found[name]
        close = isinstance(value, float) and isinstance(said, float) and math.isclose(value, said, rel_tol=1e-9, abs_tol=1e-9)
        if not close and (said != value or type(said) is not type(value)):
            return f"{name}: expected {value!r}, found {f'{said!r}':.100}"
    return None


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _runs(words: Sequence[str], size: int) -> Counter[str]:
    return Counter(" ".join(run) for run in zip(*(words[start:] for start in range(size)), strict=False))


def _top(counts: Counter[str]) -> list[list[str | int]]:
    return [[thing, count] for thing, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]]


def _syllables(word: str) -> int:
    groups = len(re.findall("[aeiouy]+", word))
    return max(groups - (word.endswith("e") and groups > 1), 1)


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(count * other[word] for word, count in one.items())
    return product / (math.hypot(*one.values()) * math.hypot(*other.values()))
