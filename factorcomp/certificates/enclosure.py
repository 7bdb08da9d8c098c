"""Numbers that are not rational: decimal intervals that surely contain them.

`Decimal.exp` and `Decimal.ln` are correctly rounded (half-even), so the neighbours of their results enclose the true
value; all else is rounded outwards. Exponents of 10^18 leave no room for an overflow to go unseen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from operator import add
from typing import Any

DIGITS = 50
NOTHING = Decimal(0)


def _rounding(direction: str, digits: int = DIGITS) -> Context:
    return Context(prec=digits, rounding=direction, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


DOWN, UP = _rounding(ROUND_FLOOR), _rounding(ROUND_CEILING)


@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """A real number in `[lower, upper]`. Products and quotients are for numbers that are not negative."""

    lower: Decimal
    upper: Decimal

    @classmethod
    def of(cls, value: Fraction | int) -> "Enclosure":
        """The rational number `value`, to `DIGITS` digits (exactly, if it has no more)."""
        return cls(_decimal(value, DOWN), _decimal(value, UP))

    def __bool__(self) -> bool:
        """Whether it may be positive; false only of an exact zero."""
        return self.upper != 0

    def __float__(self) -> float:
        return float(DOWN.divide(DOWN.add(self.lower, self.upper), Decimal(2))) + 0.0  # rounding down makes 0 - 0 a -0

    def __add__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(DOWN.add(self.lower, other.lower), UP.add(self.upper, other.upper))

    def __sub__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(DOWN.subtract(self.lower, other.upper), UP.subtract(self.upper, other.lower))

    def __mul__(self, other: "Enclosure") -> "Enclosure":
        upper = UP.multiply(self.upper, other.upper) if self.upper and other.upper else NOTHING
        return Enclosure(DOWN.multiply(self.lower, other.lower), upper)

    def __truediv__(self, other: "Enclosure") -> "Enclosure":
        upper = UP.divide(self.upper, other.lower) if other.lower > 0 else Decimal("inf") if self.upper else NOTHING
        lower = DOWN.divide(self.lower, other.upper) if other.upper.is_finite() else NOTHING
        return Enclosure(lower, upper)

    def __abs__(self) -> "Enclosure":
        low, high = self.upper.copy_negate(), self.lower.copy_negate()
        return Enclosure(max(self.lower, low, NOTHING), max(self.upper, high))


Value = Any
"""What the kernel computes with: `Fraction` where all is rational, else `Enclosure`; never both in one question."""


def _decimal(value: Fraction | int | Decimal, context: Context) -> Decimal:
    if isinstance(value, Decimal):
        return context.plus(value)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def positive(value: Value) -> bool | None:
    """Whether a number that is not negative is positive; `None` where its enclosure cannot tell."""
    if isinstance(value, Fraction):
        return value > 0
    return True if value.lower > 0 else None if value.upper > 0 else False


def total(values: Iterable[Value], zero: Value) -> Value:
    """The sum, by halves: neighbours in the tree share denominators, so that most additions are of short fractions."""
    terms = [value for value in values if value] or [zero]
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [*map(add, terms[::2], terms[1::2]), *odd]
    return terms[0]


def largest(values: Iterable[Value], zero: Value) -> Value:
    """The largest of the values and zero."""
    values = list(values)
    if isinstance(zero, Fraction):
        return max(values, default=zero)
    return Enclosure(max((v.lower for v in values), default=NOTHING), max((v.upper for v in values), default=NOTHING))


def least(values: Sequence[Value]) -> Value:
    """The smallest of the values."""
    if isinstance(values[0], Fraction):
        return min(values)
    return Enclosure(min(value.lower for value in values), min(value.upper for value in values))


def excess(left: Value, right: Value) -> Value:
    """The positive part of `left - right`."""
    if isinstance(left, Fraction):
        return left - right if left > right else Fraction(0)
    difference = left - right
    return Enclosure(max(difference.lower, NOTHING), max(difference.upper, NOTHING))


def surely_less(left: Value, right: Value) -> bool:
    """Whether `left < right`; of enclosures, whether that can be told."""
    return left < right if isinstance(left, Fraction) else left.upper < right.lower


def exponential(lower: Fraction, upper: Fraction) -> Enclosure:
    """`e^x` for an `x` in `[lower, upper]`."""
    low, high = _decimal(lower, DOWN).exp(DOWN), _decimal(upper, UP).exp(UP)
    return Enclosure(max(low.next_minus(DOWN), NOTHING), high.next_plus(UP))


def logarithm(value: Fraction | Decimal, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
    """Rational bounds of `log(value)`, for a positive `value`, `digits` digits apart; exact for 1."""
    down, up = _rounding(ROUND_FLOOR, digits), _rounding(ROUND_CEILING, digits)
    low, high = _decimal(value, down).ln(down), _decimal(value, up).ln(up)
    # the log of 1 is exact, and the neighbours of 0 are of 10^18 digits: no fraction can hold them
    return Fraction(low.next_minus(down) if low else low), Fraction(high.next_plus(up) if high else high)


def log_exceeds(value: Fraction, bound: Fraction) -> bool:
    """Whether `log(value) > bound`, exactly.

    The logarithm of a rational number other than 1 is irrational (Lindemann), so that some precision always decides.
    """
    if value == 1 or bound == 0:
        return bound < 0 if value == 1 else value > 1
    digits = DIGITS
    while True:
        low, high = logarithm(value, digits)
        if low > bound or high < bound:
            return low > bound
        digits *= 2
