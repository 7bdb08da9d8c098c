"""Theorem 9.2: how far a merge with nonlinear logits is from the composition.

Logits are polynomials in the parameters. Their second derivatives have degree 3 at most, where Simpson's rule is exact.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape
from proofs_checks.definitions.laws import ZERO, Prefix, divergence, log, reach, row_tv, total
from proofs_checks.definitions.logits import (
    Point,
    Polynomial,
    hessian,
    plus,
    polynomial,
    softmax,
    times,
    value,
)
from proofs_checks.definitions.references import Compared, within_tanh
from proofs_checks.statement import Control, Relation, Statement, at_most, equal

SIMPSON = ((ZERO, Fraction(1, 6)), (Fraction(1, 2), Fraction(2, 3)), (Fraction(1), Fraction(1, 6)))


@dataclass(frozen=True)
class Merge:
    """One logit as a polynomial of the parameters; the base point and the task vectors."""

    z: Polynomial
    base: Point
    tasks: tuple[Point, ...]

    def error(self, scale: Fraction | int = 1) -> Fraction:
        """`E = z(θ_b + sum τ) - z(θ_b) - sum_i (z(θ_b + τ_i) - z(θ_b))`, of the scaled task vectors."""
        tasks = [times(scale, task) for task in self.tasks]
        at_base = value(self.z, self.base)
        alone = total(value(self.z, plus(self.base, task)) - at_base for task in tasks)
        return value(self.z, plus(self.base, *tasks)) - at_base - alone

    def earlier(self, m: int) -> Point:
        """`τ_{<m}`."""
        return plus(times(0, self.base), *self.tasks[:m])


def merge_of(draw: Draw, degree: int) -> Merge:
    """One to four task vectors in one to three parameters."""
    parameters = draw.integer(1, 3)

    def point() -> Point:
        return tuple(Fraction(draw.integer(-2, 2)) for _ in range(parameters))

    return Merge(polynomial(draw, parameters, degree), point(), tuple(point() for _ in range(draw.integer(1, 4))))


def quintic(draw: Draw) -> Merge:
    """Degree at most 5."""
    return merge_of(draw, 5)


def cubic(draw: Draw) -> Merge:
    """Degree at most 3: the second derivative is affine, its largest size over a box is at a corner."""
    return merge_of(draw, 3)


def integral(instance: Merge, m: int) -> Fraction:
    """`∫∫ ∇²z(θ_b + sτ_{<m} + uτ_m)[τ_{<m}, τ_m] ds du`."""
    before, task = instance.earlier(m), instance.tasks[m]
    return total(
        a * b * hessian(instance.z, plus(instance.base, times(s, before), times(u, task)), before, task)
        for s, a in SIMPSON
        for u, b in SIMPSON
    )


def check_formula(instance: Merge) -> Iterator[Relation]:
    """The integral formula."""
    integrals = total(integral(instance, m) for m in range(1, len(instance.tasks)))
    yield equal("E = sum_m ∫∫ ∇²z[τ_{<m}, τ_m]", instance.error(), integrals)


def check_formula_first(instance: Merge) -> Iterator[Relation]:
    """False: the first integral alone."""
    integrals = total(integral(instance, m) for m in range(1, len(instance.tasks))[:1])
    yield equal("E = ∫∫ ∇²z[τ_1, τ_2]", instance.error(), integrals)


def check_formula_of_second_order(instance: Merge) -> Iterator[Relation]:
    """False: the second derivative at the base point."""
    yield equal("E = sum_{i<j} ∇²z(θ_b)[τ_i, τ_j]", instance.error(), second_order(instance))


def second_order(instance: Merge) -> Fraction:
    """`sum_{i<j} ∇²z(θ_b)[τ_i, τ_j]`."""
    return total(hessian(instance.z, instance.base, one, other) for one, other in combinations(instance.tasks, 2))


def corners(instance: Merge) -> list[Point]:
    """`θ_b` plus the task vectors of every subset."""
    count = len(instance.tasks)
    return [plus(instance.base, *subset) for size in range(count + 1) for subset in combinations(instance.tasks, size)]


def bound(instance: Merge, pairs: Sequence[tuple[Point, Point]]) -> Fraction:
    """`sum sup|∇²z[τ_i, τ_j]|` over the pairs."""
    return total(max(abs(hessian(instance.z, at, one, other)) for at in corners(instance)) for one, other in pairs)


def check_bound(instance: Merge) -> Iterator[Relation]:
    """By the cross second differences alone."""
    pairs = list(combinations(instance.tasks, 2))
    yield at_most("|E| <= sum_{i<j} sup|∇²z[τ_i, τ_j]|", abs(instance.error()), bound(instance, pairs))


def check_bound_by_own_curvature(instance: Merge) -> Iterator[Relation]:
    """False: by the curvature along each task vector."""
    pairs = [(task, task) for task in instance.tasks]
    yield at_most("|E| <= sum_i sup|∇²z[τ_i, τ_i]|", abs(instance.error()), bound(instance, pairs))


def check_bound_by_half(instance: Merge) -> Iterator[Relation]:
    """False: half of the sum."""
    pairs = list(combinations(instance.tasks, 2))
    yield at_most("|E| <= ½ sum_{i<j} sup|∇²z[τ_i, τ_j]|", abs(instance.error()), bound(instance, pairs) / 2)


def check_order(instance: Merge) -> Iterator[Relation]:
    """Of a cubic, `E(s) = s²A + s³B` with `A` the second order."""
    leading = second_order(instance)
    for scale in (Fraction(1, 3), Fraction(1, 100), Fraction(2)):
        rest = instance.error(scale) - scale**2 * leading
        yield equal("E(sτ) = s² sum_{i<j} ∇²z(θ_b)[τ_i, τ_j] + O(s³)", rest, scale**3 * (instance.error() - leading))


def check_order_three(instance: Merge) -> Iterator[Relation]:
    """False: of third order."""
    for scale in (Fraction(1, 3), Fraction(2)):
        yield equal("E(sτ) = s³ E(τ)", instance.error(scale), scale**3 * instance.error())


def separable(draw: Draw) -> Merge:
    """`z = sum_i f_i(θ_i)`, each task vector in its own parameter."""
    parameters = draw.integer(1, 3)
    z: dict[tuple[int, ...], Fraction] = {}
    for place in range(parameters):
        for exponent in range(1, 5):
            z[tuple(exponent if i == place else 0 for i in range(parameters))] = Fraction(draw.integer(-3, 3))
    base = tuple(Fraction(draw.integer(-2, 2)) for _ in range(parameters))
    tasks = tuple(
        tuple(Fraction(draw.integer(-3, 3)) if i == place else ZERO for i in range(parameters))
        for place in range(parameters)
    )
    return Merge(z, base, tasks)


def not_separable(draw: Draw) -> Merge:
    """The same with a term `θ_1 θ_2`."""
    known = separable(draw)
    count = len(known.base)
    return Merge({**known.z, tuple(int(i < 2) for i in range(count)): Fraction(1)}, known.base, known.tasks)


def check_separable(instance: Merge) -> Iterator[Relation]:
    """`E = 0`."""
    yield equal("E = 0", instance.error(), 0)


@dataclass(frozen=True)
class Models:
    """A polynomial for each token at each prefix."""

    size: int
    length: int
    z: dict[tuple[Prefix, int], Polynomial]
    base: Point
    tasks: tuple[Point, ...]

    def at(self, point: Point) -> dict[Prefix, tuple[int, ...]]:
        """The logits, whole numbers."""
        prefixes = {h for h, _ in self.z}
        return {h: tuple(int(value(self.z[h, y], point)) for y in range(self.size)) for h in prefixes}

    def errors(self, prefix: Prefix) -> list[int]:
        """`E(h, y)` by token."""
        return [int(Merge(self.z[prefix, y], self.base, self.tasks).error()) for y in range(self.size)]

    @property
    def compared(self) -> Compared:
        """The composition beside the merge."""

        def kernel(point: Point) -> dict[Prefix, tuple[Fraction, ...]]:
            logits = self.at(point)
            return {h: softmax(logits[h]) for h in sorted(logits, key=lambda h: (len(h), h))}

        experts = tuple(kernel(plus(self.base, task)) for task in self.tasks)
        family = Family(self.size, self.length, kernel(self.base), experts)
        return Compared(family, kernel(plus(self.base, *self.tasks)), {})


def models(draw: Draw) -> Models:
    """Quadratic logits with small whole coefficients."""
    of = Shape(draw.integer(2, 3), draw.integer(1, 2), draw.integer(1, 3), zeros=False)
    parameters = draw.integer(1, 2)

    def point() -> Point:
        return tuple(Fraction(draw.integer(-1, 1)) for _ in range(parameters))

    z = {(h, y): polynomial(draw, parameters, 2) for h in of.prefixes for y in range(of.size)}
    return Models(of.size, of.length, z, point(), tuple(point() for _ in range(of.experts)))


def check_models(instance: Models) -> Iterator[Relation]:
    """The oscillation of `E` is that of the logits of composition and merge."""
    compared = instance.compared
    family, composed = compared.family, compared.composed
    ratios: dict[Prefix, Fraction] = {}
    for h in family.prefixes:
        errors = instance.errors(h)
        ratios[h] = Fraction(2) ** (max(errors) - min(errors))
        yield equal("o(h) = osc(E)", compared.range(h), ratios[h])
        yield within_tanh(
            "TV(merge, p^) <= tanh(osc(E)/4)", row_tv(compared.reference[h], composed.kernel[h]), ratios[h]
        )
    law = compared.law
    steps = math.fsum(float(compared.mass(h)) * log(ratios[h]) ** 2 / 8 for h in reach(law, family.length))
    yield at_most("KL(merge||P^) <= E sum_t osc(E)²/8", divergence(law, composed.local), steps)


def check_models_tighter(instance: Models) -> Iterator[Relation]:
    """False: `tanh(osc(E)/5)`."""
    compared = instance.compared
    for h in compared.family.prefixes:
        errors = instance.errors(h)
        oscillation = (max(errors) - min(errors)) * math.log(2)
        tv = row_tv(compared.reference[h], compared.composed.kernel[h])
        yield at_most("TV(merge, p^) <= tanh(osc(E)/5)", float(tv), math.tanh(oscillation / 5))


STATEMENTS = (
    Statement(
        number="9.2 (formula)",
        kind="theorem",
        sentence="what a merge adds to the composed logits is an integral of cross second derivatives",
        equation="E = sum_{m=2}^k ∫∫ ∇²z(θ_b + sτ_{<m} + uτ_m)[τ_{<m}, τ_m] ds du",
        hypotheses=("z twice continuously differentiable; here a polynomial of degree <= 5",),
        draw=quintic,
        check=check_formula,
        controls=(
            Control("the integrals after the first", quintic, check_formula_first),
            Control("the integral, for the value at the base point", quintic, check_formula_of_second_order),
        ),
        weight=2,
    ),
    Statement(
        number="9.2 (bound)",
        kind="theorem",
        sentence="only the curvature across task vectors counts",
        equation="|E| <= sum_{i<j} sup|∇²z[τ_i, τ_j]|",
        hypotheses=("the supremum over θ_b + sum_i [0, 1] τ_i",),
        draw=cubic,
        check=check_bound,
        controls=(
            Control("cross curvature, for the task vectors' own", cubic, check_bound_by_own_curvature),
            Control("the constant: a half", cubic, check_bound_by_half),
        ),
        weight=4,
    ),
    Statement(
        number="9.2 (order)",
        kind="theorem",
        sentence="the error is of second order in the size of the task vectors",
        equation="E(sτ) = s² sum_{i<j} ∇²z(θ_b)[τ_i, τ_j] + O(s³)",
        draw=cubic,
        check=check_order,
        controls=(Control("the second order", cubic, check_order_three),),
        not_checked="polynomials of higher degree",
        weight=2,
    ),
    Statement(
        number="9.2 (separable)",
        kind="counterexample",
        sentence="nonlinear logits merge exactly where each task vector has its own parameters and these do not mix",
        equation="z = sum_i f_i(θ_i):   E = 0",
        draw=separable,
        check=check_separable,
        controls=(Control("z = sum_i f_i(θ_i)", not_separable),),
    ),
    Statement(
        number="9.2 (kernels)",
        kind="theorem",
        sentence="merge and composition are as far apart as E oscillates",
        equation="TV(merge, p^) <= tanh(osc(E)/4),   KL(merge||P^) <= E sum_t osc(E)²/8",
        draw=models,
        check=check_models,
        controls=(Control("the constant: tanh(osc(E)/5)", models, check_models_tighter),),
        weight=2,
    ),
)
