"""When the loop ends: the first bound that is reached, and why."""

from collections.abc import Iterator
from dataclasses import dataclass

from runner.core.contract import Budget
from runner.core.models import Status
from runner.core.news import Left
from runner.core.state import State


@dataclass(frozen=True, slots=True)
class Ending:
    """A rule that ends the loop; `exit_code` 0 where a bound was reached as planned, 1 where something is broken."""

    rule: str
    reason: str
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """What this start of the runner was asked for: verdicts and active seconds since the last `Stopped`."""

    max_turns: int | None
    budget_s: float | None
    active_s: float


EXHAUSTED = "proposals_exhausted"
NOTHING_NEW = 25
"""Empty and repeated proposals in a row that end a start: each may cost money, and no bound of the contract sees them."""
REMEASURE_SHARE = 0.1
"""Of the wall clock, what the honest total may take at most."""
TOTALS = frozenset({"budget.turns", "budget.wall_clock", "budget.tokens", "budget.cost_usd", "budget.saturation"})
"""Rules that end the whole campaign, not only this start: the honest total is due, and another start ends at once."""


def is_total(end: Ending) -> bool:
    return end.rule in TOTALS


def is_final(end: Ending) -> bool:
    """Whether the campaign is over as far as anyone can tell, so that its honest total is due."""
    return is_total(end) or end.rule == EXHAUSTED


def left(state: State, bounds: Budget, session: Session) -> Left:
    """What is left before the next turn, by the nearer of the campaign's bounds and this start's."""
    tokens, cost = tokens_spent(state), cost_spent(state)
    turns = [
        *([bounds.turns - state.verdicts] if bounds.turns is not None else []),
        *([session.max_turns - state.verdicts_since_stop] if session.max_turns is not None else []),
    ]
    seconds = [
        *([bounds.wall_clock_s - state.active_before - session.active_s] if bounds.wall_clock_s is not None else []),
        *([session.budget_s - session.active_s] if session.budget_s is not None else []),
    ]
    return Left(
        turns=min(turns, default=None),
        seconds=min(seconds, default=None),
        tokens=bounds.tokens - tokens if bounds.tokens is not None and tokens is not None else bounds.tokens,
        cost_usd=bounds.cost_usd - cost if bounds.cost_usd is not None and cost is not None else bounds.cost_usd,
    )


def ending(state: State, bounds: Budget, session: Session) -> Ending | None:
    """The first rule that says the loop is over, or None to go on with another turn."""
    return next(_reached(state, bounds, session), None)


def _reached(state: State, bounds: Budget, session: Session) -> Iterator[Ending]:
    total_s = state.active_before + session.active_s
    spent = tokens_spent(state), cost_spent(state)
    if bounds.turns is not None and state.verdicts >= bounds.turns:
        yield Ending("budget.turns", f"{state.verdicts} of {bounds.turns} turns are played")
    if session.max_turns is not None and state.verdicts_since_stop >= session.max_turns:
        yield Ending("max_turns", f"{state.verdicts_since_stop} of {session.max_turns} turns since the last stop are played")
    if bounds.wall_clock_s is not None and total_s >= bounds.wall_clock_s - reserved(state, bounds.wall_clock_s):
        kept = reserved(state, bounds.wall_clock_s)
        rest = f", {kept:.0f} are kept for measuring the gain afresh" if kept else ""
        yield Ending("budget.wall_clock", f"{total_s:.0f} of {bounds.wall_clock_s:.0f} active seconds are spent{rest}")
    if session.budget_s is not None and session.active_s >= session.budget_s:
        yield Ending("budget", f"{session.active_s:.0f} of {session.budget_s:.0f} seconds since the last stop are spent")
    if bounds.tokens is not None and spent[0] is not None and spent[0] >= bounds.tokens:
        yield Ending("budget.tokens", f"{spent[0]:,} of {bounds.tokens:,} tokens are spent")
    if bounds.cost_usd is not None and spent[1] is not None and spent[1] >= bounds.cost_usd:
        yield Ending("budget.cost_usd", f"{spent[1]:.2f} of {bounds.cost_usd:.2f} USD are spent")
    if bounds.consecutive_crashes is not None and state.crashes_in_row >= bounds.consecutive_crashes:
        yield Ending("budget.consecutive_crashes", f"{state.crashes_in_row} candidates in a row crashed")
    if state.agent_errors_in_row >= bounds.agent_errors:
        last = state.finished[-1].decided.reason if state.finished else "unknown"
        yield Ending("budget.agent_errors", f"the worker failed {state.agent_errors_in_row} times in a row; last: {last}", 1)
    if state.nothing_in_row >= NOTHING_NEW:
        yield Ending("nothing_new", f"the worker proposed nothing new in {state.nothing_in_row} turns in a row", 1)
    if bounds.saturation is not None and since_last_keep(state) >= bounds.saturation:
        yield Ending("budget.saturation", f"no real gain in the last {bounds.saturation} turns")


def is_remeasuring_due(state: State) -> bool:
    """Whether something was kept since the gain was last measured on fresh pairs."""
    if state.origin is None or state.incumbent in (None, state.origin.baseline):
        return False
    return state.remeasured is None or state.remeasured.incumbent != state.incumbent


def reserved(state: State, wall_clock_s: float) -> float:
    """Seconds of the wall clock that are kept for the honest total at the end."""
    return REMEASURE_SHARE * wall_clock_s if is_remeasuring_due(state) else 0.0


def is_out_of_time(state: State, bounds: Budget, session: Session) -> bool:
    """Whether the wall clock is spent to its last second, the reserve included."""
    return bounds.wall_clock_s is not None and state.active_before + session.active_s >= bounds.wall_clock_s


def tokens_spent(state: State) -> int | None:
    """Tokens of all finished turns; None where no turn said a figure."""
    known = [r.usage.tokens for r in state.finished if r.usage.tokens is not None]
    return sum(known) if known else None


def cost_spent(state: State) -> float | None:
    """USD of all finished turns; None where no turn said a figure."""
    known = [r.usage.cost_usd for r in state.finished if r.usage.cost_usd is not None]
    return sum(known) if known else None


def since_last_keep(state: State) -> int:
    """Verdicts since the last keep."""
    count = 0
    for record in reversed(state.finished):
        if record.decided.status is Status.KEEP:
            break
        count += record.decided.status.is_verdict
    return count
