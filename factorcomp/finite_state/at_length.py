"""What is seen of one length, however great: two scans over time, each linear in the length. Source: theory.md 3, 8.

Backwards nothing but a distance is needed: an expert is alive at a prefix of t tokens iff a deviation lies at most
`T - 1 - t` steps ahead. Forwards the mass of the composition is carried from state to state, in several columns: all of
it, and what of it has not yet met one set of states or another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from factorcomp.certificates.claims import Number, Question
from factorcomp.composition import graph
from factorcomp.composition.search import Members, Search, breadth_first
from factorcomp.finite_state.carrying import carry
from factorcomp.finite_state.globally import Comparison, compare
from factorcomp.finite_state.lengths import first_path, following_states, states_after
from factorcomp.finite_state.phases import bits_of
from factorcomp.finite_state.seen import AbstractSeen, Flags
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.surveys import Meeting, Progress, Sighting


@dataclass(frozen=True)
class Forward:
    """What the mass of the composition meets on its way, with or without what follows.

    **Fields:** `met[s]`: the probability to meet the set s. `steps[i]`: the expected number of active steps of expert
    i. `conflict`: of two experts, the probability that both are active at some prefix. `going`: the expected number of
    prefixes, shorter than the length, that have not ended. `last`: the mass at each state one token before the end.
    """

    met: Float[np.ndarray, " sets"]
    steps: Float[np.ndarray, " experts"]
    conflict: float
    going: float
    last: Float[np.ndarray, " states"]


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

    def probability_to_meet(self, flags: Flags) -> float:
        for met, known in zip(self._sets, self.forward.met, strict=True):
            if met is flags or np.array_equal(met, flags):
                return float(known)
        return float(_forward(self.composed.transitions, [flags], self.length, self.ended).met[0])

    @cached_property
    def _sets(self) -> list[Flags]:
        """The sets of states of which it is asked how probable it is to meet them."""
        deviates = self.composed.deviates
        return [*deviates, np.asarray(deviates.sum(axis=0) > 1), np.asarray(deviates.any(axis=0))]

    @cached_property
    def forward(self) -> Forward:
        """The forward scan."""
        return _forward(self.composed.transitions, self._sets, self.length, self.ended, self.ahead)

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

    def _conflict_probability(self) -> float:
        """The mass that meets a conflict, of two experts with their columns in the forward scan.

        Of more it is followed from place to place: as long as every deviation ahead lies within the length it meets
        each place at which two experts have begun, and at the end only those with both deviations near enough.
        """
        if len(self.ahead) == 2:
            return self.forward.conflict
        state = self.begun.members[0]
        followed = np.where(self.product.support[state], self.begun.next, NOWHERE)
        flow = graph.matrix(followed, np.exp(self.composed.log_probs)[state]).T.tocsr()
        far = int(self._second.max(initial=0, where=self._second < self.length))
        always = self._second < self.length
        start, outside = np.zeros((len(state), 1)), (~always).astype(float)[:, None]
        start[0] = 1.0
        arrived, mass = carry(flow, start, outside, self.length - far)
        met = float(arrived[always].sum())
        for t in range(self.length - far, self.length):
            here = (self._second <= self.length - 1 - t)[:, None]
            met += float(mass[here].sum())
            mass = flow @ np.where(here, 0.0, mass)
        return min(1.0, met)

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

    def activity(self, i: int) -> float:
        """The probability that an expert deviates at some prefix."""
        return float(self.forward.met[i])

    def active_steps(self, i: int) -> float:
        """The expected number of prefixes at which an expert is active."""
        return float(self.forward.steps[i])

    @cached_property
    def unended(self) -> float:
        """The mass that has not ended within the length."""
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

    def expected_length(self, of: int | None = None) -> Number:
        """The expected length, cut at the horizon: of the composition, the background (0) or expert i (i + 1)."""
        if of is None:
            return self.forward.going
        law = self.law(of)
        ended = law.ended(self.background.eos_index or 0)
        return _forward(law.chain, [], self.length, ended).going

    def runs(self, i: int) -> int:
        """The most separate runs of deviation on a path (3.6)."""
        return most_runs_within(self.product.search.next, self.composed.deviates[i], self.length)


def _forward(
    chain: sparse.csr_array,
    sets: Sequence[Flags],
    length: int,
    ended: Flags,
    ahead: Int[np.ndarray, "experts states"] | None = None,
) -> Forward:
    """Carries the mass over `length` prefixes; the first sets are those at which the experts of `ahead` deviate.

    Column 0 is all the mass, column 1 + s what has not yet met set s. Of two experts the last set is that at which any
    deviates. As long as every deviation that can be reached
    lies within the length, being active is having deviated and being able to; only at the end the distance counts.
    """
    size, flow = chain.shape[0], chain.T.tocsr()
    inside = np.stack([np.zeros(size), *sets], axis=1)
    outside, columns = 1.0 - inside, np.zeros_like(inside)
    columns[0] = 1.0
    within = np.full((size, 0), length) if ahead is None else np.where(ahead < 0, length, ahead).T
    experts = within.shape[1]
    far = max(1, int(within.max(initial=0, where=within < length)))
    arrived, columns = carry(flow, columns, outside, length - far)
    steps = _begun(arrived * outside, experts, within < length)
    conflict = _both(arrived, inside, within < length) if experts == 2 else 0.0
    last = columns[:, 0]
    for t in range(length - far, length):  # from here on the distance counts
        alive = within <= length - 1 - t
        conflict += _both(columns, inside, alive) if experts == 2 else 0.0
        arrived += columns
        columns = columns * outside
        last = columns[:, 0]
        steps += _begun(columns, experts, alive)
        columns = flow @ columns
    met = (arrived * inside).sum(axis=0)
    return Forward(np.minimum(met[1:], 1.0), steps, min(1.0, conflict), float(arrived[:, 0] @ ~ended), last)


def _both(
    columns: Float[np.ndarray, "states columns"],
    inside: Float[np.ndarray, "states columns"],
    alive: Bool[np.ndarray, "states 2"],
) -> float:
    """The mass of which both of two experts have deviated for the first time, where both are alive.

    From then on both have, and neither comes to life again: before they were not both active, and now they are. Of the
    mass that arrives where the second deviates it is what the first has met and the second has not; where both do, all
    that has not met both.
    """
    one, other, none = columns[:, 1], columns[:, 2], columns[:, -1]
    newly = inside[:, 1] * (one - none) + inside[:, 2] * (other - none) + inside[:, 1] * inside[:, 2] * none
    return float(newly[alive.all(axis=1)].sum())


def _begun(
    columns: Float[np.ndarray, "states columns"], experts: int, alive: Bool[np.ndarray, "states experts"]
) -> Float[np.ndarray, " experts"]:
    """The mass of each expert that has deviated, where it is alive."""
    return ((columns[:, :1] - columns[:, 1 : 1 + experts]) * alive).sum(axis=0)


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
