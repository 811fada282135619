"""The rules of Leduc hold'em: who may do what, and what it pays.

Six cards (J, Q, K in two suits), one private card each, one public card after the first betting round. Ante 1; a raise is 2 in
the first round and 4 in the second; at most two raises a round. Player 0 opens both rounds. A pair with the public card wins,
else the higher rank; equal ranks split. (Southey et al., "Bayes' Bluff: Opponent Modelling in Poker", UAI 2005.)

A betting line is a string of f (fold), c (check or call) and r (bet or raise), one round long.
"""

from collections.abc import Iterator
from typing import NamedTuple

RANKS = "JQK"
DECK = "JJQQKK"
ANTE = 1
RAISE = (2, 4)
MAX_RAISES = 2


def actions(line: str) -> str:
    """What the player to act may do after this line, in the order fold, call, raise."""
    return ("f" if line.endswith("r") else "") + "c" + ("r" if line.count("r") < MAX_RAISES else "")


def is_over(line: str) -> bool:
    """Whether the round has ended: by a fold, a call, or two checks."""
    return line.endswith(("f", "rc")) or line == "cc"


class State(NamedTuple):
    """What both players see: the public rank ('' in the first round) and the betting of both rounds."""

    board: str = ""
    first: str = ""
    second: str = ""

    @property
    def line(self) -> str:
        """The betting of the round under way."""
        return self.second if self.board else self.first

    @property
    def actor(self) -> int:
        return len(self.line) % 2

    @property
    def is_end(self) -> bool:
        return self.line.endswith("f") or (bool(self.board) and is_over(self.line))

    @property
    def is_decision(self) -> bool:
        return not is_over(self.line)

    def after(self, action: str) -> "State":
        return self._replace(second=self.second + action) if self.board else self._replace(first=self.first + action)


START = State()


def states(state: State = START) -> Iterator[State]:
    """This state and all that can follow, each after what leads to it."""
    yield state
    if state.is_decision:
        following = [state.after(action) for action in actions(state.line)]
    else:
        following = [] if state.is_end else [state._replace(board=board) for board in RANKS]
    for one in following:
        yield from states(one)


def moves(state: State) -> list[tuple[State, str]]:
    """The decisions that led here, each with what was done."""
    early = [(State("", state.first[:n]), action) for n, action in enumerate(state.first)]
    return early + [(State(state.board, state.first, state.second[:n]), action) for n, action in enumerate(state.second)]


def payoff(ranks: tuple[str, str], end: State) -> int:
    """What player 0 wins, in antes, where the hand is over."""
    early, late = _paid(end.first, RAISE[0]), _paid(end.second, RAISE[1])
    stakes = (ANTE + early[0] + late[0], ANTE + early[1] + late[1])
    if end.line.endswith("f"):
        return stakes[1] if end.actor == 0 else -stakes[0]
    return _winner(ranks, end.board) * stakes[0]


def _paid(line: str, size: int) -> tuple[int, int]:
    """What each player has put in during one round with raises of this size."""
    stake = [0, 0]
    for turn, action in enumerate(line):
        me, other = turn % 2, 1 - turn % 2
        if action != "f":
            stake[me] = stake[other] + (size if action == "r" else 0)
    return stake[0], stake[1]


def _winner(ranks: tuple[str, str], board: str) -> int:
    """1 if player 0 has the better hand, -1 if player 1 has, 0 for a split pot."""
    mine, theirs = ((rank == board, RANKS.index(rank)) for rank in ranks)
    return (mine > theirs) - (mine < theirs)
