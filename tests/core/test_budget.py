from dataclasses import replace

import pytest

from runner.core.budget import Ending, Session, cost_spent, ending, is_out_of_time, is_total, left, since_last_keep
from runner.core.contract import Budget
from runner.core.events import CampaignOpened, Decided, Remeasured, Usage
from runner.core.models import Basis, Oid, Status, TurnNo
from runner.core.news import Left
from runner.core.state import State, TurnRecord

FREE = Session(None, None, 0.0)
RECORD = TurnRecord(
    turn=TurnNo(1), segment=1, opened_at="", settled_at="", incumbent=Oid("a"), candidate=None, kept=None, tree=None,
    hypothesis=None, approach=None, declares=None, message="", notes=None, parameters=None, changes=(),
    decided=Decided(Status.DISCARD, Basis.NOT_GOOD_ENOUGH, "no"), usage=Usage(), seconds=None,
)  # fmt: skip


def played(*statuses: Status, usage: Usage = Usage()) -> State:  # noqa: B008 - a frozen value
    records = tuple(replace(RECORD, decided=Decided(s, Basis.NO_CHANGE, f"was {s}"), usage=usage) for s in statuses)
    return State(finished=records, verdicts=len(records), verdicts_since_stop=len(records))


def test_without_bounds_there_is_no_end() -> None:
    assert ending(State(verdicts=10**6, crashes_in_row=50, active_before=1e9), Budget(), FREE) is None


@pytest.mark.parametrize(
    ("state", "budget", "session", "rule"),
    [
        (State(verdicts=5), Budget(turns=5), FREE, "budget.turns"),
        (State(verdicts=9, verdicts_since_stop=5), Budget(), Session(5, None, 0.0), "max_turns"),
        (State(active_before=3500.0), Budget(wall_clock_s=3600), Session(None, None, 100.0), "budget.wall_clock"),
        (State(active_before=3500.0), Budget(), Session(None, 60.0, 60.0), "budget"),
        (State(crashes_in_row=3), Budget(consecutive_crashes=3), FREE, "budget.consecutive_crashes"),
        (played(Status.KEEP, usage=Usage(tokens=10)), Budget(tokens=10), FREE, "budget.tokens"),
        (played(Status.KEEP, usage=Usage(cost_usd=1.5)), Budget(cost_usd=1.5), FREE, "budget.cost_usd"),
        (played(Status.KEEP, Status.DISCARD, Status.CRASH), Budget(saturation=2), FREE, "budget.saturation"),
    ],
)
def test_each_bound_ends_it_where_it_is_reached(state: State, budget: Budget, session: Session, rule: str) -> None:
    end = ending(state, budget, session)
    assert end is not None
    assert (end.rule, end.exit_code) == (rule, 0)


def test_failing_agents_end_it_as_a_failure_with_the_last_reason() -> None:
    state = replace(played(Status.AGENT_ERROR), agent_errors_in_row=3)
    assert ending(state, Budget(), FREE) == Ending(
        "budget.agent_errors", "the worker failed 3 times in a row; last: was agent_error", 1
    )


def test_unknown_costs_never_count_as_none_spent() -> None:
    state = played(Status.KEEP)
    assert cost_spent(state) is None
    assert ending(state, Budget(cost_usd=0.0, tokens=0), FREE) is None


def test_only_totals_end_the_whole_campaign() -> None:
    assert is_total(Ending("budget.turns", ""))
    assert not is_total(Ending("max_turns", ""))


def test_interrupted_turns_do_not_saturate() -> None:
    assert since_last_keep(played(Status.KEEP, Status.AGENT_ERROR, Status.DISCARD, Status.INTERRUPTED)) == 1


def test_what_is_left_is_the_nearer_bound() -> None:
    state = State(verdicts=8, verdicts_since_stop=1, active_before=50.0)
    found = left(state, Budget(turns=10, wall_clock_s=100.0, tokens=1000), Session(5, 30.0, 20.0))
    assert found == Left(turns=2, seconds=10.0, tokens=1000, cost_usd=None)


def test_a_tenth_of_the_wall_clock_is_kept_for_the_honest_total_where_one_is_due() -> None:
    opened = CampaignOpened(1, "c", "e", 1, "b", Oid("a"), Oid("a"), 0, {}, None, {})
    state = State(origin=opened, incumbent=Oid("k"), active_before=905.0)
    assert ending(state, Budget(wall_clock_s=1000), FREE) == Ending(
        "budget.wall_clock", "905 of 1000 active seconds are spent, 100 are kept for measuring the gain afresh"
    )
    assert not is_out_of_time(state, Budget(wall_clock_s=1000), FREE)
    for nothing_due in (
        replace(state, incumbent=Oid("a")),
        replace(state, remeasured=Remeasured(Oid("a"), Oid("k"), 30, 0.1, None, "ratio")),
    ):
        assert ending(nothing_due, Budget(wall_clock_s=1000), FREE) is None
