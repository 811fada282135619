"""From a directory to a bench: the contract is read, the ground is looked over, and what is missing is refused by name."""

import difflib
import hashlib
import json
import os
import platform
import secrets
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath

from runner import __version__, files, host, repo
from runner.agents import AGENTS
from runner.bench import Bench, Deadline, World, below
from runner.core import config
from runner.core.contract import CheapDecision, Contract
from runner.core.errors import CampaignError, ContractError, RepoError
from runner.core.events import FORMAT, CampaignOpened, Json, Started
from runner.core.models import Oid
from runner.core.news import Face, Hello, Warned
from runner.core.options import Options
from runner.core.policy import Amount, Guardrail, Policy
from runner.core.rows import About
from runner.core.state import State
from runner.core.surface import Surface, surface_of
from runner.evaluators.plug import Wanted
from runner.repo import UserRepo
from runner.sandbox import probe
from runner.shipped import shipped
from runner.signals import Cancel

CONTRACT = "experiment.yaml"
PROMPTS = {"goal": "goal_prompt.md", "judge": "judge_prompt.md"}
OWN_FILES = (
    "journal.jsonl", "journal.jsonl.torn", "current_winner.json", "results.tsv", "experiments.jsonl", "summary.md",
    "autoresearch_summary_*.md", "report.html", "runner.log", "program.learned.md", "artifacts", "STOP",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ground:
    """What a start finds before it has changed anything; `digests` are the words a segment stands on."""

    experiment: Path
    contract: Contract
    user: UserRepo
    root: PurePath
    surface: Surface
    digests: Mapping[str, str]

    @property
    def own(self) -> tuple[Path, ...]:
        """The runner's own files, as far as they are there."""
        return tuple(p for p in self.experiment.iterdir() if is_own(p.name))


def is_own(name: str) -> bool:
    """Whether a name in the experiment directory is the runner's own."""
    return any(fnmatch(name, pattern) for pattern in OWN_FILES)


def look(experiment: Path, home: Path) -> Ground:
    """Read the contract and find the repository; every refusal says what was expected, found, and how to mend it."""
    contract = read_contract(experiment, home)
    where = Path(contract.git_repo_path or contract.project_root)
    if not where.is_dir():
        key = "git_repo_path" if contract.git_repo_path else "project_root"
        raise ContractError(contract.say(key, f"expected a directory, found none at {where}"))
    if not Path(contract.project_root).is_dir():
        raise ContractError(contract.say("project_root", f"expected a directory, found none at {contract.project_root}"))
    user = repo.discover(where)
    root = _spelled(where, user.worktree)
    surface = surface_of(contract, root, lambda p: Path(p).is_dir())
    _supported(contract)
    _programs(contract, experiment)
    return Ground(experiment, contract, user, root, surface, _digests(experiment, contract, root))


def read_contract(experiment: Path, home: Path) -> Contract:
    """The contract of an experiment directory."""
    path = experiment / CONTRACT
    schema = json.loads(shipped("schemas", "experiment.schema.json"))
    try:
        text = files.read_plain(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ContractError(
            f"{CONTRACT}: expected UTF-8, found byte {error.object[error.start]:#04x} at {error.start}"
        ) from error
    except OSError as error:
        raise ContractError(f"{path}: {error.strerror}", "expected an experiment directory with an experiment.yaml") from error
    return config.parse(text, CONTRACT, experiment, schema, home)


def _spelled(where: Path, worktree: Path) -> PurePath:
    """The repository's root in the contract's own spelling, which may lead through symlinks."""
    return next((p for p in (where, *where.parents) if p.exists() and p.samefile(worktree)), worktree)


def _supported(contract: Contract) -> None:
    """What the contract may say and this version does not do yet is refused, never passed over."""
    if contract.worker.agent not in AGENTS:
        raise ContractError(
            contract.say("worker.agent", f"{contract.worker.agent} is not built into this version"), f"it has {', '.join(AGENTS)}"
        )
    if contract.judge.agent != "none" and contract.judge.agent not in AGENTS:
        raise ContractError(contract.say("judge", f"a judge ({contract.judge.agent}) is not built into this version"))
    later = {
        "decision.cost": not isinstance(contract.decision, CheapDecision),
        "setup.run": contract.setup is not None and bool(contract.setup.run),
        "build": contract.build is not None,
        "budget.shapes": contract.budget.shapes is not None,
        "sandbox.network": contract.sandbox.network == "proxy",
    }
    for key, asked in later.items():
        if asked:
            raise ContractError(contract.say(key, "is not built into this version: leave it out"))


def _programs(contract: Contract, experiment: Path) -> None:
    """Programs that the contract names by path have to be there before anything runs."""
    named = {
        "commands.evaluate": contract.evaluate,
        "commands.screen": contract.screen,
        "worker.command": contract.worker.command,
    }
    for key, command in named.items():
        if command and command[0].startswith("/") and not Path(command[0]).is_file():
            raise ContractError(contract.say(key, f"expected a program, found none at {command[0]}"))
    if contract.settings_file and not Path(contract.settings_file).is_file():
        where = contract.say(
            "current_winner.settings_file", f"expected the starting settings, found none at {contract.settings_file}"
        )
        raise ContractError(where, "copy the settings file there as it stands at the commit to start from")
    if not (experiment / PROMPTS["goal"]).is_file():
        raise ContractError(f"{experiment / PROMPTS['goal']} is missing", "write down what the worker should optimise")


# --- digests: what a segment stands on -------------------------------------------------------------


def _digests(experiment: Path, contract: Contract, root: PurePath) -> dict[str, str]:
    words = {name: _sha(experiment / file) for name, file in {"contract": CONTRACT, **PROMPTS}.items()}
    return {**words, "evaluator": files.digest(experiment, left_out(experiment, contract))}


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()


class left_out:  # noqa: N801 - it is used as a function
    """Which files of the experiment directory are no part of the evaluator: the runner's, the contract and its prompts,
    the steering notes, what the worker is made of, and what may be edited."""

    def __init__(self, experiment: Path, contract: Contract) -> None:
        editable = [*contract.settings_files, *([contract.settings_file] if contract.settings_file else [])]
        workers = [PurePath(word) for word in contract.worker.command[:1]] + [p for p in [contract.worker.folder] if p]
        named = (below(path, experiment) for path in (*editable, *workers, *(w.path for w in contract.writable_paths)))
        self._named = tuple(n for n in named if n)
        self._plain = {CONTRACT, *PROMPTS.values(), "program.md", ".gitignore"}

    def __call__(self, path: str) -> bool:
        top = path.split("/", 1)[0]
        if is_own(top) or path in self._plain or {".git", "__pycache__"} & set(path.split("/")):
            return True
        return any(path == n or path.startswith(f"{n}/") for n in self._named)


# --- refusals before the first line of a journal -----------------------------------------------------


def refuse_dirty(ground: Ground, allow: bool) -> tuple[str, ...]:
    """What is not committed; refused unless the person waived it."""
    found = repo.unclean(ground.user, ground.own)
    if found and not allow:
        shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise RepoError(
            f"the working tree of {ground.user.worktree} is not clean: {shown}",
            "commit, ignore or stash these, or start with --allow-dirty (they are then no part of the baseline)",
        )
    return found


def refuse_foreign_branch(ground: Ground) -> None:
    """A branch of that name that this journal did not make is never touched."""
    tip = repo.branch_tip(ground.user, ground.contract.branch)
    if tip is not None:
        raise RepoError(
            f"branch {ground.contract.branch} exists already (at {tip[:12]}), and this experiment has no journal that made it",
            f"rename or delete it (git branch -m {ground.contract.branch} NEW_NAME), or set another `branch` in {CONTRACT}",
        )


def refuse_other_settings(bench: Bench, baseline: Oid) -> None:
    """The starting settings have to be those of the commit the campaign starts from, byte for byte."""
    start = bench.contract.settings_file
    if start is None:
        return
    for path in bench.settings():
        if bench.private.read(baseline, path) is None:
            raise ContractError(
                bench.contract.say("optimization_surface.settings_files", f"{path} is not in commit {baseline[:12]}")
            )
    first = bench.settings()[0]
    committed, written = bench.private.read(baseline, first) or b"", Path(start).read_bytes()
    if committed != written:
        old, new = (data.decode("utf-8", "backslashreplace").splitlines() for data in (committed, written))
        found = difflib.unified_diff(old, new, f"{first} at {baseline[:12]}", Path(start).name, lineterm="")
        diff = "\n".join(list(found)[:40])
        raise CampaignError(
            f"{Path(start).name} differs from {first} at the commit to start from:\n{diff}",
            f"copy one over the other, and commit {first}",
        )


def refuse_another_campaign(ground: Ground, known: State) -> None:
    """A journal goes on only under the id and the branch it was opened with."""
    opened = known.opened
    if opened is not None and (opened.experiment, opened.branch) != (ground.contract.id, ground.contract.branch):
        raise CampaignError(
            f"the journal belongs to {opened.experiment} on branch {opened.branch},"
            f" {CONTRACT} says {ground.contract.id} on {ground.contract.branch}",
            "put id and branch back, or move journal.jsonl away to begin a new campaign",
        )


def absent_in_checkout(bench: Bench, commit: Oid) -> str:
    """What lies in the person's checkout and not in a fresh one, as the likely reason why a fresh one fails; "" for nothing."""
    tracked = bench.private.entries(commit)
    folders = {str(parent) for path in tracked for parent in PurePath(path).parents}
    root = bench.user.worktree
    here = [p.relative_to(root).as_posix() for f in sorted(folders) if (root / f).is_dir() for p in sorted((root / f).iterdir())]
    lacking = [
        p for p in here if p not in tracked and p not in folders and not p.endswith(".git") and not is_own(PurePath(p).name)
    ]
    if not lacking:
        return ""
    shown = ", ".join(files.display(p) for p in lacking[:8]) + (f" and {len(lacking) - 8} more" if len(lacking) > 8 else "")
    return f"these exist in {root} and not in a fresh checkout: {shown}; bring what it needs with: setup: {{link: [NAME, ...]}}"


# --- the bench -----------------------------------------------------------------------------------------


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
        news=face.news,
    )


def about(contract: Contract) -> About:
    primary = contract.objective.primary
    return About(contract.id, contract.name, primary.name, primary.direction, PurePath(contract.winner_output).name)


def hello(at: Bench, known: State, dirty: tuple[str, ...], options: Options) -> Hello:
    """The start in words: what will run, what the confinement holds, and to what the person consents."""
    contract, report = at.contract, at.sandbox.report
    runs = [f"worker: {contract.worker.agent}", *(f"guard {g.name}: {' '.join(g.run)}" for g in contract.guards)]
    runs += [f"{name}: {' '.join(c)}" for name, c in (("screen", contract.screen), ("evaluate", contract.evaluate)) if c]
    waived = f" Not part of the baseline, since not committed: {', '.join(dirty[:5])}." if dirty else ""
    return Hello(
        experiment=contract.id,
        name=contract.name,
        agent=contract.worker.agent,
        runs=tuple(runs),
        consent=f"These commands run on this machine, and winners advance branch {contract.branch}.{waived}",
        held=_words(report.get("held")),
        not_held=_words(report.get("not_held")),
        resumes=known.current.turn if known.current else None,
    )


def _words(found: Json) -> tuple[str, ...]:
    return tuple(str(item) for item in found) if isinstance(found, (list, tuple)) else ()


def opened(at: Bench, campaign: str, before: State, digests: Mapping[str, str]) -> CampaignOpened:
    """The first line of a campaign, or of a new segment after something it stands on was changed."""
    last = before.opened
    return CampaignOpened(
        format=FORMAT,
        campaign=campaign,
        experiment=at.contract.id,
        segment=last.segment + 1 if last else 1,
        branch=at.contract.branch,
        baseline=last.baseline if last else at.user.head,
        incumbent=before.incumbent or at.user.head,
        seed=at.contract.seed,
        digests=digests,
        evaluator_commit=_evaluator_commit(at),
        versions={"runner": __version__, "python": platform.python_version()},
        changed=tuple(sorted(k for k in digests if digests[k] != last.digests.get(k))) if last else (),
    )


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
    return Started(host.host_name(), me.boot, me.pid, me.started, at.sandbox.report, options.max_turns, options.budget_s)
