"""Best responses and exploitability against published and independently derived values."""

import unittest

from solver.game import leduc
from solver.response import best_response_value, exploitability, uniform, value
from tests.naive import best_response
from tests.plans import plans, random_behaviours, strategy


class Uniform(unittest.TestCase):
    """OpenSpiel gives 4.747222... as NashConv of the uniform strategy in this game; exploitability is half of it."""

    def setUp(self) -> None:
        self.game = leduc()
        self.behaviours = uniform(self.game.players[0]), uniform(self.game.players[1])
        self.plans = plans(self.behaviours)

    def test_it_loses_five_sixty_fourths_of_an_ante_as_player_0(self) -> None:
        self.assertAlmostEqual(value(self.game, self.plans), -5 / 64, delta=1e-15)

    def test_its_exploitability_is_the_published_one(self) -> None:
        self.assertAlmostEqual(2 * exploitability(self.game, self.plans), 4.747222222222222, delta=1e-14)

    def test_its_exploitability_is_the_one_found_hand_by_hand(self) -> None:
        found = sum(best_response(strategy(1 - me, self.behaviours[1 - me]), me) for me in (0, 1)) / 2
        self.assertAlmostEqual(exploitability(self.game, self.plans), found, delta=1e-13)


class Random(unittest.TestCase):
    def test_best_responses_are_those_found_hand_by_hand_and_beat_what_is_played(self) -> None:
        game, behaviours = leduc(), random_behaviours(2)
        played = plans(behaviours)
        for me, won in ((0, value(game, played)), (1, -value(game, played))):
            best = best_response_value(game, me, played[1 - me])
            self.assertAlmostEqual(best, best_response(strategy(1 - me, behaviours[1 - me]), me), delta=1e-13)
            self.assertGreater(best, won)
