"""The composition at one prefix: what may follow, with what weight, and who deviates (theory.md 1.1, 1.3, 1.9)."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from factorcomp.certificates.claims import Question
from factorcomp.certificates.enclosure import Enclosure, Value, least, surely_less, total
from factorcomp.certificates.rows import Ratio, Row, Rows, exceeds, oscillation, variation


class Step:
    """The rows of background and experts at one prefix, tilted by their weights, and what follows from them.

    **Fields:** `rows`: the background's, then the experts'. `deviating`: bit i is set if expert i deviates. `error`:
    the first token whose ratio is undefined, and the experts that open it, or `None`. `support`: the tokens that may
    follow under the composition. `opened`: whether some expert admits a token that the background excludes. `gaps`:
    bit m is set if model m (the background is 0) says nothing; it then has a row without a possible token.
    """

    def __init__(
        self, rows: Rows, entries: Sequence[Row | None], question: Question, weights: Sequence[Fraction], size: int
    ) -> None:
        self.gaps = sum(1 << m for m, row in enumerate(entries) if row is None)
        read = [rows.rational([Fraction(0)] * size) if row is None else row for row in entries]
        background, *experts = read
        self._rows, self._read, self._null_tokens = rows, read, question.null_tokens
        self.zero, self.one = (Fraction(n) if rows.exact else Enclosure.of(n) for n in (0, 1))
        self.rows = (background, *(rows.tilted(background, *pair) for pair in zip(experts, weights, strict=True)))
        self.deviating, self.opened, self.support = 0, False, (False,) * size
        self.error: tuple[int, tuple[int, ...]] | None = None
        if self.gaps:
            return
        if question.threshold:
            bounds = [question.threshold / weight for weight in weights]
            flags = [exceeds(value, bound) for value, bound in zip(self.oscillations, bounds, strict=True)]
        else:
            flags = [expert is not background for expert in experts]
        self.deviating = sum(flag << i for i, flag in enumerate(flags))
        tolerated = {"strict": 0, "cancel": 1, "drop": len(experts)}[question.null_tokens]
        support = []
        for y, possible in enumerate(background.support):
            admitting = tuple(i for i, expert in enumerate(experts) if expert.support[y])
            if possible:
                support.append(len(admitting) == len(experts))
                continue
            support.append(question.null_tokens == "cancel" and len(admitting) == 1)
            self.opened = self.opened or bool(admitting)
            if len(admitting) > tolerated or any(weights[i] != 1 for i in admitting):
                self.error = self.error or (y, admitting)
        self.support = tuple(possible and self.error is None for possible in support)

    @cached_property
    def oscillations(self) -> list[Ratio | None]:
        """`osc log p_i/p_b` of each expert, before its weight."""
        return [oscillation(expert, self._read[0]) for expert in self._read[1:]]

    @property
    def broken(self) -> bool:
        """Whether the composition has no next token: a gap, an undefined ratio, or no mass (1.1)."""
        return not any(self.support)

    @cached_property
    def changes(self) -> list[Row]:
        """The experts' rows that are other distributions than the background's."""
        return [row for row in self.rows[1:] if row is not self.rows[0]]

    @property
    def settled(self) -> bool:
        """Whether one row alone decides (Lemma 1.8): one change at most, and no token opened and dropped."""
        return len(self.changes) <= 1 and (self._null_tokens == "cancel" or not self.opened)

    @cached_property
    def weights(self) -> list[Value]:
        """`w(y|h)`: the product of the ratios (1.1), at null tokens by the convention (1.3)."""
        base, result = self.rows[0], []
        for y, possible in enumerate(self.support):
            if possible and base.support[y]:
                weight = self.changes[0].probabilities[y] if self.changes else base.probabilities[y]
                for row in self.changes[1:]:
                    weight = weight * (row.probabilities[y] / base.probabilities[y])
                result.append(weight)
            else:
                opened = (row.probabilities[y] for row in self.changes if possible and row.support[y])
                result.append(next(opened, self.zero))
        return result

    @cached_property
    def normalizer(self) -> Value:
        """`Z(h)`."""
        return self.one if self.settled and not self._rows.exact else total(self.weights, self.zero)

    @cached_property
    def composition(self) -> Row:
        """`p^(.|h)`, without a possible token where it is broken.

        With numbers that are not fractions it is the row that one row alone decides, or a product of powers unless a
        token is taken from an expert alone: both may be known rows (Theorem 4.4 (1)).
        """
        rows, one = self._rows, Fraction(1)
        if rows.exact or self.broken:
            return rows.rational(self.weights if rows.exact else [Fraction(0)] * len(self.support))
        if self.settled:
            return self.changes[0] if self.changes else self.rows[0]
        if not self.opened or self._null_tokens == "drop":
            factors = [(self.rows[0], one - len(self.changes)), *((row, one) for row in self.changes)]
            return rows.product(factors)
        numbers = [weight / self.normalizer if weight else self.zero for weight in self.weights]
        return Row(False, False, numbers=numbers)

    @cached_property
    def distances(self) -> list[Value]:
        """The total variation between the composition and each component, the background first."""
        return [variation(self.composition, row, self.zero) for row in self.rows]

    @cached_property
    def switching(self) -> Row:
        """The row of the switching model: the sole deviator, the background, or the nearest component (section 4)."""
        if self.deviating & (self.deviating - 1):
            gaps, nearest = zip(self.rows, self.distances, strict=True), least(self.distances)
            return next(row for row, gap in gaps if not surely_less(nearest, gap))
        return self.rows[self.deviating.bit_length()]
