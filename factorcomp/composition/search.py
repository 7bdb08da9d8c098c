"""Breadth-first search through combinations of states: every one that prefixes lead to, with the first such prefix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.models import memory
from factorcomp.models.finite_state import NOWHERE

DENSE = 1 << 22
"""Up to so many possible combinations a table says which have been seen; beyond it a dictionary does."""

ROOM = 100_000
"""From so many combinations on it is asked whether twice as many fit into memory."""
BYTES = 100
"""What a number of a combination (a part, a token) takes until all is decided: about a dozen arrays."""
Members = Int[np.ndarray, "parts _"]
Expand = Callable[[Members], tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "parts _ vocab"]]]
"""From combinations to the tokens that lead on from each, and the combination after each token."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Search:
    """The combinations found, in the order of the first prefixes that lead to them.

    A prefix comes before another if it is shorter, or as long and earlier in vocabulary order.

    **Fields:** `members`: the parts of each. `next`: the place of the one after each token, `NOWHERE` where none is, or
    it was not looked at. `parent`, `token`: the last step of the first prefix. `depth`: its length.
    """

    members: Members
    next: Int[np.ndarray, "states vocab"]
    parent: Int[np.ndarray, " states"]
    token: Int[np.ndarray, " states"]
    depth: Int[np.ndarray, " states"]

    def __len__(self) -> int:
        return len(self.depth)

    def path(self, state: int) -> list[int]:
        """The places that the first prefix of `state` passes, `state` itself the last."""
        passed = [state]
        while self.depth[passed[-1]]:
            passed.append(int(self.parent[passed[-1]]))
        return passed[::-1]

    def tokens(self, state: int) -> tuple[int, ...]:
        """The first prefix that leads to `state`."""
        return tuple(int(self.token[place]) for place in self.path(state)[1:])

    def index(self, state: int) -> int:
        """The index of that prefix among those of its length, in vocabulary order."""
        vocab, index = self.next.shape[1], 0
        for token in self.tokens(state):
            index = index * vocab + token
        return index


def breadth_first(
    start: Sequence[int],
    sizes: Sequence[int],
    expand: Expand,
    *,
    depth: int | None = None,
    progress: Progress | None = None,
) -> Search:
    """All combinations that lead from `start` on.

    **Arguments:** `sizes`: part `j` is below `sizes[j]`, or `NOWHERE`. `depth`: the longest prefixes that are looked
    at; `None`: all. `progress`: called with the combinations looked at, and the number of those found.

    Raises `InputError` before more is looked at than fits into memory.
    """
    seen = _Seen(sizes)
    frontier = np.array(start, dtype=np.int64)[:, None]
    seen.add(frontier, 0)
    origin, token = np.full(1, NOWHERE), np.full(1, NOWHERE)
    levels: list[tuple[np.ndarray, ...]] = []
    first = length = 0
    asked = ROOM
    while count := frontier.shape[1]:
        leads, after = expand(frontier)
        if first + count > asked:
            asked = 2 * (first + count)
            needed = BYTES * asked * (len(sizes) + leads.shape[1])
            memory.require(needed, "the models", f"following {asked:,} combinations of their states")
        states, tokens = np.nonzero(leads)
        candidates = after[:, states, tokens]
        if length == depth:
            places, fresh = seen.places(candidates), np.zeros(0, dtype=np.int64)
        else:
            places, fresh = seen.add(candidates, first + count)
        following = np.full(leads.shape, NOWHERE)
        following[states, tokens] = places
        levels.append((frontier, following, origin, token, np.full(count, length)))
        frontier, origin, token = candidates[:, fresh], first + states[fresh], tokens[fresh]
        first, length = first + count, length + 1
        if progress is not None:
            progress(first, first + frontier.shape[1])
    members, *rest = zip(*levels, strict=True)
    return Search(np.concatenate(members, axis=1), *(np.concatenate(part) for part in rest))


class _Seen:
    """Combinations -> their places in the order found."""

    def __init__(self, sizes: Sequence[int]):
        self._radix = [size + 1 for size in sizes]
        space = 1
        for size in self._radix:
            space *= size
        self._fits = space < 2**62
        self._table = np.full(space, NOWHERE) if space <= DENSE else None
        self._dictionary: dict[object, int] = {}

    def _keys(self, members: Members) -> np.ndarray:
        if not self._fits:
            rows = np.ascontiguousarray(members.T.astype(np.int64))
            return rows.view(np.dtype((np.void, rows.shape[1] * 8))).reshape(-1)
        key = np.zeros(members.shape[1], dtype=np.int64)
        for part, size in zip(members, self._radix, strict=True):
            key = key * size + part + 1
        return key

    def places(self, members: Members) -> Int[np.ndarray, " _"]:
        """The places, `NOWHERE` for what has not been seen."""
        keys = self._keys(members)
        if self._table is not None:
            return self._table[keys]
        return np.array([self._dictionary.get(key, NOWHERE) for key in keys.tolist()], dtype=np.int64)

    def add(self, members: Members, start: int) -> tuple[Int[np.ndarray, " _"], Int[np.ndarray, " fresh"]]:
        """The places of all; what has not been seen is given those from `start` on, in the order of first occurrence.

        And where these first occurrences are.
        """
        places = self.places(members)
        unseen = np.flatnonzero(places == NOWHERE)
        keys, occurrence, which = np.unique(self._keys(members[:, unseen]), return_index=True, return_inverse=True)
        order = np.argsort(occurrence)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        places[unseen] = start + rank[which]
        if self._table is not None:
            self._table[keys] = start + rank
        else:
            self._dictionary.update(zip(keys.tolist(), (start + rank).tolist(), strict=True))
        return places, unseen[occurrence[order]]
