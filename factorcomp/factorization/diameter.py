"""The largest total variation between two rows of one cell, over many cells.

For two sets of rows, either pair by pair, or by `TV(p, q) = max_S p(S) - q(S)` over sets `S` of tokens: the largest
over all pairs is `max_S (max p(S) - min q(S))`. A cell is looked into only if the largest and smallest probabilities
of each token, `TV <= sum_y (max p(y) - min q(y))_+`, leave room for more than what is already found.
"""

import numpy as np
from jaxtyping import Float, Int

from factorcomp.models.rows import AbstractRows

Indices = Int[np.ndarray, " rows"]
Probabilities = Float[np.ndarray, "rows vocab"]
MOST_WORK = 1 << 31
"""Multiplications for one cell, beyond which only sets of one token, and all but one, are tried."""
_AT_ONCE = 1 << 22


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
    a, a_starts = _by_cell(rows, mine, my_cells)
    b, b_starts = _by_cell(other, theirs, their_cells)
    a_high, a_low = np.maximum.reduceat(a, a_starts), np.minimum.reduceat(a, a_starts)
    b_high, b_low = np.maximum.reduceat(b, b_starts), np.minimum.reduceat(b, b_starts)
    forth, back = np.maximum(a_high - b_low, 0.0).sum(axis=1), np.maximum(b_high - a_low, 0.0).sum(axis=1)
    room = np.minimum(1.0, np.minimum(forth, back))
    a_parts, b_parts = np.split(a, a_starts[1:]), np.split(b, b_starts[1:])
    at_least = False
    for cell in np.argsort(-room, kind="stable"):
        if room[cell] <= found:
            break
        distance, partial = _between(a_parts[cell], b_parts[cell])
        found, at_least = max(found, min(distance, 1.0)), at_least or partial
    return found, at_least


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


def _by_cell(rows: AbstractRows, indices: Indices, cells: Indices) -> tuple[Probabilities, Int[np.ndarray, " cells"]]:
    """The probabilities of the rows, sorted by cell, and where each cell starts."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    low = int(indices.min())
    logs = rows.log_probs(low, int(indices.max()) + 1)
    return np.exp(logs[indices[order] - low]), starts
