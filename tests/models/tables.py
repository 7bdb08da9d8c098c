"""Tables that every format and every constructor is held against."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np

from factorcomp.models.rows import FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel

_RANDOM = np.random.default_rng(0)
_LOGITS = [_RANDOM.normal(size=(3**t, 3)) for t in range(3)]
_PROBS = [np.exp(step) / np.exp(step).sum(1, keepdims=True) for step in _LOGITS]

TABLES = {
    "probs": TabularModel.from_probabilities(_PROBS, ["a", "b", "é\n"]),
    "log_probs": TabularModel.from_log_probs([np.log(step) for step in _PROBS], ["a", "b", "é\n"]),
    "logits": TabularModel(("a", "b", "é\n"), tuple(FloatRows(step, "logits") for step in _LOGITS)),
}
"""One table of floats for each scale."""


@st.composite
def rational_tables(draw) -> tuple[list, tuple[str, ...], str | None]:
    """What `TabularModel.from_probabilities` takes: integer weights, normalised; with or without EOS; any horizon.

    The model itself is made in the test: beartype's checks draw random numbers, which a strategy must not.
    """
    vocab = draw(st.integers(1, 3))
    vocabulary = tuple(draw(st.lists(st.text(max_size=2), min_size=vocab, max_size=vocab, unique=True)))
    eos = draw(st.none() | st.sampled_from(range(vocab)))
    steps, prefixes = [], [()]
    for _ in range(draw(st.integers(0, 3))):
        rows = []
        for prefix in prefixes:
            row = [int(token == eos) for token in range(vocab)] if eos in prefix else draw(_row(vocab))
            rows.append([f"{weight}/{sum(row)}" for weight in row])
        steps.append(rows)
        prefixes = [(*prefix, token) for prefix in prefixes for token in range(vocab)]
    return steps, vocabulary, None if eos is None else vocabulary[eos]


@st.composite
def _row(draw, vocab: int) -> list[int]:
    weights = st.integers(0, 4) | st.integers(0, 10**25)
    row = [draw(weights) for _ in range(vocab)]
    return row if any(row) else [1] * vocab


def same_tables(*models: TabularModel) -> bool:
    """Whether the models have the same vocabulary, EOS and numbers, of the same kind."""
    return all(_same(a, b) for a, b in pairwise(models))


def _same(a: TabularModel, b: TabularModel) -> bool:
    if (a.vocabulary, a.eos, a.horizon) != (b.vocabulary, b.eos, b.horizon):
        return False
    for mine, theirs in zip(a.steps, b.steps, strict=True):
        if type(mine) is not type(theirs):
            return False
        match mine, theirs:
            case RationalRows(), RationalRows():
                pairs = [(mine.numerators, theirs.numerators), (mine.denominators, theirs.denominators)]
            case FloatRows(), FloatRows():
                pairs = [(mine.values, theirs.values)]
                if mine.scale != theirs.scale:
                    return False
        if not all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in pairs):
            return False
    return True
