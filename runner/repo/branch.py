"""The few calls that write into a person's repository: a ref that protects the base, a branch that winners advance."""

import os
from pathlib import Path

from runner import files
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.files import display
from runner.repo.door import LONG, Git
from runner.repo.nouns import UserRepo
from runner.repo.packs import count_of, store_pack
from runner.repo.private import Private
from runner.repo.store import tip


def protect(user: UserRepo, experiment_id: str, oid: Oid) -> None:
    """Set refs/research/<id>/base, so that the person's gc keeps the baseline."""
    ref = f"refs/research/{experiment_id}/base"
    if tip(_theirs(user), ref) != oid:
        _theirs(user)("update-ref", "-m", "research: base", ref, oid)


def branch_tip(user: UserRepo, branch: str) -> Oid | None:
    """Where a branch of the person's repository stands, None where there is none."""
    return tip(_theirs(user), f"refs/heads/{branch}")


def in_the_way(user: UserRepo, branch: str) -> str | None:
    """A branch beside which git cannot make this one, because one's name would be the other's directory."""
    parts = branch.split("/")
    above = ["/".join(parts[:n]) for n in range(1, len(parts))]
    asked = [f"refs/heads/{branch}/", *(f"refs/heads/{name}" for name in above)]
    found = _theirs(user)("for-each-ref", "--format=%(refname)", *asked).text.splitlines()
    names = [name.removeprefix("refs/heads/") for name in found]
    return next((name for name in names if name in above or name.startswith(f"{branch}/")), None)


def advance(user: UserRepo, private: Private, branch: str, new: Oid, old: Oid | None, reason: str) -> bool:
    """Copy `new` into the person's repository and move the branch there from `old` (None: it must not exist yet).

    `reason` goes into the branch's reflog. False when the branch already stood at `new`;
    RepoError when it stands elsewhere, or is checked out somewhere, since moving it would make that worktree dirty.
    """
    _heal(user, branch, old)
    if _stands(user, branch, new, old):
        return False
    _refuse_checked_out(user, branch)
    _copy(user, private, new)
    expected = old or Oid("0" * len(new))
    flags = ("--create-reflog", "-m", " ".join(reason.split()))
    moved = _theirs(user)("update-ref", *flags, f"refs/heads/{branch}", new, expected, ok=(0, 1, 128))
    if moved.code == 0:
        return True
    if _stands(user, branch, new, old):
        return False  # another process was faster with the same commit
    raise RepoError(f"branch {display(branch)} could not be moved: {moved.err}", "see what git names, then start again")


def _heal(user: UserRepo, branch: str, old: Oid | None) -> None:
    """A branch whose file a power loss emptied can be neither read nor moved: it goes back to where the caller knows it was."""
    ref = f"refs/heads/{branch}"
    if files.is_hollow(user.common_dir / ref) and _theirs(user)("check-ref-format", ref, ok=(0, 1)).code == 0:
        (user.common_dir / ref).unlink()
        if old and tip(_theirs(user), ref) != old:
            _theirs(user)("update-ref", "-m", "research: restored", ref, old)


def _stands(user: UserRepo, branch: str, new: Oid, old: Oid | None) -> bool:
    """Whether the branch is at `new` already; RepoError unless it is there or at `old`."""
    now = branch_tip(user, branch)
    if now in (new, old):
        return now == new
    raise RepoError(
        f"branch {display(branch)} was expected at {_short(old)} and stands at {_short(now)}: somebody else moved it",
        f"move it back (`git branch -f {display(branch)} {old}`), or begin a new experiment from where it stands"
        if old
        else "rename or delete that branch, or name another one in the contract",
    )


def _short(oid: Oid | None) -> str:
    return oid[:12] if oid else "no commit"


def _refuse_checked_out(user: UserRepo, branch: str) -> None:
    for record in os.fsdecode(_theirs(user)("worktree", "list", "--porcelain", "-z").out).split("\0\0"):
        lines = record.split("\0")
        place = Path(lines[0].removeprefix("worktree "))
        if f"branch refs/heads/{branch}" in lines and place.is_dir():
            where = user.worktree if place == user.git_dir else place
            raise RepoError(
                f"branch {display(branch)} is checked out in {display(os.fspath(where))}, and moving it would make that dirty",
                "run `git switch --detach` there, or name another branch in the contract",
            )


def _copy(user: UserRepo, private: Private, new: Oid) -> None:
    """Put a commit and what its parent lacks into the person's repository, synced."""
    pack = private.git("pack-objects", "-q", "--revs", "--stdout", stdin=f"{new}^!\n".encode(), timeout=LONG).out
    theirs = _theirs(user)
    for parent in private.git("rev-parse", f"{new}^@").text.split():
        if theirs("cat-file", "-e", parent, ok=(0, 1, 128)).code:
            raise RepoError(
                f"the repository lacks {parent[:12]}, the parent of {new[:12]}", "restore that commit, then start again"
            )
    store_pack(theirs, pack, count_of(pack))


def _theirs(user: UserRepo) -> Git:
    return Git(git_dir=user.git_dir, work_tree=user.worktree)
