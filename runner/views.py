"""How a campaign stands, seen without touching it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from runner.core.events import Json, Started
from runner.core.standing import Gain, doing, expected_false_keeps, gain, spent, status
from runner.core.state import State, TurnRecord, fold
from runner.core.text import escaped_json, shown
from runner.core.wording import UNKNOWN, confinement, cost, count, effect, interval, message, short, span, times, verdict
from runner.journal import NAME, Scan, glance
from runner.streams import put

_LAST_TURNS = 5


def is_running(started: Started | None) -> bool | None:
    """Whether the runner of that start works now; None where it started on another machine, which nobody here can ask."""
    if started is None:
        return False
    from runner.host import ProcessId, host_name, is_alive

    if started.host != host_name():
        return None
    return is_alive(ProcessId(started.pid, started.process_started, started.boot))


def standing(experiment: Path, warn: Callable[[str], None]) -> tuple[State, bool | None]:
    """The state as far as the journal is whole, and whether a runner works; `warn` is told of damage. Takes no lock."""
    found = glance(experiment)
    tell_damage(found, warn)
    state = fold(found.entries)
    return state, is_running(state.started) if state.stopped is None else False


def _now() -> str:
    from runner.host import utc_now

    return utc_now()


def tell_damage(found: Scan, warn: Callable[[str], None]) -> None:
    """Warn of a hole in the journal, by its line."""
    if found.damage:
        line, why = found.damage
        warn(f"warning: {NAME}:{line}: damaged: {why}; only what precedes it is shown")


def show_status(experiment: Path, as_json: bool, out: TextIO, warn: Callable[[str], None]) -> None:
    """Write the status to `out`, as one JSON object or as lines for a person."""
    state, alive = standing(experiment, warn)
    now = _now() if alive else state.last_at
    if as_json:
        report: dict[str, Json] = status(state, alive, now)
        put(out, escaped_json(json.dumps(report, ensure_ascii=False, allow_nan=False)) + "\n")
        return
    put(out, "".join(line + "\n" for line in status_lines(state, alive, now)))


def status_lines(state: State, alive: bool | None, now: str) -> list[str]:
    """The status for a person, one safe line each."""
    opened = state.opened
    if opened is None:
        return ["no campaign yet: nothing was started here"]
    used = spent(state, now if alive else None)
    false = expected_false_keeps(state)
    lines = [
        f"{opened.experiment}: {_doing(state, alive, now)}",
        f"  baseline   {short(state.origin.baseline if state.origin else None)} -> incumbent {short(state.incumbent)}",
        f"  gain       {_gain(gain(state))}",
        f"  turns      {len(state.finished)}, {state.keeps} kept; expected false keeps "
        + (UNKNOWN if false is None else f"at most {false:.2g}"),
        f"  used       {span(used.active_s)} active, {count(used.tokens)} tokens, cost {cost(used.cost_usd)}"
        + (f" (at least: {times(used.unpriced, 'turn')} did not say)" if used.unpriced else ""),
        f"  confined   {confinement(state.started.confinement) if state.started else UNKNOWN}",
    ]
    lines += [f"  turn {r.turn:<5} {_turn(r)}" for r in state.finished[-_LAST_TURNS:]]
    return [line[: len(line) - len(line.lstrip())] + shown(line) for line in lines]


def _doing(state: State, alive: bool | None, now: str) -> str:
    word = doing(state, alive, now)
    if state.stopped:
        return f"stopped by {state.stopped.rule}: {state.stopped.reason}"
    if word == "killed":
        return f"killed after {state.last_at}; the same command goes on"
    if word == "unknown" and state.started:
        return f"started on {state.started.host}, ask there whether it runs; last fact {state.last_at}"
    if word == "waiting" and state.waited:
        return f"waiting until {state.waited.until}: {state.waited.why}"
    turn = f", turn {state.current.turn}" if state.current else ""
    return f"{word} since {state.started_at}{turn}"


def _gain(best: Gain | None) -> str:
    if best is None:
        return "nothing kept yet"
    how = "measured afresh" if best.fresh else "by the keeps' own measurements"
    return f"{effect(best.value, best.scale)}{interval(best.interval, best.scale)}, {how}"


def _turn(record: TurnRecord) -> str:
    return f"{verdict(record.decided)} | {message(record.message)}"
