"""Turns the solver's arrays into strategies for the slow implementation, and makes random ones."""

import numpy as np

from solver.cfr import Strategies
from solver.game import Floats, Player, leduc
from solver.response import realise
from tests.naive import Known, Strategy


def strategy(me: int, behaviour: Floats) -> Strategy:
    table: dict[Known, dict[str, float]] = {}
    for (known, action), sequence in leduc().players[me].names.items():
        table.setdefault((known.rank, *known.state), {})[action] = float(behaviour[sequence - 1])
    return table.__getitem__


def plans(behaviours: tuple[Floats, Floats]) -> Strategies:
    first, second = leduc().players
    return realise(first, behaviours[0]), realise(second, behaviours[1])


def behaviour_of(player: Player, plan: Floats) -> Floats:
    """The probabilities of a plan's choices; where the player never gets to, nan."""
    reach = plan[player.parent]
    found: Floats = np.divide(plan[1:], reach, out=np.full(len(reach), np.nan), where=reach > 0)
    return found


def random_behaviours(seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    first, second = leduc().players
    return _random(first, rng), _random(second, rng)


def _random(player: Player, rng: np.random.Generator) -> Floats:
    weights = rng.exponential(size=len(player.owner))
    chances: Floats = weights / np.bincount(player.owner, weights)[player.owner]
    return chances
