"""Counterfactual regret minimisation: vanilla, CFR+ and discounted, with a choice of averaging.

Vanilla: Zinkevich et al., "Regret minimization in games with incomplete information", NIPS 2007. CFR+: Tammelin, "Solving large
imperfect information games using CFR+", 2014. Discounted: Brown and Sandholm, "Solving imperfect-information games via discounted
regret minimization", AAAI 2019; its gamma is `averaging.power` here, with the weight (t - delay) ** power for iteration t.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from solver.game import Floats, Game, Player
from solver.response import gains, realise, uniform
from solver.settings import Settings

Strategies: TypeAlias = tuple[Floats, Floats]
"""One plan for each player."""
Rule: TypeAlias = Callable[[Floats, int, Settings], Floats]
"""The regrets to go on with, from the summed regrets after iteration t."""


def _discount(regrets: Floats, t: int, settings: Settings) -> Floats:
    gain, loss = float(t) ** settings.alpha, float(t) ** settings.beta
    kept: Floats = regrets * np.where(regrets > 0, gain / (gain + 1), loss / (loss + 1))
    return kept


RULES: dict[Literal["vanilla", "plus", "discounted"], Rule] = {
    "vanilla": lambda regrets, t, settings: regrets,
    "plus": lambda regrets, t, settings: np.maximum(regrets, 0),
    "discounted": _discount,
}
MOVERS: dict[Literal["simultaneous", "alternating"], tuple[tuple[int, ...], ...]] = {
    "simultaneous": ((0, 1),),
    "alternating": ((0,), (1,)),
}
"""Who learns at the same time; a later group already sees what an earlier one has learned in the same iteration."""


def solve(game: Game, settings: Settings, iterations: int) -> Strategies:
    """The weighted average of both players' strategies over so many iterations; equal arguments give equal bits.

    Raises ValueError when the delay leaves nothing to average.
    """
    if iterations <= settings.delay:
        raise ValueError(f"Expected more than {settings.delay} iterations (averaging.delay), found {iterations}.")
    behaviours = [uniform(player) for player in game.players]
    plans = [realise(player, behaviour) for player, behaviour in zip(game.players, behaviours, strict=True)]
    regrets = [np.zeros(len(player.owner)) for player in game.players]
    sums = [np.zeros(player.sequences) for player in game.players]
    for t in range(1, iterations + 1):
        weight = float(t - settings.delay) ** settings.power if t > settings.delay else 0.0
        for movers in MOVERS[settings.update]:
            for me in movers:
                sums[me] += weight * plans[me]
            earned = [(me, gains(game, me, plans[1 - me])) for me in movers]
            for me, gain in earned:
                regret = regrets[me] + _regret(game.players[me], behaviours[me], gain)
                regrets[me] = RULES[settings.algorithm](regret, t, settings)
                behaviours[me] = match(game.players[me], regrets[me])
                plans[me] = realise(game.players[me], behaviours[me])
    return sums[0] / sums[0][0], sums[1] / sums[1][0]


def match(player: Player, regrets: Floats) -> Floats:
    """Regret matching: each action in proportion to its positive regret, all alike where there is none."""
    positive = np.maximum(regrets, 0)
    total = np.add.reduceat(positive, player.starts)[player.owner]
    return np.divide(positive, total, out=uniform(player), where=total > 0)


def _regret(player: Player, behaviour: Floats, gain: Floats) -> Floats:
    """How much better each choice would have been than this behaviour, weighted by how often chance and the other lead to it."""
    worth, expected = gain.copy(), np.empty(len(player.sets))
    for level in reversed(player.levels):
        mixed = worth[level.sequences] * behaviour[level.choices]
        expected[level.sets] = np.add.reduceat(mixed, level.starts)
        worth += np.bincount(level.parents, expected[level.sets], len(worth))
    return worth[1:] - expected[player.owner]
