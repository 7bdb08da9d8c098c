"""Nested tuples of arrays, and sets of experts as bits."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Array = Any  # of NumPy, or one of its numbers


def leaves(tree: Any) -> Iterator[Array]:
    """The arrays of nested tuples and lists, in order; `None` is none."""
    if isinstance(tree, tuple | list):
        for part in tree:
            yield from leaves(part)
    elif tree is not None:
        yield tree


def each(function: Callable[..., Any], *trees: Any) -> Any:
    """`function` of the arrays of nested tuples and lists of one form, in that form; `None` stays."""
    first = trees[0]
    if isinstance(first, tuple | list):
        parts = [each(function, *parts) for parts in zip(*trees, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return None if first is None else function(*trees)


def as_bits(flags: Sequence[Array]) -> Array:
    """Sets of experts, one bit each, from one array of flags for each expert."""
    bits = np.zeros(flags[0].shape, dtype=np.uint32)
    for i, flag in enumerate(flags):
        bits = bits | np.where(flag, np.uint32(1 << i), np.uint32(0))
    return bits


def has(bits: Array, expert: int) -> Array:
    """Whether the expert is in the set."""
    return (bits & np.uint32(1 << expert)) != 0


def several(bits: Array) -> Array:
    """Whether more than one expert is in the set."""
    return (bits & (bits - 1)) != 0


UNROLLED = 16
"""Vocabularies up to here are folded token by token, which runs along the prefixes."""


def fold(operation: Any, values: Array) -> Array:
    """Combines `[vocab, …]` over the vocabulary by `add`, `maximum`, `minimum`, `logical_or` or `bitwise_or`."""
    if len(values) > UNROLLED:
        return operation.reduce(values, axis=0)
    folded = values[0]
    for plane in range(1, len(values)):
        folded = operation(folded, values[plane])
    return folded
