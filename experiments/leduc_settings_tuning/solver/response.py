"""What a plan is worth, and exactly how much a perfect opponent wins against it."""

import numpy as np

from solver.game import Floats, Game, Player


def realise(player: Player, behaviour: Floats) -> Floats:
    """The plan that plays like this behaviour."""
    plan = np.ones(player.sequences)
    plan[1:] = behaviour
    for level in player.levels:
        plan[level.sequences] *= plan[player.parent[level.choices]]
    return plan


def uniform(player: Player) -> Floats:
    """The behaviour that does everything it may with equal probability."""
    return 1.0 / np.bincount(player.owner)[player.owner]


def gains(game: Game, me: int, other_plan: Floats) -> Floats:
    """What each own sequence earns in the hands that end with it, in antes, against this plan of the other player."""
    mine, others, sign = (game.rows, game.columns, 1) if me == 0 else (game.columns, game.rows, -1)
    earned: Floats = np.bincount(mine, sign * game.pays * other_plan[others], game.players[me].sequences).astype(
        np.float64, copy=False
    )
    return earned


def value(game: Game, plans: tuple[Floats, Floats]) -> float:
    """What player 0 wins on average, in antes a hand."""
    return float(plans[0] @ gains(game, 0, plans[1]))


def best_response_value(game: Game, me: int, other_plan: Floats) -> float:
    """The most that this player can win on average against this plan, in antes a hand."""
    worth = gains(game, me, other_plan)
    for level in reversed(game.players[me].levels):
        best = np.maximum.reduceat(worth[level.sequences], level.starts)
        worth += np.bincount(level.parents, best, len(worth))
    return float(worth[0])


def exploitability(game: Game, plans: tuple[Floats, Floats]) -> float:
    """What a perfect opponent wins on average over both seats, in antes a hand (half of NashConv); 0 only at equilibrium."""
    return (best_response_value(game, 0, plans[1]) + best_response_value(game, 1, plans[0])) / 2
