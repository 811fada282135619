"""Campaigns written by hand: facts in order, as entries or as a journal's bytes."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from runner.core.events import (
    Calibrated,
    CampaignOpened,
    Change,
    Check,
    Decided,
    Entry,
    Fact,
    Gated,
    Hypothesis,
    Json,
    Judged,
    Measured,
    MetricNoise,
    Proposed,
    Settled,
    Started,
    Stopped,
    TurnOpened,
    Usage,
    Worked,
)
from runner.core.models import Basis, Oid, Outcome, Reading, Side, Status, TurnNo
from runner.journal import FIRST_LINK, line, link

BASE = Oid("a" * 40)
TREE = Oid("7" * 40)
History = list[tuple[Fact, int | None]]

OPENED = CampaignOpened(
    format=1, campaign="c0ffee", experiment="quick_sort", segment=1, branch="research/quick_sort", baseline=BASE, incumbent=BASE,
    seed=0, digests={"contract": "1" * 64, "goal": "2" * 64, "judge": "3" * 64, "evaluator": "4" * 64},
    evaluator_commit=BASE, versions={"runner": "0.1.0"},
)  # fmt: skip
CONFINEMENT: dict[str, Json] = {
    "level": 3, "via": "bubblewrap 0.11.0", "home_visible": False, "tcp": True, "overlay": True,
    "not_held": ["a job can reach the network"],
}  # fmt: skip
STARTED = Started("box", "boot-1", 4242, 1000.0, CONFINEMENT, 5, None)
NOISE = MetricNoise("seconds", "lower", "ratio", False, 0.021, 8.0, True, 2.0)
CALIBRATED = Calibrated(1, "box", NOISE, (), 6, 3.0, 0.015, 4.0)
STOPPED = Stopped("max_turns", "2 of 2 turns are done", 120.0)


def oid(digit: str) -> Oid:
    return Oid(digit * 40)


def reading(side: Side, value: float | None, seed: int = 7) -> Reading:
    good = value is not None
    return Reading(
        side, value, {"rss": 10.0}, None, seed, 1.5, 1.6, good, None if good else "timeout", "" if good else "over 60 s"
    )


def pair(number: int, incumbent: float | None, candidate: float | None) -> Measured:
    return Measured(number, "incumbent", (reading("incumbent", incumbent), reading("candidate", candidate)))


def calibration() -> History:
    same = Measured(1, "incumbent", (reading("incumbent", 1.9), reading("candidate", 2.1)))
    return [(replace(same, pair=n), 0) for n in (1, 2)] + [(CALIBRATED, None)]


def proposed(candidate: Oid | None, message: str = "Sort in place", approach: str | None = "in-place") -> Proposed:
    changes = (Change("M", "src/sort.py", None, "100644", "100644", 120),) if candidate else ()
    return Proposed(
        candidate, TREE if candidate else None, Hypothesis("fewer copies", "memory"), approach, "improvement", message, changes, 0
    )


def turn(
    number: int, decided: Decided, base: Oid = BASE, pairs: int = 2, message: str = "Sort in place", kept: Oid | None = None
) -> History:
    """One whole turn; `kept` is the commit that goes on the branch where `decided` keeps."""
    facts: list[Fact] = [TurnOpened(base), Worked(Outcome.OK, 0, 30.0, Usage(1000, 0.25), "")]
    if decided.status is not Status.AGENT_ERROR:
        facts += [proposed(oid("c"), message), Gated((Check("scope", "scope", True, "", 0.1),), None, None)]
        facts += [pair(n, 2.0, 1.9) for n in range(1, pairs + 1)]
    if decided.status is Status.KEEP:
        facts.append(Judged(Status.KEEP, Basis.METRIC_IMPROVEMENT, "faster", "keep it"))
    facts += [decided, Settled(kept or base, kept is not None)]
    return [(fact, number) for fact in facts]


def keep(effect: float = 0.05, value: float = 1.9) -> Decided:
    return Decided(
        Status.KEEP, Basis.METRIC_IMPROVEMENT, "the stake reached 1000", effect, effect, (effect - 0.02, effect + 0.02), "ratio",
        2, 1250.0, 1000.0, value, value - 2.0, {"rss": 9.0},
    )  # fmt: skip


def discard(effect: float = -0.01) -> Decided:
    return Decided(
        Status.DISCARD, Basis.NOT_GOOD_ENOUGH, "too small at best", effect, effect, (effect - 0.02, effect + 0.02),
        "ratio", 2, 0.4, 1000.0, 2.02, 0.02, {"rss": 10.0},
    )  # fmt: skip


def entries(history: Iterable[tuple[Fact, int | None]], start: int = 1) -> list[Entry]:
    """One second apart from 10:00:00 on, numbered from `start`."""
    first = datetime(2026, 11, 30, 10, tzinfo=UTC)
    return [
        Entry(
            number,
            (first + timedelta(seconds=number)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            None if n is None else TurnNo(n),
            fact,
        )
        for number, (fact, n) in enumerate(history, start)
    ]


def journal_bytes(of: Sequence[Entry]) -> bytes:
    head, lines = FIRST_LINK, []
    for entry in of:
        lines.append(line(entry, head))
        head = link(lines[-1])
    return b"".join(text + b"\n" for text in lines)


def campaign() -> History:
    """Opened, started, calibrated, a keep, a discard, an agent error, stopped."""
    error = Decided(Status.AGENT_ERROR, Basis.INVALID_OR_MISSING_EVIDENCE, "the agent ended with 1")
    return [
        (OPENED, None), (STARTED, None), *calibration(),
        *turn(1, keep(), kept=oid("d")),
        *turn(2, discard(), base=oid("d"), message="Unroll\tthe [bold]loop[/bold]\nby \x1b[31mhand"),
        *turn(3, error, base=oid("d")),
        (STOPPED, None),
    ]  # fmt: skip


def long_campaign(turns: int) -> History:
    """Twelve lines a turn; every twentieth is a keep."""
    history: History = [(OPENED, None), (STARTED, None), *calibration()]
    base = BASE
    for number in range(1, turns + 1):
        kept = Oid(f"{number:040x}") if number % 20 == 0 else None
        history += turn(number, keep(0.01) if kept else discard(), base, 5 if kept else 6, kept=kept)
        base = kept or base
    return history
