"""The sequence-level composition of one length on the states of a product. Source: theory.md 1.2, 1.5."""

import math
from dataclasses import dataclass

import numpy as np

from factorcomp.finite_state.composed import Composed
from factorcomp.finite_state.lengths import first_path
from factorcomp.models.finite_state import NOWHERE
from factorcomp.models.rows import EPS

MOST_NUMBERS = 1 << 26
"""States times lengths whose numbers are kept, at most."""


@dataclass(frozen=True)
class Comparison:
    """Is the next token the same under both compositions, wherever the stepwise one goes?

    **Fields:** `tokens`: the first prefix after which it certainly is not. `unsettled`: why that is not known; `None`
    where it is. `lower`, `upper`: bounds on the total variation of the two laws.
    """

    tokens: tuple[int, ...] | None
    unsettled: str | None
    lower: float
    upper: float


def compare(composed: Composed, length: int) -> Comparison:
    """Theorem 1.5 (3): the two are one iff `B(hy)` is the same for all y that can follow, at every prefix h of R^.

    `B(h) = sum_y w(y|h) B(hy)`, 1 at the end. Bounds: the distance of the states after t tokens; `tanh(osc(S)/4)`.
    """
    followed, log_z, support = composed.product.followed, composed.log_normalizer, composed.product.support
    if len(log_z) * length > MOST_NUMBERS:
        return Comparison(None, f"{length} lengths of {len(log_z)} states are too many to follow backwards", 0.0, 1.0)
    unseen = support & (followed == NOWHERE)  # after the last token
    step = np.where(support, composed.log_probs, -np.inf)
    log_b = [np.zeros(len(log_z))]
    high, low = np.zeros(len(log_z)), np.zeros(len(log_z))
    for _ in range(length):
        log_b.append(log_z + _log_sum(step + np.where(unseen, 0.0, log_b[-1][followed])))
        high = log_z + np.where(support, np.where(unseen, 0.0, high[followed]), -np.inf).max(axis=1)
        low = log_z + np.where(support, np.where(unseen, 0.0, low[followed]), np.inf).min(axis=1)
    log_b.reverse()  # log_b[t]: after t tokens
    upper = math.tanh(max(0.0, float(high[0] - low[0])) / 4)
    error = np.where(composed.settled, 0.0, composed.error).max(initial=0.0)
    level = np.zeros(len(log_z), dtype=bool)
    level[0] = True
    unsettled, lower, local, globally = False, 0.0, level.astype(float), level.astype(float)
    first = None
    for t in range(length):
        child = np.where(support, np.where(unseen, 0.0, log_b[t + 1][followed]), -np.inf)
        spread = child.max(axis=1) - np.where(support, child, np.inf).min(axis=1)
        tolerance = 4 * (length - t) * (error + 8 * EPS * (1 + np.abs(log_b[t + 1]).max()))
        certain = level & ~(spread <= tolerance)
        unsettled = unsettled or bool((level & (spread > 0) & (spread <= tolerance)).any())
        if certain.any() and first is None:
            first = first_path(followed, certain, t)
        shift = child - log_b[t][:, None] + log_z[:, None]
        if t == length - 1:
            break
        local, globally = (_advance(mass, followed, rows) for mass, rows in ((local, step), (globally, step + shift)))
        lower = max(lower, 0.5 * float(np.abs(local - globally).sum()))
        following = followed[level]
        level = np.zeros(len(log_z), dtype=bool)
        level[following[following != NOWHERE]] = True
    if first is None and unsettled:
        return Comparison(None, "floating point cannot tell the difference from 0", 0.0, upper)
    return Comparison(first, None, min(lower, upper), upper)


def _advance(mass: np.ndarray, followed: np.ndarray, rows: np.ndarray) -> np.ndarray:
    possible = followed != NOWHERE
    return np.bincount(followed[possible], (mass[:, None] * np.exp(rows))[possible], minlength=len(mass))


def _log_sum(logs: np.ndarray) -> np.ndarray:
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - safe[:, None]).sum(axis=1))
