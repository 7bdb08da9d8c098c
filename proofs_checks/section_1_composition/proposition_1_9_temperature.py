"""Proposition 1.9 (c): temperature commutes with local composition, row by row, under strict and drop."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, Kernel, Shape, common_support, free, shape
from proofs_checks.definitions.laws import conditionals, kernel, law_of, normalised_law
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import one_opening
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

HALVES = kernel({"": "1/2 1/2", "0": "1/2 1/2", "1": "1/2 1/2"})


@dataclass(frozen=True)
class Tempered:
    """A family, a convention and a temperature `1/β`."""

    family: Family
    null: NullTokens
    β: int


def tempered(draw: Draw) -> Tempered:
    """`drop`, or `strict` with `p_i << p_b`; dead prefixes too."""
    null: NullTokens = draw.pick(("drop", "strict"))
    family = free(draw, shape(draw, sizes=(1, 3), zeros=True), dominated=null == "strict")
    return Tempered(family, null, draw.integer(2, 3))


def sharper(rows: Kernel, β: int) -> Kernel:
    """Each row `∝ p^β`."""
    return {h: normalised([mass**β for mass in row]) for h, row in rows.items()}


def check_tempering(instance: Tempered) -> Iterator[Relation]:
    """Row by row: tempered and composed, composed and tempered."""
    family, β = instance.family, instance.β
    cold = replace(
        family, background=sharper(family.background, β), experts=tuple(sharper(e, β) for e in family.experts)
    )
    after = sharper(compose(family, instance.null).kernel, β)
    yield equal("tempered, then composed = composed, then tempered", dict(compose(cold, instance.null).kernel), after)


OPENED = Family(3, 1, kernel({"": "1/2 1/2 0"}), (kernel({"": "1/4 1/4 1/2"}), kernel({"": "1/4 3/4 0"})))


def check_tempering_under_cancel(family: Family) -> Iterator[Relation]:
    """Its rationals: before and after."""
    cold = replace(
        family, background=sharper(family.background, 2), experts=tuple(sharper(e, 2) for e in family.experts)
    )
    before, after = compose(cold).kernel[()], sharper(compose(family).kernel, 2)[()]
    yield equal("tempered, then composed: (1, 9, 20)/30", before, normalised((1, 9, 20)))
    yield equal("composed, then tempered: (1, 9, 16)/26", after, normalised((1, 9, 16)))


TILTED = HALVES | kernel({"1": "1/4 3/4"})
SEQUENCES = Family(2, 2, HALVES, (TILTED, TILTED))


def check_whole_sequences(family: Family) -> Iterator[Relation]:
    """Tempering of sequence probabilities at β = 2, before and after local composition."""

    def cold(rows: Kernel) -> Kernel:
        masses = {y: mass**2 for y, mass in law_of(rows, family.size, family.length).items()}
        return conditionals(normalised_law(masses), family.size, family.length)

    colder = replace(family, background=cold(family.background), experts=tuple(map(cold, family.experts)))
    before = compose(colder, "strict").local
    after = law_of(cold(compose(family, "strict").kernel), family.size, family.length)
    yield fact("tempered, then composed differs from composed, then tempered", before != after)


STATEMENTS = (
    Statement(
        number="1.9 (c)",
        kind="proposition",
        sentence="tempering every row commutes with local composition under strict and drop",
        equation="(p_b^β, p_i^β) composed = (p_b, p_i) composed, ^β",
        hypotheses=("strict or drop", "one β > 0 for all models"),
        draw=tempered,
        check=check_tempering,
        controls=(
            Control(
                "strict or drop: cancel instead",
                lambda draw: Tempered(one_opening(draw, Shape(3, 1, 2, zeros=True)), "cancel", 2),
            ),
        ),
        not_checked="β that is not whole",
    ),
    Statement(
        number="1.9 (c) cancel",
        kind="counterexample",
        sentence="under cancel tempering does not commute where another expert deviates",
        equation="p_b = (1/2,1/2,0), p_1 = (1/4,1/4,1/2), p_2 = (1/4,3/4,0), β = 2: (1,9,20)/30 against (1,9,16)/26",
        cases=constant(OPENED),
        check=check_tempering_under_cancel,
        controls=(Control("a token is opened", lambda draw: common_support(draw, Shape(3, 1, 2, zeros=False))),),
    ),
    Statement(
        number="1.9 (c) sequences",
        kind="counterexample",
        sentence="tempering of sequence probabilities does not commute with local composition",
        equation="p_b uniform, p_1 = p_2, p_1(.|1) = (1/4,3/4), else uniform: β = 2",
        cases=constant(SEQUENCES),
        check=check_whole_sequences,
        controls=(Control("two steps", lambda draw: common_support(draw, Shape(2, 1, 2, zeros=False))),),
    ),
)
