"""Whether two rows differ is decided exactly, for rows of every kind, against high-precision decimals and by hand."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorcomp.bounds.oscillation import exceeds, log_exceeds, oscillation, row_exceeds
from factorcomp.models.rows import ExactRow, FloatRows, PowerTooLargeError, RationalRows, TiltedRows

HALF = Fraction(1, 2)


def rational(*rows: str) -> RationalRows:
    """Rows such as `"1/2 1/2"`."""
    numbers = [[Fraction(x) for x in row.split()] for row in rows]
    numerators = np.array([[x.numerator for x in row] for row in numbers], dtype=object)
    return RationalRows(numerators, np.array([[x.denominator for x in row] for row in numbers], dtype=object))


def floats(scale, *rows: list[float], dtype=np.float64) -> FloatRows:
    return FloatRows(np.array(rows, dtype=dtype), scale)


def differ(a, b, threshold: Fraction = Fraction(0)) -> list[bool]:
    """Row by row."""
    index = np.arange(a.shape[0])
    return exceeds(a, index, b, index, threshold).tolist()


def test_probabilities_are_no_logs():
    """1 : 3 as probabilities; as logs 1 : e^2, and 1 : e^(1/2), which is off by a constant: other distributions."""
    probs = floats("probs", [0.25, 0.75], [0.25, 0.75], [0.5, 0.5])
    logs = floats("logits", [1.0, 3.0], [0.0, 0.5], [2.0, 2.0])
    assert differ(probs, logs) == differ(logs, probs) == [True, True, False]


def test_rational_rows_differ_in_the_last_digit():
    """1/3 and its first forty decimals are one double, and two numbers."""
    near = Fraction("0." + "3" * 40)
    assert float(near) == float(Fraction(1, 3))
    assert differ(rational("1/3 2/3"), rational(f"{near} {1 - near}")) == [True]
    assert differ(rational("1/3 2/3"), rational("1/3 2/3")) == [False]


def test_probabilities_that_underflow_are_possible():
    tiny = Fraction(1, 10**400)
    rows = rational(f"{tiny} {1 - tiny}")
    assert rows.log_probs(0, 1)[0, 0] == pytest.approx(-400 * math.log(10))
    assert differ(rows, rational("0 1")) == [True]


def test_proportional_floats_are_one_distribution():
    assert differ(floats("probs", [0.1, 0.2]), floats("probs", [0.25, 0.5])) == [False]
    assert differ(floats("probs", [0.1, 0.2]), floats("probs", [0.1, np.nextafter(0.2, 1)])) == [True]


@given(
    row=st.lists(
        st.floats(0, 1) | st.integers(0, 9).map(float) | st.floats(0, 1e-300) | st.sampled_from([5e-324, 1e-140]),
        min_size=1,
        max_size=4,
    ),
    factor=st.sampled_from([1.0, 2.0, 0.25, 3.0, 1 / 3, 0.1]),
    spoiled=st.none() | st.integers(0, 4),
)
def test_proportional_floats_against_fractions(row, factor, spoiled):
    """`a(y) b(z) = b(y) a(z)` for all y and z, by exact products of numbers down to the least float."""
    a = np.array([0.75, *row])
    b = a * factor
    if spoiled is not None:
        b[spoiled % len(b)] = np.nextafter(b[spoiled % len(b)], 2)
    p, q = ([Fraction(float(x)) for x in numbers] for numbers in (a, b))
    expected = any(x * q[n] != y * p[n] for x, y in zip(p, q, strict=True) for n in range(len(p)))
    assert differ(floats("probs", a), floats("probs", b)) == [expected]


def test_logs_that_differ_by_a_constant_are_one_distribution():
    """Exactly: adding 1 to 1e-17 is not exact, so the rounded sum is another distribution."""
    assert differ(floats("logits", [0.5, -0.25]), floats("logits", [1024.5, 1023.75])) == [False]
    assert differ(floats("logits", [0.0, 1e-17]), floats("logits", [1.0, 1.0 + 1e-17])) == [True]
    assert differ(floats("logits", [0.0, -np.inf]), floats("logits", [3.0, -np.inf])) == [False]
    assert differ(floats("logits", [0.0, -np.inf]), floats("logits", [3.0, 0.0])) == [True]


def test_logits_whose_difference_overflows():
    assert differ(floats("logits", [1e308, 1e308]), floats("logits", [-1e308, -1e308])) == [False]
    assert differ(floats("logits", [1e308, np.nextafter(1e308, 0)]), floats("logits", [-1e308, -1e308])) == [True]


def test_float32_rows_are_compared_as_given():
    row = [0.1, 0.9]
    single, double = floats("probs", row, dtype=np.float32), floats("probs", row)
    assert differ(single, single) == [False]
    assert differ(single, double) == [True]


def test_rows_of_logs_and_of_probabilities():
    """Equal only where both are uniform: the log of a rational other than 1 is irrational."""
    assert differ(floats("log_probs", [-0.5, -0.5]), rational("1/2 1/2")) == [False]
    assert differ(floats("log_probs", [math.log(0.25), math.log(0.75)]), rational("1/4 3/4")) == [True]
    assert differ(floats("log_probs", [math.log(0.25), math.log(0.75)]), floats("probs", [0.25, 0.75])) == [True]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [("1.0986122886681096", True), ("1.0986122886681099", False), ("1.09861228866810969", True)],
)
def test_threshold_next_to_log_three(threshold: str, expected: bool):
    """log 3 = 1.098612288668109691395…, closer to the threshold than float64 can tell."""
    assert differ(rational("1/4 3/4"), rational("1/2 1/2"), Fraction(threshold)) == [expected]


def test_threshold_that_is_met_exactly_is_not_exceeded():
    assert differ(floats("logits", [0.0, 1.5]), floats("logits", [0.0, 0.0]), Fraction(3, 2)) == [False]
    assert differ(floats("logits", [0.0, np.nextafter(1.5, 2)]), floats("logits", [0.0, 0.0]), Fraction(3, 2)) == [True]


def test_other_supports_exceed_every_threshold():
    assert differ(rational("1 0"), rational("1/2 1/2"), Fraction(10**9)) == [True]


def test_tilted_rows_by_their_powers():
    """The tilt of (1/4, 3/4) by 1/2 over the uniform row is (1, √3) up to a factor, so its oscillation is log(3)/2."""
    tilted = TiltedRows(rational("1/2 1/2"), rational("1/4 3/4"), HALF)
    assert differ(tilted, rational("1/2 1/2")) == [True]
    assert differ(tilted, rational("1/2 1/2"), Fraction("0.549306144334054")) == [True]
    assert differ(tilted, rational("1/2 1/2"), Fraction("0.549306144334055")) == [False]
    twice = TiltedRows(rational("1/2 1/2"), rational("1/4 3/4"), Fraction(2))
    assert differ(twice, rational("1/10 9/10")) == [False]


def test_rows_of_different_roots_by_a_common_one():
    """log(4)/2 = log(8)/3 and log(4)/2 - log(64)/3 = -log 2: the least common root is 6."""
    zeros, one = (Fraction(0), Fraction(0)), Fraction(1)
    square, cube = ExactRow((Fraction(4), one), zeros, 2), ExactRow((Fraction(8), one), zeros, 3)
    assert not row_exceeds(square, cube, Fraction(0))
    further = ExactRow((Fraction(64), one), zeros, 3)
    assert [row_exceeds(square, further, Fraction(x)) for x in ("0", "0.6931", "0.6932")] == [True, True, False]
    assert [row_exceeds(further, square, Fraction(x)) for x in ("0", "0.6931", "0.6932")] == [True, True, False]


def test_powers_beyond_reason_are_refused():
    tilted = TiltedRows(rational("1/2 1/2"), rational("1/4 3/4"), Fraction(1, 10**6))
    with pytest.raises(PowerTooLargeError, match="powers beyond"):
        tilted.exact(0)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=5),
    st.fractions(0, 3, max_denominator=7),
)
def test_exact_rows_against_fifty_digits(pairs: list[tuple[int, int]], threshold: Fraction):
    """`row_exceeds` is max - min of the log-ratio, and infinite where supports differ."""
    mine, theirs = ([Fraction(x[i]) for x in pairs] for i in (0, 1))
    if not any(mine) or not any(theirs):
        mine, theirs = [Fraction(1)], [Fraction(1)]
    rows = [rational(" ".join(str(x / sum(row)) for x in row)) for row in (mine, theirs)]
    decimal.getcontext().prec = 50
    logs = [
        decimal.Decimal(p.numerator).ln() - decimal.Decimal(q.numerator).ln()
        for p, q in zip(mine, theirs, strict=True)
        if p and q
    ]
    same_support = all(bool(p) == bool(q) for p, q in zip(mine, theirs, strict=True))
    value = max(logs) - min(logs) if same_support else decimal.Decimal("inf")
    expected = (
        value
        > decimal.Decimal(threshold.numerator) / decimal.Decimal(threshold.denominator) + decimal.Decimal(10) ** -40
    )
    assert row_exceeds(rows[0].exact(0), rows[1].exact(0), threshold) == expected
    assert differ(rows[0], rows[1], threshold) == [expected]


def test_more_digits_decide_what_thirty_do_not():
    """The first 80 decimals of log 3 are below it, and above it once the last is one more."""
    context = decimal.Context(prec=100)
    below = Fraction(int(context.scaleb(context.ln(3), 80)), 10**80)
    assert log_exceeds(Fraction(3), below)
    assert not log_exceeds(Fraction(3), below + Fraction(1, 10**80))
    assert differ(rational("1/4 3/4"), rational("1/2 1/2"), below) == [True]
    assert differ(rational("1/4 3/4"), rational("1/2 1/2"), below + Fraction(1, 10**80)) == [False]


@given(st.fractions(Fraction(1, 9), 9, max_denominator=9), st.fractions(-3, 3, max_denominator=9))
def test_log_exceeds(factor: Fraction, bound: Fraction):
    if factor == 1:
        assert log_exceeds(factor, bound) == (bound < 0)
    else:
        assert log_exceeds(factor, bound) == (math.log(factor) > bound + 1e-13)


def test_oscillation_of_rows():
    """By hand: log 3 for (1/4, 3/4) against uniform; infinite for other supports; 0 for rows without support."""
    with np.errstate(divide="ignore"):
        mine = np.log([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
        theirs = np.log([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.0, 0.0]])
    assert oscillation(mine, theirs) == pytest.approx([math.log(3), math.inf, 0.0, 0.0])


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=6), st.integers(0, 600))
def test_error_bounds_hold(weights: list[int], scale: int):
    """Each kind of row states a bound on the error of its log-probabilities; fifty digits confirm it."""
    decimal.getcontext().prec = 50
    heavy = [Fraction(weights[0], 10**scale), *map(Fraction, weights[1:])]
    exact = [x / sum(heavy) for x in heavy]
    truth = [decimal.Decimal(x.numerator).ln() - decimal.Decimal(x.denominator).ln() for x in exact]
    rows = rational(" ".join(map(str, exact)))
    found = rows.log_probs(0, 1)[0]
    error = decimal.Decimal(rows.error(0, 1)[0])
    assert all(abs(decimal.Decimal(float(x)) - t) <= error for x, t in zip(found, truth, strict=True))
