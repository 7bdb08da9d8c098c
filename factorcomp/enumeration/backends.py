"""Who computes a level, block by block: NumPy where the tree is small, JAX where it is large.

JAX takes a second or two to load and to compile before it computes anything; NumPy is done with millions of numbers by
then. Beyond that JAX runs the same text jitted, on whatever device it finds. Every block of a tree has one shape, the
last one padded, so that one program is compiled, whatever the length.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from factorcomp.certificates.claims import Question
from factorcomp.composition.block import Block, compose_block
from factorcomp.composition.precision import float64 as float64
from factorcomp.enumeration.size import count_prefixes
from factorcomp.models.rows import AbstractRows

NUMBERS_FOR_NUMPY = 1 << 24
"""The largest table, in numbers of all models, that NumPy composes."""
NUMBERS_PER_BLOCK = 1 << 16
"""The numbers of one model in a block: all that is made of them stays in cache."""
_BY_COMPONENT = {"components", "expert_tv"}

Flags = Bool[np.ndarray, "experts prefixes"]
Logs = Float[np.ndarray, "components prefixes vocab"]


def compose_level(
    rows: Sequence[AbstractRows], weights: Sequence[Fraction], differs: Flags, deviates: Flags, question: Question
) -> Block:
    """`compose_block` for all prefixes of one length. `rows`: of the background, then of the experts."""
    prefixes, vocab = rows[0].shape
    small = count_prefixes(vocab, question.horizon) * vocab * len(rows) <= NUMBERS_FOR_NUMPY
    compose = compose_block if small else _in_jax
    floats = None if set(weights) == {1} else np.array([float(weight) for weight in weights])
    size = max(1, NUMBERS_PER_BLOCK // vocab)
    blocks = []
    for start in range(0, prefixes, size):
        part = slice(start, min(start + size, prefixes))
        logs = np.stack([r.log_probs(part.start, part.stop).T for r in rows]).transpose(0, 2, 1)
        blocks.append(
            _compose(compose, logs, floats, differs[:, part], deviates[:, part], question, 1 if small else size)
        )
    if len(blocks) == 1:
        return blocks[0]
    axes = [int(name in _BY_COMPONENT) for name in Block._fields]
    return Block(
        *(np.concatenate(parts, axis=axis) for parts, axis in zip(zip(*blocks, strict=True), axes, strict=True))
    )


def _compose(
    compose: Callable[..., Block],
    logs: Logs,
    weights: Float[np.ndarray, " experts"] | None,
    differs: Flags,
    deviates: Flags,
    question: Question,
    size: int,
) -> Block:
    """One block, padded to `size` prefixes with its own last row, and cut again."""
    count = logs.shape[1]
    if (missing := size - count) > 0:
        logs = np.pad(logs, ((0, 0), (0, missing), (0, 0)), mode="edge")
        differs, deviates = (np.pad(flags, ((0, 0), (0, missing)), mode="edge") for flags in (differs, deviates))
    block = compose(logs[0], logs[1:], weights, differs, deviates, question.null_tokens)
    cut = {k: x[:, :count] if k in _BY_COMPONENT else x[:count] for k, x in block._asdict().items()}
    return Block(**cut)


def _in_jax(*arguments: object) -> Block:
    """`compose_block`, jitted, in float64, on JAX's default device; the answer in NumPy's arrays."""
    import jax

    with float64():
        return jax.device_get(_jitted()(*arguments))


@cache
def _jitted() -> Callable[..., Block]:
    import jax

    return jax.jit(compose_block, static_argnums=5)
