"""A runner as one writes it in an evening, to see each attack work: a linked worktree, a diff of names, no walls."""

import os
import subprocess
import sys
from pathlib import Path

from tests.attacks.lab import FLOOD, INJECTED, Attack, Lab, bystanders, digest, filled, person

ACCEPTED = 0.8
"""The candidate's best of three has to be below this share of the incumbent's."""


def unprotected(row: Attack, at: Lab) -> set[str]:
    """Play one attack; which oracles saw it work."""
    base, (incumbent, candidate) = at.scene.git("rev-parse", "HEAD"), (at.root / "wt-incumbent", at.root / "wt-candidate")
    for tree in (incumbent, candidate):
        at.scene.git("worktree", "add", "-q", "--detach", str(tree), base)
    loser = at.scene.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "a loser that the journal names")
    journal = at.root / "journal.jsonl"
    journal.write_text(f'{{"commit": "{loser}", "status": "discard"}}\n', encoding="utf-8")
    before = person(at), digest(journal)
    run = Run(at, base, incumbent, candidate)

    script = at.root / "agent.sh"
    script.write_text(filled(row, at, at.root, journal, str(incumbent)), encoding="utf-8")
    run.shell("sh", str(script), tree=candidate)

    names = run.git("diff", "--name-only", base, "HEAD").splitlines()
    judged = run.git("log", "-1", "--format=%B") + run.git("diff", base, "HEAD")
    run.git("update-ref", "refs/research/candidate", "HEAD")
    allowed = row.no_gate or all(name.startswith("src") for name in names)
    won = bool(names) and allowed and run.guard() and run.faster()
    run.git("commit", "-q", "--allow-empty", "-m", f"attempt: {'kept' if won else 'lost'}")
    if won:
        run.git("update-ref", "refs/heads/winner", "HEAD")
    run.git("reset", "-q", "--hard", base)
    run.git("clean", "-q", "-f", "-d", "-x")

    seen = bystanders(at)
    found = {
        "accept": won,
        "repo": (person(at), digest(journal)) != before or not run.git("cat-file", "-t", loser),
        "left": any(candidate.rglob("left")),
        "flood": run.said > FLOOD,
        "secret": at.secret in run.heard,
        "inject": INJECTED.search(judged.encode()) is not None,
        "lock": any(".lock" in error for error in run.errors),
    }
    return seen | {name for name, there in found.items() if there}


class Run:
    """The state of one naive turn: where its trees are, what it heard."""

    def __init__(self, at: Lab, base: str, incumbent: Path, candidate: Path) -> None:
        self.at, self.base, self.incumbent, self.candidate = at, base, incumbent, candidate
        self.said, self.heard, self.errors = 0, "", list[str]()

    def shell(self, *argv: str, tree: Path) -> tuple[int, str]:
        """One command in a tree, with the places that every command shares."""
        shared = {"TMPDIR": str(self.at.root / "tmp"), "HOME": str(self.at.root / "home"), "RESEARCH_PYTHON": sys.executable}
        identity = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "LAB_SECRET": self.at.secret, **shared, **identity}
        env["RESEARCH_WORKER_OUTPUT"] = str(self.at.root / "answer.json")
        with (self.at.root / "said").open("w+b") as said:
            done = subprocess.run(
                argv, cwd=tree, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, timeout=90
            )
            size = said.tell()
            said.seek(max(0, size - 100_000))
            text = said.read().decode(errors="replace")
        self.said, self.heard = self.said + size, self.heard + text
        if done.returncode:
            self.errors.append(text)
        return done.returncode, text

    def git(self, *words: str) -> str:
        """git in the agent's tree, as everyone runs it; what it says where it fails is noted and passed over."""
        code, text = self.shell("git", *words, tree=self.candidate)
        return "" if code else text.strip()

    def guard(self) -> bool:
        words = ("env", "PYTHONPATH=src", sys.executable, "-m", "pytest", "-q", "tests")
        return self.shell(*words, tree=self.candidate)[0] == 0

    def faster(self) -> bool:
        """Best of three against best of three."""
        best = {self.incumbent: float("inf"), self.candidate: float("inf")}
        for tree in (self.incumbent, self.candidate) * 3:
            code, text = self.shell("sh", str(tree / "exp" / "evaluate.sh"), tree=tree)
            lines = [line for line in text.splitlines() if line.startswith("METRIC cpu=")]
            if code == 0 and lines:
                best[tree] = min(best[tree], float(lines[-1].partition("=")[2]))
        return best[self.candidate] < ACCEPTED * best[self.incumbent]
