"""The runner's own repository: objects and refs, pristine trees, agent copies, and the way back from them."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.files import display
from runner.repo import importing
from runner.repo import pristine as pristine_trees
from runner.repo.nouns import Imported, Snapshot, UserRepo
from runner.repo.store import Store, put_right


@dataclass(frozen=True, slots=True)
class Private(Store):
    """The private repository, opened."""

    def checkout(self, commit: Oid, into: Path) -> bool:
        """The pristine tree of a commit in `into`; True when it was made now, False when a complete one was there."""
        with _writing(into):
            return pristine_trees.checkout(self, commit, into)

    def agent_copy(self, commit: Oid, pristine: Path, into: Path) -> Snapshot:
        """A writable copy of a pristine tree with a throw-away `.git` of its own; what was in `into` is gone."""
        with _writing(into):
            return pristine_trees.agent_copy(self, commit, pristine, into)

    def import_tree(self, base: Oid, directory: Path, pristine: Path, snapshot: Snapshot | None, *, limit_bytes: int) -> Imported:
        """The directory as a tree in this repository, read by our own walk; its `.git` is never read."""
        with _writing(self.path):
            return importing.import_tree(self, base, directory, pristine, snapshot, limit_bytes=limit_bytes)


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """What the disk refuses is the person's to mend, not our bug."""
    try:
        yield
    except OSError as error:
        where = display(os.fspath(error.filename or place))
        raise RepoError(
            f"{where} could not be written or read: {error.strerror or error}", "see whether the disk is full"
        ) from error


def open_private(state: Path, user: UserRepo) -> Private:
    """The bare repository `state/repo.git`, made or put right; the caller holds the campaign's lock.

    Objects are borrowed from the user's repository. Stale locks and half-written files of a killed run are removed,
    as are objects and refs that a power loss emptied, so that they can be written again.
    """
    with _writing(state):
        store = put_right(state, user)
    return Private(store.path, store.user)
