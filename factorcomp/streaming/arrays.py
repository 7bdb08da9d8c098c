"""One text for arrays of NumPy and of JAX: choices, and sets of experts as bits."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

Array = Any  # an array of NumPy or of JAX
T = TypeVar("T")


def namespace(array: Array) -> Any:  # numpy or jax.numpy
    """The functions for this array."""
    return array.__array_namespace__()


def choose(condition: Array, then: Callable[..., T], otherwise: Callable[..., T], *operands: object) -> T:
    """`then(*operands)` or `otherwise(*operands)`, of which only one is computed, in JAX as well."""
    if isinstance(condition, bool | np.bool_ | np.ndarray):
        return then(*operands) if condition else otherwise(*operands)
    import jax

    return jax.lax.cond(condition, then, otherwise, *operands)


def settle(values: T) -> T:
    """The same arrays, computed once and kept: in JAX a border that the compiler does not compute again across."""
    import jax

    leaves = jax.tree.leaves(values)
    return (
        values if all(isinstance(x, np.ndarray | np.generic) for x in leaves) else jax.lax.optimization_barrier(values)
    )


def as_bits(flags: Sequence[Array]) -> Array:
    """Sets of experts, one bit each, from one array of flags for each expert."""
    xp = namespace(flags[0])
    bits = xp.zeros(flags[0].shape, dtype=xp.uint32)
    for i, flag in enumerate(flags):
        bits = bits | xp.where(flag, xp.uint32(1 << i), xp.uint32(0))
    return bits


def has(bits: Array, expert: int) -> Array:
    """Whether the expert is in the set."""
    xp = namespace(bits)
    return (bits & xp.uint32(1 << expert)) != 0


def several(bits: Array) -> Array:
    """Whether more than one expert is in the set."""
    xp = namespace(bits)
    return (bits & (bits - xp.uint32(1))) != 0


UNROLLED = 16
"""Vocabularies up to here are folded token by token, which runs along the lanes of the processor."""


def fold(operation: Any, values: Array) -> Array:
    """Combines `[vocab, …]` over the vocabulary by `add`, `maximum`, `minimum`, `logical_or` or `bitwise_or`."""
    if len(values) > UNROLLED:
        return operation.reduce(values, axis=0)
    folded = values[0]
    for plane in range(1, len(values)):
        folded = operation(folded, values[plane])
    return folded
