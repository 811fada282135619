"""A verdict's reason: one plain sentence for a person, with the figures that decided."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from runner.core import stats
from runner.core.evidence import Figures, question, values
from runner.core.models import Basis, Scale, Status
from runner.core.pairs import fault
from runner.core.policy import outward
from runner.core.trial import Rail, Trial

Why = Literal[
    "better", "harmless", "implausible", "unaffordable", "exact", "no_sign", "too_small", "too_long", "spent", "broken",
    "unshown_rail", "small",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class End:
    """How a trial ended; `basis` None: a regression where the whole interval lies below 0, else not good enough.

    `hope` is the optimistic effect on the scale of d and `more` the pairs it would still need, where these decided.
    """

    status: Status
    basis: Basis | None
    why: Why
    rail: Rail | None = None
    hope: float = 0.0
    more: float = 0.0


def sentence(end: End, trial: Trial, seen: Figures) -> str:
    return _SENTENCES[end.why](end, trial, seen)


def crashed(trial: Trial) -> str:
    """The sentence of a candidate that twice gave no reading, with the evaluator's own words."""
    faults = (fault(trial.policy, trial.scale, r) for m in trial.measured for r in m.readings if r.side == "candidate")
    last = [why for why in faults if why][-1]
    return f"the evaluation gave no reading in {trial.failures} tries: {last}"


def _better(end: End, trial: Trial, seen: Figures) -> str:
    if trial.deterministic:
        return f"better by {_size(seen.estimate, trial.scale)}, {_step(trial)}, the same in every reading"
    size = _size(seen.effect, trial.scale) + _interval(trial, seen)
    return f"better by {size} {_after(trial)}; {_shown(trial.gain, 1 / trial.alpha)}"


def _harmless(end: End, trial: Trial, seen: Figures) -> str:
    allowed = f"not worse than the {trial.policy.margin or 'equal value'} allowed"
    if trial.deterministic:
        return f"{allowed}: {_step(trial)}, the same in every reading"
    asked = question(trial)
    return f"{allowed}: {_tendency(seen, trial)} {_effect(trial, seen)} {_after(trial)}; {_stake(asked.bet, asked.needed)}"


def _implausible(end: End, trial: Trial, seen: Figures) -> str:
    policy, gain = trial.policy, _size(seen.effect, trial.scale)
    bound = policy.implausible if policy.implausible is not None else f"{policy.times:g} times"
    return f"a gain of {gain} {_after(trial)} is more than the {bound} thought plausible: held for a person to look at"


def _unaffordable(end: End, trial: Trial, seen: Figures) -> str:
    return (
        f"within the margin of {trial.policy.margin}, but {_tendency(seen, trial)} {_size(seen.estimate, trial.scale)}: "
        f"the campaign has only {100 * trial.allowance:.0f} % of its allowance for regressions left"
    )


def _exact(end: End, trial: Trial, seen: Figures) -> str:
    if seen.estimate == 0:
        return f"exactly equal: {_step(trial)}"
    gain = f"{_tendency(seen, trial)} {_size(seen.estimate, trial.scale)}, {_step(trial)}"
    return gain if seen.estimate < 0 else f"{gain}; min_effect asks for {trial.policy.min_effect}"


def _no_sign(end: End, trial: Trial, seen: Figures) -> str:
    if seen.d_high < 0:
        return f"{_tendency(seen, trial)} {_effect(trial, seen)} {_after(trial)}"
    return f"no sign of a gain {_after(trial)}: even an optimistic effect is {_told(end.hope, trial)}"


def _too_small(end: End, trial: Trial, seen: Figures) -> str:
    return f"even an optimistic effect of {_told(end.hope, trial)} is below min_effect {trial.policy.min_effect} {_after(trial)}"


def _too_long(end: End, trial: Trial, seen: Figures) -> str:
    left, more = trial.policy.pairs_at_most - trial.pairs, math.ceil(min(end.more, 1e6))
    start = "not shown to be within the margin" if trial.null is not None else "no sign of a gain"
    pairs = f"{more:,} more pairs of the {left} left"
    return f"{start} {_after(trial)}: even an optimistic effect of {_told(end.hope, trial)} would need {pairs}"


def _spent(end: End, trial: Trial, seen: Figures) -> str:
    asked = question(trial)
    return f"not shown {_after(trial)}, the most allowed: {_effect(trial, seen)}; {_stake(asked.bet, asked.needed)}"


def _small(end: End, trial: Trial, seen: Figures) -> str:
    return (
        f"better by {_effect(trial, seen)} {_after(trial)}, the most allowed, and min_effect asks for {trial.policy.min_effect}"
    )


def _broken(end: End, trial: Trial, seen: Figures) -> str:
    limit, d = _rail(end)
    return f"guardrail {limit} is broken: {d} where {_allowed(end)} is allowed, {_after(trial)}"


def _unshown_rail(end: End, trial: Trial, seen: Figures) -> str:
    limit, d = _rail(end)
    return f"guardrail {limit} is not shown to hold within {_allowed(end)} {_after(trial)}: {d}"


_SENTENCES: Mapping[Why, Callable[[End, Trial, Figures], str]] = {
    "better": _better,
    "harmless": _harmless,
    "implausible": _implausible,
    "unaffordable": _unaffordable,
    "exact": _exact,
    "no_sign": _no_sign,
    "too_small": _too_small,
    "too_long": _too_long,
    "spent": _spent,
    "small": _small,
    "broken": _broken,
    "unshown_rail": _unshown_rail,
}


# --- figures in words -------------------------------------------------------------------------------


def _number(value: float, scale: Scale) -> str:
    """An effect without its unit: per cent on the ratio scale, else the metric's own."""
    shown = 100 * value if scale == "ratio" else value
    text = (
        f"{shown:.1f}"
        if scale == "ratio" and 0.995 <= abs(shown) < 1e6
        else f"{shown:.2g}"
        if scale == "ratio"
        else f"{shown:.4g}"
    )
    return "0" if float(text) == 0 else text


def _unit(scale: Scale) -> str:
    return " %" if scale == "ratio" else ""


def _size(value: float, scale: Scale) -> str:
    return _number(abs(value), scale) + _unit(scale)


def _told(d: float, trial: Trial) -> str:
    return _number(outward(d, trial.scale, trial.policy.direction), trial.scale) + _unit(trial.scale)


def _effect(trial: Trial, seen: Figures) -> str:
    """The size of the estimate with its interval."""
    return _size(seen.estimate, trial.scale) + _interval(trial, seen)


def _interval(trial: Trial, seen: Figures) -> str:
    """The signs are turned where the sentence says worse."""
    low, high = seen.interval if seen.estimate >= 0 else (-seen.interval[1], -seen.interval[0])
    return f" (90 % interval {_number(low, trial.scale)} to {_number(high, trial.scale)}{_unit(trial.scale)})"


def _tendency(seen: Figures, trial: Trial) -> str:
    return "better by" if seen.estimate >= 0 else "worse by"


def _after(trial: Trial) -> str:
    return f"after {trial.pairs} pair{'s' if trial.pairs != 1 else ''}"


def _shown(bet: stats.Bet, needed: float) -> str:
    """What carries a keep: the stake, or pairs that tower over the noise one and all, before the stake could grow."""
    return _stake(bet, needed) if stats.wealth(bet) >= needed else "every pair towers over the noise"


def _stake(bet: stats.Bet, needed: float) -> str:
    return f"stake {_count(stats.wealth(bet))} against {_count(needed)} needed"


def _count(stake: float) -> str:
    return f"{stake:,.0f}" if 10 <= stake < 1e9 else f"{stake:.2g}"


def _step(trial: Trial) -> str:
    return f"{values(trial, 'incumbent')[0]:.6g} to {values(trial, 'candidate')[0]:.6g}"


def _rail(end: End) -> tuple[str, str]:
    assert end.rail is not None
    limit = end.rail.guardrail
    estimate = outward(stats.estimate(end.rail.seen), limit.scale, limit.direction)
    return limit.name, f"{'better' if estimate >= 0 else 'worse'} by {_size(estimate, limit.scale)}"


def _allowed(end: End) -> str:
    assert end.rail is not None
    return str(end.rail.guardrail.max_regression)
