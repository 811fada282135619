"""What has to be made before a side can be read: what setup brings, once for all, and each side's build."""

import hashlib
import json
import platform
from dataclasses import replace
from pathlib import Path, PurePath

from runner import files, making
from runner.bench import Bench, Halt
from runner.checkouts import job, links, names_own_files, persons, side
from runner.core.contract import Argv, Build, Setup
from runner.core.errors import CampaignError
from runner.core.events import Json
from runner.core.models import Oid, TurnNo
from runner.core.news import Warned
from runner.editable import pointing_at
from runner.ends import by_the_persons_path, fault, keep_log
from runner.processes import Finished
from runner.refusals import absent_in_checkout
from runner.sandbox import Mount

KEPT = 2
"""Builds, and outcomes of setup, beside the one that is made."""
OUTSIDE = TurnNo(0)


def prepare(bench: Bench, incumbent: Oid, segment: int) -> None:
    """Everything a side needs, before any agent is asked; CampaignError where a command of setup or build fails.

    Imports that would lead out of the measured tree are told.
    """
    bench.pause()
    bench.brought.clear()
    if bench.contract.setup is not None and bench.contract.setup.run:
        bench.brought.extend(_brought(bench, bench.contract.setup, incumbent, segment))
    _warn_of_editable(bench, incumbent)
    bench.pause()
    if bench.contract.build is not None:
        built(bench, incumbent, bench.contract.build)


def _make(
    bench: Bench, commit: Oid, place: Path, command: Argv, timeout_s: float, *, network: bool = False
) -> tuple[Finished, str | None]:
    """How the command ended over the commit's tree, and what is wrong with that in words; else its outputs are at `place`."""
    making.drop_spare(place.parent, KEPT)
    over = side(bench, commit)
    order = job(bench, command, timeout_s, over)
    order = replace(
        order,
        network=network or order.network,
        experiment=bench.evaluator if names_own_files(bench, command) else None,
    )
    finished, wrong = making.make(bench.sandbox, order, over, place, bench.at_once)
    if finished.cancelled:
        raise Halt
    finished = by_the_persons_path(bench, finished)
    return finished, fault(finished, timeout_s) or wrong


def _key(*words: Json) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def _sha(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()


def _surroundings(bench: Bench, command: Argv) -> list[Json]:
    """What an outcome depends on beside the tree: the command, the files of the experiment it names, where it runs, on what."""
    own = bench.evaluator_digest if names_own_files(bench, command) else None
    machine = (platform.system(), platform.machine(), *platform.libc_ver())
    return [list(command), bench.cwd, own, bench.sandbox.level, bench.sandbox.layers, *machine]


# --- setup ----------------------------------------------------------------------------------------------


def _brought(bench: Bench, setup: Setup, incumbent: Oid, segment: int) -> list[Mount]:
    """Run setup.run on the incumbent, with network, unless its outcome is there; what is new in it is shown to every side."""
    place = bench.state / "setup" / _setup_key(bench, setup, incumbent, segment)
    found = making.look(place)
    if found is None:
        bench.tell(OUTSIDE, "setup", " ".join(setup.run))
        finished, wrong = _make(bench, incumbent, place, setup.run, setup.timeout_s, network=True)
        log = keep_log(bench, OUTSIDE, "setup", finished)
        if wrong:
            raise CampaignError(f"setup.run failed: {wrong}", f"mend it, then run the same command; all it said is in {log}")
        found = making.look(place)
        assert found is not None, "it was made a moment ago"
        _tell(bench, found)
    return [Mount(place / path, bench.sandbox.places.tree / path) for path in found.new]


def _setup_key(bench: Bench, setup: Setup, incumbent: Oid, segment: int) -> str:
    """The files it is to run again for, as the person has them and as the commit does; where none is named, the segment."""
    here = Path(bench.contract.project_root)
    named: list[Json] = []
    for name in setup.when_changed:
        file = here / name
        mine = file.read_bytes() if file.is_file() else None
        named += [_sha(mine), _sha(bench.private.read(incumbent, (PurePath(bench.cwd) / name).as_posix()))]
    return _key(_surroundings(bench, setup.run), named or segment)


def _tell(bench: Bench, found: making.Made) -> None:
    if found.changed:
        shown = ", ".join(files.display(path) for path in found.changed[:5])
        bench.news(Warned(f"setup.run changed what the commit has: {shown}", "no side sees these changes, only what is new"))
    if not found.new:
        mend = "what it wrote elsewhere is gone: let it write into the tree, or leave it out"
        bench.news(Warned("setup.run brought nothing new into the tree", mend))


def _warn_of_editable(bench: Bench, incumbent: Oid) -> None:
    """An import that leads to the person's own checkout would measure the same code on both sides, for ever."""
    setup, home = bench.contract.setup, Path(bench.contract.project_root)
    linked = [home / name for name in setup.link] if setup else []
    order = job(bench, ("true",), 1.0, side(bench, incumbent))
    away = [path for path in persons(bench) if not bench.sandbox.stands_in(order, path)]
    for file, path in pointing_at(away, bench.path, linked):
        what = f"{file} lets Python import from {path}: what is imported from there is not the code that is measured"
        mend = "let the evaluator say PYTHONPATH=$PWD (or $PWD/src), so that imports come from the tree it starts in"
        bench.news(Warned(what, mend))


# --- build ----------------------------------------------------------------------------------------------


def build(bench: Bench, commit: Oid, wanted: Build, turn: TurnNo = OUTSIDE) -> tuple[Finished, str | None] | None:
    """Build a side: how that ended and what is wrong with it, or None where its outputs are there as they were left.

    The outputs are a layer of their own that goes by the tree's content, so that the winner of a turn has its candidate's.
    They reach no commit and no agent's copy: a worker that wants to build builds in its own copy.
    """
    if commit in bench.built:
        return None
    brought: list[Json] = [str(mount.host) for mount in links(bench)]
    key = _key(_surroundings(bench, wanted.run), brought)
    place = bench.state / "builds" / f"{bench.private.tree_of(commit)}-{key}"
    ended = None
    if making.look(place) is None:
        bench.tell(turn, "build", commit[:12])
        ended = _make(bench, commit, place, wanted.run, wanted.timeout_s)
    if ended is None or ended[1] is None:
        bench.built[commit] = place
    return ended


def built(bench: Bench, commit: Oid, wanted: Build) -> Path:
    """Where a side's outputs are; CampaignError where they cannot be made: a candidate's failure was met at its gate."""
    ended = build(bench, commit, wanted)
    if ended is not None:
        log = keep_log(bench, OUTSIDE, "build", ended[0])
        if ended[1]:
            mend = f"mend the repository or the build first; all it said is in {log}"
            hint = absent_in_checkout(bench, commit)
            raise CampaignError(f"the build fails at {commit[:12]}: {ended[1]}", "\n  ".join(filter(None, (mend, hint))))
    return bench.built[commit]


def same_outputs(bench: Bench, one: Oid, other: Oid) -> bool:
    """Whether both builds wrote the very same files; not so where nothing was written."""
    seen = [making.look(bench.built[commit]) for commit in (one, other)]
    digests = {made.digest if made else None for made in seen}
    return len(digests) == 1 and None not in digests
