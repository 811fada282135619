"""The tuner's child process: asks Optuna for the next point, writes it into the settings files of the agent's copy."""

import hashlib
import itertools
import json
import random
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.agents import settings, space
from runner.agents.space import Point, Trial
from runner.core.conditions import same
from runner.core.contract import Parameter
from runner.core.errors import Stop
from runner.core.events import Json

if TYPE_CHECKING:
    import optuna
    from optuna import Study
    from optuna.distributions import BaseDistribution

ASKS = 20
"""How often TPE may name a point that is known already before one is drawn at random."""
STARTUP = 3
"""Points with a value before TPE takes over from chance; the starting settings are the first."""

LONGEST = 2000
"""Characters that worker_turn.schema.json allows a statement."""


def main(order: str, output: str) -> str | None:
    """Carry out the order (a file of `tuner.prepare`) in the working directory and answer into the file `output`.

    Returns what sys.exit takes: None, or the sentence that says why not.
    """
    task = json.loads(Path(order).read_bytes())
    parameters = space.load(task["parameters"])
    known = [Trial(point, value, tried) for point, value, tried in task["trials"]]
    measured = sum(t.value is not None for t in known)
    try:
        values, by = propose(parameters, known, task["seed"])
        changes = _write(parameters, values, task["files"])
    except Stop as stop:
        return str(stop)
    Path(output).write_text(
        json.dumps(_answer(changes, values, f"proposed by {by} from {measured} measured points", task["notes"]))
    )
    return None


def seed_of(seed: int, turn: int) -> int:
    """The sampler's 32-bit seed of one turn."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{turn}".encode()).digest()[:4])


def propose(parameters: Sequence[Parameter], known: Sequence[Trial], seed: int) -> tuple[dict[str, Json], str]:
    """The values to try next by the name of each active parameter, and what chose them: the same for the same trials and seed."""
    import optuna

    axes = {p.name: _axis(p) for p in parameters}
    study = _study(axes, known, seed, by_group=any(p.when for p in parameters))
    told = {space.key(t.point): t.value for t in known if t.tried}
    for _ in range(ASKS):
        trial = study.ask()
        point, values = space.settle(parameters, space.ask(parameters, _asking(trial, axes))[0])
        if space.key(point) not in told:
            return values, "TPE" if len(study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))) >= STARTUP else "chance"
        value = told[space.key(point)]
        study.tell(trial, value, optuna.trial.TrialState.FAIL if value is None else None)
    return space.settle(parameters, _untried(parameters, told.keys(), random.Random(seed)))[1], "chance"


def _axis(p: Parameter) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    count = space.size(p)
    if p.type in ("categorical", "bool"):
        return CategoricalDistribution(list(range(count or 0)))
    if not space.by_number(p):
        return IntDistribution(0, (count or 1) - 1)
    low, high = space.bounds(p)
    return IntDistribution(int(low), int(high), log=True) if p.type == "int" else FloatDistribution(low, high, log=p.log)


def _asking(trial: "optuna.Trial", axes: Mapping[str, "BaseDistribution"]) -> Callable[[Parameter], int | float]:
    """Define by run: what Optuna suggests for one parameter after the other."""
    from optuna.distributions import FloatDistribution, IntDistribution

    def code(p: Parameter) -> int | float:
        axis = axes[p.name]
        if isinstance(axis, IntDistribution):
            return trial.suggest_int(p.name, axis.low, axis.high, log=axis.log)
        if isinstance(axis, FloatDistribution):
            return trial.suggest_float(p.name, axis.low, axis.high, log=axis.log)
        return trial.suggest_categorical(p.name, list(range(space.size(p) or 0)))

    return code


def _study(axes: Mapping[str, "BaseDistribution"], known: Sequence[Trial], seed: int, by_group: bool) -> "Study":
    """`by_group`: parameters that are active together are modelled together, and not only those that always are."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # multivariate is one in Optuna 4
        sampler = optuna.samplers.TPESampler(multivariate=True, group=by_group, n_startup_trials=STARTUP, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.add_trials([_told(axes, trial) for trial in known])
    return study


def _told(axes: Mapping[str, "BaseDistribution"], trial: Trial) -> Any:
    import optuna

    state = optuna.trial.TrialState.FAIL if trial.value is None else optuna.trial.TrialState.COMPLETE
    return optuna.trial.create_trial(
        state=state,
        value=trial.value,
        params=dict(trial.point),
        distributions={name: axes[name] for name in trial.point},
        system_attrs={},
    )


def _untried(parameters: Sequence[Parameter], told: Collection[str], chance: random.Random) -> Point:
    """A point that was not tried, by chance; the caller has made sure that there is one."""
    volume = space.volume(parameters)
    if volume is not None and volume <= 10_000 + len(told):
        return chance.choice([point for point in space.points(parameters) if space.key(point) not in told])
    drawn = (space.ask(parameters, lambda p: _draw(p, chance))[0] for _ in itertools.count())
    return next(point for point in drawn if space.key(space.settle(parameters, point)[0]) not in told)


def _draw(p: Parameter, chance: random.Random) -> int | float:
    count = space.size(p)
    if count is None:
        return chance.uniform(*space.bounds(p))
    return chance.randrange(count) + (int(space.bounds(p)[0]) if space.by_number(p) else 0)


def _write(
    parameters: Sequence[Parameter], values: Mapping[str, Json], files: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, Json, Json]]:
    """Writes what differs into each file (its path from here, with parameter name to key); returns name, before, after.

    A parameter without a value here keeps the one it has.
    """
    changes: list[tuple[str, Json, Json]] = []
    for name, keys in files.items():
        before = Path(name).read_bytes()
        old = settings.values(name, before, list(keys.values()))
        new = {key: values[p] for p, key in keys.items() if p in values and not same(old[key], values[p])}
        if new:
            Path(name).write_bytes(settings.rewrite(name, before, new))
        changes += [(p, old[key], new[key]) for p, key in keys.items() if key in new]
    order = [p.name for p in parameters]
    return sorted(changes, key=lambda change: order.index(change[0]))


def _answer(
    changes: Sequence[tuple[str, Json, Json]], values: Mapping[str, Json], reasoning: str, notes: Sequence[str]
) -> dict[str, Json]:
    import optuna

    heads = [f"{name} to {_shown(after)}" for name, _, after in changes]
    subject = f"Set {', '.join(heads)}"
    if len(subject) > 72:
        subject = f"Set {heads[0]}" + (f" and {len(heads) - 1} more" if len(heads) > 1 else "")
    statement = ", ".join(f"{name} {_shown(before)} -> {_shown(after)}" for name, before, after in changes)
    return {
        "hypothesis": {
            "statement": statement if len(statement) <= LONGEST else f"{statement[: LONGEST - 3]}...",
            "reasoning": reasoning,
        },
        "approach": "tuner",
        "commit_message": subject,
        "declares": "improvement",
        "notes": "; ".join([f"optuna {optuna.__version__}", *notes]),
        "parameters": dict(values),
    }


def _shown(value: Json) -> str:
    return value if isinstance(value, str) and value.strip() else json.dumps(value)
