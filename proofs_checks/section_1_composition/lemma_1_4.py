"""Lemma 1.4 (support): what the composition allows, what it reaches, and where it dies."""

from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, free, shape
from proofs_checks.definitions.laws import kernel, law, law_of, reach, support
from proofs_checks.definitions.operator import NullTokens, compose, probability_of
from proofs_checks.definitions.recipes import one_opening
from proofs_checks.definitions.skills import deviating
from proofs_checks.library import composed_kernel, verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

Case = tuple[Family, NullTokens]

CERTAIN = kernel({"": "1 0", "0": "1 0", "1": "1 0"})
OPENING = kernel({"": "1/2 1/2", "0": "1 0", "1": "0 1"})
AFTER_OPENING = kernel({"": "1 0", "0": "1 0", "1": "3/4 1/4"})
OUT_OF_REACH = Family(2, 2, CERTAIN, (OPENING, AFTER_OPENING))
"""`p_1` opens token 1; after it `p_1` and `p_2` both deviate, where neither the background nor `p_2` gets to."""

UNIFORM = kernel({"": "1/2 1/2", "0": "1/2 1/2", "1": "1/2 1/2"})
DEAD = Family(2, 2, UNIFORM, (UNIFORM | kernel({"1": "1 0"}), UNIFORM | kernel({"1": "0 1"})))


def strict_or_drop(draw: Draw) -> Case:
    """Any family under `drop`, and one with `p_i << p_b` under `strict`."""
    null: NullTokens = draw.pick(("drop", "strict"))
    return free(draw, shape(draw, sizes=(1, 3), zeros=True), dominated=null == "strict"), null


def check(case: Case) -> Iterator[Relation]:
    """Supports row by row; reaches from the laws."""
    family, null = case
    composed = compose(family, null)
    models = (family.background, *family.experts)
    for h, row in composed.kernel.items():
        common = set.intersection(*(support(model[h]) for model in models))
        yield equal("supp p^ = supp p_b ∩ ⋂ supp p_i where Z > 0", support(row), common)
    reached = [reach(law_of(model, family.size, family.length), family.length) for model in models]
    yield equal("R^ = Reach(p_b) ∩ ⋂ Reach(p_i)", set(composed.reachable), set.intersection(*reached))


def check_out_of_reach(family: Family) -> Iterator[Relation]:
    """Under `cancel` `R^` leaves both reaches, and what holds on `Reach(p_2)` fails on `R^`."""
    background = reach(law_of(family.background, 2, 2), 2)
    second = reach(law_of(family.experts[1], 2, 2), 2)
    reached = set(compose(family).reachable)
    yield equal("R^ - Reach(p_b) = {1}", reached - background, {(1,)})
    yield equal("R^ - Reach(p_2) = {1}", reached - second, {(1,)})

    def overlap(scope: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
        return deviating(family.experts[0], family.background, scope) & deviating(
            family.experts[1], family.background, scope
        )

    yield equal("Dev_1 ∩ Dev_2 is empty on Reach(p_2)", overlap(second), set())
    yield equal("Dev_1 ∩ Dev_2 = {1} on R^", overlap(reached), {(1,)})
    yield equal("verify() looks at R^", verdicts(family)["well_defined"], False)


def check_dead(family: Family) -> Iterator[Relation]:
    """The local sampler dies, the global law is fine."""
    composed = compose(family, "strict")
    yield equal("dead = {1}", composed.dead, ((1,),))
    yield equal("P^(dead) = 1/2", sum(probability_of(composed.kernel, h) for h in composed.dead), Fraction(1, 2))
    yield equal("P_G = 1/2, 1/2 on 00, 01", composed.global_, law("00: 1/2  01: 1/2"))
    yield equal("compose() refuses", composed_kernel(family, "strict"), None)


def smaller(draw: Draw) -> Case:
    """`p_i << p_b`, with one token, one step, or one expert."""
    size, length, k = draw.pick(((1, 3, 3), (3, 1, 3), (2, 3, 1)))
    null: NullTokens = draw.pick(("strict", "cancel", "drop"))
    return free(draw, Shape(size, length, k, zeros=True), dominated=True), null


def check_smaller(case: Case) -> Iterator[Relation]:
    """No prefix is dead where the global law exists."""
    composed = compose(*case)
    yield fact("Z_G = 0, or R^ has no dead prefix", not composed.global_normalizer or not composed.dead)


def one_expert_dropped(draw: Draw) -> Case:
    """One expert, not dominated, under `drop`."""
    return free(draw, Shape(2, 2, 1, zeros=True)), "drop"


def one_opening_under_cancel(draw: Draw) -> Case:
    """An expert may open tokens."""
    return one_opening(draw, shape(draw)), "cancel"


STATEMENTS = (
    Statement(
        number="1.4",
        kind="lemma",
        sentence="under strict and drop the composition allows and reaches what all models do",
        equation="supp p^(.|h) = supp p_b ∩ ⋂ supp p_i,   R^ = Reach(p_b) ∩ ⋂ Reach(p_i)",
        hypotheses=("strict (no error) or drop",),
        draw=strict_or_drop,
        check=check,
        controls=(Control("strict or drop: cancel instead", one_opening_under_cancel),),
    ),
    Statement(
        number="1.4 under cancel",
        kind="counterexample",
        sentence="under cancel the composition reaches what neither background nor another expert does",
        equation="p_1 opens token 1: R^ - Reach(p_b) = R^ - Reach(p_2) = {1}; JF-pt on Reach(p_2), not on R^",
        cases=constant(OUT_OF_REACH),
        check=check_out_of_reach,
        controls=(Control("cancel: p_i << p_b", lambda draw: free(draw, Shape(2, 2, 2, zeros=True), dominated=True)),),
    ),
    Statement(
        number="1.4 dead prefix",
        kind="counterexample",
        sentence="the local sampler can die where the global law is fine",
        equation="p_1(.|1) = (1,0), p_2(.|1) = (0,1), else uniform: Z(1) = 0, P_G = 1/2, 1/2 on 00, 01",
        cases=constant(DEAD),
        check=check_dead,
        controls=(
            Control("p_1 and p_2 exclude each other", lambda draw: free(draw, Shape(2, 2, 2, zeros=False))),
            Control("drop, where one expert is enough", one_expert_dropped, check_smaller),
        ),
    ),
    Statement(
        number="1.4 smallest",
        kind="remark",
        sentence="a dead prefix takes two tokens, two steps and two experts, where p_i << p_b",
        equation="|V| = 1, T = 1 or k = 1: no dead prefix, or Z_G = 0",
        hypotheses=("p_i << p_b",),
        draw=smaller,
        check=check_smaller,
        controls=(
            Control(
                "|V| = 1, T = 1 or k = 1",
                lambda draw: (free(draw, Shape(2, 2, 2, zeros=True), dominated=True), "strict"),
            ),
        ),
    ),
)
