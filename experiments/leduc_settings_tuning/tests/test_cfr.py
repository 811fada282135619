"""Learning: the same as hand by hand, and towards the known equilibrium."""

import unittest
from dataclasses import replace

import numpy as np

from solver.cfr import solve
from solver.game import leduc
from solver.response import best_response_value, exploitability, value
from solver.settings import Settings
from tests.naive import Learner
from tests.plans import behaviour_of

VANILLA = Settings("vanilla", "simultaneous", alpha=1.5, beta=-0.5, delay=0, power=0.0)
PLUS = Settings("plus", "alternating", alpha=1.5, beta=-0.5, delay=0, power=1.0)
DISCOUNTED = Settings("discounted", "alternating", alpha=1.5, beta=0.0, delay=0, power=2.0)
VALUE = -0.085606424078
"""What player 0 wins at equilibrium, in antes a hand (Lanctot et al., "A Unified Game-Theoretic Approach to Multiagent
Reinforcement Learning", 2017, appendix E.2)."""


def fading(regret: float, t: int) -> float:
    power: float = t**1.5 if regret > 0 else t**-0.5
    return regret * power / (power + 1)


SLOW = {"vanilla": lambda regret, t: regret, "plus": lambda regret, t: max(regret, 0.0), "discounted": fading}
TURNS = {"simultaneous": ((0, 1),), "alternating": ((0,), (1,))}


class HandByHand(unittest.TestCase):
    def check(self, settings: Settings) -> None:
        def weight(t: int) -> float:
            return float(t - settings.delay) ** settings.power if t > settings.delay else 0.0

        slow = Learner(SLOW[settings.algorithm], weight, TURNS[settings.update])
        slow.run(3)
        for player, plan in zip(leduc().players, solve(leduc(), settings, 3), strict=True):
            found = behaviour_of(player, plan)
            for (known, action), sequence in player.names.items():
                if not np.isnan(found[sequence - 1]):
                    self.assertAlmostEqual(found[sequence - 1], slow.average((known.rank, *known.state))[action], delta=1e-12)

    def test_vanilla_with_simultaneous_updates_and_a_plain_average(self) -> None:
        self.check(VANILLA)

    def test_plus_with_alternating_updates_and_a_delayed_linear_average(self) -> None:
        self.check(replace(PLUS, delay=1))

    def test_discounted_with_simultaneous_updates_and_a_quadratic_average(self) -> None:
        self.check(replace(DISCOUNTED, update="simultaneous", beta=-0.5))

    def test_discounted_with_alternating_updates_and_a_delayed_plain_average(self) -> None:
        self.check(replace(DISCOUNTED, beta=-0.5, delay=1, power=0.0))


class Equilibrium(unittest.TestCase):
    def test_cfr_plus_finds_the_value_of_the_game_in_1000_iterations(self) -> None:
        plans = solve(leduc(), PLUS, 1000)
        self.assertAlmostEqual(value(leduc(), plans), VALUE, delta=5e-5)
        self.assertLess(exploitability(leduc(), plans), 3e-4)
        lowest, highest = -best_response_value(leduc(), 1, plans[0]), best_response_value(leduc(), 0, plans[1])
        self.assertTrue(lowest <= VALUE <= highest, (lowest, highest))

    def test_every_algorithm_becomes_harder_to_exploit_with_each_doubling(self) -> None:
        for settings in (VANILLA, PLUS, DISCOUNTED):
            course = [exploitability(leduc(), solve(leduc(), settings, iterations)) for iterations in (25, 50, 100, 200, 400)]
            self.assertEqual(course, sorted(course, reverse=True), settings.algorithm)

    def test_the_later_algorithms_are_better_after_400_iterations(self) -> None:
        reached = [exploitability(leduc(), solve(leduc(), settings, 400)) for settings in (VANILLA, PLUS, DISCOUNTED)]
        self.assertTrue(reached[0] > 0.05 and reached[1] < 0.002 and reached[2] < 0.001, reached)


class Repeating(unittest.TestCase):
    def test_equal_settings_give_equal_bits(self) -> None:
        first, again = (solve(leduc(), DISCOUNTED, 20) for _ in range(2))
        self.assertEqual([plan.tobytes() for plan in first], [plan.tobytes() for plan in again])

    def test_a_delay_that_leaves_nothing_to_average_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, r"^Expected more than 20 iterations \(averaging\.delay\), found 20\.$"):
            solve(leduc(), replace(PLUS, delay=20), 20)
