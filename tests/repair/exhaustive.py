"""Every set of resets, tried one by one: the slow truth about the cheapest repair, from the definitions."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tests import oracle
from tests.strategies import Instance

CLAIMS = ("pointwise_joint", "interval_joint")
KINDS = ("tv", "count")
Place = tuple[str, oracle.Prefix]


@dataclass(frozen=True)
class Least:
    """The least cost over all sets of resets, exactly, and the fewest resets among those of that cost."""

    cost: Fraction
    resets: int


def case_of(instance: Instance, experts=None) -> oracle.Case:
    experts = instance.experts if experts is None else experts
    return oracle.tabulate(instance.vocabulary, instance.eos, instance.background, experts, instance.question)


def places(instance: Instance) -> list[Place]:
    """Where an expert's row may be taken away: wherever it is not the background's."""
    return [
        (name, prefix)
        for name, steps in instance.experts.items()
        for length, rows in enumerate(steps)
        for prefix, row, base in zip(
            product(range(len(instance.vocabulary)), repeat=length), rows, instance.background[length], strict=True
        )
        if tuple(row) != tuple(base)
    ]


def with_resets(instance: Instance, resets: set[Place]) -> dict[str, list]:
    """The experts with the background's rows at some places."""
    size = len(instance.vocabulary)

    def index(prefix):
        number = 0
        for token in prefix:
            number = number * size + token
        return number

    experts = {name: [list(rows) for rows in steps] for name, steps in instance.experts.items()}
    for name, prefix in resets:
        experts[name][len(prefix)][index(prefix)] = instance.background[len(prefix)][index(prefix)]
    return experts


def factorizes(case: oracle.Case, claim: str) -> bool:
    """JF-pt or JF-int on the scope of these models, which are well defined there."""
    if any(prefix not in case.composition for prefix in case.scope):
        return False
    marked = []
    for name in case.names:
        deviating = {prefix for prefix in case.scope if oracle.deviates(case, name, prefix)}
        if claim == "interval_joint":
            deviating = oracle.active_set(deviating, case.size, case.length) & set(case.scope)
        marked.append(deviating)
    union = set().union(*marked)
    return sum(map(len, marked)) == len(union)


def price_of(case: oracle.Case, place: Place, kind: str) -> Fraction:
    """`c_i(h)` on the given composition; 0 where it does not go."""
    name, prefix = place
    if kind == "count":
        return Fraction(1)
    probability = case.probability(prefix) if prefix in reached_by_law(case) else Fraction(0)
    if not probability:
        return Fraction(0)
    return probability * oracle.row_tv(case.experts[name][prefix], case.background[prefix])


def reached_by_law(case: oracle.Case) -> set[oracle.Prefix]:
    return set(case.reachable)


def subsets(things: list) -> Iterator[set]:
    for chosen in product((False, True), repeat=len(things)):
        yield {thing for thing, taken in zip(things, chosen, strict=True) if taken}


def least(instance: Instance) -> dict[tuple[str, str], Least]:
    """For each claim and kind of cost the cheapest resets after which the claim holds on the scope that results."""
    given, candidates = case_of(instance), places(instance)
    prices = {kind: {place: price_of(given, place, kind) for place in candidates} for kind in KINDS}
    best = {(claim, kind): Least(Fraction(10**9), 0) for claim in CLAIMS for kind in KINDS}
    for resets in subsets(candidates):
        case = case_of(instance, with_resets(instance, resets))
        for claim in CLAIMS:
            holds = factorizes(case, claim)
            for kind in KINDS if holds else ():
                cost = sum((prices[kind][place] for place in resets), Fraction(0))
                now = best[claim, kind]
                if (cost, len(resets)) < (now.cost, now.resets):
                    best[claim, kind] = Least(cost, len(resets))
    return best
