"""Definition 1.1 (local composition): `p^ = w/Z`, the prefixes it reaches, and when its law has mass 1."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, free, shape
from proofs_checks.definitions.laws import law_of, prefixes, reach, total
from proofs_checks.definitions.operator import NullTokens, compose, probability_of
from proofs_checks.definitions.recipes import one_opening
from proofs_checks.library import composed_kernel
from proofs_checks.statement import Control, Relation, Statement, equal

Case = tuple[Family, NullTokens]


def without_errors(draw: Draw) -> Case:
    """No cell is an error: `drop` has none, nor `strict` where `p_i << p_b`, nor `cancel` where one opens."""
    null: NullTokens = draw.pick(("drop", "strict", "cancel"))
    of = shape(draw, sizes=(1, 3))
    return (one_opening(draw, of) if null == "cancel" else free(draw, of, dominated=null == "strict")), null


def check(case: Case) -> Iterator[Relation]:
    """`R^` step by step against path by path, the missing mass against the dead prefixes, and the library."""
    family, null = case
    composed = compose(family, null)
    along = {
        h
        for h in prefixes(family.size, family.length)
        if all(composed.weights[h[:step]][token] > 0 for step, token in enumerate(h))
    }
    yield equal("h in R^ iff every w along h is positive", set(composed.reachable), along)
    dead = {h for h in along if not any(composed.weights[h])}
    lost = total(probability_of(composed.kernel, h) for h in dead)
    yield equal("P_L(V^T) = 1 - P^(a dead prefix)", total(composed.local.values()), 1 - lost)
    yield equal("P_L is a law iff R^ has no dead prefix", total(composed.local.values()) == 1, not dead)
    library = composed_kernel(family, null)
    yield equal("compose() refuses iff R^ has a dead prefix", library is None, bool(dead))
    if library is not None:
        yield equal("compose() has the law P_L", law_of(library, family.size, family.length), composed.local)


def check_reach(case: Case) -> Iterator[Relation]:
    """False: `R^` is what the background reaches."""
    family, null = case
    background = law_of(family.background, family.size, family.length)
    yield equal("R^ = Reach(p_b)", set(compose(family, null).reachable), reach(background, family.length))


def check_mass(case: Case) -> Iterator[Relation]:
    """False: `P_L` is always a law."""
    yield equal("P_L(V^T) = 1", total(compose(*case).local.values()), 1)


STATEMENTS = (
    Statement(
        number="1.1",
        kind="definition",
        sentence="the local composition reaches what has positive weight along the path, and loses mass where it dies",
        equation="p^ = w/Z;   R^ = {h: w > 0 along h};   P_L(V^T) = 1 - P^(a dead prefix)",
        hypotheses=("no cell is an error of 1.3",),
        draw=without_errors,
        check=check,
        controls=(
            Control("w in the definition of R^: the background's reach", without_errors, check_reach),
            Control("no dead prefix", without_errors, check_mass),
        ),
        weight=6,
    ),
)
