"""What the states of a product show about a composition, whether for every length or up to one.

Experts are meant by their place in the order given.
"""

import abc
import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.certificates.claims import Number, Question
from factorcomp.composition.search import Search
from factorcomp.finite_state.composed import compose_states
from factorcomp.finite_state.laws import Law, law_beside, law_of
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.surveys import Meeting, Progress, Sighting, Vanishing

Flags = Bool[np.ndarray, " states"]


class AbstractSeen(abc.ABC):
    """All that claims need to know, seen on the states of the product.

    Only `undefined` and `states` have a meaning where the composition is undefined in scope. Probabilities are `None`
    where no method finds them.
    """

    def __init__(
        self,
        background: FiniteStateModel,
        experts: Mapping[str, FiniteStateModel],
        question: Question,
        progress: Progress | None = None,
        depth: int | None = None,
    ):
        """`depth`: the longest prefixes looked at."""
        self.background, self.experts, self.question = background, experts, question
        self.composed = compose_states(background, experts, question, depth=depth, progress=progress)
        self.product = self.composed.product

    @abc.abstractmethod
    def probability_to_meet(self, flags: Flags) -> Number | None:
        """The probability that the composition meets one of these states."""

    @property
    @abc.abstractmethod
    def conflict(self) -> Meeting:
        """Two experts are active."""

    @property
    def states(self) -> int:
        """The number of states of the product in scope."""
        return len(self.product)

    def sighting(self, state: int, experts: Flags | None = None) -> Sighting:
        """The first prefix that leads to a state, with the experts that are marked."""
        return self.sighting_of(self.product.search, state, self.product.search.path(state), experts)

    def sighting_of(self, search: Search, place: int, path: list[int], experts: Flags | None) -> Sighting:
        """The first prefix of a place of a search; `path`: the states of the product that it passes."""
        who = () if experts is None else tuple(int(i) for i in np.flatnonzero(experts))
        probability = math.exp(self.composed.log_probability(path[:-1], search.tokens(place)))
        return Sighting(len(path) - 1, search.index(place), probability, who)

    def sighting_at(self, tokens: Sequence[int]) -> Sighting:
        """A prefix that the composition can reach, by its tokens."""
        passed, index = [0], 0
        for token in tokens:
            passed.append(int(self.product.followed[passed[-1], token]))
            index = index * len(self.background.vocabulary) + token
        return Sighting(len(tokens), index, math.exp(self.composed.log_probability(passed[:-1], tokens)))

    def _first(self, flags: Flags, who: Bool[np.ndarray, "experts states"] | None = None) -> Sighting | None:
        if not flags.any():
            return None
        state = int(flags.argmax())
        return self.sighting(state, None if who is None else who[:, state])

    @cached_property
    def undefined(self) -> Meeting:
        """The prefixes at which the composition is undefined."""
        return self._meeting(self.product.broken)

    def _meeting(self, flags: Flags, who: Bool[np.ndarray, "experts states"] | None = None) -> Meeting:
        if not flags.any():
            return Meeting(None, 0.0)
        return Meeting(self._first(flags, who), self.probability_to_meet(flags))

    @cached_property
    def overlap(self) -> Meeting:
        """Two experts deviate (Theorem 7.3)."""
        deviates = self.composed.deviates
        return self._meeting(deviates.sum(axis=0) > 1, deviates)

    @cached_property
    def normalizer(self) -> Vanishing:
        """`log Z`."""
        return self._vanishing(self.composed.log_normalizer)

    @cached_property
    def switching(self) -> Vanishing:
        """The distance to the nearest component."""
        return self._vanishing(self.composed.nearest_tv)

    def _vanishing(self, value: Float[np.ndarray, " states"]) -> Vanishing:
        composed, size = self.composed, np.abs(value)
        certain = ~(size <= composed.error)
        unsure = ~certain & ~composed.settled
        return Vanishing(self._first(certain, composed.deviates), self._first(unsure), float(size.max(initial=0.0)))

    @property
    def ended(self) -> Flags:
        """The states at which the sequence has ended: one at most."""
        end = NOWHERE - 1 if self.background.ended is None else self.background.ended
        return self.product.members[0] == end

    def law(self, i: int) -> Law:
        """The law of the background (0), or of expert i - 1, tilted by its weight."""
        if i == 0:
            return law_of(self.background)
        name = list(self.experts)[i - 1]
        return law_beside(self.background, self.experts[name], self.question.weight(name))

    def rows(self) -> Int[np.ndarray, " states"]:
        """A number for each state that is the same where all models' rows have the same log-probabilities as given."""
        models, members = [self.background, *self.experts.values()], self.product.members
        number = np.zeros(self.states, dtype=np.int64)
        for model, states in zip(models, members, strict=True):
            places = np.arange(model.rows.shape[0])
            logs = model.rows.log_probs(0, len(places))
            _, first, row = np.unique(logs, axis=0, return_index=True, return_inverse=True)
            row = row.reshape(-1)
            same = model.rows.identical(places, model.rows, first[row])
            row = np.where(same, row, len(first) + places)
            _, number = np.unique(number * (len(first) + len(places)) + row[states], return_inverse=True)
        return number
