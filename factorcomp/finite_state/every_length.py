"""What is seen of all lengths at once: the product explored whole, phases, and the composition in the long run.

Source: theory.md, sections 3, 4, 7 and 10.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice

import numpy as np
from jaxtyping import Int

from factorcomp.certificates.claims import Invariant, Number, Phase, Question
from factorcomp.composition import graph
from factorcomp.composition.automata import compose_exactly
from factorcomp.finite_state.chains import AbstractChain, Chain, ExactChain, transitions
from factorcomp.finite_state.lengths import MOST_LENGTHS, walk
from factorcomp.finite_state.phases import Phases, find_phases
from factorcomp.finite_state.runs import most_runs
from factorcomp.finite_state.seen import AbstractSeen, Flags
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.surveys import Meeting, Pair, Progress, Sighting


@dataclass(frozen=True)
class Normalizers:
    """Does `Z(h)` depend on the length of h alone? `differ`: the first two prefixes of one length after which it is not
    the same. `unsettled`: floating point cannot tell. `tv`: of local and global composition one token later."""

    differ: Pair | None
    unsettled: bool
    tv: float


MOST_STATED = 100_000
"""A certificate lists so many states at most."""


class EveryLength(AbstractSeen):
    """What is seen for every length. Numbers about the long run are `None` where no method converges."""

    def __init__(
        self,
        background: FiniteStateModel,
        experts: Mapping[str, FiniteStateModel],
        question: Question,
        progress: Progress | None = None,
        exact: bool = False,
    ):
        """`exact`: the long run in rational numbers, where the models are rational and the weights whole."""
        super().__init__(background, experts, question, progress)
        self._exact = exact

    @cached_property
    def chain(self) -> AbstractChain:
        """The composition on the states of the product."""
        matrix = self.composed.transitions
        if self._exact and (rows := self.exact_rows) is not None:
            return ExactChain(transitions(rows, self.product.followed), matrix)
        return Chain(matrix)

    @cached_property
    def exact_rows(self) -> list[tuple[Fraction, ...]] | None:
        """The composition's rows in rational numbers; `None` where the models or the weights are not."""
        models = [self.background, *self.experts.values()]
        weights = [self.question.weight(name) for name in self.experts]
        return compose_exactly(models, weights, self.product, self.question.null_tokens)

    def probability_to_meet(self, flags: Flags) -> Number | None:
        return self.chain.probability_to_meet(flags)

    @cached_property
    def phases(self) -> Phases:
        """Who is before, active, after."""
        return find_phases(self.composed)

    @cached_property
    def conflict(self) -> Meeting:
        """Two experts are active (Theorem 7.4)."""
        phases = self.phases
        if not phases.conflict.any():
            return Meeting(None, 0.0)
        place = int(phases.conflict.argmax())
        path = phases.state[phases.search.path(place)].tolist()
        active = (int(phases.active[place]) >> np.arange(len(self.experts))) & 1 == 1
        return Meeting(
            self.sighting_of(phases.search, place, path, active), self.phase_chain.probability_to_meet(phases.conflict)
        )

    @cached_property
    def conflict_length(self) -> int:
        """The length from which on all experts of the first conflict are seen to be active there."""
        place = int(self.phases.conflict.argmax())
        ahead = self.phases.ahead[:, self.phases.state[place]]
        bits = (int(self.phases.active[place]) >> np.arange(len(ahead))) & 1 == 1
        return int(self.phases.search.depth[place] + 1 + ahead[bits].max())

    @cached_property
    def phase_chain(self) -> AbstractChain:
        """The composition on states and phases, up to the first conflict."""
        matrix = graph.matrix(self.phases_followed, np.exp(self.composed.log_probs)[self.phases.state])
        if self._exact and (rows := self.exact_rows) is not None:
            return ExactChain(transitions([rows[q] for q in self.phases.state.tolist()], self.phases_followed), matrix)
        return Chain(matrix)

    @property
    def phases_followed(self) -> Int[np.ndarray, "places vocab"]:
        """The edges of the phases along the composition's support."""
        return np.where(self.product.support[self.phases.state], self.phases.search.next, NOWHERE)

    @cached_property
    def normalizers(self) -> Normalizers:
        """Theorem 1.5 (2) at every horizon.

        Lengths t and u are alike if some state is reached after both. What is alike stays alike one token later, so
        that it repeats: from the smallest such length on, by the greatest common divisor of all the differences.
        """
        reachable = self.product.reachable
        depth = graph.steps_from(graph.matrix(self.product.followed), np.zeros(1, dtype=np.int64))
        origin, edge = np.nonzero((self.product.followed != NOWHERE) & reachable[:, None])
        later, again = depth[origin] + 1, depth[self.product.followed[origin, edge]]
        detours = later != again
        start, period = math.inf, 0
        if detours.any():
            start, period = int(again[detours].min()), int(np.gcd.reduce(later[detours] - again[detours]))
        kind = depth.copy()
        if period:
            kind = np.where(depth < start, depth, start + (depth - start) % period)
        low, high = (np.full(int(kind.max()) + 1, sign * np.inf) for sign in (1, -1))
        error = np.where(self.composed.settled, 0.0, self.composed.error)
        value = self.composed.log_normalizer
        np.minimum.at(low, kind[reachable], (value + error)[reachable])
        np.maximum.at(high, kind[reachable], (value - error)[reachable])
        if (high > low).any():
            return self._first_difference()
        return Normalizers(None, self._may_differ(kind, reachable), 0.0)

    def _may_differ(self, kind: Int[np.ndarray, " states"], reachable: Flags) -> bool:
        """Whether states of one kind may have different `Z`: they are not all settled, nor all of the same rows."""
        rows = self.rows()
        rows = np.where(self.composed.settled, -1, rows)
        pairs = np.unique(np.stack([kind[reachable], rows[reachable]]), axis=1)
        return len(np.unique(pairs[0])) < pairs.shape[1]

    def _first_difference(self) -> Normalizers:
        """Walks from length to length, until two states of one length certainly have different `Z`."""
        composed, followed, rows = self.composed, self.product.followed, self.rows()
        value, error = composed.log_normalizer, np.where(composed.settled, 0.0, composed.error)
        doubtful, mass = False, np.ones(1)
        for length, level in enumerate(islice(walk(followed), MOST_LENGTHS)):
            states = level.states
            apart = np.abs(value[states] - value[states[0]]) > error[states] + error[states[0]]
            unsure = ~apart & (rows[states] != rows[states[0]]) & (error[states] + error[states[0]] > 0)
            other = int(apart.argmax())
            if apart[other]:
                z = np.exp(value[states])
                tv = float(mass @ np.maximum(0.0, 1 - z / (mass @ z)))
                pair = Pair(length, level.index[0], level.index[other])
                return Normalizers(pair, doubtful or bool(unsure[:other].any()), tv)
            doubtful = doubtful or bool(unsure.any())
            flow = mass[level.origin] * np.exp(composed.log_probs[states[level.origin], level.token])
            _, first, which = np.unique(level.after, return_index=True, return_inverse=True)
            mass = np.bincount(which, flow)[np.argsort(first)]
        return Normalizers(None, True, 0.0)

    @cached_property
    def endless(self) -> Sighting | None:
        """The first prefix from which EOS cannot be reached."""
        return self._first(self.stuck)

    @cached_property
    def stuck(self) -> Flags:
        """The states that the composition reaches and from which EOS cannot be reached."""
        return self.product.reachable & ~self.chain.graph.able(self.ended)

    @cached_property
    def invariant(self) -> Invariant | None:
        """All states in scope with their phases, as a certificate states them; `None` beyond `MOST_STATED`."""
        if self.states > MOST_STATED:
            return None
        names = [model.states for model in (self.background, *self.experts.values())]
        states = [
            None if ended else tuple(name[q] for name, q in zip(names, members, strict=True))
            for members, ended in zip(self.product.members.T.tolist(), self.ended, strict=True)
        ]
        after = [tuple(None if q == NOWHERE else q for q in row) for row in self.product.search.next.tolist()]
        if self.phases.conflict.any():
            return Invariant(tuple(states), tuple(after), None)
        found: list[list[tuple[Phase, ...]]] = [[] for _ in states]
        for place, state in enumerate(self.phases.state.tolist()):
            found[state].append(self.phases.vector(place))
        return Invariant(tuple(states), tuple(after), tuple(map(tuple, found)))

    # measures

    def activity(self, i: int) -> Number | None:
        """The probability that an expert ever deviates."""
        return self.chain.probability_to_meet(self.composed.deviates[i])

    def active_steps(self, i: int) -> Number | None:
        """The expected number of steps at which an expert is active."""
        return self.chain.expected_steps(self._can(i), self.composed.deviates[i])

    def _can(self, i: int) -> Flags:
        return self.phases.ahead[i] >= 0

    def expected_length(self, of: int | None = None) -> Number | None:
        """The expected length, up to and with EOS: of the composition, of the background (0) or of expert i (i + 1)."""
        if of is None:
            return self.chain.expected_steps(~self.ended)
        law = self.law(of)
        matrix, ended = law.chain, law.ended(self.background.vocabulary.index(self.background.eos or ""))
        if self._exact and (rows := law.exact_rows) is not None:
            return ExactChain(transitions(rows, law.following), matrix).expected_steps(~ended)
        return Chain(matrix).expected_steps(~ended)

    def runs(self, i: int) -> int | float:
        """The most separate runs of deviation on a path, `math.inf` if there is no bound (3.6)."""
        return most_runs(self.product.search.next, self.composed.deviates[i], self.composed.components)
