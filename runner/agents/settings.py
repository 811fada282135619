"""Single values in YAML and JSON settings files, changed so that every other byte stays as it was."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.core.errors import ContractError
from runner.core.events import Json

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
LOADED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
"""Words that some YAML reader takes for something else than a string."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One scalar: its characters in the text, its quote ("" for none) and its value."""

    start: int
    end: int
    quote: str
    value: Json


def values(name: str, file: bytes, keys: Sequence[str]) -> dict[str, Json]:
    """The value at each dotted key of the settings file `name`; raises ContractError where there is no single one."""
    return {key: spot.value for key, spot in _spots(name, file, keys).items()}


def rewrite(name: str, file: bytes, changes: Mapping[str, Json]) -> bytes:
    """The file with each dotted key's value replaced and all else byte for byte the same; raises ContractError."""
    text = _text(name, file)
    spots = _spots(name, file, list(changes))
    for key, spot in sorted(spots.items(), key=lambda s: -s[1].start):
        word = _word(changes[key], '"' if _is_json(name) else spot.quote)
        text = text[: spot.start] + word + text[spot.end :]
    new = text.encode()
    if values(name, new, list(changes)) != dict(changes):
        raise ContractError(f"{name}: {', '.join(changes)}: cannot be rewritten in place", "write the values as plain scalars")
    return new


def _is_json(name: str) -> bool:
    return name.lower().endswith(".json")


def _text(name: str, file: bytes) -> str:
    if not name.lower().endswith((".yaml", ".yml", ".json")):
        raise ContractError(f"{name}: the tuner edits YAML and JSON settings only", "use a .yaml, .yml or .json settings file")
    try:
        return file.decode()
    except UnicodeDecodeError as error:
        raise ContractError(f"{name}: byte {error.start + 1} is not UTF-8", "save the settings file as UTF-8") from error


def _spots(name: str, file: bytes, keys: Sequence[str]) -> dict[str, Spot]:
    text = _text(name, file)
    root = _compose(name, text)
    return {key: _spot(name, key, text, _find(name, key, root)) for key in keys}


def _compose(name: str, text: str) -> "Node":
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    # a tab is white space to JSON and, before a comment, to YAML, but not to this parser; as one blank it keeps every position
    source = text.replace("\t", " ")
    try:
        root: Node | None = YAML(pure=True).compose(source)
    except (YAMLError, RecursionError) as error:
        raise ContractError(
            f"{name}: {' '.join(str(error).split())}", "the settings file has to be one valid document"
        ) from error
    if root is None:
        raise ContractError(f"{name}: the settings file is empty", "write the starting settings into it")
    return root


def _find(name: str, key: str, root: "Node") -> "Node":
    node = _at(name, key.split("."), root)
    if node is None:
        near = difflib.get_close_matches(key, list(_leaves(root)), n=1, cutoff=0.0)
        raise ContractError(f"{name}: there is no {key}", f"the nearest is {near[0]}" if near else "it holds no value at all")
    return node


def _at(name: str, parts: Sequence[str], node: "Node") -> "Node | None":
    """The node below `node`; a key that itself holds dots is found before the path that its parts would spell."""
    if not parts:
        return node
    for size in range(len(parts), 0, -1):
        found = [child for key, child in _children(node) if key == ".".join(parts[:size])]
        if len(found) > 1:
            raise ContractError(f"{name}: {'.'.join(parts[:size])} stands there {len(found)} times", "remove all but one")
        below = _at(name, parts[size:], found[0]) if found else None
        if below is not None:
            return below
    return None


def _children(node: "Node") -> Iterator[tuple[str, "Node"]]:
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    if isinstance(node, MappingNode):
        yield from ((str(key.value), child) for key, child in node.value)
    elif isinstance(node, SequenceNode):
        yield from ((str(i), child) for i, child in enumerate(node.value))


def _leaves(node: "Node", above: str = "") -> Iterator[str]:
    """The dotted path of every value; what an alias repeats is left out."""
    for key, child in _children(node):
        path = f"{above}.{key}" if above else key
        if child.anchor:
            continue
        if any(True for _ in _children(child)):
            yield from _leaves(child, path)
        else:
            yield path


def _spot(name: str, key: str, text: str, node: "Node") -> Spot:
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode) or node.style in ("|", ">"):
        raise ContractError(f"{name}: {key} is not a single value", "a parameter has to name a number, a word or true/false")
    if node.anchor:
        raise ContractError(f"{name}: {key} carries the anchor &{node.anchor}", "write the value out where it is tuned")
    start, end = node.start_mark.index, node.end_mark.index
    if start == end:
        raise ContractError(f"{name}: {key} has no value", "write one there (null where none is meant)")
    value = YAML(typ="safe", pure=True).load(text[start:end])
    plain = value if value is None or isinstance(value, (bool, int, float, str)) else str(node.value)
    return Spot(start, end, node.style or "", plain)


def _word(value: Json, quote: str) -> str:
    """The value as a scalar that YAML 1.1, YAML 1.2 and JSON readers take alike (`1.0e-05`: without a dot 1.1 reads a string)."""
    if isinstance(value, float) and "e" in repr(value):
        mantissa, exponent = repr(value).split("e")
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"
    if not isinstance(value, str):
        return json.dumps(value)
    if quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if quote == "" and PLAIN.fullmatch(value) and value.lower() not in LOADED:
        return value
    return json.dumps(value, ensure_ascii=False)
