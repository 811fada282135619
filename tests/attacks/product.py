"""The same attacks as turns of a real campaign, at a level of confinement that is forced."""

import functools
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from runner import campaign
from runner.core.errors import Stop
from runner.core.events import Entry, Settled, TurnOpened
from runner.core.options import Options
from runner.core.state import State
from runner.ground import is_own
from runner.journal import scan
from runner.sandbox import probe
from runner.signals import Cancel
from tests.attacks.lab import ATTACKS, FLOOD, INJECTED, Attack, Lab, bystanders, filled, lab, person, put_back
from tests.playground import Watcher

LAST = "00_honest_1.5x"
"""Ends every campaign: after all that was tried, an honest gain has to be found."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a row: the verdict, and the ways in which the attack was seen to work."""

    status: str
    basis: str
    reason: str
    past: frozenset[str]

    @property
    def words(self) -> str:
        return f"PAST {'+'.join(sorted(self.past))}" if self.past else f"stopped: {self.status}"


@dataclass(slots=True)
class Series:
    """One campaign in one lab: rows played so far, and what stood before the turn under way."""

    at: Lab
    rows: list[Attack]
    far: bool
    done: dict[str, Outcome] = field(default_factory=dict)
    now: Attack | None = None
    before: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    kept: bytes = b""

    @property
    def experiment(self) -> Path:
        return self.at.scene.experiment

    @property
    def journal(self) -> bytes:
        return (self.experiment / "journal.jsonl").read_bytes()

    def fact(self, entry: Entry, state: State) -> None:
        if isinstance(entry.fact, TurnOpened):
            self.open()
        elif isinstance(entry.fact, Settled) and self.now:
            self.settle(entry.fact, state)

    def open(self) -> None:
        """Hand the next row to the worker."""
        self.now = self.rows.pop(0)
        state = self.at.scene.state_home
        script = filled(self.now, self.at, state, self.experiment / "journal.jsonl", f"{state}/research/*/trees/*")
        if not self.far:
            script = re.sub(r"(?m)^(REPO|STATE|JOURNAL|BESIDE)='.*'$", r"\1='/nowhere'", script)
        (self.experiment / "worker.sh").write_text(script, encoding="utf-8")
        self.before, self.kept = person(self.at), self.journal
        save(self.at)

    def settle(self, fact: Settled, state: State) -> None:
        """Look at everything around, put it back, and end the campaign where nothing is left to play or a row was kept."""
        assert self.now is not None
        turn = state.finished[-1]
        past = self.oracles(turn.turn, turn.decided.status == "keep")
        damaged = "repo" in past
        decided = turn.decided
        self.done[self.now.name] = Outcome(decided.status, decided.basis, decided.reason, frozenset(past))
        put_back(self.at)
        if damaged:
            restore(self.at)
        if not self.rows or fact.moved:
            (self.experiment / "STOP").touch()
        self.now = None

    def oracles(self, turn: int, kept: bool) -> set[str]:
        assert self.now is not None
        folder = self.experiment / "artifacts" / f"attempt_{turn:04d}"
        files = [path for path in folder.rglob("*") if path.is_file()]
        new = len(self.journal) - len(self.kept)
        prompt = (folder / "prompt.md").read_bytes() if (folder / "prompt.md").is_file() else b""
        found = {
            "accept": kept and not self.now.control,
            "repo": self.touched(kept),
            "flood": sum(path.stat().st_size for path in files) > FLOOD or new > FLOOD,
            "secret": any(self.at.secret.encode() in path.read_bytes() for path in files),
            "inject": INJECTED.search(prompt) is not None,
            "left": self.is_left(folder),
        }
        return bystanders(self.at) | {name for name, there in found.items() if there}

    def touched(self, kept: bool) -> bool:
        """Whether anything of the person's, the journal's past or a candidate's objects changed."""
        journal = self.journal
        lost = not journal.startswith(self.kept)
        return lost or person(self.at) != self.before or bool(self.lost_candidates())

    def lost_candidates(self) -> list[str]:
        """Candidates that the journal names and the private repository does not hold."""
        names = [line["candidate"] for line in self.at.scene.facts("Proposed") if line["candidate"]]
        (private,) = self.at.scene.state_home.glob("research/*/repo.git")
        asked = "".join(f"{name}\n" for name in names).encode()
        words = ["git", f"--git-dir={private}", "cat-file", "--batch-check"]
        said = subprocess.run(words, input=asked, capture_output=True, check=False).stdout.decode()
        return [line for line in said.splitlines() if line.endswith("missing")]

    def is_left(self, folder: Path) -> bool:
        """Whether this turn's agent found another copy than one that began from the same tree; told by the first line it said."""
        said = (folder / "agent_stdout.txt").read_text() if (folder / "agent_stdout.txt").is_file() else ""
        first = said.partition("\n")[0]
        tree = self.at.scene.git("rev-parse", "-q", "--verify", "refs/heads/research/scene", check=False)
        return bool(first) and self.copies.setdefault(tree, first) != first


def play(root: Path, names: Sequence[str], level: int, evaluator: str, far: bool = True) -> dict[str, Outcome]:
    """The outcome of each row. A campaign plays rows until one is kept or stops it; the next one starts in a fresh lab.

    `far`: the attacks know the paths of the person's repository and of the runner's state; else only what their copy shows.
    """
    waiting, done = sorted(names, key=lambda name: name == LAST), dict[str, Outcome]()
    for number in range(len(names) + 1):
        if not waiting:
            break
        at = lab(root / f"lab{number}", evaluator)
        try:
            series = Series(at, [ATTACKS[name] for name in waiting if name != LAST] + [ATTACKS[LAST]], far)
            stopped = run(series, level)
            done |= series.done
            if series.now is not None:
                done[series.now.name] = Outcome("stop", "", stopped, frozenset({"stop"}))
            last = done.get(LAST) if LAST in names else done.pop(LAST, None)
            if last is not None and last.status != "keep":
                done[f"after {waiting[0]}..{waiting[-1]}"] = Outcome(last.status, last.basis, last.reason, frozenset({"next"}))
        finally:
            at.close()
            shutil.rmtree(at.root, ignore_errors=True)
        waiting = [name for name in waiting if name not in done]
    return done


def run(series: Series, level: int) -> str:
    """Run the campaign; hands back what stopped it, and adds what an intact journal would not say."""
    watcher = Watcher(on_fact=series.fact)
    try:
        with forced(level, series.at.scene.state_home):
            campaign.run(Options(series.experiment), watcher, Cancel())
    except Stop as stop:
        return str(stop)
    scan(series.journal)
    return ""


@contextmanager
def forced(level: int, state_home: Path) -> Iterator[None]:
    """The product with a state home of its own, at this level of confinement at most."""
    at_most = functools.partial(probe, at_most=level)
    with mock.patch.dict("os.environ", XDG_STATE_HOME=str(state_home)), mock.patch("runner.opening.probe", at_most):
        yield


# --- putting the person's repository back where a low level let it be hurt ------------------------------


def save(at: Lab) -> None:
    shutil.rmtree(at.root / "saved", ignore_errors=True)
    shutil.copytree(at.scene.repo, at.root / "saved", symlinks=True)


def restore(at: Lab) -> None:
    """All but the runner's own files as they were saved, and its objects kept."""
    repo, saved = at.scene.repo, at.root / "saved"
    own = at.scene.experiment.relative_to(repo)
    for path in repo.iterdir():
        if path.name != own.name:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in saved.iterdir():
        if path.name != own.name:
            shutil.copytree(path, repo / path.name, symlinks=True) if path.is_dir() else shutil.copy2(path, repo / path.name)
    for path in (saved / own).iterdir():
        if not is_own(path.name) and path.is_file() and path.name != "worker.sh":
            shutil.copy2(path, at.scene.experiment / path.name)
