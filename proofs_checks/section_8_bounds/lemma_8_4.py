"""Lemma 8.4: what a deviation small in TV does give, where the ratios to the background are capped."""

import math
from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape
from proofs_checks.definitions.laws import ONE, Row, divergence, row_tv, support
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.references import anchored
from proofs_checks.statement import Control, Number, Relation, Statement, at_most


def one_step(draw: Draw) -> Family:
    """One step, up to four experts inside the background's support, one token in common."""
    return anchored(draw, Shape(draw.integer(1, 4), 1, draw.integer(1, 4), draw.one_in(2)))


def opening(draw: Draw) -> Family:
    """The expert has every token; the background may exclude one."""
    return Family(2, 1, {(): draw.row(2, zeros=True)}, ({(): draw.row(2)},))


def cap(row: Row, base: Row) -> Fraction:
    """`R = sup r` over the support of the background."""
    return max(row[token] / base[token] for token in support(base))


def bound(family: Family, assigned: int, distances: list[Number], *, own: bool = True, others: bool = True) -> Number:
    """`sum_{j != i} R_i (prod_{l<j, l != i} R_l) distance_j`; `own`, `others`: without the caps, if false."""
    base = family.background[()]
    caps = [cap(expert[()], base) for expert in family.experts]
    mine = caps[assigned - 1] if assigned and own else ONE
    result: Number = Fraction(0)
    for j, distance in enumerate(distances):
        if j + 1 != assigned:
            before = math.prod((caps[i] for i in range(j) if i + 1 != assigned), start=ONE) if others else ONE
            result += mine * before * distance
    return result


def check(family: Family) -> Iterator[Relation]:
    """Against the background (`i = b`, `R_b = 1`) and against every expert."""
    composed = compose(family, "drop").kernel[()]
    models = [model[()] for model in (family.background, *family.experts)]
    tvs: list[Number] = [2 * row_tv(row, models[0]) for row in models[1:]]
    divergences: list[Number] = [
        math.sqrt(2 * max(0.0, min(divergence(row, models[0]), divergence(models[0], row)))) for row in models[1:]
    ]
    for i, row in enumerate(models):
        tv = row_tv(composed, row)
        yield at_most("TV(p^, p_i) <= sum_j R_i (prod R_l) 2 TV(p_j, p_b)", tv, bound(family, i, tvs))
        yield at_most("TV(p^, p_i) <= sum_j R_i (prod R_l) sqrt(2 KL)", float(tv), float(bound(family, i, divergences)))


def check_without_own_cap(family: Family) -> Iterator[Relation]:
    """False: without `R_i`."""
    yield from check_without(family, own=False, others=True)


def check_without_other_caps(family: Family) -> Iterator[Relation]:
    """False: without `prod R_l`."""
    yield from check_without(family, own=True, others=False)


def check_without(family: Family, *, own: bool, others: bool) -> Iterator[Relation]:
    """The bound without some caps."""
    composed = compose(family, "drop").kernel[()]
    models = [model[()] for model in (family.background, *family.experts)]
    tvs: list[Number] = [2 * row_tv(row, models[0]) for row in models[1:]]
    for i, row in enumerate(models):
        yield at_most("without some caps", row_tv(composed, row), bound(family, i, tvs, own=own, others=others))


def two_tokens(*masses: Fraction) -> Family:
    """The mass of token 1 under the background and under each expert."""
    rows = [(1 - mass, mass) for mass in masses]
    return Family(2, 1, {(): rows[0]}, tuple({(): row} for row in rows[1:]))


def one_peaked(draw: Draw) -> Family:
    """CE 8.3: the assigned expert likes what the other avoids."""
    small = Fraction(1, draw.integer(10, 99))
    return two_tokens(small, Fraction(1, 2), small**2)


def both_peaked(draw: Draw) -> Family:
    """Two experts like the same rare token a little; together they like it much."""
    small = Fraction(1, draw.integer(10, 99))
    return two_tokens(small**3, small, small)


STATEMENTS = (
    Statement(
        number="8.4",
        kind="lemma",
        sentence="with capped ratios, experts near the background in TV move the composition little",
        equation="TV(p^, p_i) <= sum_{j != i} R_i (prod_{l<j, l != i} R_l) 2 TV(p_j, p_b)",
        hypotheses=("p_j << p_b", "Z > 0", "R_l = sup r_l, R_b = 1"),
        draw=one_step,
        check=check,
        controls=(
            Control("p_j << p_b", opening),
            Control("the factor R_i", one_peaked, check_without_own_cap),
            Control("the factors R_l", both_peaked, check_without_other_caps),
        ),
        not_checked="how often the caps of language models are small",
    ),
)
