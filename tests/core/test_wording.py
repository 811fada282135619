import pytest

from runner.core.events import Calibrated, Check, Entry, Fact, Gated, Measured, MetricNoise, Noted, Usage, Waited, Worked
from runner.core.models import Basis, Outcome, Status, TurnNo
from runner.core.news import Left, News, Phase, Running, Warned
from runner.core.state import State
from runner.core.wording import confinement, effect, interval, sentence, span, told
from tests.histories import CONFINEMENT, proposed, reading

CERTAIN = MetricNoise("tests_failed", "lower", "difference", True, 0.0, 8.0, True, 3.0)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (
            Measured(3, "candidate", (reading("candidate", None), reading("incumbent", 2.0))),
            "pair 3: candidate failed (timeout): over 60 s, incumbent 2",
        ),
        (
            Gated((Check("scope", "scope", False, "a.sh is outside", 0.1),), Status.REJECTED, Basis.SURFACE_VIOLATION),
            "refused by a gate: scope: a.sh is outside",
        ),
        (Gated((), Status.NO_CHANGE, Basis.NO_CHANGE), "refused by a gate: no_change"),
        (proposed(None), "the agent changed nothing"),
        (
            Worked(Outcome.AUTH, 1, 2.0, Usage(), "log in\x1b[2J first"),
            "agent ended (auth) after 2 s, unknown tokens, cost unknown: log in\\x1b[2J first",
        ),
        (
            Calibrated(1, "box", CERTAIN, (), 3, 3.0, 1.0, 0.5),
            "noise: none, tests_failed is deterministic (3 pairs); a decision takes about 30 s",
        ),
        (Waited("usage limit", "2026-11-30T11:00:00.000Z"), "waits until 2026-11-30T11:00:00.000Z: usage limit"),
        (Noted("note", "see [/usr/bin/x]\nand more"), "note: see [/usr/bin/x] and more"),
    ],
)  # fmt: skip
def test_a_fact_has_a_sentence(fact: Fact, expected: str) -> None:
    assert sentence(Entry(1, "", TurnNo(1), fact), State()) == expected


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        (Phase(TurnNo(2), "measure", "pair 4"), "measuring: pair 4"),
        (Running(TurnNo(2), 1, "difference"), "so far unknown"),
        (Running(TurnNo(2), 4, "ratio", 0.02, (-0.001, 0.042), 12.0, 1e3, 1),
         "so far +2 % [-0.1 %, +4.2 %], stake 12 of 1000, about 1 more pair"),
        (Left(), "budget: no bound"),
        (Left(1, 30.0, 1500, 2.5), "budget left: 1 turn, 30 s, 1,500 tokens, $2.50"),
        (Warned("no results.tsv"), "warning: no results.tsv"),
    ],
)  # fmt: skip
def test_a_piece_of_news_has_a_sentence(news: News, expected: str) -> None:
    assert told(news) == expected


def test_amounts_have_their_units_and_the_unknown_its_word() -> None:
    assert [effect(0.0213, "ratio"), effect(-0.5, "difference"), effect(None, "ratio")] == ["+2.13 %", "-0.5", "unknown"]
    assert [interval((-0.01, 0.02), "ratio"), interval(None, "ratio")] == [" [-1 %, +2 %]", ""]
    assert [span(0.0), span(89.0), span(90.0), span(3599.0), span(3660.0), span(None)] == [
        "0 s", "89 s", "2 min", "1 h 00 min", "1 h 01 min", "unknown",
    ]  # fmt: skip


def test_confinement_names_what_was_found_open() -> None:
    assert confinement(CONFINEMENT) == "level 3 by bubblewrap 0.11.0; NOT held: a job can reach the network"
    assert confinement({"level": 3, "not_held": []}) == "level 3; nothing was found open"
    assert confinement({}) == "level unknown; what it holds is unknown"
