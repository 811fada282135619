from dataclasses import replace

import pytest

from runner.core.brief import digest, learned
from runner.core.events import Decided, Hypothesis
from runner.core.models import Basis, Oid, Status
from tests.agents.orders import Turn, turn


def told(
    number: int, effect: float | None, status: Status, basis: Basis, idea: str, approach: str | None = None, reason: str = ""
) -> Turn:
    kept = Oid("b" * 40) if status is Status.KEEP else None
    made = turn(number, effect, status=status, basis=basis, kept=kept)
    assert made.decided is not None
    return replace(made, hypothesis=Hypothesis(idea, ""), approach=approach, decided=replace(made.decided, reason=reason))


CAMPAIGN = (
    told(1, 0.0231, Status.KEEP, Basis.METRIC_IMPROVEMENT, "Cache the table", "caching"),
    told(2, -0.05, Status.DISCARD, Basis.METRIC_REGRESSION, "Cache the cache", "caching", "slower by 5 %"),
    told(3, 0.004, Status.DISCARD, Basis.NOT_GOOD_ENOUGH, "Unroll the loop", "unrolling"),
    told(4, 0.008, Status.DISCARD, Basis.NOT_GOOD_ENOUGH, "Use\n  SIMD \x1b[31m"),
    told(5, None, Status.CRASH, Basis.EVALUATION_FAILED, "Use threads", "threads", "the exit code was 1"),
    told(6, None, Status.REJECTED, Basis.SURFACE_VIOLATION, "Edit the evaluator", None, "eval.sh is outside the surface"),
    told(7, None, Status.INTERRUPTED, Basis.INVALID_OR_MISSING_EVIDENCE, "Nothing"),
    told(8, 0.9, Status.HELD, Basis.IMPLAUSIBLE_GAIN, "Return early", "cheating"),
)


def test_the_digest_tells_each_turn_once_by_its_fate() -> None:
    assert (
        digest(CAMPAIGN)
        == """\
7 turns: 1 keep, 3 discard, 1 crash, 1 rejected, 1 held. Effects above zero are better; their interval is in brackets.

### Kept

- turn 1: +2.31% [+1.31%, +3.31%]: (caching) Cache the table

### Near misses: perhaps better, not shown

- turn 4: +0.80% [-0.20%, +1.80%]: Use SIMD [31m
- turn 3: +0.40% [-0.60%, +1.40%]: (unrolling) Unroll the loop

### Measured and not better

- turn 8: +90.00% [+89.00%, +91.00%]: held: (cheating) Return early
- turn 2: -5.00% [-6.00%, -4.00%]: (caching) Cache the cache

### Kinds of idea tried

- caching: 2 tried, 1 kept, best +2.31%
- unnamed: 2 tried, 0 kept, best +0.80%
- cheating: 1 tried, 0 kept
- threads: 1 tried, 0 kept
- unrolling: 1 tried, 0 kept, best +0.40%

### Failed before they could be measured

- turn 6: rejected: Edit the evaluator -- eval.sh is outside the surface
- turn 5: crash: (threads) Use threads -- the exit code was 1"""
    )


def test_what_was_learned_is_ordered_by_kind_of_idea() -> None:
    assert (
        learned(CAMPAIGN[:3])
        == """\
# What this campaign has learned

Written by the runner from its journal; what is edited here is overwritten.

3 turns: 1 keep, 2 discard.

## What worked

- turn 1: +2.31% [+1.31%, +3.31%]: (caching) Cache the table

## What failed: caching

- turn 2: -5.00% [-6.00%, -4.00%]: Cache the cache -- slower by 5 %

## What failed: unrolling

- turn 3: +0.40% [-0.60%, +1.40%]: Unroll the loop
"""
    )


def test_nothing_yet_is_an_empty_digest_and_a_plain_page() -> None:
    assert digest(()) == ""
    assert digest([Turn(CAMPAIGN[0].turn, CAMPAIGN[0].incumbent, None, None)]) == ""
    assert learned(()).endswith("overwritten.\n\nNo turn has ended yet.\n")


@pytest.mark.parametrize("limit", [600, 2048, 8192])
def test_ten_thousand_turns_stay_in_the_bounds_with_the_newest_first_and_the_rest_counted(limit: int) -> None:
    fates = [
        (Status.KEEP, Basis.METRIC_IMPROVEMENT, 0.01),
        (Status.DISCARD, Basis.NOT_GOOD_ENOUGH, 0.001),
        (Status.DISCARD, Basis.METRIC_REGRESSION, -0.02),
        (Status.CRASH, Basis.EVALUATION_TIMEOUT, None),
    ]
    records = [
        told(i, fates[i % 4][2], fates[i % 4][0], fates[i % 4][1], f"µ idea {i} " * 40, f"kind {i % 50}" * 9, "why " * 200)
        for i in range(1, 10_001)
    ]
    page = digest(records, limit)
    assert limit * 0.3 < len(page.encode()) <= limit
    assert page == digest(list(reversed(records)), limit)
    assert len(learned(records, 2 * limit).encode()) <= 2 * limit
    if limit == 8192:
        kept = page.split("### Kept\n\n")[1].split("\n\n")[0].splitlines()
        assert kept[0].startswith("- turn 10000: +1.00% [+0.00%, +2.00%]: (kind 0kind 0")
        assert kept[-1] == f"- and {2500 - len(kept) + 1} more"
        assert page.count("###") == 5


def test_a_difference_is_told_in_the_metric_s_unit_and_an_idea_without_words_by_its_commit() -> None:
    made = turn(1, 0.012345678, scale="difference")
    assert "- turn 1: +0.01235 [+0.002346, +0.02235]: Fix it\n" in digest([replace(made, message="Fix it\n\nlong")]) + "\n"
    assert "no words" in digest([made])
    vetoed = Decided(Status.VETOED, Basis.JUDGE_VETO, "special-cases the test", 0.1, 0.1, None, "ratio")
    assert "- turn 1: +10.00%: vetoed: Fix it" in digest([replace(made, message="Fix it", decided=vetoed)])
