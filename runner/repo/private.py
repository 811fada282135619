"""The runner's own repository: objects and refs, pristine trees, agent copies, and the way back from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.core.models import Oid
from runner.repo import importing, pristine
from runner.repo.nouns import Imported, Snapshot, UserRepo
from runner.repo.store import Store, put_right


@dataclass(frozen=True, slots=True)
class Private(Store):
    """The private repository, opened."""

    def checkout(self, commit: Oid, into: Path) -> bool:
        """The pristine tree of a commit in `into`; True when it was made now, False when a complete one was there."""
        return pristine.checkout(self, commit, into)

    def agent_copy(self, commit: Oid, pristine_tree: Path, into: Path, hidden: Sequence[str] = ()) -> Snapshot:
        """A writable copy of a pristine tree with a throw-away `.git` of its own; what was in `into` is gone.

        `hidden` are tree-relative paths that its `git status` does not show: what is going to be mounted there.
        """
        return pristine.agent_copy(self, commit, pristine_tree, into, hidden)

    def import_tree(self, base: Oid, directory: Path, pristine: Path, snapshot: Snapshot | None, *, limit_bytes: int) -> Imported:
        """The directory as a tree in this repository, read by our own walk; its `.git` is never read."""
        return importing.import_tree(self, base, directory, pristine, snapshot, limit_bytes=limit_bytes)


def open_private(state: Path, user: UserRepo) -> Private:
    """The bare repository `state/repo.git`, made or put right; the caller holds the campaign's lock.

    Objects are borrowed from the user's repository. Stale locks and half-written files of a killed run are removed,
    as are objects and refs that a power loss emptied, so that they can be written again.
    """
    store = put_right(state, user)
    return Private(store.path, store.user)
