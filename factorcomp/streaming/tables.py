"""The rows of tables, read where they lie: no copy of a table is made."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming.plan import Plan


@dataclass(frozen=True)
class Tables:
    """The values of the background and the experts, by position: `steps[t][m]` is `[vocab ** t, vocab]`."""

    steps: Sequence[Sequence[Float[np.ndarray, "_ vocab"]]]

    @classmethod
    def of(cls, models: Sequence[TabularModel], horizon: int) -> "Tables":
        """The tables of floats of these models."""
        return cls([[_values(model.steps[t]) for model in models] for t in range(horizon)])

    def above(self, plan: Plan) -> list[list[Float[np.ndarray, "_ vocab"]]]:
        """The rows above the heads, level by level, as they lie."""
        return [list(step) for step in self.steps[: plan.above]]

    def below(self, plan: Plan, heads: slice) -> list[list[Float[np.ndarray, "_ vocab"]]]:
        """The rows below these heads, level by level, as they lie."""
        widths = [plan.vocab**n for n in range(plan.tail)]
        steps = zip(self.steps[plan.above : plan.horizon], widths, strict=True)
        return [[values[heads.start * w : heads.stop * w] for values in step] for step, w in steps]


def _values(rows: object) -> Float[np.ndarray, "prefixes vocab"]:
    assert isinstance(rows, FloatRows)
    return np.ascontiguousarray(rows.values)
