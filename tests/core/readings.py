"""Readings, pairs and trials that tests of the decision are made of."""

from collections.abc import Iterable, Mapping
from typing import cast

import pytest

from runner.core import decision
from runner.core.decision import GoOn, Policy, Recalibrate, Trial
from runner.core.events import Calibrated, Decided, Measured
from runner.core.models import Declares, FailureKind, Reading, Side

Value = float | FailureKind
"""A number, or the kind of failure there was instead."""
Secondary = Mapping[str, float | None]


def about(value: float, abs: float | None = None) -> float:
    """A number that equals its neighbours, also inside a dataclass."""
    return cast(float, pytest.approx(value, abs=abs))


def reading(side: Side, value: Value, secondary: Secondary | None = None, wall_s: float = 1.0) -> Reading:
    if isinstance(value, str):
        return Reading(side, None, secondary or {}, None, 0, None, wall_s, False, value, f"evaluate.sh: {value}")
    return Reading(side, value, secondary or {}, None, 0, None, wall_s, True)


def pair(
    incumbent: Value, candidate: Value, at: int = 1, inc: Secondary | None = None, cand: Secondary | None = None
) -> Measured:
    return Measured(at, "incumbent", (reading("incumbent", incumbent, inc), reading("candidate", candidate, cand)))


def alone(candidate: Value, at: int = 2) -> Measured:
    return Measured(at, "candidate", (reading("candidate", candidate),))


def calibrate(policy: Policy, pairs: Iterable[Measured]) -> Calibrated:
    return decision.calibrate(policy, list(pairs), 1, "here")


def noisy(policy: Policy, noise: float = 0.01, **rails: float) -> Calibrated:
    """A calibration around 100 whose robust scale is this share of it, on the difference scale exactly; guardrails likewise."""
    return calibrate(policy, _around(noise, rails))


def _around(noise: float, rails: Mapping[str, float]) -> Iterable[Measured]:
    for at in range(6):
        sign = (-1) ** at
        secondary = {name: 100 + sign * size * 100 / 1.4826 for name, size in rails.items()}
        yield pair(100, 100 * (1 + sign * noise / 1.4826), at, dict.fromkeys(rails, 100.0), secondary)


def trial(
    policy: Policy,
    calibrated: Calibrated,
    measured: Iterable[Measured],
    alpha: float = 8e-4,
    declares: Declares | None = None,
    allowance: float = 1.0,
) -> Trial:
    """The trial after `measured`, up to the first verdict that is no GoOn."""
    under = decision.begin(policy, calibrated, decision.pool(calibrated), alpha, declares, allowance)
    for one in measured:
        under = decision.add(under, one)
        if not isinstance(decision.verdict(under), GoOn):
            break
    return under


def decided(trial: Trial) -> Decided:
    verdict = decision.verdict(trial)
    assert isinstance(verdict, Decided), verdict
    return verdict


def going(trial: Trial) -> GoOn:
    verdict = decision.verdict(trial)
    assert isinstance(verdict, GoOn), verdict
    return verdict


def recalibrating(trial: Trial) -> Recalibrate:
    verdict = decision.verdict(trial)
    assert isinstance(verdict, Recalibrate), verdict
    return verdict
