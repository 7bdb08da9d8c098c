"""Definition 2.6a (MA, mask agreement) and Theorem 2.6b (conditional projectivity)."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, mask_agreeing, one_row_changed, shape
from proofs_checks.definitions.laws import prefixes
from proofs_checks.definitions.masks import mask_agreement
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import other_rows_off
from proofs_checks.definitions.skills import deviating
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, equal, fact


def nearly(draw: Draw) -> Family:
    """MA, or so up to a row; `p_i << p_b` but for that row."""
    family = mask_agreeing(draw, shape(draw), dominated=True)
    if draw.one_in(3):
        return family
    return one_row_changed(draw, family, draw.integer(0, len(family.experts)), draw.pick(family.prefixes))


def check_definition(family: Family) -> Iterator[Relation]:
    """Row by row; as a property of `Dev_i`; and the library, on both scopes."""
    scopes = {False: compose(family).reachable, True: tuple(prefixes(family.size, family.length))}
    for everywhere, scope in scopes.items():
        holds = mask_agreement(family, scope)
        deviations = [deviating(expert, family.background, scope) for expert in family.experts]
        inside = all(len(h) in mask for mask, found in zip(family.masks, deviations, strict=True) for h in found)
        yield equal("MA iff |h| + 1 in M_i for every h in Dev_i", holds, inside)
        yield equal("verify() says so", verdicts(family, everywhere=everywhere)["mask_agreement"], holds)


def check_scopes(family: Family) -> Iterator[Relation]:
    """False: the scope does not matter."""
    here, everywhere = mask_agreement(family, compose(family).reachable), mask_agreement(family, family.prefixes)
    yield equal("MA on R^ iff MA everywhere", here, everywhere)


def agreeing(draw: Draw) -> tuple[Family, NullTokens]:
    """MA on `R^` alone, opened tokens under `cancel`, `p_i << p_b` under the others."""
    null: NullTokens = draw.pick(("cancel", "strict", "drop"))
    family = mask_agreeing(draw, shape(draw, sizes=(1, 3)), dominated=null != "cancel")
    return other_rows_off(draw, family, compose(family, null).reachable), null


def opened_and_dropped(draw: Draw) -> tuple[Family, NullTokens]:
    """Opened tokens under `drop`."""
    return mask_agreeing(draw, Shape(2, 2, 1, zeros=True)), "drop"


def disagreeing(draw: Draw) -> tuple[Family, NullTokens]:
    """One row is off, full support."""
    family = mask_agreeing(draw, Shape(2, 2, 2, zeros=False))
    return one_row_changed(draw, family, draw.integer(0, 2), draw.pick(family.prefixes)), "cancel"


def check(case: tuple[Family, NullTokens]) -> Iterator[Relation]:
    """The composition's rows on `R^` are their owners'."""
    family, null = case
    composed = compose(family, null)
    yield fact("MA on R^", mask_agreement(family, composed.reachable))
    for h in composed.reachable:
        owner = family.owner(len(h))
        wanted = family.background if owner is None else family.experts[owner]
        yield equal("p^(.|h) = p_i(.|h) for t in M_i, p_b(.|h) for t in M_b", composed.kernel.get(h), wanted[h])
        yield equal("Z = 1", composed.normalizer.get(h), 1)
    yield equal("P_L = P_G", composed.local, composed.global_)


STATEMENTS = (
    Statement(
        number="2.6a",
        kind="definition",
        sentence="mask agreement: off its mask an expert is the background, on a scope that contains R^",
        equation="p_i(.|h) = p_b(.|h) for h in R with |h| + 1 not in M_i",
        draw=nearly,
        check=check_definition,
        controls=(Control("the scope", nearly, check_scopes),),
        weight=8,
    ),
    Statement(
        number="2.6b",
        kind="theorem",
        sentence="under mask agreement each step is its owner's",
        equation="p^(.|h) = p_{B(t)}(.|h),   Z = 1,   P_L = P_G",
        hypotheses=("MA on R^", "p_i << p_b, or cancel"),
        draw=agreeing,
        check=check,
        controls=(
            Control("p_i << p_b, or cancel: drop instead", opened_and_dropped),
            Control("MA", disagreeing),
        ),
    ),
)
