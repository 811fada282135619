"""How a command of the contract ended, in words for a message and in a log for the person."""

import re
from pathlib import Path

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


def keep_log(folder: Path, name: str, finished: Finished) -> Path:
    """What a command said, for the person who wonders about it; hands back where it stands."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}.log"
    file.write_text(f"{finished.stdout.text()}\n--- stderr ---\n{finished.stderr.text()}\n", encoding="utf-8")
    return file
