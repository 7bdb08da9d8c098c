"""Theorem 6.4' (exact classification): the token sampler is right for all tilts iff blocks stay independent.

One tilt with generic integer factors stands for all of them: the exceptions are the zeros of a polynomial.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from factorcomp.testing.drawing import Draw, normalised
from proofs_checks.definitions.features import (
    Featured,
    Map,
    Masks,
    any_map,
    factorized_in_features,
    feature_masks,
    maps_up_to_tree,
    mixture,
    rectangle_protocol,
    swapped,
    tilted_in_features,
)
from proofs_checks.definitions.laws import Prefix, product_law, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.section_6_features.counterexample_6_5 import BLOCKS_OF_CELLS
from proofs_checks.statement import Control, Relation, Statement, equal

INDEPENDENT = "the feature blocks are mutually independent under P_b"
SHAPES = [(2, 2), (2, 3), (3, 2), (2, 1)]


def tilted(draw: Draw, shapes: list[tuple[int, int]] = SHAPES) -> Featured:
    """Independent blocks and generic tilts; a protocol, one with two images exchanged, any map, or that of 6.5."""
    kind = draw.integer(0, 3)
    if kind == 3 and shapes is SHAPES:
        size, length, masks, features = 4, 2, ((0,), (1,)), BLOCKS_OF_CELLS
    else:
        size, length = draw.pick(shapes)
        masks = feature_masks(draw, length, draw.integer(1, 3))
        features = any_map(draw, size, length) if kind == 0 else rectangle_protocol(draw, size, length, masks)
    if kind == 2:
        features = swapped(draw, features)
    case = factorized_in_features(draw, size, features, masks, zeros=draw.one_in(2))
    return tilted_in_features(draw, case)


def stay_independent(case: Featured) -> bool:
    """(iv)"""
    return all(case.joint(h) == case.independent(h) for h in case.reachable)


def mixes(case: Featured, prefix: Prefix) -> bool:
    """(iii) at a prefix: `sum_a p_b(a|h) ⊗_i π^i_{ha} = ⊗_i π^i_h`."""
    row = case.tokens.background[prefix]
    parts = [(mass, case.independent((*prefix, token))) for token, mass in enumerate(row) if mass]
    return mixture(parts) == case.independent(prefix)


def check(case: Featured) -> Iterator[Relation]:
    """(i), (ii) and (iii), each against (iv)."""
    composed, independent = compose(case.tokens), stay_independent(case)
    inner = [h for h in case.reachable if len(h) < case.length]
    yield equal("(i) D#P_L is the target iff (iv)", case.pushed(composed.local) == case.target, independent)
    yield equal("P_L = P_G iff (iv)", composed.local == composed.global_, independent)
    yield equal("(ii) Z = 1 on Reach(p_b) iff (iv)", all(composed.normalizer[h] == 1 for h in inner), independent)
    yield equal("(iii) iff (iv)", all(mixes(case, h) for h in inner), independent)


def untilted(draw: Draw) -> Featured:
    """No generic tilt: all experts but the first are the background."""
    case = tilted(draw)
    return replace(case, laws=(*case.laws[:2], *[case.laws[0]] * (len(case.laws) - 2)))


def dependent(draw: Draw) -> Featured:
    """A background without independent blocks."""
    case = tilted(draw, [(2, 2)])
    law = dict(zip(sequences(2, 2), normalised([draw.integer(1, 9) for _ in range(4)]), strict=True))
    return tilted_in_features(draw, replace(case, laws=(law,)))


def one_block_at_a_time(case: Featured) -> bool:
    """The condition of 6.4, at each reachable prefix."""
    return all(len(case.informed(h)) <= 1 for h in case.reachable if len(h) < case.length)


def check_binary(case: Featured) -> Iterator[Relation]:
    """The corollary."""
    yield equal("(iv) iff the condition of 6.4", stay_independent(case), one_block_at_a_time(case))


def blocks_of_cells(draw: Draw) -> Featured:
    """Four tokens: CE 6.5."""
    return factorized_in_features(draw, 4, BLOCKS_OF_CELLS, ((0,), (1,)), zeros=False)


@dataclass(frozen=True)
class Layout:
    """Masks of three binary features, and how many of the 40,320 bijections satisfy (iv)."""

    masks: Masks
    count: int


LAYOUTS = (
    Layout(((0,), (1,), (2,)), 1_536),
    Layout(((0,), (1,)), 3_840),
    Layout(((0,), (1, 2)), 2_688),
    Layout(((0, 1, 2),), 40_320),
)


def generic(masks: Masks, features: Map) -> Featured:
    """A product background without accidents: the first primes as weights of the blocks' values."""
    primes = iter([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53])
    rest = tuple(t for t in range(3) if not any(t in mask for mask in masks))
    marginals: dict[Any, Any] = {}
    for block in (*masks, rest):
        cells = sequences(2, len(block))
        marginals[block] = dict(zip(cells, normalised([next(primes) for _ in cells]), strict=True))
    return Featured(2, 3, features, masks, (product_law({b: law for b, law in marginals.items() if b}, 3),))


def check_layout(layout: Layout) -> Iterator[Relation]:
    """Both conditions, on one map of each class of 128."""
    cases = [generic(layout.masks, features) for features in maps_up_to_tree(2, 3)]
    yield equal("315 classes of 128 maps", 128 * len(cases), 40_320)
    independent = [stay_independent(case) for case in cases]
    yield equal(f"(iv): {layout.count:,} of 40,320 maps", 128 * sum(independent), layout.count)
    yield equal("the condition of 6.4: the same maps", [one_block_at_a_time(case) for case in cases], independent)


STATEMENTS = (
    Statement(
        number="6.4'",
        kind="theorem",
        sentence="the token sampler hits the target for all tilts iff blocks stay independent given every prefix",
        equation="(i) D#P_L = target iff (ii) Z = 1 iff (iii) sum_a p_b(a|h) ⊗π^i_{ha} = ⊗π^i_h iff (iv) π_h = ⊗π^i_h",
        hypotheses=(INDEPENDENT, "P_i ∝ P_b f_i(z_{M_i}), f_i > 0", "h in Reach(p_b)"),
        draw=tilted,
        check=check,
        controls=(Control("for all tilts", untilted), Control(INDEPENDENT, dependent)),
        not_checked="all tilts: one with random factors of six digits stands for them",
    ),
    Statement(
        number="6.4' corollary",
        kind="corollary",
        sentence="with two tokens that is so iff every token tells about one block at most",
        equation="π_h = ⊗π^i_h for all h in Reach(p_b) iff the condition of 6.4",
        hypotheses=("|V| = 2", INDEPENDENT),
        draw=lambda draw: tilted(draw, [(2, 2), (2, 3), (2, 1)]),
        check=check_binary,
        controls=(Control("|V| = 2", blocks_of_cells),),
    ),
    Statement(
        number="6.4' counts",
        kind="corollary",
        sentence="how many maps of three bits keep the blocks of a generic product background independent",
        equation="1,536; 3,840; 2,688; 40,320 of 40,320",
        cases=lambda: LAYOUTS,
        check=check_layout,
        controls=(Control("these masks", lambda draw: replace(LAYOUTS[0], masks=LAYOUTS[1].masks)),),
        not_checked="one map of each class {D∘A: A a tree isomorphism} is tried",
    ),
)
