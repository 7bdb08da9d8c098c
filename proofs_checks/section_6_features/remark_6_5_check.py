"""The check after 6.5: (iv) of Theorem 6.4' is a rank-one test of the posterior of the features, without any expert."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.features import Featured, any_map
from proofs_checks.definitions.laws import ZERO, Law, Prefix, product_law
from proofs_checks.section_6_features.theorem_6_4_prime import tilted
from proofs_checks.statement import Control, Relation, Statement, equal

Cells = tuple[Prefix, ...]


def rank_one(joint: Law, block: int) -> bool:
    """Whether all minors of the table, the block's cells against those of the others, are zero."""
    table: dict[Prefix, dict[Cells, Fraction]] = {}
    for cells, mass in joint.items():
        table.setdefault(cells[block], {})[cells[:block] + cells[block + 1 :]] = mass
    columns = {others for line in table.values() for others in line}
    return all(
        one.get(u, ZERO) * other.get(v, ZERO) == one.get(v, ZERO) * other.get(u, ZERO)
        for one, other in combinations(table.values(), 2)
        for u, v in combinations(columns, 2)
    )


def check(case: Featured) -> Iterator[Relation]:
    """Every block against the others."""
    for h in case.reachable:
        tested = all(rank_one(case.joint(h), block) for block in range(len(case.masks)))
        yield equal("π_h = ⊗_i π^i_h iff every flattening has rank one", case.joint(h) == case.independent(h), tested)


def check_first(case: Featured) -> Iterator[Relation]:
    """False: the first block against the others is enough."""
    for h in case.reachable:
        yield equal(
            "iff the first flattening has rank one", case.joint(h) == case.independent(h), rank_one(case.joint(h), 0)
        )


def three_blocks(draw: Draw) -> Featured:
    """Three bits."""
    law = product_law({(t,): {(0,): Fraction(1, 2), (1,): Fraction(1, 2)} for t in range(3)}, 3)
    return Featured(2, 3, any_map(draw, 2, 3), ((0,), (1,), (2,)), (law,))


STATEMENTS = (
    Statement(
        number="6.5 check",
        kind="remark",
        sentence="whether blocks stay independent is a rank-one test of their joint posterior at each prefix",
        equation="π_h = ⊗_i π^i_h iff every flattening of π_h has rank one",
        hypotheses=("h in Reach(p_b)",),
        draw=tilted,
        check=check,
        controls=(Control("every flattening: the first", three_blocks, check_first),),
    ),
)
