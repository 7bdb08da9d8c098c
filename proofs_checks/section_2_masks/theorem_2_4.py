"""Theorems 2.4 and 2.4' (converses): if all tilts of the blocks are projective, the blocks are independent.

All tilts are too many; those of `grid` decide the global composition, in which each marginal is linear in every `f_i`.
For the local one they are a sample, which finds dependence wherever it was drawn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, disjoint_masks
from proofs_checks.definitions.laws import (
    Law,
    Prefix,
    conditionals,
    law_tv,
    marginal,
    normalised_law,
    product_law,
    sequences,
)
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.recipes import any_law
from proofs_checks.statement import Control, Relation, Statement, equal

Tilt = dict[Prefix, Fraction]
"""`f_i(y_{M_i}) > 0`, by the tokens on the mask."""


@dataclass(frozen=True)
class Blocks:
    """A background law of full support, and masks."""

    size: int
    length: int
    law: Law
    masks: tuple[tuple[int, ...], ...]

    @property
    def rest(self) -> tuple[int, ...]:
        """`M_b`."""
        return tuple(t for t in range(self.length) if not any(t in mask for mask in self.masks))

    @property
    def independent(self) -> bool:
        """`P_b = ⊗_j P_b^{M_j}`."""
        blocks = [block for block in (*self.masks, self.rest) if block]
        return law_tv(self.law, product_law({block: marginal(self.law, block) for block in blocks}, self.length)) == 0


def blocks(draw: Draw, experts: tuple[int, int] = (1, 3)) -> Blocks:
    """Independent blocks, those with one interaction of the signs of some positions, or any law."""
    size, length = draw.pick(((2, 2), (2, 3), (3, 2), (2, 1)))
    masks = disjoint_masks(draw, Shape(size, length, draw.integer(*experts), False))
    kind = draw.integer(0, 2)
    if kind == 2:
        return Blocks(size, length, any_law(draw, size, length), masks)
    shell = Blocks(size, length, {}, masks)
    parts = [block for block in (*masks, shell.rest) if block]
    law = product_law({block: any_law(draw, size, len(block)) for block in parts}, length)
    if kind:
        signs = draw.subset(range(length)) or (0,)
        strength = Fraction(draw.integer(1, 3), 4)
        law = {y: mass * (1 + strength * (-1) ** sum(y[t] for t in signs)) for y, mass in law.items()}
        law = normalised_law(law)
    return Blocks(size, length, law, masks)


def grid(instance: Blocks, heights: Sequence[int]) -> Iterator[tuple[Tilt, ...]]:
    """For each expert `f_i = 1`, and `1 + c 1{y_{M_i} = u}` for every `u` and height `c`: they span all tilts."""

    def choices(mask: tuple[int, ...]) -> list[Tilt]:
        cells = sequences(instance.size, len(mask))
        raised = [{v: Fraction(1 + c * (u == v)) for v in cells} for u in cells for c in heights] if mask else []
        return [{v: Fraction(1) for v in cells}, *raised]

    return product(*(choices(mask) for mask in instance.masks))


def tilted_laws(instance: Blocks, tilts: Sequence[Tilt]) -> list[Law]:
    """`P_i ∝ P_b f_i(y_{M_i})`."""
    laws = []
    for tilt, mask in zip(tilts, instance.masks, strict=True):
        law = {y: mass * tilt[tuple(y[t] for t in mask)] for y, mass in instance.law.items()}
        laws.append(normalised_law(law))
    return laws


def global_composition(instance: Blocks, laws: Sequence[Law]) -> Law:
    """`P_G ∝ P_b prod P_i/P_b`."""
    weights = dict(instance.law)
    for law in laws:
        weights = {y: weight * law[y] / instance.law[y] for y, weight in weights.items()}
    return normalised_law(weights)


def local_composition(instance: Blocks, laws: Sequence[Law]) -> Law:
    """`P_L`, from the kernels of the laws."""
    rows = [conditionals(law, instance.size, instance.length) for law in (instance.law, *laws)]
    return compose(Family(instance.size, instance.length, rows[0], tuple(rows[1:])), "strict").local


def projective(instance: Blocks, composed: Law, laws: Sequence[Law], *, rest: bool = True) -> bool:
    """`P^^{M_i} = P_i^{M_i}` for all `i`, and `P^^{M_b} = P_b^{M_b}` if `rest`."""
    pairs = [*zip(instance.masks, laws, strict=True), *([(instance.rest, instance.law)] if rest else [])]
    return all(marginal(composed, mask) == marginal(law, mask) for mask, law in pairs)


def check_global(instance: Blocks, *, rest: bool = True) -> Iterator[Relation]:
    """Projectivity for all tilts of the grid against independence."""
    answers = (
        projective(instance, global_composition(instance, laws), laws, rest=rest)
        for laws in (tilted_laws(instance, tilts) for tilts in grid(instance, (1,)))
    )
    yield equal("P_G is projective for all tilts iff P_b = ⊗ P_b^{M_j}", all(answers), instance.independent)


def check_local(instance: Blocks, *, rest: bool = True) -> Iterator[Relation]:
    """The same of the local composition."""
    answers = (
        projective(instance, local_composition(instance, laws), laws, rest=rest)
        for laws in (tilted_laws(instance, tilts) for tilts in grid(instance, (1, 8)))
    )
    yield equal("P_L is projective for all tilts iff P_b = ⊗ P_b^{M_j}", all(answers), instance.independent)


@dataclass(frozen=True)
class Tilted:
    """Two positions, a block each, and one tilt of each, not constant."""

    blocks: Blocks
    tilts: tuple[Tilt, Tilt]


def by_token(draw: Draw) -> Tilt:
    """A tilt of one position with two tokens, not constant."""
    return {(0,): Fraction(1), (1,): draw.pick((Fraction(2), Fraction(3), Fraction(1, 2)))}


def one_tilt(draw: Draw) -> Tilted:
    """Two tokens; independent or not."""
    law = any_law(draw, 2, 2)
    if draw.one_in(2):
        law = product_law({(0,): any_law(draw, 2, 1), (1,): any_law(draw, 2, 1)}, 2)
    one, other = (by_token(draw) for _ in range(2))
    return Tilted(Blocks(2, 2, law, ((0,), (1,))), (one, other))


def tilt_that_sees_nothing(draw: Draw) -> Tilted:
    """Three tokens: tokens 0 and 1 of the one position depend on those of the other; the tilts treat them alike."""
    depends = {(0, 0): 2, (0, 1): 1, (1, 0): 1, (1, 1): 2}
    law = {y: Fraction(depends.get(y, Fraction(3, 2)), 1) for y in sequences(3, 2)}
    law = normalised_law(law)
    tilt = {(0,): Fraction(1), (1,): Fraction(1), (2,): Fraction(draw.integer(2, 4))}
    return Tilted(Blocks(3, 2, law, ((0,), (1,))), (tilt, tilt))


def check_one_tilt(instance: Tilted) -> Iterator[Relation]:
    """One pair of tilts against independence."""
    laws = tilted_laws(instance.blocks, instance.tilts)
    composed = global_composition(instance.blocks, laws)
    answer = projective(instance.blocks, composed, laws)
    yield equal("P_G is projective iff P_b = P_b^{1} ⊗ P_b^{2}", answer, instance.blocks.independent)


FULL = ("P_b of full support", "f_i > 0")

STATEMENTS = (
    Statement(
        number="2.4",
        kind="theorem",
        sentence="only independent blocks make the global composition projective for all tilts of the blocks",
        equation="P_G projective on all M_i and M_b for all P_i ∝ P_b f_i(y_{M_i}):  P_b = ⊗_j P_b^{M_j}",
        hypotheses=FULL,
        draw=blocks,
        check=check_global,
        controls=(Control("projectivity on M_b", blocks, lambda instance: check_global(instance, rest=False)),),
    ),
    Statement(
        number="2.4 one tilt",
        kind="remark",
        sentence="for two tokens and two steps one tilt already tells",
        equation="|V| = T = 2, f_1 and f_2 not constant: P_G projective iff P_b = P_b^{1} ⊗ P_b^{2}",
        hypotheses=FULL,
        draw=one_tilt,
        check=check_one_tilt,
        controls=(Control("|V| = 2", tilt_that_sees_nothing),),
    ),
    Statement(
        number="2.4'",
        kind="theorem",
        sentence="only independent blocks make the local composition projective for all tilts of the blocks",
        equation="P_L^{M_i} = P_i^{M_i}, P_L^{M_b} = P_b^{M_b} for all P_i ∝ P_b f_i(y_{M_i}):  P_b = ⊗_j P_b^{M_j}",
        hypotheses=FULL,
        draw=blocks,
        check=check_local,
        controls=(Control("projectivity on M_b", blocks, lambda instance: check_local(instance, rest=False)),),
        not_checked="all tilts: those of a grid find every dependence that was drawn",
        weight=4,
    ),
)
