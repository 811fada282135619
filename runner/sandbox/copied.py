"""Levels 2 and 0, where nothing can be mounted: real directories at fixed paths, filled for each run."""

import contextlib
import fcntl
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner import processes
from runner.core.errors import SandboxError
from runner.core.events import Json
from runner.processes import Cancel, Command, Finished, OnOutput
from runner.sandbox.bubblewrap import confined
from runner.sandbox.first import base_env, disguised, first_process
from runner.sandbox.job import Job, Mount, Places, left_as_found
from runner.sandbox.rooms import copy_tree, put_away
from runner.sandbox.view import View

_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def _alone(room: Path) -> Iterator[None]:
    """There is one room, and its paths are the same for every run: of this process and of any other."""
    room.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time, (room / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def places_below(room: Path) -> Places:
    return Places(room / "tree", room / "experiment", room / "output", room / "home", room / "tmp", room / "input")


@dataclass(frozen=True, slots=True)
class Copied:
    """A room of real directories; `launch` makes the namespaces around a command, and is empty at level 0.

    `unshare_net` closes the network where there is a launch. Runs wait for each other.
    """

    level: int
    places: Places
    view: View
    path: str
    launch: tuple[str, ...] = ()
    unshare_net: tuple[str, ...] = ()
    report: Mapping[str, Json] = field(default_factory=dict)

    def run(self, job: Job, *, cancel: Cancel | None = None, on_output: OnOutput | None = None) -> Finished:
        with _alone(self.places.tree.parent), self._furnished(job):
            return confined(processes.run(self._command(job), cancel=cancel, on_output=on_output), "unshare")

    @property
    def layers(self) -> bool:
        return False

    def stands_in(self, job: Job, path: Path) -> bool:
        return False

    def with_report(self, report: Mapping[str, Json]) -> "Copied":
        return replace(self, report=report)

    def _command(self, job: Job) -> Command:
        env = base_env(self.path, str(self.places.home), str(self.places.tmp), self.view.env) | dict(job.env)
        cwd = Path(os.path.normpath(self.places.tree / job.cwd))
        rest = (job.stdin, job.timeout_s, job.grace_s, job.output_limit)
        if not self.launch:
            return Command(job.argv, cwd, env, *rest, limits=job.limits)
        net = () if job.network else self.unshare_net
        words = (*self.launch, *net, "--", *first_process(job.argv, str(cwd), env, job.limits))
        return Command(words, Path("/"), disguised(env), *rest, contained=True)

    @contextlib.contextmanager
    def _furnished(self, job: Job) -> Iterator[None]:
        """Fill the room before the run, hand the output over after it, and empty the room."""
        self._empty()
        try:
            with left_as_found(job, self.places.tree), self._lent(job):
                self._fill(job)
                yield
        finally:
            if job.output is not None:
                _hand_over(self.places.output, job.output)
            self._empty()

    @contextlib.contextmanager
    def _lent(self, job: Job) -> Iterator[None]:
        """A kept tree is moved into the room and back: what a job writes down of its own path holds for every run."""
        if job.tree_mode != "keep":
            yield
            return
        self.places.tree.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(job.tree, self.places.tree)
        try:
            yield
        finally:
            _give_back(self.places.tree, job.tree)

    def _empty(self) -> None:
        for each in self._all():
            put_away(each)

    def _all(self) -> tuple[Path, ...]:
        here = self.places
        return here.tree, here.experiment, here.output, here.home, here.tmp, here.input

    def _fill(self, job: Job) -> None:
        here = self.places
        here.tree.parent.mkdir(parents=True, exist_ok=True)
        for each in (here.home, here.tmp):
            each.mkdir(mode=0o700)
        if job.tree_mode != "keep":
            copy_tree(job.tree, here.tree)
        for source, place in ((job.experiment, here.experiment), (job.input, here.input), (job.output, here.output)):
            if source is None:
                place.mkdir()
            else:
                copy_tree(source, place)
        for mount in job.mounts:
            if mount.room != mount.host:
                self._link(mount)

    def _link(self, mount: Mount) -> None:
        """A link where bubblewrap would mount; a path outside the room can only be what it is on the host."""
        if not any(mount.room.is_relative_to(each) for each in self._all()):
            raise SandboxError(
                f"{mount.host} cannot be shown at {mount.room} at level {self.level}",
                "show it at its own path, or use a machine with bubblewrap",
            )
        if mount.room.is_dir() and not mount.room.is_symlink() and not any(mount.room.iterdir()):
            mount.room.rmdir()
        mount.room.parent.mkdir(parents=True, exist_ok=True)
        mount.room.symlink_to(mount.host)


def _give_back(room: Path, tree: Path) -> None:
    """The tree from the room; an empty one where the run took it away or put a link in its place."""
    if room.is_symlink() or not room.is_dir():
        tree.mkdir()
        return
    room.chmod(0o700)
    shutil.move(room, tree)


def _hand_over(source: Path, target: Path) -> None:
    """Bring what a run wrote to where the caller looks for it; links and special files stay behind, as nobody may follow them."""
    if source.is_symlink() or not source.is_dir():
        return
    source.chmod(0o700)
    for entry in source.iterdir():
        place = target / entry.name
        if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
            continue
        if entry.is_dir():
            entry.chmod(0o700)
        put_away(place)
        shutil.move(entry, place)
