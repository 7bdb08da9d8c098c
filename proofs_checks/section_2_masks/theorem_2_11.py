"""Theorem 2.11 (robust FC, global): laws that are nearly products compose to nearly the target."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, disjoint_masks
from proofs_checks.definitions.laws import (
    ONE,
    Law,
    conditionals,
    law_tv,
    log,
    marginal,
    normalised_law,
    product_law,
    sequences,
)
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, at_most, equal


@dataclass(frozen=True)
class NearProducts:
    """Laws `P_b`, `P_i`, and product references `Π_b = ⊗ ν_j`, `Π_i = μ_i ⊗ ⊗_{j!=i} ν_j` of the same supports."""

    size: int
    length: int
    masks: tuple[tuple[int, ...], ...]
    background: Law
    experts: tuple[Law, ...]
    factors: dict[tuple[int, ...], Law]
    own: tuple[Law, ...]

    def with_factor(self, mask: tuple[int, ...], law: Law) -> Law:
        """The product of the `ν_j`, with another law on the mask."""
        return product_law(self.factors | ({mask: law} if mask else {}), self.length)

    @property
    def target(self) -> Law:
        """`ν_b ⊗ ⊗ μ_i`."""
        own = {mask: law for mask, law in zip(self.masks, self.own, strict=True) if mask}
        return product_law(self.factors | own, self.length)


def near_products(draw: Draw, *, own_marginals: bool | None = None, strength: int = 4) -> NearProducts:
    """Products times positive noise; the references are the products, or those of the laws' own marginals."""
    size, length, k = draw.pick(((2, 2, 1), (2, 2, 2), (2, 3, 2), (2, 3, 3), (3, 2, 2)))
    masks = disjoint_masks(draw, Shape(size, length, k, False))
    rest = Family(size, length, {}, (), masks).background_positions
    blocks = [block for block in (*masks, rest) if block]
    ν = {block: any_block(draw, size, block) for block in blocks}
    μ = tuple(
        dict(zip(ν[mask], draw.row_inside(tuple(ν[mask].values()), zeros=True), strict=True)) if mask else {(): ONE}
        for mask in masks
    )
    shell = NearProducts(size, length, masks, {}, (), ν, tuple({c: m for c, m in one.items() if m} for one in μ))
    one_noise = {y: Fraction(draw.integer(1, strength)) for y in sequences(size, length)}

    def noisy(law: Law, same: bool) -> Law:
        noise = one_noise if same else {y: Fraction(draw.integer(1, strength)) for y in law}
        masses = {y: mass * noise[y] for y, mass in law.items()}
        return normalised_law(masses)

    inherited = draw.one_in(3)
    background = noisy(shell.with_factor((), {}), same=True)
    experts = tuple(noisy(shell.with_factor(mask, law), inherited) for mask, law in zip(masks, shell.own, strict=True))
    near = replace(shell, background=background, experts=experts)
    if own_marginals is False or (own_marginals is None and draw.one_in(2)):
        return near
    factors = {block: marginal(background, block) for block in blocks}
    return replace(near, factors=factors, own=tuple(map(marginal, experts, masks)))


def any_block(draw: Draw, size: int, block: tuple[int, ...]) -> Law:
    """A law of the tokens of the block, with zeros."""
    cells = sequences(size, len(block))
    return {cell: mass for cell, mass in zip(cells, draw.row(len(cells), zeros=True), strict=True) if mass}


def composed_global(instance: NearProducts) -> Law:
    """`P_G`, from the kernels of the laws."""
    rows = [conditionals(law, instance.size, instance.length) for law in (instance.background, *instance.experts)]
    return compose(Family(instance.size, instance.length, rows[0], tuple(rows[1:])), "strict").global_


def check(instance: NearProducts, scale: float = 4) -> Iterator[Relation]:
    """The density of `P_G` to the target, and the distance."""
    whole, target = composed_global(instance), instance.target
    reference = instance.with_factor((), {})
    noise = {y: mass / reference[y] for y, mass in instance.background.items()}
    exponent = {y: noise[y] ** (1 - len(instance.experts)) for y in target}
    all_inherit = True
    for law, mask, own in zip(instance.experts, instance.masks, instance.own, strict=True):
        product = instance.with_factor(mask, own)
        g = {y: law[y] / product[y] for y in target}
        exponent = {y: e * g[y] for y, e in exponent.items()}
        all_inherit &= len({g[y] / noise[y] for y in target}) == 1
    masses = {y: target[y] * exponent[y] for y in target}
    yield equal("P_G ∝ target exp(sum g_i - (k-1) g_b)", whole, normalised_law(masses))
    oscillation = log(max(exponent.values()) / min(exponent.values()))
    distance = float(law_tv(whole, target))
    yield at_most("TV(P_G, target) <= tanh(osc(sum g_i - (k-1) g_b)/4)", distance, math.tanh(oscillation / scale))
    if all_inherit:
        inherited = log(max(noise[y] for y in target) / min(noise[y] for y in target))
        yield at_most("g_i = g_b: the exponent is g_b, for every k", abs(oscillation - inherited), 0.0)


def check_product(instance: NearProducts) -> Iterator[Relation]:
    """False: the composition is the target."""
    yield equal("P_G = target", composed_global(instance), instance.target)


STATEMENTS = (
    Statement(
        number="2.11",
        kind="theorem",
        sentence="laws that are products up to bounded factors compose globally to the target up to a bounded factor",
        equation="P_G ∝ target exp(sum_i g_i - (k-1) g_b),   TV(P_G, target) <= tanh(osc(sum_i g_i - (k-1) g_b)/4)",
        hypotheses=(
            "P_b = Π_b e^{g_b}, P_i = Π_i e^{g_i} of the same supports; Π_b = ⊗ ν_j, Π_i = μ_i ⊗ ⊗_{j!=i} ν_j",
            "μ_i << ν_i",
        ),
        draw=near_products,
        check=check,
        controls=(
            Control("the noise", near_products, check_product),
            Control("the constant: osc/4.5", near_products, lambda instance: check(instance, scale=4.5)),
        ),
        not_checked="the growth like k osc(g_b) in the worst case; the local version is Theorem 8.2",
        weight=2,
    ),
)
