"""The runner's own bare repository: candidates, pristine trees, agent copies."""

from collections.abc import Mapping
from pathlib import Path

from runner.core.models import Oid
from runner.repo.nouns import Imported, Snapshot, TreeEntry, UserRepo


def open_private(state: Path, user: UserRepo) -> "Private":
    """The bare repository `state/repo.git`, made or put right; the caller holds the campaign's lock.

    Objects are borrowed from the user's repository. Stale locks and half-written files of a killed run are removed,
    as are objects and refs that a power loss emptied, so that they can be written again.
    """
    raise NotImplementedError


class Private:
    """The private repository, opened."""

    def entries(self, commit: Oid) -> Mapping[str, TreeEntry]:
        """Every path of the commit's tree (no directories), in git's order."""
        raise NotImplementedError

    def tree_of(self, commit: Oid) -> Oid:
        raise NotImplementedError

    def read(self, commit: Oid, path: str) -> bytes | None:
        """The bytes of a file or symlink in that commit, None where it has none."""
        raise NotImplementedError

    def exists(self, oid: Oid) -> bool:
        raise NotImplementedError

    def resolve(self, ref: str) -> Oid | None:
        """What a full ref name (refs/...) stands at, None where there is none."""
        raise NotImplementedError

    def pin(self, ref: str, oid: Oid) -> None:
        """Point a ref at an object, durably."""
        raise NotImplementedError

    def refs(self, prefix: str) -> Mapping[str, Oid]:
        """All refs below a prefix such as `refs/turn/`."""
        raise NotImplementedError

    def commit(self, tree: Oid, parent: Oid | None, message: str, at: str, trailers: Mapping[str, str]) -> Oid:
        """A commit under the runner's identity; the same arguments always make the same hash (`at`: ISO 8601)."""
        raise NotImplementedError

    def diff(self, old: Oid, new: Oid, limit: int = 1 << 20) -> bytes:
        """The unified diff of two commits or trees, the same bytes under any configuration; at most about `limit` bytes."""
        raise NotImplementedError

    def checkout(self, commit: Oid, into: Path) -> bool:
        """The pristine tree of a commit in `into`; True when it was made now, False when a complete one was there."""
        raise NotImplementedError

    def agent_copy(self, commit: Oid, pristine: Path, into: Path) -> Snapshot:
        """A writable copy of a pristine tree with a throw-away `.git` of its own; what was in `into` is gone."""
        raise NotImplementedError

    def import_tree(self, base: Oid, directory: Path, pristine: Path, snapshot: Snapshot | None, *, limit_bytes: int) -> Imported:
        """The directory as a tree in this repository, read by our own walk; its `.git` is never read."""
        raise NotImplementedError
