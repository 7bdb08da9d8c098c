"""CE 6.5: with more than two tokens a token may tell about two blocks, and the sampler be right all the same.

Also checked: three tokens, where the background has zeros; and the increments, whose marginals are kept in features and
not in tokens (the example after 6.5).
"""

from collections.abc import Iterator
from dataclasses import replace

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.features import (
    Featured,
    Map,
    factorized_in_features,
    feature_masks,
    is_tree_isomorphism,
    tree_isomorphism,
)
from proofs_checks.definitions.laws import law, marginal, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import deviating, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, equal, fact


def cell_map(parts: list[list[tuple[int, int]]]) -> Map:
    """The first token names a part of the grid, the second a cell of it."""
    return {(one, other): cell for one, part in enumerate(parts) for other, cell in enumerate(part)}


def rectangle(rows: tuple[int, ...], columns: tuple[int, ...]) -> list[tuple[int, int]]:
    """Its cells."""
    return [(row, column) for row in rows for column in columns]


BLOCKS_OF_CELLS = cell_map(
    [
        rectangle((0, 1), (0, 1)),
        rectangle((2, 3), (0, 1)),
        rectangle((0, 1, 2, 3), (2,)),
        rectangle((0, 1, 2, 3), (3,)),
    ]
)
THREE_TOKENS = cell_map([[(0, 0), (2, 0), (2, 1)], [(0, 1), (0, 2), (1, 2)], [(1, 0), (1, 1), (2, 2)]])
"""Of the rows and columns 0 and 1 the first token leaves `00`, `01` or the row 1."""
ROW_AND_COLUMN = ((0,), (1,))


def grid(draw: Draw) -> Featured:
    """CE 6.5 with any product background and any factorized experts; or three tokens, of which the grid has two."""
    if draw.one_in(3):
        case = factorized_in_features(draw, 2, {y: y for y in sequences(2, 2)}, ROW_AND_COLUMN, zeros=draw.one_in(2))
        return Featured(3, 2, THREE_TOKENS, ROW_AND_COLUMN, case.laws)
    return factorized_in_features(draw, 4, BLOCKS_OF_CELLS, ROW_AND_COLUMN, zeros=draw.one_in(2))


def check(case: Featured) -> Iterator[Relation]:
    """The sampler is right."""
    composed = compose(case.tokens)
    yield fact("Z = 1 on R^", all(composed.normalizer[h] == 1 for h in composed.reachable))
    yield equal("D#P_L = the target", case.pushed(composed.local), case.target)


def generic_grid(features: Map, size: int, values: int) -> Featured:
    """Experts that prefer later rows, later columns."""
    cells, mass = sequences(values, 2), sum(range(1, values + 1)) * values
    uniform = law("  ".join(f"{a}{b}: 1/{values**2}" for a, b in cells))
    by_row = law("  ".join(f"{a}{b}: {a + 1}/{mass}" for a, b in cells))
    by_column = law("  ".join(f"{a}{b}: {b + 1}/{mass}" for a, b in cells))
    return Featured(size, 2, features, ROW_AND_COLUMN, (uniform, by_row, by_column))


def check_overlap(case: Featured) -> Iterator[Relation]:
    """And yet JF-pt fails at the root, where the token tells about both blocks."""
    composed, family = compose(case.tokens), case.tokens
    yield equal("the first token is informative about both blocks", case.informed(()), [0, 1])
    deviations = [deviating(expert, family.background, composed.reachable) for expert in family.experts]
    yield fact("both experts deviate at the root", all(() in one for one in deviations))
    yield fact("JF-pt fails", not pointwise_joint(deviations))
    yield from check(case)


def other_parts(draw: Draw) -> Featured:
    """Parts of the grid that are no rectangles."""
    case = grid(draw)
    back = list(case.features.items())
    shuffled = draw.shuffled([z for _, z in back])
    return replace(case, features={y: z for (y, _), z in zip(back, shuffled, strict=True)})


def generic_two_tokens(draw: Draw) -> Featured:
    """Two tokens: a relabelling token by token."""
    return generic_grid(tree_isomorphism(draw, 2, 2), 2, 2)


def increments(size: int, length: int) -> Map:
    """`z_t = y_t - y_{t-1} mod |V|`."""
    return {y: tuple((b - a) % size for a, b in zip((0, *y), y, strict=False)) for y in sequences(size, length)}


def factorized_increments(draw: Draw) -> Featured:
    """FC on the increments."""
    size, length = draw.pick([(2, 2), (2, 3), (3, 2), (4, 2)])
    masks = feature_masks(draw, length, draw.integer(1, 2))
    return factorized_in_features(draw, size, increments(size, length), masks, zeros=draw.one_in(2))


def check_increments(case: Featured) -> Iterator[Relation]:
    """Projective on `z`."""
    yield fact("a tree isomorphism", is_tree_isomorphism(case.features, case.length))
    local = case.pushed(compose(case.tokens).local)
    yield equal("D#P_L = the target", local, case.target)
    for mask, expert in zip(case.masks, case.laws[1:], strict=True):
        yield equal("projective on the increments of each mask", marginal(local, mask), marginal(expert, mask))


def check_tokens(case: Featured) -> Iterator[Relation]:
    """False: projective on the tokens of each mask."""
    local = compose(case.tokens).local
    for mask, expert in zip(case.masks, case.token_laws[1:], strict=True):
        yield equal("projective on the tokens of each mask", marginal(local, mask), marginal(expert, mask))


STATEMENTS = (
    Statement(
        number="6.5",
        kind="counterexample",
        sentence="a first token that tells about row and column, and yet the sampler hits every target",
        equation="Z = 1, D#P_L = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}",
        hypotheses=("the first token leaves a rectangle of the grid, the second names the cell", "FC in features"),
        draw=grid,
        check=check,
        controls=(Control("rectangles", other_parts),),
    ),
    Statement(
        number="6.5 overlap",
        kind="counterexample",
        sentence="there both experts deviate at the root: the condition of 6.4 is not necessary for |V| >= 3",
        equation="y_1 informative about both blocks, JF-pt fails, Z = 1, D#P_L = the target",
        cases=lambda: (generic_grid(BLOCKS_OF_CELLS, 4, 4), generic_grid(THREE_TOKENS, 3, 2)),
        check=check_overlap,
        controls=(Control("|V| >= 3", generic_two_tokens),),
        not_checked="three tokens without zeros: a box that is a third of one with sides powers of 3 splits one side",
    ),
    Statement(
        number="6.5 increments",
        kind="remark",
        sentence="factorized on increments: projective on the increments, not on the tokens",
        equation="z_t = y_t - y_{t-1} mod |V|",
        hypotheses=("FC on the increments",),
        draw=factorized_increments,
        check=check_increments,
        controls=(Control("increments: the tokens' marginals", factorized_increments, check_tokens),),
    ),
)
