"""Numbers from `METRIC name=value` lines on standard output."""

import unicodedata

from runner.core.ended import Ended, lines, quoted
from runner.evaluators.number import number
from runner.evaluators.plug import Numbers, Wanted

WORD = "METRIC "


def read(ended: Ended, output: bytes | None, wanted: Wanted) -> Numbers | str:
    """The declared metrics' numbers; lines of metrics that are not declared are passed over."""
    found: dict[str, list[str]] = {}
    for line in lines(ended.stdout):
        if line.startswith(WORD):
            name, _, text = line[len(WORD) :].partition("=")
            found.setdefault(name.strip(), []).append(text.strip(" \t"))
    values: dict[str, float | None] = {}
    for name in (wanted.primary, *wanted.secondary):
        value = _value(name, found.get(name, []))
        if isinstance(value, str):
            return value
        values[name] = value
    primary = values.pop(wanted.primary)
    if primary is None:
        return _absent(wanted.primary, list(found), ended)
    return Numbers(primary, values)


def _value(name: str, texts: list[str]) -> float | str | None:
    """The one number the lines of a metric give, None for no line, a sentence for anything else."""
    numbers = {number(text) for text in texts}
    if None in numbers:
        wrong = next(text for text in texts if number(text) is None)
        return f"METRIC {name}={quoted(wrong)} is not a plain finite number"
    if len(numbers) > 1:
        return f"METRIC {name} was printed with different values: {', '.join(texts[:5])}"
    return numbers.pop() if numbers else None


def _absent(name: str, found: list[str], ended: Ended) -> str:
    said = f"no METRIC {name}; found {', '.join(quoted(f)[1:-1] for f in found[:8]) or 'no METRIC line'}"
    twin = next((f for f in found if unicodedata.normalize("NFKC", f) == unicodedata.normalize("NFKC", name)), None)
    if twin is not None:
        odd = [(a, b) for a, b in zip(name, twin, strict=False) if a != b][:1]
        said += "".join(f" ({a} is {_point(a)} in the contract, {b} is {_point(b)} in the output)" for a, b in odd)
    return said + (f"; {ended.stdout.dropped} bytes of the output were not kept" if ended.stdout.dropped else "")


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"
