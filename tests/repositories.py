"""Real repositories to test with."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner import repo
from runner.core.models import Oid
from runner.repo import Imported, Private, Snapshot, UserRepo

AT = "2026-11-30T10:49:00.123Z"


@dataclass(frozen=True)
class Person:
    """Someone with a repository at `path`, who types git commands."""

    path: Path

    def git(self, *args: str, check: bool = True) -> str:
        """What plain git says, with this repository's configuration and hooks in force."""
        home = {"HOME": os.fspath(self.path.parent), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        name = {f"GIT_{role}_{what}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        command = ("git", "-c", "protocol.file.allow=always", *args)
        return os.fsdecode(
            subprocess.run(command, cwd=self.path, env=home | name, check=check, capture_output=True).stdout
        ).rstrip("\n")

    def write(self, tree: Mapping[str, str | bytes]) -> None:
        for name, content in tree.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, tree: Mapping[str, str | bytes]) -> Oid:
        self.write(tree)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a step")
        return Oid(self.git("rev-parse", "HEAD"))


def person(path: Path, tree: Mapping[str, str | bytes] | None = None, object_format: str = "sha1") -> Person:
    """A new repository on branch main with one commit."""
    path.mkdir(parents=True)
    ann = Person(path)
    ann.git("init", "-q", "-b", "main", f"--object-format={object_format}")
    ann.commit(tree if tree is not None else {"src/a.py": "a = 1\n", "eval/golden.json": "{}\n", "README": "hello\n"})
    return ann


@dataclass(frozen=True)
class Bench:
    """A person's repository, the private one beside it, and the pristine tree of HEAD with an agent's copy of it."""

    ann: Person
    user: UserRepo
    private: Private
    pristine: Path
    agent: Path
    snapshot: Snapshot

    def imported(self, limit_bytes: int = 1 << 20) -> Imported:
        return self.private.import_tree(self.user.head, self.agent, self.pristine, self.snapshot, limit_bytes=limit_bytes)

    def candidate(self, message: str = "faster") -> Oid:
        return self.private.commit(self.imported().tree, self.user.head, message, AT, {})


def bench(ann: Person) -> Bench:
    state = ann.path.with_name("state")
    state.mkdir(exist_ok=True)
    user = repo.discover(ann.path)
    private = repo.open_private(state, user)
    private.checkout(user.head, state / "base")
    snapshot = private.agent_copy(user.head, state / "base", state / "agent")
    time.sleep(0.03)  # an agent takes longer than a tick of the file system's clock to start
    return Bench(ann, user, private, state / "base", state / "agent", snapshot)


def every_file(directory: Path) -> dict[str, bytes]:
    """The content of each file below a directory, link targets for symlinks."""
    return {
        os.fspath(place.relative_to(directory)): os.fsencode(place.readlink()) if place.is_symlink() else place.read_bytes()
        for place in sorted(directory.rglob("*"))
        if place.is_symlink() or place.is_file()
    }
