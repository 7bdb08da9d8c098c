"""The largest total variation between two rows of one cell, over many cells.

For two sets of rows, either pair by pair, or by `TV(p, q) = max_S p(S) - q(S)` over sets `S` of tokens: the largest
over all pairs is `max_S (max p(S) - min q(S))`. A cell is looked into only if the largest and smallest probabilities
of each token, `TV <= sum_y (max p(y) - min q(y))_+`, leave room for more than what is already found.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from factorcomp.models.rows import AbstractRows, probabilities

Indices = Int[np.ndarray, " rows"]
Probabilities = Float[np.ndarray, "rows vocab"]
MOST_WORK = 1 << 31
"""Multiplications for one cell, beyond which only sets of one token, and all but one, are tried."""
_AT_ONCE = 1 << 22
"""Numbers held together, unless one cell or row has more."""


def largest_distance(
    rows: AbstractRows,
    mine: Indices,
    my_cells: Indices,
    other: AbstractRows,
    theirs: Int[np.ndarray, " others"],
    their_cells: Int[np.ndarray, " others"],
    found: float,
) -> tuple[float, bool]:
    """The largest TV between a row of `mine` and one of `theirs` in one cell, or `found` if that is larger.

    Both name the same cells. The flag says that the number is only a lower bound (very large cells).
    """
    a, b = _Side.sorted(rows, mine, my_cells), _Side.sorted(other, theirs, their_cells)
    room = np.concatenate([_room(a, b, first, last) for first, last in _batches(a.bounds + b.bounds, rows.shape[1])])
    at_least = False
    for cell in np.argsort(-room, kind="stable"):
        if room[cell] <= found:
            break
        distance, partial = _between(*(side.probabilities(int(cell), int(cell) + 1) for side in (a, b)))
        found, at_least = max(found, min(distance, 1.0)), at_least or partial
    return found, at_least


@dataclass(frozen=True)
class _Side:
    """Rows of one model, cell after cell: those of cell `c` are `indices[bounds[c]:bounds[c + 1]]`."""

    rows: AbstractRows
    indices: Indices
    bounds: Int[np.ndarray, "_"]

    @classmethod
    def sorted(cls, rows: AbstractRows, indices: Indices, cells: Indices) -> "_Side":
        order = np.argsort(cells, kind="stable")
        return cls(rows, indices[order], np.append(np.flatnonzero(np.diff(cells[order], prepend=-1)), len(indices)))

    def probabilities(self, first: int, last: int) -> Probabilities:
        """Those of the rows in the cells from `first` to before `last`."""
        return probabilities(self.rows, self.indices[self.bounds[first] : self.bounds[last]])

    def extremes(self, first: int, last: int) -> tuple[Probabilities, Probabilities]:
        """The largest and the smallest probability of each token in each of these cells."""
        rows, starts = self.probabilities(first, last), self.bounds[first:last] - self.bounds[first]
        return np.maximum.reduceat(rows, starts), np.minimum.reduceat(rows, starts)


def _batches(bounds: Int[np.ndarray, "_"], vocab: int) -> Iterator[tuple[int, int]]:
    """Consecutive cells with at most `_AT_ONCE` numbers between them, or single."""
    first, cells = 0, len(bounds) - 1
    while first < cells:
        reach = int(np.searchsorted(bounds, bounds[first] + _AT_ONCE // vocab, side="right")) - 1
        yield first, (last := max(first + 1, reach))
        first = last


def _room(a: _Side, b: _Side, first: int, last: int) -> Float[np.ndarray, " cells"]:
    """What the largest TV in each of these cells is at most."""
    (a_high, a_low), (b_high, b_low) = a.extremes(first, last), b.extremes(first, last)
    forth, back = np.maximum(a_high - b_low, 0.0).sum(axis=1), np.maximum(b_high - a_low, 0.0).sum(axis=1)
    return np.minimum(1.0, np.minimum(forth, back))


def _between(a: Probabilities, b: Float[np.ndarray, "others vocab"]) -> tuple[float, bool]:
    """The largest TV between a row of `a` and a row of `b`, the cheaper way; whether it is only a lower bound."""
    vocab = a.shape[1]
    by_pairs = len(a) * len(b) * vocab
    by_sets = (len(a) + len(b)) * vocab << (vocab - 1)
    if by_pairs <= min(by_sets, MOST_WORK):
        rows = max(1, _AT_ONCE // (len(b) * vocab))
        parts = (a[start : start + rows] for start in range(0, len(a), rows))
        return max(float(np.abs(part[:, None] - b[None]).sum(axis=2).max()) / 2 for part in parts), False
    exact = by_sets <= MOST_WORK * vocab
    sets = np.arange(1 << (vocab - 1)) if exact else 1 << np.arange(vocab)
    step = max(1, _AT_ONCE // (len(a) + len(b)))
    largest = 0.0
    for start in range(0, len(sets), step):
        indicator = (sets[None, start : start + step] >> np.arange(vocab)[:, None] & 1).astype(np.float64)
        of_a, of_b = a @ indicator, b @ indicator
        forth, back = of_a.max(axis=0) - of_b.min(axis=0), of_b.max(axis=0) - of_a.min(axis=0)
        largest = max(largest, float(forth.max()), float(back.max()))
    return largest, not exact
