"""A model as a table: one row of next-token probabilities for every prefix shorter than its horizon."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from factorcomp.models.rows import AbstractRows


@dataclass(frozen=True)
class Source:
    """Where a model comes from: its name, the digest of its file, and what a reader must know about how it was read."""

    name: str
    sha256: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TabularModel:
    """An autoregressive model for sequences of at most `horizon` tokens, by its rows.

    `steps[t]` holds the `|V|^t` rows after the prefixes of length `t`, in the order of `vocabulary`, first token most
    significant. `eos` ends a sequence: after it, only it.
    """

    vocabulary: tuple[str, ...]
    steps: tuple[AbstractRows, ...]
    eos: str | None = None
    source: Source = field(default_factory=lambda: Source("in memory"))

    @property
    def horizon(self) -> int:
        """The number of steps."""
        return len(self.steps)

    def truncated(self, length: int) -> "TabularModel":
        """The same model up to `length` tokens."""
        return replace(self, steps=self.steps[:length])

    def aligned(self, vocabulary: Sequence[str]) -> "TabularModel":
        """The same model with its tokens in the order of `vocabulary`, which must hold the same tokens."""
        if tuple(vocabulary) == self.vocabulary:
            return self
        tokens = [self.vocabulary.index(token) for token in vocabulary]
        prefixes = np.zeros(1, dtype=np.int64)
        steps = []
        for rows in self.steps:
            steps.append(rows.take(prefixes, tokens))
            prefixes = (prefixes[:, None] * len(tokens) + np.array(tokens, dtype=np.int64)).reshape(-1)
        return replace(self, vocabulary=tuple(vocabulary), steps=tuple(steps))
