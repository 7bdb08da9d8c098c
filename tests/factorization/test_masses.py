"""Floats with a bound on their relative error: the bound holds, against fractions."""

import random
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.factorization.masses import Masses, compose


@pytest.mark.parametrize("null_tokens", ["cancel", "drop"])
@pytest.mark.parametrize("experts", [0, 1, 2, 5])
def test_composed_rows_are_within_their_bounds(null_tokens: str, experts: int):
    """Rows with zeros, of very different probabilities: no error is beyond its bound, and no bound is vacuous."""
    rng = random.Random(experts)
    numbers = [[[Fraction(rng.choice([1, 3, 10**6])) for _ in range(3)] for _ in range(60)] for _ in range(experts + 1)]
    for row in numbers[0][::3]:
        row[rng.randrange(3)] *= 0
    rows = [[[n / sum(row) for n in row] for row in model] for model in numbers]
    exact = [np.array(model, dtype=object) for model in rows]
    truth = compose([Masses(values) for values in exact], null_tokens)
    found = compose([Masses(values.astype(float), 2.0**-52) for values in exact], null_tokens)
    assert (found.undefined == truth.undefined).all()
    for mine, other in ((found.rows, truth.rows), (found.normalizer, truth.normalizer)):
        assert 0 < mine.relative < 1e-12
        pairs = zip(mine.values.flat, other.values.flat, strict=True)
        assert all(abs(Fraction(value) - wanted) <= Fraction(mine.relative) * wanted for value, wanted in pairs)
