"""The settings of the solver, read strictly from YAML: what is not known is refused."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import yaml


class SettingsError(Exception):
    """The settings cannot be used; the message says what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to solve; no setting changes the amount of work."""

    algorithm: Literal["vanilla", "plus", "discounted"]
    update: Literal["simultaneous", "alternating"]
    alpha: float
    """Positive regrets are multiplied by t^alpha / (t^alpha + 1); only read by `discounted`."""
    beta: float
    """Negative regrets are multiplied by t^beta / (t^beta + 1); only read by `discounted`."""
    delay: int
    """So many first iterations are left out of the average."""
    power: float
    """Iteration t has the weight (t - delay) ** power in the average: 0 uniform, 1 linear, 2 quadratic."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"one of {', '.join(self.words)}"

    def admits(self, found: object) -> bool:
        return isinstance(found, str) and found in self.words


@dataclass(frozen=True, slots=True)
class Between:
    """A number from `low` to `high`; `kind` says whether it has to be whole."""

    kind: type[int] | type[float]
    low: float
    high: float

    def __str__(self) -> str:
        return f"a {'whole ' if self.kind is int else ''}number from {self.low:g} to {self.high:g}"

    def admits(self, found: object) -> bool:
        """YAML's true is an int to Python, and not a number to a person."""
        if isinstance(found, bool) or not isinstance(found, int if self.kind is int else (int, float)):
            return False
        return self.low <= found <= self.high


EXPECTED: dict[tuple[str, ...], Choice | Between] = {
    ("algorithm",): Choice(("vanilla", "plus", "discounted")),
    ("update",): Choice(("simultaneous", "alternating")),
    ("cfr", "alpha"): Between(float, 0, 5),
    ("cfr", "beta"): Between(float, -5, 5),
    ("averaging", "delay"): Between(int, 0, 80),
    ("averaging", "power"): Between(float, 0, 5),
}


class _Strict(yaml.SafeLoader):
    """YAML's safe loader, but a key written twice is an error instead of a silent winner."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        keys = [key.value for key, _ in node.value]
        twice = sorted({str(key) for key in keys if keys.count(key) > 1})
        if twice:
            raise SettingsError(f"expected each key once, found twice: {', '.join(twice)}.")
        return cast(dict[Hashable, object], super().construct_mapping(node, deep))


def read_settings(path: Path) -> Settings:
    """The settings in this file; raises SettingsError with a sentence for anything that is missing, unknown or out of range."""
    try:
        found = _flat(yaml.load(path.read_text(encoding="utf-8"), _Strict))
        _refuse_the_unknown(found)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as trouble:  # ValueError: bad UTF-8, and impossible dates
        raise SettingsError(f"{path.name}: expected a readable YAML file, found: {' '.join(str(trouble).split())}") from trouble
    except SettingsError as trouble:
        raise SettingsError(f"{path.name}: {trouble}") from trouble
    values = {key[-1]: float(value) if isinstance(value, int) and key[-1] != "delay" else value for key, value in found.items()}
    return Settings(**values)  # type: ignore[arg-type]  # each value has just been held against EXPECTED


def _flat(found: object) -> dict[tuple[str, ...], object]:
    """Nested mappings as paths."""
    if not isinstance(found, dict):
        raise SettingsError(f"expected a mapping of settings, found {found!r}.")
    flat: dict[tuple[str, ...], object] = {}
    for key, value in found.items():
        inner = _flat(value) if isinstance(value, dict) else {(): value}
        flat |= {(str(key), *path): one for path, one in inner.items()}
    return flat


def _refuse_the_unknown(found: dict[tuple[str, ...], object]) -> None:
    unknown = [".".join(key) for key in found if key not in EXPECTED]
    missing = [".".join(key) for key in EXPECTED if key not in found]
    if unknown or missing:
        known = ", ".join(".".join(key) for key in EXPECTED)
        raise SettingsError(
            f"expected exactly {known}; unknown: {', '.join(unknown) or 'none'}; missing: {', '.join(missing) or 'none'}."
        )
    for key, expected in EXPECTED.items():
        if not expected.admits(found[key]):
            raise SettingsError(f"{'.'.join(key)}: expected {expected}, found {found[key]!r}.")
