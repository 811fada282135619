"""What a commit only points at: Git LFS contents and submodules, taken from the person's disk and never by running anything."""

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner import files
from runner.core.errors import RepoError
from runner.core.models import Oid
from runner.repo import gitdir, trees
from runner.repo.door import LONG, Git
from runner.repo.nouns import TreeEntry, UserRepo

POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n?")
POINTER_LIMIT = 1024
"""Bytes: the specification's bound for a pointer file."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where contents can be taken from: a worktree of the person's, and the git directory behind it."""

    worktree: Path
    common_dir: Path

    @staticmethod
    def of(user: UserRepo) -> "Source":
        return Source(user.worktree, user.common_dir)


def write_tree(git: Git, commit: Oid, into: Path, source: Source) -> None:
    """A commit's files in the directory `into` (which is there and empty), LFS contents and submodules filled in."""
    with tempfile.TemporaryDirectory(dir=git.git_dir, prefix="tmp-index-") as scratch:
        here = replace(git, work_tree=into, index=Path(scratch, "index"))
        here("read-tree", commit, timeout=LONG)
        here("checkout-index", "--all", "--force", timeout=LONG)
        entries = trees.listing(git, commit).entries
        for path in _lfs_paths(here, entries):
            _fill_pointer(path, into, source)
    for path, entry in entries.items():
        if entry.mode == trees.SUBMODULE:
            _fill_submodule(git, commit, path, entry.oid, into, source)


# --- Git LFS ----------------------------------------------------------------------------------------


def _lfs_paths(git: Git, entries: Mapping[str, TreeEntry]) -> list[str]:
    if not any(path.rpartition("/")[2] == ".gitattributes" for path in entries):
        return []
    small = [p for p, e in entries.items() if e.mode.startswith("100") and e.size is not None and e.size < POINTER_LIMIT]
    return _with_lfs(git, small, "--cached")


def _with_lfs(git: Git, paths: Sequence[str], *flags: str) -> list[str]:
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = git("check-attr", "-z", "--stdin", *flags, "filter", stdin=asked).fields if paths else []
    return [path for path, value in zip(fields[::3], fields[2::3], strict=True) if value == "lfs"]


def _fill_pointer(path: str, into: Path, source: Source) -> None:
    pointer = POINTER.fullmatch(files.read_plain(into / path, POINTER_LIMIT))
    if pointer is None:
        return
    digest, size = pointer[1].decode(), int(pointer[2])
    for place in (source.common_dir / "lfs/objects" / digest[:2] / digest[2:4] / digest, source.worktree / path):
        if _holds(place, digest, size):
            mode = (into / path).stat().st_mode
            (into / path).unlink()
            files.copy_file(place, into / path)
            (into / path).chmod(mode)
            return
    raise RepoError(
        f"{files.display(path)} is kept in Git LFS, and its content is not on this machine",
        f"run `git lfs pull` in {files.display(os.fspath(source.worktree))}",
    )


def _holds(place: Path, digest: str, size: int) -> bool:
    """Whether a file has exactly the content that a pointer names."""
    try:
        with files.open_plain(place) as file:
            if os.fstat(file.fileno()).st_size != size:
                return False
            total = hashlib.sha256()
            while block := file.read(files.CHUNK):
                total.update(block)
    except OSError:
        return False
    return total.hexdigest() == digest


def matching_pointers(glass: Git, source: Source, paths: Sequence[str]) -> set[str]:
    """Those of the changed `paths` that are LFS files whose content is what the index's pointer names: not changed at all."""
    return {path for path in _with_lfs(glass, paths) if _is_filled(glass, source, path)}


def _is_filled(glass: Git, source: Source, path: str) -> bool:
    staged = glass("cat-file", "blob", f":{path}", ok=(0, 128))
    pointer = POINTER.fullmatch(staged.out)
    return pointer is not None and _holds(source.worktree / path, pointer[1].decode(), int(pointer[2]))


# --- submodules -------------------------------------------------------------------------------------


def _fill_submodule(git: Git, commit: Oid, path: str, wanted: Oid, into: Path, source: Source) -> None:
    for candidate in _submodule_sources(git, commit, path, source):
        borrowed = replace(git, env=(("GIT_ALTERNATE_OBJECT_DIRECTORIES", gitdir.quoted(candidate.common_dir / "objects")),))
        if borrowed("cat-file", "-e", f"{wanted}^{{tree}}", ok=(0, 1, 128)).code == 0:
            (into / path).mkdir(exist_ok=True)
            write_tree(borrowed, wanted, into / path, candidate)
            return
    raise RepoError(
        f"{files.display(path)} is a submodule, and its commit {wanted[:12]} is not on this machine",
        f"run `git submodule update --init --recursive` in {files.display(os.fspath(source.worktree))}",
    )


def _submodule_sources(git: Git, commit: Oid, path: str, source: Source) -> Iterator[Source]:
    checkout = source.worktree / path
    with contextlib.suppress(OSError, ValueError):
        yield Source(checkout, _common_dir(checkout / ".git"))
    name = _submodule_name(git, commit, path)
    if name and ".." not in Path(name).parts and not Path(name).is_absolute():
        yield Source(checkout, source.common_dir / "modules" / name)


def _common_dir(dot_git: Path) -> Path:
    """The shared git directory behind a `.git`, be it a directory or a file that names one."""
    place = dot_git
    if dot_git.is_file():
        place = dot_git.parent / os.fsdecode(files.read_plain(dot_git, 1 << 16)).removeprefix("gitdir:").strip()
    shared = place / "commondir"
    return (place / os.fsdecode(shared.read_bytes()).strip() if shared.is_file() else place).resolve(strict=True)


def _submodule_name(git: Git, commit: Oid, path: str) -> str | None:
    listed = git("config", "--blob", f"{commit}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$", ok=(0, 1, 128))
    pairs = (field.partition("\n") for field in listed.fields)
    return next((key[len("submodule.") : -len(".path")] for key, _, value in pairs if value == path), None)
