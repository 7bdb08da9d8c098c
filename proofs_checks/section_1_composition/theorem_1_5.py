"""Theorem 1.5 (local vs global): what composing whole sequences changes is the path product of the normalizers.

`S(y) = sum_t log Z(y_<t)`; here `e^S` is kept as a fraction, and logarithms are taken only in part (4).
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support, free, shape
from proofs_checks.definitions.laws import ONE, Prefix, divergence, expectation, kernel, law_tv, log, mass_of
from proofs_checks.definitions.operator import Composition, NullTokens, compose
from proofs_checks.definitions.recipes import one_opening, token_in_common
from proofs_checks.statement import Control, Relation, Statement, at_most, close, equal

VALID = ("strict validity: no token that the background excludes is possible under an expert", "Z > 0 on R^")


def valid(draw: Draw) -> Family:
    """One support, or a token in common, at every prefix: no error under any convention, and `Z > 0`."""
    return draw.pick((common_support, token_in_common))(draw, shape(draw, sizes=(1, 3)))


def with_dead_prefixes(draw: Draw) -> Family:
    """Experts within the background's support, which may leave no token possible together."""
    return free(draw, Shape(2, 2, 2, zeros=True), dominated=True)


def path_product(composed: Composition, sequence: Prefix) -> Fraction:
    """`e^{S(y)} = prod_t Z(y_<t)`."""
    return math.prod((composed.normalizer[sequence[:step]] for step in range(composed.length)), start=ONE)


def check_density(family: Family, null: NullTokens = "strict") -> Iterator[Relation]:
    """(1)"""
    composed = compose(family, null)
    for sequence in {*composed.local, *composed.global_}:
        density = path_product(composed, sequence) / composed.global_normalizer
        local = composed.local.get(sequence, Fraction(0))
        yield equal("P_G(y) = P_L(y) e^S(y) / Z_G", composed.global_.get(sequence, 0), local * density)
    mean = expectation(composed.local, lambda sequence: path_product(composed, sequence))
    yield equal("Z_G = E_L e^S", composed.global_normalizer, mean)


def check_equality(family: Family, null: NullTokens = "strict") -> Iterator[Relation]:
    """(2)"""
    composed = compose(family, null)
    constant = len({path_product(composed, sequence) for sequence in composed.local}) <= 1
    yield equal("P_G = P_L iff S is constant on supp P_L", composed.global_ == composed.local, constant)
    by_length = [
        {composed.normalizer[h] for h in composed.reachable if len(h) == step} for step in range(family.length)
    ]
    shorter = [compose(replace(family, length=horizon), null) for horizon in range(family.length + 1)]
    equal_at_all = all(one.global_ == one.local for one in shorter)
    depends_on_length = all(len(values) <= 1 for values in by_length)
    yield equal("P_G = P_L at every horizon iff Z(h) depends on |h| only", equal_at_all, depends_on_length)


def check_doob(family: Family, null: NullTokens = "strict") -> Iterator[Relation]:
    """(3)"""
    composed = compose(family, null)

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
    steady = all(
        len({ahead((*h, y)) for y, local in enumerate(composed.kernel[h]) if local}) == 1 for h in composed.reachable
    )
    same = composed.global_ == composed.local
    yield equal("P_G = P_L iff B(hy) is constant in y in supp p^(.|h), h in R^", same, steady)


def check_distance(family: Family, null: NullTokens = "strict") -> Iterator[Relation]:
    """(4)"""
    composed = compose(family, null)
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


def check_under_cancel(family: Family) -> Iterator[Relation]:
    """(1) to (4), with the path products of 1.2."""
    for part in (check_density, check_equality, check_doob, check_distance):
        yield from part(family, "cancel")


def check_attained(scale: Fraction) -> Iterator[Relation]:
    """(4) with equality: `Z = 1` after token 0 and `1/u` after token 1, where both experts insist on a token of `p_b`
    -probability `u`; `osc(S) = log 1/u`. Small oscillations are half and half.
    """
    u = 1 / scale**2
    rows = kernel({"": f"{scale / (1 + scale)} {1 / (1 + scale)}", "0": "1 0", "1": f"{1 - u} {u}"})
    expert = {**rows, (1,): (Fraction(0), ONE)}
    composed = compose(Family(2, 2, rows, (expert, expert)), "strict")
    distance = law_tv(composed.local, composed.global_)
    yield equal("e^osc(S) = b²", composed.normalizer[1,] / composed.normalizer[0,], scale**2)
    yield close("TV = tanh(osc(S)/4)", float(distance), math.tanh(2 * log(scale) / 4))
    if scale <= Fraction(101, 100):
        bound = (2 * log(scale)) ** 2 / 8
        yield at_most("KL(P_L||P_G) >= 0.9999 osc(S)²/8", 0.9999 * bound, divergence(composed.local, composed.global_))
        yield at_most("KL(P_G||P_L) >= 0.9999 osc(S)²/8", 0.9999 * bound, divergence(composed.global_, composed.local))


def check_too_large(scale: Fraction) -> Iterator[Relation]:
    """False: (4) with equality for another law, half and half."""
    halves = {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
    other = {(0,): 1 / (1 + scale**2), (1,): scale**2 / (1 + scale**2)}
    yield close("TV = tanh(osc(S)/4)", float(law_tv(halves, other)), math.tanh(2 * log(scale) / 4))


def check_trivial_dropped(family: Family) -> Iterator[Relation]:
    """False: (5) for one expert under `drop`."""
    composed = compose(family, "drop")
    if composed.well_defined:
        yield equal("P_G = P_L under drop", composed.global_, composed.local)


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
    ),
    Statement(
        number="1.5 (4) attained",
        kind="theorem",
        sentence="the constants of (4) cannot be smaller",
        equation="TV = tanh(osc(S)/4) for P_L = (b, 1)/(1+b), Z = 1, b²;   KL ~ osc(S)²/8 as osc(S) -> 0",
        cases=lambda: map(Fraction, ("2", "3", "5/4", "101/100")),
        check=check_attained,
        controls=(Control("P_L = (b, 1)/(1+b): half and half instead", lambda draw: Fraction(2), check_too_large),),
    ),
    Statement(
        number="1.5 (5)",
        kind="theorem",
        sentence="one step, or one expert: local and global are one",
        equation="P_G = P_L",
        hypotheses=("T = 1, or k = 1 under strict or cancel",),
        draw=one_expert_or_one_step,
        check=check_trivial,
        controls=(
            Control("T = 1 or k = 1", two_experts_two_steps),
            Control(
                "strict or cancel: drop instead",
                lambda draw: free(draw, Shape(2, 2, 1, zeros=True)),
                check_trivial_dropped,
            ),
        ),
    ),
    Statement(
        number="1.5 under cancel",
        kind="theorem",
        sentence="(1) to (4) hold for cancel too, with path products of the weights",
        equation="W(y) = prod_t w(y_t|y_<t), where one expert may open tokens",
        hypotheses=("no error under cancel", "Z > 0 on R^"),
        draw=lambda draw: one_opening(draw, shape(draw)),
        check=check_under_cancel,
        controls=(Control("Z > 0 on R^", with_dead_prefixes),),
        weight=3,
    ),
)
