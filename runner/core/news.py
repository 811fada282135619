"""What the loop tells whoever watches while it works, beyond the facts of the journal."""

from dataclasses import dataclass
from typing import Literal, Protocol

from runner.core.events import Entry
from runner.core.models import Scale, TurnNo
from runner.core.state import State

PhaseName = Literal["setup", "calibrate", "propose", "gate", "build", "measure", "judge", "settle", "remeasure", "wait"]


@dataclass(frozen=True, slots=True)
class Hello:
    """The start: what runs where, and to what the person consents.

    `runs` names the commands that will run, `consent` is one sentence; `held` and `not_held` say in words what confinement
    holds on this machine, by probe; `resumes` is the turn that goes on, None at a fresh start.
    """

    experiment: str
    name: str
    agent: str
    runs: tuple[str, ...]
    consent: str
    held: tuple[str, ...]
    not_held: tuple[str, ...]
    resumes: TurnNo | None = None


@dataclass(frozen=True, slots=True)
class Phase:
    """A step begins; `turn` is 0 outside the turns, `detail` may be empty."""

    turn: TurnNo
    name: PhaseName
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """Where the measuring stands after a pair: `estimate` and `interval` on `scale`, > 0 is better; `more` pairs are expected.

    `stake` is the bet's wealth, `needed` what it has to reach; unknown is None.
    """

    turn: TurnNo
    pair: int
    scale: Scale
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    stake: float | None = None
    needed: float | None = None
    more: int | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """What the budget still holds before a turn; None where there is no bound."""

    turns: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the person should know that does not stop the run."""

    what: str
    mend: str = ""


News = Phase | Running | Left | Warned


class Face(Protocol):
    """A listener of one run; no method of it may raise or stop the run, whatever happens to its terminal.

    `hello` shows the start and hands back the person's consent, asked only on a terminal (without one the command is the
    consent); `fact` is a ledger's listener, told after a fact is durable; `news` may come at any time from the same thread;
    `close` comes once, last.
    """

    def hello(self, hello: Hello) -> bool: ...
    def fact(self, entry: Entry, state: State) -> None: ...
    def news(self, news: News) -> None: ...
    def close(self) -> None: ...
