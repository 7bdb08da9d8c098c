"""Models with a window as finite-state models: the same rows; and that they look no further is checked."""

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from factorcomp.models import memory, windows
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.rows import FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel
from factorcomp.models.windows import as_finite_state

TOKENS = ("a", "b", "c")


def looking_at(window: int, tokens=TOKENS, eos=None, dtype=np.float64) -> FunctionModel:
    """A function of the last `window` tokens, with a token of probability 0 after "b"."""
    table = np.random.default_rng(window).normal(size=(len(tokens) + 1,) * window + (len(tokens),))
    if window:
        table[..., 1, 0] = -np.inf

    def log_probs(prefixes):
        prefixes = np.asarray(prefixes)
        last = np.pad(prefixes, ((0, 0), (window, 0)), constant_values=len(tokens))[:, prefixes.shape[1] :]
        rows = table[tuple(last.T)] if window else np.tile(table, (len(prefixes), 1))
        with np.errstate(divide="ignore"):
            return (rows - np.log(np.exp(rows).sum(1, keepdims=True))).astype(dtype)

    return FunctionModel(log_probs, tuple(tokens), eos)


def same_rows(mine: TabularModel, other: TabularModel) -> None:
    for one, two in zip(mine.steps, other.steps, strict=True):
        count = one.shape[0]
        np.testing.assert_allclose(one.log_probs(0, count), two.log_probs(0, count), rtol=0, atol=1e-12)


@pytest.mark.parametrize("eos", [None, "b", "c"])
@pytest.mark.parametrize("window", [0, 1, 2, 3])
def test_the_states_give_the_functions_rows(window, eos):
    """rows[q(y_1 … y_t)] = p(· | y_1 … y_t), also beyond the window; after EOS the EOS row."""
    model = looking_at(window, eos=eos)
    found = as_finite_state(model, window)
    going_on = len(TOKENS) - (eos is not None)
    assert len(found.states) == len({*found.states}) == sum(going_on**length for length in range(window + 1))
    assert found.rows.shape[0] == len(found.states) + (eos is not None)
    same_rows(found.tabulate(5), model.tabulate(5))


def test_the_states_are_named_by_their_tokens():
    assert as_finite_state(looking_at(2), 2).states[:6] == ("", "a", "b", "c", "a a", "a b")
    names = as_finite_state(looking_at(2, ("", "a", "a a", " ")), 2).states
    assert names[:4] == ("", '""', '"a"', '"a a"')
    assert len({*names}) == len(names) == 21


@pytest.mark.parametrize("eos", [None, "only"])
def test_one_token(eos):
    model = FunctionModel(lambda prefixes: np.zeros((len(prefixes), 1)), ("only",), eos)
    found = as_finite_state(model, 2)
    assert found.states == (("",) if eos else ("", "only", "only only"))
    assert found.next.tolist() == ([[1], [1]] if eos else [[1], [2], [2]])


def test_a_note_says_what_was_checked():
    [note] = as_finite_state(looking_at(1), 1).source.notes
    assert note.startswith("in memory: taken to look at the last token alone; rows after 400 longer prefixes differ by")
    [note] = as_finite_state(looking_at(0), 0).source.notes
    assert note.startswith("in memory: taken to look at no token alone; rows after 400 longer prefixes differ by")


def test_single_precision_is_near_enough():
    model = looking_at(2, dtype=np.float32)
    assert as_finite_state(model, 2).source.notes[-1].endswith("in total variation")


@pytest.mark.parametrize("window", [0, 1, 2])
def test_a_function_that_looks_further_is_refused_with_the_prefix(window):
    with pytest.raises(InputError) as caught:
        as_finite_state(looking_at(window + 1), window)
    last = ["no token", "the last token", "the last 2 tokens"][window]
    for line in caught.value.problems[:5]:
        assert line.startswith('in memory: after "')
        assert f"from the one expected; needed at most 1e-06, as it is said to look at {last} alone" in line


def test_a_function_that_looks_far_back_on_its_own_paths_is_found():
    """Uniform prefixes of 8 tokens almost never begin with six times "a", those of the model itself always do."""

    def log_probs(prefixes):
        prefixes = np.asarray(prefixes)
        begun = (prefixes[:, :6] == 0).all(1) & (prefixes.shape[1] > 6)
        return np.where(begun[:, None], np.log(1 / 3), np.array([0.0, -np.inf, -np.inf]))

    with pytest.raises(InputError, match=r'after "a" "a" "a" "a" "a" "a" "a": found a row that differs by 0.667'):
        as_finite_state(FunctionModel(log_probs, TOKENS), 1)


def test_what_the_function_returns_is_checked_with_the_prefix():
    def log_probs(prefixes):
        seen = np.asarray(prefixes) == 2
        return np.where(seen.any(1)[:, None], np.nan, np.log(1 / 3)) * np.ones(3)

    with pytest.raises(InputError, match=r'in memory: after "c", token "a": found NaN; needed a finite number or -inf'):
        as_finite_state(FunctionModel(log_probs, TOKENS), 2)


def test_progress_counts_the_contexts():
    seen = []
    as_finite_state(looking_at(2), 2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 13), (4, 13), (13, 13)]


def test_what_does_not_fit_is_refused_before_the_function_is_called(monkeypatch):
    def never(prefixes):
        raise AssertionError

    model = FunctionModel(never, TOKENS)
    for window in (40, 10**9):
        with pytest.raises(InputError, match=rf"a row after each of 3\^{window} windows, .* takes .* GB; there are"):
            as_finite_state(model, window)
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(InputError, match="there are 1000 bytes"):
        as_finite_state(model, 1)


@pytest.mark.parametrize("model", [looking_at(1), TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])])
def test_a_negative_window_is_refused(model):
    with pytest.raises(InputError, match="found the window -1; needed at least 0"):
        as_finite_state(model, -1)


@st.composite
def tables(draw) -> tuple[int, list, tuple[str, ...], str | None]:
    """A window, and what `from_probabilities` takes: rows that depend on the last `window` tokens alone."""
    vocab, window, horizon = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.integers(3, 4))
    eos = draw(st.none() | st.integers(0, vocab - 1))
    rows: dict[tuple[int, ...], list[int]] = {}
    steps = []
    for length in range(horizon):
        step = []
        for prefix in product(range(vocab), repeat=length):
            seen = prefix[max(0, length - window) :]
            if seen not in rows:
                weights = draw(st.lists(st.integers(0, 4), min_size=vocab, max_size=vocab))
                rows[seen] = weights if any(weights) else [1] * vocab
            row = [int(token == eos) for token in range(vocab)] if eos in prefix else rows[seen]
            step.append([f"{weight}/{sum(row)}" for weight in row])
        steps.append(step)
    return window, steps, tuple("abc"[:vocab]), None if eos is None else "abc"[eos]


@given(given=tables())
def test_a_table_of_the_last_tokens_is_the_table_of_its_states(given):
    """Exactly: the numbers are the same."""
    window, *table = given
    model = TabularModel.from_probabilities(*table)
    again = as_finite_state(model, window).tabulate(model.horizon)
    for mine, other in zip(model.steps, again.steps, strict=True):
        every = np.arange(mine.shape[0])
        assert mine.identical(every, other, every).all()


def test_rows_of_a_table_are_compared_as_distributions():
    """Floats define a distribution by their proportions, logs up to a constant; to the last bit."""
    halves, doubled = np.array([[0.5, 0.25, 0.25]]), np.array([[1.0, 0.5, 0.5]])
    table = TabularModel(TOKENS, (FloatRows(halves, "probs"), FloatRows(np.repeat(doubled, 3, 0), "probs")))
    assert as_finite_state(table, 0).next.tolist() == [[0, 0, 0]]
    off = np.nextafter(doubled, 2) * [1, 0, 0] + doubled * [0, 1, 1]
    table = TabularModel(TOKENS, (FloatRows(halves, "probs"), FloatRows(np.vstack([doubled, doubled, off]), "probs")))
    with pytest.raises(InputError, match='in memory: after "c": found another row than after the empty prefix; needed'):
        as_finite_state(table, 0)
    logs = [FloatRows(np.zeros((1, 3)), "logits"), FloatRows(np.full((3, 3), -2.5), "logits")]
    assert as_finite_state(TabularModel(TOKENS, tuple(logs)), 0).rows.values.tolist() == [[0.0, 0.0, 0.0]]


def test_a_table_that_looks_further_is_refused_with_both_prefixes():
    """p(· | a b) = p(· | b) but p(· | b b) is another."""
    half, other = ["1/2", "1/2"], ["1/4", "3/4"]
    table = TabularModel.from_probabilities([half, [half, half], [half, half, half, other]], ["a", "b"])
    with pytest.raises(InputError) as caught:
        as_finite_state(table, 1)
    needed = "needed the same, as it is said to look at the last token alone"
    assert caught.value.problems == (f'in memory: after "b" "b": found another row than after "b"; {needed}',)
    assert len(as_finite_state(table, 2).states) == 7


def test_a_table_must_be_longer_than_the_window():
    table = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    assert isinstance(as_finite_state(table, 0).rows, RationalRows)
    with pytest.raises(InputError, match="found 1 steps; needed more than the window, 1"):
        as_finite_state(table, 1)


def test_a_table_with_gaps_is_refused():
    rows = FloatRows(np.full((1, 2), 0.5), "probs")
    table = TabularModel(("a", "b"), (rows,), gaps=(np.array([True]),))
    with pytest.raises(InputError, match="found prefixes of which the model says nothing; needed a row for each"):
        as_finite_state(table, 0)


def test_steps_of_floats_and_of_fractions_are_not_mixed():
    first = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"]).steps[0]
    table = TabularModel(("a", "b"), (first, FloatRows(np.full((2, 2), 0.5), "probs")))
    with pytest.raises(InputError, match="found steps of different kinds of numbers; needed one"):
        as_finite_state(table, 1)


def test_the_walks_reach_every_state(monkeypatch):
    """Half of the prefixes are uniform, so that what the model never does is asked as well."""
    model = looking_at(1)
    tokens, states = windows._walks(
        windows._Contexts(model, 1), as_finite_state(model, 1), 100, 9, np.random.default_rng(1)
    )
    assert {*states[:, 1:].reshape(-1).tolist()} == {1, 2, 3}
    after_b = tokens[:, 1:][tokens[:, :-1] == 1]
    assert (after_b == 0).any()
