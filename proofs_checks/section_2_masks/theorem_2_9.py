"""Theorem 2.9 (necessary and sufficient): any statistic, any number of experts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, common_support, shape
from proofs_checks.definitions.laws import ONE, ZERO, Law, Prefix, kernel, law_of, law_tv, pushforward, sequences, total
from proofs_checks.definitions.operator import Composition, NullTokens, compose
from proofs_checks.definitions.recipes import one_opening, token_in_common
from proofs_checks.statement import Control, Relation, Statement, constant, equal


@dataclass(frozen=True)
class Statistic:
    """A family, a convention, one of its experts, and a function `Π` of the sequences."""

    family: Family
    null: NullTokens
    expert: int
    values: dict[Prefix, int]


def statistic(draw: Draw, family: Family, null: NullTokens, expert: int | None = None) -> Statistic:
    """Any function with at most three values, or the sequence itself."""
    paths = sequences(family.size, family.length)
    values = {y: draw.integer(0, 2) for y in paths}
    if draw.one_in(4):
        values = {y: i for i, y in enumerate(paths)}
    place = draw.integer(0, len(family.experts) - 1) if expert is None else expert
    return Statistic(family, null, place, values)


def dominated_by_the_expert(draw: Draw) -> Statistic:
    """`strict` or `drop`; or `cancel` where the expert alone opens tokens. `Z > 0`."""
    of = shape(draw)
    if draw.one_in(3):
        return statistic(draw, one_opening(draw, of, always=1), "cancel", expert=0)
    null: NullTokens = draw.pick(("strict", "drop"))
    return statistic(draw, draw.pick((token_in_common, common_support))(draw, of), null)


def steps_without(instance: Statistic, composed: Composition, y: Prefix, *, normalised: bool) -> Fraction:
    """`prod_t r_{-i}(y_t|y_<t)`, over `Z(y_<t)` if `normalised`, up to its first zero factor; `P_i(y) > 0`."""
    expert, product = instance.family.experts[instance.expert], ONE
    for t, token in enumerate(y):
        product *= composed.weights[y[:t]][token] / expert[y[:t]][token]
        if not product:
            return ZERO
        product /= composed.normalizer[y[:t]] if normalised else 1
    return product


def check(instance: Statistic) -> Iterator[Relation]:
    """The distance of the image laws against the conditional expectation of the density."""
    family = instance.family
    composed = compose(family, instance.null)
    expert = law_of(family.experts[instance.expert], family.size, family.length)
    local = {y: steps_without(instance, composed, y, normalised=True) for y in expert}
    whole = {y: steps_without(instance, composed, y, normalised=False) / composed.global_normalizer for y in expert}
    background = law_of(family.background, family.size, family.length)
    others = [law_of(one, family.size, family.length) for i, one in enumerate(family.experts) if i != instance.expert]
    for y in expert.keys() & background.keys():
        ratios = math.prod((other.get(y, ZERO) / background[y] for other in others), start=ONE)
        yield equal("global: L_{-i} = prod_{j!=i} P_j/P_b / Z_G", whole[y], ratios / composed.global_normalizer)
    for name, law, density in (("P_L", composed.local, local), ("P_G", composed.global_, whole)):
        image, wanted = (pushforward(one, instance.values.__getitem__) for one in (law, expert))
        conditional = conditional_mean(instance, expert, density)
        mean = total(wanted[value] * abs(mean - 1) for value, mean in conditional.items()) / 2
        yield equal(f"TV(Π#{name}, Π#P_i) = ½ E_i|E_i[L_-i|Π] - 1|", law_tv(image, wanted), mean)
        always = all(mean == 1 for mean in conditional.values())
        yield equal(f"{name} is projective on Π iff E_i[L_-i|Π] = 1 a.s.", image == wanted, always)


def conditional_mean(instance: Statistic, expert: Law, density: dict[Prefix, Fraction]) -> dict[int, Fraction]:
    """`E_i[L_{-i}|Π]`, by value."""
    mass: dict[int, Fraction] = {}
    moment: dict[int, Fraction] = {}
    for y, probability in expert.items():
        value = instance.values[y]
        mass[value] = mass.get(value, ZERO) + probability
        moment[value] = moment.get(value, ZERO) + probability * density[y]
    return {value: moment[value] / mass[value] for value in mass}


def opened_by_another(draw: Draw) -> Statistic:
    """Under `cancel`, any expert opens tokens."""
    family = one_opening(draw, shape(draw, experts=(2, 3)))
    return statistic(draw, family, "cancel")


CERTAIN = kernel({"": "1 0"})
OPENED = Statistic(Family(2, 1, CERTAIN, (CERTAIN, kernel({"": "1/2 1/2"}))), "cancel", 0, {(0,): 0, (1,): 1})


def check_opened(instance: Statistic) -> Iterator[Relation]:
    """Its rationals: the distance, and what the formula makes of it."""
    composed = compose(instance.family, instance.null)
    expert = law_of(instance.family.experts[instance.expert], 2, 1)
    density = {y: steps_without(instance, composed, y, normalised=True) for y in expert}
    mean = total(expert[y] * abs(density[y] - 1) for y in expert) / 2
    yield equal("TV(P^, P_1) = 1/2", law_tv(composed.local, expert), Fraction(1, 2))
    yield equal("½ E_1|L_{-1} - 1| = 1/4", mean, Fraction(1, 4))


STATEMENTS = (
    Statement(
        number="2.9",
        kind="theorem",
        sentence="projectivity on a statistic is that the other experts' density has conditional mean 1",
        equation="TV(Π#P^, Π#P_i) = ½ E_i|E_i[L_{-i}|Π] - 1|;  L_{-i} = prod_t r_{-i}/Z, or prod_{j!=i} (P_j/P_b)/Z_G",
        hypotheses=("P^ << P_i (strict or drop; cancel where no other expert opens tokens)", "Z > 0 on R^"),
        draw=dominated_by_the_expert,
        check=check,
        controls=(Control("P^ << P_i", opened_by_another),),
    ),
    Statement(
        number="2.9 under cancel",
        kind="counterexample",
        sentence="under cancel another expert can take the composition out of the expert's support",
        equation="p_b = p_1 = (1,0), p_2 = (1/2,1/2): TV = 1/2, the formula gives 1/4",
        cases=constant(OPENED),
        check=check_opened,
        controls=(Control("another expert opens a token", dominated_by_the_expert),),
    ),
)
