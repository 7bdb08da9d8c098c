"""Exact numbers `log a + s` with rational `a > 0` and `s`, and linear algebra with them.

Over the rationals these are vectors: the logs of pairwise coprime integers above 1 and the number 1 are linearly
independent over the rationals (unique factorisation; Hermite-Lindemann). So what rational numbers solve a linear
system of them is exact linear algebra. Over the reals a determinant that is not 0 is shown by enough digits; one that
is 0 never is, so that a rank is known from below, and from above by the rank over the rationals.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from factorcomp.bounds.oscillation import log_exceeds

_SMALL_PRIMES = [n for n in range(2, 1000) if all(n % d for d in range(2, math.isqrt(n) + 1))]
_DIGITS = (40, 160, 640)
"""Digits that are tried before the sign of a determinant is left open."""


@dataclass(frozen=True)
class Log:
    """The number `log(factor) + shift`."""

    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    def __sub__(self, other: "Log") -> "Log":
        return Log(self.factor / other.factor, self.shift - other.shift)

    @property
    def sign(self) -> int:
        """Exactly."""
        if self.factor == 1:
            return (self.shift > 0) - (self.shift < 0)
        return 1 if log_exceeds(self.factor, -self.shift) else -1

    def enclosed(self, digits: int) -> tuple[Fraction, Fraction]:
        """A rational number, and how far from it the number is at most."""
        context = Context(prec=digits)
        top, bottom = (Fraction(Decimal(n).ln(context)) for n in (self.factor.numerator, self.factor.denominator))
        return top - bottom + self.shift, (abs(top) + abs(bottom) + 1) * Fraction(2, 10 ** (digits - 1))

    def __float__(self) -> float:
        return float(self.enclosed(30)[0])

    def __str__(self) -> str:
        parts = [] if self.factor == 1 else [f"log({self.factor})"]
        parts += [str(self.shift)] if self.shift or not parts else []
        return " + ".join(parts)


Equation = tuple[Log, ...]
"""`sum_j λ_j e[j] = e[-1]`."""
Row = tuple[Fraction, ...]


def coprime_base(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime integers above 1 of whose powers all the numbers are products; small primes are among them.

    >>> coprime_base([12, 18, 1009 * 1013])
    [2, 3, 1022117]
    """
    base: list[int] = []
    waiting = []
    for number in set(numbers):
        for prime in _SMALL_PRIMES:
            if number % prime == 0:
                waiting.append(prime)
                number = _without(number, prime)[0]
        waiting.append(number)
    waiting = list(set(waiting))
    while waiting:
        number = waiting.pop()
        if number == 1:
            continue
        for place, other in enumerate(base):
            common = math.gcd(number, other)
            if common > 1:
                if number != other:
                    base.pop(place)
                    waiting += [common, number // common, other // common]
                break
        else:
            base.append(number)
    return sorted(base)


def _without(number: int, factor: int) -> tuple[int, int]:
    """The number without the powers of a factor, and how many they are."""
    count = 0
    while number % factor == 0:
        number, count = number // factor, count + 1
    return number, count


def over_the_rationals(equations: Sequence[Equation]) -> list[Row]:
    """The rational equations that say, of rational unknowns, what these equations say."""
    factors = [log.factor for equation in equations for log in equation]
    base = coprime_base(n for factor in factors for n in (factor.numerator, factor.denominator) if n > 1)
    rows = []
    for equation in equations:
        rows.append(tuple(log.shift for log in equation))
        for prime in base:
            exponents = [
                _without(log.factor.numerator, prime)[1] - _without(log.factor.denominator, prime)[1]
                for log in equation
            ]
            rows.append(tuple(map(Fraction, exponents)))
    return [row for row in rows if any(row)]


class Echelon:
    """Rational equations in reduced echelon form, the one form that equal sets of solutions share."""

    def __init__(self, unknowns: int, rows: Iterable[Row] = ()):
        self.unknowns = unknowns
        self.rows: dict[int, Row] = {}
        """By the place of the leading 1; place `unknowns` says `0 = 1`."""
        for row in rows:
            self._insert(row)

    def reduced(self, row: Row) -> Row:
        """What of an equation does not follow from these."""
        for place, known in self.rows.items():
            if row[place]:
                row = tuple(a - row[place] * b for a, b in zip(row, known, strict=True))
        return row

    def _insert(self, row: Row) -> None:
        row = self.reduced(row)
        place = next((n for n, value in enumerate(row) if value), None)
        if place is None:
            return
        row = tuple(value / row[place] for value in row)
        for other, known in self.rows.items():
            if known[place]:
                self.rows[other] = tuple(a - known[place] * b for a, b in zip(known, row, strict=True))
        self.rows[place] = row

    @property
    def key(self) -> tuple[Row, ...]:
        """The equations, in order."""
        return tuple(self.rows[place] for place in sorted(self.rows))

    @property
    def consistent(self) -> bool:
        """Whether there is a solution."""
        return self.unknowns not in self.rows

    @property
    def rank(self) -> int:
        """The number of unknowns that are determined by the others."""
        return len(self.rows) - (not self.consistent)

    def follows(self, row: Row) -> bool:
        """Whether an equation holds for all solutions."""
        return not self.consistent or not any(self.reduced(row))


def sign_of_determinant(matrix: Sequence[Sequence[Log]]) -> int | None:
    """1 or -1; `None` where it is 0, or so small that the digits tried do not tell."""
    size = len(matrix)
    for digits in _DIGITS:
        enclosed = [[log.enclosed(digits) for log in row] for row in matrix]
        error = max((e for row in enclosed for _, e in row), default=Fraction(0))
        largest = max((abs(x) for row in enclosed for x, _ in row), default=Fraction(0)) + error
        value = determinant([[x for x, _ in row] for row in enclosed])
        if abs(value) > math.factorial(size) * size * error * largest ** max(size - 1, 0):
            return 1 if value > 0 else -1
    return None


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """By elimination."""
    rows, value = [list(row) for row in matrix], Fraction(1)
    for place in range(len(rows)):
        pivot = next((n for n in range(place, len(rows)) if rows[n][place]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != place:
            rows[place], rows[pivot], value = rows[pivot], rows[place], -value
        value *= rows[place][place]
        for n in range(place + 1, len(rows)):
            share = rows[n][place] / rows[place][place]
            rows[n] = [a - share * b for a, b in zip(rows[n], rows[place], strict=True)]
    return value


def independent(equations: Sequence[Equation], columns: int) -> tuple[list[int], list[int]]:
    """Equations, and as many of the first `columns` columns, whose minor is certainly not 0; as many as are found.

    Pivots are sought in 40 digits, where less than 1e-25 of the row counts as 0, and the minor is then proved.
    """
    rows = {n: [log.enclosed(_DIGITS[0])[0] for log in equation[:columns]] for n, equation in enumerate(equations)}
    sizes = {n: max(map(abs, row), default=Fraction(0)) for n, row in rows.items()}
    chosen: list[tuple[int, int]] = []
    while rows:
        n, place = max(
            ((n, c) for n in rows for c in range(columns)), key=lambda p: abs(rows[p[0]][p[1]]), default=(-1, -1)
        )
        if n < 0 or not abs(rows[n][place]) > sizes[n] * Fraction(1, 10**25):
            break
        pivot = rows.pop(n)
        for m, row in rows.items():
            share = row[place] / pivot[place]
            rows[m] = [a - share * b for a, b in zip(row, pivot, strict=True)]
        chosen.append((n, place))
    while chosen and sign_of_determinant([[equations[n][c] for _, c in chosen] for n, _ in chosen]) is None:
        chosen.pop()
    return [n for n, _ in chosen], [c for _, c in chosen]
