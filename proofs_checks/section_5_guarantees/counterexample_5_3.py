"""CE 5.3 (entry): how often a composition enters a skill has nothing to do with how often its expert does.

An earlier expert emits the trigger or EOS: for any two probabilities there are models, jointly factorizable by
intervals and with `Z = 1`, of which the expert enters with the first and the composition with the second.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Prefix
from proofs_checks.definitions.laws import Row, law_of, probability_that
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, canonical_times, deviating, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, equal, fact


@dataclass(frozen=True)
class Entry:
    """A family of an expert and an earlier one, and how often the expert shall enter, alone and composed."""

    family: Family
    alone: Fraction
    composed: Fraction


def check(case: Entry) -> Iterator[Relation]:
    """Both probabilities of entry, by the canonical times (3.3)."""
    family, composed = case.family, compose(case.family)
    deviations = [deviating(expert, family.background, family.prefixes) for expert in family.experts]
    times = canonical_times(deviations[0], family.size, family.length)
    activities = [active(one, family.size, family.length) for one in deviations]
    yield fact("JF-int", pointwise_joint(activities))
    yield fact("Z = 1 on R^", all(composed.normalizer[h] == 1 for h in composed.reachable))
    alone = law_of(family.experts[0], family.size, family.length)
    for says, law, chance in (("P_1", alone, case.alone), ("P^", composed.local, case.composed)):
        enters = probability_that(law, lambda path: times[path][0] < family.length)
        yield equal(f"{says}(enter) as chosen", enters, chance)


def chance(draw: Draw) -> Fraction:
    """A probability, 0 and 1 included."""
    below = draw.integer(1, 9)
    return Fraction(draw.integer(0, below), below)


def entry(draw: Draw) -> Entry:
    """Token 1 triggers the first expert at step 2; token 0 does not, or ends the sequence."""
    alone, composed = chance(draw), chance(draw)
    ends = draw.one_in(2)
    idle = (Fraction(1), Fraction(0)) if ends else draw.row(2, zeros=True)
    base: dict[Prefix, Row] = {(): (1 - alone, alone), (0,): idle, (1,): draw.row(2)}
    acting = (base[1,][0] / 2, 1 - base[1,][0] / 2)
    first = {**base, (1,): acting}
    second = {**base, (): (1 - composed, composed)}
    return Entry(Family(2, 2, base, (first, second)), alone, composed)


def without_earlier_expert(draw: Draw) -> Entry:
    """The other expert does not act before the entry."""
    case = entry(draw)
    family = case.family
    return replace(case, family=replace(family, experts=(family.experts[0], family.background)))


STATEMENTS = (
    Statement(
        number="5.3",
        kind="counterexample",
        sentence="how often the composition enters a skill is unrelated to how often its expert does",
        equation="for all a, b in [0, 1]: P_1(enter) = a and P^(enter) = b for some models with JF-int and Z = 1",
        draw=entry,
        check=check,
        controls=(Control("an earlier expert", without_earlier_expert),),
    ),
)
