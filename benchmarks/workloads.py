"""The models that are timed: three tables of conditionals, float64, and the masks of the two experts.

`factorized`: every block of positions has its own law, so that every claim is decided and the answers are known: on its
mask each expert is projective, and the intervals meet on every path. `entangled`: the experts deviate at random
prefixes, so that no answer is trivial; it is for checking, not for timing.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Size = tuple[int, int]
"""|V| and the length T."""
SIZES: tuple[Size, ...] = ((3, 8), (4, 10), (8, 8), (4, 12), (2, 20))
QUICK: tuple[Size, ...] = ((4, 10), (8, 8), (4, 12))
Table = list[Float[np.ndarray, "prefixes vocab"]]
"""`table[t][h, y] = p(y | h)` for the prefixes `h` of length `t`, the first token most significant."""


@dataclass(frozen=True)
class Case:
    """A background, two experts, and the experts' masks."""

    vocab: int
    length: int
    background: Table
    experts: tuple[Table, Table]
    masks: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def bytes(self) -> int:
        """The size of the three tables: what any engine must read once."""
        return sum(rows.nbytes for table in (self.background, *self.experts) for rows in table)

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """The masks, and the positions of no expert."""
        owned = {position for mask in self.masks for position in mask}
        return (*self.masks, tuple(t for t in range(self.length) if t not in owned))

    def outside(self, mask: tuple[int, ...]) -> tuple[int, ...]:
        """The positions not in the mask."""
        return tuple(t for t in range(self.length) if t not in mask)


def masks(length: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Interleaved: every third position from 0, and from 1."""
    return tuple(range(0, length, 3)), tuple(range(1, length, 3))


def factorized(vocab: int, length: int, seed: int = 0) -> Case:
    """Each conditional looks at the prefix's tokens on its own block (positions modulo 3); experts differ on theirs."""
    rng = np.random.default_rng(seed)
    tables: tuple[Table, Table, Table] = ([], [], [])
    for t in range(length):
        cells = [vocab if s % 3 == t % 3 else 1 for s in range(t)]
        base, other = (_rows(rng, math.prod(cells), vocab) for _ in range(2))
        for model, table in enumerate(tables):
            rows = other if model == t % 3 + 1 else base
            spread = np.broadcast_to(rows.reshape(*cells, vocab), (vocab,) * (t + 1))
            table.append(np.ascontiguousarray(spread).reshape(vocab**t, vocab))
    return Case(vocab, length, tables[0], tables[1:], masks(length))


def entangled(vocab: int, length: int, seed: int = 0, share: float = 0.2) -> Case:
    """Random conditionals; each expert differs from the background at a random `share` of the prefixes."""
    rng = np.random.default_rng(seed)
    background = [_rows(rng, vocab**t, vocab) for t in range(length)]

    def expert() -> Table:
        deviates = [rng.random((len(rows), 1)) < share for rows in background]
        return [np.where(d, _rows(rng, len(d), vocab), rows) for d, rows in zip(deviates, background, strict=True)]

    return Case(vocab, length, background, (expert(), expert()), masks(length))


def _rows(rng: np.random.Generator, count: int, vocab: int) -> Float[np.ndarray, "count vocab"]:
    """Random distributions, no probability near 0."""
    rows = rng.random((count, vocab)) + 0.1
    return rows / rows.sum(axis=1, keepdims=True)
