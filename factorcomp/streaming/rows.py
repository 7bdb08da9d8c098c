"""The rows of a block of prefixes: who differs from the background, and by how much; and probabilities.

Arrays are `[vocab, prefixes, lanes]`: the prefixes of all lengths below `lanes` heads, token by token, so that sums
over the vocabulary run along the lanes of the processor. Who deviates is decided exactly or not at all: rounding is
bounded, and what lies within the bound is left open.
"""

from typing import NamedTuple

from jaxtyping import Bool, Float, UInt32

from factorcomp.models.rows import EPS, Scale
from factorcomp.streaming.arrays import Array, as_bits, fold, namespace, settle
from factorcomp.streaming.plan import Plan

Values = Float[Array, "vocab prefixes lanes"]
AnyRows = Float[Array, "vocab *prefixes"]
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
    xp = namespace(values[0])
    base = values[0]
    smallest, size = _sizes(plan.scale, values)
    differs, deviates, opens, oscillations, undecided = [], [], [], [], xp.zeros((), dtype=bool)
    for i, rows in enumerate(values[1:]):
        unlike = fold(xp.logical_or, rows != base)
        value, opened = settle(_oscillation(plan, rows, base))
        value = xp.where(unlike, value, 0.0)
        weight = 1.0 if plan.weights is None else float(plan.weights[i])
        limit = float(plan.threshold) / weight
        finite = xp.where(xp.isinf(value), 0.0, value)
        error = 8 * EPS * (2 * size + finite + limit + 1)
        near = unlike & ~xp.isinf(value)
        undecided = undecided | (near & ~(value > error)).any()
        differs.append(value > 0)
        if plan.threshold:
            undecided = undecided | (near & ~(xp.abs(value - limit) > error)).any()
            deviates.append(value > limit)
        opens.append(opened)
        oscillations.append(weight * value)
    differing = as_bits(differs)
    return Compared(
        differing if given is None else given.differs,
        (as_bits(deviates) if plan.threshold else differing) if given is None else given.deviates,
        as_bits(opens),
        tuple(oscillations),
        undecided if given is None else xp.zeros_like(undecided),
        (size > LARGEST_LOG) | (smallest < SMALLEST),
        size,
    )


def _oscillation(plan: Plan, rows: Values, base: Values) -> tuple[Numbers, Flags]:
    """`max f - min f` of `f = log p/q`, inf where supports differ; and whether `p` opens a token."""
    xp = namespace(rows)
    logs = plan.scale != "probs"
    nothing = -xp.inf if logs else 0.0
    mine, theirs = rows > nothing, base > nothing
    both = mine & theirs
    f = xp.where(both, rows, 0.0) - xp.where(both, base, 0.0) if logs else rows / xp.where(theirs, base, 1.0)
    f = settle(f)
    shared = settle(fold(xp.logical_or, both))
    high = xp.where(shared, fold(xp.maximum, xp.where(both, f, nothing)), 1.0)
    low = xp.where(shared, fold(xp.minimum, xp.where(both, f, xp.inf)), 1.0)
    value = high - low if logs else xp.log(high / low)
    return xp.where(fold(xp.logical_or, mine != theirs), xp.inf, value), fold(xp.logical_or, mine & ~theirs)


def _sizes(scale: Scale, values: tuple[Values, ...]) -> tuple[Array, Array]:
    """The smallest positive probability and the largest log, of either sign: one of them, as the scale has it."""
    xp = namespace(values[0])
    if scale == "probs":
        return xp.stack([xp.where(rows > 0, rows, 1.0).min(axis=(0, 1)).min() for rows in values]).min(), xp.zeros(())
    sizes = [xp.where(rows > -xp.inf, xp.abs(rows), 0.0).max(axis=(0, 1)).max() for rows in values]
    return xp.ones(()), xp.stack(sizes).max()


def probabilities(scale: Scale, values: AnyRows) -> AnyRows:
    """Rows that sum to 1: the proportions of probabilities, or of the exponentials of logs; zeros are exact."""
    xp = namespace(values)
    if scale != "probs":
        values = xp.exp(values - settle(fold(xp.maximum, values)))
    values = settle(values)
    return settle(values * settle(1.0 / fold(xp.add, values)))


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


def tilted(base: AnyRows, own: AnyRows, weight: float) -> AnyRows:
    """`p^(λ) ∝ p_b (p/p_b)^λ` on the common support (theory.md 1.9)."""
    xp = namespace(base)
    common = (base > 0) & (own > 0)
    ratio = xp.where(common, own, 1.0) / xp.where(common, base, 1.0)
    product = xp.where(common, base * ratio**weight, 0.0)
    total = fold(xp.add, product)
    return product * xp.where(total > 0, 1.0 / xp.where(total > 0, total, 1.0), 0.0)
