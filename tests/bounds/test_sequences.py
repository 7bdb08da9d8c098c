"""Theory.md 7.2, 8.2 (4) and 10.1: numbers that the theory states, and truths by enumeration."""

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from factorcomp.bounds.ending import eos_terms
from factorcomp.bounds.sequences import exponential, floor, from_kl, pinsker, small_deviations
from tests.bounds.test_per_prefix import compose, logs, normalised
from tests.oracle import row_tv


def tv_of_products(p, q, length):
    """TV of two laws of independent tokens, in fractions."""
    total = Fraction(0)
    for sequence in product(range(len(p)), repeat=length):
        total += abs(math.prod(p[y] for y in sequence) - math.prod(q[y] for y in sequence))
    return total / 2


def test_small_deviations_as_stated():
    """8.2 (4), five identical two-point experts of oscillation ε = log 1.1 off duty: .1169 against .1186."""
    epsilon = math.log(1.1)
    e = math.exp(epsilon / 2)
    base = (0.5, 0.5)
    expert = (e / (e + 1 / e), 1 / e / (e + 1 / e))
    weights = [b * (x / b) ** 5 for b, x in zip(base, expert, strict=True)]
    truth = abs(weights[0] / sum(weights) - 0.5)
    bound = small_deviations(1, 5, epsilon)
    assert (round(truth, 4), round(bound, 4)) == (0.1169, 0.1186)


def test_the_square_root_is_the_order_for_long_sequences():
    """T = 10⁴, o = .02: the square root gives 0.5, the sum is vacuous."""
    assert small_deviations(10_000, 1, 0.02) == pytest.approx(0.5)
    assert 10_000 * math.tanh(0.02 / 4) > 1


def test_no_expert_off_duty_is_exact():
    assert small_deviations(3, 0, math.inf) == 0
    assert small_deviations(0, 2, math.inf) == 0


def test_the_floor_holds():
    """7.2: independent tokens at TV ε make a TV of at least 1 - (1 - ε²)^{T/2}; .71 at T = 1000, ε = .05."""
    assert floor(1000, 0.05) == pytest.approx(0.714, abs=1e-3)
    rng = random.Random(0)
    for _ in range(60):
        p, q = (normalised([rng.randint(0, 5) for _ in range(2)] + [1]) for _ in range(2))
        for length in (1, 2, 4):
            assert float(tv_of_products(p, q, length)) >= floor(length, float(row_tv(p, q))) - 1e-12
    assert floor(3, 1.0) == 1
    assert floor(0, 1.0) == 0


def test_tv_from_kl_holds():
    """TV <= sqrt(KL/2) and TV <= sqrt(1 - e^-KL), for infinite KL too."""
    rng = random.Random(1)
    for _ in range(200):
        p, q = (normalised([rng.randint(1, 50) for _ in range(3)]) for _ in range(2))
        kl = sum(float(a) * math.log(a / b) for a, b in zip(p, q, strict=True))
        assert float(row_tv(p, q)) <= min(pinsker(kl), exponential(kl)) + 1e-12
        assert from_kl(kl) == min(pinsker(kl), exponential(kl))
    assert pinsker(math.inf) == math.inf
    assert exponential(math.inf) == 1


def test_eos_terms():
    """10.1 in fractions: odds^ = odds_b prod(odds_i/odds_b) / Z_q wherever it applies; elsewhere it says so."""
    rng, applied = random.Random(2), 0
    for _ in range(300):
        size, k = rng.randint(1, 4), rng.randint(1, 3)
        base = normalised([rng.randint(0, 5) for _ in range(size - 1)] + [rng.randint(1, 5)])
        experts = [normalised([rng.randint(0, 5) for _ in range(size - 1)] + [rng.randint(1, 5)]) for _ in range(k)]
        eos = size - 1
        terms = eos_terms(logs(base, *experts)[:, None], eos)
        content = [row[:eos] for row in (base, *experts)]
        inside = all(0 < row[eos] < 1 for row in (base, *experts))
        within = all(b > 0 or e == 0 for row in content[1:] for b, e in zip(content[0], row, strict=True))
        z = Fraction(0)
        if inside and within:
            q = [[x / sum(row) for x in row] for row in content]
            z = sum(
                (b * math.prod((row[y] / b for row in q[1:]), start=Fraction(1)) for y, b in enumerate(q[0]) if b),
                Fraction(0),
            )
        assert terms.applies.tolist() == [inside and within and z > 0]
        if not terms.applies[0]:
            continue
        applied += 1
        e = compose(base, experts)[eos]
        assert float(terms.composition[0]) == pytest.approx(math.log(e / (1 - e)), abs=1e-12)
        assert float(terms.log_content[0]) == pytest.approx(math.log(z), abs=1e-12)
        for shift, row in zip(terms.shifts[:, 0].tolist(), experts, strict=True):
            odds = row[eos] / (1 - row[eos]) / (base[eos] / (1 - base[eos]))
            assert shift == pytest.approx(math.log(odds), abs=1e-12)
    assert applied > 50


def test_content_that_conflicts_ends_a_sequence():
    """10, M2: all end with 1/100; two experts at (9/10, 1/10) and (1/10, 9/10) make it 25/916."""
    hundredth = Fraction(1, 100)
    base = (Fraction(99, 200), Fraction(99, 200), hundredth)
    first, second = ((Fraction(99 * a, 1000), Fraction(99 * (10 - a), 1000), hundredth) for a in (9, 1))
    assert compose(base, [first, second])[2] == Fraction(25, 916)
    terms = eos_terms(logs(base, first, second)[:, None], 2)
    assert np.allclose(terms.shifts, 0)
    assert 1 / (1 + math.exp(-float(terms.composition[0]))) == pytest.approx(25 / 916)
