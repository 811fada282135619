"""What a person wants to know of a campaign as it stands: the numbers behind status and summary."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from runner.core.events import Json
from runner.core.models import Direction, Oid, Scale, Status
from runner.core.state import State, TurnRecord

Doing = Literal["new", "running", "waiting", "stopped", "killed", "unknown"]


@dataclass(frozen=True, slots=True)
class Gain:
    """What the incumbent gained over the baseline: `value` > 0 is better; `fresh` where it was measured on fresh pairs."""

    value: float | None
    interval: tuple[float, float] | None
    scale: Scale
    fresh: bool


def kept(state: State) -> list[TurnRecord]:
    return [record for record in state.finished if record.decided.status is Status.KEEP]


def gain(state: State) -> Gain | None:
    """The re-measured gain where it is the present incumbent's, else the kept effects one upon the other; None before any keep.

    Without fresh pairs the interval is only known where one keep made all of the gain.
    """
    fresh = state.remeasured
    if fresh and fresh.incumbent == state.incumbent:
        return Gain(fresh.effect, fresh.interval, fresh.scale, True)
    keeps = [record for record in kept(state) if record.segment >= state.comparable_from]
    if not keeps or not state.calibrated:
        return None
    noise = state.calibrated.primary
    steps = [record.decided.effect for record in keeps]
    interval = keeps[0].decided.interval if len(keeps) == 1 else None
    return Gain(compound(steps, noise.scale, noise.direction), interval, noise.scale, False)


def compound(steps: Iterable[float | None], scale: Scale, direction: Direction) -> float | None:
    """Effects one upon the other; on the ratio scale each is a share of the incumbent of its time. None where one is unknown."""
    known = list(steps)
    if any(step is None for step in known):
        return None
    values = [step for step in known if step is not None]
    if scale == "difference" or len(values) == 1:
        return math.fsum(values)
    if direction == "lower":
        return 1 - math.prod(1 - value for value in values)
    return math.prod(1 + value for value in values) - 1


def expected_false_keeps(state: State) -> float | None:
    """A bound on the expected number of false keeps: the sum of what each judged candidate was allowed to risk (1/needed).

    A turn without a bound risked nothing unless it was kept; kept on a metric that never differs it is sure, else unknown.
    """
    sure = state.calibrated is not None and state.calibrated.primary.deterministic
    if not sure and any(record.decided.needed is None for record in kept(state)):
        return None
    return math.fsum(1 / record.decided.needed for record in state.finished if record.decided.needed)


@dataclass(frozen=True, slots=True)
class Spent:
    """Totals of a campaign; `unpriced` turns did not say what they used, so that tokens and cost are at least these."""

    active_s: float
    tokens: int | None
    cost_usd: float | None
    unpriced: int


def spent(state: State, now: str | None) -> Spent:
    """`now` is the present time while a runner works, None while none does."""
    usages = [record.usage for record in state.finished]
    tokens = [usage.tokens for usage in usages if usage.tokens is not None]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    unpriced = sum(usage.tokens is None and usage.cost_usd is None for usage in usages)
    return Spent(
        state.active_before + present_run(state, now),
        sum(tokens) if tokens else None,
        math.fsum(costs) if costs else None,
        unpriced,
    )


def present_run(state: State, now: str | None) -> float:
    """Seconds of the run that has no `Stopped` yet: until now while it works, else until its last fact."""
    if state.started is None or state.stopped is not None:
        return 0.0
    start, end = datetime.fromisoformat(state.started_at), datetime.fromisoformat(now or state.last_at)
    return max(0.0, (end - start).total_seconds())


def doing(state: State, alive: bool | None, now: str) -> Doing:
    """`alive` says whether the process of the last `Started` runs, None where nobody here can tell."""
    if state.started is None:
        return "new"
    if state.stopped is not None:
        return "stopped"
    if not alive:
        return "unknown" if alive is None else "killed"
    return "waiting" if state.waited and state.waited.until > now else "running"


def status(state: State, alive: bool | None, now: str) -> dict[str, Json]:
    """The object of `status --json`: its keys are a promise to scripts; unknown is null."""
    best = gain(state)
    interval: list[Json] | None = list(best.interval) if best and best.interval else None
    return {
        "state": doing(state, alive, now),
        "turns": len(state.finished),
        "keeps": state.keeps,
        "incumbent": state.incumbent,
        "baseline": baseline(state),
        "best_effect": best.value if best else None,
        "interval": interval,
        "expected_false_keeps": expected_false_keeps(state),
        "budget": _budget(state, now if alive else None),
        "stopped_by": state.stopped.rule if state.stopped else None,
        "confinement": dict(state.started.confinement) if state.started else None,
    }


def baseline(state: State) -> Oid | None:
    return state.origin.baseline if state.origin else None


def _budget(state: State, now: str | None) -> dict[str, Json]:
    """What was used, and what the present start asked for; the contract's own bounds are not in the journal."""
    used = spent(state, now)
    return {
        "verdicts": state.verdicts,
        "verdicts_since_stop": state.verdicts_since_stop,
        "max_turns": state.started.max_turns if state.started else None,
        "active_s": round(used.active_s, 3),
        "active_since_stop_s": round(state.active_since_stop + present_run(state, now), 3),
        "budget_s": state.started.budget_s if state.started else None,
        "tokens": used.tokens,
        "cost_usd": used.cost_usd,
        "turns_without_usage": used.unpriced,
    }
