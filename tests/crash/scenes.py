"""A campaign that can be played again, a runner to kill in it, and what of it has to be the same at the end."""

import difflib
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner import journal
from runner.core.events import Stopped
from tests import playground
from tests.playground import Scene

DRIVER = Path(__file__).with_name("driver.py")
LONG = "x" * 199 + "\n"


def patch(subject: str, *files: tuple[str, str, str]) -> str:
    """A recorded patch of (path, old, new) texts; an old text of "" makes the file."""
    parts = [f"Subject: {subject}\n\n"]
    for path, old, new in files:
        parts.append(f"diff --git a/{path} b/{path}\n" + ("" if old else "new file mode 100644\n"))
        before = f"a/{path}" if old else "/dev/null"
        parts += difflib.unified_diff(old.splitlines(True), new.splitlines(True), before, f"b/{path}")
    return "".join(parts)


def play_of(patches: Mapping[str, str], evaluate: str = playground.SIZE) -> tuple[dict[str, str | bytes], str]:
    """Files and contract of an experiment that plays these patches."""
    contract = playground.CONTRACT.replace("{agent: command, command: [./worker.sh]}", "{agent: patches, folder: proposals}")
    files: dict[str, str | bytes] = {f"exp/proposals/{name}.patch": text for name, text in patches.items()}
    return {**files, "exp/evaluate.sh": evaluate}, contract


FOUR = {
    "1-shorten": patch("Shorten it", ("src/a.txt", LONG, "x" * 189 + "\n")),
    "2-lengthen": patch("Lengthen it", ("src/a.txt", "x" * 189 + "\n", "x" * 195 + "\n")),
    "3-trespass": patch("Touch what is not ours", ("other.txt", "", "mine\n"), ("src/a.txt", "x" * 189 + "\n", "x\n")),
    "4-shorten": patch("Shorten it again", ("src/a.txt", "x" * 189 + "\n", "x" * 169 + "\n")),
}
"""A keep, a discard, a gate's refusal, another keep."""


def four(root: Path) -> Scene:
    files, contract = play_of(FOUR)
    return playground.make(root, files, contract)


# --- the runner to kill ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs of one scene's campaign, each a process of its own that dies where its plan says."""

    scene: Scene
    process: "subprocess.Popen[str]"

    def run(self, *words: str, **plan: Any) -> int:
        """One run to its end; its exit code, or minus the signal that ended it."""
        return int(self._ask(*words, **plan)["code"])

    def _ask(self, *words: str, **plan: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"words": words or ("--max-turns", "4"), **plan}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def play(self, *words: str) -> None:
        """One run that has to end by itself."""
        code = self.run(*words)
        assert code == 0, (code, self.said[-2000:])

    @property
    def last(self) -> int:
        """The number of whole lines in the journal."""
        return len(journal.look(self.scene.experiment).entries)

    @property
    def ended(self) -> bool:
        return any(isinstance(entry.fact, Stopped) for entry in journal.look(self.scene.experiment).entries)

    @property
    def said(self) -> str:
        return (self.scene.repo.parent / "said.txt").read_text(encoding="utf-8")


@contextmanager
def runner(scene: Scene) -> Iterator[Runner]:
    """Hands plans to a fresh process with everything imported."""
    env = scene.environment({"OPENBLAS_NUM_THREADS": "1"})
    argv = [sys.executable, os.fspath(DRIVER), os.fspath(scene.experiment)]
    with subprocess.Popen(argv, cwd=playground.CLONE, env=env, stdin=-1, stdout=-1, text=True) as process:
        yield Runner(scene, process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


# --- what has to be the same ---------------------------------------------------------------------------

TORN = "journal.jsonl.torn"
OID = re.compile(r"\b[0-9a-f]{40}\b")
TIMED = frozenset({
    "seq", "at", "prev", "host", "boot", "pid", "process_started",
    "wall_s", "cpu_s", "seconds", "active_s", "slowest_s", "minutes",
})  # fmt: skip
"""Keys of a journal line that tell of time, of a process or of the line's place."""


def facts(lines: list[dict[str, Any]]) -> list[Any]:
    """The facts up to the first end, without times, processes, the coin and starts; commits by their order of appearance."""
    seen: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], f"commit {len(seen)}")

    until_stopped = itertools.takewhile(lambda line: line["kind"] != "Stopped", lines)
    kept = [_timeless(line) for line in until_stopped if line["kind"] != "Started"]
    return [json.loads(OID.sub(name, json.dumps(line))) for line in kept]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _sides(item) if key == "readings" else _timeless(item) for key, item in value.items() if key not in _left(value)
        }
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _left(value: Mapping[str, Any]) -> frozenset[str]:
    return TIMED | {"first"} if value.get("kind") == "Measured" else TIMED


def _sides(readings: list[Any]) -> list[Any]:
    """The order is the coin's, which is thrown afresh after a kill."""
    return sorted((_timeless(reading) for reading in readings), key=lambda r: str(r["side"]))


def end(scene: Scene) -> dict[str, Any]:
    """Everything a campaign leaves behind that does not depend on when and by how many processes it was played."""
    return {
        "facts": facts(scene.journal),
        "branch": history(scene),
        "refs": sorted(scene.git("for-each-ref", "--format=%(refname)").split()),
        "pinned": sorted(git(private(scene), "for-each-ref", "--format=%(refname) %(tree)").split("\n")),
        "results": [row[:1] + row[2:] for row in rows(scene)],
        "attempts": [_attempt(json.loads(line)) for line in _read(scene, "experiments.jsonl").splitlines()],
        "winner": json.loads(_read(scene, "current_winner.json"))["metric"],
        "own": sorted({p.name for p in scene.experiment.iterdir() if not p.name.startswith("autoresearch_summary_")} - {TORN}),
        "checkout": (
            scene.git("rev-parse", "--abbrev-ref", "HEAD"),
            scene.git("rev-list", "--count", "HEAD"),
            scene.git("status", "--porcelain"),
        ),
        "state": left(scene),
    }


def history(scene: Scene) -> list[tuple[str, str]]:
    """The branch's trees and messages, oldest first; what of a message tells of times aside."""
    words = [scene.git("log", "-1", "--format=%T%n%B", commit) for commit in scene.branch]
    told = [re.sub(r"Research-Journal-Head: \w+", "Research-Journal-Head: ...", w) for w in words]
    return [(w.partition("\n")[0], w.partition("\n")[2]) for w in told]


def rows(scene: Scene) -> list[list[str]]:
    return [line.split("\t") for line in _read(scene, "results.tsv").splitlines()]


def _attempt(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in ("timestamp", "seconds", "commit")}


def _read(scene: Scene, name: str) -> str:
    return (scene.experiment / name).read_text(encoding="utf-8")


def state(scene: Scene) -> Path:
    """The one state directory of the scene's campaign."""
    (found,) = (scene.state_home / "research").iterdir()
    return found


def private(scene: Scene) -> Path:
    return state(scene) / "repo.git"


def left(scene: Scene) -> list[str]:
    """The names two floors deep in the state directory; of commits, that there are some."""
    top = state(scene)
    names = (p.relative_to(top).as_posix() for depth in ("*", "*/*") for p in top.glob(depth) if "repo.git" not in p.parts)
    return sorted({OID.sub("commit", name) for name in names})


def git(where: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "--git-dir", os.fspath(where), *words], capture_output=True, text=True, check=True
    ).stdout.strip()


# --- what must not be there ------------------------------------------------------------------------------


def unsound(scene: Scene) -> list[str]:
    """What is broken or left over: objects, locks, half-made things, processes. Empty when all is well."""
    return [*_broken(scene), *_litter(scene), *alive(scene)]


def _broken(scene: Scene) -> Iterator[str]:
    for where in (scene.repo / ".git", private(scene)):
        done = subprocess.run(
            ["git", "--git-dir", os.fspath(where), "fsck", "--full", "--strict", "--no-dangling"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        told = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("notice: ")]
        if done.returncode or told:
            yield f"fsck {where.name}: {done.returncode} {told}"


TREES = 3
"""Pristine trees at rest: the two sides of a turn, and one to turn into the next."""
LITTER = re.compile(r"(\.lock|\.half|\.tmp|^tmp_|^\.tmp|~)")


def _litter(scene: Scene) -> Iterator[str]:
    roots = (scene.repo / ".git", private(scene), scene.experiment)
    for root in roots:
        yield from (f"left over: {p}" for p in root.rglob("*") if LITTER.search(p.name))
    yield from (f"left over: {p}" for p in state(scene).iterdir() if LITTER.search(p.name))
    trees = sorted(p.name for p in (state(scene) / "trees").glob("*"))
    whole = {name for name in trees if f"{name}.made" in trees}
    if len(whole) > TREES or len(trees) > 2 * len(whole):
        yield f"left over: of {trees}"


def alive(scene: Scene) -> list[str]:
    """Processes that work on the scene: by their words, their folder, or what is mounted for them."""
    mark = "/".join(scene.repo.parent.parts[-2:]).encode()  # a mount tells its source's path below the disk it is on
    others = (p for p in Path("/proc").iterdir() if p.name.isdigit() and int(p.name) != os.getpid())
    ours = [p for p in others if mark in _tells(p) and os.fspath(DRIVER).encode() not in _words(p)]
    return [f"alive: {p.name} {' '.join(os.fsdecode(_words(p)).split(chr(0)))}" for p in ours]


UNBORN = "/bwrap "
"""A sandbox that was being made at a kill waits for the next start to end it; it has begun nothing."""


def survivors(scene: Scene, but: str = "nothing", limit_s: float = 5.0) -> list[str]:
    """What still lives some moments after a run, `but` what is called so: what its death ends takes a moment to die."""
    until = time.monotonic() + limit_s
    while (found := [line for line in alive(scene) if but not in line]) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _words(proc: Path) -> bytes:
    try:
        return (proc / "cmdline").read_bytes()
    except OSError:
        return b""


def _tells(proc: Path) -> bytes:
    with suppress(OSError):  # it ended, or is not ours to look at
        mounts = [line.split(b" ") for line in (proc / "mountinfo").read_bytes().splitlines()]
        sources = [b" ".join((*m[3:4], *m[5:])) for m in mounts]  # where a thing is mounted says nothing: others inherit that
        return b"\n".join((_words(proc), os.fsencode((proc / "cwd").readlink()), *sources))
    return _words(proc)
