"""Rows as JSON writes them: rational numbers as they are, others as probabilities with 17 digits."""

import math
from collections.abc import Iterator
from decimal import Context, Decimal

from factorcomp.models.errors import InputError
from factorcomp.models.numbers import MAX_DIGITS, MAX_EXPONENT
from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows


def row_texts(rows: AbstractRows, start: int, stop: int, place: str) -> Iterator[list[str]]:
    """The numbers of rows `start` to `stop`, as JSON texts.

    Rational rows are written as they are. Rows of floats are written as probabilities with 17 digits, so that reading
    them renormalises by about 1e-16. Rows of equal numbers stay equal; the exact numbers are lost, and with them that
    logs differ by exactly a constant. `.safetensors` keeps both.

    **Arguments:** `place`: of the rows, for errors.

    **Raises:** `InputError` for a number that JSON files do not hold: beyond 4300 digits, or below 1e-5000.
    """
    if isinstance(rows, RationalRows):
        for numerators, denominators in zip(
            rows.numerators[start:stop].tolist(), rows.denominators[start:stop].tolist(), strict=True
        ):
            yield [_ratio(n, d, place) for n, d in zip(numerators, denominators, strict=True)]
        return
    for index, logs in enumerate(rows.log_probs(start, stop).tolist(), start):
        if isinstance(rows, FloatRows) and rows.scale == "probs":
            values = [float(x) for x in rows.values[index]]
            total = math.fsum(values)
            yield [repr(x / total) for x in values]
        else:
            yield [_exponential(x, f"{place}[{index}]") for x in logs]


def _ratio(numerator: int, denominator: int, place: str) -> str:
    if denominator == 1:
        return str(numerator)
    try:
        return f'"{numerator}/{denominator}"'
    except ValueError:
        raise InputError(f"{place}: a probability has more than {MAX_DIGITS} digits, which no file can hold") from None


def _exponential(log: float, place: str) -> str:
    """`exp(log)`, also where it underflows: a token that is possible stays possible."""
    if log == -math.inf:
        return "0"
    if log > -700:
        return repr(math.exp(log))
    value = Context(prec=17).exp(Decimal(log))
    if not value.adjusted() > -MAX_EXPONENT:
        raise InputError(
            f"{place}: exp({log:g}) is below 1e-{MAX_EXPONENT}, which JSON files do not hold; use .safetensors"
        )
    return str(value)
