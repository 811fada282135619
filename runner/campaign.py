"""A campaign from its start to its end: open or resume, look at the noise, play turns until a rule says stop."""

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner import files, gates, opening, proposing, refusals, repo, turn
from runner.bench import Bench, Halt, World
from runner.core import brief
from runner.core.budget import EXHAUSTED, Ending, Session, ending, is_final, is_out_of_time, is_total, left
from runner.core.errors import CampaignError, JournalError, RepoError, Stop
from runner.core.events import Abandoned, Stopped
from runner.core.models import Status
from runner.core.news import Face, Warned
from runner.core.options import Options
from runner.core.state import State, fold
from runner.ground import Ground, look
from runner.journal import Journal, Scan, open_journal
from runner.ledger import Ledger
from runner.noise import calibrate, remeasure
from runner.preparing import prepare
from runner.projections import Projections
from runner.signals import Cancel

LEARNED_EVERY = 5
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What a disk may say at any write, and no fault of the runner's."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the runner: what the person asked for, what was found, whom to tell; `state` is the state directory."""

    options: Options
    face: Face
    cancel: Cancel
    world: World
    ground: Ground
    known: State
    state: Path
    campaign: str


def run(options: Options, face: Face, cancel: Cancel, world: World | None = None) -> int:
    """Run or resume the campaign of an experiment directory: 0 done, 1 cannot go on, 130 interrupted; may raise Stop."""
    world = world or opening.world()
    where = look(options.experiment, Path.home())
    journal, found = open_journal(options.experiment)
    with journal:
        known = fold(found.entries)
        campaign = known.opened.campaign if known.opened else world.token(6).hex()
        state = opening.state_directory(where.contract.id, campaign)
        start = Start(options, face, cancel, world, where, known, state, campaign)
        if found.torn:
            face.news(Warned(f"{found.torn} bytes of an unfinished journal line were set aside in journal.jsonl.torn"))
        early = _nothing_to_do(start)
        if early is not None:
            face.news(Warned(early))
            return 0
        try:
            return _begin(start, journal, found)
        except OSError as error:
            raise _told(error, f"a file in {options.experiment} or {state}") from error


def _told(error: OSError, somewhere: str) -> Exception:
    """A disk's word as a sentence to the person; anything else that the system says here is our fault, and stays what it is."""
    if error.errno not in DISK:
        return error
    return CampaignError(
        f"{error.filename or somewhere}: {error.strerror}", "nothing is lost: mend it, then run the same command"
    )


def _nothing_to_do(start: Start) -> str | None:
    """A start that ends at once, with its sentence."""
    stop = start.options.experiment / "STOP"
    if stop.exists():
        return f"{stop} is there: nothing is started (remove it to go on)"
    over = ending(start.known, start.ground.contract.budget, Session(None, None, 0.0))
    return f"{over.rule}: {over.reason}; raise it in experiment.yaml to go on" if over and is_total(over) else None


def _begin(start: Start, journal: Journal, found: Scan) -> int:
    """Refuse, then work where no other runner is; a start that was refused leaves nothing behind."""
    dirty = _refuse(start)
    fresh = not start.state.exists()
    start.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with files.held(start.state) as alone:
        if not alone:
            raise CampaignError(
                f"another runner works in {start.state}: this experiment is a copy of one that runs",
                "wait for it, or move the copy's journal.jsonl away to give it a campaign of its own",
            )
        return _alone(start, journal, found, dirty, fresh)


def _alone(start: Start, journal: Journal, found: Scan, dirty: tuple[str, ...], fresh: bool) -> int:
    """Ask, then work, with the state directory to ourselves."""
    try:
        bench = opening.bench(start.ground, start.state, start.world, start.cancel, start.face)
        incumbent = start.known.incumbent or start.ground.user.head
        refusals.refuse_setup(bench, incumbent)
        proposing.check(bench, start.known, incumbent)
        hello = opening.hello(bench, start.known, dirty, start.options)
        go_on = start.face.hello(hello)
        refusals.warn_of_idle_paths(bench, incumbent)
        if not go_on or start.options.dry_run:
            return 0 if start.options.dry_run else 1
        return _campaign(start, bench, journal, found)
    finally:
        if fresh and journal.is_empty:
            shutil.rmtree(start.state, ignore_errors=True)


def _refuse(start: Start) -> tuple[str, ...]:
    """What must not be so before anything is changed; hands back what is not committed and was waived."""
    ground, known = start.ground, start.known
    tip = repo.branch_tip(ground.user, ground.contract.branch)
    if known.opened is not None:
        refusals.refuse_another_campaign(ground, known)
    if opening.is_unplayed(known):
        refusals.refuse_foreign_branch(ground)
        return refusals.refuse_dirty(ground, start.options.allow_dirty)
    refusals.refuse_another_campaign(ground, known)
    settling = known.current is not None and known.current.decided is not None and known.current.decided.status is Status.KEEP
    if known.keeps and tip != known.incumbent and not settling:
        stands = f"stands at {tip[:12]}" if tip else "is gone"
        raise RepoError(
            f"branch {ground.contract.branch} {stands}, the journal's winner is {known.incumbent}: somebody moved it",
            f"put it back with: git branch -f {ground.contract.branch} {known.incumbent}",
        )
    return ()


def _campaign(start: Start, bench: Bench, journal: Journal, found: Scan) -> int:
    """Everything from the first fact of this start to its last."""
    ledger = Ledger(journal, start.known, start.world.now)
    projections = Projections(bench.experiment, opening.about(bench.contract), start.face.news)
    projections.start(found.entries)
    ledger.listeners += [projections.fact, start.face.fact]
    began = start.world.monotonic()

    def session() -> Session:
        return Session(start.options.max_turns, start.options.budget_s, start.world.monotonic() - began)

    bench.deadline.reached = lambda: ending(ledger.state, bench.contract.budget, session())
    try:
        _open(start, bench, ledger)
        end = _play(bench, ledger, session)
    except Halt:
        end = _halted(bench, ledger, session)
    except JournalError:
        raise
    except Stop as error:
        ledger.record(Stopped("error", error.what, session().active_s))
        raise
    ledger.record(Stopped(end.rule, end.reason, session().active_s))
    return end.exit_code


def _halted(bench: Bench, ledger: Ledger, session: Callable[[], Session]) -> Ending:
    """Which of the ways to be stopped between two steps it was."""
    if bench.soon.is_set() or bench.at_once.is_set():
        return Ending("interrupted", "a person stopped it; the same command goes on", 130)
    if (bench.experiment / "STOP").exists():
        return Ending("stop_file", "the STOP file is there; remove it to go on")
    return ending(ledger.state, bench.contract.budget, session()) or Ending("interrupted", "stopped between two steps", 130)


# --- opening -----------------------------------------------------------------------------------------


def _open(start: Start, bench: Bench, ledger: Ledger) -> None:
    """CampaignOpened for a new campaign or a changed contract, Started for this process, and what no longer counts."""
    before = ledger.state
    if opening.is_unplayed(before):
        refusals.refuse_other_settings(bench, bench.user.head)
    if before.opened is None:
        ledger.record(opening.opened(bench, start.campaign, before, start.ground.digests))
    elif before.opened.digests != start.ground.digests or _has_another_baseline(bench, before):
        _close_open_turn(bench, ledger)
        ledger.record(opening.opened(bench, start.campaign, ledger.state, start.ground.digests))
    started = opening.started(bench, start.options)
    ledger.record(started)
    open_turn, last = ledger.state.current, before.started
    if open_turn and open_turn.measured and last and (last.boot, last.host) != (started.boot, started.host):
        why = "measured on another host" if last.host != started.host else "measured before this machine's last start"
        ledger.record(Abandoned(open_turn.last_pair + 1, why), open_turn.turn)


def _has_another_baseline(bench: Bench, before: State) -> bool:
    """The person committed since, e.g. to mend what was refused; no turn stands on the old commit yet."""
    return before.origin is not None and opening.is_unplayed(before) and before.origin.baseline != bench.user.head


def _close_open_turn(bench: Bench, ledger: Ledger) -> None:
    """An open turn does not cross into a new segment: a decided one is settled, any other was interrupted."""
    current = ledger.state.current
    if current is None:
        return
    if current.decided is None:
        ledger.record(turn.interrupted("the contract, a prompt or the evaluator was changed"), current.turn)
    turn.settle(bench, ledger)


# --- playing ------------------------------------------------------------------------------------------


def _play(bench: Bench, ledger: Ledger, session: Callable[[], Session]) -> Ending:
    """Turn after turn; the open one first."""
    _learn(bench, ledger.state)  # a kill may have come between the fifth turn's last fact and this
    _prepare(bench, ledger)
    while True:
        if ledger.state.current is None:
            end = _over(bench, ledger, session)
            if end is not None:
                return end
            bench.pause()
            bench.news(left(ledger.state, bench.contract.budget, session()))
        turn.play(bench, ledger)
        _learn(bench, ledger.state)


def _over(bench: Bench, ledger: Ledger, session: Callable[[], Session]) -> Ending | None:
    """The rule that ends it now, after the honest total where one is due."""
    end = ending(ledger.state, bench.contract.budget, session())
    if end is None:
        exhausted = proposing.ready(bench, ledger.state)
        end = Ending(EXHAUSTED, exhausted.reason) if exhausted else None
    if end is not None and is_final(end):
        bench.deadline.reached = lambda: None
        remeasure(bench, ledger, lambda: is_out_of_time(ledger.state, bench.contract.budget, session()))
    return end


def _prepare(bench: Bench, ledger: Ledger) -> None:
    """The incumbent can run; and once a segment and host: the gates hold on it, and its noise is known."""
    state = ledger.state
    assert state.incumbent is not None, "CampaignOpened names the incumbent"
    turn.show_settings(bench, state.incumbent)
    assert state.opened is not None, "a campaign is open"
    prepare(bench, state.incumbent, state.opened.segment)
    if state.calibrated is None:
        gates.hold_on_incumbent(bench, state.incumbent)
        calibrate(bench, ledger)


def _learn(bench: Bench, state: State) -> None:
    """program.learned.md every few turns, from the journal."""
    if state.finished and state.finished[-1].turn % LEARNED_EVERY == 0:
        files.write_durably(bench.experiment / "program.learned.md", brief.learned(state.finished).encode())
