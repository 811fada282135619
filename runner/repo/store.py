"""Objects and refs of the runner's own bare repository."""

import datetime
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner import files
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.repo import gitdir, trees
from runner.repo.door import Git
from runner.repo.nouns import TreeEntry, UserRepo

OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Store:
    """A bare repository at `path` that borrows the objects of `user`."""

    path: Path
    user: UserRepo

    @property
    def git(self) -> Git:
        return Git(git_dir=self.path)

    def entries(self, commit: Oid) -> Mapping[str, TreeEntry]:
        """Every path of the commit's tree (no directories), in git's order."""
        return trees.listing(self.git, commit).entries

    def tree_of(self, commit: Oid) -> Oid:
        return trees.listing(self.git, commit).root

    def read(self, commit: Oid, path: str) -> bytes | None:
        """The bytes of a file, or a symlink's target, in that commit; None where it has none."""
        entry = self.entries(commit).get(path)
        return None if entry is None or entry.mode == trees.SUBMODULE else self.git("cat-file", "blob", entry.oid).out

    def blobs(self, oids: Iterable[Oid]) -> Iterator[bytes]:
        """The contents of many blobs, in the order asked."""
        out, at = self.git("cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in oids).encode()).out, 0
        while at < len(out):
            start = out.index(b"\n", at) + 1
            size = int(out[at:start].rsplit(b" ", 1)[1])
            yield out[start : start + size]
            at = start + size + 1

    def exists(self, oid: Oid) -> bool:
        return bool(OID.fullmatch(oid)) and self.git("cat-file", "-e", oid, ok=(0, 1, 128)).code == 0

    def resolve(self, ref: str) -> Oid | None:
        """What a full ref name (refs/...) stands at, None where there is none."""
        return tip(self.git, ref)

    def pin(self, ref: str, oid: Oid) -> None:
        """Point a ref at an object, durably."""
        self.git("update-ref", ref, oid)
        files.sync_directory((self.path / ref).parent)

    def refs(self, prefix: str) -> Mapping[str, Oid]:
        """All refs below a prefix such as `refs/turn/`."""
        rows = self.git("for-each-ref", "--format=%(objectname) %(refname)", prefix).text.splitlines()
        return {name: Oid(oid) for oid, _, name in (row.partition(" ") for row in rows)}

    def commit(self, tree: Oid, parent: Oid | None, message: str, at: str, trailers: Mapping[str, str]) -> Oid:
        """A commit under the runner's identity; the same arguments always make the same hash.

        The message is taken as it is (NUL bytes, which git cannot hold, aside), `at` is ISO 8601 with an offset or Z.
        """
        moment = datetime.datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError(f"a time with its offset was expected, found {at!r}")
        date = f"@{int(moment.timestamp())} +0000"
        git = Git(git_dir=self.path, env=(("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)))
        parents = () if parent is None else ("-p", parent)
        return Oid(git("commit-tree", tree, *parents, stdin=_message(message, trailers)).text)

    def diff(self, old: Oid, new: Oid, limit: int = 1 << 20) -> bytes:
        """The unified diff of two commits or trees, the same bytes under any configuration.

        Above `limit` bytes it is cut after a whole line, and a last line says so.
        """
        flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3")
        out, more = self.git.head("diff-tree", "-r", "-p", "-M", "--diff-algorithm=myers", *flags, old, new, limit=limit)
        return out[: out.rfind(b"\n") + 1] + b"[the diff is cut here, at %d bytes]\n" % limit if more else out


def tip(git: Git, ref: str) -> Oid | None:
    """What a full ref name stands at, None where there is none."""
    answer = git("show-ref", "--verify", "--hash", ref, ok=(0, 1, 128))
    return Oid(answer.text) if answer.code == 0 else None


def _message(message: str, trailers: Mapping[str, str]) -> bytes:
    for key, value in trailers.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", key) or "\n" in value or "\0" in value:
            raise ValueError(f"not a trailer: {key!r}: {value!r}")
    tail = "".join(f"{key}: {value}\n" for key, value in trailers.items())
    body = message.rstrip("\n") + "\n"
    return (f"{body}\n{tail}" if tail else body).replace("\0", "\ufffd").encode("utf-8", "backslashreplace")


def put_right(state: Path, user: UserRepo) -> Store:
    """The bare repository `state/repo.git`, made or mended; the caller holds the campaign's lock."""
    path = state / "repo.git"
    if not path.exists():
        part = state / "repo.git.part"
        files.remove_tree(part)
        gitdir.make(part, user.object_format, head="refs/heads/none")
        (part / "info/attributes").write_bytes(gitdir.PLAIN_ATTRIBUTES)
        part.rename(path)
        files.sync_directory(state)
    _refuse_other_format(path, user)
    _remove_leftovers(path)
    gitdir.borrow(path, [user.common_dir / "objects"])
    _follow_shallow(path, user)
    return Store(path, user)


def _refuse_other_format(path: Path, user: UserRepo) -> None:
    ours = Git(git_dir=path)("rev-parse", "--show-object-format").text
    if ours != user.object_format:
        raise RepoError(
            f"{files.display(os.fspath(path))} holds {ours} objects, the repository has {user.object_format}",
            "the state directory belongs to another repository: name the right one, or move the state directory away",
        )


def _follow_shallow(path: Path, user: UserRepo) -> None:
    """History ends where the person's own history ends."""
    theirs, ours = user.common_dir / "shallow", path / "shallow"
    if theirs.is_file():
        files.write_durably(ours, theirs.read_bytes())
    else:
        ours.unlink(missing_ok=True)


def _remove_leftovers(path: Path) -> None:
    """What a kill or a power loss leaves: locks, half-written files, and objects or refs without content.

    An emptied object is not healed by writing it again, an emptied ref cannot be updated: both have to go first.
    """
    for place in (*_strays(path), *_hollow(path / "objects"), *_hollow(path / "refs")):
        files.remove_tree(place)


def _strays(path: Path) -> Iterator[Path]:
    yield from path.glob("*.lock")
    yield from (place for place in (path / "refs").rglob("*.lock") if place.is_file())
    yield from path.glob("objects/*/tmp_*")
    yield from path.glob("tmp*")


def _hollow(directory: Path) -> Iterator[Path]:
    """Objects, packs and refs without content."""
    return (directory / name for name, _ in files.walk(directory) if files.is_hollow(directory / name))
