"""Level 3: bubblewrap, with mounts of its own, an unprivileged user and no network."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from runner import processes
from runner.core.errors import SandboxError
from runner.core.events import Json
from runner.processes import Cancel, Command, Finished, OnOutput
from runner.processes.tree import SYSTEM_PATH
from runner.sandbox.first import SHELL, base_env, disguised, first_process
from runner.sandbox.job import Job, Mount, Places, left_as_found
from runner.sandbox.rooms import copy_tree, layer, scrub
from runner.sandbox.view import HARDWARE, SYSTEM, View

ROOM = Path("/research")
PLACES = Places(ROOM / "tree", ROOM / "experiment", ROOM / "output", ROOM / "home", ROOM / "tmp", ROOM / "input")
UID = 1000
HOST = "research"
TMPFS_BYTES = 2 << 30
ETC = {
    "passwd": f"root:x:0:0:root:/root:/bin/sh\nresearch:x:{UID}:{UID}:research:{PLACES.home}:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "group": f"root:x:0:\nresearch:x:{UID}:\nnogroup:x:65534:\n",
    "hosts": f"127.0.0.1 localhost {HOST}\n::1 localhost {HOST}\n",
    "hostname": f"{HOST}\n",
}
EMPTY = "etc-empty"
CLOSED = "sh-closed"
SIDE = "side"
TAKEN = ("/etc", "/proc", "/dev", "/sys", "/run", "/var/tmp")
SCRATCH = ("/tmp",)
NAMES_AT_MOST = 1000  # words of a command line are bounded
OverlayKind = Literal["disk", "memory", "none"]


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Everything a job sees is mounted for it: fixed places, the system read-only, nothing else of the machine."""

    binary: Path
    state: Path
    etc: Path
    view: View
    overlay: OverlayKind
    veil: tuple[str, ...] = ()
    report: Mapping[str, Json] = field(default_factory=dict)
    level: int = 3
    places: Places = PLACES

    def run(self, job: Job, *, cancel: Cancel | None = None, on_output: OnOutput | None = None) -> Finished:
        _check(job)
        with layer(self.state / "layers") as scratch, left_as_found(job, PLACES.tree):
            env = base_env(self.view.path, str(PLACES.home), str(PLACES.tmp), self.view.env) | dict(job.env)
            first = first_process(job.argv, os.path.normpath(PLACES.tree / job.cwd), env, job.limits, self._shell())
            command = Command(
                (*self._confinement(job, scratch), "--", *first),
                Path("/"),
                disguised(env),
                job.stdin,
                job.timeout_s,
                job.grace_s,
                job.output_limit,
                contained=True,
            )
            done = processes.run(command, cancel=cancel, on_output=on_output)
        return confined(done, str(self.binary))

    @property
    def layers(self) -> bool:
        return self.overlay == "disk"

    def stands_in(self, job: Job, path: Path) -> bool:
        return path in job.also_at and not any(path.is_relative_to(each) for each in self._shown(job))

    def _shown(self, job: Job) -> tuple[Path, ...]:
        return *map(Path, (*SYSTEM, *HARDWARE, *TAKEN)), ROOM, *self.view.roots, *(mount.room for mount in job.mounts)

    def _standing_in(self, job: Job, path: Path) -> Iterator[str]:
        """A link at a path of the host; where something is shown below it, one for each name at the top of the tree instead."""
        inside = [each for each in (*self._shown(job), *map(Path, SCRATCH)) if each.is_relative_to(path)]
        if not inside:
            yield from ("--symlink", str(PLACES.tree), str(path))
            return
        for name in sorted({each.name for lower in _lowers(job) for each in lower.iterdir()})[:NAMES_AT_MOST]:
            if not any(each.is_relative_to(path / name) for each in inside):
                yield from ("--symlink", str(PLACES.tree / name), str(path / name))

    def with_report(self, report: Mapping[str, Json]) -> "Bubblewrap":
        return replace(self, report=report)

    def _confinement(self, job: Job, scratch: Path) -> list[str]:
        return [
            *(self._veiled(job) if job.tree_mode != "keep" else ()),
            str(self.binary),
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *(() if job.network else ("--unshare-net",)),
            *("--uid", str(UID), "--gid", str(UID), "--hostname", HOST, "--cap-drop", "ALL"),
            *("--die-with-parent", "--new-session", "--as-pid-1"),
            *self._system(job.network),
            *_fresh("/tmp"),
            *_fresh("/var/tmp"),
            *("--dir", "/run"),
            *(word for name, real in self.view.roots.items() for word in ("--ro-bind", str(real), str(name))),
            *(word for path in self.view.masked if not path.is_relative_to("/etc") for word in self._mask(path)),
            *(("--ro-bind", self._shell_copy(), self._shell()) if self._shell() != SHELL else ()),
            *_fresh(str(PLACES.home)),
            *_fresh(str(PLACES.tmp)),
            *self._tree(job, scratch),
            *_shown(job.output, PLACES.output, "--bind"),
            *_shown(job.input, PLACES.input, "--ro-bind"),
            *_shown(job.experiment, PLACES.experiment, "--ro-bind"),
            *(word for path in dict.fromkeys(job.also_at) if self.stands_in(job, path) for word in self._standing_in(job, path)),
            *(word for mount in job.mounts for word in (KINDS[mount.mode], str(mount.host), str(mount.room))),
            *(("--remount-ro", str(PLACES.tree)) if job.tree_mode == "read_only" else ()),
            *("--remount-ro", "/", "--chdir", "/"),
        ]

    def _shell(self) -> str:
        """The shell that runs first: the closed copy, or the system's where none could be made."""
        return str(ROOM / "sh") if Path(self._shell_copy()).is_file() else SHELL

    def _shell_copy(self) -> str:
        return str(self.etc.with_name(CLOSED))

    def _system(self, network: bool) -> Iterator[str]:
        for each in (*SYSTEM, *HARDWARE):
            path = Path(each)
            if path.is_symlink():
                yield from ("--symlink", str(path.readlink()), each)
            elif path.is_dir():
                yield from ("--ro-bind", each, each)
        yield from ("--proc", "/proc", "--dev", "/dev", *_fresh("/dev/shm"), *self._etc())
        if os.getuid() == 0:
            # /proc/sys asks whether one is the machine's root, and for no right of it: a job could write core_pattern.
            yield from ("--ro-bind", "/proc/sys", "/proc/sys")
        resolver = Path("/etc/resolv.conf").resolve()
        if network and resolver.is_file() and not resolver.is_relative_to("/etc"):
            yield from ("--ro-bind", str(resolver), str(resolver))

    def _etc(self) -> Iterator[str]:
        """The system's /etc below our few files: one overlay, for each single mount costs a third of a millisecond."""
        if self.overlay != "none":
            yield from ("--overlay-src", "/etc", "--overlay-src", str(self.etc), "--ro-overlay", "/etc")
            return
        yield from ("--ro-bind", "/etc", "/etc")
        for name in ETC:
            if (Path("/etc") / name).is_file():
                yield from ("--ro-bind", str(self.etc / name), f"/etc/{name}")
        yield from (word for path in self.view.masked if path.is_relative_to("/etc") for word in self._mask(path))

    def _mask(self, path: Path) -> tuple[str, ...]:
        return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", str(self.etc.with_name(EMPTY)), str(path))

    def _veiled(self, job: Job) -> tuple[str, ...]:
        """Show each tree at one path of the host first: a job reads in its mountinfo what its overlay stands on."""
        if not self.veil:
            return ()
        pairs = (str(word) for pair in zip(_lowers(job), self._sides(job), strict=True) for word in pair)
        return (*self.veil, *pairs, "--")

    def _sides(self, job: Job) -> tuple[Path, ...]:
        sides = tuple(self.state / f"{SIDE}-{number}" for number, _ in enumerate(_lowers(job)))
        for side in sides:
            side.mkdir(exist_ok=True)
        return sides

    def _tree(self, job: Job, scratch: Path) -> tuple[str, ...]:
        tree, place = str(job.tree), str(PLACES.tree)
        if job.tree_mode == "keep":
            return self._layered(job, scratch) if job.base else ("--bind", tree, place)
        under = self._sides(job) if self.veil else _lowers(job)
        below = tuple(word for each in under for word in ("--overlay-src", str(each)))
        if self.overlay == "memory":
            return (*below, "--tmp-overlay", place)
        if self.overlay == "disk":
            upper, work = scratch / "upper", scratch / "work"
            upper.mkdir()
            work.mkdir()
            return (*below, "--overlay", str(upper), str(work), place)
        copy_tree(job.tree, scratch / "tree")
        return ("--bind", str(scratch / "tree"), place)

    def _layered(self, job: Job, scratch: Path) -> tuple[str, ...]:
        work = scratch / "work"
        work.mkdir()
        below = (word for each in job.base for word in ("--overlay-src", str(each)))
        return (*below, "--overlay", str(job.tree), str(work), str(PLACES.tree))


def veil() -> tuple[str, ...]:
    """The words that bind directories to others, pair by pair up to `--`, in a mount namespace, and go on.

    Empty where the tools for it are missing.
    """
    unshare, mount = (shutil.which(name, path=SYSTEM_PATH) for name in ("unshare", "mount"))
    script = 'while [ "$1" != -- ]; do "$0" --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"'
    return (unshare, "--user", "--map-root-user", "--mount", "--", "/bin/sh", "-c", script, mount) if unshare and mount else ()


KINDS = {"ro": "--ro-bind", "rw": "--bind", "dev": "--dev-bind"}


def furnish(state: Path, masked: tuple[Path, ...]) -> Path:
    """A layer over /etc: the few files that are the same on every machine, and nothing where the system has its secrets.

    Made once for what it holds, and never changed afterwards: runs may stand on it.
    """
    (state / f"{SIDE}-0").mkdir(parents=True, exist_ok=True)
    (state / EMPTY).touch(mode=0o444)
    _close_shell(state / CLOSED)
    hidden = [path.relative_to("/etc") for path in masked if path.is_relative_to("/etc")]
    holds = repr((ETC, sorted((str(path), (Path("/etc") / path).is_dir()) for path in hidden)))
    place = state / f"etc-{hashlib.sha256(holds.encode()).hexdigest()[:16]}"
    if place.is_dir():
        return place
    for half in state.glob("etc-new-*"):
        scrub(half)
    fresh = state / f"etc-new-{os.getpid()}"
    fresh.mkdir(parents=True)
    for name, text in ETC.items():
        (fresh / name).write_text(text, encoding="utf-8")
    for path in hidden:
        (fresh / path).parent.mkdir(parents=True, exist_ok=True)
        if (Path("/etc") / path).is_dir():
            (fresh / path).mkdir(mode=0)
        else:
            (fresh / path).touch(mode=0o444)
    return fresh.rename(place)


def _close_shell(place: Path) -> None:
    """A copy of the shell that may be run and not read.

    Linux lets nobody look into a process whose program its user cannot read: without that, code under test could write into the
    memory of the shell above it, and end an evaluation as it likes. Not made where the disk runs no programs.
    """
    if place.is_file() or os.statvfs(place.parent).f_flag & os.ST_NOEXEC:
        return
    fresh = place.with_name(f"{CLOSED}-new-{os.getpid()}")
    scrub(fresh)
    shutil.copyfile(SHELL, fresh)
    fresh.chmod(0o111)
    fresh.replace(place)


def confined(done: Finished, by: str) -> Finished:
    """`done`, unless the confinement itself failed."""
    if done.not_started is not None and done.not_started.startswith(processes.UNCONFINED):
        raise SandboxError(f"{by}: {done.not_started}", "look at the line above; `check` tries the confinement anew")
    return done


def _fresh(place: str) -> tuple[str, ...]:
    return ("--perms", "1777", "--size", str(TMPFS_BYTES), "--tmpfs", place)


def _shown(host: Path | None, place: Path, how: str) -> tuple[str, ...]:
    return ("--dir", str(place)) if host is None else (how, str(host), str(place))


def _lowers(job: Job) -> tuple[Path, ...]:
    """What a thrown-away layer lies over, the lowest first."""
    return (*job.base, job.tree)


def _check(job: Job) -> None:
    """Refuse by name what bubblewrap would refuse by number."""
    mounts = [*(Mount(each, PLACES.tree) for each in _lowers(job)), *job.mounts]
    mounts += [Mount(each, ROOM) for each in (job.output, job.input, job.experiment) if each is not None]
    for mount in mounts:
        if not mount.host.exists():
            raise SandboxError(
                f"{mount.host} is to be shown to a job and is not there", "make it, or take it out of the contract"
            )
