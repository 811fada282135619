from pathlib import Path

import pytest

from runner.core.errors import JournalError
from runner.core.events import Entry, Proposed, TurnOpened, Usage, Worked
from runner.core.models import Outcome, TurnNo
from runner.core.state import State, fold
from runner.journal import look, open_journal
from runner.ledger import Ledger
from tests.histories import BASE, OPENED, STARTED, History, calibration, oid, proposed

AT = "2026-11-30T10:00:00.000Z"
WORKED = Worked(Outcome.OK, 0, 30.0, Usage(), "")


def opened(folder: Path) -> Ledger:
    journal, found = open_journal(folder)
    return Ledger(journal, fold(found.entries), lambda: AT)


def with_an_open_turn(folder: Path) -> Ledger:
    ledger = opened(folder)
    history: History = [(OPENED, None), (STARTED, None), *calibration(), (TurnOpened(BASE), 1)]
    for fact, turn in history:
        ledger.record(fact, None if turn is None else TurnNo(turn))
    return ledger


def test_a_recorded_fact_is_durable_and_in_the_state_before_a_listener_hears_of_it(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    heard: list[tuple[Entry, State, int]] = []
    ledger.listeners.append(lambda entry, state: heard.append((entry, state, len(look(tmp_path).entries))))
    with ledger.journal:
        first, second = ledger.record(OPENED), ledger.record(STARTED)
    assert heard == [(first, fold([first]), 1), (second, fold([first, second]), 2)]
    assert ledger.state == fold(look(tmp_path).entries)


def test_a_step_is_done_once_and_its_fact_handed_back_ever_after(tmp_path: Path) -> None:
    ledger = with_an_open_turn(tmp_path)
    done = []

    def work() -> Worked:
        done.append("worked")
        return WORKED

    with ledger.journal:
        assert ledger.once(Worked, work) == WORKED
        assert ledger.once(Worked, work) == WORKED
    again = opened(tmp_path)
    with again.journal:
        assert again.once(Worked, work) == WORKED
        assert again.once(Proposed, lambda: proposed(oid("c"))) == proposed(oid("c"))
    assert done == ["worked"]
    assert [type(e.fact).__name__ for e in look(tmp_path).entries[-2:]] == ["Worked", "Proposed"]
    assert again.open_turn.proposed == proposed(oid("c"))


def test_a_step_that_fails_writes_nothing_and_may_be_tried_again(tmp_path: Path) -> None:
    ledger = with_an_open_turn(tmp_path)

    def fails() -> Worked:
        raise OSError("no such agent")

    with ledger.journal:
        with pytest.raises(OSError, match="no such agent"):
            ledger.once(Worked, fails)
        assert ledger.open_turn.worked is None
        assert ledger.once(Worked, lambda: WORKED) == WORKED


def test_a_fact_out_of_place_is_not_written(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    with ledger.journal:
        ledger.record(OPENED)
        with pytest.raises(JournalError, match="turn 2 opens where turn 1 was expected"):
            ledger.record(TurnOpened(BASE), TurnNo(2))
    assert len(look(tmp_path).entries) == 1


def test_what_is_in_the_state_is_what_a_later_start_reads(tmp_path: Path) -> None:
    """Half a surrogate in an agent's text is mended on its way into the journal, and in the state as well."""
    ledger = with_an_open_turn(tmp_path)
    with ledger.journal:
        written = ledger.once(Proposed, lambda: proposed(oid("c"), "half \ud83d"))
    assert written.message == "half \ufffd"
    assert ledger.state == fold(look(tmp_path).entries)
