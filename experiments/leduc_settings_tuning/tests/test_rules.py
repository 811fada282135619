"""The rules, hand by hand."""

import unittest

from solver.rules import DECK, RANKS, State, actions, moves, payoff, states


class Betting(unittest.TestCase):
    def test_a_bet_can_be_folded_called_and_raised_until_there_were_two(self) -> None:
        offered = {line: actions(line) for line in ("", "c", "r", "cr", "rr", "crr")}
        self.assertEqual(offered, {"": "cr", "c": "cr", "r": "fcr", "cr": "fcr", "rr": "fc", "crr": "fc"})

    def test_the_first_round_ends_in_five_ways_with_and_four_without_a_public_card(self) -> None:
        self.assertEqual({state.first for state in states() if state.board == "J"}, {"cc", "rc", "crc", "rrc", "crrc"})
        self.assertEqual({state.first for state in states() if state.is_end and not state.board}, {"rf", "crf", "rrf", "crrf"})

    def test_player_0_opens_both_rounds(self) -> None:
        self.assertEqual(
            [State().actor, State("", "c").actor, State("K", "crc").actor, State("K", "crc", "r").actor], [0, 1, 0, 1]
        )

    def test_the_way_to_a_state_can_be_told_move_by_move(self) -> None:
        told = [(State(), "r"), (State("", "r"), "c"), (State("Q", "rc"), "c"), (State("Q", "rc", "c"), "r")]
        self.assertEqual(moves(State("Q", "rc", "cr")), told)


class Payoffs(unittest.TestCase):
    def test_what_player_0_wins(self) -> None:
        hands = {
            (("K", "J"), State("", "rf")): 1,  # player 1 gives up the ante
            (("K", "J"), State("", "crf")): -1,
            (("K", "J"), State("", "rrf")): -3,  # ante and a bet of 2
            (("J", "K"), State("", "crrf")): 3,
            (("K", "J"), State("Q", "cc", "cc")): 1,
            (("K", "J"), State("J", "cc", "cc")): -1,  # a pair beats a king
            (("Q", "K"), State("Q", "rc", "rc")): 7,  # 1 + 2 + 4
            (("Q", "K"), State("J", "rrc", "rrc")): -13,  # 1 + 4 + 8, the most there is
            (("Q", "Q"), State("K", "rrc", "crrc")): 0,
            (("K", "Q"), State("J", "crc", "rrf")): -7,  # 1 + 2 + 4 lost by folding to a raise
            (("J", "Q"), State("K", "rc", "rf")): 3,
        }
        self.assertEqual({hand: payoff(*hand) for hand in hands}, hands)

    def test_the_deck_has_two_of_each_rank(self) -> None:
        self.assertEqual(DECK, "".join(2 * rank for rank in RANKS))
