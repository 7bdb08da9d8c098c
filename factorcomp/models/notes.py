"""What a reader of a report must know about how a model was read."""

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction


def renormalised(name: str, step: int | None, count: int, largest: Fraction | float) -> tuple[str, ...]:
    """That `count` rows of a step (`None`: of a model) did not sum to 1, by at most `largest`; nothing if none.

    >>> renormalised("base.json", 2, 3, Fraction(19, 10**9))
    ('base.json: 3 rows of step 2 renormalised, by at most 2e-8',)
    """
    if not count:
        return ()
    rows = f"{count} row{'s' if count > 1 else ''}" + ("" if step is None else f" of step {step}")
    return (f"{name}: {rows} renormalised, by at most {rounded_up(largest)}",)


def rounded_up(number: Fraction | float) -> str:
    """One digit of a positive number, which is not below it.

    >>> rounded_up(0.00011)
    '2e-4'
    """
    exact = Fraction(number)
    up = Context(prec=1, rounding=ROUND_CEILING).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return f"{up:e}"


def rounding(vocab: int, epsilon: float) -> float:
    """How far from 1 a row of floats may sum by rounding alone: `ε (1 + log2 |V|)`.

    Storing p or log p costs at most `ε/2 · max(1, H) <= ε/2 · (1 + ln |V|)`, and dividing by a sum that was added in
    pairs as much again, so that a larger difference is not the rounding of the numbers' own type, and is noted.
    """
    return epsilon * (1 + math.log2(vocab))
