"""YAML 1.2 as plain values that know their lines, with nothing guessed and nothing lost in silence."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.core.events import Json
from runner.core.spelling import Finding, Path, dotted, oneline, shown

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node

MOST_BYTES = 1 << 20
MOST_VALUES = 50_000
DEEPEST = 40
NOT_UTF8 = "the file is not UTF-8 text: save it as UTF-8"
"""What a caller says that could not decode the bytes."""

INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*(?:_[0-9]+)*|0o[0-7]+|0x[0-9a-fA-F]+|0b[01]+)")
FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Document:
    """A file's values and the line of each key and list entry; `value` is None where it could not be read at all."""

    value: dict[str, Json] | None
    lines: dict[Path, int]
    findings: tuple[Finding, ...]


def read(text: str) -> Document:
    """The one document in `text`, whose top must be a table of keys; every fault is a finding, nothing is raised."""
    fault = _unreadable(text)
    if fault:
        return Document(None, {}, (fault,))
    node = _compose(text.removeprefix("\ufeff"))
    if isinstance(node, Finding):
        return Document(None, {}, (node,))
    reader = _Reader({}, [], [0])
    value = reader.value(node, (), ()) if node is not None else None
    if not isinstance(value, dict):
        found = shown(value)
        top = Finding(None, (), f"expected keys and values such as 'version: 1', found {found}")
        return Document(None, {}, (*reader.findings, top))
    return Document(value, reader.lines, tuple(reader.findings))


def _unreadable(text: str) -> Finding | None:
    """What makes the text not worth composing."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        return Finding(None, (), f"expected at most 1 MiB, found {size} bytes")
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if line.startswith("%"):
            return Finding(number, (), f"the directive {line.split()[0]} is not understood: take it out (YAML 1.2 is meant)")
        if line.strip() and not line.startswith("#"):
            return None
    return None


def _compose(text: str) -> "Node | Finding | None":
    """ruamel's node tree: YAML 1.2 rules, tags resolved, positions kept, nothing constructed."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False
    try:
        node: Node | None = yaml.compose(text)
        return node
    except RecursionError:
        return Finding(None, (), f"expected at most {DEEPEST} levels, found more")
    except MarkedYAMLError as error:
        return _syntax(text, error.problem, error.problem_mark, error.context)
    except YAMLError as error:
        return _odd_character(text, getattr(error, "character", None), getattr(error, "position", 0))


def _syntax(text: str, problem: str | None, mark: object, context: str | None) -> Finding:
    """ruamel's complaint in our form."""
    line = getattr(mark, "line", None)
    said = f"{problem or ''}"
    written = text.splitlines()[line : line + 1] if line is not None else []
    if context == "expected a single document in the stream":
        said = "expected one document, found a second one after '---': keep one"
    elif "\\t" in said or re.match(r" *\t", "".join(written)):
        said = "this line is indented with a tab; YAML allows spaces only"
    else:
        said = f"not YAML: {said}" + (f" ({context})" if context else "")
    return Finding(None if line is None else line + 1, (), oneline(said))


def _odd_character(text: str, character: object, position: int) -> Finding:
    code = ord(character) if isinstance(character, str) else character
    name = f"U+{code:04X}" if isinstance(code, int) else "one"
    return Finding(text.count("\n", 0, position) + 1, (), f"the character {name} is not allowed in YAML: take it out")


class _Unclear(ValueError):
    """A scalar that can be read in two ways or in none."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """One walk over the nodes; `seen` counts values, so that aliases cannot multiply without end."""

    lines: dict[Path, int]
    findings: list[Finding]
    seen: list[int]

    def value(self, node: "Node", path: Path, around: tuple[int, ...]) -> Json:
        """The plain value of the node; what cannot be read becomes None and a finding. `around` are the nodes it lies in."""
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        self.seen[0] += 1
        if id(node) in around:
            return self._odd(node, path, "this alias stands inside its own anchor: write the value out")
        if len(around) >= DEEPEST:
            return self._odd(node, path, f"expected at most {DEEPEST} levels, found more")
        if self.seen[0] > MOST_VALUES:
            if self.seen[0] == MOST_VALUES + 1:
                self._odd(node, path, f"expected at most {MOST_VALUES} values, found more (aliases count each time)")
            return None
        around = (*around, id(node))
        if isinstance(node, MappingNode):
            return self._mapping(node, path, around)
        if isinstance(node, SequenceNode):
            return [self._entry(child, (*path, i), around) for i, child in enumerate(node.value)]
        return self._scalar(node, path)

    def _entry(self, node: "Node", path: Path, around: tuple[int, ...]) -> Json:
        self.lines[path] = node.start_mark.line + 1
        return self.value(node, path, around)

    def _mapping(self, node: "MappingNode", path: Path, around: tuple[int, ...]) -> Json:
        if node.tag != "tag:yaml.org,2002:map":
            return self._odd(node, path, f"the tag {_tag(node)} means nothing here: take it out")
        table: dict[str, Json] = {}
        first: dict[str, int] = {}
        for key, child in self._keyed(node, path):
            line = key.start_mark.line + 1
            if key.value in first:
                self.findings.append(
                    Finding(line, (*path, key.value), f"given twice, on line {first[key.value]} and line {line}: keep one")
                )
                continue
            first[key.value] = line
            self.lines[(*path, key.value)] = line
            table[key.value] = self.value(child, (*path, key.value), around)
        return table

    def _keyed(self, node: "MappingNode", path: Path) -> "Iterator[tuple[Node, Node]]":
        """The pairs whose key is plain text."""
        from ruamel.yaml.nodes import ScalarNode

        for key, child in node.value:
            if not isinstance(key, ScalarNode):
                self._odd(key, path, "expected a word as key, found a list or table")
            elif key.tag == "tag:yaml.org,2002:merge":
                self._odd(key, path, "the merge key '<<' is not understood: write the keys out")
            else:
                yield key, child

    def _scalar(self, node: "Node", path: Path) -> Json:
        read_as = SCALARS.get(f"{node.tag}".removeprefix("tag:yaml.org,2002:"))
        if read_as is None:
            return self._odd(node, path, f"the tag {_tag(node)} means nothing here: take it out, or put the text in quotes")
        try:
            return read_as(node.value)
        except _Unclear as unclear:
            return self._odd(node, path, f"{unclear}")

    def _odd(self, node: "Node", path: Path, sentence: str) -> Json:
        self.findings.append(Finding(node.start_mark.line + 1, path, sentence))
        return None


def _tag(node: "Node") -> str:
    return oneline(f"{node.tag}".replace("tag:yaml.org,2002:", "!!"))


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise _Unclear(f"expected true or false, found {shown(text)}")
    return text.lower() == "true"


def _int(text: str) -> int:
    if re.fullmatch(r"[-+]?0[0-9_]+", text):
        bare = text.replace("_", "").lstrip("+-0") or "0"
        raise _Unclear(f"'{text}' with a leading zero is read in two ways: write {bare}, or '{text}' in quotes for text")
    if not INTEGER.fullmatch(text) or len(text) > 40:
        raise _Unclear(f"expected a number such as 900 or 2_000_000, found {shown(text)}")
    return int(text, 0)


def _float(text: str) -> float:
    number = float(text.replace("_", "")) if FLOAT.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise _Unclear(f"expected a finite number such as 0.5 or 1e-3, found {shown(text)}")
    return number


def _null(text: str) -> None:
    return None


SCALARS: dict[str, Callable[[str], Json]] = {
    "str": str,
    "timestamp": str,
    "value": str,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "null": _null,
}


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of the path, or of the nearest key around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def dotted_lines(lines: dict[Path, int]) -> dict[str, int]:
    """The same lines under dotted paths."""
    return {dotted(path): line for path, line in lines.items()}
