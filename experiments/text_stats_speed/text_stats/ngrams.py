"""Words that stand side by side."""

from collections.abc import Sequence


def ngrams(words: Sequence[str], size: int) -> dict[str, int]:
    """How often each run of `size` neighbouring words occurs, written with single blanks."""
    counts: dict[str, int] = {}
    for start in range(len(words) - size + 1):
        run = ""
        for place in range(start, start + size):
            run = run + " " + words[place]
        run = run.strip()
        if run in counts:
            counts[run] = counts[run] + 1
        else:
            counts[run] = 1
    return counts
