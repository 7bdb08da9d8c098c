"""Tables from Python: lists are exact, arrays are kept."""

from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from factorcomp.models.errors import InputError
from factorcomp.models.rows import FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel

AB = ("a", "b")


def test_lists_hold_exact_numbers_and_floats_are_dyadic():
    model = TabularModel.from_probabilities([[["1/3", Fraction(2, 3)]], [[0.25, 0.75], [1, 0]]], AB)
    assert all(isinstance(rows, RationalRows) for rows in model.steps)
    assert model.steps[0].exact(0).factors == (Fraction(1, 3), Fraction(2, 3))
    assert model.steps[1].exact(0).factors == (Fraction(1, 4), Fraction(3, 4))
    tenth, rest = Fraction(0.1), Fraction(0.9)
    row = TabularModel.from_probabilities([[0.1, 0.9]], AB)
    assert row.steps[0].exact(0).factors == (tenth / (tenth + rest), rest / (tenth + rest))
    assert row.source.notes == ()  # 3e-17 is the rounding of the floats given


def test_arrays_of_floats_are_kept():
    values = np.array([[0.5, 0.5]], dtype=np.float32)
    rows = TabularModel.from_probabilities([values], AB).steps[0]
    assert isinstance(rows, FloatRows)
    assert (rows.scale, rows.values.dtype) == ("probs", np.float32)
    logs = TabularModel.from_log_probs([jnp.log(jnp.array([0.5, 0.5]))], AB).steps[0]
    assert (logs.scale, logs.values.dtype, logs.shape) == ("log_probs", np.float32, (1, 2))


@pytest.mark.parametrize("kind", [np.array, list])
def test_rows_may_have_an_axis_for_each_token(kind):
    by_prefix = [[[0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75], [0.0, 1.0]]]
    by_token = [by_prefix[0][0], by_prefix[1], [by_prefix[2][:2], by_prefix[2][2:]]]
    first, second = (
        TabularModel.from_probabilities([kind(rows) for rows in steps], AB) for steps in (by_prefix, by_token)
    )
    for mine, theirs in zip(first.steps, second.steps, strict=True):
        assert mine.shape == theirs.shape
        assert np.array_equal(mine.log_probs(0, len(by_prefix[-1])), theirs.log_probs(0, len(by_prefix[-1])))


def test_arrays_of_integers_are_exact():
    assert isinstance(TabularModel.from_probabilities([np.array([0, 1])], AB).steps[0], RationalRows)


def test_no_steps_is_horizon_0():
    assert TabularModel.from_probabilities([], AB).horizon == 0
    assert TabularModel.from_log_probs([], AB).horizon == 0


EXACT = [
    ([[0.5, -0.5]], "here: steps[0][0][1]: found -0.5; needed a probability, which is not negative"),
    ([[float("nan"), 1]], "here: steps[0][0][0]: found NaN; needed a finite number"),
    ([[float("inf"), 1]], "here: steps[0][0][0]: found Infinity; needed a finite number"),
    ([[True, False]], "here: steps[0][0][0]: found true; needed a number"),
    ([[None, 1]], "here: steps[0][0][0]: found a object; needed a number"),
    ([[Fraction(-1, 2), "3/2"]], 'here: steps[0][0][0]: found "-1/2"; needed a probability, which is not negative'),
    ([["1/2", "1/3"]], 'here: steps[0][0]: sums to 5/6; rows of integers and "p/q" strings must sum to 1 exactly'),
    ([[0.5, 0.25]], "here: steps[0][0]: sums to 3/4; rows with a decimal must sum to 1 within 1e-6"),
    ([[1]], "here: steps[0][0]: found 1 numbers; needed 2, one for each token"),
    ([[1, 0], [[1, 0]]], "here: steps[1]: found 1 row; needed 2, one for each prefix of 1 tokens"),
    ([5], "here: steps[0]: found 5; needed a list of rows"),
    ([[10**5000, 0]], "here: steps[0][0][0]: found a object; needed a number"),
]


@pytest.mark.parametrize(("steps", "message"), EXACT)
def test_wrong_lists_are_refused_as_files_are(steps, message):
    with pytest.raises(InputError) as caught:
        TabularModel.from_probabilities(steps, AB, name="here")
    assert message in "\n".join(caught.value.problems)


FLOATS = [
    ([np.array([0.5, np.nan])], "here: steps[0][0][1]: found NaN; needed a probability: finite and not negative"),
    ([np.array([0.5, 0.4])], "here: steps[0][0]: probabilities sum to 0.9; needed 1 within 1e-6"),
    ([np.zeros(3)], "here: steps[0]: found the shape (3,); needed (1, 2)"),
    ([np.array([1.0, 0.0]), np.ones((2, 2)) / 2], "here: steps[1][1]: found another token possible after EOS"),
]


@pytest.mark.parametrize(("steps", "message"), FLOATS)
def test_wrong_arrays_are_refused_as_files_are(steps, message):
    with pytest.raises(InputError) as caught:
        TabularModel.from_probabilities(steps, AB, eos="b", name="here")
    assert message in "\n".join(caught.value.problems)


@pytest.mark.parametrize("steps", [[[["x", 1]]], [[[1], [1, 2]]], [[[None, 0]]], [[[0.0, 0.0]]], [[[1j, 0]]]])
def test_wrong_logs_are_refused(steps):
    with pytest.raises(InputError, match=r"here: steps\[0\]"):
        TabularModel.from_log_probs(steps, AB, name="here")
