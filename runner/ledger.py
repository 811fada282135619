"""The campaign's memory: each fact is written once, and the state keeps step with the journal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from runner.core.events import Entry, Fact, Gated, Judged, Proposed, Worked
from runner.core.models import TurnNo
from runner.core.state import OpenTurn, State, step
from runner.journal import Journal

Listener = Callable[[Entry, State], None]
Step = TypeVar("Step", Worked, Proposed, Gated, Judged)

_PLACE: dict[type, Callable[[OpenTurn], Fact | None]] = {
    Worked: lambda turn: turn.worked,
    Proposed: lambda turn: turn.proposed,
    Gated: lambda turn: turn.gated,
    Judged: lambda turn: turn.judged,
}


@dataclass(slots=True)
class Ledger:
    """The one place where facts are written; `listeners` are told of each after it is durable."""

    journal: Journal
    state: State
    now: Callable[[], str]
    listeners: list[Listener] = field(default_factory=list)

    def record(self, fact: Fact, turn: TurnNo | None = None) -> Entry:
        """Write a fact and take it into the state; one that cannot follow the facts before it is refused before it is written.

        What is handed back is what a later start will read.
        """
        at = self.now()
        step(self.state, Entry(self.state.seq + 1, at, turn, fact))
        entry = self.journal.append(fact, turn, at)
        self.state = step(self.state, entry)
        for listener in self.listeners:
            listener(entry, self.state)
        return entry

    def once(self, kind: type[Step], do: Callable[[], Step]) -> Step:
        """The open turn's fact of that kind: handed back if it is written, else done, written and handed back."""
        turn = self.open_turn
        written = _PLACE[kind](turn)
        if isinstance(written, kind):
            return written
        fact = self.record(do(), turn.turn).fact
        assert isinstance(fact, kind)
        return fact

    @property
    def open_turn(self) -> OpenTurn:
        turn = self.state.current
        assert turn is not None, "asked for the open turn between turns"
        return turn
