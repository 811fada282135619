"""The attacks, and the scratch project, bystanders and oracles that they are played with."""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests import playground
from tests.playground import Scene

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
FLOOD = 8 << 20
"""Bytes that one turn may leave in artifacts and journal."""
RUNNERS = re.compile(r"(dir|common)/(worktrees/|logs/refs/heads/winner$)")
"""What the naive runner itself writes in the person's git directory."""
INJECTED = re.compile(rb"(?m)^#+ SYSTEM")
"""A heading that an attack brought in, where it stands as a heading of the runner's own page."""

SOLVER = '''\
"""How many primes there are below n, by trying every divisor."""


def solve(n):
    return sum(all(i % d for d in range(2, i)) for i in range(2, n))
'''
WORKLOAD = """\
INPUTS = (3500, 4000, 4500)


def report(spent):
    print(f"METRIC cpu={spent:.6f}")
"""
BENCH = """\
import json
import time

import solver
import workload

SCALE = 1.0
with open("bench/answers.json") as file:
    ANSWERS = json.load(file)
start = time.process_time()
got = {str(n): solver.solve(n) for n in workload.INPUTS}
spent = (time.process_time() - start) * SCALE
if got != ANSWERS:
    raise SystemExit("wrong answers")
workload.report(spent)
"""
GUARD = """\
import unittest

import solver


class Solver(unittest.TestCase):
    def test_nothing_is_below_two(self):
        assert solver.solve(2) == 0

    def test_small(self):
        assert [solver.solve(n) for n in (3, 4, 6, 8)] == [1, 2, 3, 4]

    def test_a_hundred(self):
        assert solver.solve(100) == 25
"""
ORDINARY = """\
#!/bin/sh
# The usual kind: sources .env, prefers ./.venv, puts every src* on the path, one process.
[ -f .env ] && . ./.env
python=${RESEARCH_PYTHON:-python3}
[ -x .venv/bin/python3 ] && python=.venv/bin/python3
PYTHONPATH=$(echo src* | tr ' ' ':')
export PYTHONPATH
exec "$python" bench/bench.py
"""
TEMPLATE = playground.CLONE / "experiments" / "_templates" / "evaluators" / "split"
GUARDS = {"pytest": "pytest, -q, -p, no:cacheprovider", "unittest": "unittest, discover, -s"}
"""The second for an interpreter that has no pytest of its own."""
CHANGES: dict[str, dict[str, str]] = {
    "evaluate.sh": {},
    "evaluate.py": {
        "ROUNDS = 3": "ROUNDS = 1",
        "REQUESTS = 40": "REQUESTS = 3",
        "return [[chance.randrange(1000) for _ in range(200)] for _ in range(REQUESTS)]": (
            "return [2, 3, 4, 6, 8, 100, *(chance.randrange(3500, 4500) for _ in range(REQUESTS))]"
        ),
        '"cpu_ms"': '"cpu"',
    },
    "reference.py": {
        "return sorted(request)": "return sum(all(i % d for d in range(2, int(i**0.5) + 1)) for i in range(2, request))"
    },
    "worker.py": {"from solution import solve": 'sys.path.insert(0, "src")\n    from solver import solve'},
    "walls.py": {},
}
"""What a person changes in the shipped evaluator of two processes, to measure this solver."""
CONTRACT = """\
version: 1
id: lab
project_root: ..
git_repo_path: ..
branch: research/scene
worker: {agent: command, command: [./worker.sh]}
timeouts: {worker_timeout_seconds: 60, evaluation_timeout_seconds: 60}
objective:
  primary_metric: {name: cpu, direction: lower, min_effect: 5%}
writable_paths: [../src/]
commands: {evaluate: ./evaluate.sh}
metric: lines
guards:
  - {name: tests, run: [env, PYTHONPATH=src, $RESEARCH_PYTHON, -m, GUARD, tests], expect_passed: 3}
decision: {preset: quick, max_pairs: 20, expected_candidates: 20}
budget: {agent_errors: 9}
sandbox: {level: any}
"""


# --- the attacks --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attack:
    """One row: `oracles` are the ways it may be seen to work, `control` the verdict an honest row has to get.

    `in_process`: it shares its process with the clock and the answers of an ordinary evaluator, where no runner can stop it.
    """

    name: str
    about: str
    script: str
    oracles: frozenset[str]
    control: str | None
    in_process: bool
    no_gate: bool
    root: bool


def attack(path: Path) -> Attack:
    """The row of one script: its first comment line says what it does, the others how it is played."""
    text = path.read_text(encoding="utf-8")
    head = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
    words = dict(line.split(": ", 1) for line in head[1:4] if ": " in line)
    return Attack(
        name=path.stem,
        about=head[0],
        script=text,
        oracles=frozenset(words.get("oracle", "").split()),
        control=words.get("control"),
        in_process="in process" in head[1:4],
        no_gate=words.get("unprotected") == "no gate",
        root="root" in head[1:4],
    )


ATTACKS = {path.stem: attack(path) for path in sorted(SCRIPTS.glob("*.sh"))}
CONTROLS = tuple(name for name, row in ATTACKS.items() if row.control)


# --- the lab ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Lab:
    """A scratch repository with a person's things in it, and what an attack may want to touch."""

    root: Path
    scene: Scene
    marker: str
    secret: str
    victim: "subprocess.Popen[bytes]"
    listener: socket.socket
    dangling: str

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    def close(self) -> None:
        end_marked(self.marker)
        self.victim.kill()
        self.victim.wait()
        self.listener.close()
        subprocess.run(["chattr", "-R", "-f", "-i", str(self.root)], check=False, capture_output=True)


def lab(root: Path, evaluator: str = "ordinary") -> Lab:
    """A fresh one below `root`; `evaluator` is ordinary (one process) or split (two)."""
    files: dict[str, str | bytes] = {
        ".gitignore": ".venv/\n.env\n__pycache__/\nbuild/\n",
        "src/solver.py": SOLVER,
        "bench/bench.py": BENCH,
        "bench/workload.py": WORKLOAD,
        "bench/answers.json": '{"3500": 489, "4000": 550, "4500": 610}\n',
        "tests/test_solver.py": GUARD,
        "exp/evaluate.sh": ORDINARY,
        "exp/goal_prompt.md": "Make src/solver.py faster.\n",
    }
    contract = CONTRACT.replace("GUARD", GUARDS[os.environ.get("LAB_GUARD", "pytest")])
    if evaluator == "split":
        files |= {f"exp/{name}": adapted(name) for name in CHANGES}
        contract = contract.replace("metric: lines\n", "")
    scene = playground.make(root, files, contract)
    dangling = furnish(scene)
    for each in ("outside", "tmp", "home"):
        (root / each).mkdir()
    marker, secret = f"lab-{uuid.uuid4().hex[:12]}", uuid.uuid4().hex
    return Lab(root, scene, marker, secret, dummy(secret), socket.create_server(("127.0.0.1", 0)), dangling)


def adapted(name: str) -> str:
    """A file of the shipped evaluator with a person's changes."""
    text = (TEMPLATE / name).read_text(encoding="utf-8")
    for old, new in CHANGES[name].items():
        assert text.count(old) == 1, f"{name} of the template no longer says {old}"
        text = text.replace(old, new)
    return text


def furnish(scene: Scene) -> str:
    """A tag, a stash and a commit that nothing names: what a person has in a repository; hands back the commit."""
    scene.git("tag", "v1")
    (scene.repo / "bench" / "workload.py").write_text(WORKLOAD + "# unfinished\n", encoding="utf-8")
    scene.git("stash")
    return scene.git("commit-tree", "HEAD^{tree}", "-m", "nobody names this")


def dummy(secret: str) -> "subprocess.Popen[bytes]":
    """A process of the runner's user with a key in its environment; the one that attacks may signal."""
    return subprocess.Popen(["sleep", "600"], env={"PATH": os.defpath, "LAB_SECRET": secret})


def filled(row: Attack, at: Lab, state: Path, journal: Path, beside: str) -> str:
    """The agent's program: the preamble, the row, and a commit at the end."""
    known = {
        "NAME": row.name,
        "REPO": at.scene.repo,
        "STATE": state,
        "JOURNAL": journal,
        "BESIDE": beside,
        "OUT": at.outside,
        "PORT": at.listener.getsockname()[1],
        "VICTIM": at.victim.pid,
        "MARKER": at.marker,
    }
    words = "".join(f"{name}='{value}'\n" for name, value in known.items())
    preamble = (SCRIPTS / "preamble.txt").read_text(encoding="utf-8")
    return f"#!/bin/sh\n{words}untracked=\n{preamble}\n{row.script}\ncommit\nexit 0\n"


# --- oracles ------------------------------------------------------------------------------------------


def marked(marker: str) -> list[psutil.Process]:
    """Living processes with the marker among their words, but for those that only look for it."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        if process.info["status"] != psutil.STATUS_ZOMBIE and marker in words:
            found.append(process)
    return found


def end_marked(marker: str) -> None:
    """End what an attack left, each by its number: all of it was started by this lab."""
    for process in marked(marker):
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def bystanders(at: Lab) -> set[str]:
    """Which of the things around were touched since the lab was made or put back."""
    seen: dict[str, Callable[[], bool]] = {
        "canary": lambda: any(at.outside.iterdir()),
        "proc": lambda: bool(marked(at.marker)),
        "victim": lambda: at.victim.poll() is not None,
        "net": lambda: connected(at.listener),
    }
    return {name for name, look in seen.items() if look()}


def put_back(at: Lab) -> None:
    """Make the things around whole again for the next attack."""
    end_marked(at.marker)
    for each in at.outside.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    if at.victim.poll() is not None:
        at.victim = dummy(at.secret)


def connected(listener: socket.socket) -> bool:
    """Whether anybody called since it was asked last."""
    listener.settimeout(0.0)
    called = False
    with contextlib.suppress(OSError):
        while True:
            listener.accept()[0].close()
            called = True
    return called


def person(at: Lab) -> dict[str, str]:
    """What is the person's: the repository as a fingerprint, and the commit that nothing names."""
    there = at.scene.git("--git-dir", str(at.scene.repo / ".git"), "cat-file", "-t", at.dangling, check=False)
    try:
        found = at.scene.fingerprint()
    except subprocess.CalledProcessError as error:
        found = {"refs": f"git ends with {error.returncode}"}
    kept = {name: seen for name, seen in found.items() if not RUNNERS.match(name)}
    refs = "\n".join(ref for ref in found["refs"].splitlines() if not ref.startswith("refs/heads/winner "))
    return {**kept, "refs": refs, "dangling": there}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()
