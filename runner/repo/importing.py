"""The way back from an agent's directory: our own walk and our own hashing, nothing of the agent's git is asked."""

# ruff: noqa: PTH115 - a Path would tidy a symlink's target, and `./x` is not `x`
import contextlib
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner import files
from runner.core.events import Change
from runner.core.models import Oid
from runner.files import display
from runner.repo import trees
from runner.repo.fill import POINTER_LIMIT
from runner.repo.nouns import Imported, Signature, Snapshot, TreeEntry
from runner.repo.packs import Pack, name_of, new_pack
from runner.repo.pristine import made, signature
from runner.repo.store import Store

RACY_NS = 20_000_000
"""Nanoseconds: a file copied so shortly before the snapshot could be written again within the same tick of the clock."""
MOST_PROBLEMS = 50
"""Sentences kept; the journal is no place for a hundred thousand."""
UNSEEN = dict.fromkeys(
    map(ord, "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff")
)
"""Characters that some file systems leave out of names, so that `.g<200c>it` is `.git` there."""

Found = Mapping[str, os.stat_result | None]


@dataclass(slots=True)
class _Import:
    """An import under way."""

    base: Mapping[str, TreeEntry]
    directory: Path
    pristine: Path
    pack: Pack
    limit: int
    tree: dict[str, TreeEntry] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    known: frozenset[Oid] = frozenset()


def import_tree(
    store: Store, base: Oid, directory: Path, pristine: Path, snapshot: Snapshot | None, *, limit_bytes: int
) -> Imported:
    """The directory as a tree in the store, compared with the commit `base` that it was copied from.

    The `.git` at its top is never read. Files that look as in the snapshot are unchanged, all others are read and hashed.
    New files that the base's own .gitignore files ignore are left out and counted. Nested repositories, special files,
    files above `limit_bytes`, colliding names, names git cannot hold and changes in submodules or LFS files are problems,
    and left out. Paths in changes and problems are in display form.
    """
    settled = _settled(snapshot)
    return _imported(
        store, base, directory, pristine, limit_bytes, lambda job: _sort_out(job, _found(directory), settled), snapshot
    )


def import_layer(store: Store, base: Oid, upper: Path, pristine: Path, *, limit_bytes: int) -> Imported:
    """As `import_tree`, from the upper layer of an overlay over the pristine tree: what is not in it is unchanged.

    A character device 0/0 stands for a deleted name, the attribute `user.overlay.opaque` for a directory that hides
    the one below.
    """
    return _imported(store, base, upper, pristine, limit_bytes, _sort_layer, None)


def _imported(
    store: Store,
    base: Oid,
    directory: Path,
    pristine: Path,
    limit: int,
    sort: Callable[["_Import"], dict[str, os.stat_result | None]],
    snapshot: Snapshot | None,
) -> Imported:
    """`sort` takes over what is untouched and hands back what has to be looked at."""
    listing = trees.listing(store.git, base)
    if not _is_directory(directory):
        return Imported(listing.root, (), 0, ("the agent's directory is gone",))
    with new_pack(store.path, store.user.object_format) as pack:
        known = frozenset(entry.oid for entry in listing.entries.values())
        job = _Import(listing.entries, directory, pristine, pack, limit, known=known)
        touched = sort(job)
        fresh = {
            path: seen for path, seen in touched.items() if path not in job.base and not _was_there(job, path, seen, snapshot)
        }
        ignored = _ignored(store, base, pristine, fresh)
        for path in sorted(touched.keys() & job.base.keys() | fresh.keys() - ignored, key=os.fsencode):
            _take(job, path, touched[path])
        _leave_out_collisions(job)
        root = trees.add_trees(pack, job.tree, listing.trees)
        pack.store(store.git)
    found = trees.with_renames(store.git, listing.root, root, list(trees.changes(job.base, job.tree)))
    told = tuple(_told(change, job.targets) for change in found)
    return Imported(root, told, len(ignored), _bounded(job.problems))


def _sort_layer(job: _Import) -> dict[str, os.stat_result | None]:
    """Take over every path of the base that the layer neither holds nor hides."""
    found = _found(job.directory)
    gone = {path for path, seen in found.items() if seen is not None and stat.S_ISCHR(seen.st_mode) and seen.st_rdev == 0}
    touched = {path: seen for path, seen in found.items() if path not in gone}
    hiding = gone | touched.keys() | _opaque(job.directory)
    submodules = {path for path, entry in job.base.items() if entry.mode == trees.SUBMODULE}
    for path in submodules:
        _keep_under_layer(job, path, touched, gone)
    for path, entry in job.base.items():
        if path not in hiding and path not in submodules and not any(above in hiding for above in _above(path)):
            job.tree[path] = entry
    return {path: seen for path, seen in touched.items() if not any(above in submodules for above in _above(path))}


def _keep_under_layer(job: _Import, path: str, touched: Found, gone: set[str]) -> None:
    """A submodule stays what it was; only taking it away whole can be imported."""
    if path in gone or any(above in gone for above in _above(path)):
        return
    job.tree[path] = job.base[path]
    if any(other == path or other.startswith(path + "/") for other in (*touched, *gone)):
        job.problems.append(f"{display(path)} is a submodule, and changes inside one cannot be imported: it stays as it was")


def _above(path: str) -> Iterator[str]:
    """The directories on the way to a path, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


def _opaque(upper: Path) -> set[str]:
    """Directories of a layer that hide what the layers below have under their name."""
    found = set()
    for root, directories, _ in os.walk(upper):
        for name in directories:
            with contextlib.suppress(OSError):
                if os.getxattr(f"{root}/{name}", "user.overlay.opaque", follow_symlinks=False) == b"y":
                    found.add(os.path.relpath(f"{root}/{name}", upper))
    return found


def _found(directory: Path) -> Found:
    """Every file of the directory but its own `.git`; nested repositories as one path."""
    return {path: seen for path, seen in files.walk(directory, stop=_is_git) if path != ".git"}


def _settled(snapshot: Snapshot | None) -> Mapping[str, Signature]:
    """The snapshot's files whose signature would have changed with any later write."""
    if snapshot is None or not snapshot.files:
        return {}
    newest = max(ctime for _, _, _, ctime, _ in snapshot.files.values())
    return {path: seen for path, seen in snapshot.files.items() if seen[3] < newest - RACY_NS}


def _sort_out(job: _Import, found: Found, settled: Mapping[str, Signature]) -> dict[str, os.stat_result | None]:
    """Take over what is untouched; the paths that have to be looked at are handed back."""
    submodules = tuple(path for path, entry in job.base.items() if entry.mode == trees.SUBMODULE)
    inside = tuple(path + "/" for path in submodules)
    touched = {}
    for path, seen in found.items():
        if inside and path.startswith(inside):
            continue
        if seen is None or settled.get(path) != signature(seen):
            touched[path] = seen
        elif path in job.base:
            job.tree[path] = job.base[path]
    for path in submodules:
        _keep_submodule(job, path, found, settled)
    return touched


def _keep_submodule(job: _Import, path: str, found: Found, settled: Mapping[str, Signature]) -> None:
    """A submodule stays what it was; only taking it away whole can be imported."""
    now = {p: seen for p, seen in found.items() if p.startswith(path + "/")}
    if not now and not _is_directory(job.directory / path):
        return
    before = {f"{path}/{below}" for below, _ in files.walk(job.pristine / path)} if _is_directory(job.pristine / path) else set()
    job.tree[path] = job.base[path]
    different = [p for p in now if settled.get(p) != _signed(now[p]) and not _same_as_pristine(job, p, now[p])]
    if different or before != now.keys():
        job.problems.append(f"{display(path)} is a submodule, and changes inside one cannot be imported: it stays as it was")


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _signed(seen: os.stat_result | None) -> Signature | None:
    return None if seen is None else signature(seen)


def _was_there(job: _Import, path: str, seen: os.stat_result | None, snapshot: Snapshot | None) -> bool:
    """Whether a file that is in no commit came with the copy: a setup link or a build output, not the agent's work."""
    if snapshot is not None and (seen is None or snapshot.files.get(path) == signature(seen)):
        return seen is not None
    return (snapshot is None or path in snapshot.files) and _same_as_pristine(job, path, seen)


def _same_as_pristine(job: _Import, path: str, seen: os.stat_result | None) -> bool:
    """Whether a file has the kind, exec bit and content of the pristine tree's."""
    try:
        before = os.lstat(job.pristine / path)
        if seen is None or stat.S_IFMT(before.st_mode) != stat.S_IFMT(seen.st_mode) or before.st_size != seen.st_size:
            return False
        if stat.S_ISLNK(seen.st_mode):
            return os.readlink(job.pristine / path) == os.readlink(job.directory / path)
        same_bit = not (before.st_mode ^ seen.st_mode) & 0o100
        return same_bit and files.read_plain(job.pristine / path) == files.read_plain(job.directory / path)
    except OSError:
        return False


# --- ignored files ----------------------------------------------------------------------------------


def _ignored(store: Store, base: Oid, pristine: Path, fresh: Found) -> set[str]:
    """Those of the new paths that the base's own .gitignore files ignore."""
    rules = {
        p: e.oid for p, e in store.entries(base).items() if p.rpartition("/")[2] == ".gitignore" and e.mode.startswith("100")
    }
    if not rules or not fresh:
        return set()
    asked = b"".join(b"./" + os.fsencode(path) + b"\0" for path in fresh)  # a leading colon would be magic
    look = replace(store.git, work_tree=_rules_only(store, base, pristine, rules), env=(("GIT_LITERAL_PATHSPECS", None),))
    found = look("check-ignore", "--no-index", "-z", "--stdin", stdin=asked, ok=(0, 1)).fields
    return {path.removeprefix("./") for path in found}


def _rules_only(store: Store, base: Oid, pristine: Path, rules: Mapping[str, Oid]) -> Path:
    """A directory that holds the base's .gitignore files and nothing else, made once."""
    place = made(pristine) / f"ignore-{base}"
    if not place.exists():
        part = place.with_name("ignore.part")
        files.remove_tree(part)
        for path, content in zip(rules, store.blobs(rules.values()), strict=True):
            (part / path).parent.mkdir(parents=True, exist_ok=True)
            (part / path).write_bytes(content)
        part.rename(place)
    return place


# --- one path ---------------------------------------------------------------------------------------


def _take(job: _Import, path: str, seen: os.stat_result | None) -> None:
    """Put one looked-at path into the tree, or say why it cannot be."""
    before = job.base.get(path)
    problem = _refusal(job, path, seen, before)
    if problem or seen is None:
        job.problems.append(f"{display(path) or 'the top'} {problem}")
        return
    try:
        content, mode = _content(job, path, seen, before)
    except (OSError, ValueError) as error:
        reason = (
            f"has more than {job.limit} bytes" if isinstance(error, ValueError) else f"cannot be read: {error.strerror or error}"
        )
        job.problems.append(f"{display(path)} {reason}")
        return
    if before and before.mode == mode and _is_filled_unchanged(job, path, before, content):
        job.tree[path] = before
    elif before and _was_filled(job, path, before) and name_of("blob", content, job.pack.object_format) != before.oid:
        job.problems.append(f"{display(path)} is kept in Git LFS, where the runner cannot store a new version")
    else:
        job.tree[path] = TreeEntry(mode, job.pack.add("blob", content, job.known), len(content))


def _refusal(job: _Import, path: str, seen: os.stat_result | None, before: TreeEntry | None) -> str:
    """What speaks against a path before its content is read; '' when nothing does."""
    name = path.rpartition("/")[2]
    if seen is None:
        return "is a directory that cannot be read"
    if _is_git(name):
        return "is a repository inside the tree: it was not read"
    if before is None and any(_is_git(part) for part in path.replace("\\", "/").replace(":", "/").split("/")):
        return "has a name that git cannot hold"
    if name.casefold() == ".gitmodules" and stat.S_ISLNK(seen.st_mode):
        return "is a symlink, which git refuses under that name"
    if not stat.S_ISREG(seen.st_mode) and not stat.S_ISLNK(seen.st_mode):
        return "is no file, directory or symlink"
    if seen.st_size > job.limit:
        return f"has {seen.st_size} bytes, more than the {job.limit} allowed"
    return ""


def _content(job: _Import, path: str, seen: os.stat_result, before: TreeEntry | None) -> tuple[bytes, str]:
    if stat.S_ISLNK(seen.st_mode):
        target = os.readlink(job.directory / path)
        job.targets[path] = target
        return os.fsencode(target), trees.SYMLINK
    mode = "100755" if seen.st_mode & 0o100 else "100644"
    if before and before.mode.startswith("100") and bool(int(before.mode, 8) & 0o100) == (mode == "100755"):
        mode = before.mode  # old histories have 100664
    return files.read_plain(job.directory / path, job.limit), mode


def _was_filled(job: _Import, path: str, before: TreeEntry) -> bool:
    """Whether the pristine tree holds LFS content where the commit holds a pointer."""
    if before.size is None or before.size >= POINTER_LIMIT or not before.mode.startswith("100"):
        return False
    try:
        held = files.read_plain(job.pristine / path)
    except OSError:
        return False
    return name_of("blob", held, job.pack.object_format) != before.oid


def _is_filled_unchanged(job: _Import, path: str, before: TreeEntry, content: bytes) -> bool:
    return _was_filled(job, path, before) and files.read_plain(job.pristine / path) == content


def _is_git(name: str) -> bool:
    """Whether some file system takes this name for `.git`."""
    if len(name) < 4 or (name[0] != "." and name[0] not in "gG" and name.isascii()):
        return False
    plain = name.translate(UNSEEN).casefold().rstrip(" .")
    return plain == ".git" or plain == "git~1"


# --- the whole --------------------------------------------------------------------------------------


def _leave_out_collisions(job: _Import) -> None:
    """New names that a file system without case or with another Unicode form would take for a name that is there."""
    fresh = sorted((path for path in job.tree if path not in job.base), key=os.fsencode)
    if not fresh:
        return
    owner = {_folded(name): name for name in _names(path for path in job.tree if path in job.base)}
    for path in fresh:
        names = list(_names([path]))
        clash = next((owner[_folded(n)] for n in names if owner.get(_folded(n), n) != n), None)
        if clash is None:
            owner.update((_folded(name), name) for name in names)
        else:
            del job.tree[path]
            job.problems.append(f"{display(path)} differs from {display(clash)} only in case or Unicode form")


def _names(paths: Iterable[str]) -> set[str]:
    """The paths and all directories on their way."""
    out: set[str] = set()
    for path in paths:
        while path and path not in out:
            out.add(path)
            path = path.rpartition("/")[0]
    return out


def _folded(path: str) -> str:
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _told(change: Change, targets: Mapping[str, str]) -> Change:
    target = targets.get(change.path) if change.new_mode == trees.SYMLINK else None
    old = None if change.old is None else display(change.old)
    return replace(change, path=display(change.path), old=old, target=None if target is None else display(target))


def _bounded(problems: Sequence[str]) -> tuple[str, ...]:
    more = len(problems) - MOST_PROBLEMS
    return tuple(problems) if more <= 0 else (*problems[:MOST_PROBLEMS], f"... and {more} more")
