"""How often each thing occurs."""

from collections.abc import Sequence


def frequencies(things: Sequence[str]) -> dict[str, int]:
    """How often each of the things occurs, in the order of their first occurrence."""
    found: list[str] = []
    counts: list[int] = []
    for thing in things:
        for place, known in enumerate(found):
            if known == thing:
                counts[place] += 1
                break
        else:
            found.append(thing)
            counts.append(1)
    return dict(zip(found, counts, strict=True))


def top(counts: dict[str, int], many: int) -> list[tuple[str, int]]:
    """The `many` most frequent things with their counts; equal counts in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:many]
