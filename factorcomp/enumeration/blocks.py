"""A level composed block by block, so that all that is made of a block stays in cache."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from factorcomp.certificates.claims import Question
from factorcomp.composition.block import Block, compose_block
from factorcomp.models.rows import AbstractRows

NUMBERS_PER_BLOCK = 1 << 16
"""The numbers of one model in a block."""
_BY_COMPONENT = {"components", "expert_tv"}

Flags = Bool[np.ndarray, "experts prefixes"]


def compose_level(
    rows: Sequence[AbstractRows], weights: Sequence[Fraction], differs: Flags, deviates: Flags, question: Question
) -> Block:
    """`compose_block` for all prefixes of one length. `rows`: of the background, then of the experts."""
    prefixes, vocab = rows[0].shape
    floats = None if set(weights) == {1} else np.array([float(weight) for weight in weights])
    size = max(1, NUMBERS_PER_BLOCK // vocab)
    blocks = []
    for start in range(0, prefixes, size):
        part = slice(start, min(start + size, prefixes))
        logs = np.stack([r.log_probs(part.start, part.stop).T for r in rows]).transpose(0, 2, 1)
        flags = differs[:, part], deviates[:, part]
        blocks.append(compose_block(logs[0], logs[1:], floats, *flags, question.null_tokens))
    if len(blocks) == 1:
        return blocks[0]
    axes = [int(name in _BY_COMPONENT) for name in Block._fields]
    return Block(
        *(np.concatenate(parts, axis=axis) for parts, axis in zip(zip(*blocks, strict=True), axes, strict=True))
    )
