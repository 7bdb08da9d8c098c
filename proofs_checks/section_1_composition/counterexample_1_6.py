"""CE 1.6: the smallest family for which composing step by step is not composing whole sequences."""

from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support
from proofs_checks.definitions.laws import kernel, law
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

BACKGROUND = kernel({"": "1/4 3/4", "0": "1/4 3/4", "1": "1/4 3/4"})
EXPERT = kernel({"": "1/4 3/4", "0": "1/4 3/4", "1": "1/2 1/2"})
FAMILY = Family(2, 2, BACKGROUND, (EXPERT, EXPERT))


def check(family: Family) -> Iterator[Relation]:
    """Its rationals."""
    composed = compose(family)
    local = law("00: 1/16  01: 3/16  10: 9/16  11: 3/16")
    whole = law("00: 1/20  01: 3/20  10: 3/5  11: 1/5")
    yield equal("Z(1) = 4/3", composed.normalizer[1,], Fraction(4, 3))
    yield equal("Z_G = 5/4", composed.global_normalizer, Fraction(5, 4))
    yield equal("P_L = (1, 3, 9, 3)/16", composed.local, local)
    yield equal("P_G = (1, 3, 12, 4)/20", composed.global_, whole)
    yield fact("P_G != P_L", composed.global_ != composed.local)


def one_expert(draw: Draw) -> Family:
    """`k = 1` or `T = 1`: too small to tell them apart (1.5 (5))."""
    if draw.one_in(2):
        return common_support(draw, Shape(2, 2, 1, zeros=False))
    return common_support(draw, Shape(2, 1, 2, zeros=False))


def check_differ(family: Family) -> Iterator[Relation]:
    """What the counterexample shows."""
    composed = compose(family)
    yield fact("P_G != P_L", composed.global_ != composed.local)


STATEMENTS = (
    Statement(
        number="1.6",
        kind="counterexample",
        sentence="local and global composition differ, for two tokens, two steps and two experts",
        equation="P_L = (1, 3, 9, 3)/16,   P_G = (1, 3, 12, 4)/20",
        cases=constant(FAMILY),
        check=check,
        controls=(Control("two steps and two experts", one_expert, check_differ),),
        not_checked="that no smaller family does it: T = 1 and k = 1 are 1.5 (5), |V| = 1 has one law",
    ),
)
