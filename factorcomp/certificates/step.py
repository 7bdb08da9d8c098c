"""The composition at one prefix: what may follow, with what weight, and who deviates (theory.md 1.1, 1.3, 1.9)."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from factorcomp.certificates.claims import Question
from factorcomp.certificates.enclosure import Enclosure, Value, excess, least, surely_less, total
from factorcomp.certificates.rows import Row, Rows, exceeds, oscillation


class Step:
    """The rows of background and experts at one prefix, tilted by their weights, and what follows from them.

    **Fields:** `rows`: the background's, then the experts'. `oscillations`: of the experts' log-ratios, before the
    tilt. `deviating`: bit i is set if expert i deviates. `error`: the first token whose ratio is undefined, and the
    experts that open it, or `None`. `support`: the tokens that may follow under the composition. `opened`: whether some
    expert admits a token that the background excludes.
    """

    def __init__(self, rows: Rows, read: Sequence[Row], question: Question, weights: Sequence[Fraction]) -> None:
        background, *experts = read
        self._rows, self._null_tokens = rows, question.null_tokens
        self.zero = Fraction(0) if rows.exact else Enclosure.of(0)
        self.one = Fraction(1) if rows.exact else Enclosure.of(1)
        self.rows = (background, *(rows.tilted(background, *pair) for pair in zip(experts, weights)))
        self.oscillations = [oscillation(expert, background) for expert in experts]
        bounds = [question.threshold / weight for weight in weights]
        self.deviating = sum(
            1 << i for i, (osc, bound) in enumerate(zip(self.oscillations, bounds)) if exceeds(osc, bound)
        )
        self.error: tuple[int, tuple[int, ...]] | None = None
        self.opened = False
        support = []
        for y, possible in enumerate(background.support):
            openers = tuple(i for i, expert in enumerate(experts) if expert.support[y])
            if possible:
                support.append(len(openers) == len(experts))
                continue
            support.append(question.null_tokens == "cancel" and len(openers) == 1)
            self.opened = self.opened or bool(openers)
            too_many = {"strict": 0, "cancel": 1, "drop": len(experts)}[question.null_tokens]
            if len(openers) > too_many or any(weights[i] != 1 for i in openers):
                self.error = self.error or (y, openers)
        self.support = tuple(possible and self.error is None for possible in support)

    @property
    def broken(self) -> bool:
        """Whether the composition ends here without a next token: an undefined ratio, or no mass (1.1)."""
        return not any(self.support)

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """The experts whose row is another distribution than the background's."""
        return tuple(i for i, row in enumerate(self.rows[1:]) if row is not self.rows[0])

    @cached_property
    def follows(self) -> Row | None:
        """The component that the composition is, where that is known without numbers: Lemma 1.8 and Theorem 4.4 (1).

        It is the sole expert that changes anything, or the background, unless tokens were opened and dropped; and where
        none is taken from an expert alone the composition is a product of powers, which may be a known row. `None` in
        exact arithmetic, where everything is computed.
        """
        if self._rows.exact:
            return None
        if len(self.changes) <= 1 and (self._null_tokens == "cancel" or not self.opened):
            return self.rows[self.changes[0] + 1] if self.changes else self.rows[0]
        return None if self.opened and self._null_tokens == "cancel" else self._product

    @cached_property
    def _product(self) -> Row:
        experts = [self.rows[i + 1] for i in self.changes]
        one = Fraction(1)
        return self._rows.product([(self.rows[0], one - len(experts)), *((row, one) for row in experts)])

    @cached_property
    def weights(self) -> tuple[Value, ...]:
        """`w(y|h)`: the product of the ratios (1.1), at null tokens by the convention (1.3)."""
        base = self.rows[0].probabilities
        experts = [self.rows[i + 1].probabilities for i in self.changes]
        result = []
        for y, possible in enumerate(self.support):
            if not possible:
                result.append(self.zero)
            elif not self.rows[0].support[y]:
                result.append(next(row.probabilities[y] for row in self.rows[1:] if row.support[y]))
            else:
                weight = base[y]
                for expert in experts:
                    weight = weight * (expert[y] / base[y])
                result.append(weight)
        return tuple(result)

    @cached_property
    def normalizer(self) -> Value:
        """`Z(h)`; 1 where one row alone decides (Lemma 1.8)."""
        settled = self.follows is not None and len(self.changes) <= 1
        return self.one if settled else total(self.weights, self.zero)

    @cached_property
    def composition(self) -> tuple[Value, ...]:
        """The next-token probabilities of the composition; zeros where it is broken."""
        if self.broken:
            return tuple(self.zero for _ in self.support)
        if self.follows is not None:
            return self.follows.probabilities
        return tuple(weight / self.normalizer if weight else self.zero for weight in self.weights)

    @cached_property
    def distances(self) -> tuple[Value, ...]:
        """The total variation between the composition and each component, the background first."""
        return tuple(self.zero if row is self.follows else self.variation(self.composition, row) for row in self.rows)

    def variation(self, left: Sequence[Value], right: Row) -> Value:
        """The total variation of two rows."""
        return total((excess(p, q) for p, q in zip(left, right.probabilities)), self.zero)

    @cached_property
    def switching(self) -> tuple[Value, ...]:
        """The row of the switching model: the sole deviator, the background, or the nearest component (section 4)."""
        if self.deviating & (self.deviating - 1):
            nearest = least(self.distances)
            first = next(i for i, distance in enumerate(self.distances) if not surely_less(nearest, distance))
            return self.rows[first].probabilities
        return self.rows[self.deviating.bit_length()].probabilities
