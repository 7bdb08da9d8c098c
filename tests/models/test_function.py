"""Functions from prefixes to log-probabilities, and their tables."""

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest

from factorcomp.models import function, memory
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel, table_size

TOKENS = ("a", "b", "c")


def row(prefix: tuple[int, ...]) -> np.ndarray:
    """Any row that depends on the whole prefix."""
    weights = 1.0 + np.array([hash((prefix, token)) % 7 for token in range(3)])
    return np.log(weights / weights.sum())


def by_rows(prefixes) -> np.ndarray:
    return np.array([row(tuple(prefix)) for prefix in np.asarray(prefixes).tolist()])


def returning(value) -> FunctionModel:
    return FunctionModel(
        lambda prefixes: value(prefixes) if callable(value) else np.tile(value, (len(prefixes), 1)), TOKENS
    )


@pytest.mark.parametrize("batch", [1, 4, 4096])
def test_the_table_holds_the_functions_rows(batch, monkeypatch):
    """Row h of step t is f(prefix h), whatever the batches."""
    monkeypatch.setattr(function, "BATCH", batch)
    table = FunctionModel(by_rows, TOKENS).tabulate(3)
    for length, rows in enumerate(table.steps):
        expected = [row(prefix) for prefix in product(range(3), repeat=length)]
        assert np.array_equal(rows.values, expected)
        assert rows.values.dtype == np.float64


def test_ended_prefixes_are_never_asked_for_and_get_the_eos_row():
    asked = []

    def log_probs(prefixes):
        asked.extend(map(tuple, np.asarray(prefixes).tolist()))
        return by_rows(prefixes)

    table = FunctionModel(log_probs, TOKENS, eos="b").tabulate(3)
    assert asked == [(), (0,), (2,), (0, 0), (0, 2), (2, 0), (2, 2)]
    for index, prefix in enumerate(product(range(3), repeat=2)):
        expected = np.array([-np.inf, 0.0, -np.inf]) if 1 in prefix else row(prefix)
        assert np.array_equal(table.steps[2].values[index], expected)


def test_progress_counts_the_prefixes(monkeypatch):
    monkeypatch.setattr(function, "BATCH", 2)
    seen = []
    FunctionModel(by_rows, TOKENS, eos="b").tabulate(3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 7), (3, 7), (5, 7), (7, 7)]


def test_length_0_is_a_table_without_steps():
    assert FunctionModel(by_rows, TOKENS).tabulate(0).horizon == 0


def test_prefixes_are_jax_integers():
    def log_probs(prefixes):
        assert prefixes.dtype == jnp.int32
        return jnp.zeros((len(prefixes), 1))

    assert FunctionModel(log_probs, ("only",)).tabulate(2).steps[1].values.tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([np.nan, 0, 0], 'f: after the empty prefix, token "a": found NaN; needed a finite number or -inf'),
        ([np.inf, 0, 0], 'f: after the empty prefix, token "a": found inf'),
        ([-np.inf] * 3, "f: after the empty prefix: found -inf for every token"),
        (
            [0.0, 0.0, 0.0],
            "f: after the empty prefix: exponentials sum to 3; needed 1 within 1e-6; logits need log_softmax first",
        ),
        (
            [0.0, 0.0],
            r"f: after the empty prefix: the function returned the shape \(1, 2\); needed \(1, 3\), one row for each",
        ),
        (lambda prefixes: "nothing", "f: after the empty prefix: the function raised TypeError"),
        (lambda prefixes: prefixes.gone, "f: after the empty prefix: the function raised AttributeError: .*gone"),
        (
            lambda prefixes: np.where((np.asarray(prefixes) == 2).any(1)[:, None], np.nan, np.log(1 / 3)) * np.ones(3),
            'f: after "c", token "a": found NaN(.|\n)*f: after "c", token "c": found NaN',
        ),
    ],
)
def test_what_the_function_returns_is_checked_with_model_and_prefix(value, message):
    model = FunctionModel(returning(value).log_probs, TOKENS, source=function.Source("f"))
    with pytest.raises(InputError, match=message):
        model.tabulate(2)


def test_rows_a_little_off_are_noted():
    model = returning(np.log([0.5, 0.25, 0.25 + 2.5e-7])).tabulate(2)
    assert model.source.notes == tuple(
        f"in memory: {n} renormalised, by at most 3e-7" for n in ("1 row of step 0", "3 rows of step 1")
    )


def test_single_precision_is_not_noted():
    assert returning(np.log([0.5, 0.3, 0.2]).astype(np.float32)).tabulate(3).source.notes == ()


def test_a_table_too_large_is_refused_before_the_function_is_called(monkeypatch):
    def never(prefixes):
        raise AssertionError

    for length in (40, 10**9):
        with pytest.raises(
            InputError, match=rf"a table of {length} steps for 3 tokens takes .* GB; there are .* of memory"
        ):
            FunctionModel(never, TOKENS).tabulate(length)
    monkeypatch.setattr(memory, "available", lambda: 8 * (3 + 9) + 1999)
    with pytest.raises(InputError, match="takes 2096 bytes; there are 2095 bytes"):
        FunctionModel(never, TOKENS).tabulate(2)


def test_the_size_of_a_table():
    """8 (V + V^2 + … + V^T) bytes, and 1000 for each step."""
    for vocab, length in product((1, 2, 5), range(5)):
        assert table_size(vocab, length) == 8 * sum(vocab ** (t + 1) for t in range(length)) + 1000 * length


@pytest.mark.parametrize(("vocabulary", "eos"), [((), None), (("a", "a"), None), (("a",), "b")])
def test_a_wrong_vocabulary_is_refused(vocabulary, eos):
    with pytest.raises(InputError, match=r"vocabulary|eos"):
        FunctionModel(by_rows, vocabulary, eos)


def test_a_negative_length_is_refused():
    with pytest.raises(InputError, match="found the length -1; needed at least 0"):
        FunctionModel(by_rows, TOKENS).tabulate(-1)
