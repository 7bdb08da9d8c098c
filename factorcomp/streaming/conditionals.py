"""Do the rows of one step depend on the tokens of one block alone? Theorem 2.3 of theory.md, number by number.

Where the numbers of all rows of a cell are the same the distributions are, whoever reaches them. That is looked at
before anything else, and costs what reading the tables costs; where numbers differ it proves nothing.

A prefix is split into a head and a tail, so that the rows after one head, its *subtree*, are a stretch of memory. With
the tokens *free* outside the block:

- heads that differ in free tokens alone have the same subtrees: each is compared with the first, in a core's cache;
- within the first one, the row after a free token is the row after the free token before it: the subtree is compared
  with itself, shifted.

An expert off its mask is compared with the background prefix by prefix, while the background's numbers are in the
cache: with a background whose rows are the same all over the cell that is condition I2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.enumeration.tree import digits
from factorcomp.models.rows import AbstractRows, FloatRows

Values = Float[np.ndarray, "_ vocab"]
Prefixes = Int[np.ndarray, "_"]
SUBTREE = 1 << 14
"""The least numbers of a subtree, where the step has as many: comparing them takes longer than asking for it."""
PIECE = 1 << 15
"""Numbers compared at once: those of three tables stay in a core's cache."""


@dataclass(frozen=True)
class Agreement:
    """What the numbers of one step say.

    `full`: every model gives every token a positive probability. `suspects`: the prefixes, increasing, of the cells in
    which numbers differ that condition B, I1 or I2 wants equal in law; `None`: of any. Differing proves nothing.
    """

    full: bool
    suspects: Prefixes | None

    @property
    def rows(self) -> bool:
        """Whether conditions B, I1 and I2 hold at every prefix."""
        return self.suspects is not None and len(self.suspects) == 0


def agreement(
    background: AbstractRows, experts: Sequence[AbstractRows], owner: int | None, block: Sequence[int], length: int
) -> Agreement:
    """Compares the rows after the prefixes of `length` tokens, whose next position lies in `block`.

    **Arguments:** `owner`: the expert whose mask `block` is, by its place; `None` where it is nobody's.

    >>> background = FloatRows(np.array([[0.5, 0.5], [0.5, 0.5]]), "probs")
    >>> expert = FloatRows(np.array([[0.25, 0.75], [1.0, 0.0]]), "probs")
    >>> agreement(background, [expert], owner=0, block=[0, 1], length=1).rows
    True
    >>> agreement(background, [expert], owner=0, block=[1], length=1).suspects
    array([0, 1])

    Only the numbers of float tables of one kind, all probabilities or all logs, are compared.
    """
    tables = [rows for rows in (background, *experts) if isinstance(rows, FloatRows)]
    if len(tables) <= len(experts) or not all(rows.is_like(tables[0]) for rows in tables):
        return Agreement(full=False, suspects=None)
    nothing = 0.0 if tables[0].scale == "probs" else -np.inf
    base, *own = (rows.values for rows in tables)
    judged = [base, *(values for i, values in enumerate(own) if i == owner)]
    copies = [values for i, values in enumerate(own) if i != owner]
    step = _Step(length, base.shape[1], tuple(block))
    full, suspects, classes = True, [], step.classes()
    for starts in classes:
        if step.agrees(judged, copies, starts):
            full = full and all(_positive(step.subtree(values, starts[0]), nothing) for values in judged)
        else:
            full = full and all(_positive(step.subtree(v, start), nothing) for v in (base, *own) for start in starts)
            suspects.append(step.suspects(judged, copies, starts))
    return Agreement(full, np.sort(np.concatenate(suspects)) if suspects else np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class _Step:
    """The prefixes of `length` tokens, and the positions on which the rows after them may depend."""

    length: int
    vocab: int
    block: tuple[int, ...]

    @cached_property
    def head(self) -> int:
        """The number of tokens of a head: as many as leave `SUBTREE` numbers to the tail."""
        tail = 0
        while tail < self.length and self.vocab ** (tail + 1) < SUBTREE:
            tail += 1
        return self.length - tail

    @cached_property
    def rows(self) -> int:
        """The number of rows of a subtree."""
        return self.vocab ** (self.length - self.head)

    def classes(self) -> list[list[int]]:
        """Where the subtrees start, together those whose heads differ in free tokens alone."""
        own = digits(self.head, [position for position in self.block if position < self.head], self.vocab)
        order = np.argsort(own, kind="stable")
        return [(heads * self.rows).tolist() for heads in np.split(order, np.flatnonzero(np.diff(own[order])) + 1)]

    def subtree(self, values: Values, start: int) -> Values:
        """The rows after one head."""
        return values[start : start + self.rows]

    def agrees(self, judged: Sequence[Values], copies: Sequence[Values], starts: Sequence[int]) -> bool:
        """Whether, over one class, `judged` depend on the block alone and `copies` are the first of `judged`."""
        if not all(self._depends_on_block(self.subtree(values, starts[0])) for values in judged):
            return False
        for piece in pieces(self.rows, self.vocab, PIECE):
            first = [self.subtree(values, starts[0])[piece] for values in judged]
            for start in starts:
                here = [self.subtree(values, start)[piece] for values in judged]
                if start != starts[0] and not all(map(_same, here, first)):
                    return False
                if not all(_same(self.subtree(values, start)[piece], here[0]) for values in copies):
                    return False
        return True

    def suspects(self, judged: Sequence[Values], copies: Sequence[Values], starts: Sequence[int]) -> Prefixes:
        """The prefixes of the cells of one class in which `agrees` fails."""
        odd = np.zeros(self.rows, dtype=bool)
        first = [self.subtree(values, starts[0]) for values in judged]
        for subtree in first:
            for stride, fresh in self._runs:
                odd[:-stride] |= ~((subtree[stride:] == subtree[:-stride]) | (fresh is not None and fresh)).all(axis=1)
        for start in starts:
            here = [self.subtree(values, start) for values in judged]
            pairs = [*zip(here, first, strict=True), *((self.subtree(values, start), here[0]) for values in copies)]
            for mine, other in pairs:
                odd |= ~(mine == other).all(axis=1)
        tail = digits(self.length - self.head, [s - self.head for s in self.block if s >= self.head], self.vocab)
        doubtful = np.zeros(len(odd), dtype=bool)
        doubtful[tail[odd]] = True
        return (np.array(starts)[:, None] + np.flatnonzero(doubtful[tail])).reshape(-1)

    def _depends_on_block(self, subtree: Values) -> bool:
        """Whether each row is that after the free token before, for every run of free positions of the tail."""
        for stride, fresh in self._runs:
            for piece in pieces(len(subtree) - stride, self.vocab, PIECE):
                later = slice(piece.start + stride, piece.stop + stride)
                same = subtree[piece] == subtree[later]
                if fresh is not None:
                    same |= fresh[piece]
                if not same.all():
                    return False
        return True

    @cached_property
    def _runs(self) -> list[tuple[int, Bool[np.ndarray, "_ vocab"] | None]]:
        """For each run of free positions: the rows from one of its values to the next, and which rows come with the
        first value, so that the row so far before has other tokens; `None` where there are none after the start.
        """
        runs = []
        for is_free, positions in groupby(range(self.head, self.length), lambda position: position not in self.block):
            if not is_free:
                continue
            run = list(positions)
            values, stride = self.vocab ** len(run), self.vocab ** (self.length - 1 - run[-1])
            fresh = np.arange(stride, self.rows) // stride % values == 0
            runs.append((stride, np.repeat(fresh[:, None], self.vocab, axis=1) if fresh.any() else None))
        return runs


def pieces(rows: int, vocab: int, numbers: int) -> Iterator[slice]:
    """The rows in pieces of at most so many numbers, or single."""
    step = max(1, numbers // vocab)
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _same(values: Values, others: Values) -> bool:
    return bool((values == others).all())


def _positive(values: Values, nothing: float) -> bool:
    """Whether every number stands for a positive probability."""
    return bool(values.min() > nothing)
