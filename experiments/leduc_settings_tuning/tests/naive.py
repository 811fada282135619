"""Leduc hold'em once more and slowly: six real cards, one hand at a time, plain recursion, and no line of the solver's.

A strategy is a function from what a player knows (rank, public rank, first line, second line) to the chance of each legal action.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import NamedTuple, TypeAlias

DEALS = tuple(permutations(range(6), 3))
"""Card 2r and 2r + 1 have rank r: player 0's, player 1's and the public card."""
Known: TypeAlias = tuple[str, str, str, str]
Strategy: TypeAlias = Callable[[Known], dict[str, float]]
Deal: TypeAlias = tuple[int, ...]


class Node(NamedTuple):
    """Where a hand stands; `winner` is None while it is played, 2 for a showdown, else the player whom the other's fold left."""

    lines: tuple[str, ...] = ("",)
    pot: tuple[int, int] = (1, 1)
    player: int = 0
    winner: int | None = None

    def legal(self) -> str:
        fold = "f" if self.pot[0] != self.pot[1] else ""
        return fold + ("c" if self.lines[-1].count("r") == 2 else "cr")

    def step(self, action: str) -> "Node":
        me, other = self.player, 1 - self.player
        lines = (*self.lines[:-1], self.lines[-1] + action)
        if action == "f":
            return Node(lines, self.pot, other, other)
        stake = self.pot[other] + (2 * len(lines) if action == "r" else 0)
        pot = (stake, self.pot[1]) if me == 0 else (self.pot[0], stake)
        if action == "r" or self.lines[-1] == "":
            return Node(lines, pot, other)
        return Node((*lines, ""), pot) if len(lines) == 1 else Node(lines, pot, other, 2)

    def known(self, deal: Deal) -> Known:
        board = "JQK"[deal[2] // 2] if len(self.lines) == 2 else ""
        return "JQK"[deal[self.player] // 2], board, self.lines[0], "".join(self.lines[1:])

    def won(self, deal: Deal) -> tuple[int, int]:
        """What each player takes home beyond the own stake."""
        mine, theirs, board = (card // 2 for card in deal)
        strength = (mine + 9 * (mine == board)) - (theirs + 9 * (theirs == board))
        if self.winner == 2 and strength == 0:
            return 0, 0
        first_wins = strength > 0 if self.winner == 2 else self.winner == 0
        return (self.pot[1], -self.pot[1]) if first_wins else (-self.pot[0], self.pot[0])


def expected(strategies: tuple[Strategy, Strategy], me: int) -> float:
    """What this player wins on average."""

    def worth(deal: Deal, node: Node) -> float:
        if node.winner is not None:
            return node.won(deal)[me]
        chances = strategies[node.player](node.known(deal))
        return sum(chance * worth(deal, node.step(action)) for action, chance in chances.items())

    return sum(worth(deal, Node()) for deal in DEALS) / len(DEALS)


def best_response(opponent: Strategy, me: int) -> float:
    """The most this player can win: what to do is settled set by set, the latest first, from the hands that lead there."""
    leads: defaultdict[Known, list[tuple[Deal, Node, float]]] = defaultdict(list)
    settled: dict[Known, str] = {}

    def visit(deal: Deal, node: Node, reach: float) -> None:
        if node.winner is None:
            if node.player == me:
                leads[node.known(deal)].append((deal, node, reach))
            chances = dict.fromkeys(node.legal(), 1.0) if node.player == me else opponent(node.known(deal))
            for action, chance in chances.items():
                visit(deal, node.step(action), reach * chance)

    def worth(deal: Deal, node: Node) -> float:
        if node.winner is not None:
            return node.won(deal)[me]
        if node.player == me:
            return worth(deal, node.step(settled[node.known(deal)]))
        return sum(chance * worth(deal, node.step(action)) for action, chance in opponent(node.known(deal)).items())

    for deal in DEALS:
        visit(deal, Node(), 1 / len(DEALS))
    for known in sorted(leads, key=lambda known: -len(known[2] + known[3])):
        hands = leads[known]
        totals = {
            action: sum(reach * worth(deal, node.step(action)) for deal, node, reach in hands) for action in hands[0][1].legal()
        }
        settled[known] = max(totals, key=totals.__getitem__)
    return sum(worth(deal, Node()) for deal in DEALS) / len(DEALS)


class Learner:
    """Counterfactual regret minimisation as the papers write it, hand by hand."""

    def __init__(
        self, after: Callable[[float, int], float], weight: Callable[[int], float], groups: Iterable[tuple[int, ...]]
    ) -> None:
        self.after, self.weight, self.groups = after, weight, tuple(groups)
        self.regrets: defaultdict[Known, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.sums: defaultdict[Known, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def run(self, iterations: int) -> None:
        for t in range(1, iterations + 1):
            for group in self.groups:
                self._learn(group, t)

    def _learn(self, group: tuple[int, ...], t: int) -> None:
        now: dict[Known, dict[str, float]] = {}
        gained: defaultdict[tuple[Known, str], float] = defaultdict(float)

        def visit(deal: Deal, node: Node, reach: tuple[float, float]) -> float:
            """What player 0 wins from here on."""
            if node.winner is not None:
                return node.won(deal)[0]
            me, known = node.player, node.known(deal)
            chances = now.setdefault(known, self._matched(known, node.legal()))
            worth = {
                action: visit(
                    deal, node.step(action), (reach[0] * chance, reach[1]) if me == 0 else (reach[0], reach[1] * chance)
                )
                for action, chance in chances.items()
            }
            mean = sum(chances[action] * worth[action] for action in chances)
            if me in group:
                sign = 1 if me == 0 else -1
                for action in chances:
                    gained[known, action] += sign * reach[1 - me] * (worth[action] - mean) / len(DEALS)
                    self.sums[known][action] += self.weight(t) * reach[me] * chances[action]
            return mean

        for deal in DEALS:
            visit(deal, Node(), (1.0, 1.0))
        for (known, action), gain in gained.items():
            self.regrets[known][action] = self.after(self.regrets[known][action] + gain, t)

    def _matched(self, known: Known, legal: str) -> dict[str, float]:
        positive = {action: max(self.regrets[known][action], 0.0) for action in legal}
        total = sum(positive.values())
        return {action: positive[action] / total if total > 0 else 1 / len(legal) for action in legal}

    def average(self, known: Known) -> dict[str, float]:
        total = sum(self.sums[known].values())
        return {action: weight / total for action, weight in self.sums[known].items()}
