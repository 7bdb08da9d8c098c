"""Definition 1.2 (global composition): path products, normalised once; conventions act per token."""

from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, shape
from proofs_checks.definitions.laws import ZERO, Law, kernel, law_of, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.recipes import one_opening, token_in_common
from proofs_checks.library import composed_kernel
from proofs_checks.statement import Control, Relation, Statement, constant, equal

OPENED = kernel({"": "1/2 1/2", "0": "1 0", "1": "1 0"})
OPENED_LATER = kernel({"": "1 0", "0": "1 0", "1": "1/2 1/2"})
CERTAIN = kernel({"": "1 0", "0": "1 0", "1": "1 0"})
TWO_READINGS = Family(2, 2, CERTAIN, (OPENED, OPENED_LATER))


def alive(draw: Draw) -> Family:
    """No error under `cancel`, and `Z > 0`; half of them open tokens."""
    return draw.pick((token_in_common, one_opening))(draw, shape(draw, sizes=(1, 3)))


def by_sequences(family: Family) -> Law:
    """The sequence-level rule under `cancel`: `P_b prod P_i/P_b`, and `P_i(y)` where `P_b(y) = 0` and `i` is alone."""
    background = law_of(family.background, family.size, family.length)
    experts = [law_of(expert, family.size, family.length) for expert in family.experts]
    weights = {}
    for y in sequences(family.size, family.length):
        opening = [law[y] for law in experts if y in law]
        if y in background:
            weights[y] = background[y]
            for law in experts:
                weights[y] *= law.get(y, ZERO) / background[y]
        elif len(opening) == 1:
            weights[y] = opening[0]
    return {y: weight for y, weight in weights.items() if weight}


def check(family: Family) -> Iterator[Relation]:
    """Path products against sequence probabilities, and the library's sequence-level composition."""
    composed = compose(family)
    background = law_of(family.background, family.size, family.length)
    paths = {y: weight for y, weight in composed.path_products.items() if y in background}
    rule = {y: weight for y, weight in by_sequences(family).items() if y in background}
    yield equal("W(y) = P_b(y) prod_i P_i(y)/P_b(y) where P_b(y) > 0", paths, rule)
    library = composed_kernel(family, sequence_level=True)
    whole = None if library is None else law_of(library, family.size, family.length)
    yield equal("compose(sequence_level=True) has the law P_G", whole, composed.global_)


def check_by_sequences(family: Family) -> Iterator[Relation]:
    """False: the convention may act on sequence probabilities."""
    yield equal("W(y) = the sequence-level rule", compose(family).path_products, by_sequences(family))


def check_two_readings(family: Family) -> Iterator[Relation]:
    """Its rationals."""
    yield equal("path product of 10 is 1/4", compose(family).path_products[1, 0], Fraction(1, 4))
    yield equal("sequence-level rule at 10 is 1/2", by_sequences(family)[1, 0], Fraction(1, 2))


STATEMENTS = (
    Statement(
        number="1.2",
        kind="definition",
        sentence="the global composition is the composition of sequence probabilities where the background has any",
        equation="W(y) = prod_t w(y_t|y_<t) = P_b(y) prod_i P_i(y)/P_b(y) where P_b(y) > 0;   P_G = W/Z_G",
        hypotheses=("no cell is an error of 1.3", "Z_G > 0"),
        draw=alive,
        check=check,
        controls=(Control("P_b(y) > 0", alive, check_by_sequences),),
        weight=2,
    ),
    Statement(
        number="1.2 conventions",
        kind="counterexample",
        sentence="under cancel the convention per token is not the convention per sequence",
        equation="p_b = (1,0), p_1(.|∅) = p_2(.|1) = (1/2,1/2): W(10) = 1/4, by sequences 1/2",
        cases=constant(TWO_READINGS),
        check=check_two_readings,
        controls=(Control("P_b(y) = 0 somewhere", lambda _: TWO_READINGS, check_by_sequences),),
    ),
)
