"""Beside Theorem 4.4: looser wordings that fail, and exact compositions of experts that overlap."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import (
    Family,
    Shape,
    common_support,
)
from proofs_checks.definitions.laws import row, support
from proofs_checks.definitions.one_step import one_step
from proofs_checks.definitions.operator import compose
from proofs_checks.section_4_joint.theorem_4_4 import Step
from proofs_checks.section_4_joint.theorem_4_4_converses import THREE_EXPERTS, is_expert
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

LOOSE: Step = Step(row("1 0"), (row("1 0"), row("1/2 1/2")), "cancel")


def check_loose(step: Step) -> Iterator[Relation]:
    """(1) without `w = 0` off `supp p_i`."""
    family = one_step([step.background, *step.experts])
    ratios = {step.experts[1][y] / step.background[y] for y in support(step.experts[0])}
    yield equal("r_2 = 1/2 on supp p_1", ratios, {Fraction(1, 2)})
    result = compose(family, step.null).kernel[()]
    yield fact("p^ = p_2 != p_1", result == step.experts[1] != step.experts[0])


DROPPED = one_step([row("1 0"), row("1/2 1/2")])


def check_dropped(family: Family) -> Iterator[Relation]:
    """(2) under `drop` without absolute continuity."""
    composed = compose(family, "drop")
    yield equal("p^ = (1, 0)", composed.kernel[()], row("1 0"))
    yield equal("Z = 1/2", composed.normalizer[()], Fraction(1, 2))


@dataclass(frozen=True)
class Exact:
    """A family in which two experts deviate and the composition is one of the models, and why."""

    family: Family
    why: str


NOT_NECESSARY = (
    Exact(one_step([row("1/2 1/2"), row("1 0"), row("1/4 3/4")]), "(i) p_1 is deterministic, p_2 > 0 there"),
    Exact(THREE_EXPERTS, "(ii) k = 3, r_2 r_3 constant"),
    Exact(
        one_step([row("1/4 1/4 1/4 1/4"), row("1/2 1/2 0 0"), row("1/3 1/3 1/3 0")]),
        "(iii) hard constraints, one inside the other",
    ),
)


def check_not_necessary(instance: Exact) -> Iterator[Relation]:
    """Two deviate; the composition is an expert."""
    family = instance.family
    composed = compose(family, "strict")
    yield fact("two experts deviate", sum(e[()] != family.background[()] for e in family.experts) >= 2)
    yield fact("p^ is one of the experts", is_expert(family, composed.kernel))


def overlap_with_full_support(draw: Draw) -> Exact:
    """Two experts, all tokens possible: (3) applies."""
    return Exact(common_support(draw, Shape(2, 1, 2, zeros=False)), "nothing")


def deterministic(draw: Draw) -> Family:
    """Two tokens; expert 1 insists on one of them, which expert 2 allows."""
    size = draw.integer(2, 3)
    token = draw.integer(0, size - 1)
    return one_step([draw.row(size), tuple(Fraction(y == token) for y in range(size)), draw.row(size)])


def check_deterministic(family: Family) -> Iterator[Relation]:
    """It wins."""
    yield equal("p^ = p_1", compose(family, "strict").kernel[()], family.experts[0][()])


def tilted_both(draw: Draw) -> Family:
    """Two experts of full support that differ from the background."""
    return one_step([row("1/2 1/2"), row("1/4 3/4"), draw.pick((row("1/3 2/3"), row("3/4 1/4")))])


STATEMENTS = (
    Statement(
        number="4.4 (1) looser",
        kind="counterexample",
        sentence="under cancel a constant ratio on the expert's support is not enough",
        equation="p_b = p_1 = (1,0), p_2 = (1/2,1/2): r_2 = 1/2 on supp p_1, p^ = p_2",
        cases=constant(LOOSE),
        check=check_loose,
        controls=(Control("a token is opened", lambda draw: Step(row("1/2 1/2"), (row("1/2 1/2"),) * 2, "cancel")),),
    ),
    Statement(
        number="4.4 (2) looser",
        kind="counterexample",
        sentence="under drop a sole deviator that opens a token is not reproduced",
        equation="p_b = (1,0), p_1 = (1/2,1/2): p^ = (1,0), Z = 1/2",
        cases=constant(DROPPED),
        check=check_dropped,
        controls=(Control("a token is opened", lambda draw: common_support(draw, Shape(2, 1, 1, zeros=False))),),
    ),
    Statement(
        number="4.4 not necessary",
        kind="counterexample",
        sentence="outside (3) experts may overlap and compose exactly: deterministic, three experts, hard constraints",
        equation="(i) p_1 = (1,0);  (ii) p_b uniform, p_2 = (1,1,10)/12, p_3 = (10,10,1)/21;  (iii) p_i = p_b(.|A_i)",
        cases=lambda: NOT_NECESSARY,
        check=check_not_necessary,
        controls=(Control("(i), (ii), (iii)", overlap_with_full_support),),
    ),
    Statement(
        number="4.4 not necessary (i)",
        kind="remark",
        sentence="a deterministic expert beats anything that allows its token",
        equation="p_1 = 1{y = a}, p_2(a) > 0: p^ = p_1",
        draw=deterministic,
        check=check_deterministic,
        controls=(Control("deterministic", tilted_both),),
    ),
)
