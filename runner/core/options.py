"""What a person asked for on the command line of a run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """The words of `./research EXPERIMENT_DIR ...`, checked; `max_turns` and `budget_s` count since the last `Stopped`.

    `experiment` is an absolute directory that holds an experiment.yaml; None sets no bound.
    """

    experiment: Path
    max_turns: int | None = None
    budget_s: float | None = None
    dry_run: bool = False
    yes: bool = False
    allow_dirty: bool = False
