"""What is seen of one length, however great: two scans over time, each linear in the length. Source: theory.md 3, 8.

Backwards nothing but a distance is needed: an expert is alive at a prefix of t tokens iff a deviation lies at most
`T - 1 - t` steps ahead. Forwards the mass of the composition is carried from state to state (forward.py).
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.certificates.claims import Number, Question
from factorcomp.composition import graph
from factorcomp.composition.search import Members, Search, breadth_first
from factorcomp.finite_state.forward import Forward, carry_forward, probability_to_meet
from factorcomp.finite_state.globally import Comparison, compare
from factorcomp.finite_state.lengths import first_path, following_states, states_after
from factorcomp.finite_state.phases import bits_of
from factorcomp.finite_state.seen import AbstractSeen, Flags
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.surveys import Meeting, Progress, Sighting


class AtLength(AbstractSeen):
    """What is seen of sequences of `question.horizon` tokens, at least one."""

    def __init__(
        self,
        background: FiniteStateModel,
        experts: Mapping[str, FiniteStateModel],
        question: Question,
        progress: Progress | None = None,
    ):
        self.length = question.horizon
        super().__init__(background, experts, question, progress, depth=self.length - 1)

    def probability_to_meet(self, flags: Flags) -> float | None:
        for met, known in zip(self._sets, self.forward.met, strict=True):
            if met is flags or np.array_equal(met, flags):
                return known
        return carry_forward(self.composed.transitions, [flags], self.length, self.ended).met[0]

    @cached_property
    def _sets(self) -> list[Flags]:
        """The sets of states of which it is asked how probable it is to meet them."""
        deviates = self.composed.deviates
        return [*deviates, np.asarray(deviates.sum(axis=0) > 1), np.asarray(deviates.any(axis=0))]

    @cached_property
    def forward(self) -> Forward:
        """The forward scan."""
        return carry_forward(self.composed.transitions, self._sets, self.length, self.ended, self.ahead)

    @property
    def ahead(self) -> Int[np.ndarray, "experts states"]:
        """From each state the fewest steps to a deviation of each expert, -1 where there is none."""
        return self.composed.ahead

    @cached_property
    def begun(self) -> Search:
        """The states together with the experts that have deviated and can again (as bits), within the length."""
        following, deviates, ahead = self.product.search.next, self.composed.deviates, self.ahead
        deviating, able = bits_of(deviates), bits_of(ahead >= 0)

        def expand(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "parts _ vocab"]]:
            state, bits = members
            after = following[state]
            return after != NOWHERE, np.stack([after, able[after] & (bits[:, None] | deviating[after])])

        start = (0, int(deviating[0]))
        return breadth_first(start, [len(following), 1 << len(deviates)], expand, depth=self.length - 1)

    @cached_property
    def _second(self) -> Int[np.ndarray, " places"]:
        """At each place of `begun` the steps within which a second expert's deviation lies ahead, or very many."""
        state, bits = self.begun.members
        experts = np.arange(len(self.ahead))[:, None]
        steps = np.where((bits >> experts) & 1 == 1, self.ahead[:, state], self.length)
        if len(steps) < 2:
            return np.full(len(state), self.length)
        return np.partition(steps, 1, axis=0)[1]

    @cached_property
    def conflict(self) -> Meeting:
        """Two experts are active: both have deviated, and will be able to within the length.

        The first time that a place can be reached is the time at which most is active there.
        """
        depth = self.begun.depth
        failing = depth + self._second <= self.length - 1
        if not failing.any():
            return Meeting(None, 0.0)
        place = int(failing.argmax())
        state, bits = self.begun.members
        path = state[self.begun.path(place)].tolist()
        left = self.length - 1 - int(depth[place])
        active = ((int(bits[place]) >> np.arange(len(self.ahead))) & 1 == 1) & (self.ahead[:, state[place]] <= left)
        return Meeting(self.sighting_of(self.begun, place, path, active), self._conflict_probability())

    def _conflict_probability(self) -> float | None:
        """The mass that meets a conflict: of two experts from the forward scan, if it is sure of it; otherwise followed
        from place to place of `begun`, where two experts have begun and both deviations lie near enough ahead."""
        if self.forward.conflict is not None:
            return self.forward.conflict
        state = self.begun.members[0]
        followed = np.where(self.product.support[state], self.begun.next, NOWHERE)
        chain = graph.matrix(followed, np.exp(self.composed.log_probs)[state])
        return probability_to_meet(chain, np.where(self._second < self.length, self._second, -1), self.length)

    @cached_property
    def alike(self) -> bool:
        """Whether `Z(h)` certainly depends on the length of h alone; then both compositions are one (1.5 (2))."""
        composed, followed = self.composed, self.product.followed
        if composed.settled[self.product.reachable].all():
            return True
        kind, level = np.where(composed.settled, -1, self.rows()), np.arange(self.states) == 0
        seen = set()
        for _ in range(self.length):
            if len(np.unique(kind[level])) > 1:
                return False
            key = np.packbits(level).tobytes()
            if key in seen:
                return True
            seen.add(key)
            level = following_states(followed, level)
        return True

    @cached_property
    def comparison(self) -> Comparison:
        """Of the sequence-level composition with the stepwise one."""
        return compare(self.composed, self.length)

    # measures

    def activity(self, i: int) -> float | None:
        """The probability that an expert deviates at some prefix."""
        return self.forward.met[i]

    def active_steps(self, i: int) -> float | None:
        """The expected number of prefixes at which an expert is active."""
        return self.forward.steps[i]

    @cached_property
    def unended(self) -> float | None:
        """The mass that has not ended within the length."""
        if self.forward.last is None:
            return None
        eos = self.background.eos_index
        goes_on = np.where(np.arange(len(self.background.vocabulary)) == eos, 0.0, np.exp(self.composed.log_probs))
        return float(self.forward.last @ np.where(self.ended, 0.0, goes_on.sum(axis=1)))

    @property
    def ends(self) -> bool:
        """Whether all mass has ended within the length."""
        going = self.product.reachable & ~self.ended & (self.product.search.depth <= self.length - 1)
        at_the_end = self.last_states & going
        eos = np.arange(len(self.background.vocabulary)) == self.background.eos_index
        return not (self.product.support & ~eos)[at_the_end].any()

    @cached_property
    def last_states(self) -> Flags:
        """The states that prefixes of exactly one token less than the length lead to under the composition."""
        return states_after(self.product.followed, self.length - 1)

    @cached_property
    def endless(self) -> Sighting | None:
        """The first prefix from which EOS cannot be reached within the length."""
        followed, ended = self.product.followed, self.ended
        stopping = self.product.support[:, self.background.eos_index or 0] & ~ended
        ahead = graph.steps_from(graph.matrix(followed).T.tocsr(), np.flatnonzero(stopping | ended))
        needed = np.where(ended, 0, np.where(ahead < 0, self.length + 1, ahead + 1))
        level = np.arange(self.states) == 0
        for t in range(self.length):
            late = level & (needed > self.length - t)
            if late.any():
                tokens = first_path(followed, late, t)
                return None if tokens is None else self.sighting_at(tokens)
            level = following_states(followed, level)
        return None

    def expected_length(self, of: int | None = None) -> Number | None:
        """The expected length, cut at the horizon: of the composition, the background (0) or expert i (i + 1)."""
        if of is None:
            return self.forward.going
        law = self.law(of)
        ended = law.ended(self.background.eos_index or 0)
        return carry_forward(law.chain, [], self.length, ended).going

    def runs(self, i: int) -> int:
        """The most separate runs of deviation on a path (3.6)."""
        return most_runs_within(self.product.search.next, self.composed.deviates[i], self.length)


def most_runs_within(following: Int[np.ndarray, "states vocab"], flags: Flags, length: int) -> int:
    """The most separate runs of consecutive flags on a path of `length` prefixes.

    From state to state the most runs so far are carried on. Once they are everywhere by so many more what they were
    before, they go on growing in the same way.
    """
    origin, token = np.nonzero(following != NOWHERE)
    led = following[origin, token]
    order = np.argsort(led, kind="stable")
    origin, led = origin[order], led[order]
    begins = flags[led] & ~flags[origin]
    target, start = np.unique(led, return_index=True)
    never = -2 * length - 2
    runs = np.full(len(following), never)
    runs[0] = int(flags[0])
    tops: list[int] = []
    seen: dict[bytes, int] = {}
    for t in range(length):
        top = int(runs.max())
        first = seen.setdefault(np.where(runs < 0, -1, top - runs).tobytes(), t)
        if first < t:
            again, rest = divmod(length - 1 - first, t - first)
            return tops[first + rest] + again * (top - tops[first])
        tops.append(top)
        after = np.full(len(following), never)
        after[target] = np.maximum.reduceat(runs[origin] + begins, start)
        runs = np.where(after < 0, never, after)
    return tops[-1]
