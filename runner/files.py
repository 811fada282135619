"""Files that last, and directories that cannot lead us astray."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def display(path: str) -> str:
    """A path as printable text: bytes that are not UTF-8 and control characters as \\xNN, a backslash doubled."""
    raise NotImplementedError


def write_durably(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace a file whole: after a crash there is the old content or the new, never a part."""
    raise NotImplementedError


def sync_directory(path: Path) -> None:
    """Make names that were added to or taken from a directory durable."""
    raise NotImplementedError


def read_plain(path: Path | str, limit: int | None = None) -> bytes:
    """The bytes of a regular file, never through a symlink; OSError where it is none, ValueError above `limit` bytes."""
    raise NotImplementedError


def walk(root: Path, stop: Callable[[str], bool] = lambda name: False) -> Iterator[tuple[str, os.stat_result | None]]:
    """Every file below `root` with its lstat, symlinks unfollowed; paths relative, with slashes.

    A directory is entered and not told, except one whose name `stop` picks: told and not entered.
    The stat is None where a directory cannot be read.
    """
    raise NotImplementedError


def copy_tree(source: Path, target: Path) -> None:
    """A new directory with the same files (new inodes), modes, mtimes and symlinks; special files are OSError."""
    raise NotImplementedError


def remove_tree(path: Path) -> None:
    """Take a directory away whatever was done to it: no write permission, any depth, names too long; or a file."""
    raise NotImplementedError


def digest(directory: Path, skip: Callable[[str], bool] = lambda path: False) -> str:
    """SHA-256 hex of a directory: paths, exec bits, link targets and contents, in order."""
    raise NotImplementedError
