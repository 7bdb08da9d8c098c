"""Theorem 2.2 (projectivity): under factorized conditionals each expert keeps its own block."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, factorized, mask_agreeing, shape
from proofs_checks.definitions.laws import law_of, marginal, product_law
from proofs_checks.definitions.masks import factorized_conditionals
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.recipes import opened_blocks, other_rows_off_reach
from proofs_checks.statement import Control, Relation, Statement, equal, fact


def check(family: Family) -> Iterator[Relation]:
    """The composition is the product of the blocks' laws, by either operator, and no prefix needs a normalizer."""
    composed = compose(family, "strict")
    background = law_of(family.background, family.size, family.length)
    marginals = {
        mask: marginal(law_of(expert, family.size, family.length), mask)
        for mask, expert in zip(family.masks, family.experts, strict=True)
        if mask
    }
    if family.background_positions:
        marginals[family.background_positions] = marginal(background, family.background_positions)
    target = product_law(marginals, family.length)
    yield equal("P_L = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}", composed.local, target)
    for null in ("drop", "cancel"):
        yield equal("P_L is the same under drop and cancel", compose(family, null).local, target)
    yield equal("P_G = P_L", composed.global_, composed.local)
    yield equal("Z_G = 1", composed.global_normalizer, 1)
    yield fact("Z = 1 on R^", all(composed.normalizer.get(h) == 1 for h in composed.reachable))
    for block, law in marginals.items():
        yield equal("the marginal on a block is its owner's", marginal(composed.local, block), law)


def check_hypothesis(family: Family) -> Iterator[Relation]:
    """The recipe's word: FC, as Definition 2.1 has it."""
    yield fact("FC", factorized_conditionals(family))
    yield from check(family)


def dependent(draw: Draw) -> Family:
    """Experts agree with the background off their masks, but nothing is independent (2.8)."""
    return mask_agreeing(draw, Shape(2, 2, 2, zeros=False), dominated=True)


STATEMENTS = (
    Statement(
        number="2.2",
        kind="theorem",
        sentence="under factorized conditionals the composition is projective on every block",
        equation="P_L = P_G = P_b^{M_b} ⊗ ⊗_i P_i^{M_i},   Z = 1 on R^,   Z_G = 1",
        hypotheses=("(a) P_b = ⊗_j P_b^{M_j}", "(b) P_i = P_i^{M_i} ⊗ P_b^{M_i^c}", "(c) P_i^{M_i} << P_b^{M_i}"),
        draw=lambda draw: other_rows_off_reach(draw, factorized(draw, shape(draw, sizes=(1, 3)))),
        check=check_hypothesis,
        controls=(
            Control("(a) and (b), keeping agreement off the masks", dependent, check),
            Control("(c)", lambda draw: opened_blocks(draw, Shape(2, 2, 2, zeros=True)), check),
        ),
    ),
)
