"""The words of confinement: a job, the places it sees, and the room it runs in."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from runner.core.events import Json
from runner.processes import Cancel, Finished, Limits, OnOutput

Wanted = Literal["best", "any"] | int
TreeMode = Literal["discard", "keep", "read_only"]


@dataclass(frozen=True, slots=True)
class Places:
    """Paths as a job sees them: the same for every run of one sandbox, and at level 3 on every machine."""

    tree: Path
    experiment: Path
    output: Path
    home: Path
    tmp: Path
    input: Path


@dataclass(frozen=True, slots=True)
class Mount:
    """A host path shown to a job at `room`; below level 3 it must lie in a place, or be the same path on both sides."""

    host: Path
    room: Path
    mode: Literal["ro", "rw", "dev"] = "ro"


@dataclass(frozen=True, slots=True)
class Job:
    """One command for the sandbox; `argv`, `env` and `mounts` speak in `Places`, the other paths are the host's.

    tree         host directory shown at `places.tree`
    tree_mode    `discard`: writes go to a layer that starts empty and is thrown away; `keep`: they land in `tree`; `read_only`
                 (where the layer is an overlay, rename(2) of a directory that was there before gives EXDEV, as in containers)
    base         where the sandbox has `layers`: read-only trees seen through `tree`, the lowest first. With `keep`, `tree` then
                 holds what was written and overlayfs's marks of what was deleted; with `discard` it is such a layer itself
    also_at      host paths at which the tree is seen too, by links, where the sandbox `stands_in` for them
    cwd          relative to the tree
    env          added to the base: PATH, HOME, TMPDIR, LANG, USER, LOGNAME, SHELL, PYTHONDONTWRITEBYTECODE, the homes
                 of tool chains
    output       host directory shown writable at `places.output`; `input`, `experiment` read-only at theirs
    network      the host's network instead of none
    limits       of each process
    """

    argv: tuple[str, ...]
    tree: Path
    tree_mode: TreeMode = "discard"
    base: tuple[Path, ...] = ()
    also_at: tuple[Path, ...] = ()
    cwd: str = "."
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    output: Path | None = None
    input: Path | None = None
    experiment: Path | None = None
    network: bool = False
    timeout_s: float | None = None
    grace_s: float = 2.0
    output_limit: int = 1 << 20
    limits: Limits = field(default_factory=Limits)


@contextlib.contextmanager
def left_as_found(job: Job, place: Path) -> Iterator[None]:
    """Mounts inside a kept tree, which is seen at `place`, need something to stand on; what was made for that goes again."""
    made: list[Path] = []
    for mount in job.mounts if job.tree_mode == "keep" else ():
        if mount.room.is_relative_to(place):
            stand = job.tree / mount.room.relative_to(place)
            made += [each for each in (stand, *stand.parents) if each.is_relative_to(job.tree) and not os.path.lexists(each)]
    try:
        yield
    finally:
        for each in made:
            with contextlib.suppress(OSError):
                empty = each.is_symlink() or (each.is_file() and each.stat().st_size == 0)
                each.unlink() if empty else each.rmdir()


class Sandbox(Protocol):
    """A confinement that was tried on this machine.

    `level` is 3 (bubblewrap), 2 (namespaces of `unshare`) or 0 (a warden over the process tree).
    `report` holds what was measured, for the journal.
    """

    @property
    def level(self) -> int: ...
    @property
    def places(self) -> Places: ...
    @property
    def report(self) -> Mapping[str, Json]: ...
    @property
    def layers(self) -> bool:
        """Whether a tree can be a layer over read-only ones."""
        ...

    def stands_in(self, job: Job, path: Path) -> bool:
        """Whether that job finds its tree at this path of `also_at`, and nothing of what the host has there but its mounts."""
        ...

    def run(self, job: Job, *, cancel: Cancel | None = None, on_output: OnOutput | None = None) -> Finished:
        """Run `job`; HOME and TMPDIR are fresh and empty, and nothing of its tree lives when this returns.

        Exit codes 129 to 192 are read as signals, as shells tell them, except at level 0. `cpu_s` holds the confinement's own
        share, `report["cpu_floor_s"]` for every run of this sandbox. What lies in `output` was made by the job: there may be
        links and pipes in it, so open with O_NOFOLLOW and ask for a regular file. The tree has to stay still while it is
        shown. Raises SandboxError when the confinement itself fails.
        """
        ...
