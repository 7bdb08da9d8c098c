"""What happens in the long run: probabilities of ever meeting a set of states, and expected numbers of steps.

Chains of up to some hundred states are eliminated state by state without a subtraction (Grassmann, Taksar and Heyman),
so that every digit holds however slowly mass leaves. In larger ones the mass is followed step by step, until nothing is
left to follow or what is left goes on as a geometric series; where that takes too long there is no answer.
"""

import abc
import heapq
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from factorcomp.certificates.claims import Number
from factorcomp.composition.graph import reached
from factorcomp.finite_state.carrying import EVERY, shrinking
from factorcomp.finite_state.exact_numbers import exact_numbers
from factorcomp.models.finite_state import NOWHERE

DIRECT = 600
"""Up to so many states a chain is eliminated in a dense matrix."""
WORK = 1 << 29
"""Multiplications that are spent on following the mass, at most."""
CLOSE = 1e-13
"""Mass that may still do either is neglected below this."""
SURE = 1e-4
"""A geometric series is added up where so much leaves with each step: λ is then known well enough."""

Flags = Bool[np.ndarray, " states"]


class AbstractChain(abc.ABC):
    """A Markov chain on numbered states, started at state 0; it ends at a state without transitions."""

    graph: "Edges"

    @abc.abstractmethod
    def probability_to_meet(self, target: Flags) -> Number | None:
        """The probability that the chain ever meets a state in `target`; `None` where no method converges."""

    @abc.abstractmethod
    def expected_steps(self, counted: Flags, since: Flags | None = None) -> Number | None:
        """The expected number of steps at states in `counted`, from the first state in `since` on (or from the start).

        `counted` is left for good. `math.inf` where the chain need not leave it; `None` where no method converges.
        """


class Chain(AbstractChain):
    """The chain with the matrix `P[q, q']` of transition probabilities, in floating point."""

    def __init__(self, matrix: sparse.csr_array):
        self.graph = Edges(matrix)
        self._matrix = matrix

    def probability_to_meet(self, target: Flags) -> float | None:
        return 1.0 if self.graph.surely_meets(target) else self._meet(target)

    def expected_steps(self, counted: Flags, since: Flags | None = None) -> float | None:
        since = np.arange(len(counted)) == 0 if since is None else since
        if self.graph.goes_on_in(counted) and self.graph.surely_meets(since):
            return math.inf
        waiting, within = self.graph.before(since), self.graph.within(counted, since)
        if not within.any():
            return 0.0
        if self.graph.stays(within).any():
            return math.inf
        if since[0]:
            return self._sum(within, np.arange(len(counted)) == 0, np.ones(len(counted)))
        if not waiting[0]:
            return 0.0
        # every state twice: while `since` has not been met, and afterwards
        size, twice = len(counted), np.append(waiting, within)
        now = np.where(since & within, 1.0, 0.0)
        first, later = (self._matrix.multiply(part).tocsr() for part in (now, 1 - now))
        whole = sparse.block_array([[later, first], [None, self._matrix]]).tocsr()
        whole.eliminate_zeros()
        met_first = Chain(whole)
        start = np.arange(2 * size) == 0
        return met_first._sum(twice, start, np.append(np.zeros(size), np.ones(size)))

    def _meet(self, target: Flags) -> float | None:
        """The probability to meet `target`, where that is not certain."""
        undecided = self.graph.before(target)
        if not undecided[0]:
            return 0.0
        into = np.asarray(self._matrix @ target.astype(float))
        found = self._sum(undecided, np.arange(len(target)) == 0, into)
        return None if found is None else min(1.0, found)

    def _sum(self, inside: Flags, start: Flags, value: Float[np.ndarray, " states"]) -> float | None:
        """The expected sum of `value` over the states of `inside` that the chain passes, until it leaves them."""
        inner, places = self._matrix[inside][:, inside].tocsr(), np.flatnonzero(inside)
        begin = int(np.flatnonzero(start[places])[0])
        if len(places) <= DIRECT:
            outside = np.asarray(self._matrix @ (~inside).astype(float))[inside]
            return _eliminated_densely(inner.toarray(), outside, value[inside], begin)
        visits = _visits(inner, begin)
        return None if visits is None else float(visits @ value[inside])


def _eliminated_densely(
    inner: Float[np.ndarray, "states states"],
    outside: Float[np.ndarray, " states"],
    value: Float[np.ndarray, " states"],
    begin: int,
) -> float:
    """The expected sum of `value` from state `begin` on, by elimination of all other states.

    `outside`: the probability to leave them all. What a state keeps to itself is never subtracted from 1: it goes on
    with the sum of all that leads elsewhere, so that nothing cancels.
    """
    order = np.append(np.delete(np.arange(len(value)), begin), begin)[::-1]  # `begin` first, which stays
    inner, outside, value = inner[np.ix_(order, order)].copy(), outside[order].copy(), value[order].copy()
    for last in range(len(value) - 1, 0, -1):
        leaving = inner[last, :last].sum() + outside[last]
        share = inner[:last, last] / leaving
        into = np.flatnonzero(share)
        inner[np.ix_(into, np.arange(last))] += share[into, None] * inner[last, :last]
        outside[into] += share[into] * outside[last]
        value[into] += share[into] * value[last]
    return float(value[0] / outside[0])


def transitions(
    rows: Sequence[Sequence[Fraction]], following: Int[np.ndarray, "states vocab"]
) -> list[dict[int, Fraction]]:
    """The probabilities of the edges of a table of next states, parallel edges added."""
    found: list[dict[int, Fraction]] = []
    for row, after in zip(rows, following.tolist(), strict=True):
        found.append({})
        for p, q in zip(row, after, strict=True):
            if q != NOWHERE:
                found[-1][q] = found[-1].get(q, 0) + p
    return found


class ExactChain(AbstractChain):
    """The chain with the rows `rows[q][q']` in exact numbers; `matrix` has its pattern. States are eliminated one by
    one, in the order of the fewest edges to be made: `p(r, q') += p(r, q) p(q, q') / (1 - p(q, q))`."""

    def __init__(self, rows: Sequence[Mapping[int, Fraction]], matrix: sparse.csr_array):
        self.graph = Edges(matrix)
        self._rows = rows

    def probability_to_meet(self, target: Flags) -> Fraction:
        if self.graph.surely_meets(target):
            return Fraction(1)
        undecided = self.graph.before(target)
        if not undecided[0]:
            return Fraction(0)
        rows: dict[int, dict[int, Any]] = {}
        for q in np.flatnonzero(undecided).tolist():
            rows[q] = {r: p for r, p in self._rows[q].items() if undecided[r]}
            rows[q][_MET] = sum((p for r, p in self._rows[q].items() if target[r]), Fraction(0))
        return _eliminated(rows)

    def expected_steps(self, counted: Flags, since: Flags | None = None) -> Fraction | float:
        since = np.arange(len(counted)) == 0 if since is None else since
        waiting, within = self.graph.before(since), self.graph.within(counted, since)
        if self.graph.stays(within).any():
            return math.inf
        size = len(counted)  # state q while waiting, size + q once `since` was met
        rows: dict[int, dict[int, Any]] = {}
        for q in np.flatnonzero(waiting).tolist():
            rows[q] = {r: p for r, p in self._rows[q].items() if waiting[r]}
            rows[q] |= {size + r: p for r, p in self._rows[q].items() if since[r] and within[r]}
        for q in np.flatnonzero(within).tolist():
            rows[size + q] = {size + r: p for r, p in self._rows[q].items() if within[r]} | {_MET: Fraction(1)}
        if since[0]:
            return _eliminated(rows, size) if within[0] else Fraction(0)
        return _eliminated(rows) if waiting[0] else Fraction(0)


class Edges:
    """What the graph of a chain decides, whatever the probabilities."""

    def __init__(self, matrix: sparse.csr_array):
        self._forth = matrix
        self._back = matrix.T.tocsr()

    def before(self, target: Flags) -> Flags:
        """The states outside `target` that the chain reaches before it, and from which it can still reach it."""
        return self._reached_before(target) & self.able(target) & ~target

    def surely_meets(self, target: Flags) -> bool:
        """Whether the chain meets `target` with probability 1: wherever it is before, it still can."""
        able = self.able(target)
        return bool(target[0] or able.all() or able[self._reached_before(target)].all())

    def within(self, counted: Flags, since: Flags) -> Flags:
        """The states in `counted` that it reaches without leaving `counted`, once it has met `since`."""
        met = since & self._reached_before(since) if not since[0] else np.arange(len(since)) == 0
        return counted & (reached(_masked(self._forth, counted), np.flatnonzero(met & counted)))

    def stays(self, within: Flags) -> Flags:
        """The states from which it cannot leave `within`: none outside, and no end, can be reached."""
        leaves = within & ((self._forth @ (~within).astype(float) > 0) | (np.diff(self._forth.indptr) == 0))
        able = reached(_masked(self._back, within), np.flatnonzero(leaves))
        return within & ~able

    def _reached_before(self, target: Flags) -> Flags:
        """The states that it reaches before `target`, and those of `target` that it meets first."""
        start = np.zeros(1, dtype=np.int64)
        return reached(_without_exits(self._forth, target), start)

    def able(self, target: Flags) -> Flags:
        """The states from which it can reach `target`."""
        if self._one_component and target.any():
            return np.ones(len(target), dtype=bool)
        return reached(self._back, np.flatnonzero(target))

    @cached_property
    def _one_component(self) -> bool:
        """Whether every state can be reached from every other."""
        start = np.zeros(1, dtype=np.int64)
        if not self._goes_on:  # a state from which nothing leads, and another one
            return self._forth.shape[0] == 1
        return bool(reached(self._forth, start).all() and reached(self._back, start).all())

    @cached_property
    def _goes_on(self) -> bool:
        """Whether it goes on from every state."""
        return bool((np.diff(self._forth.indptr) > 0).all())

    def goes_on_in(self, states: Flags) -> bool:
        """Whether it certainly never leaves `states`: they are all, and it goes on from each of them."""
        return bool(states.all() and self._goes_on)


_MET = -1
"""In a row that is eliminated: what is added up, a probability or a number of steps."""


def _eliminated(rows: dict[int, dict[int, Any]], start: int = 0) -> Fraction:
    """What is added up on the way from `start`, in expectation."""
    number = exact_numbers()
    rows = {q: {r: number(p) for r, p in row.items()} for q, row in rows.items()}
    before: dict[int, set[int]] = {q: set() for q in rows}
    for q, row in rows.items():
        for r in row:
            if r != _MET:
                before[r].add(q)
    queue = [(len(before[q]) * len(rows[q]), q) for q in rows if q != start]
    heapq.heapify(queue)
    while queue:
        cost, q = heapq.heappop(queue)
        if (now := len(before[q]) * len(rows[q])) > cost:
            heapq.heappush(queue, (now, q))
            continue
        row = rows.pop(q)
        before[q].discard(q)
        again = 1 / (1 - row.pop(q, number(0)))
        for r in row:
            if r != _MET:
                before[r].discard(q)
        for r in before.pop(q):
            share = rows[r].pop(q) * again
            for target, p in row.items():
                rows[r][target] = rows[r].get(target, 0) + share * p
                if target != _MET:
                    before[target].add(r)
    total = number(rows[start].get(_MET, 0)) / (1 - rows[start].get(start, number(0)))
    return Fraction(int(total.numerator), int(total.denominator)) if not isinstance(total, Fraction) else total


def _without_exits(chain: sparse.csr_array, states: Flags) -> sparse.csr_array:
    """The chain that goes on from no state in `states`."""
    return _kept(chain, ~np.repeat(states, np.diff(chain.indptr)))


def _masked(chain: sparse.csr_array, kept: Flags) -> sparse.csr_array:
    """The chain between states that are kept; the others have no edges."""
    return _kept(chain, np.repeat(kept, np.diff(chain.indptr)) & kept[chain.indices])


def _kept(chain: sparse.csr_array, edges: Bool[np.ndarray, " edges"]) -> sparse.csr_array:
    """The chain with these edges alone."""
    starts = np.concatenate([[0], np.cumsum(edges)])[chain.indptr]
    return sparse.csr_array((chain.data[edges], chain.indices[edges], starts), shape=chain.shape)


def _visits(inner: sparse.csr_array, begin: int) -> Float[np.ndarray, " states"] | None:
    """The expected visits of each state by a chain that leaves them all for good, from state `begin` on."""
    flow, mass = inner.T.tocsr(), np.zeros(inner.shape[0])
    mass[begin] = 1.0
    visits = mass.copy()
    for t in range(1, WORK // max(inner.nnz, 1) + 1):
        before, mass = mass, flow @ mass
        visits += mass
        if mass.sum() <= CLOSE:
            return visits
        if t % EVERY == 0 and (factor := shrinking(before[:, None], mass[:, None])) is not None:
            return visits + mass * factor[0] / (1 - factor[0]) if factor[0] <= 1 - SURE else None
    return None
