"""Leduc hold'em as arrays: what each player can do as a tree of sequences, and what each pair of sequences pays.

Suits decide nothing, so a hand is a rank. A player's sequence is what this player has done so far and knew while doing it
(Koller, Megiddo and von Stengel, "Fast algorithms for finding randomized strategies in game trees", STOC 1994). Number 0 is
the empty one; sequence 1 + i ends with choice i. Two arrays describe a strategy: a behaviour holds the probability of each choice
in its information set, a plan the product of these probabilities along each sequence. What player 0 wins is then the sum over all
ends of `pays * plan0[rows] * plan1[columns]`.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solver.rules import DECK, RANKS, State, actions, moves, payoff, states

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]


class InfoSet(NamedTuple):
    """What a player to act knows: the own rank and what both see."""

    rank: str
    state: State


class Level(NamedTuple):
    """The information sets in which a player acts for the n-th time."""

    sets: slice
    choices: slice
    sequences: slice
    """The sequences that end with these choices."""
    starts: Indices
    """The first choice of each set, counted from the start of `choices`."""
    parents: Indices
    """The own sequence that leads to each set."""


@dataclass(frozen=True, slots=True)
class Player:
    """One player's tree; its information sets are in order of depth, the choices of a set next to each other."""

    sets: tuple[InfoSet, ...]
    levels: tuple[Level, ...]
    starts: Indices
    """The first choice of each set."""
    owner: Indices
    """The set of each choice."""
    parent: Indices
    """The own sequence before each choice."""
    names: dict[tuple[InfoSet, str], int]
    """The number of each sequence but the empty one, by the set and the action of its last choice."""

    @property
    def sequences(self) -> int:
        """How many sequences there are, the empty one included."""
        return 1 + len(self.owner)


@dataclass(frozen=True, slots=True)
class Game:
    """Two players and every way a hand can end, one entry each in the three arrays."""

    players: tuple[Player, Player]
    rows: Indices
    """Player 0's sequence."""
    columns: Indices
    """Player 1's sequence."""
    pays: Floats
    """What player 0 wins, in antes, times the probability of the cards."""


@cache
def leduc() -> Game:
    """The game; built once, in some ten milliseconds."""
    players = (_player(0), _player(1))
    ends = [(ranks, end) for end in states() if end.is_end for ranks in product(RANKS, RANKS) if deal(ranks, end.board) > 0]
    rows, columns = (
        np.array([_before(players[me].names, me, InfoSet(ranks[me], end)) for ranks, end in ends], np.intp) for me in (0, 1)
    )
    return Game(players, rows, columns, np.array([deal(ranks, end.board) * payoff(ranks, end) for ranks, end in ends]))


def deal(ranks: tuple[str, str], board: str) -> float:
    """The probability of these private ranks, and of this public rank unless it is ''."""
    left, probability = DECK, 1.0
    for rank in (*ranks, *board):
        probability *= left.count(rank) / len(left)
        left = left.replace(rank, "", 1)
    return probability


def _player(me: int) -> Player:
    decisions = sorted((state for state in states() if state.is_decision and state.actor == me), key=lambda at: _depth(me, at))
    sets = tuple(InfoSet(rank, state) for state in decisions for rank in RANKS)
    sequences = [(known, action) for known in sets for action in actions(known.state.line)]
    names = {sequence: number for number, sequence in enumerate(sequences, start=1)}
    owner = np.repeat(np.arange(len(sets)), [len(actions(known.state.line)) for known in sets])
    starts = np.searchsorted(owner, np.arange(len(sets)))
    before = np.array([_before(names, me, known) for known in sets], np.intp)
    depths = np.array([_depth(me, known.state) for known in sets])
    levels = tuple(_level(np.flatnonzero(depths == depth), owner, starts, before) for depth in range(depths.max() + 1))
    return Player(sets, levels, starts, owner, before[owner], names)


def _level(here: Indices, owner: Indices, starts: Indices, before: Indices) -> Level:
    """The sets numbered in `here`, which are neighbours."""
    sets = slice(int(here[0]), int(here[-1]) + 1)
    low, high = (int(edge) for edge in np.searchsorted(owner, (sets.start, sets.stop)))
    return Level(sets, slice(low, high), slice(low + 1, high + 1), starts[sets] - low, before[sets])


def _depth(me: int, state: State) -> int:
    """How often this player has acted before."""
    return sum(at.actor == me for at, _ in moves(state))


def _before(names: dict[tuple[InfoSet, str], int], me: int, known: InfoSet) -> int:
    """The number of this player's last sequence before this point."""
    own = [(InfoSet(known.rank, at), action) for at, action in moves(known.state) if at.actor == me]
    return names[own[-1]] if own else 0
