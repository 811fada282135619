"""What came of an agent's run: a table over how it ended and whether it changed anything."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from runner.agents.plug import Answer, Returned
from runner.core.ended import Ended, Output, how, lines, quoted
from runner.core.events import Change
from runner.core.models import Outcome
from runner.core.schemas import LONGEST_ANSWER, Problem, WorkerTurn, worker_turn

End = Literal["not_started", "cancelled", "timed_out", "failed", "done"]

OUTCOMES: Mapping[tuple[End, bool], Outcome] = {
    ("not_started", False): Outcome.NOT_STARTED,
    ("not_started", True): Outcome.NOT_STARTED,
    ("cancelled", False): Outcome.CANCELLED,
    ("cancelled", True): Outcome.CANCELLED,
    ("timed_out", False): Outcome.TIMEOUT,
    ("timed_out", True): Outcome.TIMEOUT,
    ("failed", False): Outcome.CRASHED,
    ("failed", True): Outcome.OK,
    ("done", False): Outcome.NO_CHANGE,
    ("done", True): Outcome.OK,
}
"""By the end and whether the tree changed; a good end without a change may be an API error, an unusable answer a bad one."""

API_ERROR = re.compile(
    r'"is_error"\s*:\s*true|rate[ _-]?limit|usage limit|too many requests|not logged in|please (run /?login|log ?in)|api error'
    r"|invalid api key|authentication[ _](error|failed)|unauthorized|overloaded_error|insufficient_quota|quota exceeded",
    re.IGNORECASE,
)
"""Words with which agents end a run that did nothing, exit code 0 or not."""
LAST = 5
"""How many of the last lines of a stream are looked at."""


def read(back: Returned) -> Answer:
    """The outcome, the worker's own words where they are valid, and a commit message in any case; never raises."""
    end, changed = _end(back.ended), bool(back.changes)
    outcome, reason = OUTCOMES[end, changed], _reason(end, back)
    said = _said(back)
    turn = None if isinstance(said, Problem) else said
    if outcome is Outcome.NO_CHANGE:
        blame = next((line for line in _last(back.ended.stdout) + _last(back.ended.stderr) if API_ERROR.search(line)), None)
        if blame is not None:
            outcome, reason = (
                Outcome.API_ERROR,
                f"the agent ended with exit code 0, changed nothing and said {quoted(blame, 400)}",
            )
    elif outcome is Outcome.OK and isinstance(said, Problem):
        outcome = Outcome.BAD_ANSWER
        reason = "; ".join(filter(None, [reason, f"worker_turn.json is not used: {said.reason}"]))
    if reason and back.launch.label:
        reason = f"{back.launch.label}: {reason}"
    return Answer(outcome, reason, turn, _message(turn, back), back.launch.usage)


def _end(ended: Ended) -> End:
    if ended.not_started is not None:
        return "not_started"
    if ended.cancelled:
        return "cancelled"
    if ended.timed_out:
        return "timed_out"
    return "done" if ended.exit_code == 0 else "failed"


def _reason(end: End, back: Returned) -> str:
    """What the end and the change say together; "" for an ordinary run."""
    files = _names(back.changes)
    if end == "done":
        return "" if back.changes else "the agent changed nothing"
    if end == "failed" and back.changes:
        return f"the agent {how(back.ended)}, but it left a change: that is measured all the same"
    last = _last(back.ended.stderr) or _last(back.ended.stdout)
    words = f"; its last words: {quoted(' | '.join(last), 600)}" if last and end != "cancelled" else ""
    return f"the agent {how(back.ended)}" + (f"; what it changed ({files}) is not used" if back.changes else "") + words


def _last(output: Output) -> list[str]:
    return [line.strip() for line in lines(output) if line.strip()][-LAST:]


def _said(back: Returned) -> WorkerTurn | Problem | None:
    """The worker's words: from its answer file, else what was known beforehand, else its output where that is an answer."""
    if back.answer is None:
        return back.launch.answer or _final(back)
    if len(back.answer) > 4 * LONGEST_ANSWER:
        return Problem(f"it has {len(back.answer)} bytes")
    try:
        return worker_turn(back.answer.decode(), back.schema)
    except UnicodeDecodeError as error:
        return Problem(f"byte {error.start + 1} is not UTF-8")


def _final(back: Returned) -> WorkerTurn | None:
    """A structured final answer on standard output: its last line or all of it; anything else there is just talk."""
    said = [line for line in lines(back.ended.stdout) if line.strip()]
    if '"hypothesis"' not in "".join(said):
        return None
    turns = (worker_turn(text, back.schema) for text in (said[-1], "\n".join(said)))
    return next((turn for turn in turns if isinstance(turn, WorkerTurn)), None)


def _message(turn: WorkerTurn | None, back: Returned) -> str:
    """The worker's commit message, else its hypothesis, else the diff in a line."""
    own = (turn.commit_message or turn.hypothesis.statement) if turn else ""
    return own.replace("\0", "").strip() or message_of(back.changes, back.lines)


def message_of(changes: Sequence[Change], counted: tuple[int, int] | None) -> str:
    """A commit subject from the diff: `Change src/a.py (+3 -1)`; `counted` are the lines added and removed."""
    if not changes:
        return "Change nothing"
    kinds = {change.kind for change in changes}
    verb = {"A": "Add", "D": "Delete", "R": "Rename"}.get(kinds.pop(), "Change") if len(kinds) == 1 else "Change"
    return f"{verb} {_names(changes)}" + (f" (+{counted[0]} -{counted[1]})" if counted is not None else "")


def _names(changes: Sequence[Change]) -> str:
    names = [f"{change.old} to {change.path}" if change.kind == "R" else change.path for change in changes]
    text = ", ".join("".join(c if c.isprintable() else "?" for c in name) for name in names)
    return text if len(names) == 1 or len(text) <= 60 else f"{len(names)} files"
