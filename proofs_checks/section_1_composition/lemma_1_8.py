"""Lemma 1.8 (Z is an interaction): it takes two deviating experts to move `Z` from 1."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support, free, pointwise_joint, shape
from proofs_checks.definitions.laws import ONE, Row, kernel, row, total
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import one_opening
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, at_most, constant, equal, fact

ABOVE_UNIT = Family(3, 1, kernel({"": "1/3 1/3 1/3"}), (kernel({"": "1/6 1/6 2/3"}), kernel({"": "1/6 1/2 1/3"})))


def dominated(draw: Draw) -> Family:
    """`p_i << p_b`, with zeros."""
    return free(draw, shape(draw, sizes=(1, 3), experts=(1, 4)), dominated=True)


def dominated_or_opening(draw: Draw) -> Family:
    """`p_i << p_b`, or under `cancel` one expert opens tokens: their weight is what `E_b r_i` lacks to 1."""
    return dominated(draw) if draw.one_in(2) else one_opening(draw, shape(draw, sizes=(1, 3), experts=(1, 4)))


def two_dominated(draw: Draw) -> Family:
    """Two experts, `p_i << p_b`, with zeros."""
    return free(draw, shape(draw, sizes=(1, 3), experts=(2, 2)), dominated=True)


def binary(draw: Draw) -> Family:
    """Two tokens, two experts, `p_i << p_b`; few values, so that they agree often."""
    return free(draw, Shape(2, draw.integer(1, 3), 2, draw.one_in(2)), dominated=True)


def ratio(expert: Row, background: Row, token: int) -> Fraction:
    """`r(y)` where `p_b(y) > 0`."""
    return expert[token] / background[token]


def mean(background: Row, values: dict[int, Fraction]) -> Fraction:
    """`E_{p_b}` of a function of the tokens that the background allows."""
    return total(background[y] * value for y, value in values.items())


def check_expansion(family: Family, null: NullTokens = "cancel") -> Iterator[Relation]:
    """`Z` from the weights against the sum over sets of experts."""
    composed = compose(family, null)
    for h, z in composed.normalizer.items():
        base, rows = family.background[h], [expert[h] for expert in family.experts]
        allowed = [y for y, mass in enumerate(base) if mass]
        interactions = [
            mean(base, {y: math.prod((ratio(rows[i], base, y) - 1 for i in chosen), start=ONE) for y in allowed})
            for size in range(2, len(rows) + 1)
            for chosen in combinations(range(len(rows)), size)
        ]
        yield equal("Z = 1 + sum_{|A|>=2} E_b prod_{i in A} (r_i - 1)", z, 1 + total(interactions))


def check_one_deviator(family: Family) -> Iterator[Relation]:
    """`Z` at every prefix."""
    yield equal("Z = 1", set(compose(family).normalizer.values()), {ONE})


def check_one_deviator_dropped(family: Family) -> Iterator[Relation]:
    """False: also under `drop`."""
    yield equal("Z = 1 under drop", set(compose(family, "drop").normalizer.values()), {ONE})


def covariance_bound(family: Family, factor: Fraction) -> Iterator[Relation]:
    """`Z - 1` is the covariance, and at most `factor` times the root of the two χ²."""
    for h, z in compose(family).normalizer.items():
        base, (one, other) = family.background[h], (expert[h] for expert in family.experts)
        allowed = [y for y, mass in enumerate(base) if mass]
        r, s = ({y: ratio(expert, base, y) for y in allowed} for expert in (one, other))
        product = mean(base, {y: r[y] * s[y] for y in allowed})
        yield equal("Z = 1 + Cov_b(r_1, r_2)", z, 1 + product - mean(base, r) * mean(base, s))
        squares = [total((p - b) ** 2 / b for p, b in zip(expert, base, strict=True) if b) for expert in (one, other)]
        yield at_most("(Z - 1)² <= χ²(p_1||p_b) χ²(p_2||p_b)", (z - 1) ** 2, factor * squares[0] * squares[1])


def check_covariance(family: Family) -> Iterator[Relation]:
    """The bound as stated; attained where the experts are one."""
    yield from covariance_bound(family, ONE)
    one = family.experts[0]
    twice = compose(Family(family.size, family.length, family.background, (one, one)))
    for h, z in twice.normalizer.items():
        square = total((p - b) ** 2 / b for p, b in zip(one[h], family.background[h], strict=True) if b)
        yield equal("attained: Z - 1 = χ² for p_1 = p_2", z - 1, square)


def check_binary(family: Family) -> Iterator[Relation]:
    """`Z = 1` against the number of deviators."""
    for h, z in compose(family).normalizer.items():
        deviators = sum(expert[h] != family.background[h] for expert in family.experts)
        yield equal("Z = 1 iff at most one deviates", z == 1, deviators <= 1)


def check_unit_with_overlap(family: Family) -> Iterator[Relation]:
    """Its rationals: three tokens, both experts deviate, `Z = 1`, and the composition is neither."""
    composed = compose(family)
    yield equal("Z = 1", composed.normalizer[()], ONE)
    yield equal("p^ = (1/12, 1/4, 2/3)", composed.kernel[()], row("1/12 1/4 2/3"))
    components = {model[()] for model in (family.background, *family.experts)}
    yield fact("p^ is no component", len(components) == 3 and composed.kernel[()] not in components)
    library = verdicts(family)
    yield fact("verify(): unit_normalizer holds, pointwise_joint is refuted", library["unit_normalizer"] is True)
    yield equal("verify(): pointwise_joint is refuted", library["pointwise_joint"], False)


STATEMENTS = (
    Statement(
        number="1.8",
        kind="lemma",
        sentence="the normalizer is one plus the interactions of two and more experts",
        equation="Z = 1 + sum_{|A|>=2} E_{p_b} prod_{i in A} (r_i - 1)",
        hypotheses=("p_i << p_b, or cancel without error",),
        draw=dominated_or_opening,
        check=check_expansion,
        controls=(
            Control(
                "cancel: drop instead, and an expert opens tokens",
                lambda draw: one_opening(draw, shape(draw)),
                lambda family: check_expansion(family, "drop"),
            ),
        ),
    ),
    Statement(
        number="1.8 one deviator",
        kind="lemma",
        sentence="the normalizer is 1 where at most one expert deviates",
        equation="Z(h) = 1",
        hypotheses=("at most one deviates", "p_i << p_b, or cancel"),
        draw=lambda draw: pointwise_joint(draw, shape(draw, sizes=(1, 3), experts=(1, 4))),
        check=check_one_deviator,
        controls=(
            Control("at most one deviates", lambda draw: common_support(draw, Shape(2, 1, 2, zeros=False))),
            Control(
                "cancel: drop instead",
                lambda draw: pointwise_joint(draw, Shape(2, 1, 1, zeros=True)),
                check_one_deviator_dropped,
            ),
        ),
    ),
    Statement(
        number="1.8 two experts",
        kind="lemma",
        sentence="for two experts the normalizer is one plus a covariance, bounded by the two χ²",
        equation="Z = 1 + Cov_{p_b}(r_1, r_2),   |Z - 1| <= sqrt(χ²(p_1||p_b) χ²(p_2||p_b))",
        hypotheses=("k = 2", "p_i << p_b"),
        draw=two_dominated,
        check=check_covariance,
        controls=(
            Control(
                "the constant: 0.99 of it", two_dominated, lambda family: covariance_bound(family, Fraction(98, 100))
            ),
        ),
    ),
    Statement(
        number="1.8 two tokens",
        kind="lemma",
        sentence="for two tokens and two experts the normalizer is 1 exactly where at most one deviates",
        equation="Z(h) = 1 iff at most one deviates at h",
        hypotheses=("|V| = 2", "k = 2", "p_i << p_b"),
        draw=binary,
        check=check_binary,
        controls=(Control("|V| = 2", lambda _: ABOVE_UNIT),),
    ),
    Statement(
        number="1.8 three tokens",
        kind="counterexample",
        sentence="a normalizer of 1 does not show that at most one expert deviates",
        equation="p_b uniform, p_1 = (1/6,1/6,2/3), p_2 = (1/6,1/2,1/3): Z = 1, p^ = (1/12,1/4,2/3)",
        cases=constant(ABOVE_UNIT),
        check=check_unit_with_overlap,
        controls=(Control("these rows", lambda draw: common_support(draw, Shape(3, 1, 2, zeros=False))),),
    ),
)
