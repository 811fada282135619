"""What every step of a campaign has at hand: the contract, the repositories, the sandbox and where things lie."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

from runner.agents.plug import Plug
from runner.core.budget import Ending
from runner.core.contract import RESEARCH_PYTHON, Argv, Contract
from runner.core.events import Json
from runner.core.models import Oid, TurnNo
from runner.core.news import News, Phase, PhaseName, Warned
from runner.core.policy import Policy
from runner.core.schemas import Schema
from runner.core.surface import Surface
from runner.evaluators.plug import Wanted
from runner.processes import Limits
from runner.repo import Private, UserRepo
from runner.sandbox import Mount, Sandbox

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
    `passed` are the person's variables that the contract hands through; `verified` are the sides whose trees were looked
    over in this turn, `built` where those that were built have their outputs, `brought` what setup.run made; `python` runs
    shipped helpers and stands in for `$RESEARCH_PYTHON`.
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
    passed: Mapping[str, str]
    verified: set[Oid]
    built: dict[Oid, Path] = field(default_factory=dict)
    brought: list[Mount] = field(default_factory=list)
    news: Callable[[News], None] = field(default=lambda news: None)

    def pause(self) -> None:
        """The seam between two steps: raises Halt when a signal, the STOP file or the clock says so."""
        asked = self.soon.is_set() or self.at_once.is_set() or (self.experiment / "STOP").exists()
        if asked or self.deadline.reached():
            raise Halt

    def tell(self, turn: TurnNo, phase: PhaseName, detail: str = "") -> None:
        self.news(Phase(turn, phase, detail))

    def keep(self, turn: TurnNo, name: str, text: str | bytes) -> Path:
        """Lay something of an attempt aside for the person, there; it never stops a run, and an attempt's whole is bounded."""
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
        return path

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


def limits(bench: Bench) -> Limits:
    """What the contract lets one process take."""
    wanted = bench.contract.sandbox
    return Limits(memory_bytes=wanted.memory, processes=wanted.processes)
