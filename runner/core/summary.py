"""The page that says what a campaign came to, as Markdown."""

import re
from collections import Counter

from runner.core.models import Scale, Status
from runner.core.rows import About
from runner.core.standing import baseline, expected_false_keeps, gain, kept, spent
from runner.core.state import State, TurnRecord
from runner.core.text import cut, shown
from runner.core.wording import UNKNOWN, cost, count, effect, interval, number, short, span, times

_TOP = 3
_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&!$])")


def summary(state: State, about: About) -> str:
    """Headline, what was kept, the best, what was tried, what it cost and why it ended; a function of the journal alone."""
    parts = [f"# {literal(about.name)}", _headline(state, about), _counts(state), _best(state), _approaches(state), _price(state)]
    return "\n\n".join(part for part in parts if part) + "\n"


def literal(text: str) -> str:
    """Somebody's text in Markdown: on one line, shown as it stands, never read as markup."""
    return _MARKUP.sub(r"\\\1", cut(shown(text), 200))


def _headline(state: State, about: About) -> str:
    row, keeps = state.row0, kept(state)
    better = f"`{shown(about.metric)}` ({about.direction} is better)"
    if row is None:
        return f"{better}: the baseline is not measured yet."
    if state.origin and state.comparable_from > state.origin.segment:
        return f"**{better}**: measured so since segment {state.comparable_from}, its keeps since: {_gain(state)}"
    if not keeps:
        return f"**{better}: {number(row.value)} at the baseline {short(row.commit)}; nothing better was kept.**"
    last = keeps[-1].decided.metric_value
    return (
        f"**{better}: {number(row.value)} -> {number(last)}**, baseline {short(baseline(state))} -> {short(state.incumbent)} "
        f"({_gain(state)})"
    )


def _gain(state: State) -> str:
    best = gain(state)
    if best is None:
        return f"gain {UNKNOWN}"
    how = "on fresh pairs" if best.fresh else "compounded from the keeps, not measured afresh"
    return f"gain {effect(best.value, best.scale)}{interval(best.interval, best.scale)}, {how}"


def _counts(state: State) -> str:
    fates = Counter(record.decided.status for record in state.finished)
    listed = ", ".join(f"{fates[status]} {status}" for status in Status if fates[status])
    false = expected_false_keeps(state)
    bound = UNKNOWN if false is None else f"at most {false:.2g}"
    return (
        f"- kept {state.keeps} of {times(state.tried, 'candidate')} tried in {times(len(state.finished), 'turn')}"
        f"{f' ({listed})' if listed else ''}\n- expected false keeps: {bound}"
    )


def _best(state: State) -> str:
    measured = [r for r in state.finished if r.decided.effect is not None and r.decided.effect > 0]
    top = sorted(measured, key=lambda r: (-(r.decided.effect or 0.0), r.turn))[:_TOP]
    if not top:
        return ""
    return "## Top experiments\n\n" + "\n".join(f"{place}. {_experiment(r)}" for place, r in enumerate(top, 1))


def _experiment(record: TurnRecord) -> str:
    verdict = record.decided
    scale: Scale | None = verdict.scale
    gain_ = effect(verdict.effect, scale) + interval(verdict.interval, scale)
    commit = short(record.kept or record.candidate)
    return f"turn {record.turn}, {verdict.status}, {gain_}, {commit}: {literal(record.message)}"


def _approaches(state: State) -> str:
    tried = Counter(shown(r.approach) if r.approach else UNKNOWN for r in state.finished if r.candidate)
    keeps = Counter(shown(r.approach) if r.approach else UNKNOWN for r in kept(state))
    if not tried:
        return ""
    ordered = sorted(tried.items(), key=lambda item: (-item[1], item[0]))
    lines = (f"- {literal(name)}: {amount} tried, {keeps[name]} kept" for name, amount in ordered)
    return "## Approaches tried\n\n" + "\n".join(lines)


def _price(state: State) -> str:
    used = spent(state, None)
    least = f" (at least: {times(used.unpriced, 'turn')} did not say)" if used.unpriced else ""
    ended = f"{state.stopped.rule}: {literal(state.stopped.reason)}" if state.stopped else "not stopped"
    return (
        "## Time and cost\n\n"
        f"- active time: {span(used.active_s)}\n"
        f"- tokens: {count(used.tokens)}, cost: {cost(used.cost_usd)}{least}\n"
        f"- stopped by: {ended}\n"
        f"- as of {state.last_at or UNKNOWN}"
    )
