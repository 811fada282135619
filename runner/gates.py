"""The yes or no before measuring: scope, no change, duplicate, build, screen and guards; the first refusal ends it."""

import itertools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from runner import files
from runner.bench import Bench
from runner.checkouts import links
from runner.core import names
from runner.core.contract import Build, Guard
from runner.core.errors import CampaignError
from runner.core.events import Change, Check, Gated, GateKind, Proposed
from runner.core.models import Basis, Oid, Status, TurnNo
from runner.core.news import Warned
from runner.core.state import OpenTurn, State, TurnRecord
from runner.ends import fault, keep_log
from runner.preparing import build, built, same_outputs
from runner.processes import Finished
from runner.sides import run_in_side


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a gate says when it refuses; `twin` is the earlier turn with the same tree."""

    reason: str
    status: Status
    basis: Basis
    twin: TurnNo | None = None


def gate(bench: Bench, state: State, turn: OpenTurn, proposed: Proposed) -> Gated:
    """Every check in order up to the first refusal, with its seconds."""
    checks: list[Check] = []
    for kind, name, look in _gates(bench, state, turn, proposed):
        bench.tell(turn.turn, "gate", name)
        start = bench.world.monotonic()
        found = look()
        seconds = round(bench.world.monotonic() - start, 6)
        if isinstance(found, Refusal):
            checks.append(Check(kind, name, False, found.reason, seconds))
            return Gated(tuple(checks), found.status, found.basis, found.twin)
        checks.append(Check(kind, name, True, found or "", seconds))
    return Gated(tuple(checks), None, None)


_Look = Callable[[], Refusal | str | None]
"""A gate that lets through may have something to say all the same."""


def _gates(bench: Bench, state: State, turn: OpenTurn, proposed: Proposed) -> Iterator[tuple[GateKind, str, _Look]]:
    """The gates in their order; lazily, since a later one needs what an earlier one has let through."""
    yield "scope", "scope", lambda: scope(bench, turn.incumbent, proposed)
    yield "no_change", "no_change", lambda: no_change(proposed)
    yield "duplicate", "duplicate", lambda: duplicate(state, proposed)
    candidate = proposed.candidate
    assert candidate is not None, "no_change lets no empty candidate through"
    if bench.contract.build:
        yield "build", "build", partial(builds, bench, turn, candidate, bench.contract.build)
    if bench.contract.screen:
        yield "screen", "screen", lambda: screen(bench, candidate, turn.turn)
    for guard in bench.contract.guards:
        yield "guard", guard.name, partial(guarded, bench, candidate, turn.turn, guard)


def scope(bench: Bench, incumbent: Oid, proposed: Proposed) -> Refusal | None:
    """Every path that was touched, both ends of a rename, has to be in the surface; so has what the import left out."""
    before = {files.display(path) for path in bench.private.entries(incumbent)}
    gone = {change.old or change.path for change in proposed.changes if change.kind in ("D", "R")}
    after = (before - gone) | {change.path for change in proposed.changes if change.kind != "D"}
    faults = [*proposed.problems, *(f for change in proposed.changes for f in _faults(bench, change, before, after))]
    if not faults:
        return None
    more = f" (and {len(faults) - 5} more)" if len(faults) > 5 else ""
    return Refusal("; ".join(faults[:5]) + more, Status.REJECTED, Basis.SURFACE_VIOLATION)


def _faults(bench: Bench, change: Change, before: set[str], after: set[str]) -> Iterator[str]:
    started = _started(bench)
    for path in filter(None, (change.old, change.path)):
        why = bench.surface.refusal(path) or names.refusal(path, before, after, sys.stdlib_module_names, started)
        if why:
            yield f"{path} {_what(change)}: {why}"
    for inside in _brought(bench) if change.kind != "D" else ():
        if PurePath(change.path).is_relative_to(inside) or inside.is_relative_to(change.path):
            yield f"{change.path} {_what(change)}: setup brings {inside}, which every side sees in its place"
    if change.new_mode == "120000":
        yield f"{change.path} is a symlink to {change.target}: links are not followed, so none may be added or changed"


def _brought(bench: Bench) -> list[PurePath]:
    """What setup brings, spelled as changes are."""
    tree = bench.sandbox.places.tree
    return [PurePath(files.display(mount.room.relative_to(tree).as_posix())) for mount in links(bench)]


def _started(bench: Bench) -> set[str]:
    """The modules that the contract's commands start by name (`python -m NAME`)."""
    contract = bench.contract
    commands = [contract.evaluate, contract.screen, *(guard.run for guard in contract.guards)]
    return {name.partition(".")[0] for command in commands for flag, name in itertools.pairwise(command) if flag == "-m"}


def _what(change: Change) -> str:
    if change.kind == "R":
        return f"renamed from {change.old} to {change.path}"
    if change.old_mode and change.new_mode and change.old_mode != change.new_mode:
        return f"changed its mode from {change.old_mode} to {change.new_mode}"
    return {"A": "added", "D": "deleted", "M": "changed", "T": "changed its type"}[change.kind]


def no_change(proposed: Proposed) -> Refusal | None:
    if proposed.candidate is not None:
        return None
    left = f"; {proposed.ignored} ignored files were left out" if proposed.ignored else ""
    return Refusal(f"the worker left the tree as it was{left}", Status.NO_CHANGE, Basis.NO_CHANGE)


def duplicate(state: State, proposed: Proposed) -> Refusal | None:
    """The same tree as an earlier candidate of this segment: its verdict stands, nothing is measured again."""
    segment = state.opened.segment if state.opened else 0
    twin = next((r for r in state.finished if r.tree == proposed.tree and r.segment == segment and _told(r)), None)
    if twin is None:
        return None
    reason = f"the same tree as turn {twin.turn} ({twin.decided.status}: {twin.decided.reason})"
    return Refusal(reason, Status.DUPLICATE, Basis.DUPLICATE_CANDIDATE, twin.turn)


def _told(record: TurnRecord) -> bool:
    """Whether that turn said something of its tree; an empty or an interrupted one did not."""
    return record.candidate is not None and record.decided.status.is_verdict and record.decided.status is not Status.DUPLICATE


def builds(bench: Bench, turn: OpenTurn, candidate: Oid, wanted: Build) -> Refusal | str | None:
    """The candidate's own build; its failure is the candidate's. A build that changes nothing lets through, and says so."""
    built(bench, turn.incumbent, wanted)
    ended = build(bench, candidate, wanted, turn.turn)
    if ended is not None:
        finished, wrong = ended
        keep_log(bench, turn.turn, "build", finished)
        if wrong:
            basis = Basis.EVALUATION_TIMEOUT if finished.timed_out else Basis.EVALUATION_FAILED
            return Refusal(f"build: {wrong}", Status.CRASH, basis)
    if not same_outputs(bench, turn.incumbent, candidate):
        return None
    same = "the build made the very same files as the incumbent's: a change without effect, or a stale build"
    bench.news(Warned(same, "if it should differ, let the build make everything anew"))
    return same


def screen(bench: Bench, commit: Oid, turn: TurnNo) -> Refusal | None:
    contract = bench.contract
    finished = run_in_side(bench, commit, (*contract.screen, bench.settings_argument()), contract.timeouts.screen_s)
    keep_log(bench, turn, "screen", finished)
    wrong = fault(finished, contract.timeouts.screen_s)
    return Refusal(f"screen: {wrong}", Status.REJECTED, Basis.SCREEN_FAILED) if wrong else None


def guarded(bench: Bench, commit: Oid, turn: TurnNo, guard: Guard) -> Refusal | None:
    finished = run_in_side(bench, commit, guard.run, guard.timeout_s)
    keep_log(bench, turn, guard.name, finished)
    wrong = fault(finished, guard.timeout_s) or _uncounted(guard, finished)
    return Refusal(f"guard {guard.name}: {wrong}", Status.REJECTED, Basis.GUARD_FAILED) if wrong else None


def _uncounted(guard: Guard, finished: Finished) -> str | None:
    """Fewer passes than expected means that tests were skipped, deselected or never collected."""
    if guard.expect_passed is None:
        return None
    counts = re.findall(r"(\d+) passed", finished.stdout.text()) or re.findall(r"(?m)^Ran (\d+) tests?", finished.stderr.text())
    passed = int(counts[-1]) if counts else None
    if passed == guard.expect_passed:
        return None
    return f"expected {guard.expect_passed} passed, found {'no count' if passed is None else passed}"


def hold_on_incumbent(bench: Bench, incumbent: Oid) -> None:
    """The evaluator's own tests, the screen and every guard, on the incumbent itself, once, before any agent; CampaignError
    where one fails there."""
    turn = TurnNo(0)
    _test_evaluator(bench, incumbent, turn)
    looks: list[Callable[[], Refusal | None]] = [partial(screen, bench, incumbent, turn)] if bench.contract.screen else []
    looks += [partial(guarded, bench, incumbent, turn, guard) for guard in bench.contract.guards]
    for look in looks:
        bench.pause()
        refusal = look()
        if refusal:
            raise CampaignError(
                f"it already fails on the incumbent: {refusal.reason}",
                "mend the repository or the command first: no candidate could be told from the incumbent by it",
            )


def _test_evaluator(bench: Bench, incumbent: Oid, turn: TurnNo) -> None:
    """commands.evaluate_test: what fails its own tests measures nothing."""
    tests, timeout_s = bench.contract.evaluate_test, bench.contract.timeouts.evaluation_s
    if not tests:
        return
    bench.pause()
    finished = run_in_side(bench, incumbent, tests, timeout_s)
    kept = keep_log(bench, turn, "evaluate_test", finished)
    wrong = fault(finished, timeout_s)
    if wrong:
        raise CampaignError(
            f"commands.evaluate_test, the evaluator's own tests, failed: {wrong}",
            f"mend the evaluator or its tests first: nothing is measured by it until they pass; all they said is in {kept}",
        )
