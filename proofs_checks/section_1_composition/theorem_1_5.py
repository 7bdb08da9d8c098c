"""Theorem 1.5 (local vs global): what composing whole sequences changes is the path product of the normalizers.

`S(y) = sum_t log Z(y_<t)`; here `e^S` is kept as a fraction, and logarithms are taken only in part (4).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support, free, shape
from proofs_checks.definitions.laws import ONE, Prefix, divergence, expectation, law_tv, log, mass_of
from proofs_checks.definitions.operator import Composition, compose
from proofs_checks.statement import Control, Relation, Statement, at_most, close, equal

VALID = ("strict validity: no token that the background excludes is possible under an expert", "Z > 0 on R^")


def valid(draw: Draw) -> Family:
    """One support at every prefix: no error under any convention, and `Z > 0`."""
    return common_support(draw, shape(draw))


def with_dead_prefixes(draw: Draw) -> Family:
    """Experts within the background's support, which may leave no token possible together."""
    return free(draw, Shape(2, 2, 2, zeros=True), dominated=True)


def path_product(composed: Composition, sequence: Prefix) -> Fraction:
    """`e^{S(y)} = prod_t Z(y_<t)`."""
    return math.prod((composed.normalizer[sequence[:step]] for step in range(composed.length)), start=ONE)


def check_density(family: Family) -> Iterator[Relation]:
    """(1)"""
    composed = compose(family, "strict")
    for sequence in {*composed.local, *composed.global_}:
        density = path_product(composed, sequence) / composed.global_normalizer
        local = composed.local.get(sequence, Fraction(0))
        yield equal("P_G(y) = P_L(y) e^S(y) / Z_G", composed.global_.get(sequence, 0), local * density)
    mean = expectation(composed.local, lambda sequence: path_product(composed, sequence))
    yield equal("Z_G = E_L e^S", composed.global_normalizer, mean)


def check_equality(family: Family) -> Iterator[Relation]:
    """(2)"""
    composed = compose(family, "strict")
    constant = len({path_product(composed, sequence) for sequence in composed.local}) <= 1
    yield equal("P_G = P_L iff S is constant on supp P_L", composed.global_ == composed.local, constant)
    by_length = [
        {composed.normalizer[h] for h in composed.reachable if len(h) == step} for step in range(family.length)
    ]
    shorter = [compose(replace(family, length=horizon), "strict") for horizon in range(family.length + 1)]
    equal_at_all = all(one.global_ == one.local for one in shorter)
    depends_on_length = all(len(values) <= 1 for values in by_length)
    yield equal("P_G = P_L at every horizon iff Z(h) depends on |h| only", equal_at_all, depends_on_length)


def check_doob(family: Family) -> Iterator[Relation]:
    """(3)"""
    composed = compose(family, "strict")

    def ahead(prefix: Prefix) -> Fraction:
        """`B(h)`: the sum over continuations of the products of `w`."""
        if len(prefix) == family.length:
            return ONE
        return sum((w * ahead((*prefix, y)) for y, w in enumerate(composed.weights[prefix]) if w), Fraction(0))

    for h in composed.reachable:
        mass, z = mass_of(composed.global_, h), composed.normalizer[h]
        if not mass:
            continue
        for y, local in enumerate(composed.kernel[h]):
            doob = local * z * ahead((*h, y)) / ahead(h)
            yield equal("p_G(y|h) = p^(y|h) Z(h) B(hy) / B(h)", mass_of(composed.global_, (*h, y)) / mass, doob)


def check_distance(family: Family) -> Iterator[Relation]:
    """(4)"""
    composed = compose(family, "strict")
    local, whole = composed.local, composed.global_
    s = {sequence: log(path_product(composed, sequence)) for sequence in local}
    oscillation = max(s.values()) - min(s.values())
    mean_local = math.fsum(float(mass) * s[sequence] for sequence, mass in local.items())
    mean_global = math.fsum(float(mass) * s[sequence] for sequence, mass in whole.items())
    log_normalizer = log(composed.global_normalizer)
    yield close("KL(P_L||P_G) = log E_L e^S - E_L S", divergence(local, whole), log_normalizer - mean_local)
    yield close("KL(P_G||P_L) = E_G S - log Z_G", divergence(whole, local), mean_global - log_normalizer)
    yield at_most("KL(P_L||P_G) <= osc(S)²/8", divergence(local, whole), oscillation**2 / 8)
    yield at_most("KL(P_G||P_L) <= osc(S)²/8", divergence(whole, local), oscillation**2 / 8)
    yield at_most("TV <= tanh(osc(S)/4)", float(law_tv(local, whole)), math.tanh(oscillation / 4))


def check_trivial(family: Family) -> Iterator[Relation]:
    """(5)"""
    composed = compose(family, "cancel")
    yield equal("P_G = P_L", composed.global_, composed.local)


def one_expert_or_one_step(draw: Draw) -> Family:
    """`k = 1`, the expert within the background's support or not; or `T = 1` and common support."""
    if draw.one_in(2):
        return free(draw, shape(draw, experts=(1, 1)))
    of = shape(draw)
    return common_support(draw, Shape(of.size, 1, of.experts, of.zeros))


def two_experts_two_steps(draw: Draw) -> Family:
    """Neither `k = 1` nor `T = 1`."""
    return common_support(draw, Shape(2, 2, 2, zeros=False))


def check_laws_equal(family: Family) -> Iterator[Relation]:
    """False: local and global are one law."""
    composed = compose(family)
    yield equal("P_G = P_L", composed.global_, composed.local)


def check_kernels_equal(family: Family) -> Iterator[Relation]:
    """False: the global conditionals are the local kernels."""
    composed = compose(family)
    for h, row in composed.kernel.items():
        mass = mass_of(composed.global_, h)
        whole = tuple(mass_of(composed.global_, (*h, y)) / mass for y in range(family.size))
        yield equal("p_G(y|h) = p^(y|h)", whole, row)


def check_too_tight(family: Family) -> Iterator[Relation]:
    """False: (4) with smaller constants."""
    composed = compose(family)
    s = [log(path_product(composed, sequence)) for sequence in composed.local]
    oscillation = max(s) - min(s)
    yield at_most(
        "TV <= tanh(osc(S)/4.5)", float(law_tv(composed.local, composed.global_)), math.tanh(oscillation / 4.5)
    )


STATEMENTS = (
    Statement(
        number="1.5 (1)",
        kind="theorem",
        sentence="the global law is the local one reweighted by the path product of Z",
        equation="P_G(y) = P_L(y) e^S(y) / Z_G,   Z_G = E_L e^S",
        hypotheses=VALID,
        draw=valid,
        check=check_density,
        controls=(Control("the factor e^S(y)/Z_G", two_experts_two_steps, check_laws_equal),),
    ),
    Statement(
        number="1.5 (2)",
        kind="theorem",
        sentence="local and global agree iff the path product of Z is constant",
        equation="P_G = P_L iff S constant on supp P_L",
        hypotheses=VALID,
        draw=valid,
        check=check_equality,
        controls=(Control("Z > 0 on R^", with_dead_prefixes),),
    ),
    Statement(
        number="1.5 (3)",
        kind="theorem",
        sentence="global composition is the Doob transform of local composition",
        equation="p_G(y|h) = p^(y|h) Z(h) B(hy) / B(h)",
        hypotheses=VALID,
        draw=valid,
        check=check_doob,
        controls=(Control("the factor B(hy)/B(h)", two_experts_two_steps, check=check_kernels_equal),),
    ),
    Statement(
        number="1.5 (4)",
        kind="theorem",
        sentence="local and global are as far apart as S oscillates",
        equation="KL(P_L||P_G), KL(P_G||P_L) <= osc(S)²/8,   TV <= tanh(osc(S)/4)",
        hypotheses=VALID,
        draw=valid,
        check=check_distance,
        controls=(
            Control(
                "the constant: tanh(osc(S)/4.5)",
                two_experts_two_steps,
                check=check_too_tight,
            ),
        ),
        not_checked="that the constants are attained",
    ),
    Statement(
        number="1.5 (5)",
        kind="theorem",
        sentence="one step, or one expert: local and global are one",
        equation="P_G = P_L",
        hypotheses=("T = 1, or k = 1 under strict or cancel",),
        draw=one_expert_or_one_step,
        check=check_trivial,
        controls=(Control("T = 1 or k = 1", two_experts_two_steps),),
    ),
)
