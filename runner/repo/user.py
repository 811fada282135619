"""What is read from a person's repository."""

from collections.abc import Collection
from pathlib import Path

from runner.core.models import Oid
from runner.repo.nouns import UserRepo


def discover(path: Path) -> UserRepo:
    """The repository that holds `path`; RepoError with the mend where a campaign cannot start from it."""
    raise NotImplementedError


def unclean(user: UserRepo, own: Collection[Path]) -> tuple[str, ...]:
    """Changed tracked files and new files that are not ignored, minus those at or below `own` paths."""
    raise NotImplementedError


def last_commit_of(user: UserRepo, path: Path) -> Oid | None:
    """The commit in which the file's present bytes were last committed; None where it is not committed as it stands."""
    raise NotImplementedError
