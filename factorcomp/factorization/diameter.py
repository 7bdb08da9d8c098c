"""The largest total variation between two rows of one cell, for many cells at once.

`TV(p, q) = max_S p(S) - q(S)` over sets `S` of tokens, so that the largest over pairs from two sets of rows is
`max_S (max p(S) - min q(S))`: a matrix product and two reductions, instead of a loop over pairs.
"""

import numpy as np
from jaxtyping import Float, Int

from factorcomp.models.rows import AbstractRows

Indices = Int[np.ndarray, " rows"]
LARGEST_VOCABULARY = 16
_SETS_AT_ONCE = 256


def largest_distance(
    rows: AbstractRows, mine: Indices, my_cells: Indices, other: AbstractRows, theirs: Indices, their_cells: Indices
) -> tuple[float, bool]:
    """The largest TV between a row of `mine` and one of `theirs` in the same cell; both hold the same cells.

    Beyond `LARGEST_VOCABULARY` tokens only sets of one token, or all but one, are tried: a lower bound, and True.
    """
    my_probs, my_starts = _by_cell(rows, mine, my_cells)
    their_probs, their_starts = _by_cell(other, theirs, their_cells)
    vocab = my_probs.shape[1]
    exact = vocab <= LARGEST_VOCABULARY
    sets = _half_of_the_sets(vocab) if exact else np.eye(vocab)
    largest = 0.0
    for start in range(0, sets.shape[1], _SETS_AT_ONCE):
        part = sets[:, start : start + _SETS_AT_ONCE]
        a, b = my_probs @ part, their_probs @ part
        highs, lows = (np.maximum.reduceat(a, my_starts), np.minimum.reduceat(a, my_starts))
        their_highs, their_lows = (np.maximum.reduceat(b, their_starts), np.minimum.reduceat(b, their_starts))
        largest = max(largest, float((highs - their_lows).max()), float((their_highs - lows).max()))
    return largest, not exact


def _half_of_the_sets(vocab: int) -> Float[np.ndarray, "vocab sets"]:
    """The indicators of the sets without the last token; the complement of a set gives the opposite difference."""
    numbers = np.arange(1 << (vocab - 1))
    return ((numbers[None, :] >> np.arange(vocab)[:, None]) & 1).astype(np.float64)


def _by_cell(
    rows: AbstractRows, indices: Indices, cells: Indices
) -> tuple[Float[np.ndarray, "rows vocab"], Indices]:
    """The probabilities of the rows, sorted by cell, and where each cell starts."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    low = int(indices.min())
    logs = rows.log_probs(low, int(indices.max()) + 1)
    return np.exp(logs[indices[order] - low]), starts
