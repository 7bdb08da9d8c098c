"""Proposition 1.9 (b): hard constraints compose exactly even where they overlap."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, free, shape
from proofs_checks.definitions.laws import given, support
from proofs_checks.definitions.operator import compose, tilted
from proofs_checks.statement import Control, Relation, Statement, equal


@dataclass(frozen=True)
class Constraints:
    """A family of hard constraints, the sets `A_i` by prefix, and weights."""

    family: Family
    allowed: tuple[dict[tuple[int, ...], set[int]], ...]
    weights: tuple[Fraction, ...]


def constraints(draw: Draw) -> Constraints:
    """`p_i = p_b(.|A_i)`, where `p_b(A_i|h) > 0`; the sets may have nothing in common."""
    of = shape(draw, sizes=(1, 3), zeros=draw.one_in(2))
    base = free(draw, replace(of, experts=1))
    allowed = []
    for _ in range(of.experts):
        sure = {h: draw.pick(sorted(support(row))) for h, row in base.background.items()}
        allowed.append({h: {sure[h], *draw.subset(range(of.size))} for h in base.background})
    experts = tuple({h: given(row, sets[h]) for h, row in base.background.items()} for sets in allowed)
    weights = tuple(Fraction(draw.integer(1, 3)) for _ in experts)
    return Constraints(replace(base, experts=experts), tuple(allowed), weights)


def softened(draw: Draw) -> Constraints:
    """The experts tilt within their sets."""
    hard = constraints(draw)
    family = hard.family
    soft = tuple({h: draw.row_inside(row) for h, row in expert.items()} for expert in family.experts)
    return replace(hard, family=replace(family, experts=soft))


def check_constraints(instance: Constraints) -> Iterator[Relation]:
    """Weights do nothing, repetition does nothing, and constraints intersect."""
    family = instance.family
    for expert in family.experts:
        for weight in (Fraction(2), Fraction(3)):
            tilts = {h: tilted(row, family.background[h], weight) for h, row in expert.items()}
            yield equal("λ-invariant: p_i^(λ) = p_i", tilts, dict(expert))
        twice = compose(replace(family, experts=(expert, expert)), "strict")
        yield equal("idempotent: p_i composed with itself is p_i", dict(twice.kernel), dict(expert))
    composed = compose(family, "strict", instance.weights)
    for h, row in family.background.items():
        common = set.intersection(*(sets[h] for sets in instance.allowed))
        if any(row[token] for token in common):
            yield equal("p^ = p_b(.|A_1 ∩ … ∩ A_k)", composed.kernel[h], given(row, common))
        else:
            yield equal("Z = 0 where p_b(A_1 ∩ … ∩ A_k|h) = 0", composed.normalizer[h], 0)


STATEMENTS = (
    Statement(
        number="1.9 (b)",
        kind="proposition",
        sentence="hard constraints ignore weights and repetition, and compose exactly although they overlap",
        equation="p_i = p_b(.|A_i): p^ = p_b(.|A_1 ∩ … ∩ A_k) where p_b(A_1 ∩ … ∩ A_k|h) > 0",
        hypotheses=("λ_i > 0",),
        draw=constraints,
        check=check_constraints,
        controls=(Control("hard: experts that tilt within their sets", softened),),
        not_checked="weights that are not whole",
    ),
)
