"""Theorem 7.2 (floor): an error at every step is fatal, for the laws move apart geometrically."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support, shape
from proofs_checks.definitions.laws import (
    ONE,
    ZERO,
    Kernel,
    Row,
    law_of,
    law_tv,
    log,
    log_ratio_range,
    reach,
    row_tv,
)
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, at_most, equal


@dataclass(frozen=True)
class Beside:
    """A family that is composed, and a reference kernel `s`."""

    family: Family
    reference: Kernel


def errors(case: Beside) -> list[Fraction]:
    """The TV between the two kernels at each `h in R^ ∩ Reach(s)`."""
    composed = compose(case.family)
    reached = reach(law_of(case.reference, case.family.size, case.family.length), case.family.length)
    return [row_tv(composed.kernel[h], case.reference[h]) for h in composed.reachable if h in reached]


def distance(case: Beside) -> Fraction:
    """`TV(P^_T, S_T)`."""
    reference = law_of(case.reference, case.family.size, case.family.length)
    return law_tv(compose(case.family).local, reference)


def check(case: Beside) -> Iterator[Relation]:
    """Squared, so that it is a comparison of fractions."""
    least = min(errors(case))
    yield at_most("(1 - TV)² <= (1 - ε²)^T", (1 - distance(case)) ** 2, (1 - least**2) ** case.family.length)


def check_somewhere(case: Beside) -> Iterator[Relation]:
    """False: the error is that large somewhere."""
    most = max(errors(case))
    yield at_most("(1 - TV)² <= (1 - ε²)^T", (1 - distance(case)) ** 2, (1 - most**2) ** case.family.length)


def beside(draw: Draw, of: Shape | None = None) -> Beside:
    """A composition without dead prefixes, and a reference that at most prefixes moves mass to its rarest token."""
    of = of or shape(draw)
    family = common_support(draw, of)
    composed = compose(family)

    def row(old: Row) -> Row:
        if draw.one_in(4):
            return draw.row(of.size, zeros=of.zeros)
        rarest, moved = min(range(of.size), key=old.__getitem__), Fraction(draw.integer(1, 4), 4)
        return tuple((1 - moved) * mass + (moved if y == rarest else ZERO) for y, mass in enumerate(old))

    return Beside(family, {h: row(composed.kernel[h]) for h in family.prefixes})


@dataclass(frozen=True)
class Independent:
    """Independent steps of two tokens, under `p` and under `s`, for so many steps."""

    probability: Fraction
    reference: Fraction
    steps: int

    @property
    def distance(self) -> Fraction:
        """The TV of the laws: the number of ones is sufficient."""

        def counts(p: Fraction) -> list[Fraction]:
            n = self.steps
            return [math.comb(n, ones) * p**ones * (1 - p) ** (n - ones) for ones in range(n + 1)]

        here, there = counts(self.probability), counts(self.reference)
        return sum((abs(a - b) for a, b in zip(here, there, strict=True)), ZERO) / 2


def check_rate(case: Independent) -> Iterator[Relation]:
    """Between the floor and the upper bound."""
    error = abs(case.probability - case.reference)
    gap, steps = case.distance, case.steps
    yield at_most("(1 - TV)² <= (1 - ε²)^T", (1 - gap) ** 2, (1 - error**2) ** steps)
    c = float(error) * math.sqrt(steps)
    yield at_most("1 - e^(-c²/2) <= TV, where ε = c T^(-1/2)", -math.expm1(-(c**2) / 2), float(gap))
    rows = [(1 - p, p) for p in (case.probability, case.reference)]
    ratio = log_ratio_range(*rows)
    if ratio is not None:
        yield at_most("TV <= o sqrt(T)/4", float(gap), log(ratio) * math.sqrt(steps) / 4)


def check_slower(case: Independent) -> Iterator[Relation]:
    """False: the error of one step, whatever T."""
    ratio = log_ratio_range(*[(1 - p, p) for p in (case.probability, case.reference)])
    yield at_most("TV <= o/4", float(case.distance), math.inf if ratio is None else log(ratio) / 4)


def independent(draw: Draw) -> Independent:
    """Up to 30 steps."""
    below = draw.integer(2, 12)
    chances = [Fraction(draw.integer(0, below), below) for _ in range(2)]
    return Independent(chances[0], chances[1], draw.integer(1, 30))


def check_number(error: Fraction) -> Iterator[Relation]:
    """The number that theory.md gives."""
    floor = 1 - float(ONE - error**2) ** 500
    yield equal("1 - (1 - ε²)^(T/2) = 0.71", round(floor, 2), 0.71)


STATEMENTS = (
    Statement(
        number="7.2",
        kind="theorem",
        sentence="a kernel error of at least ε at every step drives the total variation to 1",
        equation="TV(P^_T, S_T) >= 1 - (1 - ε²)^(T/2)",
        hypotheses=("TV(p^(.|h), s(.|h)) >= ε at all h in R^ ∩ Reach(s)", "no dead prefix"),
        draw=beside,
        check=check,
        controls=(Control("at all h", lambda draw: beside(draw, Shape(2, 2, 1, zeros=False)), check_somewhere),),
        not_checked="that the floor is attained: with ε < 1 it is not",
    ),
    Statement(
        number="7.2 rate",
        kind="theorem",
        sentence="errors of the order of T^(-1/2) are what a length T bears",
        equation="1 - e^(-c²/2) <= TV for ε = c T^(-1/2);   TV <= o sqrt(T)/4",
        hypotheses=("independent steps of two tokens",),
        draw=independent,
        check=check_rate,
        controls=(Control("the factor sqrt(T)", independent, check_slower),),
        not_checked="other kernels at long horizons (8.2)",
    ),
    Statement(
        number="7.2 number",
        kind="theorem",
        sentence="an error of 5% at each of 1,000 steps leaves a total variation of at least 0.71",
        equation="1 - (1 - 0.05²)^500 = 0.71",
        cases=lambda: (Fraction(1, 20),),
        check=check_number,
        controls=(Control("ε = 0.05", lambda draw: Fraction(1, draw.integer(21, 40))),),
    ),
)
