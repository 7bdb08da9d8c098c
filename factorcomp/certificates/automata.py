"""A finite-state model as the kernel takes it: a row for each state, and the state after each token."""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.models import Entry, Model, check_tokens

MOST_ROWS = 2**20


@dataclass(frozen=True)
class Automaton:
    """An autoregressive model for every length: the row after a prefix is that of the state to which it leads.

    **Fields:** `vocabulary`, `eos`, `scale`, `sha256`: as of a `Model`. `states`: their names. `initial`: the place of
    the first one. `rows[q]`: the row of state q. `next[q][y]`: the place of the state after token y, `None` where there
    is none: of the longer prefix the model says nothing (a gap). What stands there for EOS is of no account.

    Source: theory.md, section 7.
    """

    vocabulary: tuple[str, ...]
    eos: str | None
    states: tuple[str, ...]
    initial: int
    rows: tuple[tuple[Entry, ...], ...]
    next: tuple[tuple[int | None, ...], ...]
    scale: Literal["probs", "logs"] = "probs"
    sha256: str | None = field(default=None, compare=False)

    @property
    def ended(self) -> int:
        """The place of one state more, in which the sequence has ended: EOS leads there, and every token from there."""
        return len(self.states)

    @cached_property
    def leads(self) -> tuple[tuple[int | None, ...], ...]:
        """`next`, with the state in which the sequence has ended."""
        ends = [token == self.eos for token in self.vocabulary]
        inside = (tuple(self.ended if end else q for end, q in zip(ends, row, strict=True)) for row in self.next)
        return (*inside, (self.ended,) * len(ends))

    @cached_property
    def kernels(self) -> tuple[tuple[Entry, ...], ...]:
        """`rows`, with that of the state in which the sequence has ended."""
        everything, nothing = (Fraction(1), Fraction(0)) if self.scale == "probs" else (0.0, -math.inf)
        return (*self.rows, tuple(everything if token == self.eos else nothing for token in self.vocabulary))

    def aligned(self, vocabulary: tuple[str, ...], eos: str | None, name: str) -> "Automaton":
        """The same model over the same tokens in the order of `vocabulary`. `name` is for the error."""
        check_tokens((self.vocabulary, self.eos), vocabulary, eos, name)
        if self.vocabulary == vocabulary:
            return self
        places = [self.vocabulary.index(token) for token in vocabulary]
        rows, following = (tuple(tuple(row[y] for y in places) for row in table) for table in (self.rows, self.next))
        return replace(self, vocabulary=vocabulary, rows=rows, next=following)

    def unrolled(self, length: int) -> Model:
        """The table of the rows after every prefix shorter than `length`; `None` where the model says nothing.

        **Raises** `KernelError` beyond `MOST_ROWS` rows.
        """
        count = 0
        for t in range(length):
            count += len(self.vocabulary) ** t
            if count > MOST_ROWS:
                needed = f"at most {MOST_ROWS}: a shorter length, or every length"
                raise KernelError(f"got a table of more than {MOST_ROWS} rows for the length {length}, needed {needed}")
        steps, level = [], [self.initial]
        nowhere = (None,) * len(self.vocabulary)
        for _ in range(length):
            steps.append(tuple(None if q is None else self.kernels[q] for q in level))
            level = [after for q in level for after in (nowhere if q is None else self.leads[q])]
        return Model(self.vocabulary, self.eos, tuple(steps), self.scale, self.sha256)
