"""The lines and objects of the projections, as functions of an entry and the state after it."""

import json
from dataclasses import dataclass

from runner.core.events import Calibrated, CampaignOpened, Entry, Json, Settled
from runner.core.models import Direction, Status
from runner.core.standing import baseline, gain, kept
from runner.core.state import Row0, State, TurnRecord
from runner.core.text import escaped_json, shown
from runner.core.wording import sentence

TSV_HEADER = "iteration\tcommit\tmetric_value\tdelta\tstatus\tdescription\n"


@dataclass(frozen=True, slots=True)
class About:
    """What the projections take from the contract; `winner` is current_winner.output as a path."""

    experiment: str
    name: str
    metric: str
    direction: Direction
    winner: str = "current_winner.json"


def tsv_row(entry: Entry, state: State, about: About) -> str | None:
    """The line that this entry adds to results.tsv, None for most."""
    if _makes_row0(entry, state) and state.row0:
        row = state.row0
        return _tabbed("0", row.commit, repr(row.value), "0", "baseline", f"the starting point of {about.name}")
    if isinstance(entry.fact, Settled):
        record = state.finished[-1]
        verdict = record.decided
        return _tabbed(
            str(record.turn),
            record.kept or record.candidate or "",
            "" if verdict.metric_value is None else repr(verdict.metric_value),
            "" if verdict.delta is None else repr(verdict.delta),
            verdict.status,
            shown(record.message or verdict.reason),
        )
    return None


def _tabbed(*columns: str) -> str:
    return "\t".join(columns) + "\n"


def _makes_row0(entry: Entry, state: State) -> bool:
    return isinstance(entry.fact, Calibrated) and state.row0 is not None and state.row0.at == entry.at


def experiment_line(entry: Entry, state: State, about: About) -> str | None:
    """The line that this entry adds to experiments.jsonl, None for most."""
    if _makes_row0(entry, state) and state.row0 and isinstance(entry.fact, Calibrated):
        return _json_line(_baseline(state.row0, entry.fact.pairs) | _hashes(state.opened))
    if isinstance(entry.fact, Settled):
        return _json_line(_attempt(state.finished[-1], entry.at) | _hashes(state.opened))
    return None


def _baseline(row: Row0, pairs: int) -> dict[str, Json]:
    return {
        "timestamp": row.at, "kind": "baseline", "iteration": 0, "proposal": None, "approach": None, "metric": row.value,
        "effect": None, "interval": None, "pairs": pairs, "status": "baseline", "decision": "kept", "acceptance_basis": None,
        "notes": None, "commit": row.commit, "script_hash": None, "prompt_hash": None,
        "tokens": None, "cost_usd": None, "seconds": None,
    }  # fmt: skip


def _attempt(record: TurnRecord, at: str) -> dict[str, Json]:
    verdict = record.decided
    return {
        "timestamp": at, "kind": "attempt", "iteration": record.turn,
        "proposal": record.message or None, "approach": record.approach, "metric": verdict.metric_value,
        "effect": verdict.effect, "interval": list(verdict.interval) if verdict.interval else None, "pairs": verdict.pairs,
        "status": verdict.status.value, "decision": "kept" if verdict.status is Status.KEEP else "reverted",
        "acceptance_basis": verdict.basis.value, "notes": _notes(record), "commit": record.kept or record.candidate,
        "script_hash": None, "prompt_hash": None,
        "tokens": record.usage.tokens, "cost_usd": record.usage.cost_usd, "seconds": record.seconds,
    }  # fmt: skip


def _notes(record: TurnRecord) -> str:
    """The runner's reason first, then the agent's own note."""
    return f"{record.decided.reason} | agent: {record.notes}" if record.notes else record.decided.reason


def _hashes(opened: CampaignOpened | None) -> dict[str, Json]:
    digests = opened.digests if opened else {}
    return {"script_hash": digests.get("evaluator"), "prompt_hash": digests.get("goal")}


def _json_line(record: dict[str, Json]) -> str:
    return escaped_json(json.dumps(record, ensure_ascii=False, allow_nan=False)) + "\n"


def log_line(entry: Entry, state: State) -> str:
    """The line that this entry adds to runner.log: time, turn, sentence."""
    turn = f"turn {entry.turn}" if entry.turn else "noise" if entry.turn == 0 else "campaign"
    return f"{entry.at} {turn:<9} {sentence(entry, state)}\n"


def winner(state: State, about: About) -> dict[str, Json] | None:
    """current_winner.json: the measured result of the incumbent; None before the first calibration. Unknown is null."""
    row = state.row0
    if row is None:
        return None
    keeps = kept(state)
    last = keeps[-1] if keeps else None
    best = gain(state)
    return {
        "experiment": about.experiment,
        "commit": state.incumbent,
        "metric": {
            "name": about.metric,
            "direction": about.direction,
            "value": last.decided.metric_value if last else row.value,
            "secondary": dict(last.decided.secondary if last else row.secondary),
        },
        "baseline": {"commit": baseline(state), "value": row.value},
        "effect": best.value if best else None,
        "interval": list(best.interval) if best and best.interval else None,
        "turn": last.turn if last else 0,
        "updated_at": last.settled_at if last else row.at,
    }
