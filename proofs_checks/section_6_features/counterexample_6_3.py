"""CE 6.3 (xor): factorized in features, and yet the stepwise sampler of tokens misses the target."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.features import Featured, Map, tree_isomorphism
from proofs_checks.definitions.laws import law, law_tv, marginal, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, constant, equal

XOR: Map = {(one, other): (one ^ other, other) for one, other in sequences(2, 2)}
UNIFORM = law("00: 1/4  01: 1/4  10: 1/4  11: 1/4")
FIRST = law("00: 3/8  01: 3/8  10: 1/8  11: 1/8")
SECOND = law("00: 3/8  01: 1/8  10: 3/8  11: 1/8")
CASE = Featured(2, 2, XOR, ((0,), (1,)), (UNIFORM, FIRST, SECOND))


def check(case: Featured) -> Iterator[Relation]:
    """Its rationals."""
    composed = compose(case.tokens)
    local, whole = case.pushed(composed.local), case.pushed(composed.global_)
    yield equal("Z(0) = 5/4", composed.normalizer[0,], Fraction(5, 4))
    yield equal("Z(1) = 3/4", composed.normalizer[1,], Fraction(3, 4))
    yield equal("P_G = the target", whole, case.target)
    for position in range(2):
        yield equal("P_G(z_i = 1) = 1/4", marginal(whole, (position,))[1,], Fraction(1, 4))
        yield equal("P_L(z_i = 1) = 3/10", marginal(local, (position,))[1,], Fraction(3, 10))
    yield equal("TV(P_L, P_G) = 1/8", law_tv(local, whole), Fraction(1, 8))


def token_by_token(draw: Draw) -> Featured:
    """A prefix-dependent relabelling."""
    return replace(CASE, features=tree_isomorphism(draw, 2, 2))


def check_differ(case: Featured) -> Iterator[Relation]:
    """What the counterexample shows."""
    composed = compose(case.tokens)
    yield equal("P_L != P_G", composed.local == composed.global_, False)


STATEMENTS = (
    Statement(
        number="6.3",
        kind="counterexample",
        sentence="features y_1⊕y_2 and y_2: the sampler's marginals are 3/10 in place of 1/4",
        equation="Z(0) = 5/4, Z(1) = 3/4,   P_L(z_i = 1) = 3/10,   P_G(z_i = 1) = 1/4,   TV = 1/8",
        cases=constant(CASE),
        check=check,
        controls=(Control("the xor: a relabelling token by token", token_by_token, check_differ),),
        not_checked="that no smaller case does it: T = 1 and k = 1 are 1.5 (5)",
    ),
)
