"""The campaign so far in a page: a bounded digest for the worker's prompt, and the text of program.learned.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from runner.core.events import Decided, Hypothesis, Json
from runner.core.models import Basis, Oid, Status, TurnNo


class Record(Protocol):
    """What a finished turn tells those who come after it; `kept` is the commit its keep made, `decided` None while it is open."""

    @property
    def turn(self) -> TurnNo: ...
    @property
    def incumbent(self) -> Oid: ...
    @property
    def kept(self) -> Oid | None: ...
    @property
    def hypothesis(self) -> Hypothesis | None: ...
    @property
    def approach(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Json] | None: ...
    @property
    def decided(self) -> Decided | None: ...


Told = tuple[Record, Decided]
Section = tuple[str, int, Iterator[str], float]
"""A title, how many lines there are, the lines with the most important first, and their share of the room."""

MEASURED = (Status.DISCARD, Status.VETOED, Status.HELD)
BELIEVED = (Status.KEEP, Status.DISCARD)
FAILED = (Status.CRASH, Status.REJECTED, Status.NO_CHANGE, Status.DUPLICATE, Status.AGENT_ERROR)


def digest(records: Sequence[Record], limit: int = 8192) -> str:
    """What was kept, what nearly was, what failed and why, in at most `limit` bytes of UTF-8; "" for no finished turn."""
    told = _told(records)
    if not told:
        return ""
    near = sorted((t for t in told if _is_near(t[1])), key=lambda t: -(t[1].estimate or 0))
    worse = [t for t in told if t[1].status in MEASURED and not _is_near(t[1])]
    kinds = _approaches(told)
    sections: list[Section] = [
        _turns("Kept", [t for t in told if t[1].status is Status.KEEP], 0.3),
        _turns("Near misses: perhaps better, not shown", near, 0.3),
        _turns("Measured and not better", worse, 0.4),
        ("Kinds of idea tried", len(kinds), (_kind(name, fates) for name, fates in kinds), 0.4),
        _turns("Failed before they could be measured", [t for t in told if t[1].status in FAILED], 1.0, why=True),
    ]
    return _page(f"{_tally(told)} Effects above zero are better; their interval is in brackets.", "###", sections, limit)


def learned(records: Sequence[Record], limit: int = 16384) -> str:
    """program.learned.md: what worked and what failed, the same for the same records, in at most `limit` bytes of UTF-8."""
    told = _told(records)
    failed = _approaches([t for t in told if t[1].status is not Status.KEEP])
    sections: list[Section] = [
        _turns("What worked", [t for t in told if t[1].status is Status.KEEP], 0.4),
        *(_turns(f"What failed: {kind}", turns, 1.5 / (len(failed) + 1), why=True, kind=False) for kind, turns in failed),
    ]
    head = "# What this campaign has learned\n\nWritten by the runner from its journal; what is edited here is overwritten."
    return _page(f"{head}\n\n{_tally(told)}", "##", sections, limit - 1) + "\n"


def _turns(title: str, told: Sequence[Told], share: float, why: bool = False, kind: bool = True) -> Section:
    return title, len(told), (_line(record, decided, why, kind) for record, decided in told), share


def _told(records: Sequence[Record]) -> list[Told]:
    """The turns with a fate, newest first."""
    told = [(r, r.decided) for r in records if r.decided is not None and r.decided.status is not Status.INTERRUPTED]
    return sorted(told, key=lambda t: -t[0].turn)


def _is_near(decided: Decided) -> bool:
    return decided.status is Status.DISCARD and decided.basis is Basis.NOT_GOOD_ENOUGH and (decided.estimate or 0) > 0


def _tally(told: Sequence[Told]) -> str:
    counts = [(status.value, sum(d.status is status for _, d in told)) for status in Status]
    parts = ", ".join(f"{count} {name}" for name, count in counts if count)
    return f"{len(told)} turns: {parts}." if told else "No turn has ended yet."


def _line(record: Record, decided: Decided, why: bool = False, kind: bool = True) -> str:
    """One turn in one line of bounded length."""
    value = decided.effect if decided.status is Status.KEEP else decided.estimate
    number = _number(decided)
    effect = "" if value is None else f"{number(value)}{_interval(decided)}: "
    fate = f"{decided.status.value}: " if effect == "" or decided.status not in (Status.KEEP, Status.DISCARD) else ""
    label = f"({_approach(record)}) " if kind and record.approach else ""
    reason = f" -- {_short(decided.reason, 200)}" if why and decided.reason else ""
    return f"- turn {record.turn}: {effect}{fate}{label}{_idea(record)}{reason}"


def _number(decided: Decided) -> Callable[[float], str]:
    return (lambda v: f"{v:+.2%}") if decided.scale == "ratio" else (lambda v: f"{v:+.4g}")


def _interval(decided: Decided) -> str:
    if decided.interval is None:
        return ""
    low, high = map(_number(decided), decided.interval)
    return f" [{low}, {high}]"


def _idea(record: Record) -> str:
    words = record.hypothesis.statement if record.hypothesis else record.message.partition("\n")[0]
    return _short(words, 160) or "no words"


def _approach(record: Record) -> str:
    return _short(record.approach or "", 40) or "unnamed"


def _short(text: str, most: int) -> str:
    """Foreign text on one line, without what could steer a terminal, cut at `most` characters."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."


def _approaches(told: Sequence[Told]) -> list[tuple[str, list[Told]]]:
    """The turns of each kind of idea, the most tried kind first."""
    kinds: dict[str, list[Told]] = {}
    for record, decided in told:
        kinds.setdefault(_approach(record), []).append((record, decided))
    return sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))


def _kind(name: str, turns: Sequence[Told]) -> str:
    fates = [decided for _, decided in turns]
    kept = sum(d.status is Status.KEEP for d in fates)
    best = max((d for d in fates if d.estimate is not None and d.status in BELIEVED), key=lambda d: d.estimate or 0, default=None)
    text = "" if best is None or best.estimate is None else f", best {_number(best)(best.estimate)}"
    return f"- {name}: {len(fates)} tried, {kept} kept{text}"


def _page(head: str, mark: str, sections: Sequence[Section], limit: int) -> str:
    """Head and sections, each within its share of the room that those before it left."""
    page = head
    for title, count, rows, share in sections:
        room = int((limit - _size(page)) * min(share, 1.0))
        page += _section(f"\n\n{mark} {title}\n", count, rows, room)
    return page


def _section(title: str, count: int, rows: Iterator[str], room: int) -> str:
    """The title and as many rows as fit, with the number of those that do not; "" where not one does."""
    more = "\n- and {} more"
    taken = ""
    for left, row in zip(range(count, 0, -1), rows, strict=True):
        rest = _size(more) + 8 if left > 1 else 0
        if _size(title + taken) + _size(row) + 1 + rest > room:
            return title + taken + more.format(left) if taken else ""
        taken += f"\n{row}"
    return title + taken if taken else ""


def _size(text: str) -> int:
    return len(text.encode())
