"""Proposition 11.7: any test function refutes projectivity cheaply, and one of them exactly."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, free, shape
from proofs_checks.definitions.laws import ZERO, Law, Prefix, expectation, law_of, law_tv, marginal, pushforward, total
from proofs_checks.definitions.operator import Composition, compose
from proofs_checks.definitions.references import anchored
from proofs_checks.statement import Control, Relation, Statement, at_most, equal


@dataclass(frozen=True)
class Tested:
    """A family, some positions, and `φ` on the tokens there; `expert`: against which one."""

    family: Family
    positions: tuple[int, ...]
    expert: int
    phi: Mapping[Prefix, Fraction] = field(default_factory=dict)

    @property
    def composed(self) -> Composition:
        """The local composition."""
        return compose(self.family)

    @property
    def expert_law(self) -> Law:
        """`P_i`."""
        return law_of(self.family.experts[self.expert], self.family.size, self.family.length)

    def of(self, y: Prefix) -> Prefix:
        """`y_M`."""
        return tuple(y[position] for position in self.positions)


def instances(draw: Draw, *, largest: int = 4) -> Tested:
    """Experts inside the background's support; `φ` in quarters, at most `largest` of them."""
    family = anchored(draw, shape(draw))
    positions = draw.subset(range(family.length))
    laws = [compose(family).local, *(law_of(expert, family.size, family.length) for expert in family.experts)]
    cells = sorted({y for law in laws for y in marginal(law, positions)})
    phi = {cell: Fraction(draw.integer(0, largest), 4) for cell in cells}
    return Tested(family, positions, draw.integer(0, len(family.experts) - 1), phi)


def check(instance: Tested) -> Iterator[Relation]:
    """Against the distance of the marginals."""
    local, law = instance.composed.local, instance.expert_law
    tv = law_tv(marginal(local, instance.positions), marginal(law, instance.positions))
    means = [expectation(one, lambda y: instance.phi[instance.of(y)]) for one in (local, law)]
    yield at_most("|E_P^ φ - E_{P_i} φ| <= TV on M", abs(means[0] - means[1]), tv)
    for position in instance.positions:
        single = law_tv(marginal(local, [position]), marginal(law, [position]))
        yield at_most("TV of the laws of y_t <= TV on M", single, tv)


def check_single_steps(instance: Tested) -> Iterator[Relation]:
    """False: the laws of single tokens show the whole distance."""
    local, law = instance.composed.local, instance.expert_law
    tv = law_tv(marginal(local, instance.positions), marginal(law, instance.positions))
    single = (law_tv(marginal(local, [t]), marginal(law, [t])) for t in instance.positions)
    yield equal("max_t TV = TV on M", max(single, default=ZERO), tv)


def check_attained(instance: Tested) -> Iterator[Relation]:
    """`φ = 1{E_{P_i}[L_{-i}|y_M] > 1}`, `L_{-i} = prod_t r_{-i}/Z` along the path."""
    composed, law = instance.composed, instance.expert_law
    expert = instance.family.experts[instance.expert]

    def density(y: Prefix) -> Fraction:
        steps = [(y[:t], token) for t, token in enumerate(y)]
        result = Fraction(1)
        for h, token in steps:
            if not result or h not in composed.kernel:
                return ZERO
            result *= composed.weights[h][token] / expert[h][token] / composed.normalizer[h]
        return result

    weighed = {y: mass * density(y) for y, mass in law.items()}
    above, below = pushforward(weighed, instance.of), marginal(law, instance.positions)
    phi = {cell: above[cell] / mass > 1 for cell, mass in below.items()}
    composed_mean = total(mass for y, mass in composed.local.items() if phi.get(instance.of(y), False))
    expert_mean = total(mass for y, mass in law.items() if phi[instance.of(y)])
    tv = law_tv(marginal(composed.local, instance.positions), below)
    yield equal("E_P^ φ - E_{P_i} φ = TV on M", composed_mean - expert_mean, tv)


def opened(draw: Draw) -> Tested:
    """`P^` may leave the support of `P_i`: one other expert opens tokens under `cancel`."""
    known = free(draw, shape(draw, sizes=(2, 2), experts=(1, 1), zeros=True))
    family = Family(known.size, known.length, known.background, (known.background, known.experts[0]))
    return Tested(family, tuple(range(math.ceil(known.length / 2))), 0)


STATEMENTS = (
    Statement(
        number="11.7",
        kind="proposition",
        sentence="the means of any function with values in [0, 1] bound the projectivity gap from below",
        equation="TV(P^^M, P_i^M) >= |E_P^ φ - E_{P_i} φ|, max_{t in M} TV of the laws of y_t",
        hypotheses=("0 <= φ <= 1", "p^ is defined on R^"),
        draw=instances,
        check=check,
        controls=(
            Control("φ <= 1", lambda draw: instances(draw, largest=8)),
            Control("that single tokens only bound it", instances, check_single_steps),
        ),
        not_checked="the cost O(T|states||V|)",
    ),
    Statement(
        number="11.7 (attained)",
        kind="proposition",
        sentence="the tokens on M that the composition makes likelier attain it",
        equation="φ = 1{E_{P_i}[L_{-i}|y_M] > 1}:   E_P^ φ - E_{P_i} φ = TV(P^^M, P_i^M)",
        hypotheses=("P^ << P_i: automatic under strict and drop",),
        draw=instances,
        check=check_attained,
        controls=(Control("P^ << P_i", opened),),
    ),
)
