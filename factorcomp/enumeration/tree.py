"""Walks over the tree of prefixes, level by level.

Prefix `h` of a level has the children `h V … h V + V - 1` of the next. Flags and numbers come as one array per level,
from the root on; the last axis is the prefixes.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from factorcomp.certificates.claims import Spans, Tokens

# Lists of levels hold arrays of different lengths: "_" is a dimension that is not compared.
Flags = Bool[np.ndarray, "..."]
PrefixFlags = Bool[np.ndarray, "_"]
ExpertFlags = Bool[np.ndarray, "experts _"]


def to_children(values: Shaped[np.ndarray, "*groups prefixes"], vocab: int) -> Shaped[np.ndarray, "*groups longer"]:
    """Hands each prefix's value to its children."""
    return np.repeat(values, vocab, axis=-1)


def seen(flags: Sequence[Flags], vocab: int) -> list[Flags]:
    """Whether a flag is up at the prefix or at one of its own prefixes."""
    up = [flags[0]] if flags else []
    for level in flags[1:]:
        up.append(level | to_children(up[-1], vocab))
    return up


def ahead(flags: Sequence[Flags], vocab: int) -> list[Flags]:
    """Whether a flag is up at the prefix or at one of its extensions."""
    up = [flags[-1]] if flags else []
    for level in reversed(flags[:-1]):
        up.append(level | up[-1].reshape(*level.shape, vocab).any(axis=-1))
    return up[::-1]


def first_met(flags: Sequence[PrefixFlags], vocab: int) -> list[PrefixFlags]:
    """The flags that are the first on their path."""
    met = seen(flags, vocab)
    return [*flags[:1], *(flag & ~to_children(before, vocab) for flag, before in zip(flags[1:], met, strict=False))]


def most_runs(flags: Sequence[PrefixFlags], vocab: int) -> int:
    """The most separate runs of consecutive flags on a path (theory.md 3.6)."""
    most, runs, last = 0, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)
    for level in flags:
        runs = runs + (level & ~last)
        most = max(most, int(runs.max()))
        runs, last = to_children(runs, vocab), to_children(level, vocab)
    return most


def spans(flags: Bool[np.ndarray, " prefixes"]) -> Spans:
    """The indices of the flags that are up, as half-open ranges."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    return tuple((int(start), int(stop)) for start, stop in edges.reshape(-1, 2))


def digits(length: int, positions: Sequence[int], vocab: int) -> Shaped[np.ndarray, " prefixes"]:
    """For every prefix of `length` tokens the index of its tokens at `positions` (increasing), read as one number."""
    index = np.zeros(1, dtype=np.int64)
    for position in range(length):
        if position in positions:
            index = (index[:, None] * vocab + np.arange(vocab)).reshape(-1)
        else:
            index = to_children(index, vocab)
    return index


def digits_of(
    prefixes: Int[np.ndarray, " some"], length: int, positions: Sequence[int], vocab: int
) -> Int[np.ndarray, " some"]:
    """The same index for some of the prefixes.

    >>> digits_of(np.array([0b0100, 0b1101]), 4, [1, 3], vocab=2)
    array([2, 3])
    """
    index = np.zeros_like(prefixes)
    for position in positions:
        if position < length:
            index = index * vocab + prefixes // vocab ** (length - 1 - position) % vocab
    return index


def tokens_of(index: int, length: int, vocab: int) -> tuple[int, ...]:
    """The tokens of the prefix with this index."""
    tokens = []
    for _ in range(length):
        index, token = divmod(index, vocab)
        tokens.append(token)
    return tuple(reversed(tokens))


def index_of(tokens: Sequence[int], vocab: int) -> int:
    """The index of the prefix with these tokens.

    >>> index_of((0, 1, 1, 0), vocab=2), tokens_of(6, 4, vocab=2)
    (6, (0, 1, 1, 0))
    """
    index = 0
    for token in tokens:
        index = index * vocab + token
    return index


def spelled(index: int, length: int, vocabulary: Sequence[str]) -> Tokens:
    """The prefix of `length` tokens with this index, as strings."""
    return tuple(vocabulary[y] for y in tokens_of(index, length, len(vocabulary)))


def log_sum(logs: Float[np.ndarray, " terms"]) -> float:
    """`log sum exp`, -inf for no terms."""
    top = logs.max(initial=-np.inf)
    return float(top + np.log(np.exp(logs - top).sum())) if np.isfinite(top) else float(top)
