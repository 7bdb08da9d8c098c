"""Theorem 2.3 (stepwise characterisation): factorized conditionals, seen from the kernels."""

from collections.abc import Callable, Collection, Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, factorized, free, mask_agreeing, shape
from proofs_checks.definitions.laws import Kernel, Prefix, Row, kernel, law_of, marginal, own_history, reach
from proofs_checks.definitions.masks import factorized_conditionals
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.recipes import one_row_tilted, other_rows_off_reach, with_masks
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact


def dominated(draw: Draw) -> Family:
    """(c), since `p_i << p_b` where they reach; off their reach the rows are anything."""
    return other_rows_off_reach(draw, dominated_everywhere(draw))


def dominated_everywhere(draw: Draw) -> Family:
    """`p_i << p_b` at every prefix: factorized, so up to a row, agreeing off the masks, or anything."""
    of = shape(draw)
    kind = draw.integer(0, 4)
    if kind <= 2:
        family = factorized(draw, of)
        for _ in range(kind):
            family = one_row_tilted(draw, family)
        return family
    return with_masks(draw, free(draw, of, dominated=True)) if kind == 3 else mask_agreeing(draw, of, dominated=True)


def is_function(rows: Kernel, scope: Collection[Prefix], of: Callable[[Prefix], Prefix]) -> bool:
    """Whether on the scope the row is a function of the position and of `of(h)`."""
    seen: dict[tuple[int, Prefix], Row] = {}
    return all(seen.setdefault((len(h), of(h)), rows[h]) == rows[h] for h in scope)


def stepwise(family: Family, scopes: list[Collection[Prefix]] | None = None) -> bool:
    """(B), (I1) and (I2); `scopes`: where they are looked at, by default each model's reach."""
    models = (family.background, *family.experts)
    if scopes is None:
        scopes = [reach(law_of(model, family.size, family.length), family.length) for model in models]

    def own(h: Prefix) -> Prefix:
        return own_history(h, family.block(len(h)))

    if not is_function(family.background, scopes[0], own):
        return False
    β = {(len(h), own(h)): family.background[h] for h in scopes[0]}
    for mask, expert, scope in zip(family.masks, family.experts, scopes[1:], strict=True):
        inside = [h for h in scope if len(h) in mask]
        if not is_function(expert, inside, lambda h, mask=mask: own_history(h, mask)):
            return False
        if any(expert[h] != β.get((len(h), own(h))) for h in scope if len(h) not in mask):
            return False
    return True


def check(family: Family) -> Iterator[Relation]:
    """Kernels against laws."""
    yield equal("FC iff (B), (I1), (I2) on each model's reach", factorized_conditionals(family), stepwise(family))


def check_everywhere(family: Family) -> Iterator[Relation]:
    """False: kernels off reach count."""
    everywhere = stepwise(family, [family.prefixes] * (1 + len(family.experts)))
    yield equal("FC iff (B), (I1), (I2) at every prefix", factorized_conditionals(family), everywhere)


UNIFORM = kernel({"": "1/2 1/2", "0": "1/2 1/2", "1": "1/2 1/2"})
READS = UNIFORM | kernel({"0": "1/4 3/4", "1": "3/4 1/4"})
SURE = UNIFORM | kernel({"": "1 0"})
HIDDEN = Family(2, 2, UNIFORM, (READS, SURE), masks=((1,), (0,)))
"""Expert 1 reads position 1; expert 2 makes it certain, so that the composition never shows it."""


def check_on_reach_of_composition(family: Family) -> Iterator[Relation]:
    """(B), (I1), (I2) on `R^`, and no FC."""
    composed = compose(family, "strict")
    reached = list(composed.reachable)
    yield fact("(B), (I1), (I2) hold on R^", stepwise(family, [reached] * 3))
    yield fact("FC fails", not factorized_conditionals(family))
    second = marginal(composed.local, (1,))[0,], marginal(law_of(family.experts[0], 2, 2), (1,))[0,]
    yield equal("P^(y_2 = 0) = 1/4, P_1(y_2 = 0) = 1/2", second, (Fraction(1, 4), Fraction(1, 2)))
    yield equal("verify() refutes FC", verdicts(family)["factorized_conditionals"], False)


def own_histories(draw: Draw) -> Family:
    """Two binary steps, factorized: nothing is hidden."""
    return factorized(draw, Shape(2, 2, 2, zeros=False))


STATEMENTS = (
    Statement(
        number="2.3",
        kind="theorem",
        sentence="factorized conditionals are a property of the kernels, each on its model's reach",
        equation="FC iff (B) p_b(.|h) = β_t(h_{B(t)}), (I1) p_i(.|h) a function of h_{M_i}, (I2) p_i = β_t off M_i",
        hypotheses=("(c) P_i^{M_i} << P_b^{M_i}",),
        draw=dominated,
        check=check,
        controls=(Control("reach: all prefixes instead", dominated, check_everywhere),),
        weight=2,
    ),
    Statement(
        number="2.3 reach of the composition",
        kind="counterexample",
        sentence="to look where the composition reaches is not enough",
        equation="p_b uniform, p_2(.|∅) = (1,0), p_1(.|0) = (1/4,3/4), p_1(.|1) = (3/4,1/4), M_1 = {2}, M_2 = {1}",
        cases=constant(HIDDEN),
        check=check_on_reach_of_composition,
        controls=(Control("expert 1 reads the other block", own_histories),),
    ),
)
