"""Simulated campaigns: known effects under recorded or drawn noise, decided by the real rules."""

import csv
import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.core import decision
from runner.core.decision import GoOn, Policy, Pool, Risk
from runner.core.events import Calibrated, Decided, Measured
from runner.core.models import Reading, Side, Status

DATA = Path(__file__).parents[1] / "data" / "noise"
PROGRAMS = ("json", "sort", "regex", "gzip", "matmul", "compileall")
BLOCK = 60
"""Mean length in runs of the stretches a trace is cut into, so that slow phases last over candidates."""

Noise = Iterator[float]
"""Log of one reading's disturbance, in the order in which readings are taken."""


@functools.cache
def trace(program: str, column: str) -> tuple[float, ...]:
    with (DATA / f"{program}.csv").open() as lines:
        return tuple(math.log(float(row[column])) for row in csv.DictReader(lines))


def bootstrap(values: tuple[float, ...], rng: random.Random) -> Noise:
    """The stationary bootstrap of Politis and Romano (1994): stretches of geometric length from anywhere, end joined to start."""
    while True:
        at = rng.randrange(len(values))
        while True:
            yield values[at]
            at = (at + 1) % len(values)
            if rng.random() < 1 / BLOCK:
                break


def drawn(draw: Callable[[], float]) -> Noise:
    while True:
        yield draw()


def normal(rng: random.Random, sd: float = 0.02) -> Noise:
    return drawn(lambda: rng.gauss(0, sd))


def lognormal(rng: random.Random) -> Noise:
    return drawn(lambda: math.log1p(0.03 * math.exp(rng.gauss(0, 0.7))))


def heavy(rng: random.Random) -> Noise:
    """Student's t with 2.5 degrees of freedom."""
    return drawn(lambda: 0.02 * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.25, 2) / 2.5))


def wandering(rng: random.Random) -> Noise:
    """AR(1) with .95."""
    level = 0.0
    while True:
        level = 0.95 * level + rng.gauss(0, 0.02)
        yield level


def steps(rng: random.Random) -> Noise:
    """A machine that changes its speed by 15 or 40 % now and then."""
    level = 0.0
    while True:
        if rng.random() < 1 / 40:
            level = rng.choice((0.0, math.log(1.15), math.log(1.4)))
        yield level + rng.gauss(0, 0.02)


def spikes(rng: random.Random) -> Noise:
    return drawn(lambda: rng.gauss(0, 0.02) + (rng.uniform(0.2, 1) if rng.random() < 0.08 else 0))


SYNTHETIC = (normal, lognormal, heavy, wandering, steps, spikes)


def source(name: str, campaign: int, rng: random.Random) -> Noise:
    """The noise called `name`; a family (`realcpu`, `realwall`, `synth`) gives each campaign one of its six members."""
    if name == "synth":
        return SYNTHETIC[campaign % 6](rng)
    if name in ("realcpu", "realwall"):
        name = f"{PROGRAMS[campaign % 6]}-{name[4:]}"
    if name == "normal":
        return normal(rng)
    program, column = name.rsplit("-", 1)
    return bootstrap(trace(program, f"{column}_s"), rng)


NAMES = ("normal", "synth", "realcpu", "realwall", *(f"{p}-{c}" for c in ("cpu", "wall") for p in PROGRAMS))


# --- one campaign -----------------------------------------------------------------------------------


def reading(side: Side, value: float) -> Reading:
    return Reading(side, value, {}, None, 0, None, 1.0, True)


def pair(number: int, noise: Noise, rng: random.Random, gain: float, late: float = 0.0) -> Measured:
    """One pair of a candidate that is better by `gain` (log), a fair coin first; the second run is faster by `late`."""
    first, second = next(noise), next(noise) - late
    if rng.random() < 0.5:
        taken = reading("incumbent", math.exp(first)), reading("candidate", math.exp(second - gain))
    else:
        taken = reading("candidate", math.exp(first - gain)), reading("incumbent", math.exp(second))
    return Measured(number, taken[0].side, taken)


@dataclass
class Lane:
    """One campaign under way: its noise, its calibration and what it has learnt."""

    policy: Policy
    noise: Noise
    rng: random.Random
    late: float = 0.0
    calibrated: Calibrated = field(init=False)
    pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        pairs: list[Measured] = []
        while decision.calibration_wants_more(self.policy, pairs):
            pairs.append(pair(len(pairs) + 1, self.noise, self.rng, 0.0, self.late))
        self.calibrated = decision.calibrate(self.policy, pairs, 1, "here")
        self.pool = decision.pool(self.calibrated)

    def judge(self, gain: float, alpha: float) -> Decided:
        trial = decision.begin(self.policy, self.calibrated, self.pool, alpha)
        for number in itertools.count(1):
            trial = decision.add(trial, pair(number, self.noise, self.rng, gain, self.late))
            verdict = decision.verdict(trial)
            if isinstance(verdict, Decided):
                self.pool = decision.learn(self.pool, trial)
                return verdict
            assert isinstance(verdict, GoOn)
        raise AssertionError("unreachable")


def mixed(rng: random.Random) -> float:
    """80 % worthless, 10 % worse by 1 to 20 %, 10 % better by .5 to 10 % (log-uniform), as a log gain."""
    kind = rng.random()
    if kind < 0.8:
        return 0.0
    if kind < 0.9:
        return -math.log1p(rng.uniform(0.01, 0.2))
    return -math.log1p(-math.exp(rng.uniform(math.log(0.005), math.log(0.1))))


def worthless(rng: random.Random) -> float:
    return 0.0


@dataclass
class Tally:
    """Sums over campaigns."""

    campaigns: int = 0
    candidates: int = 0
    runs: int = 0
    keeps: int = 0
    false: int = 0
    good: int = 0
    found: int = 0
    true_gain: float = 0.0
    possible: float = 0.0
    told: float = 0.0
    raw: float = 0.0
    truth: float = 0.0
    covered: int = 0
    false_shares: float = 0.0

    @property
    def false_per_100(self) -> float:
        return 100 * self.false / max(1, self.candidates)

    @property
    def fdr(self) -> float:
        """The false discovery rate: the mean over campaigns of the false share of what they kept."""
        return self.false_shares / max(1, self.campaigns)

    @property
    def share(self) -> float:
        """The true gain of what was kept, of all that a perfect eye would have kept."""
        return self.true_gain / self.possible if self.possible else 0.0

    def count(self, gain: float, verdict: Decided) -> None:
        assert verdict.interval is not None
        assert verdict.effect is not None
        assert verdict.estimate is not None
        kept, effect = verdict.status == Status.KEEP, -math.expm1(-gain)
        self.candidates += 1
        self.runs += 2 * verdict.pairs
        self.covered += verdict.interval[0] <= effect <= verdict.interval[1]
        self.good += gain > 0
        self.possible += max(0.0, gain)
        if kept:
            self.keeps += 1
            self.false += gain <= 0
            self.found += gain > 0
            self.true_gain += gain
            self.told, self.raw, self.truth = self.told + verdict.effect, self.raw + verdict.estimate, self.truth + effect


def campaigns(
    policy: Policy,
    name: str,
    number: int,
    size: int,
    ideas: Callable[[random.Random], float],
    seed: int = 0,
    late: float = 0.0,
) -> Tally:
    """`number` campaigns of `size` candidates under the noise called `name`."""
    tally = Tally()
    for campaign in range(number):
        rng = random.Random(f"{seed} {name} {campaign}")
        lane = Lane(policy, source(name, campaign, rng), rng, late)
        keeps, false_before = 0, tally.false
        for index in range(1, size + 1):
            gain = ideas(rng)
            verdict = lane.judge(gain, decision.alpha(Risk(index, keeps), policy))
            keeps += verdict.status == Status.KEEP
            tally.count(gain, verdict)
        tally.campaigns += 1
        tally.false_shares += (tally.false - false_before) / max(1, keeps)
    return tally


def power(policy: Policy, name: str, effect: float, number: int, seed: int = 0, late: float = 0.0) -> Tally:
    """Trials of candidates better by `effect` (a share), each at the risk of a campaign's first, twenty to a calibration."""
    tally, alpha = Tally(), decision.alpha(Risk(1, 0), policy)
    for start in range(-(-number // 20)):
        rng = random.Random(f"{seed} {name} power {effect} {start}")
        lane = Lane(policy, source(name, start, rng), rng, late)
        for _ in range(20):
            gain = -math.log1p(-effect)
            tally.count(gain, lane.judge(gain, alpha))
    return tally
