"""CE 5.5 (amplification): rollouts of the experts do not tell how often the composition meets an overlap."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import kernel, law_of, mass_of, prefixes
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import deviating
from proofs_checks.statement import Control, Relation, Statement, constant, equal

BACKGROUND = dict.fromkeys(prefixes(2, 3), (Fraction(9, 10), Fraction(1, 10)))
FIRST = BACKGROUND | kernel({"": "1/10 9/10", "11": "1/2 1/2"})
SECOND = BACKGROUND | kernel({"1": "1/10 9/10", "11": "1/2 1/2"})
FAMILY = Family(2, 3, BACKGROUND, (FIRST, SECOND))
RATES = {"p_b": Fraction(1, 100), "p_1": Fraction(9, 100), "p_2": Fraction(9, 100), "p^": Fraction(81, 100)}


def check(family: Family) -> Iterator[Relation]:
    """The only overlap, and how often each model meets it."""
    deviations = [deviating(expert, family.background, family.prefixes) for expert in family.experts]
    yield equal("the only overlap is 11", set.intersection(*deviations), {(1, 1)})
    laws = [law_of(kernel, 2, 3) for kernel in (family.background, *family.experts)]
    for (name, rate), law in zip(RATES.items(), (*laws, compose(family).local), strict=True):
        yield equal(f"{name} meets it with probability {rate}", mass_of(law, (1, 1)), rate)


def sole(draw: Draw) -> Family:
    """One of the experts does not lead there."""
    if draw.one_in(2):
        return replace(FAMILY, experts=(FIRST, BACKGROUND | kernel({"11": "1/2 1/2"})))
    return replace(FAMILY, experts=(BACKGROUND | kernel({"11": "1/2 1/2"}), SECOND))


STATEMENTS = (
    Statement(
        number="5.5",
        kind="counterexample",
        sentence="an overlap that experts meet 9% of the time, the composition meets 81% of the time",
        equation="P_b(11) = 1/100,   P_1(11) = P_2(11) = 9/100,   P^(11) = 81/100",
        cases=constant(FAMILY),
        check=check,
        controls=(Control("both experts lead to the overlap", sole),),
    ),
)
