"""Proposition 11.4: which weights make a composition exact.

Log-ratios are whole numbers in units of log 2, so that kernels are fractions and `L(h)` is a matrix of whole numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from factorcomp.testing.drawing import Draw, Row, normalised
from proofs_checks.statement import Control, Relation, Statement, equal, fact

Weights = tuple[int, ...]


@dataclass(frozen=True)
class Tilted:
    """One prefix: a background and experts `p_i ∝ p_b 2^{u_i}`."""

    background: Row
    exponents: tuple[tuple[int, ...], ...]

    @cached_property
    def experts(self) -> list[Row]:
        """Their rows."""
        return [
            normalised([b * Fraction(2) ** u for b, u in zip(self.background, us, strict=True)])
            for us in self.exponents
        ]

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        """`L(h)`: the log-ratios modulo constants, as differences from token 0."""
        return [tuple(u - us[0] for u in us[1:]) for us in self.exponents]

    @cached_property
    def deviators(self) -> list[int]:
        """From 0."""
        return [i for i, row in enumerate(self.experts) if row != self.background]

    def composed(self, weights: Weights) -> Row:
        """`p^_λ`, from the kernels."""
        cells = list(self.background)
        for row, weight in zip(self.experts, weights, strict=True):
            if weight:
                cells = [c * (p / b) ** weight for c, p, b in zip(cells, row, self.background, strict=True)]
        return normalised(cells)

    def component(self, a: int) -> Row:
        """The background for 0, then the experts."""
        return self.experts[a - 1] if a else self.background

    def in_kernel(self, weights: Weights, a: int) -> bool:
        """`λ - e_a in ker L(h)`; `e_b = 0`."""
        moved = [weight - (i + 1 == a) for i, weight in enumerate(weights)]
        return not any(
            sum(m * cell for m, cell in zip(moved, cells, strict=True)) for cells in zip(*self.columns, strict=True)
        )


def tilted(draw: Draw, *, size: tuple[int, int] = (1, 4), experts: tuple[int, int] = (1, 3), spread: int = 1) -> Tilted:
    """Few exponents, so that log-ratios are often dependent."""
    tokens = draw.integer(*size)
    background = draw.row(tokens)
    exponents = tuple(
        tuple(draw.integer(-spread, spread) for _ in range(tokens)) for _ in range(draw.integer(*experts))
    )
    return Tilted(background, exponents)


def some_weights(k: int) -> list[Weights]:
    """All whole weights from -1 to 2; of many experts from 0 to 1."""
    return list(product(range(-1, 3) if k < 3 else range(-1, 2) if k == 3 else range(2), repeat=k))


def check(instance: Tilted) -> Iterator[Relation]:
    """The composition is a component iff the weights lie in its affine subspace."""
    k = len(instance.exponents)
    for weights in some_weights(k):
        composed = instance.composed(weights)
        for a in range(k + 1):
            same = composed == instance.component(a)
            yield equal("p^_λ = p_a iff λ - e_a in ker L(h)", same, instance.in_kernel(weights, a))


def check_unit(instance: Tilted) -> Iterator[Relation]:
    """False: only the weight 1 for `a` and 0 for the others is exact."""
    k = len(instance.exponents)
    for weights in some_weights(k):
        for a in range(k + 1):
            unit = weights == tuple(int(i + 1 == a) for i in range(k))
            yield equal("p^_λ = p_a iff λ = e_a", instance.composed(weights) == instance.component(a), unit)


def independent(draw: Draw) -> Tilted:
    """Each deviator likes a token of its own; others have the background's row up to a shift."""
    count = draw.integer(1, 3)
    tokens = count + 1 + draw.integer(0, 1)
    background = draw.row(tokens)
    exponents = [tuple(draw.integer(1, 2) * (y == i + 1) for y in range(tokens)) for i in range(count)]
    if draw.one_in(2):
        exponents.append((draw.integer(0, 1),) * tokens)
    return Tilted(background, draw.shuffled(exponents))


def dependent(draw: Draw) -> Tilted:
    """Three deviators on three tokens."""
    return tilted(draw, size=(3, 3), experts=(3, 3))


def check_independent(instance: Tilted) -> Iterator[Relation]:
    """Weight 1 for a deviator, 0 for the other deviators; 0 for all where the background is meant."""
    k, deviators = len(instance.exponents), instance.deviators
    for weights in some_weights(k):
        composed = instance.composed(weights)
        zero = all(weights[i] == 0 for i in deviators)
        yield equal("p^_λ = p_b iff λ_j = 0 for the deviators", composed == instance.background, zero)
        for a in deviators:
            alone = weights[a] == 1 and all(weights[i] == 0 for i in deviators if i != a)
            yield equal("p^_λ = p_a iff λ_a = 1, λ_j = 0 for the others", composed == instance.experts[a], alone)


def two_deviators(draw: Draw) -> Tilted:
    """Two deviators with independent log-ratios, and perhaps an expert that does not deviate."""
    tokens = draw.integer(3, 4)
    exponents = [tuple(draw.integer(1, 2) * (y == i + 1) for y in range(tokens)) for i in range(2)]
    if draw.one_in(2):
        exponents.append((0,) * tokens)
    return Tilted(draw.row(tokens), draw.shuffled(exponents))


def three_deviators(draw: Draw) -> Tilted:
    """A third deviator that undoes the second."""
    known = two_deviators(draw)
    first, second = (us for us in known.exponents if any(us))
    return Tilted(known.background, (first, second, tuple(-u for u in second)))


def check_positive(instance: Tilted) -> Iterator[Relation]:
    """No positive weights are exact."""
    k = len(instance.exponents)
    for weights in product(range(1, 4 if k == 2 else 3), repeat=k):
        composed = instance.composed(weights)
        yield fact("p^_λ is no component", all(composed != instance.component(a) for a in range(k + 1)))


@dataclass(frozen=True)
class Prefixes:
    """Several prefixes with the same number of experts."""

    at: tuple[Tilted, ...]


def prefixes(draw: Draw) -> Prefixes:
    """One to three prefixes, one or two experts, few of which deviate."""
    count = draw.integer(1, 2)

    def one() -> Tilted:
        tokens = draw.integer(2, 3)
        exponents = tuple(
            tuple(draw.integer(-1, 1) if draw.one_in(2) else 0 for _ in range(tokens)) for _ in range(count)
        )
        return Tilted(draw.row(tokens), exponents)

    return Prefixes(tuple(one() for _ in range(draw.integer(1, 3))))


def check_intersection(instance: Prefixes) -> Iterator[Relation]:
    """Exact everywhere, by the kernels and by the subspaces."""
    k = len(instance.at[0].exponents)
    by_kernels = {
        weights
        for weights in some_weights(k)
        if all(any(one.composed(weights) == one.component(a) for a in range(k + 1)) for one in instance.at)
    }
    by_subspaces = set(some_weights(k))
    for one in instance.at:
        by_subspaces &= {weights for a in range(k + 1) for weights in some_weights(k) if one.in_kernel(weights, a)}
    yield equal("exact weights = ∩_h ∪_a (e_a + ker L(h))", by_kernels, by_subspaces)


def check_one_component(instance: Prefixes) -> Iterator[Relation]:
    """False: the same component at every prefix, `∪_a ∩_h`."""
    k = len(instance.at[0].exponents)
    by_kernels = {
        weights
        for weights in some_weights(k)
        if all(any(one.composed(weights) == one.component(a) for a in range(k + 1)) for one in instance.at)
    }
    same = {
        weights
        for weights in some_weights(k)
        if any(all(one.in_kernel(weights, a) for one in instance.at) for a in range(k + 1))
    }
    yield equal("exact weights = ∪_a ∩_h (e_a + ker L(h))", by_kernels, same)


COMMON = "common support"
WHOLE = "weights that are not whole; weights beyond -1..2"

STATEMENTS = (
    Statement(
        number="11.4",
        kind="proposition",
        sentence="a weighted composition is a component exactly for the weights of an affine subspace",
        equation="p^_λ = p_a iff λ - e_a in ker L(h)",
        hypotheses=(COMMON,),
        draw=tilted,
        check=check,
        controls=(Control("the kernel of L(h)", tilted, check_unit),),
        not_checked=WHOLE,
        weight=2,
    ),
    Statement(
        number="11.4 (independent)",
        kind="proposition",
        sentence="where the deviators' log-ratios are independent, only 1 for one of them, 0 for the others is exact",
        equation="p^_λ = p_a iff λ_a = 1 and λ_j = 0 for the other deviators",
        hypotheses=(COMMON, "the deviators' log-ratios independent modulo constants"),
        draw=independent,
        check=check_independent,
        controls=(Control("independent log-ratios", dependent),),
        not_checked=WHOLE,
        weight=4,
    ),
    Statement(
        number="11.4 (positive weights)",
        kind="proposition",
        sentence="where exactly two experts deviate, independently, no positive weights are exact",
        equation="λ > 0:   p^_λ is no component",
        hypotheses=(COMMON, "exactly two deviators at h, log-ratios independent modulo constants"),
        draw=two_deviators,
        check=check_positive,
        controls=(Control("exactly two: a third that undoes the second", three_deviators),),
        not_checked=WHOLE,
        weight=2,
    ),
    Statement(
        number="11.4 (all prefixes)",
        kind="proposition",
        sentence="the exact weights of models are an intersection over prefixes of unions of affine subspaces",
        equation="∩_h ∪_a (e_a + ker L(h))",
        hypotheses=(COMMON,),
        draw=prefixes,
        check=check_intersection,
        controls=(Control("a union at each prefix", prefixes, check_one_component),),
        not_checked=WHOLE,
        weight=2,
    ),
)
