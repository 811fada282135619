"""Trees as values: a flat listing of paths, and the tree objects that a changed listing needs."""

import functools
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from runner.core.events import Change
from runner.core.models import Oid
from runner.repo.door import Git
from runner.repo.nouns import TreeEntry
from runner.repo.packs import Pack

SUBMODULE = "160000"
SYMLINK = "120000"


@dataclass(frozen=True, slots=True)
class Listing:
    """A whole tree: `entries` by path, and the names of the tree objects that are in it."""

    root: Oid
    entries: Mapping[str, TreeEntry]
    trees: frozenset[Oid]


@functools.lru_cache(maxsize=4)
def listing(git: Git, commit: Oid) -> Listing:
    """Everything below a commit or tree."""
    root = Oid(git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{tree}}").text)
    entries: dict[str, TreeEntry] = {}
    trees = {root}
    for line in git("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", root).fields:
        about, path = line.split("\t", 1)
        mode, kind, oid, size = about.split()
        if kind == "tree":
            trees.add(Oid(oid))
        else:
            entries[path] = TreeEntry(mode, Oid(oid), None if size == "-" else int(size))
    return Listing(root, MappingProxyType(entries), frozenset(trees))


def add_trees(pack: Pack, entries: Mapping[str, TreeEntry], known: frozenset[Oid]) -> Oid:
    """Put the tree objects of a listing into the pack, except those in `known`; the root's name."""
    directories: defaultdict[str, dict[str, tuple[str, Oid]]] = defaultdict(dict)
    directories[""] = {}
    for path, entry in entries.items():
        parent, _, name = path.rpartition("/")
        directories[parent][name] = (entry.mode, entry.oid)
        while parent and parent.rpartition("/")[0] not in directories:
            parent = parent.rpartition("/")[0]
            directories[parent] = {}
    for directory in sorted(directories, key=lambda d: d.count("/") + bool(d), reverse=True):
        oid = pack.add("tree", _tree(directories[directory]), known)
        if directory:
            parent, _, name = directory.rpartition("/")
            directories[parent][name] = ("40000", oid)
    return oid


def _tree(children: Mapping[str, tuple[str, Oid]]) -> bytes:
    def order(child: tuple[bytes, str, Oid]) -> bytes:
        return child[0] + (b"/" if child[1] == "40000" else b"")

    rows = sorted(((os.fsencode(name), mode, oid) for name, (mode, oid) in children.items()), key=order)
    return b"".join(b"%s %s\0" % (mode.encode(), name) + bytes.fromhex(oid) for name, mode, oid in rows)


def changes(old: Mapping[str, TreeEntry], new: Mapping[str, TreeEntry]) -> Iterable[Change]:
    """Every path that differs, one by one, in order; paths as they are."""
    for path in sorted(old.keys() | new.keys(), key=os.fsencode):
        before, after = old.get(path), new.get(path)
        if before is None and after is not None:
            yield Change("A", path, None, None, after.mode, after.size)
        elif after is None and before is not None:
            yield Change("D", path, None, before.mode, None, None)
        elif before and after and (before.mode, before.oid) != (after.mode, after.oid):
            yield Change("M" if before.mode[:3] == after.mode[:3] else "T", path, None, before.mode, after.mode, after.size)


def with_renames(git: Git, old: Oid, new: Oid, found: list[Change]) -> list[Change]:
    """The same changes with each removed and added path that belong together told as one; none is lost."""
    if not {"A", "D"} <= {change.kind for change in found}:
        return found
    pairs = _renames(git, old, new)
    gone = {c.path: c for c in found if c.kind == "D"}
    out = []
    for change in found:
        source = gone.get(pairs.get(change.path, "")) if change.kind == "A" else None
        if source is not None:
            change = Change("R", change.path, source.path, source.old_mode, change.new_mode, change.size)
        out.append(change)
    told = {c.old for c in out if c.kind == "R"}
    return [c for c in out if not (c.kind == "D" and c.path in told)]


def _renames(git: Git, old: Oid, new: Oid) -> Mapping[str, str]:
    """New path to old path, each old one once."""
    fields = iter(git("diff-tree", "-r", "-M", "-z", "--raw", "--no-ext-diff", "--diff-filter=R", old, new).fields)
    pairs = {}
    for _ in fields:
        source = next(fields)
        pairs[next(fields)] = source
    return pairs
