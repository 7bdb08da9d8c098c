"""Next-token distributions whose equality is decided exactly, though their probabilities need not be rational."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import inf, isinf, lcm, prod

from factorcomp.certificates.enclosure import Enclosure, Value, exponential, log_exceeds, logarithm, total
from factorcomp.certificates.models import Entry, Model

LARGEST_POWER = 64
Power = tuple[Fraction, Fraction]
Weight = tuple[Fraction, tuple[Power, ...]]
"""An unnormalised probability: (c, ((A_1, e_1), ...)) stands for exp(c) prod_j A_j^e_j."""


class Row:
    """A distribution over the tokens, given by proportions; `None` where a token is impossible.

    Two rows that are `known` are one object if and only if they are one distribution: `Rows` sees to it.
    """

    def __init__(self, weights: tuple[Weight | None, ...], exact: bool, known: bool) -> None:
        self.weights, self.exact, self.known = weights, exact, known
        self.support = tuple(weight is not None for weight in weights)

    @cached_property
    def probabilities(self) -> tuple[Value, ...]:
        """The probabilities: fractions where everything is rational, enclosures otherwise, zeros without support."""
        zero, one = (Fraction(0), Fraction(1)) if self.exact else (Enclosure.of(0), Enclosure.of(1))
        if sum(self.support) <= 1:
            return tuple(one if possible else zero for possible in self.support)
        present = [weight for weight in self.weights if weight is not None]
        top = max(shift for shift, _ in present)
        if all(shift == top and all(_small(e) for _, e in powers) for shift, powers in present):
            rational = [weight and prod(a ** int(e) for a, e in weight[1]) for weight in self.weights]
            mass = sum(a for a in rational if a is not None)
            fractions = [Fraction(a or 0) / mass for a in rational]
            return tuple(fractions if self.exact else map(Enclosure.of, fractions))
        values = [zero if weight is None else _exponential(weight, top) for weight in self.weights]
        mass = total(values, zero)
        return tuple(value / mass if value else zero for value in values)


def _small(power: Fraction) -> bool:
    return power.denominator == 1 and abs(power) <= LARGEST_POWER


def _exponential(weight: Weight, top: Fraction) -> Enclosure:
    low = high = weight[0] - top
    for base, power in weight[1]:
        bounds = sorted(power * bound for bound in logarithm(base))
        low, high = low + bounds[0], high + bounds[1]
    return exponential(low, high)


class Rows:
    """The rows of one question, each distribution once.

    Weights exp(c) A with rational c and algebraic A are equal iff both are (Lindemann), and A^(1/d) = B^(1/d) iff
    A = B: so a row is known by its proportions to its first possible token, raised to the power `root`, the common
    denominator of the experts' weights. Rows that would need powers beyond 64 are left unknown.
    """

    def __init__(self, weights: Sequence[Fraction], exact: bool) -> None:
        self.exact, root = exact, lcm(*(weight.denominator for weight in weights))
        self.root = root if root <= LARGEST_POWER else 1
        self._read: dict[tuple[str, tuple[Entry, ...]], Row] = {}
        self._known: dict[tuple, Row] = {}
        self._tilted: dict[tuple[Row, Row, Fraction], Row] = {}

    def read(self, model: Model, t: int, h: int) -> Row:
        """The row of the prefix with index `h` among those of length `t`."""
        entries = model.steps[t][h]
        key = (model.scale, entries)
        if key not in self._read:
            one, nothing = Fraction(1), Fraction(0)
            if model.scale == "probs":
                weights = tuple((nothing, ((Fraction(p), one),)) if p else None for p in entries)
            else:
                weights = tuple(None if isinf(c) else (Fraction(c), ()) for c in entries)
            self._read[key] = self._row(weights)
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
        weights = []
        for parts in zip(*(row.weights for row, _ in factors)):
            if None in parts:
                weights.append(None)
                continue
            shift = sum(part[0] * power for part, (_, power) in zip(parts, factors))
            powers = [(a, e * power) for part, (_, power) in zip(parts, factors) for a, e in part[1]]
            weights.append((Fraction(shift), tuple((a, e) for a, e in powers if a != 1 and e != 0)))
        return self._row(tuple(weights))

    def _row(self, weights: tuple[Weight | None, ...]) -> Row:
        key = self._key(weights)
        if key is None:
            return Row(weights, self.exact, known=False)
        return self._known.setdefault(key, Row(weights, self.exact, known=True))

    def _key(self, weights: tuple[Weight | None, ...]) -> tuple | None:
        if not all(_small(e * self.root) for weight in weights if weight for _, e in weight[1]):
            return None
        values = [weight and (weight[0], prod(a ** int(e * self.root) for a, e in weight[1])) for weight in weights]
        first = next((value for value in values if value), None)
        return tuple(value and (value[0] - first[0], Fraction(value[1]) / first[1]) for value in values)


def same(left: Row, right: Row) -> bool | None:
    """Whether two rows are one distribution; `None` where that cannot be told."""
    if left is right:
        return True
    if left.known and right.known or left.support != right.support:
        return False
    pairs = zip(left.probabilities, right.probabilities)
    return None if all(p.lower <= q.upper and q.lower <= p.upper for p, q in pairs) else False


def oscillation(expert: Row, background: Row) -> Weight | None:
    """`osc log p_i/p_b` of two rows as read, as `exp` of it: (c, ((A, 1),)); `None` where it is infinite (0.1)."""
    if expert is background:
        return Fraction(0), ()
    if expert.support != background.support:
        return None
    low = high = None
    for mine, base in zip(expert.weights, background.weights):
        if mine is not None and base is not None:
            ratio = _rational(mine) / _rational(base), mine[0] - base[0]
            high = ratio if high is None or log_exceeds(ratio[0] / high[0], high[1] - ratio[1]) else high
            low = ratio if low is None or log_exceeds(low[0] / ratio[0], ratio[1] - low[1]) else low
    return high[1] - low[1], ((high[0] / low[0], Fraction(1)),)


def _rational(weight: Weight) -> Fraction:
    return prod((a for a, _ in weight[1]), start=Fraction(1))


def exceeds(value: Weight | None, bound: Fraction) -> bool:
    """Whether an `oscillation` exceeds a bound, exactly."""
    return value is None or log_exceeds(_rational(value), bound - value[0])


def nats(value: Weight | None) -> float:
    """An `oscillation` as a number."""
    if value is None:
        return inf
    low, high = logarithm(_rational(value))
    return float(value[0] + (low + high) / 2)
