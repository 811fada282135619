"""A scratch repository with an experiment in it, and a campaign run on it as a person would, or step by step."""

import hashlib
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from runner.core.events import Entry, TurnOpened
from runner.core.news import Hello, News, Warned
from runner.core.options import Options
from runner.core.state import State
from runner.ground import OWN_FILES, is_own
from runner.signals import Cancel

CLONE = Path(__file__).resolve().parents[1]
GIT = (
    "git",
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
)

CONTRACT = """\
version: 1
id: scene
name: A scene
project_root: ..
git_repo_path: ..
worker: {agent: command, command: [./worker.sh]}
timeouts: {worker_timeout_seconds: 30, evaluation_timeout_seconds: 20}
objective:
  primary_metric: {name: size, direction: lower}
writable_paths: [../src/]
commands: {evaluate: ./evaluate.sh}
metric: lines
"""
SIZE = '#!/bin/sh\necho "METRIC size=$(wc -c < src/a.txt)"\n'
"""An evaluator without noise: the bytes of src/a.txt."""
SHORTEN = "#!/bin/sh\nhead -c -10 src/a.txt > src/b.txt && mv src/b.txt src/a.txt\n"
"""A worker that makes src/a.txt ten bytes shorter each time."""


@dataclass(slots=True)
class Watcher:
    """A face that remembers."""

    entries: list[Entry] = field(default_factory=list)
    told: list[News] = field(default_factory=list)
    greeted: list[Hello] = field(default_factory=list)
    on_fact: Any = None

    def hello(self, hello: Hello) -> bool:
        self.greeted.append(hello)
        return True

    def fact(self, entry: Entry, state: State) -> None:
        self.entries.append(entry)
        if self.on_fact:
            self.on_fact(entry, state)

    def news(self, news: News) -> None:
        self.told.append(news)

    def close(self) -> None: ...

    @property
    def warnings(self) -> list[str]:
        return [n.what for n in self.told if isinstance(n, Warned)]


@dataclass(frozen=True, slots=True)
class Scene:
    """The repository, the experiment directory in it, and a state home of its own."""

    repo: Path
    experiment: Path
    state_home: Path

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run([*GIT, *words], cwd=self.repo, capture_output=True, text=True, check=check)
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Files below the repository; those that begin with `#!` are made executable."""
        for name, content in files.items():
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content.encode() if isinstance(content, str) else content
            path.write_bytes(data)
            path.chmod(0o755 if data.startswith(b"#!") else 0o644)

    def commit(self, message: str = "a commit") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def play(self, turns: int | None = 1, **options: Any) -> tuple[int, Watcher]:
        """A run in this process; raises what the run raises."""
        from runner import campaign

        watcher = Watcher()
        asked = Options(self.experiment, max_turns=turns, **options)
        return campaign.run(asked, watcher, Cancel()), watcher

    def turns(self, *workers: str, **options: Any) -> tuple[int, Watcher]:
        """One verdict a worker: each script, behind `#!/bin/sh -e`, is `exp/worker.sh` from its turn on; the last one stays."""
        from runner import campaign

        scripts, watcher = list(workers), Watcher()

        def hand_over(entry: Entry, state: State) -> None:
            if isinstance(entry.fact, TurnOpened) and scripts:
                (self.experiment / "worker.sh").write_text(f"#!/bin/sh -e\n{scripts.pop(0)}\n", encoding="utf-8")

        watcher.on_fact = hand_over
        asked = Options(self.experiment, **{"max_turns": len(scripts), **options})
        return campaign.run(asked, watcher, Cancel()), watcher

    def command(self, *words: str, env: Mapping[str, str] | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
        """A run as a person starts it, in a process of its own."""
        argv = [sys.executable, "-m", "runner.cli", *words]
        return subprocess.run(argv, cwd=CLONE, capture_output=True, text=True, env=self.environment(env), timeout=120, **more)

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.state_home), "PYTHONPATH": str(CLONE), **(env or {})}

    @property
    def journal(self) -> list[dict[str, Any]]:
        path = self.experiment / "journal.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.journal if line["kind"] == kind]

    def of_turn(self, kind: str, turn: int) -> dict[str, Any]:
        """The one fact of a kind in a turn."""
        (found,) = (line for line in self.facts(kind) if line["turn"] == turn)
        return found

    def measured(self, turn: int) -> int:
        """How many evaluations a turn took (0: the calibration's)."""
        return sum(len(line["readings"]) for line in self.facts("Measured") if line["turn"] == turn)

    @property
    def reasons(self) -> list[str]:
        return [line["reason"] for line in self.facts("Decided")]

    def fingerprint(self) -> dict[str, str]:
        """All of the person's repository but what is the runner's to write: the research refs, their logs, objects, own files."""
        return _git_side(self) | _files_of(self.repo, skip=lambda path: path.split("/")[0] == ".git" or _is_own(self, path))

    @property
    def statuses(self) -> list[str]:
        return [line["status"] for line in self.facts("Decided")]

    @property
    def branch(self) -> list[str]:
        """The commits of the research branch above the baseline, oldest first."""
        tip = self.git("rev-parse", "-q", "--verify", "refs/heads/research/scene", check=False)
        return self.git("rev-list", "--reverse", f"main..{tip}").split() if tip else []


def _git_side(scene: Scene) -> dict[str, str]:
    """Refs but the research ones, HEAD, stash, index, config, hooks and worktrees, without running what may refresh them."""
    common = Path(scene.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
    refs = scene.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    ours = ("refs/research/", "refs/heads/research/")
    git_dir = Path(scene.git("rev-parse", "--absolute-git-dir"))
    found = {"refs": "\n".join(ref for ref in refs if not ref.startswith(ours))}
    found |= {f"dir/{path}": seen for path, seen in _files_of(git_dir, skip=_is_git_noise).items()}
    return found | {f"common/{path}": seen for path, seen in _files_of(common, skip=_is_git_noise).items()}


def _is_git_noise(path: str) -> bool:
    """Objects may be added; refs are compared by value; so are their logs, save the research branch's."""
    return path.startswith(("objects/", "refs/", "packed-refs", "modules/", "logs/refs/heads/research/"))


def _is_own(scene: Scene, path: str) -> bool:
    """The runner's own files in the experiment directory, and the worker that a test rewrites."""
    try:
        inside = (scene.repo / path).relative_to(scene.experiment).parts
    except ValueError:
        return False
    return bool(inside) and (is_own(inside[0]) or inside == ("worker.sh",))


def _files_of(root: Path, skip: Callable[[str], bool]) -> dict[str, str]:
    """Mode and content of every file, a link's by its target."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not skip(name) and (path.is_symlink() or path.is_file()):
            data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
            found[name] = f"{path.lstat().st_mode:o} {hashlib.sha256(data).hexdigest()}"
    return found


def survivors(marker: str) -> list[str]:
    """Command lines on this machine that hold the marker; a test's own way to see what was left running."""
    lines = (" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"]))
    return [line for line in lines if marker in line]


def make(root: Path, files: Mapping[str, str | bytes] | None = None, contract: str = CONTRACT, more: str = "") -> Scene:
    """A repository with one commit: src/a.txt of 200 bytes, and an experiment in exp/ that wants it shorter."""
    scene = Scene(root / "repo", root / "repo" / "exp", root / "state")
    scene.repo.mkdir(parents=True)
    scene.git("init", "-q")
    base: dict[str, str | bytes] = {
        "src/a.txt": "x" * 199 + "\n",
        "exp/experiment.yaml": contract + textwrap.dedent(more),
        "exp/goal_prompt.md": "Make src/a.txt shorter.\n",
        "exp/evaluate.sh": SIZE,
        "exp/worker.sh": SHORTEN,
        "exp/.gitignore": "\n".join(OWN_FILES) + "\n",
    }
    scene.write({**base, **(files or {})})
    scene.commit("the first")
    return scene
