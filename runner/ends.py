"""How a command of the contract ended, in words for a message and in a log for the person."""

import re
from dataclasses import replace
from pathlib import Path

from runner.bench import Bench
from runner.core.models import TurnNo
from runner.processes import Finished


def fault(finished: Finished, timeout_s: float) -> str | None:
    """What went wrong with a command, in one sentence; None where it ended by itself with 0."""
    if finished.not_started:
        return f"could not be started: {finished.not_started}"
    if finished.timed_out:
        return f"no end after {timeout_s:g} s"
    if finished.ok:
        return None
    how = f"signal {finished.signal}" if finished.signal is not None else f"exit code {finished.exit_code}"
    return f"{how}; {last_words(finished)}"


def last_words(finished: Finished, limit: int = 400) -> str:
    """The end of what a child said, for one line of a message."""
    said = (finished.stderr.text().strip() or finished.stdout.text().strip()).splitlines()
    return " | ".join(line.strip() for line in said[-4:])[-limit:] or "it said nothing"


def by_the_persons_path(bench: Bench, finished: Finished) -> Finished:
    """Why a program was not started, naming the file that a person can mend and not the copy that was to run."""
    if finished.not_started is None:
        return finished
    inside, theirs = str(bench.sandbox.places.experiment), str(bench.experiment)
    return replace(finished, not_started=finished.not_started.replace(inside, theirs))


def keep_log(bench: Bench, turn: TurnNo, name: str, finished: Finished) -> Path:
    """What a command said, for the person who wonders about it; hands back where it stands."""
    file = f"gates/{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}.log"
    return bench.keep(turn, file, f"{finished.stdout.text()}\n--- stderr ---\n{finished.stderr.text()}\n")
