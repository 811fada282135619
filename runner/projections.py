"""The files that are derived from the journal: written after each fact, rebuilt whenever they are not what they should be."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from runner.core.events import Entry
from runner.core.models import Direction
from runner.core.news import Warned
from runner.core.state import State


@dataclass(frozen=True, slots=True)
class About:
    """What the projections take from the contract; `winner` is the file name of current_winner.output."""

    experiment: str
    name: str
    metric: str
    direction: Direction
    winner: str = "current_winner.json"


@dataclass(slots=True)
class Projections:
    """The projections of one experiment; never raises for a file it cannot write: `warn` is told once a file."""

    directory: Path
    about: About
    warn: Callable[[Warned], None]

    def start(self, entries: Iterable[Entry]) -> None:
        """Bring every file in step with the journal's entries so far; call once, before the first fact."""
        raise NotImplementedError

    def fact(self, entry: Entry, state: State) -> None:
        """A ledger's listener: bring the files in step after one more entry."""
        raise NotImplementedError
