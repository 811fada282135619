"""The sentence a person reads for each fact and each piece of news."""

from collections.abc import Callable, Mapping
from typing import Any

from runner.core.events import (
    Abandoned,
    Calibrated,
    CampaignOpened,
    Decided,
    Entry,
    Gated,
    Json,
    Judged,
    Measured,
    MetricNoise,
    Noted,
    Proposed,
    Remeasured,
    Settled,
    Started,
    Stopped,
    TurnOpened,
    Waited,
    Worked,
)
from runner.core.models import Reading, Scale
from runner.core.news import Left, News, Phase, PhaseName, Running, Warned
from runner.core.state import State
from runner.core.text import cut, shown

UNKNOWN = "unknown"
_MESSAGE = 100


# --- amounts ---------------------------------------------------------------------------------------


def short(oid: str | None) -> str:
    return oid[:9] if oid else UNKNOWN


def number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.6g}"


def effect(value: float | None, scale: Scale | None) -> str:
    """An effect, > 0 is better: per cent of the incumbent on the ratio scale, else in the metric's unit."""
    if value is None:
        return UNKNOWN
    return f"{value:+.4g}" if scale == "difference" else f"{value * 100:+.3g} %"


def interval(ends: tuple[float, float] | None, scale: Scale | None) -> str:
    """` [+1 %, +3 %]`, or nothing where it is unknown."""
    return f" [{effect(ends[0], scale)}, {effect(ends[1], scale)}]" if ends else ""


def size(value: float, scale: Scale) -> str:
    """An amount without a sign."""
    return f"{value:.3g}" if scale == "difference" else f"{value * 100:.2g} %"


def span(seconds: float | None) -> str:
    """`45 s`, `4 min`, `1 h 05 min`."""
    if seconds is None:
        return UNKNOWN
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def cost(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"${usd:.2f}"


def count(amount: int | None) -> str:
    return UNKNOWN if amount is None else f"{amount:,}"


def times(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


# --- facts -----------------------------------------------------------------------------------------


def sentence(entry: Entry, state: State) -> str:
    """One line without turn and time; `state` is the state after the entry. Safe for a terminal whatever an agent wrote."""
    return shown(_SENTENCE[type(entry.fact)](entry.fact, state))


def _opened(fact: CampaignOpened, state: State) -> str:
    if fact.segment > 1:
        changed = ", ".join(fact.changed) or "the contract"
        return f"segment {fact.segment}: {changed} changed; goes on from {short(fact.incumbent)}, the noise is measured anew"
    return f"campaign {fact.campaign} of {fact.experiment}: baseline {short(fact.baseline)}, winners go to {fact.branch}"


def _started(fact: Started, state: State) -> str:
    bounds = [times(fact.max_turns, "turn")] if fact.max_turns is not None else []
    bounds += [span(fact.budget_s)] if fact.budget_s is not None else []
    asked = f", asked for {' and '.join(bounds)}" if bounds else ""
    return f"runner started on {fact.host} (pid {fact.pid}){asked}; confinement: {confinement(fact.confinement)}"


def confinement(found: Mapping[str, Json]) -> str:
    """The probe results in words: the level, how, and what was found open (`not_held`, a list of sentences)."""
    how = f"level {found.get('level', UNKNOWN)}" + (f" by {found['via']}" if "via" in found else "")
    open_ = found.get("not_held")
    if not isinstance(open_, list):
        return f"{how}; what it holds is {UNKNOWN}"
    return f"{how}; NOT held: {'; '.join(map(str, open_))}" if open_ else f"{how}; nothing was found open"


def _calibrated(fact: Calibrated, state: State) -> str:
    noise = fact.primary
    time = f"a decision takes about {span(fact.minutes * 60)}"
    if noise.deterministic:
        return f"noise: none, {noise.name} is deterministic ({times(fact.pairs, 'pair')}); {time}"
    return (
        f"noise: pairs differ by {_noise(noise)}; smallest gain it can see about {size(fact.visible, noise.scale)}"
        f" (50 % power); {time}; baseline {noise.name} {number(noise.mean)}"
    )


def _noise(noise: MetricNoise) -> str:
    return size(noise.noise, noise.scale)


def _remeasured(fact: Remeasured, state: State) -> str:
    gain = effect(fact.effect, fact.scale) + interval(fact.interval, fact.scale)
    return f"the campaign's gain on {times(fact.pairs, 'fresh pair')}: {gain}, {short(fact.baseline)} -> {short(fact.incumbent)}"


def _worked(fact: Worked, state: State) -> str:
    used = f"{count(fact.usage.tokens)} tokens, cost {cost(fact.usage.cost_usd)}"
    why = f": {fact.reason}" if fact.reason else ""
    return f"agent ended ({fact.outcome}) after {span(fact.seconds)}, {used}{why}"


def _proposed(fact: Proposed, state: State) -> str:
    if fact.candidate is None:
        return "the agent changed nothing"
    kind = f" ({fact.approach})" if fact.approach else ""
    return f"candidate {short(fact.candidate)}{kind}: {message(fact.message)}; {times(len(fact.changes), 'path')} changed"


def message(text: str) -> str:
    """An agent's message, on one line and not too long."""
    return cut(shown(text), _MESSAGE) or "no message"


def _gated(fact: Gated, state: State) -> str:
    refused = [f"{check.name}: {check.reason}" for check in fact.checks if not check.ok]
    if refused or fact.status:
        return f"refused by a gate: {'; '.join(refused) or fact.basis}"
    return f"gates passed: {', '.join(check.name for check in fact.checks) or 'none'}"


def _measured(fact: Measured, state: State) -> str:
    readings = ", ".join(_reading(r) for r in fact.readings)
    return f"pair {fact.pair}: {readings}"


def _reading(reading: Reading) -> str:
    if reading.ok:
        return f"{reading.side} {number(reading.value)}"
    return f"{reading.side} failed ({reading.failure}): {cut(shown(reading.reason), _MESSAGE)}"


def _judged(fact: Judged, state: State) -> str:
    return f"judge: {fact.status} ({fact.basis}): {cut(shown(fact.summary), _MESSAGE)}"


def _decided(fact: Decided, state: State) -> str:
    turn = state.current
    about = f" | {message(turn.proposed.message)}" if turn and turn.proposed and turn.proposed.candidate else ""
    return verdict(fact) + about


def verdict(fact: Decided) -> str:
    """Status, basis, effect with its interval and the reason."""
    gain = f" {effect(fact.effect, fact.scale)}{interval(fact.interval, fact.scale)}" if fact.effect is not None else ""
    pairs = f" after {times(fact.pairs, 'pair')}" if fact.pairs else ""
    return f"{fact.status.upper()} ({fact.basis}){gain}{pairs}: {fact.reason}"


def _settled(fact: Settled, state: State) -> str:
    return f"the incumbent is now {short(fact.incumbent)}" if fact.moved else f"the incumbent stays {short(fact.incumbent)}"


_SENTENCE: Mapping[type, Callable[[Any, State], str]] = {
    CampaignOpened: _opened,
    Started: _started,
    Calibrated: _calibrated,
    Remeasured: _remeasured,
    Waited: lambda fact, state: f"waits until {fact.until}: {fact.why}",
    Noted: lambda fact, state: f"{fact.what}: {fact.text}",
    Abandoned: lambda fact, state: f"readings before pair {fact.before_pair} are set aside: {fact.why}",
    Stopped: lambda fact, state: f"stopped by {fact.rule}: {fact.reason} ({span(fact.active_s)} active)",
    TurnOpened: lambda fact, state: f"opened from {short(fact.incumbent)}",
    Worked: _worked,
    Proposed: _proposed,
    Gated: _gated,
    Measured: _measured,
    Judged: _judged,
    Decided: _decided,
    Settled: _settled,
}


# --- news ------------------------------------------------------------------------------------------

_PHASE: Mapping[PhaseName, str] = {
    "setup": "preparing what a fresh checkout lacks",
    "calibrate": "measuring the noise: the incumbent against itself",
    "propose": "the agent works",
    "gate": "checking the candidate",
    "build": "building",
    "measure": "measuring",
    "judge": "the judge reads the evidence",
    "settle": "settling",
    "remeasure": "measuring the campaign's gain afresh",
    "wait": "waiting",
}


def told(news: News) -> str:
    """One line for a piece of news, safe for a terminal."""
    return shown(_TOLD[type(news)](news))


def _phase(news: Phase) -> str:
    return _PHASE[news.name] + (f": {news.detail}" if news.detail else "")


def _running(news: Running) -> str:
    parts = [f"so far {effect(news.estimate, news.scale)}{interval(news.interval, news.scale)}"]
    if news.stake is not None and news.needed is not None:
        parts.append(f"stake {news.stake:.3g} of {news.needed:.4g}")
    if news.more is not None:
        parts.append(f"about {times(news.more, 'more pair')}")
    return ", ".join(parts)


def _left(news: Left) -> str:
    parts = [times(news.turns, "turn")] if news.turns is not None else []
    parts += [span(news.seconds)] if news.seconds is not None else []
    parts += [f"{news.tokens:,} tokens"] if news.tokens is not None else []
    parts += [cost(news.cost_usd)] if news.cost_usd is not None else []
    return f"budget left: {', '.join(parts)}" if parts else "budget: no bound"


def _warned(news: Warned) -> str:
    return f"warning: {news.what}" + (f" ({news.mend})" if news.mend else "")


_TOLD: Mapping[type, Callable[[Any], str]] = {Phase: _phase, Running: _running, Left: _left, Warned: _warned}
