"""Probabilities of many cells at once: fractions where all is rational, or floats with a bound on their error."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Shaped

from factorcomp.certificates.claims import NullTokens, Number
from factorcomp.models.rows import EPS

SMALLEST = 1e-290
"""Below it a product of floats may have lost its precision: then nothing is sure."""
LARGEST_ERROR = 0.01
"""A bound on a relative error beyond this one is none."""
Numbers = Shaped[np.ndarray, "*_"]
Ids = Int[np.ndarray, " _"]


@dataclass(frozen=True)
class Masses:
    """Probabilities: fractions (an array of objects), or floats; each is off by at most `relative` of itself.

    A mass is 0 iff it is impossible.
    """

    values: Numbers
    relative: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether these are fractions."""
        return self.values.dtype == object

    @property
    def sound(self) -> bool:
        """Whether there is a bound on the error, so that zeros are zeros."""
        return bool(np.isfinite(self.relative))

    def summed(self, ids: Ids, count: int = 0) -> "Masses":
        """The sums over cells, which are numbered from 0; `count`: at least so many."""
        count = max(count, int(ids.max(initial=-1)) + 1)
        if self.exact:
            sums = np.full(count, Fraction(0), dtype=object)
            np.add.at(sums, ids, self.values)
            return Masses(sums)
        return Masses(np.bincount(ids, self.values, count), bounded(self.relative + (len(ids) + 8) * EPS))


def bounded(relative: float) -> float:
    """A bound on a relative error, with room for its square; infinite where it is none."""
    return 1.1 * relative if relative <= LARGEST_ERROR else np.inf


def differ(left: Numbers, right: Numbers, relative: float) -> Bool[np.ndarray, "*_"]:
    """Where two numbers certainly differ; `relative` is the sum of their bounds, 0 for fractions."""
    if left.dtype == object:
        return (left != right).astype(bool)
    if not relative <= 2 * LARGEST_ERROR:
        return np.zeros(left.shape, dtype=bool)
    # not (x <= error) rather than x > error, so that a NaN would show up as a difference
    return ~(np.abs(left - right) <= relative * (left + right))


class Comparison(NamedTuple):
    """Two laws of the same cells: their total variation, and the first cell where they differ most.

    `tv`: `None` where floats are too small or too large. `differ`: whether they do; `None` where floats cannot tell.
    `tied`: another cell may differ as much.
    """

    tv: Number | None
    differ: bool | None
    cell: int
    tied: bool


def compare(left: Masses, right: Masses) -> Comparison:
    """`TV = sum (left - right)_+`, which is the total variation where `left` has mass 1."""
    if not (left.sound and right.sound):
        return Comparison(None, None, 0, True)
    gaps = np.abs(left.values - right.values)
    tv = np.maximum(left.values - right.values, 0).sum()
    cell = int(gaps.argmax())
    if left.exact:
        return Comparison(Fraction(tv), bool(tv > 0), cell, False)
    relative = left.relative + right.relative
    certain = differ(left.values, right.values, relative)
    error = relative * (left.values + right.values)
    near = (gaps + error >= gaps[cell] - error[cell]) & (gaps > 0)
    first = int(near.argmax())
    return Comparison(float(tv), True if certain.any() else None, first, int(near.sum()) > 1)


class Composed(NamedTuple):
    """`p^`, `Z` and where a ratio is undefined, at many prefixes (Definitions 1.1 and 1.3)."""

    rows: Masses
    normalizer: Masses
    undefined: Bool[np.ndarray, " prefixes"]


def compose(models: Sequence[Masses], null_tokens: NullTokens) -> Composed:
    """The composition of rows `[prefixes, tokens]` of the background and the (tilted) experts; rows of 0 where dead."""
    base, *own = (masses.values for masses in models)
    exact = models[0].exact
    zero, one = numbers(exact, 0, 1)
    possible = np.greater(base, 0).astype(bool)
    opened = [np.logical_and(p > 0, ~possible) for p in own]
    openers = np.sum(opened, axis=0) if opened else np.zeros(base.shape, dtype=int)
    with np.errstate(all="ignore"):
        weights: Any = base
        for p in own:
            weights = weights * (p / np.where(possible, base, one))
        taken: Numbers = np.full(base.shape, zero, dtype=base.dtype)
        for p, opens in zip(own, opened, strict=True):
            taken = np.where(opens & (null_tokens == "cancel"), p, taken)
        weights = np.where(possible, weights, taken)
        normalizer: Any = weights.sum(axis=-1)
        rows: Any = weights / np.where(normalizer > 0, normalizer, one)[:, None]
    tolerated = {"strict": 0, "cancel": 1, "drop": len(own)}[null_tokens]
    undefined = np.asarray(np.greater(openers, tolerated).any(axis=-1))
    if exact:
        return Composed(Masses(rows), Masses(normalizer), undefined)
    wanted = np.where(possible, np.all([p > 0 for p in own], axis=0), np.greater(taken, 0))
    sound = sound_where(weights, wanted) and sound_where(rows, wanted)
    given = (len(own) + 1) * models[0].relative + sum(m.relative for m in models[1:]) + 4 * (len(own) + 1) * EPS
    relative = bounded(given) if sound else np.inf
    total = bounded(relative + (base.shape[1] + 4) * EPS)
    return Composed(Masses(rows, bounded(relative + total + 2 * EPS)), Masses(normalizer, total), undefined)


def numbers(exact: bool, *values: int) -> tuple[Any, ...]:
    """Whole numbers, as fractions or as floats."""
    return tuple(Fraction(value) if exact else float(value) for value in values)


def array_of(exact: bool, value: int, shape: Any) -> Numbers:
    """An array of one whole number, as fractions or as floats."""
    return np.full(shape, *numbers(exact, value), dtype=object if exact else float)


def sound_where(values: Numbers, possible: Any) -> bool:
    """Whether every float that is not 0 is far from the smallest and the largest ones."""
    wanted = values[possible]
    return bool(((wanted > SMALLEST) & (wanted < 1 / SMALLEST)).all())
