"""One turn, from an empty page to a settled verdict; each step is written once, so that resuming is running."""

import dataclasses
import itertools

from runner import files, repo
from runner.agents.plug import PROPOSES
from runner.bench import Bench
from runner.core import decision, evidence, stats
from runner.core.decision import GoOn, Recalibrate, Risk, Trial
from runner.core.errors import CampaignError
from runner.core.events import Calibrated, Decided, Gated, Measured, Proposed, Settled, TurnOpened, Worked
from runner.core.models import Basis, Oid, Status, TurnNo
from runner.core.news import Running
from runner.core.state import OpenTurn, State
from runner.gates import gate, hold_on_incumbent
from runner.ledger import Ledger
from runner.measure import alone, pair
from runner.proposing import Harvest, gather, propose, work

VOIDS_AT_MOST = 3
REFUSALS_BELIEVED = 2
"""Turns in a row that a screen or a guard may refuse before it has to show that it holds on the incumbent."""
LOST = "the candidate was lost with the state directory"


def play(bench: Bench, ledger: Ledger) -> None:
    """Play the next turn, or go on with the open one, to its `Settled`."""
    bench.verified.clear()
    bench.built.clear()
    if ledger.state.current is None:
        begin(bench, ledger)
    if ledger.open_turn.decided is None:
        ledger.record(_verdict(bench, ledger), ledger.open_turn.turn)
    settle(bench, ledger)


def begin(bench: Bench, ledger: Ledger) -> None:
    """Open the next turn on today's incumbent; the very first one keeps the baseline from the user's gc."""
    state = ledger.state
    incumbent = _incumbent(state)
    if not state.finished:
        assert state.origin is not None, "CampaignOpened is a journal's first line"
        repo.protect(bench.user, bench.contract.id, state.origin.baseline)
    ledger.record(TurnOpened(incumbent), state.next_turn)


def _incumbent(state: State) -> Oid:
    assert state.incumbent is not None, "CampaignOpened names the incumbent"
    return state.incumbent


def _verdict(bench: Bench, ledger: Ledger) -> Decided:
    """The steps from worker to verdict; a step that is written is not done again."""
    turn = ledger.open_turn
    fresh: list[Harvest | None] = []

    def worked() -> Worked:
        fact, harvest = work(bench, ledger.state, turn)
        fresh.append(harvest)
        return fact

    outcome = ledger.once(Worked, worked)
    if outcome.outcome not in PROPOSES:
        return Decided(Status.AGENT_ERROR, Basis.INVALID_OR_MISSING_EVIDENCE, outcome.reason)
    bench.pause()
    if turn.proposed is None:
        harvest = fresh[0] if fresh else gather(bench, ledger.state, turn)
        if harvest is None:
            return interrupted("the worker's copy was lost with the state directory")
        ledger.once(Proposed, lambda: propose(bench, turn, harvest))
        bench.pause()
    return _judge(bench, ledger)


def interrupted(why: str) -> Decided:
    """The verdict of a turn that cannot go on; it is no fault of the candidate's."""
    return Decided(Status.INTERRUPTED, Basis.INVALID_OR_MISSING_EVIDENCE, why)


def _judge(bench: Bench, ledger: Ledger) -> Decided:
    """Gates, then pairs."""
    turn = ledger.open_turn
    proposed = turn.proposed
    assert proposed is not None, "a turn is judged when it has proposed"
    refused = turn.gated is not None and turn.gated.status is not None
    if proposed.candidate is not None and not refused and not bench.private.exists(proposed.candidate):
        return interrupted(LOST)
    gated = ledger.once(Gated, lambda: _gated(bench, ledger.state, turn, proposed))
    if gated.status is not None and gated.basis is not None:
        return Decided(gated.status, gated.basis, gated.checks[-1].reason)
    assert proposed.candidate is not None, "the gates let no empty candidate through"
    return _measured(bench, ledger, proposed.candidate)


def _gated(bench: Bench, state: State, turn: OpenTurn, proposed: Proposed) -> Gated:
    """The gates; one that refuses again and again is tried on the incumbent before it is believed once more."""
    gated = gate(bench, state, turn, proposed)
    row = _refused_in_row(state, gated.basis)
    if len(row) >= REFUSALS_BELIEVED:
        try:
            hold_on_incumbent(bench, turn.incumbent)
        except CampaignError as error:
            named = ", ".join(map(str, row))
            raise CampaignError(f"a gate is broken (it also refused turns {named}): {error.what}", error.mend) from error
    return gated


def _refused_in_row(state: State, basis: Basis | None) -> list[TurnNo]:
    """The turns just before that the same kind of command refused."""
    if basis not in (Basis.GUARD_FAILED, Basis.SCREEN_FAILED):
        return []
    row = itertools.takewhile(lambda record: record.decided.basis is basis, reversed(state.finished))
    return [record.turn for record in itertools.islice(row, REFUSALS_BELIEVED)][::-1]


def _measured(bench: Bench, ledger: Ledger, candidate: Oid) -> Decided:
    """Pair after pair, until the readings say keep or discard."""
    trial = _trial(bench, ledger)
    while True:
        match decision.verdict(trial):
            case Decided() as decided:
                pool = decision.learn(_pool(ledger.state), trial)
                return dataclasses.replace(decided, pool=pool)
            case Recalibrate(measured):
                calibrated = decision.recalibrated(bench.policy, _calibrated(ledger.state), measured)
                ledger.record(calibrated, ledger.open_turn.turn)
                trial = _trial(bench, ledger)
            case GoOn(wanted, forecast):
                _tell(bench, trial, ledger.open_turn, forecast)
                bench.pause()
                fact = _read(bench, ledger, candidate, wanted)
                trial = decision.add(trial, fact)
                _refuse_voids(trial)


def _tell(bench: Bench, trial: Trial, turn: OpenTurn, forecast: int | None) -> None:
    """Where a noisy measurement stands, for whoever watches."""
    if trial.seen.d and not trial.calibrated.primary.deterministic:
        seen, stake = evidence.figures(trial), stats.wealth(trial.gain)
        bench.news(Running(turn.turn, trial.pairs, trial.scale, seen.estimate, seen.interval, stake, 1 / trial.alpha, forecast))


def _read(bench: Bench, ledger: Ledger, candidate: Oid, wanted: str) -> Measured:
    turn = ledger.open_turn
    number, limit_s = turn.last_pair + 1, _calibrated(ledger.state).slowest_s
    if wanted == "candidate":
        fact = alone(bench, turn.turn, number, candidate, limit_s)
    else:
        fact = pair(bench, turn.turn, number, turn.incumbent, candidate, limit_s)
    ledger.record(fact, turn.turn)
    return fact


def _refuse_voids(trial: Trial) -> None:
    if trial.voids >= VOIDS_AT_MOST:
        last = next(r for m in reversed(trial.measured) for r in m.readings if r.side == "incumbent" and not r.ok)
        raise CampaignError(
            f"the incumbent failed in {trial.voids} pairs of one turn; last: {last.reason}",
            "mend the evaluator or the machine, then run the same command: the turn goes on",
        )


def _trial(bench: Bench, ledger: Ledger) -> Trial:
    """The open turn's readings so far, as a trial at this candidate's share of the risk."""
    state, turn = ledger.state, ledger.open_turn
    risk = Risk(index=state.tried + (turn.last_pair == 0), keeps=state.improvements)
    declares = turn.proposed.declares if turn.proposed else None
    left = decision.allowance(bench.policy, (r.decided for r in state.finished if r.kept))
    trial = decision.begin(bench.policy, _calibrated(state), _pool(state), decision.alpha(risk, bench.policy), declares, left)
    for fact in turn.measured:
        trial = decision.add(trial, fact)
    return trial


def _calibrated(state: State) -> Calibrated:
    assert state.calibrated is not None, "no turn opens before the calibration"
    return state.calibrated


def _pool(state: State) -> decision.Pool:
    return state.pool or decision.pool(_calibrated(state))


# --- settling ---------------------------------------------------------------------------------------


def settle(bench: Bench, ledger: Ledger) -> None:
    """Move the branch to the winner, or nothing; safe to repeat, since the winner's hash follows from the journal."""
    _settle(bench, ledger)
    show_settings(bench, _incumbent(ledger.state))


def show_settings(bench: Bench, incumbent: Oid) -> None:
    """The winner's settings beside the attempts, for a person; nobody reads them back."""
    for path in bench.settings()[:1]:
        data = bench.private.read(incumbent, path)
        if data is not None:
            folder = bench.experiment / "artifacts"
            folder.mkdir(exist_ok=True)
            files.write_durably(folder / "current_winner_settings.yaml", data)


def _settle(bench: Bench, ledger: Ledger) -> None:
    turn = ledger.open_turn
    bench.tell(turn.turn, "settle")
    decided = turn.decided
    assert decided is not None, "a turn is settled when it is decided"
    if decided.status is Status.KEEP and _is_lost(bench, turn):
        decided = interrupted(LOST)  # this verdict takes the place of the keep, which never reached the branch
        ledger.record(decided, turn.turn)
    if decided.status is not Status.KEEP:
        ledger.record(Settled(turn.incumbent, False), turn.turn)
        return
    winner = _winner(bench, turn, decided)
    old = turn.incumbent if ledger.state.keeps else None
    reason = f"research {bench.contract.id}: turn {turn.turn:04d}, journal head {turn.decided_link}"
    repo.advance(bench.user, bench.private, bench.contract.branch, winner, old, reason)
    ledger.record(Settled(winner, True), turn.turn)


def _is_lost(bench: Bench, turn: OpenTurn) -> bool:
    return turn.proposed is None or turn.proposed.tree is None or not bench.private.exists(turn.proposed.tree)


def _winner(bench: Bench, turn: OpenTurn, decided: Decided) -> Oid:
    """The candidate's tree and message once more, with what was measured and where the journal stood."""
    proposed = turn.proposed
    assert proposed is not None, "a keep was proposed"
    assert proposed.tree is not None, "a keep has a tree"
    assert turn.decided_at is not None, "a keep was decided"
    trailers = {
        "Research-Attempt": f"{turn.turn:04d}",
        "Research-Experiment": bench.contract.id,
        "Research-Effect": f"{decided.effect:+.6g}" if decided.effect is not None else "unknown",
        "Research-Journal-Head": turn.decided_link,
    }
    winner = bench.private.commit(proposed.tree, turn.incumbent, proposed.message, turn.decided_at, trailers)
    bench.private.pin(f"refs/winner/{turn.turn:04d}", winner)
    return winner
