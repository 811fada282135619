"""Directories that are made for one run and thrown away, whatever the run did to them."""

import contextlib
import itertools
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from runner import host

_counter = itertools.count()
_in_use: set[Path] = set()


def scrub(path: Path) -> bool:
    """Remove `path` whole; whether it is gone. Follows no link, changes no name but its own.

    Modes of 000, overlay whiteouts and trees deeper than a path may be long are met by chmod and by moving each subdirectory up
    to the top before it is opened: no path gets longer than two names, and nothing is called by itself.
    """
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return True
    except FileNotFoundError:
        return True
    except OSError:
        return False
    names = (f".scrub-{os.getpid()}-{number}" for number in _counter)
    waiting = [path]
    with contextlib.suppress(OSError):
        while waiting:
            waiting += _flatten(waiting.pop(), path, names)
        path.rmdir()
    return not os.path.lexists(path)


def _flatten(directory: Path, top: Path, names: Iterator[str]) -> list[Path]:
    """Empty one directory: files go, subdirectories move up to `top`; it goes itself unless it is the top."""
    directory.chmod(0o700)
    moved = []
    with os.scandir(directory) as entries:
        found = list(entries)
    for entry in found:
        if not entry.is_dir(follow_symlinks=False):
            Path(entry.path).unlink()
            continue
        Path(entry.path).chmod(0o700)  # a directory that changes its parent has to be writable itself
        moved.append(Path(entry.path).rename(top / next(names)))
    if directory != top:
        directory.rmdir()
    return moved


def put_away(path: Path) -> None:
    """Make `path` free: removed, or moved beside for the next start to remove."""
    if not scrub(path):
        path.rename(path.with_name(f"{path.name}.aside-{os.getpid()}-{next(_counter)}"))


@contextlib.contextmanager
def layer(parent: Path) -> Iterator[Path]:
    """A fresh directory below `parent` that is gone afterwards."""
    path = parent / f"{os.getpid()}-{next(_counter)}"
    put_away(path)
    path.mkdir(parents=True)
    _in_use.add(path)
    try:
        yield path
    finally:
        _in_use.discard(path)
        scrub(path)


def sweep(parent: Path) -> None:
    """Remove what killed runs left below `parent`, but nothing of a live one; what will not go stays, and is no obstacle."""
    parent.mkdir(parents=True, exist_ok=True)
    for each in parent.iterdir():
        owner = each.name.partition("-")[0]
        another = owner.isdigit() and int(owner) != os.getpid() and host.process_id(int(owner)) is not None
        if not another and each not in _in_use:
            scrub(each)


def copy_tree(source: Path, target: Path) -> None:
    """An equal tree: contents, modes, times and links (not followed)."""
    shutil.copytree(source, target, symlinks=True)
