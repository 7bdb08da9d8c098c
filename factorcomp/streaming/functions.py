"""Rows computed as they are needed, by functions whose tables would not fit into memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from factorcomp.models.errors import Problems
from factorcomp.models.function import BATCH, FunctionModel, tokens_of_prefixes
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming.plan import Plan

Model = FunctionModel | TabularModel


@dataclass(frozen=True)
class Functions:
    """The rows of the background and the experts as log-probabilities: of functions, and of tables of logs.

    A stretch is computed when it is visited, and again whenever something is asked about it.
    """

    models: Sequence[Model]

    def above(self, plan: Plan) -> list[list[Float[np.ndarray, "_ vocab"]]]:
        """The rows above the heads, level by level."""
        return [[_rows(m, t, 0, plan.vocab**t) for m in self.models] for t in range(plan.above)]

    def below(self, plan: Plan, heads: slice) -> list[list[Float[np.ndarray, "_ vocab"]]]:
        """The rows below these heads, level by level."""
        levels = []
        for n in range(plan.tail):
            start, stop = heads.start * plan.vocab**n, heads.stop * plan.vocab**n
            levels.append([_rows(m, plan.above + n, start, stop) for m in self.models])
        return levels


def _rows(model: Model, length: int, start: int, stop: int) -> Float[np.ndarray, "prefixes vocab"]:
    """The rows of a model after the prefixes `start` to `stop` of `length` tokens."""
    if isinstance(model, TabularModel):
        rows = model.steps[length]
        assert isinstance(rows, FloatRows)
        return rows.values[start:stop]
    vocab = len(model.vocabulary)
    eos = None if model.eos is None else model.vocabulary.index(model.eos)
    values = np.full((stop - start, vocab), -np.inf)
    problems = Problems(model.source.name)
    for first in range(start, stop, BATCH):
        tokens = tokens_of_prefixes(np.arange(first, min(first + BATCH, stop)), length, vocab)
        going_on = np.ones(len(tokens), dtype=bool) if eos is None else (tokens != eos).all(axis=1)
        batch = values[first - start : first - start + len(tokens)]
        if eos is not None:
            batch[~going_on, eos] = 0.0
        if going_on.any():
            batch[going_on], _, _ = model.rows_after(tokens[going_on], problems)
    problems.raise_any()
    return values
