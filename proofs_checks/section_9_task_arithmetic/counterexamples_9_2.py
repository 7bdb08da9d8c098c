"""The counterexamples of section 9: bilinear logits, probabilities linear in the parameters, factors averaged."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Row, kernel, row
from proofs_checks.definitions.logits import Polynomial, hessian, value
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

BILINEAR: Polynomial = {(1, 1): Fraction(1)}
LINEAR: Polynomial = {(1, 0): Fraction(1), (0, 1): Fraction(1)}


def check_bilinear(z: Polynomial) -> Iterator[Relation]:
    """`u = v = 1`, `τ_1 = (1, 0)`, `τ_2 = (0, 1)`."""
    base, one, other = (Fraction(1), Fraction(1)), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    merged = value(z, (Fraction(2), Fraction(2)))
    composed = value(z, (Fraction(2), Fraction(1))) + value(z, (Fraction(1), Fraction(2))) - value(z, base)
    yield equal("merged 4", merged, 4)
    yield equal("composed 3", composed, 3)
    yield equal("E = ∇²z[τ_1, τ_2]", merged - composed, hessian(z, base, one, other))


LINEAR_PROBABILITIES = Family(2, 1, kernel({"": "1/2 1/2"}), (kernel({"": "3/4 1/4"}), kernel({"": "5/8 3/8"})))
"""Theory.md states merge and composition; on a uniform background these experts, in some order, are the only ones."""


def merged(family: Family) -> Row:
    """`p_b + sum_i (p_i - p_b)`: probabilities, not logits, linear in the parameters."""
    base, experts = family.background[()], [expert[()] for expert in family.experts]
    return tuple(b + sum((rows[y] - b for rows in experts), Fraction(0)) for y, b in enumerate(base))


def check_probabilities(family: Family) -> Iterator[Relation]:
    """They differ."""
    yield equal("merge (7/8, 1/8)", merged(family), row("7/8 1/8"))
    yield equal("composition (5/6, 1/6)", compose(family).kernel[()], row("5/6 1/6"))


def one_expert(draw: Draw) -> Family:
    """One expert: merge and composition are the expert."""
    return Family(2, 1, kernel({"": "1/2 1/2"}), (kernel({"": "7/8 1/8"}),))


@dataclass(frozen=True)
class Factors:
    """Two low-rank changes `B_i A_i` of rank one: a column and a row each."""

    columns: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    rows: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def factors(draw: Draw) -> Factors:
    """Of two outputs and two inputs."""

    def vector() -> tuple[Fraction, ...]:
        return tuple(Fraction(draw.integer(-2, 2)) for _ in range(2))

    return Factors((vector(), vector()), (vector(), vector()))


def outer(column: tuple[Fraction, ...], line: tuple[Fraction, ...]) -> list[Fraction]:
    """`BA`, flattened."""
    return [b * a for b in column for a in line]


def mean(one: tuple[Fraction, ...], other: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The average."""
    return tuple((x + y) / 2 for x, y in zip(one, other, strict=True))


def check_factors(instance: Factors) -> Iterator[Relation]:
    """Averaging the factors is not averaging the products."""
    averaged = outer(mean(*instance.columns), mean(*instance.rows))
    products = mean(*(tuple(outer(b, a)) for b, a in zip(instance.columns, instance.rows, strict=True)))
    gap = [x - y for x, y in zip(averaged, products, strict=True)]
    differences = [tuple(x - y for x, y in zip(*pair, strict=True)) for pair in (instance.columns, instance.rows)]
    cross = [-cell / 4 for cell in outer(*differences)]
    yield equal("mean B · mean A - mean(BA) = -¼ (B_1 - B_2)(A_1 - A_2)", gap, cross)
    apart = any(differences[0]) and any(differences[1])
    yield equal("equal iff the experts share a factor", not any(gap), not apart)


def check_products(instance: Factors) -> Iterator[Relation]:
    """False: averaging the factors is averaging the products."""
    averaged = outer(mean(*instance.columns), mean(*instance.rows))
    products = mean(*(tuple(outer(b, a)) for b, a in zip(instance.columns, instance.rows, strict=True)))
    yield fact("mean B · mean A = mean(BA)", tuple(averaged) == products)


STATEMENTS = (
    Statement(
        number="9.2 (bilinear)",
        kind="counterexample",
        sentence="with a bilinear logit the merge is not the composition",
        equation="z = uv, u = v = 1:   merged 4, composed 3",
        cases=constant(BILINEAR),
        check=check_bilinear,
        controls=(Control("z = uv, for a linear logit", lambda draw: LINEAR),),
    ),
    Statement(
        number="9.2 (linear probabilities)",
        kind="counterexample",
        sentence="with probabilities linear in the parameters the merge is not the composition",
        equation="p_b = (1/2, 1/2), p_1 = (3/4, 1/4), p_2 = (5/8, 3/8):   merge (7/8, 1/8), composition (5/6, 1/6)",
        cases=constant(LINEAR_PROBABILITIES),
        check=check_probabilities,
        controls=(Control("two experts", one_expert),),
    ),
    Statement(
        number="9.2 (factors)",
        kind="counterexample",
        sentence="averaging low-rank factors separately is bilinear, not linear",
        equation="mean B · mean A - mean(BA) = -¼ (B_1 - B_2)(A_1 - A_2)",
        draw=factors,
        check=check_factors,
        controls=(Control("that the factors are averaged separately", factors, check_products),),
    ),
)
