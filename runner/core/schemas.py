"""JSON Schema validation, told as plain sentences with the path of each fault."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from runner.core.events import Hypothesis, Json
from runner.core.models import Declares
from runner.core.spelling import Path, distance, dotted, meant, plain, reach, shown

if TYPE_CHECKING:
    from jsonschema import ValidationError

Schema = Mapping[str, Any]

LONGEST_ANSWER = 1 << 20
MOST_FAULTS = 100
LONGEST_KEY = 80
TYPES = {
    "object": "a table of keys",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "nothing",
}
ANY_KEY, ANY_ENTRY = "*", "[]"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong at `path` (keys and indexes from the top), as a sentence; `missing` where nothing stands there."""

    path: Path
    sentence: str
    missing: bool = False


@dataclass(frozen=True, slots=True)
class WorkerTurn:
    """What a worker said of its change; None where it said nothing. None of its numbers is believed."""

    hypothesis: Hypothesis
    approach: str | None
    commit_message: str | None
    declares: Declares
    expected_effect: str | None
    notes: str | None
    parameters: Mapping[str, Json] | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an agent's answer cannot be used, in one sentence."""

    reason: str


# --- a value against a schema -----------------------------------------------------------------------


def faults(value: Json, schema: Schema) -> tuple[Fault, ...]:
    """Everything in which the plain value departs from the schema, one fault a path, at most MOST_FAULTS."""
    from jsonschema import Draft202012Validator
    from jsonschema.protocols import Validator
    from jsonschema.validators import extend

    made = cast(Callable[..., type[Validator]], extend)(Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique})
    validator = made(schema)
    told: dict[Path, Fault] = {}
    for error in validator.iter_errors(value):
        for fault in _faults_of(error, schema):
            told.setdefault(fault.path, fault)
        if len(told) >= MOST_FAULTS:
            break
    return tuple(told.values())


def _pattern(validator: object, pattern: str, value: object, schema: object) -> "Iterator[ValidationError]":
    """`pattern` as JavaScript reads it: `$` is the very end, where Python's lets a line feed follow."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), value):
        yield ValidationError("pattern")


def _unique(validator: object, wanted: object, value: object, schema: object) -> "Iterator[ValidationError]":
    """`uniqueItems` in linear time, where jsonschema compares each with each."""
    from jsonschema import ValidationError

    if isinstance(value, list) and len({repr(item) for item in value}) < len(value):
        yield ValidationError("uniqueItems")


def _faults_of(error: "ValidationError", schema: Schema) -> Iterator[Fault]:
    path: Path = tuple(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        path = (*path, f"{error.instance}")
    several = SEVERAL.get(f"{error.validator}")
    if several:
        yield from several(error, path, schema)
    else:
        tell = SENTENCES.get(f"{error.validator}", _other)
        yield Fault(path, tell(error))


def _unknown(error: "ValidationError", path: Path, schema: Schema) -> Iterator[Fault]:
    known = cast(Schema, error.schema).get("properties", {})
    strangers = [key for key in cast(dict[str, Json], error.instance) if key not in known]
    for key in strangers[:MOST_FAULTS]:
        place = _right_place(key, path, schema)
        hint = f"Did you mean {place}?" if place else f"Known here: {', '.join(known)}."
        yield Fault((*path, key), f"unknown key. {hint}")


def _missing(error: "ValidationError", path: Path, schema: Schema) -> Iterator[Fault]:
    """jsonschema tells each missing key by an error of its own that names all; the paths make them one each."""
    at = cast(Schema, error.schema)
    for key in (key for key in at["required"] if key not in cast(dict[str, Json], error.instance)):
        example = f"{key}: {plain(_example(at['properties'][key], schema))}"
        place = f"under {dotted(path)}" if path else "at the top level"
        yield Fault((*path, key), f"missing. Add it {place}, e.g. {example}", missing=True)


SEVERAL: Mapping[str, Callable[["ValidationError", Path, Schema], Iterator[Fault]]] = {
    "additionalProperties": _unknown,
    "required": _missing,
}


def _type(error: "ValidationError") -> str:
    wanted = cast("str | list[str]", error.validator_value)
    kinds = [wanted] if isinstance(wanted, str) else wanted
    found = error.instance
    expected = " or ".join(TYPES[kind] for kind in kinds if kind != "null")
    hint = ""
    if found is None:
        hint = ". Give it a value, or leave the key out"
    elif "string" in kinds and isinstance(found, (bool, int, float)):
        hint = f". Put it in quotes: '{shown(found)}'"
    elif "array" in kinds and isinstance(found, str):
        hint = f". Put it in brackets: {plain([found])}"
    return f"expected {expected}, found {shown(found)}{hint}"


def _enum(error: "ValidationError") -> str:
    allowed = cast(list[Json], error.validator_value)
    names = ", ".join(plain(value) for value in allowed if value is not None)
    word = "one of " if len(allowed) > 1 else ""
    near = meant(error.instance, allowed)
    return f"expected {word}{names}, found {shown(error.instance)}" + (
        f". Did you mean '{plain(near)}'?" if near is not None else ""
    )


def _of_form(error: "ValidationError") -> str:
    form = cast(Schema, error.schema).get("errorMessage", f"text of the form {error.validator_value}")
    return f"expected {form}, found {shown(error.instance)}"


def _properties(error: "ValidationError") -> str:
    names = list(cast(Schema, error.schema).get("properties", {}))
    found = ", ".join(cast(dict[str, Json], error.instance)) or "none"
    return f"expected one of the keys {', '.join(names)}, found {found}" if names else f"expected an entry, found {found}"


def _other(error: "ValidationError") -> str:
    return error.message


SENTENCES: Mapping[str, Callable[["ValidationError"], str]] = {
    "type": _type,
    "enum": _enum,
    "pattern": _of_form,
    "minLength": lambda e: f"expected text, found {shown(e.instance)}",
    "maxLength": lambda e: f"expected at most {e.validator_value} characters, found {len(cast(str, e.instance))}",
    "minimum": lambda e: f"expected at least {e.validator_value}, found {shown(e.instance)}",
    "maximum": lambda e: f"expected at most {e.validator_value:g}, found {shown(e.instance)}",
    "exclusiveMinimum": lambda e: f"expected a number above {e.validator_value}, found {shown(e.instance)}",
    "minItems": lambda e: f"expected a list of at least {e.validator_value}, found {len(cast(str, e.instance))}",
    "maxItems": lambda e: f"expected a list of at most {e.validator_value}, found {len(cast(str, e.instance))}",
    "uniqueItems": lambda e: "expected each entry once, found one twice",
    "minProperties": _properties,
    "maxProperties": _properties,
}

# --- what the schema knows ----------------------------------------------------------------------------


def _resolved(node: Schema, schema: Schema) -> Schema:
    """The node with its `$ref` into `$defs` followed; its own keys win."""
    name = node.get("$ref", "").removeprefix("#/$defs/")
    return {**schema["$defs"][name], **node} if name else node


def _example(node: Schema, schema: Schema) -> Json:
    """A value that could stand at the node."""
    node = _resolved(node, schema)
    for given in (node.get("examples"), node.get("enum"), [node["default"]] if "default" in node else None):
        if given:
            return cast(Json, given[0])
    if "required" in node:
        return {key: _example(node["properties"][key], schema) for key in node["required"]}
    return "..."


def _keys(node: Schema, schema: Schema, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key the schema knows, outer ones first."""
    node = _resolved(node, schema)
    for key, child in node.get("properties", {}).items():
        yield (*path, key)
        yield from _keys(child, schema, (*path, key))
    if isinstance(node.get("items"), Mapping):
        yield from _keys(node["items"], schema, (*path, ANY_ENTRY))
    if isinstance(node.get("additionalProperties"), Mapping):
        yield from _keys(node["additionalProperties"], schema, (*path, ANY_KEY))


def _right_place(key: str, path: Path, schema: Schema) -> str | None:
    """Where the nearest known key belongs: fewest edits first, then at the same level, then below, then in the schema's order."""
    if len(key) > LONGEST_KEY:
        return None
    best: tuple[int, int, int] | None = None
    place = None
    for known in _keys(schema, schema):
        edits = distance(key, known[-1])
        rank = (edits, 0 if _same(known[:-1], path) else 1, -_shared(known, path))
        if edits <= reach(key) and (best is None or rank < best):
            best = rank
            place = dotted((*path, known[-1])) if _same(known[:-1], path) else _generic(known)
    return place


def _generic(known: tuple[str, ...]) -> str:
    return ".".join("NAME" if step == ANY_KEY else step for step in known).replace(".[]", "[]")


def _same(known: tuple[str, ...], path: Path) -> bool:
    return len(known) == len(path) and _shared(known, path) == len(path)


def _shared(known: tuple[str, ...], path: Path) -> int:
    """How many steps both begin with."""
    for count, (step, found) in enumerate(zip(known, path, strict=False)):
        if step != found and step not in (ANY_KEY, ANY_ENTRY):
            return count
    return min(len(known), len(path))


# --- what agents answer ---------------------------------------------------------------------------------


def worker_turn(text: str, schema: Schema) -> WorkerTurn | Problem:
    """The worker's answer from the text of worker_turn.json (or its final answer); never raises.

    Keys that the schema does not name are ignored: agents add some, and a useful answer should not be lost for it.
    """
    said = _answer(text, schema)
    if isinstance(said, Problem):
        return said
    hypothesis = cast(dict[str, Json], said["hypothesis"])
    effect = said.get("expected_effect")
    return WorkerTurn(
        hypothesis=Hypothesis(_text(hypothesis["statement"]) or "", _text(hypothesis.get("reasoning")) or ""),
        approach=_text(said.get("approach")),
        commit_message=_text(said.get("commit_message")),
        declares=cast(Declares, said.get("declares") or "improvement"),
        expected_effect=_text(effect) if isinstance(effect, str) else None if effect is None else f"{effect}",
        notes=_text(said.get("notes")),
        parameters=cast("dict[str, Json] | None", said.get("parameters")),
    )


KEEPS = ("metric_improvement", "non_regression_bug_fix", "non_regression_code_quality")
CRASHES = ("evaluation_timeout", "evaluation_failed", "invalid_or_missing_evidence")


def judge_verdict(text: str, schema: Schema) -> Mapping[str, Json] | Problem:
    """The judge's answer, valid by judge_verdict.schema.json and with a basis that fits its status; never raises."""
    said = _answer(text, schema)
    if isinstance(said, Problem):
        return said
    status, basis = said["status"], said["acceptance_basis"]
    if (status == "keep") != (basis in KEEPS) or (status == "crash" and basis not in CRASHES):
        return Problem(f"acceptance_basis: '{basis}' is no reason for status '{status}'")
    return {key: _text(value) if isinstance(value, str) else value for key, value in said.items()}


def strict_form(schema: Schema) -> Schema:
    """The schema as strict structured output wants it: every key required, no others; free tables are left out.

    Optional keys of the agents' schemas admit null, so an answer by the strict form is valid by the schema itself.
    """
    keep = {key: value for key, value in schema.items() if key not in ("$schema", "errorMessage", "default", "examples")}
    if "properties" in schema:
        closed = {k: v for k, v in schema["properties"].items() if not isinstance(v.get("additionalProperties"), Mapping)}
        keep["properties"] = {key: strict_form(child) for key, child in closed.items()}
        keep |= {"required": list(closed), "additionalProperties": False}
    return keep


def _answer(text: str, schema: Schema) -> dict[str, Json] | Problem:
    if len(text) > LONGEST_ANSWER:
        return Problem(f"the answer has {len(text)} characters, at most {LONGEST_ANSWER} are read")
    for candidate in (text.removeprefix("\ufeff"), text[text.find("{") : text.rfind("}") + 1]):
        try:
            value = json.loads(candidate, parse_constant=_no_number, parse_float=_finite)
        except (ValueError, RecursionError):
            continue
        wrong = faults(value, schema)
        return Problem("; ".join(_told(fault) for fault in wrong[:5])) if wrong else cast(dict[str, Json], value)
    return Problem("the answer is not JSON" if text.strip() else "the answer is empty")


def _told(fault: Fault) -> str:
    return f"{dotted(fault.path)}: {fault.sentence}" if fault.path else fault.sentence


def _no_number(word: str) -> Json:
    raise ValueError(f"{word} has no place in strict JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else cast(float, _no_number(digits))


def _text(value: Json) -> str | None:
    """Text that a journal line and a commit message can carry: no control characters, no lone surrogates, not empty."""
    if not isinstance(value, str):
        return None
    kept = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", value.replace("\r\n", "\n")).strip()
    return kept or None
