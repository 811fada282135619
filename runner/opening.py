"""Everything a campaign works with, set out on a bench; and its first facts."""

import json
import os
import platform
import secrets
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath

from runner import __version__, files, host, repo
from runner.agents import AGENTS
from runner.bench import Bench, Deadline, World
from runner.checkouts import tidy
from runner.core.contract import CheapDecision, Contract
from runner.core.events import FORMAT, CampaignOpened, Json, Started
from runner.core.models import Oid
from runner.core.news import Face, Hello, Warned
from runner.core.options import Options
from runner.core.policy import Amount, Guardrail, Policy
from runner.core.rows import About
from runner.core.state import State
from runner.evaluators.plug import Wanted
from runner.ground import Ground, is_own, left_out
from runner.sandbox import probe
from runner.shipped import shipped
from runner.signals import Cancel

HELD = {
    "fs_write_outside": "children write nowhere but in their own folders",
    "home_visible": "home directories are hidden",
    "tcp": "no network",
    "signal_runner": "no signal reaches the runner",
    "read_runner_env": "the runner's environment cannot be read",
    "orphan_survives": "nothing a child starts outlives it",
}
"""What a probe that was refused means, in words."""


def state_directory(experiment_id: str, campaign: str) -> Path:
    """Where the runner keeps its own things for one campaign, outside of anyone's repository."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "research" / f"{experiment_id}-{campaign}"


def secret_of(state: Path, world: World) -> bytes:
    """The campaign's secret, made once."""
    path = state / "secret"
    if not path.exists():
        files.write_durably(path, world.token(32), 0o600)
    return path.read_bytes()


def evaluator_copy(ground: Ground, state: Path) -> Path:
    """The experiment's files as they stand now, kept where no agent reaches; one copy a digest."""
    target = state / "evaluator" / ground.digests["evaluator"]
    skip = left_out(ground.experiment, ground.contract)
    if target.is_dir() and files.digest(target) == ground.digests["evaluator"]:
        return target
    files.remove_tree(target)
    half = target.with_name(f"{target.name}.half")
    files.remove_tree(half)
    half.mkdir(parents=True)
    for path, found in files.walk(ground.experiment, stop=is_own):
        if not skip(path) and found is not None and not stat.S_ISDIR(found.st_mode):
            (half / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ground.experiment / path, half / path, follow_symlinks=False)
    half.rename(target)
    return target


IMPLAUSIBLE = 20.0
"""Times: a gain beyond this is held. The false wins of agents that reached the clock or the answers were mostly larger, honest
single steps hardly ever are."""


def policy_of(contract: Contract) -> Policy:
    """The contract's words on deciding, as the decision reads them."""
    primary, decided = contract.objective.primary, contract.decision
    assert isinstance(decided, CheapDecision), "refused at the start otherwise"
    return Policy(
        metric=primary.name,
        direction=primary.direction,
        scale=primary.scale or "auto",
        deterministic="auto" if primary.deterministic is None else primary.deterministic,
        min_effect=_amount(primary.min_effect.value, primary.min_effect.percent) if primary.min_effect else Amount(),
        preset=decided.preset,
        max_pairs=decided.max_pairs,
        risk=decided.risk,
        expected_candidates=decided.expected_candidates,
        times=IMPLAUSIBLE,
        guardrails=tuple(
            Guardrail(m.name, m.direction, _amount(m.max_regression.value, m.max_regression.percent))
            for m in contract.objective.guardrails
            if m.max_regression
        ),
    )


def _amount(value: float, percent: bool) -> Amount:
    """The contract keeps 1 % as 0.01, the decision as 1."""
    return Amount(value * 100 if percent else value, percent)


def world() -> World:
    """Chance and time as they are."""
    return World(coin=lambda: secrets.randbits(1) == 1, token=secrets.token_bytes, now=host.utc_now, monotonic=host.monotonic)


def bench(ground: Ground, state: Path, chance: World, cancel: Cancel, face: Face) -> Bench:
    """Everything at hand; makes the state directory and puts its repository in order."""
    contract = ground.contract
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    tidy(state / "trees")
    return Bench(
        contract=contract,
        experiment=ground.experiment,
        state=state,
        user=ground.user,
        root=ground.root,
        private=repo.open_private(state, ground.user),
        surface=ground.surface,
        sandbox=probe(state, contract.sandbox.level),
        plug=AGENTS[contract.worker.agent],
        schema=json.loads(shipped("schemas", "worker_turn.schema.json")),
        policy=policy_of(contract),
        wanted=Wanted(contract.metric, contract.objective.primary.name, tuple(m.name for m in contract.objective.secondary)),
        secret=secret_of(state, chance),
        python=sys.executable,
        path=os.environ.get("PATH", os.defpath),
        evaluator=evaluator_copy(ground, state),
        evaluator_digest=ground.digests["evaluator"],
        world=chance,
        soon=cancel.soon,
        at_once=cancel.now,
        deadline=Deadline(),
        passed={name: os.environ[name] for name in contract.sandbox.env if name in os.environ},
        verified=set(),
        news=face.news,
    )


def about(contract: Contract) -> About:
    primary = contract.objective.primary
    return About(contract.id, contract.name, primary.name, primary.direction, PurePath(contract.winner_output).name)


def hello(at: Bench, known: State, dirty: tuple[str, ...], options: Options) -> Hello:
    """The start in words: what will run, what the confinement holds, and to what the person consents."""
    contract, report = at.contract, at.confinement
    setup, build = contract.setup.run if contract.setup else (), contract.build.run if contract.build else ()
    named = [("setup, with network", setup), ("build", build), ("evaluate_test", contract.evaluate_test)]
    named += [
        ("evaluate", contract.evaluate),
        ("screen", contract.screen),
        *((f"guard {g.name}", g.run) for g in contract.guards),
    ]
    named += [("worker", contract.worker.command)]
    runs = [f"{name}: {' '.join(c).replace(f'{at.experiment}/', './')}" for name, c in named if c]
    waived = f" Not part of the baseline, since not committed: {', '.join(dirty[:5])}." if dirty else ""
    return Hello(
        experiment=contract.id,
        name=contract.name,
        agent=contract.worker.agent,
        runs=tuple(runs),
        consent=f"These commands run on this machine, and winners advance branch {contract.branch}.{waived}",
        held=tuple(words for probed, words in HELD.items() if report.get(probed) is False),
        not_held=_words(report.get("not_held")),
        resumes=known.current.turn if known.current else None,
    )


def _words(found: Json) -> tuple[str, ...]:
    return tuple(str(item) for item in found) if isinstance(found, (list, tuple)) else ()


def opened(at: Bench, campaign: str, before: State, digests: Mapping[str, str]) -> CampaignOpened:
    """The first line of a campaign, or of a new segment after something it stands on was changed."""
    last = before.opened
    baseline = at.user.head if last is None or is_unplayed(before) else last.baseline
    moved = ("baseline",) if last and baseline != last.baseline else ()
    return CampaignOpened(
        format=FORMAT,
        campaign=campaign,
        experiment=at.contract.id,
        segment=last.segment + 1 if last else 1,
        branch=at.contract.branch,
        baseline=baseline,
        incumbent=at.user.head if is_unplayed(before) else before.incumbent or at.user.head,
        seed=at.contract.seed,
        digests=digests,
        evaluator_commit=_evaluator_commit(at),
        versions={"runner": __version__, "python": platform.python_version()},
        changed=(*moved, *sorted(k for k in digests if digests[k] != last.digests.get(k))) if last else (),
    )


def is_unplayed(state: State) -> bool:
    """Whether nothing stands on the baseline yet, not even its noise, so that today's commit may still become it."""
    return state.row0 is None and not state.finished and state.current is None


def _evaluator_commit(at: Bench) -> Oid | None:
    program = Path(at.contract.evaluate[0]) if at.contract.evaluate else None
    found = repo.last_commit_of(at.user, program) if program and program.is_file() else None
    if program and found is None and at.experiment in program.parents:
        at.news(Warned(f"the evaluator {program.name} is not committed", "commit it, so that others can see what was measured"))
    return found


def started(at: Bench, options: Options) -> Started:
    """This process, as the journal remembers it."""
    me = host.process_id()
    assert me is not None, "this process exists"
    return Started(host.host_name(), me.boot, me.pid, me.started, at.confinement, options.max_turns, options.budget_s)
