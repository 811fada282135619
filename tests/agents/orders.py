"""Small turns and tasks for the agents' tests."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from runner.core.contract import Parameter
from runner.core.events import Decided, Hypothesis, Json
from runner.core.models import Basis, Oid, Scale, Status, TurnNo

ROOT = PurePath("/repo")
BASE = Oid("a" * 40)


@dataclass(frozen=True)
class Turn:
    """A finished turn as the journal tells it."""

    turn: TurnNo
    incumbent: Oid
    kept: Oid | None
    decided: Decided | None
    parameters: Mapping[str, Json] | None = None
    hypothesis: Hypothesis | None = None
    approach: str | None = None
    message: str = ""


def turn(
    number: int,
    effect: float | None,
    parameters: Mapping[str, Json] | None = None,
    *,
    status: Status = Status.DISCARD,
    basis: Basis = Basis.NOT_GOOD_ENOUGH,
    incumbent: Oid = BASE,
    kept: Oid | None = None,
    scale: Scale = "ratio",
) -> Turn:
    status = Status.KEEP if kept else status
    interval = None if effect is None else (effect - 0.01, effect + 0.01)
    decided = Decided(status, basis, "", effect, effect, interval, None if effect is None else scale)
    return Turn(TurnNo(number), incumbent, kept, decided, parameters)


def number(
    key: str, low: float, high: float, *, log: bool = False, step: float | None = None, file: str = "settings.yaml"
) -> Parameter:
    return Parameter(key, ROOT / file, key, "float", low, high, log, step)


def whole(
    key: str, low: int, high: int, *, log: bool = False, step: float | None = None, file: str = "settings.yaml"
) -> Parameter:
    return Parameter(key, ROOT / file, key, "int", low, high, log, step)


def choice(key: str, *choices: str | int | float | bool, file: str = "settings.yaml") -> Parameter:
    return Parameter(key, ROOT / file, key, "categorical", choices=choices)


def flag(key: str, file: str = "settings.yaml") -> Parameter:
    return Parameter(key, ROOT / file, key, "bool")


def only(parameter: Parameter, **when: tuple[str | int | float | bool, ...]) -> Parameter:
    """The parameter, meaning something only beside these values of others."""
    return replace(parameter, when=tuple(when.items()))
