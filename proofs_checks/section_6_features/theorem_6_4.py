"""Theorem 6.4 (when the token sampler is right): every token tells about one expert's block at most."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.features import (
    Featured,
    any_map,
    factorized_in_features,
    feature_masks,
    rectangle_protocol,
    reordered,
    separate_blocks,
    tree_isomorphism,
)
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import deviating, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, equal, fact

SHAPES = [(2, 2), (2, 3), (3, 2), (2, 1), (4, 2)]
KINDS = ("a tree isomorphism", "a tree isomorphism, then features reordered", "separate blocks", "a rectangle protocol")


def factorized(draw: Draw, kind: str = KINDS[3]) -> Featured:
    """FC in features, under a map of this kind."""
    size, length = draw.pick(SHAPES)
    masks = feature_masks(draw, length, draw.integer(1, 3))
    if kind == KINDS[0]:
        features = tree_isomorphism(draw, size, length)
    elif kind == KINDS[1]:
        features = reordered(draw, tree_isomorphism(draw, size, length), length)
    elif kind == KINDS[2]:
        features = separate_blocks(draw, size, length, masks)
    else:
        features = rectangle_protocol(draw, size, length, masks)
    return factorized_in_features(draw, size, features, masks, zeros=draw.one_in(2))


def check_hypothesis(case: Featured) -> Iterator[Relation]:
    """Each token is informative about one block at most."""
    reached = [h for h in compose(case.tokens).reachable if h in case.reachable]
    yield fact("informative about at most one block", all(len(case.informed(h)) <= 1 for h in reached))


def check(case: Featured) -> Iterator[Relation]:
    """What follows."""
    composed, family = compose(case.tokens), case.tokens
    deviations = [deviating(expert, family.background, composed.reachable) for expert in family.experts]
    yield fact("JF-pt on R^", pointwise_joint(deviations))
    yield equal("P_L = P_G", composed.local, composed.global_)
    yield equal("D#P_L = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}", case.pushed(composed.local), case.target)


def check_all(case: Featured) -> Iterator[Relation]:
    """The recipe's word, and what follows."""
    yield from check_hypothesis(case)
    yield from check(case)


def informative_about_several(draw: Draw) -> Featured:
    """Any map."""
    masks = ((0,), (1,))
    return factorized_in_features(draw, 2, any_map(draw, 2, 2), masks, zeros=False)


STATEMENTS = (
    Statement(
        number="6.4",
        kind="theorem",
        sentence="the token sampler hits the target if every token is informative about one expert block at most",
        equation="y_t ⫫ z_{M_i} | h for all i but at most one  =>  JF-pt, P_L = P_G, D#P_L = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}",
        hypotheses=(
            "FC in features",
            "the next token is P_b-informative about at most one block, at each h in R^",
        ),
        draw=factorized,
        check=check_all,
        controls=(Control("informative about at most one block", informative_about_several, check),),
    ),
    Statement(
        number="6.4 special cases",
        kind="theorem",
        sentence="four kinds of maps whose tokens tell about one block at a time",
        equation="; ".join(KINDS),
        hypotheses=("FC in features",),
        draw=lambda draw: factorized(draw, draw.pick(KINDS)),
        check=check_all,
        controls=(Control("of one of the four kinds", informative_about_several, check_hypothesis),),
    ),
)
