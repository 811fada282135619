"""Numbers from the strict JSON that evaluate.sh writes to its output path."""

import difflib
import json
import math
from collections.abc import Mapping

from runner.core.ended import Ended, last_line, quoted
from runner.core.events import Json
from runner.evaluators.plug import Numbers, Wanted

LIMIT = 1 << 20
MOST_TASKS = 10_000
KNOWN = ("primaryMetric", "secondaryMetrics", "tasks")

EXPECTED = 'expected {"primaryMetric": {"name": ..., "value": ...}, "secondaryMetrics": {...}}'


class Junk(ValueError):
    """What is wrong with the file, as a sentence."""


def read(ended: Ended, output: bytes | None, wanted: Wanted) -> Numbers | str:
    """The declared metrics' numbers and the tasks'; keys of no meaning here are passed over, near misses are not."""
    if output is None:
        said = last_line(ended.stderr)
        return "nothing was written to the output path" + (f"; standard error ends with {quoted(said)}" if said else "")
    try:
        return _numbers(_document(output), wanted)
    except Junk as junk:
        return str(junk)


def _document(output: bytes) -> Mapping[str, Json]:
    if len(output) > LIMIT:
        raise Junk(f"the output has {len(output)} bytes, at most {LIMIT} are read")
    try:
        text = output.decode()
        value: Json = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except UnicodeDecodeError as error:
        raise Junk(f"the output is not UTF-8: byte {error.start + 1} is {output[error.start : error.start + 1]!r}") from error
    except json.JSONDecodeError as error:
        piece = quoted(text[max(error.pos - 20, 0) : error.pos + 40]) if text.strip() else "an empty file"
        raise Junk(f"the output is not JSON at line {error.lineno}: {error.msg}, near {piece}") from error
    except RecursionError as error:
        raise Junk("the output is nested too deeply") from error
    except Junk:
        raise
    except ValueError as error:  # a whole number of more digits than Python reads
        raise Junk(f"the output holds no usable number: {error}") from error
    if not isinstance(value, dict):
        raise Junk(f"{EXPECTED}, found {_shown(value)}")
    return value


def _numbers(document: Mapping[str, Json], wanted: Wanted) -> Numbers:
    for key in document.keys() - set(KNOWN):
        near = difflib.get_close_matches(key, KNOWN, n=1, cutoff=0.75)
        if near:
            raise Junk(f"unknown key {quoted(key)}: did you mean {near[0]}?")
    if "primaryMetric" not in document:
        raise Junk(f"{EXPECTED}, found the keys {', '.join(quoted(k, 40) for k in list(document)[:8]) or 'none'}")
    secondary = _table("secondaryMetrics", document.get("secondaryMetrics"))
    tasks = _table("tasks", document.get("tasks"))
    if len(tasks) > MOST_TASKS:
        raise Junk(f"tasks has {len(tasks)} entries, at most {MOST_TASKS} are read")
    return Numbers(
        _primary(document["primaryMetric"], wanted.primary),
        {name: _optional(f"secondaryMetrics.{name}", secondary.get(name)) for name in wanted.secondary},
        {name: _number(f"tasks.{name}", value) for name, value in tasks.items()} if "tasks" in document else None,
    )


def _primary(given: Json, name: str) -> float:
    if not isinstance(given, dict):
        return _number("primaryMetric", given)
    if "name" not in given or "value" not in given:
        raise Junk(f"primaryMetric has to have a name and a value, found {_shown(given)}")
    if given["name"] != name:
        raise Junk(f"primaryMetric is named {_shown(given['name'])}, the contract names {quoted(name)}")
    return _number("primaryMetric.value", given["value"])


def _table(key: str, given: Json) -> Mapping[str, Json]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Junk(f"{key} has to be an object of name and number, found {_shown(given)}")
    return given


def _optional(key: str, given: Json) -> float | None:
    return None if given is None else _number(key, given)


def _number(key: str, given: Json) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise Junk(f"{key} has to be a number, found {_shown(given)}")
    try:
        return float(given)
    except OverflowError as error:
        raise Junk(f"{key} is beyond every finite number: {quoted(f'{given}', 40)}") from error


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise Junk(f"the key {quoted(next(n for n in names if names.count(n) > 1))} stands there twice")
    odd = next((name for name in made if not _sound(name)), None)
    if odd is not None:
        raise Junk(f"the key {odd!a} is no valid Unicode")
    return made


def _sound(text: str) -> bool:
    """Whether the text can be written as UTF-8 (JSON can spell half a surrogate pair)."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _constant(word: str) -> Json:
    raise Junk(f"{word} is not a number in strict JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Junk(f"{quoted(text, 40)} is beyond every finite number")
    return value


def _shown(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else f"{text[:157]}..."
