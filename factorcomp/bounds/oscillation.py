"""Do two rows differ by more than a threshold? Decided exactly on the numbers given (interface.md, "Exactness").

The oscillation of the log-ratio of rows `p`, `q` is `max_y f - min_y f` with `f = log p/q`, and infinite where their
supports differ. A float with a bound on its error decides most pairs of rows; the few that it leaves open are decided
on rationals: `f(y) - f(z) > X` is `log A > c` with rational `A`, `c`, and where neither is trivial the two sides are
never equal (Lindemann: the log of a rational other than 1 is irrational), so that more digits always decide.
"""

import decimal
import math
from fractions import Fraction
from itertools import permutations

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.models.rows import EPS, AbstractRows, ExactRow, FloatRows, RationalRows, gather

_CHUNK = 1 << 16


def log_exceeds(factor: Fraction, bound: Fraction) -> bool:
    """Whether `log(factor) > bound`, for `factor > 0`."""
    if bound == 0:
        return factor > 1
    precision = 30
    while True:
        context = decimal.Context(prec=precision, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
        top, bottom = (context.ln(decimal.Decimal(n)) for n in (factor.numerator, factor.denominator))
        limit = context.divide(decimal.Decimal(bound.numerator), decimal.Decimal(bound.denominator))
        gap = context.subtract(context.subtract(top, bottom), limit)
        error = context.scaleb(max(abs(top), abs(bottom), abs(limit)), 2 - precision)
        if abs(gap) > 4 * error:
            return gap > 0
        precision *= 2


def row_exceeds(row: ExactRow, other: ExactRow, threshold: Fraction) -> bool:
    """Whether the oscillation of the log-ratio of two exact rows exceeds `threshold`."""
    tokens = [y for y, factor in enumerate(row.factors) if factor]
    if tokens != [y for y, factor in enumerate(other.factors) if factor]:
        return True
    root = math.lcm(row.root, other.root)
    factors = [row.factors[y] ** (root // row.root) / other.factors[y] ** (root // other.root) for y in tokens]
    shifts = [row.shifts[y] - other.shifts[y] for y in tokens]
    if len(set(factors)) <= 1:
        return max(shifts, default=Fraction(0)) - min(shifts, default=Fraction(0)) > threshold
    if len(set(shifts)) == 1:
        return log_exceeds(max(factors) / min(factors), root * threshold)
    pairs = permutations(zip(factors, shifts, strict=True), 2)
    return any(log_exceeds(f / g, root * (threshold - s + t)) for (f, s), (g, t) in pairs)


def oscillation(
    mine: Float[np.ndarray, "prefixes vocab"], theirs: Float[np.ndarray, "prefixes vocab"]
) -> Float[np.ndarray, " prefixes"]:
    """`max f - min f` of `f = log p/q` by rows; inf where supports differ, 0 for rows without support."""
    support = mine > -np.inf
    with np.errstate(invalid="ignore"):
        ratio = mine - theirs
    high = np.where(support, ratio, -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(support, ratio, np.inf).min(axis=1, initial=np.inf)
    same_support = (support == (theirs > -np.inf)).all(axis=1)
    value = np.full(len(mine), np.inf)
    np.subtract(high, low, out=value, where=same_support & support.any(axis=1))
    return np.where(support.any(axis=1) | ~same_support, value, 0.0)


def exceeds(
    rows: AbstractRows,
    mine: Int[np.ndarray, " pairs"],
    other: AbstractRows,
    theirs: Int[np.ndarray, " pairs"],
    threshold: Fraction = Fraction(0),
) -> Bool[np.ndarray, " pairs"]:
    """Whether row `mine[n]` of `rows` and row `theirs[n]` of `other` oscillate by more than `threshold` (in nats).

    Exact for rows of every kind. With threshold 0: whether the two distributions differ.
    """
    answer = np.zeros(len(mine), dtype=bool)
    for start in range(0, len(mine), _CHUNK):
        part = slice(start, start + _CHUNK)
        answer[part] = _exceeds(rows, mine[part], other, theirs[part], threshold)
    return answer


def _exceeds(
    rows: AbstractRows,
    mine: Int[np.ndarray, " pairs"],
    other: AbstractRows,
    theirs: Int[np.ndarray, " pairs"],
    threshold: Fraction,
) -> Bool[np.ndarray, " pairs"]:
    answer = ~rows.identical(mine, other, theirs)
    if threshold == 0 and isinstance(rows, RationalRows) and isinstance(other, RationalRows):
        return answer
    open_pairs = np.flatnonzero(answer)
    if threshold == 0 and isinstance(rows, FloatRows) and isinstance(other, FloatRows) and rows.is_like(other):
        a, b = (r.values[i[open_pairs]].astype(np.float64) for r, i in ((rows, mine), (other, theirs)))
        are_one, bounds = (_are_proportional, _PRODUCTS) if rows.scale == "probs" else (_differ_by_a_constant, _SUMS)
        safe = _within(bounds, a) & _within(bounds, b)
        answer[open_pairs[safe]] = ~are_one(a[safe], b[safe])
        open_pairs = open_pairs[~safe]
    (a, error_a), (b, error_b) = gather(rows, mine[open_pairs]), gather(other, theirs[open_pairs])
    value, limit = oscillation(a, b), float(threshold)
    error = 2 * (error_a + error_b) + 8 * EPS * (np.where(np.isinf(value), 0.0, value) + limit)
    gap = value - limit
    decided = np.isinf(value) | (np.abs(gap) > error)
    answer[open_pairs] = gap > 0
    still_open = open_pairs[~decided]
    for pair in still_open:
        answer[pair] = row_exceeds(rows.exact(int(mine[pair])), other.exact(int(theirs[pair])), threshold)
    return answer


_SUMS = (0.0, 1e300)
_PRODUCTS = (1e-140, 1e140)
"""Where sums, and products with their errors, neither overflow nor fall below the least float (2^-968 for an error)."""


def _within(bounds: tuple[float, float], values: Float[np.ndarray, "pairs vocab"]) -> Bool[np.ndarray, " pairs"]:
    """Whether the numbers of a row other than 0 and -inf lie within bounds, by size."""
    sizes = np.abs(values)
    return ((values == -np.inf) | (values == 0) | ((sizes >= bounds[0]) & (sizes <= bounds[1]))).all(axis=1)


def _are_proportional(
    a: Float[np.ndarray, "pairs vocab"], b: Float[np.ndarray, "pairs vocab"]
) -> Bool[np.ndarray, " pairs"]:
    """Whether `a(y) b(z) = b(y) a(z)` for all y, with z where a is largest: both products, then both their errors."""
    top = a.argmax(axis=1)[:, None]
    a_top, b_top = np.take_along_axis(a, top, 1), np.take_along_axis(b, top, 1)
    with np.errstate(over="ignore", under="ignore"):
        answer = ((a * b_top == b * a_top) & ((a > 0) == (b > 0))).all(axis=1)
        a, b, a_top, b_top = a[answer], b[answer], a_top[answer], b_top[answer]
        answer[answer] = (_product_error(a, b_top) == _product_error(b, a_top)).all(axis=1)
    return answer


def _product_error(
    a: Float[np.ndarray, "pairs vocab"], b: Float[np.ndarray, "pairs 1"]
) -> Float[np.ndarray, "pairs vocab"]:
    """What the rounded product misses of `a b`, itself a float (Dekker; Veltkamp's halves of 26 bits)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return ((a_high * b_high - a * b) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(values: Float[np.ndarray, "pairs _"]) -> tuple[Float[np.ndarray, "pairs _"], Float[np.ndarray, "pairs _"]]:
    shifted = (2.0**27 + 1) * values
    high = shifted - (shifted - values)
    return high, values - high


def _differ_by_a_constant(
    a: Float[np.ndarray, "pairs vocab"], b: Float[np.ndarray, "pairs vocab"]
) -> Bool[np.ndarray, " pairs"]:
    """Whether `a - b` is exactly constant on a common support, by the error-free transformation TwoSum (Knuth).

    `a - b = d + e` with `d` the rounded difference and `e` its error, both floats: the pair is unique, so the exact
    differences are equal iff the pairs are; unless one overflows.
    """
    support = a > -np.inf
    with np.errstate(invalid="ignore", over="ignore"):
        d = a - b
        back = d - a
        e = (a - (d - back)) + (-b - back)
    first = support.argmax(1)[:, None]
    d0, e0 = np.take_along_axis(d, first, 1), np.take_along_axis(e, first, 1)
    return ((support == (b > -np.inf)) & (~support | ((d == d0) & (e == e0)))).all(1)
