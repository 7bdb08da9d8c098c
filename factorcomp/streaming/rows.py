"""The rows of a block of prefixes: who differs from the background, and by how much; and probabilities.

Arrays are `[vocab, prefixes, lanes]`: the prefixes of all lengths below `lanes` heads, token by token, so that sums
over the vocabulary run along the lanes of the processor. Who deviates is decided exactly or not at all: rounding is
bounded, and what lies within the bound is left open.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, UInt32

from factorcomp.models.rows import EPS, Scale
from factorcomp.streaming.arrays import Array, as_bits, fold
from factorcomp.streaming.plan import Plan

Values = Float[Array, "vocab prefixes lanes"]
LevelValues = Float[Array, "vocab _ lanes"]
Distributions = Float[Array, "vocab *prefixes"]
Flags = Bool[Array, "prefixes lanes"]
Bits = UInt32[Array, "prefixes lanes"]
Numbers = Float[Array, "prefixes lanes"]
SMALLEST = 1e-290
"""Positive probabilities from here up are kept as they are; smaller ones need logs."""
LARGEST_LOG = 300.0
"""Logs up to here have probabilities above `SMALLEST`, whatever they are normalised by."""


class Given(NamedTuple):
    """Who differs and who deviates, decided beforehand."""

    differs: Bits
    deviates: Bits


class Compared(NamedTuple):
    """The experts against the background.

    `opens`: experts that make a token possible which the background excludes. `oscillation`: of each expert's log-ratio
    where it differs, times its weight. `open`: somewhere rounding left open who deviates. `extreme`: somewhere a
    probability is too small for anything but logs. `size`: the largest log.
    """

    differs: Bits
    deviates: Bits
    opens: Bits
    oscillation: tuple[Numbers, ...]
    open: Bool[Array, ""]
    extreme: Bool[Array, ""]
    size: Float[Array, ""]


def compare(plan: Plan, values: tuple[Values, ...], given: Given | None = None) -> Compared:
    """Who deviates: the oscillation of `log p_i/p_b`, by rows, against 0 and the threshold (theory.md, 1.2)."""
    base = values[0]
    smallest, size = _sizes(plan.scale, values)
    differs, deviates, opens, oscillations, undecided = [], [], [], [], np.zeros((), dtype=bool)
    for i, rows in enumerate(values[1:]):
        unlike = fold(np.logical_or, rows != base)
        value, opened = _oscillation(plan, rows, base)
        value = np.where(unlike, value, 0.0)
        weight = 1.0 if plan.weights is None else float(plan.weights[i])
        limit = float(plan.threshold) / weight
        finite = np.where(np.isinf(value), 0.0, value)
        error = 8 * EPS * (2 * size + finite + limit + 1)
        near = unlike & ~np.isinf(value)
        undecided = undecided | (near & ~(value > error)).any()
        differs.append(value > 0)
        if plan.threshold:
            undecided = undecided | (near & ~(np.abs(value - limit) > error)).any()
            deviates.append(value > limit)
        opens.append(opened)
        oscillations.append(weight * value)
    differing = as_bits(differs)
    return Compared(
        differing if given is None else given.differs,
        (as_bits(deviates) if plan.threshold else differing) if given is None else given.deviates,
        as_bits(opens),
        tuple(oscillations),
        undecided if given is None else np.zeros_like(undecided),
        (size > LARGEST_LOG) | (smallest < SMALLEST),
        size,
    )


def _oscillation(plan: Plan, rows: Values, base: Values) -> tuple[Numbers, Flags]:
    """`max f - min f` of `f = log p/q`, inf where supports differ; and whether `p` opens a token."""
    logs = plan.scale != "probs"
    nothing = -np.inf if logs else 0.0
    mine, theirs = rows > nothing, base > nothing
    both = mine & theirs
    f = np.where(both, rows, 0.0) - np.where(both, base, 0.0) if logs else rows / np.where(theirs, base, 1.0)
    shared = fold(np.logical_or, both)
    high = np.where(shared, fold(np.maximum, np.where(both, f, nothing)), 1.0)
    low = np.where(shared, fold(np.minimum, np.where(both, f, np.inf)), 1.0)
    value = high - low if logs else _log_ratio(high, low)
    return np.where(fold(np.logical_or, mine != theirs), np.inf, value), fold(np.logical_or, mine & ~theirs)


def _log_ratio(high: Numbers, low: Numbers) -> Numbers:
    """`log high/low`, as exactly as that is near 0; also where the quotient is beyond float64."""
    with np.errstate(over="ignore"):
        ratio = high / low
    return np.where(np.isinf(ratio), np.log(high) - np.log(low), np.log(ratio))


def _sizes(scale: Scale, values: tuple[Values, ...]) -> tuple[Array, Array]:
    """The smallest positive probability and the largest log, of either sign: one of them, as the scale has it."""
    if scale == "probs":
        return np.stack([np.where(rows > 0, rows, 1.0).min(axis=(0, 1)).min() for rows in values]).min(), np.zeros(())
    sizes = [np.where(rows > -np.inf, np.abs(rows), 0.0).max(axis=(0, 1)).max() for rows in values]
    return np.ones(()), np.stack(sizes).max()


def probabilities(scale: Scale, values: Distributions) -> Distributions:
    """Rows that sum to 1: the proportions of probabilities, or of the exponentials of logs; zeros are exact."""
    if scale != "probs":
        values = np.exp(values - fold(np.maximum, values))
    return values / fold(np.add, values)


def components(plan: Plan, values: tuple[Values, ...]) -> tuple[Values, ...]:
    """The probabilities of the background and of the (tilted) experts."""
    base, *own = (probabilities(plan.scale, rows) for rows in values)
    if plan.weights is not None:
        own = [p if w == 1 else tilted(base, p, float(w)) for p, w in zip(own, plan.weights, strict=True)]
    return base, *own


def relative_error(plan: Plan, size: Float[Array, ""]) -> Float[Array, ""]:
    """Bounds the relative rounding error of a component's probability."""
    error = EPS * (plan.vocab + 8 + 4 * size)
    if plan.weights is None:
        return error
    heavy = max(float(weight) for weight in plan.weights)
    return error * (1 + 8 * sum(1 + 2 * float(w) for w in plan.weights)) + EPS * 8 * LARGEST_LOG * heavy


def tilted(base: Distributions, own: Distributions, weight: float) -> Distributions:
    """`p^(λ) ∝ p_b (p/p_b)^λ` on the common support (theory.md 1.9)."""
    common = (base > 0) & (own > 0)
    ratio = np.where(common, own, 1.0) / np.where(common, base, 1.0)
    product = np.where(common, base * ratio**weight, 0.0)
    total = fold(np.add, product)
    return product * np.where(total > 0, 1.0 / np.where(total > 0, total, 1.0), 0.0)
