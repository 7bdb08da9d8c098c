"""Proposition 1.9 (a): weights are a composition of tilted experts, for the local operator."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, Kernel, Shape, common_support, shape
from proofs_checks.definitions.laws import ONE, Row, kernel, law, law_of, normalised_law, support
from proofs_checks.definitions.operator import compose, tilted
from proofs_checks.definitions.recipes import token_in_common
from proofs_checks.library import composed_kernel
from proofs_checks.statement import Control, Relation, Statement, constant, equal


@dataclass(frozen=True)
class Weighted:
    """A family whose ratios are powers, so that their rational powers are rational: `r_i ∝ roots_i^index_i`.

    `λ_i = power_i/index_i`; `roots[i][h]`: one positive number per token, 0 where the expert excludes it.
    """

    family: Family
    roots: tuple[Kernel, ...]
    indices: tuple[int, ...]
    powers: tuple[int, ...]

    @property
    def tilts(self) -> Family:
        """The tilted experts `p_i^{(λ)} ∝ p_b r_i^λ ∝ p_b roots_i^power_i`."""
        background = self.family.background
        rows = [
            {h: _times(background[h], roots[h], power) for h in background}
            for roots, power in zip(self.roots, self.powers, strict=True)
        ]
        return replace(self.family, experts=tuple(rows))


def _times(row: Row, roots: Row, power: int) -> Row:
    """The row proportional to `row · roots^power`."""
    return normalised([mass * root**power for mass, root in zip(row, roots, strict=True)])


def weighted(draw: Draw) -> Weighted:
    """`p_i << p_b` with zeros, a token in common, and weights `1/2, 2/3, 1, 3/2, 2, …`."""
    base = token_in_common(draw, shape(draw, sizes=(1, 3)))
    indices = tuple(draw.integer(1, 3) for _ in base.experts)
    powers = tuple(draw.integer(1, 3) for _ in base.experts)
    experts = tuple(
        {h: _times(base.background[h], roots[h], index) for h in base.background}
        for roots, index in zip(base.experts, indices, strict=True)
    )
    return Weighted(replace(base, experts=experts), base.experts, indices, powers)


def check_weights(instance: Weighted) -> Iterator[Relation]:
    """The weighted ratios, normalised, against the composition of the tilted experts; whole weights in the library."""
    family, composed = instance.family, compose(instance.tilts, "strict")
    powers = [Fraction(p, n) for p, n in zip(instance.powers, instance.indices, strict=True)]
    for h, base in family.background.items():
        rows = [(expert[h], roots[h]) for expert, roots in zip(family.experts, instance.roots, strict=True)]
        weights = [
            mass * math.prod((roots[y] ** p for (_, roots), p in zip(rows, instance.powers, strict=True)), start=ONE)
            for y, mass in enumerate(base)
        ]
        yield equal("p_b prod r_i^λ_i ∝ composition of p_i^(λ)", normalised(weights), composed.kernel[h])
    if all(power.denominator == 1 for power in powers):
        again = compose(family, "strict", powers)
        yield equal("whole weights: p_b prod r_i^λ_i, from r_i itself", again.kernel, composed.kernel)
        library = composed_kernel(family, weights=powers)
        law = None if library is None else law_of(library, family.size, family.length)
        yield equal("compose(weights=) has that law", law, again.local)


def check_untilted(instance: Weighted) -> Iterator[Relation]:
    """False: the weights may be left out."""
    yield equal("weights do nothing", compose(instance.family).kernel, compose(instance.tilts).kernel)


HALVES = kernel({"": "1/2 1/2", "0": "1/2 1/2", "1": "1/2 1/2"})
SQUARED = Family(2, 2, HALVES, (HALVES | kernel({"1": "1/4 3/4"}),))


def check_squared(family: Family) -> Iterator[Relation]:
    """The global composition of the tilted expert, and the tilt of whole sequences."""
    tilts = {h: tilted(family.experts[0][h], row, Fraction(2)) for h, row in family.background.items()}
    stepwise = compose(replace(family, experts=(tilts,)), "strict").global_
    base, expert = law_of(family.background, 2, 2), law_of(family.experts[0], 2, 2)
    whole = {y: mass * (expert[y] / mass) ** 2 for y, mass in base.items()}
    whole = normalised_law(whole)
    yield equal("P_G of p_1^(2) = (5, 5, 1, 9)/20", stepwise, law("00: 1/4  01: 1/4  10: 1/20  11: 9/20"))
    yield equal("∝ P_b (P_1/P_b)² = (4, 4, 1, 9)/18", whole, law("00: 2/9  01: 2/9  10: 1/18  11: 1/2"))


@dataclass(frozen=True)
class Tilt:
    """One step: a background, an expert within its support, a weight."""

    background: Row
    expert: Row
    weight: int


def tilt(draw: Draw) -> Tilt:
    """At times the expert is the background, or the background on some of its tokens."""
    background = draw.row(draw.integer(1, 4), zeros=True)
    kept = {token for token in support(background) if draw.integer(0, 2)} or support(background)
    hard = normalised([mass if token in kept else 0 for token, mass in enumerate(background)])
    expert = draw.pick((hard, draw.row_inside(background), draw.row_inside(background, zeros=True)))
    return Tilt(background, expert, draw.integer(1, 3))


def check_sole(step: Tilt, fewer: bool = False) -> Iterator[Relation]:
    """A sole expert with its weight, beside one that does not deviate."""
    family = Family(len(step.background), 1, {(): step.background}, ({(): step.expert}, {(): step.background}))
    composed = compose(family, "strict", (Fraction(step.weight), Fraction(2)))
    constant_ratio = len({step.expert[y] / step.background[y] for y in support(step.expert)}) == 1
    reproduced = composed.kernel[()] == step.expert
    wanted = step.weight == 1 or (constant_ratio and not fewer)
    yield equal("p^ = p_i iff λ_i = 1 or r_i is constant on supp p_i", reproduced, wanted)


STATEMENTS = (
    Statement(
        number="1.9 (a)",
        kind="proposition",
        sentence="weights are a composition of tilted experts",
        equation="p_b prod_i r_i^λ_i, normalised, is the local composition of p_i^(λ) ∝ p_b r_i^λ_i",
        hypotheses=("p_i << p_b", "λ_i > 0"),
        draw=weighted,
        check=check_weights,
        controls=(Control("the tilt", weighted, check_untilted),),
        not_checked="irrational powers; those drawn are of ratios with rational roots",
        weight=2,
    ),
    Statement(
        number="1.9 (a) sequences",
        kind="counterexample",
        sentence="the global composition of tilted experts is not the tilt of whole sequences, even for one expert",
        equation="p_b uniform, p_1(.|1) = (1/4,3/4), λ = 2: (1/4,1/4,1/20,9/20) against (2/9,2/9,1/18,1/2)",
        cases=constant(SQUARED),
        check=check_squared,
        controls=(Control("these rows", lambda draw: common_support(draw, Shape(2, 2, 1, zeros=False))),),
    ),
    Statement(
        number="1.9 (a) sole deviator",
        kind="proposition",
        sentence="a weighted sole deviator is reproduced only if the weight is 1 or its ratio constant",
        equation="p^ = p_i iff λ_i = 1 or r_i is constant on supp p_i",
        hypotheses=("p_i << p_b", "λ_i > 0"),
        draw=tilt,
        check=check_sole,
        controls=(Control("r_i constant: λ_i = 1 alone", tilt, lambda step: check_sole(step, fewer=True)),),
        not_checked="weights that are not whole",
    ),
)
