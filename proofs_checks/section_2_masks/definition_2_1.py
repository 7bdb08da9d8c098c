"""Definition 2.1 (FC, factorized conditionals): independent blocks, and experts that change their own."""

from collections.abc import Iterable, Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, factorized, free, mask_agreeing, shape
from proofs_checks.definitions.laws import Law, law_of, marginal
from proofs_checks.definitions.masks import factorized_conditionals, mask_agreement
from proofs_checks.definitions.recipes import one_row_tilted, opened_blocks, with_masks
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, equal


def nearly(draw: Draw) -> Family:
    """Factorized, or so up to a row, or up to (c), or not at all."""
    of = shape(draw)
    kind = draw.integer(0, 4)
    if kind == 4:
        return opened_blocks(draw, of)
    if kind <= 1:
        family = factorized(draw, of)
        return one_row_tilted(draw, family) if kind else family
    return with_masks(draw, free(draw, of, dominated=True)) if kind == 2 else mask_agreeing(draw, of, dominated=True)


def independent(law: Law, block: Iterable[int], length: int) -> bool:
    """`y_M` is independent of the other positions: `P(u, v) P = P(u) P(v)`, cell by cell."""
    mask = tuple(block)
    rest = tuple(position for position in range(length) if position not in mask)
    one, other = marginal(law, mask), marginal(law, rest)
    return all(
        law.get(_merged(mask, u, rest, v), 0) == mass * more for u, mass in one.items() for v, more in other.items()
    )


def _merged(mask: tuple[int, ...], u: tuple[int, ...], rest: tuple[int, ...], v: tuple[int, ...]) -> tuple[int, ...]:
    tokens = dict(zip(mask, u, strict=True)) | dict(zip(rest, v, strict=True))
    return tuple(tokens[position] for position in sorted(tokens))


def block_by_block(family: Family) -> bool:
    """FC in other words: every block is independent of all others; (b) independence and agreement on the rest; (c)."""
    background = law_of(family.background, family.size, family.length)
    if not all(independent(background, block, family.length) for block in (*family.masks, family.background_positions)):
        return False
    for mask, kernel in zip(family.masks, family.experts, strict=True):
        law = law_of(kernel, family.size, family.length)
        rest = [position for position in range(family.length) if position not in mask]
        if not independent(law, mask, family.length) or marginal(law, rest) != marginal(background, rest):
            return False
        if not marginal(law, mask).keys() <= marginal(background, mask).keys():
            return False
    return True


def check(family: Family) -> Iterator[Relation]:
    """Product laws, independence of each block, and the library."""
    holds = factorized_conditionals(family)
    yield equal("products of marginals iff every block is independent of the rest", holds, block_by_block(family))
    verdict = verdicts(family, "drop")["factorized_conditionals"]
    if verdict is not None:
        yield equal("verify() says so", verdict, holds)


def check_agreement(family: Family) -> Iterator[Relation]:
    """False: FC is agreement off the masks."""
    yield equal("FC iff MA", factorized_conditionals(family), mask_agreement(family, family.prefixes))


STATEMENTS = (
    Statement(
        number="2.1",
        kind="definition",
        sentence="factorized conditionals: blocks are independent, and each expert changes its own block alone",
        equation="(a) P_b = ⊗_j P_b^{M_j}   (b) P_i = P_i^{M_i} ⊗ P_b^{M_i^c}   (c) P_i^{M_i} << P_b^{M_i}",
        draw=nearly,
        check=check,
        controls=(Control("independence: agreement off the masks instead", nearly, check_agreement),),
        weight=3,
    ),
)
