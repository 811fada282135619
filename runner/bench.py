"""What every step of a campaign has at hand: the contract, the repositories, the sandbox and where things lie."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Protocol

from runner import files
from runner.agents.plug import Plug
from runner.core.budget import Ending
from runner.core.contract import RESEARCH_PYTHON, Argv, Contract
from runner.core.errors import CampaignError
from runner.core.events import Json
from runner.core.models import Oid, TurnNo
from runner.core.news import News, Phase, PhaseName, Warned
from runner.core.policy import Policy
from runner.core.schemas import Schema
from runner.core.surface import Surface
from runner.evaluators.plug import Wanted
from runner.processes import Finished, Limits
from runner.repo import Private, UserRepo, discard, made, verify
from runner.sandbox import Job, Mount, Sandbox

OPEN_NETWORK = "agent and evaluation share the host's network (sandbox.network: true)"


class Flag(Protocol):
    """A word that a person may say at any time, e.g. by Ctrl-C."""

    def is_set(self) -> bool: ...


class Halt(Exception):
    """The person asked to stop; raised between steps, when everything so far is written."""


@dataclass(frozen=True, slots=True)
class World:
    """Chance and time, so that a test can bring its own: `coin` is fair and private, `token` makes that many secret bytes."""

    coin: Callable[[], bool]
    token: Callable[[int], bytes]
    now: Callable[[], str]
    monotonic: Callable[[], float]


ARTIFACTS_LIMIT = 8 << 20
"""Bytes that one attempt may leave in artifacts/."""


@dataclass(slots=True)
class Deadline:
    """The bound that may be reached in the middle of a turn; the open turn then waits for the next start."""

    reached: Callable[[], Ending | None] = field(default=lambda: None)


@dataclass(frozen=True, slots=True)
class Bench:
    """`experiment` is the experiment directory, `state` the runner's own, `evaluator` the checked copy of the experiment's files.

    `root` is the repository's root as the contract spells it; `soon` and `at_once` are the person's two words;
    `verified` are the sides whose trees were looked over in this turn; `python` runs shipped helpers and stands in for
    `$RESEARCH_PYTHON`.
    """

    contract: Contract
    experiment: Path
    state: Path
    user: UserRepo
    root: PurePath
    private: Private
    surface: Surface
    sandbox: Sandbox
    plug: Plug
    schema: Schema
    policy: Policy
    wanted: Wanted
    secret: bytes
    python: str
    path: str
    evaluator: Path
    evaluator_digest: str
    world: World
    soon: Flag
    at_once: Flag
    deadline: Deadline
    verified: set[Oid]
    news: Callable[[News], None] = field(default=lambda news: None)

    def pause(self) -> None:
        """The seam between two steps: raises Halt when a signal, the STOP file or the clock says so."""
        asked = self.soon.is_set() or self.at_once.is_set() or (self.experiment / "STOP").exists()
        if asked or self.deadline.reached():
            raise Halt

    def tell(self, turn: TurnNo, phase: PhaseName, detail: str = "") -> None:
        self.news(Phase(turn, phase, detail))

    def keep(self, turn: TurnNo, name: str, text: str | bytes) -> None:
        """Lay something of an attempt aside for the person; it never stops a run, and an attempt's whole is bounded."""
        path = self.experiment / "artifacts" / f"attempt_{turn:04d}" / name
        data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = sum(
                p.stat().st_size for p in (self.experiment / "artifacts" / f"attempt_{turn:04d}").rglob("*") if p.is_file()
            )
            path.write_bytes(data[: max(0, ARTIFACTS_LIMIT - kept)])
        except OSError as error:
            self.news(Warned(f"{path.name} of attempt {turn} was not kept: {error.strerror}"))

    @property
    def network(self) -> bool:
        """Whether agent and commands share the host's network."""
        return self.contract.sandbox.network == "host"

    @property
    def confinement(self) -> Mapping[str, Json]:
        """What the probe found on this machine, and the network where the contract opens it."""
        report, found = self.sandbox.report, self.sandbox.report.get("not_held")
        if not self.network:
            return report
        return {**report, "tcp": True, "not_held": [OPEN_NETWORK, *(found if isinstance(found, list) else ())]}

    @property
    def cwd(self) -> str:
        """project_root below the tree, or the tree's root where it lies outside it."""
        return below(self.contract.project_root, self.root) or ""

    def settings(self) -> tuple[str, ...]:
        """The settings files as tree-relative paths."""
        paths = (below(p, self.root) for p in self.contract.settings_files)
        return tuple(p for p in paths if p is not None)

    def settings_argument(self) -> str:
        """The first settings file in the tree being measured, or `-` where code is edited."""
        settings = self.settings()
        return str(PurePath(self.sandbox.places.tree) / settings[0]) if settings else "-"

    def argv(self, command: Argv) -> tuple[str, ...]:
        """A command of the contract as it runs inside: the experiment's own files from their checked copy."""
        return tuple(self._inside(word) for word in command)

    def _inside(self, word: str) -> str:
        if word == RESEARCH_PYTHON:
            return self.python
        inside = below(PurePath(word), self.experiment) if word.startswith("/") else None
        return str(PurePath(self.sandbox.places.experiment) / inside) if inside else word

    def seed(self, turn: TurnNo, pair: int) -> int:
        """RESEARCH_SEED of a pair: the same for both sides and for a repeated pair, not to be guessed by an agent."""
        text = f"{self.contract.seed}:{turn}:{pair}".encode()
        return int.from_bytes(hashlib.sha256(self.secret + text).digest()[:4], "big") >> 1


def below(path: PurePath, root: PurePath) -> str | None:
    """`path` relative to `root` with slashes, None where it lies elsewhere; "" for the root itself."""
    if not path.is_relative_to(root):
        return None
    inside = path.relative_to(root).as_posix()
    return "" if inside == "." else inside


def links(bench: Bench) -> tuple[Mount, ...]:
    """What a fresh checkout lacks, brought in read-only from the person's own (`setup.link`)."""
    setup = bench.contract.setup
    if setup is None:
        return ()
    tree, home = bench.sandbox.places.tree / bench.cwd, Path(bench.contract.project_root)
    return tuple(Mount(home / name, tree / name) for name in setup.link)


def limits(bench: Bench) -> Limits:
    """What the contract lets one process take."""
    wanted = bench.contract.sandbox
    return Limits(memory_bytes=wanted.memory, processes=wanted.processes)


TREES_KEPT = 2
"""Pristine trees beside the one that is made: the two sides of a turn."""


def side(bench: Bench, commit: Oid) -> Path:
    """The pristine tree of a commit, made once; one that was touched since is made again."""
    tree = bench.state / "trees" / commit
    if not bench.private.checkout(commit, tree, _spare(tree)) and commit not in bench.verified and verify(tree):
        discard(tree)
        bench.private.checkout(commit, tree)
    bench.verified.add(commit)
    os.utime(made(tree))
    return tree


def _spare(wanted: Path) -> tuple[Oid, Path] | None:
    """The tree that was not used for longest, once there are more than a turn needs."""
    if wanted.is_dir() or not wanted.parent.is_dir():
        return None
    others = [made(t) for t in wanted.parent.iterdir() if made(t).is_dir()]
    if len(others) < TREES_KEPT:
        return None
    oldest = min(others, key=lambda t: t.stat().st_mtime_ns)
    tree = oldest.with_name(oldest.name.removesuffix(".made"))
    return Oid(tree.name), tree


def run_in_side(
    bench: Bench,
    commit: Oid,
    command: Argv,
    timeout_s: float,
    *,
    env: Mapping[str, str] | None = None,
    output: Path | None = None,
) -> Finished:
    """Run a command of the contract in a side's tree, behind a layer that is thrown away; no network, nothing else alive.

    Raises CampaignError when the evaluator's copy is no longer what the journal says, Halt when the person said "now".
    """
    if files.digest(bench.evaluator) != bench.evaluator_digest:
        raise CampaignError(
            f"the evaluator's checked copy in {bench.evaluator} has changed since the campaign began",
            "nothing was measured with it; remove that directory and start again",
        )
    finished = bench.sandbox.run(
        Job(
            argv=bench.argv(command),
            tree=side(bench, commit),
            tree_mode="discard",
            cwd=bench.cwd or ".",
            timeout_s=timeout_s,
            env={"RESEARCH_PYTHON": bench.python, **(env or {})},
            output=output,
            experiment=bench.evaluator,
            mounts=links(bench),
            network=bench.network,
            limits=limits(bench),
        ),
        cancel=bench.at_once,
    )
    if finished.cancelled:
        raise Halt
    return _by_the_persons_path(bench, finished)


def _by_the_persons_path(bench: Bench, finished: Finished) -> Finished:
    """Why a program was not started, naming the file that a person can mend and not the copy that was to run."""
    if finished.not_started is None:
        return finished
    inside, theirs = str(bench.sandbox.places.experiment), str(bench.experiment)
    return replace(finished, not_started=finished.not_started.replace(inside, theirs))
