"""The rows of tables, read where they lie: no copy of a table is made.

XLA takes an array of NumPy as it is if it starts at a multiple of 64 bytes. Most do not; then all but the first few
numbers do, and the block at the front is copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming.arrays import Array
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import AnyValues

ALIGNMENT = 64


@dataclass(frozen=True)
class Tables:
    """The values of the background and the experts, by position: `steps[t][m]` is `[vocab ** t, vocab]`."""

    steps: Sequence[Sequence[Float[np.ndarray, "_ vocab"]]]

    @classmethod
    def of(cls, models: Sequence[TabularModel], horizon: int) -> "Tables":
        """The tables of floats of these models."""
        return cls([[_values(model.steps[t]) for model in models] for t in range(horizon)])

    def above(self, plan: Plan) -> list[tuple[AnyValues, ...]]:
        """The rows above the heads, `[vocab, prefixes, 1]`, in float64."""
        return [tuple(v.astype(np.float64).T[:, :, None] for v in step) for step in self.steps[: plan.above]]

    def stretch(self, plan: Plan, start: int, stop: int) -> list[list[Float[np.ndarray, "_ vocab"]]]:
        """The rows below the heads `start` to `stop`, level by level, as they lie."""
        widths = [plan.vocab**n for n in range(plan.tail)]
        steps = zip(self.steps[plan.above : plan.horizon], widths, strict=True)
        return [[values[start * w : stop * w] for values in step] for step, w in steps]

    def below(self, plan: Plan, prefixes: Sequence[Int[np.ndarray, "_ lanes"]]) -> list[tuple[AnyValues, ...]]:
        """The rows after these prefixes below the heads, by level, in float64."""
        steps = zip(self.steps[plan.above : plan.horizon], prefixes, strict=True)
        return [tuple(np.moveaxis(v[rows], 2, 0).astype(np.float64) for v in step) for step, rows in steps]

    def on(self, device: Any, plan: Plan) -> list[list["OnDevice"]]:
        """The rows below the heads, for a device of JAX."""
        sizes = [plan.vocab ** (n + 1) * plan.lanes for n in range(plan.tail)]
        below = zip(self.steps[plan.above : plan.horizon], sizes, strict=True)
        return [[_on(device, values, size) for values in step] for step, size in below]


def _values(rows: object) -> Float[np.ndarray, "prefixes vocab"]:
    assert isinstance(rows, FloatRows)
    return np.ascontiguousarray(rows.values)


# A pytree of arrays: (numbers from the first aligned one on, the numbers of the first block).
OnDevice = tuple[Shaped[Array, "_"], Shaped[Array, "_"]]


def _on(device: Any, values: Float[np.ndarray, "prefixes vocab"], block: int) -> OnDevice:
    import jax

    flat = values.reshape(-1)
    shift = (-flat.ctypes.data % ALIGNMENT) // flat.itemsize
    if flat.size < 2 * max(block, shift):
        return jax.device_put((np.array(flat), np.array(flat[:0])), device)
    return jax.device_put((flat[shift:], np.array(flat[: block + shift])), device)


def part(table: OnDevice, start: Array, size: int, total: int) -> Array:
    """`size` numbers from `start` on of a table of `total`; no more than a block."""
    import jax

    flat, front = table
    shift = total - flat.shape[0]
    if shift == 0:
        return jax.lax.dynamic_slice(flat, (start,), (size,))
    in_front, inside = (
        lambda: jax.lax.dynamic_slice(front, (start,), (size,)),
        lambda: jax.lax.dynamic_slice(flat, (start - shift,), (size,)),
    )
    return jax.lax.cond(start < shift, in_front, inside)
