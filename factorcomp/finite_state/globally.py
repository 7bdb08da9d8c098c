"""The sequence-level composition of one length on the states of a product. Source: theory.md 1.2, 1.5."""

import math
from dataclasses import dataclass

import numpy as np

from factorcomp.composition import graph
from factorcomp.finite_state.composed import Composed
from factorcomp.finite_state.lengths import first_path, following_states, states_after
from factorcomp.models.finite_state import NOWHERE
from factorcomp.models.rows import EPS

MOST_NUMBERS = 1 << 25
"""States times lengths whose numbers are kept, at most."""
EDGES = 1 << 24
"""So many edges are followed for a bound: fewer steps of larger products, or a coarser one."""
SETTLED = 1e-13
"""Nats: a change of shape below it is that of rounding."""


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

    `B(h) = sum_y w(y|h) B(hy)`, 1 at the end. Backwards from the end its shape settles: `log B` then changes by one
    number alone, and the spread over the tokens that can follow stays what it is. Bounds: the distance of the states
    after t tokens; `tanh(osc(S)/4)`.
    """
    values = _Backwards.of(composed, length)
    if values is None:
        reason = f"what follows at {len(composed.log_normalizer)} states does not settle soon enough"
        return Comparison(None, reason, 0.0, 1.0)
    rounding = float(np.where(composed.settled, 0.0, composed.error).max()) + SETTLED
    upper = math.tanh((_path_oscillation(composed, length) + 2 * length * rounding) / 4)
    first, unsettled = _first_difference(composed, values, length)
    if first is None and unsettled:
        return Comparison(None, "floating point cannot tell the difference from 0", 0.0, upper)
    return Comparison(first, None, min(_lower(composed, values, length), upper), upper)


@dataclass(frozen=True)
class _Backwards:
    """`log B` after `length - k` tokens is `logs[k]`; of smaller lengths the last one, up to a constant."""

    logs: list[np.ndarray]
    log_z: np.ndarray
    followed: np.ndarray
    support: np.ndarray
    step: np.ndarray

    @classmethod
    def of(cls, composed: Composed, length: int) -> "_Backwards | None":
        """Backwards until the shape settles; `None` where it does not before there are too many numbers."""
        log_z, support = composed.log_normalizer, composed.product.support
        step = np.where(support, composed.log_probs, -np.inf)
        found = cls([np.zeros(len(log_z))], log_z, composed.product.followed, support, step)
        while len(found.logs) <= length:
            if len(found.logs) * len(log_z) > MOST_NUMBERS:
                return None
            found.logs.append(log_z + _log_sum(step + found.child(len(found.logs) - 1)))
            change = found.logs[-1] - found.logs[-2]
            if change.max() - change.min() <= SETTLED:
                break
        return found

    def child(self, left: int) -> np.ndarray:
        """`log B` after one token more, `left` tokens before the end; -inf for a token that cannot follow."""
        following = self.logs[min(left, len(self.logs) - 1)][self.followed]
        return np.where(self.support, np.where(self.followed == NOWHERE, 0.0, following), -np.inf)

    def spread(self, left: int) -> np.ndarray:
        """Its range over the tokens that can follow."""
        child = self.child(left)
        return child.max(axis=1) - np.where(self.support, child, np.inf).min(axis=1)

    def rows(self, left: int) -> np.ndarray:
        """The log-probabilities of the sequence-level composition, `left` tokens before the end: `w B / sum w B`."""
        weights = self.step + self.child(left)
        return weights - _log_sum(weights)[:, None]


def _first_difference(composed: Composed, values: _Backwards, length: int) -> tuple[tuple[int, ...] | None, bool]:
    """The first prefix of which it is certain, and whether some were not decided."""
    followed, steady = values.followed, len(values.logs) - 1
    error = float(np.where(composed.settled, 0.0, composed.error).max(initial=0.0))

    def flags(left: int) -> tuple[np.ndarray, np.ndarray]:
        spread = values.spread(left)
        size = float(np.abs(values.logs[min(left, steady)]).max())
        tolerance = 4 * (min(left, steady) + 1) * (error + 8 * EPS * (1 + size)) + 8 * SETTLED
        certain = ~(spread <= tolerance)
        return certain, (spread > 0) & ~certain

    depth = graph.steps_from(graph.matrix(followed), np.zeros(1, dtype=np.int64))
    early = length - 1 - steady  # up to this length the last shape counts, and a state counts when it is first reached
    unsettled = False
    if early >= 0:
        certain, unsure = flags(steady)
        within = (depth >= 0) & (depth <= early)
        unsettled = bool((within & unsure).any())
        if (within & certain).any():
            t = int(depth[within & certain].min())
            return first_path(followed, certain & (depth == t), t), unsettled
    level = states_after(followed, max(early + 1, 0))
    for t in range(max(early + 1, 0), length):
        certain, unsure = flags(length - 1 - t)
        unsettled = unsettled or bool((level & unsure).any())
        if (level & certain).any():
            return first_path(followed, level & certain, t), unsettled
        level = following_states(followed, level)
    return None, unsettled


def _path_oscillation(composed: Composed, length: int) -> float:
    """`osc(S)`, S the sum of `log Z` along a path of `length` prefixes; or, where that takes long, a bound on it."""
    log_z, followed, support = composed.log_normalizer, composed.product.followed, composed.product.support
    if length * followed.size > 4 * EDGES:
        return length * float(np.ptp(log_z))
    unseen = support & (followed == NOWHERE)
    high, low = np.zeros(len(log_z)), np.zeros(len(log_z))
    for t in range(1, length + 1):
        more = log_z + np.where(support, np.where(unseen, 0.0, high[followed]), -np.inf).max(axis=1)
        less = log_z + np.where(support, np.where(unseen, 0.0, low[followed]), np.inf).min(axis=1)
        gains, losses = more - high, less - low
        high, low = more, less
        if np.ptp(gains) <= SETTLED and np.ptp(losses) <= SETTLED:  # from here on they grow by the same each time
            return max(0.0, float(high[0] - low[0] + (length - t) * (gains[0] - losses[0])))
        if high[0] - low[0] > 80:  # tanh(20) is 1 in floating point, and with what follows it only grows
            break
    return max(0.0, float(high[0] - low[0]))


def _lower(composed: Composed, values: _Backwards, length: int) -> float:
    """The largest distance of the states that both lead to after the same number of tokens."""
    local = np.zeros(len(values.log_z))
    local[0] = 1.0
    globally, lower = local, 0.0
    for t in range(min(length - 1, max(8, EDGES // (8 * values.followed.size)))):
        local = _advance(local, values.followed, values.step)
        globally = _advance(globally, values.followed, values.rows(length - 1 - t))
        lower = max(lower, 0.5 * float(np.abs(local - globally).sum()))
    return lower


def _advance(mass: np.ndarray, followed: np.ndarray, rows: np.ndarray) -> np.ndarray:
    possible = followed != NOWHERE
    return np.bincount(followed[possible], (mass[:, None] * np.exp(rows))[possible], minlength=len(mass))


def _log_sum(logs: np.ndarray) -> np.ndarray:
    top = logs.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(logs - safe[:, None]).sum(axis=1))
