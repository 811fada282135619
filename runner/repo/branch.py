"""The few calls that write into a person's repository: one ref that protects the base, one branch that winners advance."""

from runner.core.models import Oid
from runner.repo.nouns import UserRepo
from runner.repo.private import Private


def protect(user: UserRepo, experiment_id: str, oid: Oid) -> None:
    """Set refs/research/<id>/base, so that the person's gc keeps the baseline."""
    raise NotImplementedError


def branch_tip(user: UserRepo, branch: str) -> Oid | None:
    """Where a branch of the person's repository stands, None where there is none."""
    raise NotImplementedError


def advance(user: UserRepo, private: Private, branch: str, new: Oid, old: Oid | None, reason: str) -> bool:
    """Copy `new` into the person's repository and move the branch there from `old` (None: it must not exist yet).

    False when it already stood at `new`; RepoError when it stands elsewhere or is checked out somewhere.
    """
    raise NotImplementedError
