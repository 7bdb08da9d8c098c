"""Tables of floating-point numbers: every row checked, every problem told; nothing is changed.

Floats define a distribution by their proportions, logs up to a constant (interface.md, "Exactness"), so that a row that
sums to 1 within 1e-6 is kept as it is; where more than rounding is missing, a note says so.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from factorcomp.models.notes import rounding
from factorcomp.models.rows import Scale
from factorcomp.models.vocabulary import NOT_THE_EOS_ROW

TOLERANCE = 1e-6
BLOCK = 2**20
"""Numbers looked at together: bounds the memory of the check."""

Report = Callable[[int, int | None, str], None]
"""Told of each problem: its row, its token (`None`: the whole row), the message."""


def check_rows(
    values: Float[np.ndarray, "prefixes vocab"],
    scale: Scale,
    eos: int | None,
    ended: Bool[np.ndarray, " prefixes"],
    report: Report,
) -> tuple[int, float]:
    """How many rows sum to 1 within 1e-6 but not within rounding (`notes.rounding`), and the largest difference.

    **Arguments:** `eos`, `ended`: the index of EOS, and the rows whose prefix has ended. `report`: told of problems.
    """
    vocab, epsilon = values.shape[1], float(np.finfo(values.dtype).eps)
    count, largest = 0, 0.0
    for start in range(0, len(values), max(1, BLOCK // vocab)):
        block = values[start : start + max(1, BLOCK // vocab)].astype(np.float64)
        here = ended[start : start + len(block)]
        off = _check_block(
            block, scale, eos, here, lambda row, token, message, at=start: report(at + row, token, message)
        )
        noted = (off <= TOLERANCE) & (off > rounding(vocab, epsilon))
        count += int(noted.sum())
        largest = max(largest, float(off.max(initial=0.0, where=noted)))
    return count, largest


def _check_block(
    block: Float[np.ndarray, "rows vocab"],
    scale: Scale,
    eos: int | None,
    ended: Bool[np.ndarray, " rows"],
    report: Report,
) -> Float[np.ndarray, " rows"]:
    """Reports the problems of some rows, row by row; returns how far from 1 they sum (0 for logits)."""
    nothing = 0.0 if scale == "probs" else -np.inf
    bad = np.isnan(block) | (block == np.inf) | ((block < 0) if scale == "probs" else False)
    usable = ~bad.any(1)
    empty = usable & (block == nothing).all(1)
    with np.errstate(over="ignore", invalid="ignore"):
        total = (block if scale == "probs" else np.exp(block)).sum(1)
        off = np.zeros(len(block)) if scale == "logits" else np.abs(total - 1)
    wrong_sum = usable & ~empty & ~(off <= TOLERANCE)
    possible = block != nothing
    wrong_end = usable & ended & (possible != (np.arange(block.shape[1]) == eos)).any(1)
    for row in np.flatnonzero(bad.any(1) | empty | wrong_sum | wrong_end):
        for token in np.flatnonzero(bad[row]):
            report(int(row), int(token), f"found {_shown(block[row, token])}; needed {_NEEDED[scale]}")
        if empty[row]:
            report(int(row), None, f"found {nothing:g} for every token; needed a token that is possible")
        if wrong_sum[row]:
            name = "probabilities sum" if scale == "probs" else "exponentials sum"
            hint = "" if scale == "probs" else "; logits need log_softmax first (or, in a file, values = logits)"
            report(int(row), None, f"{name} to {total[row]:.9g}; needed 1 within 1e-6{hint}")
        if wrong_end[row] and not empty[row]:
            report(int(row), None, NOT_THE_EOS_ROW)
    return np.where(usable, off, 0.0)


_NEEDED = {
    "probs": "a probability: finite and not negative",
    "log_probs": "a finite number or -inf",
    "logits": "a finite number or -inf",
}


def _shown(value: float) -> str:
    return "NaN" if np.isnan(value) else f"{value:g}"
