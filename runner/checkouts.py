"""The trees that sides stand in: a commit's own files, what is brought into them, and a job that starts there."""

import os
from collections.abc import Mapping
from pathlib import Path

from runner.bench import Bench, below, limits
from runner.core.contract import Argv
from runner.core.models import Oid
from runner.repo import discard, made, verify
from runner.sandbox import Job, Mount

WALLED = 3
"""The level from which on no job can write into a pristine tree; below it each use looks the tree over."""
KEPT = 2
"""Pristine trees beside the one that is made: the two sides of a turn."""


def side(bench: Bench, commit: Oid) -> Path:
    """The pristine tree of a commit, made once; one that was touched since is made again."""
    tree = bench.state / "trees" / commit
    known = commit in bench.verified and bench.sandbox.level >= WALLED
    if not bench.private.checkout(commit, tree, _spare(tree)) and not known and verify(tree):
        discard(tree)
        bench.private.checkout(commit, tree)
    bench.verified.add(commit)
    os.utime(made(tree))
    return tree


def tidy(trees: Path) -> None:
    """What a killed run left of the pristine trees: half ones go, and whole ones above those that a turn needs."""
    names = {p.name.partition(".")[0] for p in trees.iterdir()} if trees.is_dir() else set()
    whole = [n for n in names if (trees / n).is_dir() and (made(trees / n) / "seal").exists()]
    kept = sorted(whole, key=lambda n: made(trees / n).stat().st_mtime_ns)[-KEPT - 1 :]
    for name in names - set(kept):
        discard(trees / name)


def _spare(wanted: Path) -> tuple[Oid, Path] | None:
    """The tree that was not used for longest, once there are more than a turn needs."""
    if wanted.is_dir() or not wanted.parent.is_dir():
        return None
    others = [made(t) for t in wanted.parent.iterdir() if made(t).is_dir()]
    if len(others) < KEPT:
        return None
    oldest = min(others, key=lambda t: t.stat().st_mtime_ns)
    tree = oldest.with_name(oldest.name.removesuffix(".made"))
    return Oid(tree.name), tree


def links(bench: Bench) -> tuple[Mount, ...]:
    """What a fresh checkout lacks, read-only: from the person's own (`setup.link`), and what `setup.run` made."""
    setup = bench.contract.setup
    if setup is None:
        return ()
    tree, home = bench.sandbox.places.tree / bench.cwd, Path(bench.contract.project_root)
    return (*(Mount(home / name, tree / name) for name in setup.link), *bench.brought)


def declared(bench: Bench) -> tuple[Mount, ...]:
    """What the contract shows to every child at its own place: `sandbox.mounts`, and a project_root outside the repository."""
    root = Path(bench.contract.project_root)
    outside = () if below(root, bench.root) is not None else (Mount(root, root),)
    return (*outside, *(Mount(Path(mount.path), Path(mount.path), mount.mode) for mount in bench.contract.sandbox.mounts))


def persons(bench: Bench) -> tuple[Path, ...]:
    """Where the person's own checkout is, by its name and by the contract's: editable installs and scripts name it."""
    return tuple(dict.fromkeys((bench.user.worktree, Path(bench.root))))


def names_own_files(bench: Bench, command: Argv) -> bool:
    """Whether a command names files of the experiment directory, which it then has to see."""
    return any(str(bench.sandbox.places.experiment) in word for word in bench.argv(command))


def job(bench: Bench, command: Argv, timeout_s: float, tree: Path, *, env: Mapping[str, str] | None = None) -> Job:
    """A command of the contract in a tree of a side's, with what was brought; the person's own checkout is out of its sight."""
    return Job(
        argv=bench.argv(command),
        tree=tree,
        also_at=persons(bench),
        cwd=bench.cwd or ".",
        timeout_s=timeout_s,
        env={**bench.passed, "RESEARCH_PYTHON": bench.python, **(env or {})},
        mounts=(*links(bench), *declared(bench)),
        network=bench.network,
        limits=limits(bench),
    )
