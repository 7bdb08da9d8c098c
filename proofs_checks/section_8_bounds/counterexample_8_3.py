"""CE 8.3: a deviation that is small in TV and in KL may still turn the composition upside down."""

from collections.abc import Iterator
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import divergence, log, log_ratio_range, row_tv
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, at_most, equal

HALF = Fraction(1, 2)


def family(small: Fraction, unassigned: Fraction) -> Family:
    """`p_b = (1-η, η)`, `p_1 = (1/2, 1/2)`, `p_2` with mass `unassigned` on token 1; one step."""
    return Family(
        2,
        1,
        {(): (1 - small, small)},
        ({(): (HALF, HALF)}, {(): (1 - unassigned, unassigned)}),
    )


def shrinking(draw: Draw) -> Family:
    """`η = 1/n`, `p_2 = (1-η², η²)`."""
    small = Fraction(1, draw.integer(2, 10**6))
    return family(small, small**2)


def check(instance: Family) -> Iterator[Relation]:
    """The distances of `p_2` vanish with η; that of the composition from `p_1` grows to 1/2."""
    base, (first, second) = instance.background[()], [expert[()] for expert in instance.experts]
    composed, small = compose(instance).kernel[()], base[1]
    yield at_most("TV(p_2, p_b) < η", row_tv(second, base), small * (1 - small))
    yield at_most("KL(p_b||p_2) <= η log 1/η", divergence(base, second), float(small) * log(1 / small))
    yield equal("TV(p^, p_1) = 1/2 - η/(1 + 2η)", row_tv(composed, first), HALF - small / (1 + 2 * small))
    yield equal("e^osc(log r_2) = 1 + 1/η", log_ratio_range(second, base), 1 + 1 / small)
    cross = sum((p * abs(q / b - 1) for p, q, b in zip(first, second, base, strict=True)), Fraction(0))
    yield equal("E_{p_1}|r_2 - 1| = 1/2", cross, HALF)


def check_no_effect(instance: Family) -> Iterator[Relation]:
    """False, the informal claim: what is small in TV and in KL moves the composition little."""
    base, (first, second) = instance.background[()], [expert[()] for expert in instance.experts]
    small = max(float(row_tv(second, base)), divergence(base, second))
    yield at_most(
        "TV(p^, p_1) <= 4 max(TV(p_2, p_b), KL(p_b||p_2))",
        float(row_tv(compose(instance).kernel[()], first)),
        4 * small,
    )


def narrow(draw: Draw) -> Family:
    """`p_2` has a small oscillation: its mass on token 1 is 2η."""
    small = Fraction(1, draw.integer(10, 10**6))
    return family(small, 2 * small)


STATEMENTS = (
    Statement(
        number="8.3",
        kind="counterexample",
        sentence="a deviation small in TV and KL, but not in oscillation, moves the composition by one half",
        equation="p_b = (1-η, η), p_2 = (1-η², η²), p_1 = (1/2, 1/2):   TV(p^, p_1) = 1/2 - η/(1+2η)",
        draw=shrinking,
        check=check,
        controls=(
            Control("the oscillation grows", narrow),
            Control("that TV and KL small do not suffice", shrinking, check_no_effect),
        ),
    ),
)
