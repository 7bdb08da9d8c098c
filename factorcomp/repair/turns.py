"""Whose turn it is: what an expert that has begun, or finished, still allows the others. Source: theory.md 11.5.

A state says which experts have finished and which one is active; a move goes to the state in which the next token is
drawn. On a path the active intervals of the experts are disjoint iff it follows such moves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

NOBODY = -1


@dataclass(frozen=True)
class Turns:
    """States with the expert that is active in each (or `NOBODY`) and the states that may come next; 0 comes first."""

    active: tuple[int, ...]
    following: tuple[tuple[int, ...], ...]

    @property
    def moves(self) -> int:
        """How many there are."""
        return sum(map(len, self.following))


def at_every_prefix(experts: int) -> Turns:
    """Nobody ever finishes: at most one expert deviates at a prefix (JF-pt)."""
    states = range(experts + 1)
    return Turns((*range(experts), NOBODY), (tuple(states),) * len(states))


def in_intervals(experts: int) -> Turns:
    """Each expert has one interval on a path (JF-int): `2^k + k 2^(k-1)` states.

    >>> in_intervals(1)
    Turns(active=(-1, 0, -1), following=((1, 0), (1, 2), (2,)))
    """
    everyone = range(experts)
    finished = [frozenset(some) for size in range(experts + 1) for some in combinations(everyone, size)]
    states = [(done, who) for done in finished for who in (NOBODY, *(i for i in everyone if i not in done))]
    place = {state: n for n, state in enumerate(states)}
    following = []
    for done, who in states:
        after = done if who == NOBODY else done | {who}
        moves = [(done, who)] if who != NOBODY else []
        moves += [(after, i) for i in everyone if i not in after]
        following.append(tuple(place[move] for move in [*moves, (after, NOBODY)]))
    return Turns(tuple(who for _, who in states), tuple(following))


def in_one_order(order: Sequence[int]) -> Turns:
    """The same where on every path the experts come in one order, some left out: `2 k + 1` states.

    >>> in_one_order([0])
    Turns(active=(-1, 0, -1), following=((1, 0), (1, 2), (2,)))
    """
    active = [NOBODY]
    for who in order:
        active += [who, NOBODY]
    following = []
    for n, who in enumerate(active):
        later = [m for m in range(n + 1, len(active)) if active[m] != NOBODY]
        following.append((n, *later, n + 1) if who != NOBODY else (*later, n))
    return Turns(tuple(active), tuple(following))
