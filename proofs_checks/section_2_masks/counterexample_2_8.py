"""CE 2.8: mask agreement gives kernels, not marginals."""

from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, factorized, mask_agreeing
from proofs_checks.definitions.laws import kernel, law_of, marginal
from proofs_checks.definitions.masks import mask_agreement
from proofs_checks.definitions.operator import compose
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

BACKGROUND = kernel({"": "1/4 3/4", "0": "1/4 3/4", "1": "1/4 3/4"})
FIRST = BACKGROUND | kernel({"": "1/2 1/2"})
SECOND = BACKGROUND | kernel({"1": "1/2 1/2"})
FAMILY = Family(2, 2, BACKGROUND, (FIRST, SECOND), masks=((0,), (1,)))


def check(family: Family) -> Iterator[Relation]:
    """Its rationals."""
    composed = compose(family, "strict")
    expert = law_of(family.experts[1], family.size, family.length)
    yield fact("MA everywhere", mask_agreement(family, family.prefixes))
    yield equal("P_2(y_2 = 1) = 9/16", marginal(expert, (1,))[1,], Fraction(9, 16))
    yield equal("P^(y_2 = 1) = 5/8", marginal(composed.local, (1,))[1,], Fraction(5, 8))
    found = verdicts(family, "strict")
    claims = found["mask_agreement"], found["projective"]
    yield equal("verify(): mask_agreement holds, projective is refuted", claims, (True, False))


def smaller(draw: Draw) -> Family:
    """MA at every prefix, with one token, one step or one expert; tokens may be opened."""
    size, length, k = draw.pick(((1, 3, 3), (3, 1, 3), (2, 3, 1), (3, 2, 1)))
    return mask_agreeing(draw, Shape(size, length, k, draw.one_in(2)))


def check_smaller(family: Family) -> Iterator[Relation]:
    """Projective on every mask."""
    composed = compose(family).local
    for expert, mask in zip(family.experts, family.masks, strict=True):
        law = law_of(expert, family.size, family.length)
        yield equal("P^^{M_i} = P_i^{M_i}", marginal(composed, mask), marginal(law, mask))


STATEMENTS = (
    Statement(
        number="2.8",
        kind="counterexample",
        sentence="mask agreement does not make the composition projective",
        equation="p_b = (1/4,3/4), p_1(.|∅) = p_2(.|1) = (1/2,1/2): P_2(y_2 = 1) = 9/16, P^(y_2 = 1) = 5/8",
        cases=constant(FAMILY),
        check=check,
        controls=(Control("expert 2 reads position 1", lambda draw: factorized(draw, Shape(2, 2, 2, zeros=False))),),
    ),
    Statement(
        number="2.8 smallest",
        kind="remark",
        sentence="with one token, one step or one expert mask agreement is projective",
        equation="|V| = 1, T = 1 or k = 1: P^^{M_i} = P_i^{M_i}",
        hypotheses=("MA at every prefix", "cancel"),
        draw=smaller,
        check=check_smaller,
        controls=(Control("|V| = 1, T = 1 or k = 1", lambda draw: mask_agreeing(draw, Shape(2, 2, 2, zeros=False))),),
    ),
)
