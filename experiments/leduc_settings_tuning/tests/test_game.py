"""The arrays against the rules and against the slow implementation."""

import unittest
from itertools import product

import numpy as np

from solver.game import deal, leduc
from solver.response import gains, value
from solver.rules import RANKS
from tests.naive import expected
from tests.plans import plans, random_behaviours, strategy


class Size(unittest.TestCase):
    def test_there_are_288_information_sets_when_suits_do_not_count(self) -> None:
        """6 places to act in a round; 3 hands in the first, and 5 lines to 3 public cards with 3 hands in the second."""
        self.assertEqual([len(player.sets) for player in leduc().players], [144, 144])
        self.assertEqual(6 * 3 + 5 * 3 * 6 * 3, 288)

    def test_there_are_936_when_suits_count(self) -> None:
        ways = [2 if known.state.board in ("", known.rank) else 4 for player in leduc().players for known in player.sets]
        self.assertEqual(sum(ways), 936)

    def test_nobody_acts_more_than_four_times(self) -> None:
        self.assertEqual([len(player.levels) for player in leduc().players], [4, 4])


class Chance(unittest.TestCase):
    def test_the_probabilities_of_private_cards_sum_to_1(self) -> None:
        self.assertAlmostEqual(sum(deal(ranks, "") for ranks in product(RANKS, RANKS)), 1, delta=1e-15)

    def test_the_probabilities_of_all_cards_sum_to_1(self) -> None:
        self.assertAlmostEqual(sum(deal((a, b), board) for a, b, board in product(RANKS, RANKS, RANKS)), 1, delta=1e-15)

    def test_two_cards_of_a_rank_leave_none_for_the_board(self) -> None:
        self.assertEqual([deal(("J", "J"), "J"), deal(("J", "J"), "Q"), deal(("J", "Q"), "J")], [0.0, 1 / 30, 1 / 30])


class Values(unittest.TestCase):
    def setUp(self) -> None:
        self.game, self.behaviours = leduc(), random_behaviours(1)
        self.plans = plans(self.behaviours)

    def test_random_strategies_are_worth_what_they_win_hand_by_hand(self) -> None:
        slow = strategy(0, self.behaviours[0]), strategy(1, self.behaviours[1])
        self.assertAlmostEqual(value(self.game, self.plans), expected(slow, 0), delta=1e-13)
        self.assertAlmostEqual(-value(self.game, self.plans), expected(slow, 1), delta=1e-13)

    def test_what_one_player_wins_the_other_loses(self) -> None:
        won = [float(self.plans[me] @ gains(self.game, me, self.plans[1 - me])) for me in (0, 1)]
        self.assertAlmostEqual(sum(won), 0, delta=1e-14)
        self.assertGreater(abs(won[0]), 0.01)

    def test_a_plan_shares_out_at_each_set_what_leads_to_it(self) -> None:
        for player, plan in zip(self.game.players, self.plans, strict=True):
            shared = np.bincount(player.owner, plan[1:])
            np.testing.assert_allclose(shared, plan[player.parent[player.starts]], rtol=0, atol=1e-15)
