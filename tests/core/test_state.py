from dataclasses import replace

import pytest

from runner.core.errors import JournalError
from runner.core.events import (
    Abandoned,
    Decided,
    Fact,
    Hypothesis,
    Measured,
    Noted,
    Remeasured,
    Settled,
    Stopped,
    TurnOpened,
    Usage,
    Waited,
)
from runner.core.models import Basis, Status, TurnNo
from runner.core.state import OpenTurn, Row0, State, TurnRecord, fold, step
from tests.histories import (
    BASE,
    CALIBRATED,
    OPENED,
    STARTED,
    STOPPED,
    TREE,
    History,
    calibration,
    campaign,
    discard,
    entries,
    keep,
    oid,
    pair,
    proposed,
    turn,
)


def at(second: int) -> str:
    return f"2026-11-30T10:00:{second:02}.000Z"


def folded(history: History) -> State:
    return fold(entries(history))


FIRST_TURN = TurnRecord(
    turn=TurnNo(1),
    segment=1,
    opened_at=at(6),
    settled_at=at(13),
    incumbent=BASE,
    candidate=oid("c"),
    kept=oid("d"),
    tree=TREE,
    hypothesis=Hypothesis("fewer copies", "memory"),
    approach="in-place",
    declares="improvement",
    message="Sort in place",
    notes=None,
    parameters=None,
    changes=proposed(oid("c")).changes,
    decided=keep(),
    usage=Usage(1000, 0.25),
    seconds=30.0,
)
ROW0 = Row0(at(5), BASE, 2.0, {"rss": 10.0})


def test_a_kept_turn_becomes_this_very_state() -> None:
    history: History = [(OPENED, None), (STARTED, None), *calibration(), *turn(1, keep(), kept=oid("d"))]
    assert len(history) == 14
    record = replace(FIRST_TURN, settled_at=at(14))
    assert folded(history) == State(
        opened=OPENED,
        origin=OPENED,
        opened_at=at(1),
        started=STARTED,
        started_at=at(2),
        calibrated=CALIBRATED,
        row0=ROW0,
        incumbent=oid("d"),
        finished=(record,),
        tried=1,
        keeps=1,
        improvements=1,
        measure=("seconds", "lower", "ratio"),
        verdicts=1,
        verdicts_since_stop=1,
        last_at=at(14),
        seq=14,
    )


def test_the_whole_campaign_adds_up() -> None:
    state = folded(campaign())
    assert [r.turn for r in state.finished] == [1, 2, 3]
    assert [(r.kept, r.candidate) for r in state.finished] == [(oid("d"), oid("c")), (None, oid("c")), (None, None)]
    assert replace(state, finished=()) == State(
        opened=OPENED,
        origin=OPENED,
        opened_at=at(1),
        started=STARTED,
        started_at=at(2),
        stopped=STOPPED,
        calibrated=CALIBRATED,
        row0=ROW0,
        incumbent=oid("d"),
        tried=2,
        keeps=1,
        improvements=1,
        measure=("seconds", "lower", "ratio"),
        verdicts=2,
        active_before=120.0,
        last_at=at(27),
        seq=27,
    )


def test_an_open_turn_holds_its_facts_so_far() -> None:
    history: History = [*start(), (TurnOpened(BASE), 1), (proposed(oid("c")), 1), (pair(1, 2.0, 1.9), 1), (discard(), 1)]
    assert folded(history).current == OpenTurn(
        TurnNo(1),
        at(6),
        BASE,
        proposed=proposed(oid("c")),
        measured=(pair(1, 2.0, 1.9),),
        tried=True,
        last_pair=1,
        decided=discard(),
        decided_at=at(9),
    )


def start() -> History:
    return [(OPENED, None), (STARTED, None), *calibration()]


def test_a_candidate_is_tried_once_even_when_its_readings_are_set_aside() -> None:
    history: History = [*start(), (TurnOpened(BASE), 1), (proposed(oid("c")), 1)]
    history += [(pair(1, 2.0, 1.9), 1), (Abandoned(2, "another boot"), 1), (pair(1, 2.0, 1.8), 1), (pair(2, 2.0, 1.8), 1)]
    state = folded(history)
    assert state.tried == 1
    assert state.current is not None
    assert state.current.measured == (pair(1, 2.0, 1.8), pair(2, 2.0, 1.8))


def test_the_baseline_is_the_mean_of_the_first_calibration_and_no_later_one() -> None:
    segment = replace(OPENED, segment=2, incumbent=oid("d"), changed=("goal",))
    later = replace(CALIBRATED, segment=2, primary=replace(CALIBRATED.primary, mean=5.0))
    state = folded([*start(), (segment, None), (pair(1, 5.0, 5.0), 0), (later, None)])
    assert (state.row0, state.opened, state.origin, state.incumbent) == (ROW0, segment, OPENED, oid("d"))
    assert (state.calibrated, state.pairs) == (later, ())


def test_a_new_segment_and_another_host_measure_the_noise_anew_and_the_same_host_does_not() -> None:
    half: History = [*start(), (STARTED, None)]
    assert folded(half).calibrated == CALIBRATED
    assert folded([*half, (replace(STARTED, host="other"), None)]).calibrated is None
    assert folded([*half, (replace(OPENED, segment=2), None)]).calibrated is None
    first: History = [(OPENED, None), (STARTED, None), (pair(1, 2.0, 2.0), 0)]
    assert folded([*first, (STARTED, None)]).pairs == (pair(1, 2.0, 2.0),)
    assert folded([*first, (replace(STARTED, host="other"), None)]).pairs == ()


def test_counts_in_a_row_begin_anew_after_a_stop_and_a_fault_of_the_agent_does_not_end_a_row_of_crashes() -> None:
    crash = Decided(Status.CRASH, Basis.EVALUATION_TIMEOUT, "over 60 s twice")
    error = Decided(Status.AGENT_ERROR, Basis.INVALID_OR_MISSING_EVIDENCE, "the agent ended with 1")
    history = [*start(), *turn(1, crash), *turn(2, error), *turn(3, crash)]
    state = folded(history)
    assert (state.crashes_in_row, state.agent_errors_in_row, state.verdicts, state.verdicts_since_stop) == (2, 0, 2, 2)
    assert folded([*history, *turn(4, error), *turn(5, error)]).agent_errors_in_row == 2
    stopped = folded([*history, (STOPPED, None)])
    assert (stopped.crashes_in_row, stopped.agent_errors_in_row, stopped.verdicts, stopped.verdicts_since_stop) == (0, 0, 2, 0)
    assert folded([*history, *turn(4, discard())]).crashes_in_row == 0


def test_a_killed_run_was_active_until_its_last_fact() -> None:
    killed = [*start(), (Noted("note", "the last word, 4 s after the start"), None)]
    again = folded([*killed, (STARTED, None)])
    assert (again.active_before, again.active_since_stop, again.started_at) == (4.0, 4.0, at(7))
    stopped = folded([*killed, (STARTED, None), (Stopped("stop_file", "STOP is there", 10.0), None)])
    assert (stopped.active_before, stopped.active_since_stop) == (14.0, 0.0)
    resumed = folded([*killed, (STARTED, None), (Stopped("stop_file", "STOP is there", 10.0), None), (STARTED, None)])
    assert (resumed.active_before, resumed.active_since_stop, resumed.stopped) == (14.0, 0.0, None)


def test_remeasuring_uses_up_its_pairs() -> None:
    fresh = Remeasured(BASE, oid("d"), 20, 0.04, (0.02, 0.06), "ratio")
    state = folded([*start(), (pair(1, 2.0, 1.9), 0), (fresh, None)])
    assert (state.remeasured, state.pairs, state.calibrated) == (fresh, (), CALIBRATED)


def test_waiting_is_remembered() -> None:
    waited = Waited("the agent's usage limit", at(59))
    assert folded([*start(), (waited, None)]).waited == waited


def test_folding_in_pieces_is_folding_at_once() -> None:
    history = entries(campaign())
    for cut in range(len(history) + 1):
        assert fold(history[cut:], fold(history[:cut])) == fold(history)


def test_a_step_leaves_the_state_before_it_alone() -> None:
    history = entries(campaign())
    before = fold(history[:8])
    step(before, history[8])
    assert before == fold(history[:8])


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([(TurnOpened(BASE), 2)], "journal line 6: turn 2 opens where turn 1 was expected"),
        ([(TurnOpened(BASE), 1), (TurnOpened(BASE), 2)], "journal line 7: turn 2 opens where turn 1 was expected"),
        ([(pair(1, 2.0, 1.9), 1)], r"journal line 6: Measured \(turn 1\) has nothing before it"),
        ([(TurnOpened(BASE), 1), (pair(1, 2.0, 1.9), 2)], "journal line 7: a fact of turn 2 within turn 1"),
        ([(TurnOpened(BASE), 1), (Settled(BASE, False), 1)], r"journal line 7: Settled \(turn 1\) has nothing before it"),
        ([(TurnOpened(BASE), 1), (discard(), 1), (Settled(BASE, False), 2)], "journal line 8: a fact of turn 2 within turn 1"),
        ([(discard(), None)], "journal line 6: Decided has no place outside a turn"),
        ([(Measured(1, "candidate", ()), None)], "journal line 6: Measured has no place outside a turn"),
    ],
)
def test_a_fact_out_of_place_is_refused_by_its_line(history: list[tuple[Fact, int | None]], message: str) -> None:
    with pytest.raises(JournalError, match=message):
        folded([*start(), *history])
