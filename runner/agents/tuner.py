"""The agent without a model: proposes settings by Optuna in a child process, from nothing but the journal."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from runner.agents import settings, space
from runner.agents.plug import Exhausted, Launch, Task
from runner.agents.propose import seed_of
from runner.core.contract import Parameter
from runner.core.errors import ContractError
from runner.core.events import Json, Usage

PACKAGE = Path(__file__).resolve().parents[1]
BOOT = (
    "import os, sys; sys.path.insert(0, sys.argv[1]); from runner.agents.propose import main; "
    "sys.exit(main(sys.argv[2], os.environ['RESEARCH_WORKER_OUTPUT']))"
)
"""Isolated mode keeps out what lies in the agent's copy (`optuna.py`, `runner/`); so the package's path is brought along."""


def prepare(task: Task) -> Launch | Exhausted:
    """The child that proposes the turn's settings, or that every combination has been tried; raises ContractError."""
    if not task.parameters:
        raise ContractError("worker.agent is tuner, but no parameters are declared", "declare what it may turn under parameters")
    files = _files(task)
    _values(files, task.settings)
    first = _values(files, task.first_settings)
    known, notes = space.trials(task.parameters, first, [r for r in task.records if r.turn < task.turn], task.direction)
    volume = space.volume(task.parameters)
    if volume is not None and len({space.key(t.point) for t in known if t.tried}) >= volume:
        return Exhausted(f"every combination has been tried ({volume} of them)")
    order: dict[str, Json] = {
        "seed": seed_of(task.seed, task.turn),
        "parameters": list(space.dump(task.parameters)),
        "trials": [[dict(t.point), t.value, t.tried] for t in known],
        "files": {os.path.relpath(name, task.cwd or "."): {p.name: p.key for p in turned} for name, turned in files.items()},
        "notes": list(notes),
    }
    return Launch(
        argv=(task.python, "-I", "-c", BOOT, str(PACKAGE.parent), f"{task.input_dir}/tuner.json"),
        env={"OPENBLAS_NUM_THREADS": "1"},
        files={"tuner.json": json.dumps(order, allow_nan=False).encode()},
        read_only=(PurePath(PACKAGE),),
        usage=Usage(tokens=0, cost_usd=0.0),
    )


def _files(task: Task) -> dict[str, list[Parameter]]:
    """The parameters of each settings file, by its path in the tree."""
    files: dict[str, list[Parameter]] = {}
    for p in task.parameters:
        files.setdefault(p.file.relative_to(task.root).as_posix(), []).append(p)
    return files


def _values(files: Mapping[str, Sequence[Parameter]], texts: Mapping[str, bytes]) -> dict[str, Json]:
    """Each parameter's value in these settings files, by its name."""
    found: dict[str, Json] = {}
    for name, turned in files.items():
        if name not in texts:
            raise ContractError(f"{name} holds parameters, but it is not in the tree", "commit the settings file")
        at = settings.values(name, texts[name], [p.key for p in turned])
        found |= {p.name: at[p.key] for p in turned}
    return found
