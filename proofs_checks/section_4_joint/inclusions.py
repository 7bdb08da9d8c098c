"""The inclusions between factorized conditionals, mask agreement and both joint factorizabilities, after CE 4.6."""

from collections.abc import Iterator
from dataclasses import replace

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import (
    Family,
    Shape,
    common_support,
    factorized,
    interval_joint,
    mask_agreeing,
    pointwise_joint,
    shape,
)
from proofs_checks.definitions.laws import Prefix
from proofs_checks.definitions.masks import factorized_conditionals, mask_agreement
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.recipes import other_rows_off, other_rows_off_reach
from proofs_checks.definitions.skills import active, deviating
from proofs_checks.definitions.skills import pointwise_joint as disjoint
from proofs_checks.section_4_joint.definition_4_1 import INTERLEAVING, realised
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact


def by_prefix(family: Family, scope: tuple[Prefix, ...]) -> bool:
    """JF-pt on the scope."""
    return disjoint([deviating(expert, family.background, scope) for expert in family.experts])


def by_interval(family: Family, scope: tuple[Prefix, ...]) -> bool:
    """JF-int on the scope, by 4.2."""
    found = [deviating(expert, family.background, scope) for expert in family.experts]
    return disjoint([active(one, family.size, family.length) for one in found])


def check_fc(family: Family) -> Iterator[Relation]:
    """FC ⊂ MA on `R^`."""
    yield fact("FC", factorized_conditionals(family))
    yield fact("FC => MA on R^", mask_agreement(family, compose(family, "strict").reachable))


def check_fc_everywhere(family: Family) -> Iterator[Relation]:
    """False: also off reach."""
    yield fact("FC => MA everywhere", mask_agreement(family, family.prefixes))


def check_not_ma(family: Family) -> Iterator[Relation]:
    """False: MA ⊂ FC."""
    yield fact("MA => FC", factorized_conditionals(family))


def agreeing(draw: Draw) -> Family:
    """MA on `R^`; opened tokens under `cancel`."""
    family = mask_agreeing(draw, shape(draw, sizes=(1, 3)))
    return other_rows_off(draw, family, compose(family).reachable)


def check_ma(family: Family) -> Iterator[Relation]:
    """MA ⊂ JF-pt."""
    scope = compose(family).reachable
    yield fact("MA", mask_agreement(family, scope))
    yield fact("MA => JF-pt", by_prefix(family, scope))


def with_any_masks(draw: Draw) -> Family:
    """JF-pt; the masks are those of another family."""
    family = pointwise_joint(draw, Shape(2, 2, 2, zeros=False))
    return replace(family, masks=((0,), (1,)))


def check_jf_is_ma(family: Family) -> Iterator[Relation]:
    """False: JF-pt ⊂ MA."""
    scope = compose(family).reachable
    yield equal("JF-pt iff MA", by_prefix(family, scope), mask_agreement(family, scope))


def intervals(draw: Draw) -> Family:
    """JF-int, or not."""
    recipe = draw.pick((interval_joint, pointwise_joint, common_support))
    return recipe(draw, shape(draw))


def check_int(family: Family) -> Iterator[Relation]:
    """JF-int ⊂ JF-pt."""
    scope = compose(family).reachable
    yield fact("JF-int => JF-pt", by_prefix(family, scope) or not by_interval(family, scope))


def check_pt(family: Family) -> Iterator[Relation]:
    """False: JF-pt ⊂ JF-int."""
    scope = compose(family).reachable
    yield fact("JF-pt => JF-int", by_interval(family, scope) or not by_prefix(family, scope))


def contiguous(draw: Draw) -> Family:
    """MA on `R^`, and every mask an interval of positions: those between cuts, in any order."""
    of = shape(draw, sizes=(1, 3), experts=(1, 3))
    cuts = sorted(draw.integer(0, of.length) for _ in range(2 * of.experts))
    blocks = [tuple(range(*cuts[2 * i : 2 * i + 2])) for i in range(of.experts)]
    masks = draw.shuffled(blocks)
    base = mask_agreeing(draw, of)
    experts = []
    for mask in masks:
        deviating_rows = {h: draw.row(of.size, zeros=of.zeros) for h in base.background}
        experts.append({h: deviating_rows[h] if len(h) in mask else row for h, row in base.background.items()})
    family = Family(of.size, of.length, base.background, tuple(experts), masks)
    return other_rows_off(draw, family, compose(family).reachable)


def check_contiguous(family: Family) -> Iterator[Relation]:
    """MA with contiguous masks ⊂ JF-int."""
    scope = compose(family).reachable
    yield fact("MA", mask_agreement(family, scope))
    yield fact("MA, contiguous => JF-int", by_interval(family, scope))


MASKED = replace(realised((2, 3, (frozenset({(), (0, 0)}), frozenset({(0,)})))), masks=((0, 2), (1,)))
ELSEWHERE = replace(realised((2, 2, (frozenset({(0,)}), frozenset({(1,)})))), masks=())


def check_incomparable(families: tuple[Family, Family]) -> Iterator[Relation]:
    """MA without JF-int; JF-int without any masks that agree."""
    masked, elsewhere = families
    yield fact("MA", mask_agreement(masked, masked.prefixes))
    yield fact("not JF-int", not by_interval(masked, tuple(masked.prefixes)))
    yield fact("JF-int", by_interval(elsewhere, tuple(elsewhere.prefixes)))
    steps = [{len(h) for h in deviating(e, elsewhere.background, elsewhere.prefixes)} for e in elsewhere.experts]
    yield fact("both deviate at step 2: no disjoint masks", bool(steps[0] & steps[1]))


def one_after_the_other(draw: Draw) -> tuple[Family, Family]:
    """Contiguous masks, and deviations at steps of their own."""
    sets = (frozenset({()}), frozenset({(0,), (1,)}))
    family = replace(realised((2, 2, sets)), masks=((0,), (1,)))
    return family, family


STATEMENTS = (
    Statement(
        number="4.6 inclusions FC",
        kind="proposition",
        sentence="factorized conditionals are mask agreement on what the composition reaches",
        equation="FC ⊂ MA on R^",
        hypotheses=("strict",),
        draw=lambda draw: other_rows_off_reach(draw, factorized(draw, shape(draw, sizes=(1, 3)))),
        check=check_fc,
        controls=(
            Control(
                "on R^: everywhere instead",
                lambda draw: other_rows_off_reach(draw, factorized(draw, Shape(2, 2, 2, zeros=True))),
                check_fc_everywhere,
            ),
            Control(
                "the direction: MA ⊂ FC",
                lambda draw: mask_agreeing(draw, Shape(2, 2, 2, zeros=False)),
                check_not_ma,
            ),
        ),
    ),
    Statement(
        number="4.6 inclusions MA",
        kind="proposition",
        sentence="mask agreement is joint factorizability by prefix",
        equation="MA ⊂ JF-pt on R^",
        draw=agreeing,
        check=check_ma,
        controls=(Control("the direction: JF-pt ⊂ MA", with_any_masks, check_jf_is_ma),),
    ),
    Statement(
        number="4.6 inclusions JF",
        kind="proposition",
        sentence="joint factorizability by interval is so by prefix",
        equation="JF-int ⊂ JF-pt on R^",
        draw=intervals,
        check=check_int,
        controls=(Control("the direction: JF-pt ⊂ JF-int", lambda _: realised(INTERLEAVING), check_pt),),
    ),
    Statement(
        number="4.6 inclusions contiguous",
        kind="proposition",
        sentence="mask agreement with contiguous masks is joint factorizability by interval",
        equation="MA, every M_i an interval of positions ⊂ JF-int on R^",
        hypotheses=("masks contiguous",),
        draw=contiguous,
        check=check_contiguous,
        controls=(Control("contiguous", lambda _: MASKED),),
    ),
    Statement(
        number="4.6 inclusions incomparable",
        kind="counterexample",
        sentence="neither of mask agreement and joint factorizability by interval implies the other",
        equation="M_1 = {1,3}, M_2 = {2}: MA, not JF-int;  Dev_1 = {0}, Dev_2 = {1}: JF-int, no masks",
        cases=constant((MASKED, ELSEWHERE)),
        check=check_incomparable,
        controls=(Control("interleaving masks, shared steps", one_after_the_other),),
    ),
)
