"""What a command makes over a pristine tree, kept: made once, sealed, and made again when half made or touched since."""

import contextlib
import errno
import filecmp
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from runner import files
from runner.core.errors import RepoError
from runner.processes import Cancel, Finished
from runner.repo import THEN, Signature, discard, made, record, signature, snapshot, verify
from runner.sandbox import Job, Sandbox

MACHINES_OWN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""What is no fault of the command's."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a command left: the paths that the tree below lacks, topmost only, those it changed or deleted, and a digest of
    every file it wrote (None where it wrote none)."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    digest: str | None


def make(sandbox: Sandbox, job: Job, over: Path, place: Path, cancel: Cancel) -> tuple[Finished, str | None]:
    """Run `job` over a pristine tree and keep at `place` what it wrote: how it ended, and why that cannot be kept.

    `place` is a layer where the sandbox has layers, the whole tree elsewhere; it is there and sealed only when the command
    ended with 0. What was half made is thrown away.
    """
    part = place.with_name("part")
    for each in (place, part):
        discard(each)
    part.parent.mkdir(parents=True, exist_ok=True)
    before: dict[str, Signature] = {}
    if sandbox.layers:
        part.mkdir()
    else:
        files.copy_tree(over, part)
        before = dict(snapshot(part).files)
    base = (over,) if sandbox.layers else ()
    finished = sandbox.run(replace(job, tree=part, tree_mode="keep", base=base), cancel=cancel)
    fault = None
    if finished.ok:
        try:
            _keep(part, before, over, place)
        except RepoError as error:
            fault = f"what it made cannot be kept: {error}"
        except OSError as error:
            if error.errno in MACHINES_OWN:
                raise
            fault = f"what it made cannot be kept: {error}"
    discard(part)
    return finished, fault


def _keep(part: Path, before: dict[str, Signature], over: Path, place: Path) -> None:
    """The seal comes last: a place without one is half made."""
    _open(part)
    written = {path for path, seen in files.walk(part) if seen and before.get(path) != signature(seen) and _is_file(seen)}
    digest = files.digest(part, lambda path: path not in written) if written else None
    compared = list(_compared(part, over))
    new, changed = (sorted(path for path, is_new in compared if is_new is wanted) for wanted in (True, False))
    _calm(part)
    part.rename(place)
    made(place).mkdir(exist_ok=True)
    text = json.dumps({"new": new, "changed": changed, "digest": digest})
    files.write_durably(made(place) / "made.json", text.encode())
    record(place)


def look(place: Path) -> Made | None:
    """What was made there; None where it has to be made (again)."""
    if verify(place):
        return None
    found = json.loads((made(place) / "made.json").read_bytes())
    os.utime(made(place))
    return Made(tuple(found["new"]), tuple(found["changed"]), found["digest"])


def drop_spare(folder: Path, kept: int) -> None:
    """Throw away all but the `kept` that were looked at last."""
    if not folder.is_dir():
        return
    found = [each for each in folder.iterdir() if not each.name.endswith(".made")]
    for each in sorted(found, key=_looked_at)[: max(0, len(found) - kept)]:
        discard(each)


def _looked_at(place: Path) -> int:
    return made(place).stat().st_mtime_ns if made(place).is_dir() else 0


def _is_file(seen: os.stat_result) -> bool:
    return stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode)


def _below(top: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every name below, directories before what is in them."""
    for root, directories, names in os.walk(top):
        for name in (*directories, *names):
            path = f"{root}/{name}"
            yield path, os.lstat(path)


def _open(top: Path) -> None:
    """Let everything be read, and let pipes and sockets go: they are nobody's output once their makers are dead."""
    top.chmod(0o755)
    for path, seen in _below(top):
        wanted = stat.S_IMODE(seen.st_mode) | (0o700 if stat.S_ISDIR(seen.st_mode) else 0o400)
        if stat.S_ISFIFO(seen.st_mode) or stat.S_ISSOCK(seen.st_mode):
            Path(path).unlink()
        elif not stat.S_ISLNK(seen.st_mode) and wanted != stat.S_IMODE(seen.st_mode):
            with contextlib.suppress(OSError):
                Path(path).chmod(wanted)


def _calm(top: Path) -> None:
    """Times that tell the order and not the hour: later than every source, one second apart.

    A make-like tool still finds its outputs newer than its sources, and a side cannot be told by its clock.
    """
    seen = {path: info.st_mtime_ns for path, info in _below(top) if not stat.S_ISCHR(info.st_mode)}
    later = sorted({when for when in seen.values() if when > THEN * 10**9})
    rank = {when: (THEN + number) * 10**9 for number, when in enumerate(later, 1)}
    for path, when in seen.items():
        if when in rank:
            os.utime(path, ns=(rank[when], rank[when]), follow_symlinks=False)
    os.utime(top, (THEN, THEN))


def _compared(top: Path, over: Path, inside: str = "") -> Iterator[tuple[str, bool]]:
    """Paths that the tree below lacks (True, and nothing of what is in them) and those that differ from it (False)."""
    with os.scandir(top / inside) as found:
        entries = list(found)
    for entry in entries:
        path, below = inside + entry.name, over / inside / entry.name
        seen = entry.stat(follow_symlinks=False)
        if not os.path.lexists(below):
            if not stat.S_ISCHR(seen.st_mode):  # overlayfs's mark of a deletion
                yield path, True
        elif stat.S_ISDIR(seen.st_mode) and below.is_dir() and not below.is_symlink():
            yield from _compared(top, over, f"{path}/")
        elif not _same(top / path, below, seen):
            yield path, False


def _same(here: Path, there: Path, seen: os.stat_result) -> bool:
    kept = there.lstat()
    if stat.S_IFMT(seen.st_mode) != stat.S_IFMT(kept.st_mode):
        return False
    return here.readlink() == there.readlink() if stat.S_ISLNK(seen.st_mode) else filecmp.cmp(here, there, shallow=False)
