"""A model of whatever kind as the laws ask it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel
from factorcomp.testing.comparison import Rows, Tolerance, of_rows, size_of
from factorcomp.testing.families import Prefix

LONGEST = 6
"""The longest prefix that a model without a horizon is asked about."""


@dataclass(frozen=True)
class Examined:
    """A model under examination.

    **Fields:** `rows`: from prefixes `[batch, length]` to log-probabilities `[batch, vocab]`. `eos`: the place of EOS.
    `longest`: the longest prefix to ask about. `knows`: whether the model says something of a prefix; `None`: of all.
    `along`: from sequences `[batch, length]` to the rows at every position `[batch, length, vocab]`, that at t after
    the first t tokens. `sequence_log_probs`: from sequences to their log-probabilities `[batch]`. `ragged`: from a list
    of prefixes of any lengths to their rows. `dtype`: of the model's numbers. `tolerance`: instead of the derived one.
    """

    rows: Callable[[Int[np.ndarray, "batch length"]], Any]
    vocabulary: tuple[str, ...]
    eos: int | None = None
    longest: int = LONGEST
    knows: Callable[[Prefix], bool] | None = None
    along: Callable[[Int[np.ndarray, "batch length"]], Any] | None = None
    sequence_log_probs: Callable[[Int[np.ndarray, "batch length"]], Any] | None = None
    ragged: Callable[[Sequence[Prefix]], Any] | None = None
    dtype: str = "float64"
    tolerance: Tolerance | None = None

    def rounding(self, rows: Rows) -> Tolerance:
        """How far rounding can put two answers apart."""
        return self.tolerance or of_rows(self.dtype, len(self.vocabulary), size_of(rows))


def examined(
    model: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    eos: str | None = None,
    longest: int | None = None,
    dtype: str | None = None,
    tolerance: float | None = None,
    along: Callable[..., Any] | None = None,
    sequence_log_probs: Callable[..., Any] | None = None,
    ragged: Callable[..., Any] | None = None,
) -> Examined:
    """The model as the laws ask it: a table, a finite-state model, a `FunctionModel`, or any function of prefixes.

    A function says its tokens itself (`function.vocabulary`, `function.eos`), or they are given here; `along`,
    `sequence_log_probs` and `ragged` are found on it too. It is given NumPy arrays; a `FunctionModel` is given JAX's,
    and never asked after EOS, as everywhere in factorcomp.

    **Raises:** `ValueError` for a model without a vocabulary, and for a table without a row.
    """
    tokens = vocabulary if vocabulary is not None else getattr(model, "vocabulary", None)
    if tokens is None:
        raise ValueError("the model: found no vocabulary; needed its tokens, as `vocabulary` here or on the function")
    tokens, stop = tuple(tokens), eos if eos is not None else getattr(model, "eos", None)
    if stop is not None and stop not in tokens:
        raise ValueError(f"eos: got {stop!r}; needed a token of the vocabulary")
    known, most, kind = None, LONGEST, "float64"
    match model:
        case TabularModel():
            rows, most = _rows_of_table(model), model.horizon - 1
            if model.gaps is not None:
                known = _known_to_table(model)
        case FiniteStateModel():
            rows = _rows_of_automaton(model)
            known = _known_to_automaton(model) if (model.next == NOWHERE).any() else None
        case FunctionModel():
            rows, kind = _rows_of_function(model), "float32"
        case _ if callable(model):
            rows, kind = model, "float32"
        case _:
            raise ValueError(f"the model: got a {type(model).__name__}; needed a model or a function of prefixes")
    if most < 0:
        raise ValueError("the model: a table without a step has no row that a law could speak of")
    own = None if tolerance is None else Tolerance(tolerance, "so much was declared")
    return Examined(
        rows,
        tokens,
        None if stop is None else tokens.index(stop),
        most if longest is None else min(longest, most) if isinstance(model, TabularModel) else longest,
        known,
        along or getattr(model, "along", None),
        sequence_log_probs or getattr(model, "sequence_log_probs", None),
        ragged or getattr(model, "ragged", None),
        dtype or kind,
        own,
    )


def rows_of(model: Any) -> Callable[[Int[np.ndarray, "batch length"]], Any]:
    """The function from prefixes to rows of a model or a function."""
    match model:
        case TabularModel():
            return _rows_of_table(model)
        case FiniteStateModel():
            return _rows_of_automaton(model)
        case FunctionModel():
            return _rows_of_function(model)
    if not callable(model):
        raise TypeError(f"got a {type(model).__name__}; needed a model or a function of prefixes")
    return model


def _rows_of_table(model: TabularModel) -> Callable[[Any], Any]:
    def rows(prefixes: Any) -> Any:
        vocab = len(model.vocabulary)
        step = model.steps[prefixes.shape[1]]
        places = prefixes.astype(np.int64) @ vocab ** np.arange(prefixes.shape[1] - 1, -1, -1, dtype=np.int64)
        return np.concatenate([step.log_probs(place, place + 1) for place in places.tolist()])

    return rows


def _known_to_table(model: TabularModel) -> Callable[[Prefix], bool]:
    def known(prefix: Prefix) -> bool:
        index = 0
        for token in prefix:
            index = index * len(model.vocabulary) + token
        return len(prefix) < model.horizon and not model.says_nothing(len(prefix), index)

    return known


def _rows_of_automaton(model: FiniteStateModel) -> Callable[[Any], Any]:
    def rows(prefixes: Any) -> Any:
        states = [model.path(prefix)[-1] for prefix in prefixes.tolist()]
        return np.concatenate([model.rows.log_probs(state, state + 1) for state in states])

    return rows


def _known_to_automaton(model: FiniteStateModel) -> Callable[[Prefix], bool]:
    return lambda prefix: len(model.path(prefix)) == len(prefix) + 1


def _rows_of_function(model: FunctionModel) -> Callable[[Any], Any]:
    eos = None if model.eos is None else model.vocabulary.index(model.eos)

    def rows(prefixes: Any) -> Any:
        import jax.numpy as jnp

        going = np.ones(len(prefixes), dtype=bool) if eos is None else ~(prefixes == eos).any(axis=1)
        answer = np.full((len(prefixes), len(model.vocabulary)), -np.inf)
        if eos is not None:
            answer[~going, eos] = 0.0
        if going.any():
            found = np.asarray(model.log_probs(jnp.asarray(prefixes[going], dtype=jnp.int32)))
            if going.all():
                return found
            answer[going] = found
        return answer

    return rows
