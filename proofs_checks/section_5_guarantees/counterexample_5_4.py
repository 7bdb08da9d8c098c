"""CE 5.4 (drift): a guarantee that holds on average is lost where another expert moves the entry."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import kernel, law_of, probability_that
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, deviating, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

BACKGROUND = kernel({"": "99/100 1/100", "0": "1/2 1/2", "1": "1/2 1/2"})
RIGHT_AFTER_0 = kernel({"": "99/100 1/100", "0": "1 0", "1": "0 1"})
TO_1 = kernel({"": "1/100 99/100", "0": "1/2 1/2", "1": "1/2 1/2"})
FAMILY = Family(2, 2, BACKGROUND, (RIGHT_AFTER_0, TO_1))


def check(family: Family) -> Iterator[Relation]:
    """Token 0 at step 2 is right."""
    composed = compose(family)
    activities = [active(deviating(e, family.background, family.prefixes), 2, 2) for e in family.experts]
    yield fact("JF-int", pointwise_joint(activities))
    yield fact("Z = 1 on R^", all(composed.normalizer[h] == 1 for h in composed.reachable))
    alone = law_of(family.experts[0], 2, 2)
    yield equal("P_1(G) = 99/100", probability_that(alone, lambda y: y[1] == 0), Fraction(99, 100))
    yield equal("P^(G) = 1/100", probability_that(composed.local, lambda y: y[1] == 0), Fraction(1, 100))


def without_drift(draw: Draw) -> Family:
    """The second expert does not act before the first."""
    row = draw.row(2)
    return replace(
        FAMILY, background=dict(BACKGROUND) | {(0,): row}, experts=(RIGHT_AFTER_0, {**BACKGROUND, (0,): row})
    )


STATEMENTS = (
    Statement(
        number="5.4",
        kind="counterexample",
        sentence="99% on average alone, 1% composed, though the intervals are disjoint",
        equation="P_1(G) = 99/100,   P^(G) = 1/100,   Z = 1",
        cases=constant(FAMILY),
        check=check,
        controls=(Control("another expert acts before the entry", without_drift),),
        not_checked="that no smaller family does it: with T = 1 nothing comes before an entry",
    ),
)
