"""CE 2.5a, b, c: what each part of factorized conditionals is needed for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Law, conditionals, law_tv, marginal, product_law, sequences
from proofs_checks.definitions.masks import background_factorizes, expert_factorizes
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.recipes import any_law
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Laws:
    """A background and experts by their laws, one position to each expert."""

    background: Law
    experts: tuple[Law, ...]

    @property
    def family(self) -> Family:
        length = len(next(iter(self.background)))
        kernels = [conditionals(law, 2, length) for law in (self.background, *self.experts)]
        return Family(2, length, kernels[0], tuple(kernels[1:]), tuple((i,) for i in range(len(self.experts))))


def by_order(*weights: int | Fraction) -> Law:
    """The law proportional to the weights of `00, 01, 10, 11`."""
    return {y: Fraction(w, 1) / sum(weights) for y, w in zip(sequences(2, 2), weights, strict=True) if w}


def zeros(law: Law) -> list[Fraction]:
    """`P(y_t = 0)` for every position."""
    return [marginal(law, (t,)).get((0,), Fraction(0)) for t in range(len(next(iter(law))))]


def which_hold(instance: Laws) -> tuple[bool, bool]:
    """(a), and (b) for all experts."""
    family = instance.family
    b = all(expert_factorizes(family, i, instance.background, law) for i, law in enumerate(instance.experts))
    return background_factorizes(family, instance.background), b


DEPENDENT = Laws(by_order(1, 1, 1, 5), (by_order(7, 21, 1, 3), by_order(7, 1, 21, 3)))


def check_a(instance: Laws) -> Iterator[Relation]:
    """(b) without (a)."""
    composed = compose(instance.family, "strict")
    yield equal("(a) fails, (b) holds", which_hold(instance), (False, True))
    targets = [zeros(law)[i] for i, law in enumerate(instance.experts)]
    yield equal("P_i(y_i = 0) = 7/8", targets, [Fraction(7, 8)] * 2)
    yield equal("P_G: 175/232 on both", zeros(composed.global_), [Fraction(175, 232)] * 2)
    yield equal("P_L: 7/8, 553/760", zeros(composed.local), [Fraction(7, 8), Fraction(553, 760)])


def parity(strength: Fraction) -> Law:
    """`(1 + strength (-1)^{y1+y2+y3})/8`: two of the three positions are independent."""
    return {y: (1 + strength * (-1) ** sum(y)) / 8 for y in sequences(2, 3)}


def one_coin(position: int, heads: Fraction) -> Law:
    """`P(y_position = 1) = heads`, the others fair."""
    return {y: (heads if y[position] else 1 - heads) / 4 for y in sequences(2, 3)}


PAIRWISE = Laws(parity(HALF), tuple(one_coin(i, Fraction(3, 4)) for i in range(3)))


def check_b(instance: Laws) -> Iterator[Relation]:
    """Pairs of blocks are independent, all three are not."""
    composed = compose(instance.family, "strict")
    law = instance.background

    def independent(*blocks: tuple[int, ...]) -> bool:
        both = marginal(law, [t for block in blocks for t in block])
        parts: Mapping[tuple[int, ...], Law] = {(i,): marginal(law, block) for i, block in enumerate(blocks)}
        return law_tv(both, product_law(parts, len(blocks))) == 0

    pairs = [independent((i,), (j,)) for i in range(3) for j in range(i)]
    yield fact("every two blocks are independent under P_b", all(pairs))
    yield equal("(a) fails, (b) holds", which_hold(instance), (False, True))
    ones = [[1 - zero for zero in zeros(law)] for law in (composed.global_, composed.local)]
    targets = [1 - zeros(expert)[i] for i, expert in enumerate(instance.experts)]
    yield equal("P_i(y_i = 1) = 3/4", targets, [Fraction(3, 4)] * 3)
    yield equal("P_G: 9/11 on each", ones[0], [Fraction(9, 11)] * 3)
    yield equal("P_L: 3/4, 3/4, 39/56", ones[1], [Fraction(3, 4), Fraction(3, 4), Fraction(39, 56)])


CONFOUNDED = Laws(by_order(1, 1, 1, 1), (by_order(1, 2, 3, 2), by_order(7, 1, 7, 1)))


def check_c(instance: Laws) -> Iterator[Relation]:
    """Experts have the background's marginals off their masks, and `M_1` depends on the rest under `p_1`."""
    composed = compose(instance.family, "strict")
    for i, law in enumerate(instance.experts):
        off = tuple(t for t in range(2) if t != i)
        yield equal("P_i^{M_i^c} = P_b^{M_i^c}", marginal(law, off), marginal(instance.background, off))
    yield equal("(a) holds, (b) fails", which_hold(instance), (True, False))
    targets = [zeros(law)[i] for i, law in enumerate(instance.experts)]
    for name, law in (("P_G", composed.global_), ("P_L", composed.local)):
        yield fact(f"{name} is not projective", zeros(law) != targets)


def factorized_laws(draw: Draw, length: int) -> Laws:
    """All three parts hold: independent positions, and each expert changes its own."""
    coins = [any_law(draw, 2, 1) for _ in range(length)]

    def product_of(marginals: list[Law]) -> Law:
        return product_law({(t,): law for t, law in enumerate(marginals)}, length)

    tilted = [any_law(draw, 2, 1) for _ in range(length)]
    experts = tuple(product_of([*coins[:i], tilted[i], *coins[i + 1 :]]) for i in range(length))
    return Laws(product_of(coins), experts)


STATEMENTS = (
    Statement(
        number="2.5a",
        kind="counterexample",
        sentence="independent experts do not make up for dependent blocks of the background",
        equation="P_b = (1,1,1,5)/8, P_1 = (7,21,1,3)/32, P_2 = (7,1,21,3)/32: 7/8; P_G 175/232, P_L 7/8, 553/760",
        cases=constant(DEPENDENT),
        check=check_a,
        not_checked="that it is smallest",
        controls=(Control("(a) fails", lambda draw: factorized_laws(draw, 2)),),
    ),
    Statement(
        number="2.5b",
        kind="counterexample",
        sentence="pairwise independence of the blocks is not enough",
        equation="P_b = (1 + ½(-1)^{y1+y2+y3})/8, P_i a coin of 3/4: 3/4 wanted; P_G 9/11, P_L 3/4, 3/4, 39/56",
        cases=constant(PAIRWISE),
        check=check_b,
        not_checked="that it is smallest",
        controls=(Control("(a) fails", lambda draw: factorized_laws(draw, 3)),),
    ),
    Statement(
        number="2.5c",
        kind="counterexample",
        sentence="marginals that agree off the mask do not replace independence of the mask",
        equation="P_b uniform, P_1 = (1,2,3,2)/8, P_2 = (7,1,7,1)/16: neither operator is projective",
        cases=constant(CONFOUNDED),
        check=check_c,
        not_checked="that it is smallest",
        controls=(Control("(b) fails", lambda draw: factorized_laws(draw, 2)),),
    ),
)
