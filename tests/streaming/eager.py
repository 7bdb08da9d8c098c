"""The few functions of JAX that the streaming engine calls, in NumPy: the same text runs at once, and nothing compiles.

A slice that JAX would silently move into its array is an error here.
"""

import sys
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from factorcomp.streaming import blocks
from factorcomp.streaming.arrays import each


def scan(visit: Any, carried: Any, inputs: Any) -> tuple[Any, Any]:
    """`jax.lax.scan`."""
    outputs = []
    for n in range(len(inputs[0])):
        carried, output = visit(carried, each(lambda x, n=n: x[n], inputs))
        outputs.append(output)
    return carried, each(lambda *parts: np.stack(parts), *outputs)


def dynamic_slice(array: np.ndarray, start: Any, size: Any) -> np.ndarray:
    """`jax.lax.dynamic_slice` of one dimension."""
    (start,), (size,) = start, size
    assert 0 <= start <= start + size <= len(array)
    return array[start : start + size]


JAX = SimpleNamespace(
    numpy=np,
    lax=SimpleNamespace(
        scan=scan,
        dynamic_slice=dynamic_slice,
        cond=lambda condition, first, second: first() if condition else second(),
    ),
    distributed=SimpleNamespace(is_initialized=lambda: False),
    local_devices=lambda: ["here"],
    default_device=lambda device: nullcontext(),
    device_put=lambda arrays, device: arrays,
    device_get=lambda arrays: arrays,
    enable_x64=lambda on: nullcontext(),
)


def without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The streaming engine's programs run in NumPy until the end of the test."""
    monkeypatch.setitem(sys.modules, "jax", JAX)
    monkeypatch.setitem(sys.modules, "jax.numpy", np)
    monkeypatch.setattr(blocks, "compiled", lambda program: program)
