"""Section 8, bounded means: the empirical Bernstein bound."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.laws import ZERO
from proofs_checks.statement import Control, Relation, Statement, at_most


@dataclass(frozen=True)
class Sample:
    """`n` independent values 0, 1/2, 1 with probabilities `chances`; the bound's `α`."""

    n: int
    chances: tuple[Fraction, Fraction, Fraction]
    alpha: Fraction

    @property
    def mean(self) -> Fraction:
        """`E X`."""
        return self.chances[1] / 2 + self.chances[2]

    def counts(self) -> Iterator[tuple[int, int, Fraction]]:
        """How many of the values are 1/2 and 1, with what probability."""
        zero, half, one = self.chances
        for halves in range(self.n + 1 if half else 1):
            for ones in range(self.n - halves + 1):
                zeros = self.n - halves - ones
                ways = math.comb(self.n, halves) * math.comb(self.n - halves, ones)
                yield halves, ones, ways * zero**zeros * half**halves * one**ones


def bound(n: int, halves: int, ones: int, alpha: Fraction, *, correction: bool = True, spread: bool = True) -> float:
    """`X̄ + sqrt(2 v ln(2/α)/n) + 7 ln(2/α)/(3(n-1))`, `v` the sample variance; the last terms if asked for."""
    mean = (halves / 2 + ones) / n
    v = (halves / 4 + ones - n * mean**2) / (n - 1)
    logarithm = math.log(2 / float(alpha))
    first = math.sqrt(2 * max(0.0, v) * logarithm / n) if spread else 0.0
    return mean + first + (7 * logarithm / (3 * (n - 1)) if correction else 0.0)


def sample(draw: Draw) -> Sample:
    """Two values, up to 120 times, or three, up to 24 times."""
    tenths = Fraction(1, draw.pick((10, 20, 50)))
    alpha = draw.pick((Fraction(1, 20), Fraction(1, 2)))
    if draw.one_in(3):
        half, one = draw.integer(1, 4) * tenths, draw.integer(0, 5) * tenths
        return Sample(draw.integer(2, 24), (1 - half - one, half, one), alpha)
    one = draw.integer(1, 9) * tenths
    return Sample(draw.integer(2, 120), (1 - one, ZERO, one), alpha)


def check_bound(instance: Sample, *, correction: bool = True, spread: bool = True) -> Iterator[Relation]:
    """Its coverage, summed over all samples."""
    mean, alpha = float(instance.mean), instance.alpha
    missed = sum(
        (
            chance
            for halves, ones, chance in instance.counts()
            if bound(instance.n, halves, ones, alpha, correction=correction, spread=spread) < mean
        ),
        ZERO,
    )
    yield at_most("P(bound < E X) <= α", missed, alpha)


def check(instance: Sample) -> Iterator[Relation]:
    """The bound as it stands."""
    yield from check_bound(instance)


def without_correction(instance: Sample) -> Iterator[Relation]:
    """False: without `7 ln(2/α)/(3(n-1))`."""
    yield from check_bound(instance, correction=False)


def without_spread(instance: Sample) -> Iterator[Relation]:
    """False: without `sqrt(2 v ln(2/α)/n)`."""
    yield from check_bound(instance, spread=False)


def many(draw: Draw) -> Sample:
    """So many that the correction is small beside the spread."""
    return Sample(draw.integer(150, 200), (Fraction(1, 2), ZERO, Fraction(1, 2)), Fraction(1, 20))


STATEMENTS = (
    Statement(
        number="8 (bounded means)",
        kind="proposition",
        sentence="the empirical Bernstein bound holds at confidence 1-α",
        equation="P(E X <= X̄ + sqrt(2 v ln(2/α)/n) + 7 ln(2/α)/(3(n-1))) >= 1-α",
        hypotheses=("independent values in [0, 1] with one law", "v the sample variance (n-1 in the denominator)"),
        draw=sample,
        check=check,
        controls=(
            Control("the term 7 ln(2/α)/(3(n-1))", sample, without_correction),
            Control("the term sqrt(2 v ln(2/α)/n)", many, without_spread),
        ),
        not_checked="tightness; values other than 0, 1/2, 1; that a betting bound was 2.8 times tighter once",
        weight=4,
    ),
)
