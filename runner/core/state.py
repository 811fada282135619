"""Where a campaign stands: the fold of its journal, one entry at a time."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from runner.core.errors import JournalError
from runner.core.events import (
    Abandoned,
    Calibrated,
    CampaignOpened,
    Change,
    Decided,
    Entry,
    Gated,
    Hypothesis,
    Json,
    Judged,
    Measured,
    Noted,
    Pool,
    Proposed,
    Remeasured,
    Settled,
    Started,
    Stopped,
    TurnOpened,
    Usage,
    Waited,
    Worked,
)
from runner.core.models import Basis, Declares, Direction, Oid, Scale, Status, TurnNo

T = TypeVar("T")
Kept = TypeVar("Kept", "State", "OpenTurn")


@dataclass(frozen=True)
class OpenTurn:
    """The facts of a turn so far; `measured` holds the pairs that count (none from before another boot or host).

    `tried` says whether a reading of the candidate was ever taken, set aside or not; `decided_link` is the SHA-256 of that line.
    """

    turn: TurnNo
    opened_at: str
    incumbent: Oid
    worked: Worked | None = None
    proposed: Proposed | None = None
    gated: Gated | None = None
    measured: tuple[Measured, ...] = ()
    tried: bool = False
    last_pair: int = 0
    judged: Judged | None = None
    decided: Decided | None = None
    decided_at: str | None = None
    decided_link: str = ""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A finished turn, as much of it as later turns and the projections need; `kept` is the commit that went on the branch."""

    turn: TurnNo
    segment: int
    opened_at: str
    settled_at: str
    incumbent: Oid
    candidate: Oid | None
    kept: Oid | None
    tree: Oid | None
    hypothesis: Hypothesis | None
    approach: str | None
    declares: Declares | None
    message: str
    notes: str | None
    parameters: Mapping[str, Json] | None
    changes: tuple[Change, ...]
    decided: Decided
    usage: Usage
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Row0:
    """The baseline's line in the projections: the mean of the first calibration's readings."""

    at: str
    commit: Oid
    value: float
    secondary: Mapping[str, float | None]


@dataclass(frozen=True)
class State:
    """Everything the loop needs to go on, and nothing that it would have to look up in the journal again.

    `tried` counts candidates whose first reading was taken (the risk index), over all segments; `pairs` are the A/A pairs of the
    present segment and host; `in_row` counts since the last `Stopped`. Active seconds: `active_before` sums all runs before the
    present one, a killed one by its last fact, and `active_since_stop` those of them since the last `Stopped`.
    """

    opened: CampaignOpened | None = None
    origin: CampaignOpened | None = None
    opened_at: str = ""
    started: Started | None = None
    started_at: str = ""
    stopped: Stopped | None = None
    calibrated: Calibrated | None = None
    pairs: tuple[Measured, ...] = ()
    row0: Row0 | None = None
    remeasured: Remeasured | None = None
    incumbent: Oid | None = None
    current: OpenTurn | None = None
    finished: tuple[TurnRecord, ...] = ()
    tried: int = 0
    keeps: int = 0
    improvements: int = 0
    pool: Pool | None = None
    measure: tuple[str, Direction, Scale] | None = None
    comparable_from: int = 0
    verdicts: int = 0
    verdicts_since_stop: int = 0
    crashes_in_row: int = 0
    agent_errors_in_row: int = 0
    nothing_in_row: int = 0
    active_before: float = 0.0
    active_since_stop: float = 0.0
    waited: Waited | None = None
    last_at: str = ""
    seq: int = 0

    @property
    def next_turn(self) -> TurnNo:
        return TurnNo(self.finished[-1].turn + 1 if self.finished else 1)


def fold(entries: Iterable[Entry], state: State | None = None) -> State:
    """The state after these entries, in order; raises JournalError where a fact cannot follow the ones before it."""
    state = state or State()
    for entry in entries:
        state = step(state, entry)
    return state


def step(state: State, entry: Entry) -> State:
    """The state after one more entry."""
    if entry.turn and type(entry.fact) in _WITHIN_A_TURN:
        return _in_turn(state, entry)
    seen = _with(state, seq=entry.seq, last_at=entry.at)
    match entry.fact:
        case CampaignOpened() as fact:
            return _opened(seen, entry, fact)
        case Started() as fact:
            return _started(seen, state, entry, fact)
        case Stopped() as fact:
            return _with(
                seen, stopped=fact, verdicts_since_stop=0, crashes_in_row=0, agent_errors_in_row=0, nothing_in_row=0,
                active_before=seen.active_before + fact.active_s, active_since_stop=0.0,
            )  # fmt: skip
        case Remeasured() as fact:
            return _with(seen, remeasured=fact, pairs=())
        case Waited() as fact:
            return _with(seen, waited=fact)
        case Noted():
            return seen
        case Calibrated() as fact:
            return _calibrated(seen, entry, fact)
        case Measured() as fact if entry.turn == 0:
            return _with(seen, pairs=(*seen.pairs, fact))
        case TurnOpened() as fact:
            return _turn_opened(seen, entry, fact)
        case Settled() as fact:
            return _settled(seen, entry, fact)
        case fact:
            raise JournalError(f"journal line {entry.seq}: {type(fact).__name__} has no place outside a turn")


def _opened(state: State, entry: Entry, fact: CampaignOpened) -> State:
    """Until the first calibration nothing stands on the baseline, and a later opening may choose another."""
    if state.row0 is None and not state.finished and state.current is None:
        return _with(state, opened=fact, origin=fact, opened_at=state.opened_at or entry.at, incumbent=fact.incumbent, pairs=())
    return _with(state, opened=fact, calibrated=None, pairs=(), incumbent=fact.incumbent)


def _started(state: State, before: State, entry: Entry, fact: Started) -> State:
    """A run that was killed left no `Stopped`: it was active until its last fact. A/A pairs of two boots are not mixed."""
    killed = _seconds(before.started_at, before.last_at) if before.started and not before.stopped else 0.0
    last = before.started
    moved = last is not None and last.host != fact.host
    rebooted = last is not None and last.boot != fact.boot
    return _with(
        state,
        started=fact,
        started_at=entry.at,
        stopped=None,
        pairs=() if moved or rebooted else state.pairs,
        calibrated=None if moved else state.calibrated,
        active_before=state.active_before + killed,
        active_since_stop=state.active_since_stop + killed,
    )


def _seconds(start: str, end: str) -> float:
    """From one journal time to another, never below zero: a clock may have been set back between them."""
    return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def _calibrated(state: State, entry: Entry, fact: Calibrated) -> State:
    row0 = state.row0 or _row0(state, entry, fact)
    measure = (fact.primary.name, fact.primary.direction, fact.primary.scale)
    other = state.measure is not None and state.measure != measure
    since = fact.segment if other else state.comparable_from
    return _with(state, calibrated=fact, pairs=(), row0=row0, pool=None, measure=measure, comparable_from=since)


def _row0(state: State, entry: Entry, fact: Calibrated) -> Row0:
    readings = [r for pair in state.pairs for r in pair.readings if r.ok]
    names = sorted({n for r in readings for n in r.secondary})
    columns = {n: [v for r in readings if (v := r.secondary.get(n)) is not None] for n in names}
    means = {n: (sum(c) / len(c) if c else None) for n, c in columns.items()}
    return Row0(entry.at, _must(state.opened, entry).incumbent, fact.primary.mean, means)


def _turn_opened(state: State, entry: Entry, fact: TurnOpened) -> State:
    if state.current is not None or entry.turn != state.next_turn:
        raise JournalError(f"journal line {entry.seq}: turn {entry.turn} opens where turn {state.next_turn} was expected")
    return _with(state, current=OpenTurn(state.next_turn, entry.at, fact.incumbent))


_WITHIN_A_TURN: Mapping[type, Callable[[OpenTurn, Any, Entry], OpenTurn]] = {
    Worked: lambda turn, fact, entry: _with(turn, worked=fact),
    Proposed: lambda turn, fact, entry: _with(turn, proposed=fact),
    Gated: lambda turn, fact, entry: _with(turn, gated=fact),
    Measured: lambda turn, fact, entry: _with(turn, measured=(*turn.measured, fact), tried=True, last_pair=fact.pair),
    Abandoned: lambda turn, fact, entry: _with(turn, measured=()),
    Judged: lambda turn, fact, entry: _with(turn, judged=fact),
    Decided: lambda turn, fact, entry: _with(turn, decided=fact, decided_at=entry.at, decided_link=entry.link),
}


def _in_turn(state: State, entry: Entry) -> State:
    """A fact between TurnOpened and Settled takes its place in the open turn."""
    before = _of_the_open_turn(state, entry)
    turn = _WITHIN_A_TURN[type(entry.fact)](before, entry.fact, entry)
    tried = state.tried + (turn.tried and not before.tried)
    return _with(state, current=turn, tried=tried, seq=entry.seq, last_at=entry.at)


def _of_the_open_turn(state: State, entry: Entry) -> OpenTurn:
    turn = _must(state.current, entry)
    if entry.turn != turn.turn:
        raise JournalError(f"journal line {entry.seq}: a fact of turn {entry.turn} within turn {turn.turn}")
    return turn


def _settled(state: State, entry: Entry, fact: Settled) -> State:
    turn = _of_the_open_turn(state, entry)
    decided = _must(turn.decided, entry)
    status, counts = decided.status, decided.status.is_verdict
    return _with(
        state,
        current=None,
        incumbent=fact.incumbent,
        finished=(*state.finished, _record(state, turn, decided, entry, fact)),
        keeps=state.keeps + (status is Status.KEEP),
        improvements=state.improvements + (status is Status.KEEP and decided.basis is Basis.METRIC_IMPROVEMENT),
        pool=decided.pool or state.pool,
        verdicts=state.verdicts + counts,
        verdicts_since_stop=state.verdicts_since_stop + counts,
        crashes_in_row=_in_row(state.crashes_in_row, status is Status.CRASH, counts),
        agent_errors_in_row=_in_row(state.agent_errors_in_row, status is Status.AGENT_ERROR, counts),
        nothing_in_row=_in_row(state.nothing_in_row, status in (Status.NO_CHANGE, Status.DUPLICATE), counts),
    )


def _in_row(count: int, again: bool, counts: bool) -> int:
    """One more, or back to none; a turn without a verdict leaves the other count as it was."""
    return count + 1 if again else 0 if counts else count


def _record(state: State, turn: OpenTurn, decided: Decided, entry: Entry, fact: Settled) -> TurnRecord:
    p = turn.proposed
    return TurnRecord(
        turn=turn.turn,
        segment=_must(state.opened, entry).segment,
        opened_at=turn.opened_at,
        settled_at=entry.at,
        incumbent=turn.incumbent,
        candidate=p.candidate if p else None,
        kept=fact.incumbent if decided.status is Status.KEEP else None,
        tree=p.tree if p else None,
        hypothesis=p.hypothesis if p else None,
        approach=p.approach if p else None,
        declares=p.declares if p else None,
        message=p.message if p else "",
        notes=p.notes if p else None,
        parameters=p.parameters if p else None,
        changes=p.changes if p else (),
        decided=decided,
        usage=turn.worked.usage if turn.worked else Usage(),
        seconds=turn.worked.seconds if turn.worked else None,
    )


def _with(value: Kept, **changes: object) -> Kept:
    """dataclasses.replace, eight times as fast: a long journal is folded at the start of every run, and for every view."""
    changed = object.__new__(type(value))
    changed.__dict__.update(value.__dict__, **changes)
    return changed


def _must(value: T | None, entry: Entry) -> T:
    if value is None:
        raise JournalError(f"journal line {entry.seq}: {type(entry.fact).__name__} (turn {entry.turn}) has nothing before it")
    return value
