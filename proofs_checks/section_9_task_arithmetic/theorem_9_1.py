"""Theorem 9.1: with logits affine in the parameters, adding task vectors is composing locally.

Logits are whole numbers in units of log 2, so both sides are fractions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, Shape, shape
from proofs_checks.definitions.laws import Prefix, Row, law_of
from proofs_checks.definitions.logits import Logits, kernel_of, softmax
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, equal

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Affine:
    """`z_θ(h) = c(h) + J(h)θ (+ curvature · (prod θ) at token 0)`; a base point, task vectors and their weights."""

    size: int
    length: int
    constant: Logits
    slopes: tuple[Logits, ...]
    base: Vector
    tasks: tuple[Vector, ...]
    weights: Vector
    curvature: int = 0

    def logits(self, at: Vector) -> Logits:
        """`z_at`."""
        bent = self.curvature * math.prod(at)
        return {
            h: tuple(
                z + sum(x * slope[h][y] for x, slope in zip(at, self.slopes, strict=True)) + (bent if y == 0 else 0)
                for y, z in enumerate(row)
            )
            for h, row in self.constant.items()
        }

    @property
    def family(self) -> Family:
        """The background at the base point, an expert at the base point plus each task vector."""
        points = [tuple(b + t for b, t in zip(self.base, task, strict=True)) for task in self.tasks]
        experts = tuple(kernel_of(self.logits(point)) for point in points)
        return Family(self.size, self.length, kernel_of(self.logits(self.base)), experts)

    @property
    def merged(self) -> Logits:
        """The logits at `θ_b + sum λ_i τ_i`."""
        point = tuple(
            b + sum(weight * task[place] for weight, task in zip(self.weights, self.tasks, strict=True))
            for place, b in enumerate(self.base)
        )
        return self.logits(point)


def affine(draw: Draw, wanted: Shape | None = None, *, positive: bool = False) -> Affine:
    """Small whole slopes; weights from -1 to 3, or positive."""
    of = wanted or shape(draw)
    parameters = draw.integer(1, 3)

    def rows() -> Logits:
        return {h: tuple(draw.integer(-2, 2) for _ in range(of.size)) for h in of.prefixes}

    def vector() -> Vector:
        return tuple(draw.integer(-1, 2) for _ in range(parameters))

    weights = tuple(
        draw.integer(1, 3) if positive or draw.one_in(2) else draw.integer(-1, 3) for _ in range(of.experts)
    )
    return Affine(
        of.size,
        of.length,
        rows(),
        tuple(rows() for _ in range(parameters)),
        vector(),
        tuple(vector() for _ in range(of.experts)),
        weights,
    )


def weighed(family: Family, weights: Vector, prefix: Prefix) -> Row:
    """`p_b prod (p_i/p_b)^λ_i`, normalised."""
    base = family.background[prefix]
    ratios = [
        math.prod(((expert[prefix][y] / b) ** weight for expert, weight in zip(family.experts, weights, strict=True)))
        for y, b in enumerate(base)
    ]
    return normalised([b * ratio for b, ratio in zip(base, ratios, strict=True)])


def check(instance: Affine) -> Iterator[Relation]:
    """At each prefix, and over sequences."""
    family, merged = instance.family, kernel_of(instance.merged)
    for h in family.prefixes:
        yield equal("softmax z_{θ_b + sum λτ} = p^_λ", merged[h], weighed(family, instance.weights, h))
    if min(instance.weights) > 0:
        composed = compose(family, weights=[Fraction(weight) for weight in instance.weights])
        yield equal("the merge is the local composition", law_of(merged, family.size, family.length), composed.local)


def check_global(instance: Affine) -> Iterator[Relation]:
    """False: the merge is the global composition."""
    family, merged = instance.family, kernel_of(instance.merged)
    composed = compose(family, weights=[Fraction(weight) for weight in instance.weights])
    yield equal("the merge is the global composition", law_of(merged, family.size, family.length), composed.global_)


def curved(draw: Draw) -> Affine:
    """`z` has a term in the product of the parameters."""
    known = affine(draw, Shape(2, 1, 2, zeros=False), positive=True)
    return replace(known, curvature=1)


def two_experts(draw: Draw) -> Affine:
    """Two steps, two experts: local and global differ."""
    return affine(draw, Shape(2, 2, 2, zeros=False), positive=True)


@dataclass(frozen=True)
class Merge:
    """Logits of the models and of a merge, tables without a common parameter."""

    affine: Affine
    merge: Logits


def merge(draw: Draw) -> Merge:
    """The composed logits, shifted at each prefix, and at times changed at one token."""
    known = affine(draw, shape(draw), positive=True)
    merged: dict[Prefix, tuple[int, ...]] = {}
    for h, z in known.merged.items():
        shift, changed = draw.integer(-2, 2), draw.integer(-known.size, known.size - 1)
        merged[h] = tuple(cell + shift + (y == changed) for y, cell in enumerate(z))
    return Merge(known, merged)


def composed_logits(instance: Affine, prefix: Prefix) -> Vector:
    """`z_b + sum λ_i (z_i - z_b)` from the models' own logits."""
    base = instance.logits(instance.base)[prefix]
    points = [tuple(b + t for b, t in zip(instance.base, task, strict=True)) for task in instance.tasks]
    experts = [instance.logits(point)[prefix] for point in points]
    return tuple(
        z + sum(weight * (row[y] - z) for weight, row in zip(instance.weights, experts, strict=True))
        for y, z in enumerate(base)
    )


def check_converse(instance: Merge) -> Iterator[Relation]:
    """Same kernels, same logits up to a shift at each prefix."""
    family = instance.affine.family
    for h, z in instance.merge.items():
        gaps = {one - other for one, other in zip(z, composed_logits(instance.affine, h), strict=True)}
        same = softmax(z) == weighed(family, instance.affine.weights, h)
        yield equal("softmax z = p^_λ iff z - (z_b + sum λ(z_i - z_b)) is constant", same, len(gaps) == 1)


def check_no_shift(instance: Merge) -> Iterator[Relation]:
    """False: same kernels, same logits."""
    family = instance.affine.family
    for h, z in instance.merge.items():
        same = softmax(z) == weighed(family, instance.affine.weights, h)
        yield equal("softmax z = p^_λ iff z is the sum", same, z == composed_logits(instance.affine, h))


AFFINE = "z_θ(h) = c(h) + J(h)θ"

STATEMENTS = (
    Statement(
        number="9.1",
        kind="theorem",
        sentence="with logits affine in the parameters, merging task vectors is composing locally",
        equation="softmax z_{θ_b + sum λ_i τ_i} = p^_λ at each prefix",
        hypotheses=(AFFINE,),
        draw=affine,
        check=check,
        controls=(
            Control(AFFINE, curved),
            Control("that the composition is local", two_experts, check_global),
        ),
        not_checked="weights that are not whole",
    ),
    Statement(
        number="9.1 (converse)",
        kind="theorem",
        sentence="a merge is the composition only if its logits are the sum, up to a shift at each prefix",
        equation="softmax z = p^_λ iff z - (z_b + sum λ_i (z_i - z_b)) is constant in the token",
        draw=merge,
        check=check_converse,
        controls=(Control("the shift", merge, check_no_shift),),
    ),
)
