"""Next-token distributions whose equality is decided exactly, though their probabilities need not be rational."""

import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, inf, lcm, prod

from factorcomp.certificates.enclosure import Enclosure, Value, excess, exponential, log_exceeds, logarithm, total
from factorcomp.certificates.models import Entry

LARGEST_POWER = 64
Weight = tuple[Fraction, tuple[tuple[Fraction, Fraction], ...]]
"""A proportion: `(c, ((A, e), ...))` stands for exp(c) times the product of the A^e; c, A and e are rational."""
Ratio = tuple[Fraction, Fraction]
"""`(A, c)` stands for `log A + c`."""


class Row:
    """A distribution over the tokens.

    **Fields:** `integers`: its proportions in lowest terms, if they are rational; otherwise `general`: as weights.
    `numbers`: its probabilities, where nothing else is known. `support`: the possible tokens. `known`: two such rows
    are one object iff they are one distribution. `exact`: whether probabilities are fractions.
    """

    def __init__(
        self,
        exact: bool,
        known: bool,
        integers: Sequence[int] | None = None,
        general: Sequence[Weight | None] = (),
        numbers: Sequence[Value] = (),
    ) -> None:
        self.exact, self.known, self.integers, self.general, self.numbers = exact, known, integers, general, numbers
        self.support = tuple(map(bool, integers or general or numbers))

    @property
    def weights(self) -> Sequence[Weight | None]:
        """The proportions of the tokens, `None` for an impossible one."""
        if self.integers is None:
            return self.general
        return [(Fraction(0), ((Fraction(n), Fraction(1)),)) if n else None for n in self.integers]

    @cached_property
    def probabilities(self) -> Sequence[Value]:
        """The probabilities; zeros if no token is possible."""
        if self.numbers:
            return self.numbers
        if self.integers is not None:
            mass = sum(self.integers) or 1
            fractions = [Fraction(n, mass) for n in self.integers]
            return fractions if self.exact else [Enclosure.of(p) for p in fractions]
        top, zero = max(weight[0] for weight in self.general if weight), Enclosure.of(0)
        values = [_exponential(weight, top) if weight else zero for weight in self.general]
        mass = total(values, zero)
        return [value / mass for value in values]


def _exponential(weight: Weight, top: Fraction) -> Enclosure:
    low = high = weight[0] - top
    for base, power in weight[1]:
        bounds = sorted(power * bound for bound in logarithm(base))
        low, high = low + bounds[0], high + bounds[1]
    return exponential(low, high)


class Rows:
    """The rows of one question, each distribution once.

    Proportions exp(c) A with rational c and algebraic A agree iff both parts do (Lindemann), and A^(1/d) = B^(1/d) iff
    A = B. So a row is known by its c, up to a constant, and by the integers that its A, raised to the power `root`, are
    proportional to; `root` is the common denominator of the experts' weights. Powers beyond 64 leave a row unknown.
    """

    def __init__(self, weights: Iterable[Fraction], exact: bool) -> None:
        self.exact, root = exact, lcm(*(weight.denominator for weight in weights))
        self.root = root if root <= LARGEST_POWER else 1
        self._read: dict[tuple[str, tuple[Entry, ...]], Row] = {}
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Row] = {}
        self._tilted: dict[tuple[Row, Row, Fraction], Row] = {}

    def read(self, scale: str, entries: tuple[Entry, ...]) -> Row:
        """The row of these entries of a model."""
        key = (scale, entries)
        if key not in self._read:
            if scale == "probs":
                self._read[key] = self.rational([p if isinstance(p, Fraction) else Fraction(p) for p in entries])
            else:
                self._read[key] = self.row([None if c == -inf else (Fraction(c), ()) for c in entries])
        return self._read[key]

    def tilted(self, background: Row, expert: Row, weight: Fraction) -> Row:
        """Proposition 1.9: proportional to `p_b (p_i / p_b)^weight`, where both are positive."""
        if weight == 1 or expert is background:
            return expert
        key = (background, expert, weight)
        if key not in self._tilted:
            self._tilted[key] = self.product([(background, 1 - weight), (expert, weight)])
        return self._tilted[key]

    def product(self, factors: Sequence[tuple[Row, Fraction]]) -> Row:
        """The row proportional to the product of powers of rows, where all of them are positive."""
        weights: list[Weight | None] = []
        for parts in zip(*(row.weights for row, _ in factors), strict=True):
            if None in parts:
                weights.append(None)
                continue
            shift = sum((part[0] * power for part, (_, power) in zip(parts, factors, strict=True)), start=Fraction(0))
            powers = ((a, e * power) for part, (_, power) in zip(parts, factors, strict=True) for a, e in part[1])
            weights.append((shift, tuple((a, e) for a, e in powers if a != 1 and e != 0)))
        return self.row(weights)

    def rational(self, proportions: Sequence[Fraction]) -> Row:
        """The row with these proportions."""
        integers = _lowest(proportions)
        key = integers if self.root == 1 else _lowest([Fraction(n) ** self.root for n in integers])
        return self._known.setdefault(((), key), Row(self.exact, True, integers))

    def row(self, weights: Sequence[Weight | None]) -> Row:
        """The row with these proportions."""
        present = [weight for weight in weights if weight]
        if len(present) <= 1:
            return self.rational([Fraction(bool(weight)) for weight in weights])
        level = all(shift == present[0][0] for shift, _ in present)
        if level and all(_small(e) for _, powers in present for _, e in powers):
            return self.rational(_raised(weights, 1))
        if not all(_small(e * self.root) for _, powers in present for _, e in powers):
            return Row(self.exact, False, general=weights)
        pure = not any(powers for _, powers in present)
        integers = tuple(map(int, map(bool, weights))) if pure else _lowest(_raised(weights, self.root))
        key = (() if level else _relative([shift for shift, _ in present]), integers)
        return self._known.setdefault(key, Row(self.exact, True, general=weights))


def _small(power: Fraction) -> bool:
    return power.denominator == 1 and abs(power) <= LARGEST_POWER


def _raised(weights: Sequence[Weight | None], root: int) -> list[Fraction]:
    """The rational parts, raised to a power that makes all exponents integers."""
    return [Fraction(prod(a ** int(e * root) for a, e in weight[1])) if weight else Fraction(0) for weight in weights]


def _lowest(proportions: Sequence[Fraction]) -> tuple[int, ...]:
    """The integers without common factor that have these proportions."""
    common = lcm(*(value.denominator for value in proportions))
    integers = [value.numerator * (common // value.denominator) for value in proportions]
    factor = gcd(*integers) or 1
    return tuple(n // factor for n in integers)


def _relative(shifts: Sequence[Fraction]) -> tuple[int, ...]:
    """The differences to the first number: their least common denominator and their numerators over it."""
    common = lcm(*(value.denominator for value in shifts))
    integers = [value.numerator * (common // value.denominator) for value in shifts]
    differences = [n - integers[0] for n in integers]
    factor = gcd(common, *differences)
    return common // factor, *(n // factor for n in differences)


def same(left: Row, right: Row) -> bool | None:
    """Whether two rows are one distribution; `None` where that cannot be told."""
    if left is right:
        return True
    if (left.known and right.known) or left.support != right.support:
        return False
    pairs = zip(left.probabilities, right.probabilities, strict=True)
    return None if all(p.lower <= q.upper and q.lower <= p.upper for p, q in pairs) else False


def variation(left: Row, right: Row, zero: Value) -> Value:
    """The total variation of two rows."""
    if left is right:
        return zero
    if left.exact and left.integers and right.integers:
        n, m = sum(left.integers), sum(right.integers)
        return Fraction(sum(max(p * m - q * n, 0) for p, q in zip(left.integers, right.integers, strict=True)), n * m)
    return total((excess(p, q) for p, q in zip(left.probabilities, right.probabilities, strict=True)), zero)


def oscillation(expert: Row, background: Row) -> Ratio | None:
    """`osc log p_i/p_b` of two rows as read; `None` where it is infinite (0.1)."""
    if expert is background:
        return Fraction(1), Fraction(0)
    if expert.support != background.support:
        return None
    if expert.integers and background.integers:
        ratios = [Fraction(n, m) for n, m in zip(expert.integers, background.integers, strict=True) if m]
        return max(ratios) / min(ratios), Fraction(0)
    pairs = [(mine, base) for mine, base in zip(expert.weights, background.weights, strict=True) if mine and base]
    logs = [(_rational(mine) / _rational(base), mine[0] - base[0]) for mine, base in pairs]
    low = high = logs[0]
    for ratio in logs[1:]:
        low, high = (ratio if _less(ratio, low) else low), (ratio if _less(high, ratio) else high)
    return high[0] / low[0], high[1] - low[1]


def _rational(weight: Weight) -> Fraction:
    return prod((a for a, _ in weight[1]), start=Fraction(1))


def _less(left: Ratio, right: Ratio) -> bool:
    return log_exceeds(right[0] / left[0], left[1] - right[1])


def exceeds(value: Ratio | None, bound: Fraction) -> bool:
    """Whether an `oscillation` exceeds a bound, exactly."""
    return value is None or log_exceeds(value[0], bound - value[1])


def largest_in_nats(values: Iterable[Ratio | None], weight: Fraction) -> float:
    """The largest `oscillation`, times a weight, as a number; a finite one beyond floats as the largest float."""
    largest = Fraction(1), Fraction(0)
    for value in values:
        if value is None:
            return inf
        largest = value if _less(largest, value) else largest
    low, high = logarithm(largest[0])
    return float(min(weight * (largest[1] + (low + high) / 2), Fraction(sys.float_info.max)))
