"""The words that a message about a document is made of: paths, found values, the nearest right spelling."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runner.core.events import Json

Path = tuple[str | int, ...]

MEANT: Mapping[str, Json] = {
    **dict.fromkeys(("maximise", "maximize", "maximum", "max", "up", "high", "greater", "increase"), "higher"),
    **dict.fromkeys(("minimise", "minimize", "minimum", "min", "down", "low", "smaller", "decrease"), "lower"),
    "integer": "int",
    **dict.fromkeys(("number", "double", "real"), "float"),
    "boolean": "bool",
    **dict.fromkeys(("choice", "category", "enum"), "categorical"),
    "desc": "higher",
    "descending": "higher",
    "asc": "lower",
    "ascending": "lower",
    **dict.fromkeys(("off", "no", "none", "n"), False),
    **dict.fromkeys(("on", "yes", "y", "host"), True),
    **dict.fromkeys(("claude-code", "claude_code", "anthropic"), "claude"),
    "relative": "ratio",
    "percent": "ratio",
    "absolute": "difference",
    "readonly": "ro",
    "readwrite": "rw",
}
"""Other tools' words for our values."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong in a document: at `path` (keys and indexes from the top), on `line` (None where nothing was written)."""

    line: int | None
    path: Path
    sentence: str

    def told(self, file: str) -> str:
        place = f"{file}:{self.line}" if self.line else file
        return f"{place}: {dotted(self.path)}: {self.sentence}" if self.path else f"{place}: {self.sentence}"


def dotted(path: Path) -> str:
    """`('guards', 0, 'run')` as `guards[0].run`."""
    whole = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    return oneline(whole if len(whole) <= 200 else f"{whole[:197]}...")


def oneline(text: str) -> str:
    """The text with what a terminal would act on written out (a line feed as `\\n`)."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def shown(value: object) -> str:
    """A found value as a message names it, cut to a readable length."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value}"
    if isinstance(value, str):
        return "empty text" if not value else repr(value if len(value) <= 60 else value[:57] + "...")
    return "a list" if isinstance(value, (list, tuple)) else "a table of keys"


def plain(value: Json) -> str:
    """A value as one would write it in the file."""
    if isinstance(value, list):
        return f"[{', '.join(map(plain, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {plain(v)}" for key, v in value.items()) + "}"
    if isinstance(value, str):
        return value if re.fullmatch(r"[\w$./~%-][\w$./~%: -]*", value) and ": " not in value else json.dumps(value)
    return json.dumps(value)


def meant(found: object, allowed: Iterable[Json]) -> Json:
    """The allowed value that was probably meant, or None."""
    options = list(allowed)
    if not isinstance(found, str):
        return None
    if found.lower() in MEANT and MEANT[found.lower()] in options:
        return MEANT[found.lower()]
    return nearest(found, [option for option in options if isinstance(option, str)])


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word with the fewest edits, if a third of the letters or fewer differ; the first of equals."""
    near = sorted(((distance(word, other), i, other) for i, other in enumerate(known)), key=lambda t: t[:2])
    return near[0][2] if near and near[0][0] <= reach(word) else None


def reach(word: str) -> int:
    """How many edits away a word may be and still be meant."""
    return max(1, len(word) // 3)


def distance(word: str, other: str) -> int:
    """Edits between two keys, as a whole or word by word (`evaluate_timout` is near `evaluation_timeout_seconds`)."""
    a, b = word.lower().replace("-", "_"), other.lower()
    if a == b:
        return 0
    parts, others = a.split("_"), b.split("_")
    by_word = sum(min(_stem_edits(p, o) for o in others) for p in parts) + abs(len(others) - len(parts))
    return min(_edits(a, b), max(1, by_word))


def _stem_edits(a: str, b: str) -> int:
    """Edits between two words, one where only their endings differ (evaluate, evaluation)."""
    return 1 if a != b and len(a) >= 6 and a[:6] == b[:6] else _edits(a, b)


def _edits(a: str, b: str) -> int:
    """Insertions, deletions, changes and swaps of neighbours between two words."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, now[-1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, row = row, now
    return row[-1]
