"""Factorized conditionals for every length. Source: theory.md, Theorems 2.3 and 7.5.

Two prefixes of one length that agree on a block lead to two states, twins: their rows must be equal at the positions of
the block. What twins ask of their successors is asked of every two states of the equivalence that twins generate too:
at the block's positions equal rows are transitive, and successors go through a common third; so instead of the pairs of
states a union of classes is followed, in nearly linear time (Hopcroft and Karp's algorithm for equivalence).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.bounds.oscillation import exceeds
from factorcomp.composition.search import Search
from factorcomp.finite_state.clocks import BACKGROUND, Clock, with_clock
from factorcomp.finite_state.laws import Law
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel

MOST_TWINS = 1_000_000
"""How many pairs of states are looked at for the first two prefixes that refute."""
C, B, I1, I2 = range(4)
"""The conditions of Theorem 2.3, in the order in which a reader looks for the first failure."""
Places = Int[np.ndarray, " states"]


def factorized(background: Law, base: FiniteStateModel, experts: Mapping[int, Law], clock: Clock) -> bool:
    """Whether the conditionals factorize at every length (Definition 2.1, by Theorem 7.5).

    `experts`: their laws beside the background `base`, by place; positions are theirs as the clock says.
    """
    searches = Clocked(clock)
    for law, block in _blocks(background, experts, clock):
        if not _same_on(law, *searches.within(law, block)):
            return False
    for i, law in experts.items():
        search, mine = searches.within(law, i)
        disagree, opened = _beside(law, base, search, mine)
        if disagree.any() or opened.any():
            return False
    return True


def failing_twins(
    background: Law, base: FiniteStateModel, experts: Mapping[int, Law], clock: Clock
) -> tuple[int, int, int, int, int] | None:
    """Where the conditionals fail first: the length of two prefixes, their indices, the condition, the expert.

    `None` where too many pairs would have to be looked at.
    """
    found, searches = [], Clocked(clock)
    for law, block in _blocks(background, experts, clock):
        search, inside = searches.within(law, block)
        if not _same_on(law, search, inside):
            twins = first_twins(law, search, inside)
            if twins is None:
                return None
            found.append((*twins, *((B, BACKGROUND) if law is background else (I1, block))))
    for i, law in experts.items():
        search, mine = searches.within(law, i)
        for rank, failing in zip((I2, C), _beside(law, base, search, mine), strict=True):
            if failing.any():
                place = int(failing.argmax())
                first = second = search.index(place)
                if rank == I2:
                    second = _first_beside(background, search.tokens(place), clock)
                found.append((int(search.depth[place]), first, second, rank, i))
    return min(found, default=None)


def _first_beside(background: Law, tokens: Sequence[int], clock: Clock) -> int:
    """The index of the first prefix of the background that agrees with these tokens on the block of what follows."""
    block, vocab = clock.owner(len(tokens)), background.following.shape[1]
    allowed = []
    for t, token in enumerate(tokens):
        forced = np.arange(vocab) == token if clock.owner(t) == block else np.ones(vocab, dtype=bool)
        allowed.append(np.where(forced, background.following, NOWHERE))
    ways = [np.ones(len(background.following), dtype=bool)]
    for following in reversed(allowed):
        ways.append(((following != NOWHERE) & ways[-1][following]).any(axis=1))
    state, index = 0, 0
    for following, way in zip(allowed, reversed(ways[:-1]), strict=True):
        after = following[state]
        token = int(((after != NOWHERE) & way[after]).argmax())
        state, index = int(after[token]), index * vocab + token
    return index


def _blocks(background: Law, experts: Mapping[int, Law], clock: Clock) -> Iterator[tuple[Law, int]]:
    """The laws and the blocks whose twins must have equal rows: (B) and (I1)."""
    yield from ((background, block) for block in sorted({*clock.owners, BACKGROUND}))
    yield from ((law, i) for i, law in experts.items())


def _beside(
    law: Law, base: FiniteStateModel, search: Search, mine: Bool[np.ndarray, " places"]
) -> tuple[Bool[np.ndarray, " places"], Bool[np.ndarray, " places"]]:
    """Where an expert's row is not the background's although the position is not its own (I2), and where it admits on
    its mask what the background excludes (c)."""
    state = search.members[0]
    there = law.background[state]
    silent = there == NOWHERE
    disagree = ~mine & silent
    asked = np.flatnonzero(~mine & ~silent)
    disagree[asked] = exceeds(law.rows, state[asked], base.rows, there[asked])
    possible = base.rows.support()[there] & ~silent[:, None]
    return disagree, mine & (law.support[state] & ~possible).any(axis=1)


class Twins(NamedTuple):
    """Two prefixes of one length that agree on a block and lead to different rows where its next position is theirs."""

    length: int
    first: int
    second: int


def first_twins(law: Law, search: Search, inside: Bool[np.ndarray, " places"]) -> Twins | None:
    """The shortest such prefixes, then the first by the first, then by the second; `None` among `MOST_TWINS` pairs.

    Of the prefixes that lead to a pair of places the first ones are kept: what can follow depends on the pair alone.
    """
    vocab, after = search.next.shape[1], search.next.tolist()
    level, seen, length = {(0, 0): (0, 0)}, {(0, 0)}, 0
    while level and len(seen) <= MOST_TWINS:
        pairs = list(level)
        one, other = np.array(pairs).T
        state = search.members[0]
        apart = inside[one] & exceeds(law.rows, state[one], law.rows, state[other])
        if apart.any():
            first, second = min(level[pair] for pair, differ in zip(pairs, apart.tolist(), strict=True) if differ)
            return Twins(length, first, second)
        following: dict[tuple[int, int], tuple[int, int]] = {}
        for (p, q), (h, g) in level.items():
            tokens = product(range(vocab), repeat=2) if not inside[p] else zip(range(vocab), range(vocab), strict=True)
            for y, z in tokens:
                pair = (after[p][y], after[q][z])
                if NOWHERE not in pair and pair not in seen:
                    prefixes = (h * vocab + y, g * vocab + z)
                    following[pair] = min(following.get(pair, prefixes), prefixes)
        seen |= following.keys()
        level, length = following, length + 1
    return None


class Clocked:
    """The states of laws together with the clock, each law searched once."""

    def __init__(self, clock: Clock):
        self._clock, self._owners = clock, np.array(clock.owners)
        self._searches: dict[int, Search] = {}

    def within(self, law: Law, owner: int) -> tuple[Search, Bool[np.ndarray, " places"]]:
        """The search of a law, and at which of its places the next position is the owner's."""
        search = self._searches.get(id(law)) or with_clock(law.following, self._clock)
        self._searches[id(law)] = search
        return search, np.asarray(self._owners == owner)[search.members[1]]


def _same_on(law: Law, search: Search, inside: Bool[np.ndarray, " places"]) -> bool:
    """Whether all twins have equal rows where the next position is inside the block."""
    classes = _classes(search.next, inside)
    places = np.flatnonzero(inside)
    state = search.members[0]
    mine, theirs = state[places], state[classes[places]]
    pairs = np.unique(np.stack([mine, theirs])[:, mine != theirs], axis=1)
    return not exceeds(law.rows, pairs[0], law.rows, pairs[1]).any()


def _classes(following: Int[np.ndarray, "places vocab"], inside: Bool[np.ndarray, " places"]) -> Places:
    """A member of the class of each place: the finest classes such that all that follows a place outside the block is
    in one class, and what follows two places of one class is in one class, inside the block by the same token."""
    parent = list(range(len(following)))
    after = following.tolist()
    inner = inside.tolist()
    merges: list[tuple[int, int]] = []

    def find(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for place, row in enumerate(after):
        if not inner[place]:
            led = [p for p in row if p != NOWHERE]
            merges += [(led[0], other) for other in led[1:]]
    while merges:
        one, other = map(find, merges.pop())
        if one == other:
            continue
        parent[other] = one
        mine, theirs = after[one], after[other]
        if inner[one]:
            for y, (p, q) in enumerate(zip(mine, theirs, strict=True)):
                if p != NOWHERE and q != NOWHERE:
                    merges.append((p, q))
                elif q != NOWHERE:
                    mine[y] = q
        else:
            led = [next((p for p in row if p != NOWHERE), NOWHERE) for row in (mine, theirs)]
            if NOWHERE not in led:
                merges.append((led[0], led[1]))
            elif led[0] == NOWHERE:
                after[one] = theirs
    return np.array([find(place) for place in range(len(following))])
