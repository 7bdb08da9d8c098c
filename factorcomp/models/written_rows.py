"""Rows of numbers as written, in exact numbers: checked, and renormalised where decimals allow it.

A row with fractions `n_j / d_j` has the common denominator `D = lcm(d_j)`, the parts `m_j = n_j D / d_j` and the total
`S = Σ m_j`: it sums to `S / D`, and renormalised its probabilities are `m_j / S`. `settle` does this for many rows in
64-bit integers, `RowReader` for one row in integers of any size.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.models import memory
from factorcomp.models.errors import shortened, shown
from factorcomp.models.numbers import NumberError, Numbers, fraction

PARTS = 10**6
"""Rows with a decimal may sum to 1 within one of so many parts (interface.md, "Model files")."""
MAX_COMMON_BITS = 2**17
"""No row sums to 1 with a common denominator beyond this by accident; a hostile one would take hours to add up."""
FITS = 2**62

Rows = Int[np.ndarray, "rows vocab"]


class RowError(ValueError):
    """Not a distribution: the message says what was found and needed."""


@dataclass(frozen=True)
class Row:
    """One row in lowest terms; `correction`: how far from 1 it summed before."""

    numerators: tuple[int, ...]
    denominators: tuple[int, ...]
    correction: Fraction


def settle(codes: Rows, numbers: Numbers) -> tuple[Rows, Rows, Bool[np.ndarray, " rows"], Int[np.ndarray, "rows 2"]]:
    """Many rows at once: numerators, denominators, which rows these are right for, and the pairs `|S - D|`, `D`.

    The rows that are left out are wrong, or too large for 64 bits.
    """
    above, below = (
        np.array([n if n < FITS else -1 for n in exact], dtype=np.int64)[codes]
        for exact in (numbers.numerators, numbers.denominators)
    )
    fits = (above >= 0) & (above <= 2 * below.astype(np.float64))
    right = fits.all(1)
    above, below = np.where(right[:, None], above, 0), np.where(right[:, None], below, 1)
    limit = FITS / (2 * codes.shape[1])
    common = np.ones(len(codes), dtype=np.int64)
    for column in below.T:
        factor = column // np.gcd(common, column)
        right &= ~(common.astype(np.float64) * factor > limit)
        common = np.where(right, common * factor, 1)
    parts = np.where(right[:, None], above * (common[:, None] // below), 0)
    total = parts.sum(1)
    off = np.abs(total - common)
    decimal = np.array(numbers.decimal, dtype=bool)[codes].any(1)
    right &= (off == 0) | (decimal & (off <= common // PARTS))
    divisors = np.gcd(parts, total[:, None])
    divisors[~right] = 1
    return parts // divisors, total[:, None] // divisors, right, np.stack([off, common], 1)


class RowReader(dict[tuple, Row | None]):
    """A row as written -> the row in exact numbers, `None` if it is wrong; equal rows are read once.

    **Fields:** `numbers`: those read so far. `name`: of the input, for errors.
    """

    def __init__(self, name: str):
        self.name = name
        self.numbers = Numbers()
        self._large = 0

    def row(self, written: object, width: int | None) -> Row | None:
        """The row of `width` numbers (any width, if `None`)."""
        if type(written) is not list or not written or (width is not None and len(written) != width):
            return None
        try:
            return self[tuple(written)]
        except TypeError:  # a list or an object where a number was needed: not hashable
            return None

    def __missing__(self, written: tuple) -> Row | None:
        try:
            self[written] = self.read(written)
        except (NumberError, RowError):
            self[written] = None
        return self[written]

    def read(self, written: Sequence) -> Row:
        """The row in exact numbers, renormalised if it holds a decimal.

        **Raises:** `NumberError`, `RowError`: a number or a sum that is wrong.
        """
        numerators, denominators, decimal = zip(*map(fraction, written), strict=True)
        common = self._common(set(denominators), len(denominators))
        parts = [n * (common // d) for n, d in zip(numerators, denominators, strict=True)]
        total = sum(parts)
        off = abs(total - common)
        if off and not any(decimal):
            raise RowError(f'sums to {_near(total, common)}; rows of integers and "p/q" strings must sum to 1 exactly')
        if not off * PARTS <= common:
            raise RowError(f"sums to {_near(total, common)}; rows with a decimal must sum to 1 within 1e-6")
        divisors = [math.gcd(part, total) for part in parts]
        numerators = tuple(part // divisor for part, divisor in zip(parts, divisors, strict=True))
        return Row(numerators, tuple(total // divisor for divisor in divisors), Fraction(off, common))

    def _common(self, distinct: set[int], width: int) -> int:
        """The least common denominator of a row; refuses one that takes too long, or too much memory, to write out."""
        common = 1
        if sum(map(int.bit_length, distinct)) <= MAX_COMMON_BITS:
            common = math.lcm(*distinct)
        else:
            for denominator in distinct:
                common = math.lcm(common, denominator)
                if common.bit_length() > MAX_COMMON_BITS:
                    raise RowError(f"needs a common denominator of more than {MAX_COMMON_BITS * 3 // 10} digits")
        if common.bit_length() > 1024:
            self._large += width * common.bit_length() // 4
            memory.require(self._large, self.name, "writing out its fractions")
        return common

    def describe(self, row: object, width: int | None) -> Iterator[tuple[str, str]]:
        """What is wrong with a row: the place within it, and the message."""
        if type(row) is not list:
            yield "", f"found {shown(row)}; needed a list of probabilities, one for each token"
            return
        bad = not row or (width is not None and len(row) != width)
        if bad:
            yield "", f"found {len(row)} numbers; needed {width or 'them'}, one for each token"
        for index, written in enumerate(row):
            try:
                fraction(written)
            except NumberError as error:
                bad = True
                yield f"[{index}]", f"found {shown(written)}; {error}"
        if not bad:
            try:
                self.read(row)
            except RowError as error:
                yield "", str(error)


def _near(total: int, common: int) -> str:
    exact = Fraction(total, common)
    if exact.numerator.bit_length() + exact.denominator.bit_length() < 100:
        return str(exact)
    return shortened(str(Context(prec=20).divide(Decimal(total), Decimal(common)).normalize()))
