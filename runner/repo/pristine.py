"""Pristine trees: a commit's exact bytes in a directory, made once and sealed; and the copies that agents get.

Beside the tree `X` lies `X.made` with what belongs to it: the seal (only a complete tree has one),
the packed `.git` for agents, the .gitignore files alone.
"""

import contextlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from runner import files
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.repo import fill, gitdir, trees
from runner.repo.door import IDENTITY, LONG, Git
from runner.repo.nouns import Signature, Snapshot
from runner.repo.store import Store

THEN = 1_000_000_000
"""Seconds: the one mtime that everything in a pristine tree has, so that a side cannot be told by its times."""


def signature(seen: os.stat_result) -> Signature:
    return seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino


def made(tree: Path) -> Path:
    """The directory of what belongs to a pristine tree."""
    return tree.with_name(tree.name + ".made")


def checkout(store: Store, commit: Oid, into: Path, spare: tuple[Oid, Path] | None = None) -> bool:
    """The pristine tree of a commit in `into`; True when it was made now, False when a complete one was there.

    It holds the blobs byte for byte (no filter, no line-end conversion), git's modes and symlinks,
    LFS contents and submodules filled in. It is made beside and renamed, so a kill leaves none or a whole one.
    `spare` is a pristine tree of another commit that is no longer wanted: it becomes this one by its differences,
    since making and deleting files is what costs (milliseconds each on some disks).
    """
    if (made(into) / "seal").exists() and into.is_dir():
        return False
    discard(into)
    part = into.with_name(into.name + ".part")
    if spare is None or not _turned(store, spare, commit, part):
        part.mkdir(parents=True)
        fill.write_tree(store.git, commit, part, fill.Source.of(store.user))
    part.rename(into)
    seal(into)
    return True


def _turned(store: Store, spare: tuple[Oid, Path], commit: Oid, part: Path) -> bool:
    """Whether the spare tree was moved to `part` and is now the commit's; it is left alone where only a checkout can tell."""
    old, new = (trees.listing(store.git, oid).entries for oid in (spare[0], commit))
    differ = [path for path in old.keys() | new.keys() if old.get(path) != new.get(path)]
    filled = any(e.mode == trees.SUBMODULE for e in (*old.values(), *new.values()))
    if filled or any(p.rpartition("/")[2] == ".gitattributes" for p in (*old, *new)) or verify(spare[1]):
        return False
    files.remove_tree(made(spare[1]))
    spare[1].rename(part)
    for path in differ:
        if path in old:
            (part / path).unlink()
    _drop_empty(part, differ)
    wanted = [path for path in differ if path in new]
    for path, content in zip(wanted, store.blobs(new[p].oid for p in wanted), strict=True):
        _write(part / path, new[path].mode, content)
    return True


def _drop_empty(part: Path, paths: list[str]) -> None:
    """Directories that lost their last file go too: git has no empty ones."""
    for directory in sorted({parent for path in paths for parent in Path(path).parents}, key=lambda d: -len(d.parts)):
        if directory.parts:
            with contextlib.suppress(OSError):
                (part / directory).rmdir()


def _write(place: Path, mode: str, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if mode == trees.SYMLINK:
        place.symlink_to(os.fsdecode(content))
        return
    place.write_bytes(content)
    place.chmod(0o755 if int(mode, 8) & 0o100 else 0o644)


def discard(tree: Path) -> None:
    """Take a pristine tree and all that belongs to it away; the seal goes first."""
    for place in (made(tree), tree, tree.with_name(tree.name + ".part")):
        files.remove_tree(place)


def seal(tree: Path) -> None:
    """Give everything in a tree its fixed mtime, and record what every file looks like now."""
    for root, directories, names in os.walk(tree, topdown=False):
        for name in (*names, *directories):
            os.utime(f"{root}/{name}", (THEN, THEN), follow_symlinks=False)
    os.utime(tree, (THEN, THEN))
    record(tree)


def record(tree: Path) -> None:
    """Seal a directory as it is: `verify` tells what differs from now on."""
    made(tree).mkdir(exist_ok=True)
    files.write_durably(made(tree) / "seal", snapshot(tree).to_bytes())


def snapshot(directory: Path) -> Snapshot:
    """What every file looks like now; RepoError where a directory cannot be read."""
    found = {}
    for path, seen in files.walk(directory):
        if seen is None:
            raise RepoError(f"{files.display(os.fspath(directory / path))} cannot be read", "mend its permissions")
        found[path] = signature(seen)
    return Snapshot(found)


def verify(tree: Path) -> tuple[str, ...]:
    """The paths that differ from the seal, or the tree's own path where it has none; () when all is as it was sealed.

    One lstat a file: the inode, size, mode and both times cannot be kept by whoever writes into a file.
    """
    try:
        sealed = Snapshot.from_bytes((made(tree) / "seal").read_bytes()).files
        found = {path: signature(seen) if seen else None for path, seen in files.walk(tree)}
    except (OSError, ValueError):
        return (os.fspath(tree),)
    return tuple(sorted(path for path in sealed.keys() | found.keys() if sealed.get(path) != found.get(path)))


# --- the agent's copy -------------------------------------------------------------------------------


def agent_copy(store: Store, commit: Oid, pristine: Path, into: Path, hidden: Sequence[str] = ()) -> Snapshot:
    """A writable copy of a pristine tree with a throw-away `.git` of its own; what was in `into` is gone.

    The `.git` is an ordinary repository on branch `main` with one root commit of the same tree, every object in it,
    no remote, and an identity, so that an agent can commit. The snapshot does not cover it. `hidden` paths, and what is
    below them, are excluded there: a rule with a slash at its end would not know a link for the directory it is called.
    """
    files.remove_tree(into)
    files.copy_tree(pristine, into)
    _make_writable(into)
    taken = snapshot(into)
    files.copy_tree(agent_layer(store, commit, pristine) / ".git", into / ".git")
    hide(into, hidden)
    return taken


def _literal(path: str) -> str:
    """A path as a pattern of git's that matches it alone."""
    return re.sub(r"([\\*?\[ ])", r"\\\1", path)


def hide(tree: Path, hidden: Sequence[str]) -> None:
    """Keep paths out of the `git status` of an agent's copy, or of a layer over one."""
    (tree / ".git/info").mkdir(parents=True, exist_ok=True)
    (tree / ".git/info/exclude").write_text("".join(f"/{_literal(path)}\n" for path in hidden), encoding="utf-8")


def _make_writable(directory: Path) -> None:
    """A build may have left read-only files; directories are made afresh and are writable already."""
    for path, seen in files.walk(directory):
        if seen is not None and stat.S_ISREG(seen.st_mode) and not seen.st_mode & 0o200:
            (directory / path).chmod(stat.S_IMODE(seen.st_mode) | 0o200)


def agent_layer(store: Store, commit: Oid, pristine: Path) -> Path:
    """A directory that holds a packed `.git` and nothing else, made once for a pristine tree: a layer to lay over it."""
    place = made(pristine) / f"agent-{commit}"
    if not place.exists():
        part = place.with_name("agent.part")
        files.remove_tree(part)
        part.mkdir(parents=True)
        _pack_agent_git(store, commit, part / ".git")
        part.rename(place)
    return place


def _pack_agent_git(store: Store, commit: Oid, place: Path) -> None:
    tree = store.tree_of(commit)
    root = store.commit(tree, None, "The incumbent", "2001-09-09T01:46:40Z", {})
    person = f"[user]\n\tname = {IDENTITY[0]}\n\temail = {IDENTITY[1]}\n"
    gitdir.make(place, store.user.object_format, head="refs/heads/main", bare=False, settings=person)
    packed = place / "objects/pack/pack"
    store.git("pack-objects", "-q", "--revs", os.fspath(packed), stdin=f"{root}\n".encode(), timeout=LONG)
    (place / "refs/heads/main").write_text(f"{root}\n")
    Git(git_dir=place, index=place / "index")("read-tree", root, timeout=LONG)
