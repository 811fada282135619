"""The nouns of the git rooms."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.core.events import Change
from runner.core.models import Oid

Signature = tuple[int, int, int, int, int]
"""What `lstat` says of a file that cannot be faked together: mode, size, mtime_ns, ctime_ns, inode."""


@dataclass(frozen=True, slots=True)
class UserRepo:
    """A person's repository as it stood when it was found; `branch` is None on a detached HEAD.

    `git_dir` is this worktree's own, `common_dir` the one that all its worktrees share; all paths are absolute.
    """

    worktree: Path
    git_dir: Path
    common_dir: Path
    head: Oid
    branch: str | None
    object_format: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a commit: git's mode (100644, 100755, 120000, 160000), size in bytes (None for a submodule)."""

    mode: str
    oid: Oid
    size: int | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What every file of a directory looked like, so that the touched ones can be told without reading any."""

    files: Mapping[str, Signature]

    def to_bytes(self) -> bytes:
        return json.dumps({path: list(signature) for path, signature in self.files.items()}).encode()

    @staticmethod
    def from_bytes(data: bytes) -> "Snapshot":
        """The snapshot that `to_bytes` wrote; raises ValueError where the bytes are not one."""
        return Snapshot({str(path): _signature(values) for path, values in dict(json.loads(data)).items()})


def _signature(values: list[int]) -> Signature:
    mode, size, mtime, ctime, inode = (int(value) for value in values)
    return mode, size, mtime, ctime, inode


@dataclass(frozen=True, slots=True)
class Imported:
    """A directory as a tree: `changes` against the base, `problems` (one sentence each) are what was left out and why.

    `ignored` counts new files that the base's own .gitignore files ignore; they are left out without being a problem.
    """

    tree: Oid
    changes: tuple[Change, ...]
    ignored: int
    problems: tuple[str, ...]
