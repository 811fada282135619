"""The runner's own repository: objects and refs, pristine trees, agent copies, and the way back from them."""

import contextlib
import os
from collections.abc import Iterator, Sequence
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

    def checkout(self, commit: Oid, into: Path, spare: tuple[Oid, Path] | None = None) -> bool:
        """The pristine tree of a commit in `into`; True when it was made now, False when a complete one was there.

        `spare` is the pristine tree of another commit, to be turned into this one.
        """
        with _writing(into):
            return pristine_trees.checkout(self, commit, into, spare)

    def agent_layer(self, commit: Oid, pristine: Path) -> Path:
        """A directory with a throw-away `.git` of that commit alone, to be laid over its pristine tree."""
        with _writing(pristine):
            return pristine_trees.agent_layer(self, commit, pristine)

    def agent_copy(self, commit: Oid, pristine: Path, into: Path, hidden: Sequence[str] = ()) -> Snapshot:
        """A writable copy of a pristine tree with a throw-away `.git` of its own; what was in `into` is gone.

        `hidden` are tree-relative paths that its `git status` does not show: what is going to be mounted there.
        """
        with _writing(into):
            return pristine_trees.agent_copy(self, commit, pristine, into, hidden)

    def import_tree(self, base: Oid, directory: Path, pristine: Path, snapshot: Snapshot | None, *, limit_bytes: int) -> Imported:
        """The directory as a tree in this repository, read by our own walk; its `.git` is never read."""
        with _writing(self.path):
            return importing.import_tree(self, base, directory, pristine, snapshot, limit_bytes=limit_bytes)

    def import_layer(self, base: Oid, upper: Path, pristine: Path, *, limit_bytes: int) -> Imported:
        """What an agent wrote and deleted over a pristine tree, as a tree in this repository."""
        with _writing(self.path):
            return importing.import_layer(self, base, upper, pristine, limit_bytes=limit_bytes)


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
