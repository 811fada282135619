"""What is read from a person's repository, through a looking glass of our own: none of its programs runs, nothing is written."""

import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from runner import files
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.repo import fill, gitdir
from runner.repo.door import Git, require_version
from runner.repo.nouns import UserRepo

HARMLESS = frozenset({
    "core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode",
    "core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse",
})  # fmt: skip
"""The person's settings that say what clean means and can start no program."""


def discover(path: Path) -> UserRepo:
    """The repository that holds `path`; RepoError with the mend where a campaign cannot start from it.

    Linked worktrees and submodules, whose `.git` is a file, are as good as any.
    """
    require_version()
    here = Git(cwd=path.resolve() if path.is_dir() else path.resolve().parent)
    found = here("rev-parse", "--absolute-git-dir", ok=(0, 128)) if path.exists() else None
    if found is None or found.code:
        why = found.err if found else "there is no such directory"
        raise RepoError(f"a git repository was expected at {_name(path)}: {why}", "run `git init` there and make a first commit")
    if here("rev-parse", "--is-inside-work-tree").text != "true":
        raise RepoError(
            f"a repository with files checked out was expected, {_name(path)} is in a bare one or in a git directory",
            "clone it, or `git worktree add` a checkout, and name that",
        )
    git_dir, worktree = Path(found.text), Path(here("rev-parse", "--show-toplevel").text)
    git = Git(git_dir=git_dir, work_tree=worktree)
    common = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir").text)
    branch = git("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).text.removeprefix("refs/heads/") or None
    head = _head(git, worktree, branch)
    _refuse_holes(git, worktree)
    return UserRepo(worktree, git_dir, common, head, branch, git("rev-parse", "--show-object-format").text)


def _head(git: Git, worktree: Path, branch: str | None) -> Oid:
    answer = git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128))
    if answer.code == 0:
        return Oid(answer.text)
    if branch and git("show-ref", "--verify", "--quiet", f"refs/heads/{branch}", ok=(0, 1, 128)).code == 1:
        raise RepoError(f"{_name(worktree)} has no commit yet on branch {_name(branch)}", "make a first commit")
    raise RepoError(f"HEAD of {_name(worktree)} names a commit that is not there", "run `git fsck` and mend the repository")


def _refuse_holes(git: Git, worktree: Path) -> None:
    """A partial clone may lack objects of HEAD, and fetching them is not ours to do."""
    promised = git("config", "--name-only", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$", ok=(0, 1))
    if promised.code:
        return
    walk = git("rev-list", "--objects", "--no-walk", "--missing=print", "HEAD", timeout=600)
    missing = sum(line.startswith("?") for line in walk.text.splitlines())
    if missing:
        raise RepoError(
            f"{_name(worktree)} is a partial clone, and {missing} objects of its HEAD are not on this machine",
            "run `git checkout HEAD -- .` or `git fetch --refetch --no-filter` there",
        )


def unclean(user: UserRepo, own: Collection[Path]) -> tuple[str, ...]:
    """Changed tracked files and new files that are not ignored, minus those at or below `own` paths.

    Paths are relative to the worktree. What the person's excludes and .gitignore files ignore is ignored here,
    what git would run to look (filters, fsmonitor) is not run; index and lock are not touched.
    """
    with _glass(user) as glass:
        status = _status(glass)
        same = fill.matching_pointers(glass, fill.Source.of(user), [p for mark, p in status if mark == " M"])
        nested = _unclean_submodules(glass, user)
    ours = tuple(relative for place in own if (relative := _relative(user, place)) is not None)
    paths = [*(path.rstrip("/") for _, path in status if path not in same), *nested]
    return tuple(path for path in paths if not any(path == o or path.startswith(o + "/") or not o for o in ours))


def _unclean_submodules(glass: Git, user: UserRepo) -> list[str]:
    if not (user.worktree / ".gitmodules").is_file():
        return []
    staged = glass("ls-files", "--stage", "-z").fields
    paths = [row.split("\t", 1)[1] for row in staged if row.startswith("160000 ")]
    present = [path for path in paths if (user.worktree / path / ".git").exists()]
    return [f"{path}/{below}" for path in present for below in unclean(discover(user.worktree / path), ())]


def _status(glass: Git, *paths: str) -> list[tuple[str, str]]:
    """Two letters and a path for everything that differs."""
    flags = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    return [(row[:2], row[3:]) for row in glass("status", *flags, "--", *paths, timeout=600).fields]


def last_commit_of(user: UserRepo, path: Path) -> Oid | None:
    """The commit in which the file's present bytes were last committed; None where it is not committed as it stands."""
    relative = _relative(user, path)
    if not relative:
        return None
    with _glass(user) as glass:
        glass("read-tree", user.head)  # a fresh index: no assume-unchanged bit of anyone's hides a change
        if not glass("ls-tree", "--full-tree", "-z", user.head, "--", relative).fields or _changed(glass, user, relative):
            return None
        return Oid(glass("rev-list", "-1", user.head, "--", relative, timeout=600).text)


def _changed(glass: Git, user: UserRepo, relative: str) -> bool:
    status = _status(glass, relative)
    return bool({path for _, path in status} - fill.matching_pointers(glass, fill.Source.of(user), [p for _, p in status]))


def _relative(user: UserRepo, path: Path) -> str | None:
    """`path` below the worktree, symlinks on the way resolved but not the last one; None where it lies elsewhere."""
    place, top = path.parent.resolve() / path.name, user.worktree.resolve()
    if not place.is_relative_to(top):
        return None
    return "" if place == top else os.fspath(place.relative_to(top))


@contextlib.contextmanager
def _glass(user: UserRepo) -> Iterator[Git]:
    """The person's worktree seen with a git directory of our own and a copy of their index."""
    with tempfile.TemporaryDirectory(prefix="research-glass-") as scratch:
        place = Path(scratch, "git")
        gitdir.make(place, user.object_format, head=user.head, objects=[user.common_dir / "objects"], bare=False)
        for old, name in _looked_at(user):
            with contextlib.suppress(FileNotFoundError):
                _copy_with_times(old, place / name)
        yield Git(git_dir=place, work_tree=user.worktree, config=tuple(_settings(user)))


def _looked_at(user: UserRepo) -> Iterator[tuple[Path, str]]:
    yield user.git_dir / "index", "index"
    yield user.git_dir / "info/sparse-checkout", "info/sparse-checkout"
    yield user.common_dir / "info/exclude", "info/exclude"
    yield user.common_dir / "info/attributes", "info/attributes"
    yield user.common_dir / "shallow", "shallow"
    yield from ((shared, shared.name) for shared in user.git_dir.glob("sharedindex.*"))


def _copy_with_times(old: Path, new: Path) -> None:
    """The index's own time tells git which of its entries may be stale, so it has to come along."""
    new.write_bytes(old.read_bytes())
    seen = old.stat()
    os.utime(new, ns=(seen.st_mtime_ns, seen.st_mtime_ns))


def _settings(user: UserRepo) -> Iterator[tuple[str, str]]:
    found = _person_config(user)
    yield from ((key, value) for key, value in found.items() if key in HARMLESS)
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser(), "git")
    yield "core.excludesFile", _expanded(found.get("core.excludesfile"), home / "ignore")
    yield "core.attributesFile", _expanded(found.get("core.attributesfile"), home / "attributes")


def _expanded(value: str | None, default: Path) -> str:
    return os.path.expanduser(value) if value is not None else os.fspath(default)  # noqa: PTH111 - an empty value stays empty


def _person_config(user: UserRepo) -> Mapping[str, str]:
    """The person's settings from every file that git would read; reading them starts nothing."""
    theirs = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    git = Git(git_dir=user.git_dir, work_tree=user.worktree, env=tuple((name, os.environ.get(name)) for name in theirs))
    fields = git("config", "--list", "-z", "--show-scope").fields
    rows = zip(fields[::2], fields[1::2], strict=True)
    pairs = (row.partition("\n") for scope, row in rows if scope != "command")
    return {key: value if newline else "true" for key, newline, value in pairs}


def _name(path: Path | str) -> str:
    return files.display(os.fspath(path))
