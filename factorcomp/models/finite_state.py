"""A model with finitely many states: the row after a prefix is that of the state to which the prefix leads.

Source: theory.md, section 7.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.models import memory
from factorcomp.models.automata_building import NOWHERE as NOWHERE
from factorcomp.models.automata_building import exact_automaton
from factorcomp.models.function import table_size
from factorcomp.models.rows import AbstractRows
from factorcomp.models.tabular import Source, TabularModel


@dataclass(frozen=True)
class FiniteStateModel:
    """An autoregressive model for sequences of every length: a deterministic automaton with a row for each state.

    After the prefix `y_1 … y_t` the state is `q_t = next[q_{t-1}, y_t]`, `q_0 = initial`, and the next token has the
    distribution `rows[q_t]`. Where `next` is `NOWHERE` the model says nothing of longer prefixes; that is allowed for
    tokens of probability 0 alone. With an EOS there is one state more than `states` names, the last one: the sequence
    has ended, and only EOS can follow. EOS leads there from every state, and so does every token from there.

    **Fields:** `states`: their names. `rows`: `[states, vocab]`. `next`: `[states, vocab]`, places of states. `labels`:
    sets of states with a name, for those who check the model elsewhere: of a composition where experts deviate.
    """

    vocabulary: tuple[str, ...]
    states: tuple[str, ...]
    initial: int
    rows: AbstractRows
    next: Int[np.ndarray, "states vocab"]
    eos: str | None = None
    source: Source = field(default_factory=lambda: Source("in memory"))
    labels: Mapping[str, Bool[np.ndarray, " states"]] = field(default_factory=dict)

    @classmethod
    def from_states(
        cls,
        states: Mapping[Any, Any],
        vocabulary: Sequence[str],
        initial: str,
        eos: str | None = None,
        name: str = "in memory",
    ) -> "FiniteStateModel":
        """A model by its states: a name -> `{"probabilities": {token: number}, "next": {token: name}}`.

        Numbers are exact, as in `TabularModel.from_probabilities`; a token left out has probability 0. `next` is needed
        for every token of positive probability but EOS, and may be given for others.

        >>> flip = {"probabilities": {"a": "1/3", "b": "2/3"}, "next": {"a": "odd", "b": "even"}}
        >>> odd = {"probabilities": {"a": 1}, "next": {"a": "even"}}
        >>> model = FiniteStateModel.from_states({"even": flip, "odd": odd}, ["a", "b"], "even")
        >>> model.next.tolist()
        [[1, 0], [0, -1]]

        **Raises:** `InputError`, with every problem, as the reader of files.
        """
        states_, place, rows, following, notes = exact_automaton(states, vocabulary, initial, eos, name)
        return cls(tuple(vocabulary), states_, place, rows, following, eos, Source(name, notes=notes))

    @property
    def ended(self) -> int | None:
        """The place of the state in which the sequence has ended; `None` without EOS."""
        return None if self.eos is None else len(self.states)

    @property
    def eos_index(self) -> int | None:
        """The place of EOS in the vocabulary."""
        return None if self.eos is None else self.vocabulary.index(self.eos)

    def path(self, tokens: Sequence[int]) -> list[int]:
        """The states after no, one, two, … of these tokens (by their places), up to where the model says nothing."""
        passed = [self.initial]
        for token in tokens:
            following = int(self.next[passed[-1], token])
            if following == NOWHERE:
                break
            passed.append(following)
        return passed

    def aligned(self, vocabulary: Sequence[str]) -> "FiniteStateModel":
        """The same model with its tokens in the order of `vocabulary`, which must hold the same tokens."""
        if tuple(vocabulary) == self.vocabulary:
            return self
        places = {token: place for place, token in enumerate(self.vocabulary)}
        tokens = [places[token] for token in vocabulary]
        rows = self.rows.take(np.arange(self.rows.shape[0]), tokens)
        return replace(self, vocabulary=tuple(vocabulary), rows=rows, next=self.next[:, tokens])

    def tabulate(self, length: int) -> TabularModel:
        """The table of the rows after every prefix shorter than `length`.

        Prefixes of which the model says nothing are the table's `gaps`; their rows mean nothing.

        **Raises:** `InputError` if the table does not fit into memory, before anything is computed.
        """
        vocab = len(self.vocabulary)
        memory.require(table_size(vocab, length), self.source.name, f"a table of {length} steps for {vocab} tokens")
        states = np.array([self.initial])
        steps, gaps = [], []
        for _ in range(length):
            gaps.append(states == NOWHERE)
            steps.append(self.rows.take(np.maximum(states, 0), range(vocab)))
            states = np.where(states[:, None] == NOWHERE, NOWHERE, self.next[states]).reshape(-1)
        known = tuple(gaps) if any(gap.any() for gap in gaps) else None
        return TabularModel(self.vocabulary, tuple(steps), self.eos, self.source, known)
