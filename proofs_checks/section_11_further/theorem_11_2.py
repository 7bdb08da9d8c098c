"""Theorem 11.2 (identifiability): three experts of which one deviates show the background that they share."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from factorcomp.testing.drawing import Draw, Row
from proofs_checks.statement import Control, Relation, Statement, equal


@dataclass(frozen=True)
class Shared:
    """One prefix: the background and the experts' rows."""

    true: Row
    experts: tuple[Row, ...]

    @property
    def candidates(self) -> set[Row]:
        """The backgrounds from which at most one expert deviates; an expert has each of them, for `k >= 2`."""
        return {row for row in self.experts if sum(other != row for other in self.experts) <= 1}

    @property
    def shared(self) -> set[Row]:
        """The rows of at least `k-1` experts."""
        return {row for row in self.experts if self.experts.count(row) >= len(self.experts) - 1}

    @property
    def median(self) -> Row:
        """Token by token."""
        return tuple(median(cells) for cells in zip(*self.experts, strict=True))


def with_deviators(draw: Draw, experts: int, deviators: int) -> Shared:
    """That many experts have any row, the others the background's."""
    size = draw.integer(1, 3)
    true = draw.row(size, zeros=True)
    rows = [draw.row(size, zeros=True) for _ in range(deviators)] + [true] * (experts - deviators)
    return Shared(true, draw.shuffled(rows))


def one_deviates(draw: Draw) -> Shared:
    """Three to six experts."""
    return with_deviators(draw, draw.integer(3, 6), draw.integer(0, 1))


def a_minority_deviates(draw: Draw) -> Shared:
    """Fewer than half."""
    experts = draw.integer(1, 7)
    return with_deviators(draw, experts, draw.integer(0, (experts - 1) // 2))


def half_deviate(draw: Draw) -> Shared:
    """Half of the experts."""
    half = draw.integer(1, 3)
    return with_deviators(draw, 2 * half, half)


def two_experts(draw: Draw) -> Shared:
    """One of two, and it does deviate."""
    size = draw.integer(2, 3)
    true = draw.row(size)
    moved = draw.integer(0, size - 1)
    other = tuple(cell / 2 + (y == moved) * Fraction(1, 2) for y, cell in enumerate(true))
    return Shared(true, draw.shuffled((true, other)))


def check(instance: Shared) -> Iterator[Relation]:
    """One background only explains the experts."""
    yield equal("the only background that explains them is p_0", instance.candidates, {instance.true})
    yield equal("p_0 is the row that k-1 experts share", instance.shared, {instance.true})
    yield equal("p_0 is the median by token", instance.median, instance.true)


def check_median(instance: Shared) -> Iterator[Relation]:
    """The median."""
    yield equal("p_0 is the median by token", instance.median, instance.true)


def check_two(instance: Shared) -> Iterator[Relation]:
    """Either expert explains both."""
    yield equal("both rows explain two experts", instance.candidates, set(instance.experts))
    yield equal("two backgrounds", len(instance.candidates), 2)


STATEMENTS = (
    Statement(
        number="11.2",
        kind="theorem",
        sentence="with three or more experts of which one deviates, the background is what the others share",
        equation="k >= 3:   p_0 = the row of k-1 experts = the median by token",
        hypotheses=("at most one expert deviates at h", "k >= 3"),
        draw=one_deviates,
        check=check,
        controls=(
            Control("k >= 3", two_experts),
            Control("at most one deviates", lambda draw: with_deviators(draw, 3, 2)),
        ),
    ),
    Statement(
        number="11.2 (median)",
        kind="theorem",
        sentence="the median by token is the background while fewer than half of the experts deviate",
        equation="p_0(y) = median_i p_i(y)",
        hypotheses=("fewer than half deviate at h",),
        draw=a_minority_deviates,
        check=check_median,
        controls=(Control("fewer than half", half_deviate),),
    ),
    Statement(
        number="11.2 (two experts)",
        kind="theorem",
        sentence="two experts of which one deviates do not show the background",
        equation="k = 2, p_1 != p_2:   p_0 = p_1 and p_0 = p_2 both explain them",
        draw=two_experts,
        check=check_two,
        controls=(Control("k = 2", lambda draw: with_deviators(draw, 3, 1)),),
    ),
)
