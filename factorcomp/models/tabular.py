"""A model as a table: one row of next-token probabilities for every prefix shorter than its horizon."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from factorcomp.models.building import exact_steps, float_steps, is_float_array
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
    significant. `eos` ends a sequence: after it, only it. `gaps[t]` marks the prefixes of which the model says nothing,
    whatever their rows (a finite-state model without a next state); `None` where it says something of all.
    """

    vocabulary: tuple[str, ...]
    steps: tuple[AbstractRows, ...]
    eos: str | None = None
    source: Source = field(default_factory=lambda: Source("in memory"))
    gaps: tuple[Bool[np.ndarray, "_"], ...] | None = None

    @classmethod
    def from_probabilities(
        cls, steps: Sequence[Any], vocabulary: Sequence[str], eos: str | None = None, name: str = "in memory"
    ) -> "TabularModel":
        """A table of probabilities: `steps[t]` is nested lists or an array, `[|V|^t, |V|]` or `(|V|,)*t + (|V|,)`.

        Lists hold exact numbers: integers, `Fraction`, strings `"p/q"`, and floats, which are dyadic fractions (0.1 is
        not 1/10; `"1/10"` is). Where every step is an array of floats these are kept as they are.

        >>> model = TabularModel.from_probabilities([["1/2", "1/2"], [[1, 0], [0.25, 0.75]]], ["a", "b"])
        >>> model.steps[1].exact(1).factors
        (Fraction(1, 4), Fraction(3, 4))

        **Raises:** `InputError`, with every problem: a row of exact numbers must sum to 1, one that holds floats within
        1e-6 (it is then renormalised, and `source.notes` says so where that is more than rounding).
        """
        steps = list(steps)
        if steps and all(is_float_array(rows) for rows in steps):
            rows, notes = float_steps(steps, vocabulary, eos, name, "probs")
        else:
            rows, notes = exact_steps(steps, vocabulary, eos, name)
        return cls(tuple(vocabulary), rows, eos, Source(name, notes=notes))

    @classmethod
    def from_log_probs(
        cls, steps: Sequence[Any], vocabulary: Sequence[str], eos: str | None = None, name: str = "in memory"
    ) -> "TabularModel":
        """A table of log-probabilities: float arrays (kept as they are) or nested lists, shaped as above.

        >>> import numpy as np
        >>> model = TabularModel.from_log_probs([np.log([0.5, 0.5])], ["a", "b"])
        >>> model.steps[0].shape
        (1, 2)

        **Raises:** `InputError`, with every problem: NaN, +inf, a row whose exponentials do not sum to 1 within 1e-6.
        """
        rows, notes = float_steps(list(steps), vocabulary, eos, name, "log_probs")
        return cls(tuple(vocabulary), rows, eos, Source(name, notes=notes))

    @property
    def horizon(self) -> int:
        """The number of steps."""
        return len(self.steps)

    def says_nothing(self, length: int, index: int) -> bool:
        """Whether the prefix of `length` tokens with this index is a gap."""
        return self.gaps is not None and bool(self.gaps[length][index])

    def truncated(self, length: int) -> "TabularModel":
        """The same model up to `length` tokens."""
        return replace(self, steps=self.steps[:length], gaps=self.gaps and self.gaps[:length])

    def aligned(self, vocabulary: Sequence[str]) -> "TabularModel":
        """The same model with its tokens in the order of `vocabulary`, which must hold the same tokens."""
        if tuple(vocabulary) == self.vocabulary:
            return self
        places = {token: place for place, token in enumerate(self.vocabulary)}
        tokens = [places[token] for token in vocabulary]
        prefixes = np.zeros(1, dtype=np.int64)
        steps, gaps = [], []
        for t, rows in enumerate(self.steps):
            steps.append(rows.take(prefixes, tokens))
            gaps += [self.gaps[t][prefixes]] if self.gaps else []
            prefixes = (prefixes[:, None] * len(tokens) + np.array(tokens, dtype=np.int64)).reshape(-1)
        return replace(self, vocabulary=tuple(vocabulary), steps=tuple(steps), gaps=self.gaps and tuple(gaps))
