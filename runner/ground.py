"""The ground a campaign stands on, looked over before anything is changed; what is missing is refused by name."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePath

from runner import files, repo
from runner.agents import AGENTS
from runner.bench import below
from runner.core import config
from runner.core.contract import CallableMetric, CheapDecision, Contract
from runner.core.errors import ContractError
from runner.core.surface import Surface, surface_of
from runner.repo import UserRepo
from runner.shipped import shipped

CONTRACT = "experiment.yaml"
PROMPTS = {"goal": "goal_prompt.md", "judge": "judge_prompt.md"}
OWN_FILES = (
    "journal.jsonl", "journal.jsonl.torn", "current_winner.json", "results.tsv", "experiments.jsonl", "summary.md",
    "autoresearch_summary_*.md", "report.html", "runner.log", "program.learned.md", "artifacts", "STOP",
    ".*.new",
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
            contract.say(
                "worker.agent" if contract.where("worker.agent") else "codex", f"{contract.worker.agent} is not built in yet"
            ),
            f"this version has {', '.join(AGENTS)}",
        )
    if contract.judge.agent != "none":
        raise ContractError(contract.say("judge", f"a judge ({contract.judge.agent}) is not built into this version"))
    later = {
        "decision.cost": not isinstance(contract.decision, CheapDecision),
        "budget.shapes": contract.budget.shapes is not None,
        "sandbox.network": contract.sandbox.network == "proxy",
        "sandbox.devices": bool(contract.sandbox.devices),
        "metric": isinstance(contract.metric, CallableMetric),
    }
    for key, asked in later.items():
        if asked:
            raise ContractError(contract.say(key, "is not built into this version: leave it out"))


def _programs(contract: Contract, experiment: Path) -> None:
    """Programs that the contract names by path have to be there before anything runs."""
    named = {
        "commands.evaluate": contract.evaluate,
        "commands.evaluate_test": contract.evaluate_test,
        "commands.screen": contract.screen,
        "worker.command": contract.worker.command,
    }
    for key, command in named.items():
        if command and command[0].startswith("/") and not Path(command[0]).is_file():
            raise ContractError(contract.say(key, f"expected a program, found none at {command[0]}"))
    for number, mount in enumerate(contract.sandbox.mounts):
        if not Path(mount.path).exists():
            key = f"sandbox.mounts[{number}].path"
            raise ContractError(contract.say(key, f"expected a file or directory, found none at {mount.path}"))
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


def left_out(experiment: Path, contract: Contract) -> Callable[[str], bool]:
    """Which files of the experiment directory are no part of the evaluator: the runner's, the contract and its prompts,
    the steering notes, what the worker is made of, and what may be edited."""
    editable = [*contract.settings_files, *([contract.settings_file] if contract.settings_file else [])]
    workers = [PurePath(word) for word in contract.worker.command[:1]] + [p for p in [contract.worker.folder] if p]
    inside = (below(path, experiment) for path in (*editable, *workers, *(w.path for w in contract.writable_paths)))
    named = tuple(n for n in inside if n)
    plain = {CONTRACT, *PROMPTS.values(), "program.md", ".gitignore"}

    def skip(path: str) -> bool:
        parts = path.split("/")
        if is_own(parts[0]) or path in plain or {".git", "__pycache__"} & set(parts):
            return True
        return any(path == n or path.startswith(f"{n}/") for n in named)

    return skip
