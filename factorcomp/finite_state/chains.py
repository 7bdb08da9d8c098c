"""What happens in the long run: probabilities of ever meeting a set of states, and expected numbers of steps.

Systems of
a few thousand states are solved directly; in larger ones the mass is followed step by step, which encloses the answer
from both sides, and what then is still open is left to a Krylov method whose residual is checked.
"""

import abc
import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse.linalg import bicgstab, spsolve

from factorcomp.certificates.claims import Number
from factorcomp.composition.graph import reached
from factorcomp.finite_state.carrying import EVERY, shrinking
from factorcomp.models.finite_state import NOWHERE

DIRECT = 1_500
WORK = 1 << 29
"""Multiplications that are spent on following the mass, at most; and as many again on the Krylov method."""
CLOSE = 1e-13
"""Mass that may still do either is neglected below this."""

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
        if self.graph.surely_meets(target):
            return 1.0
        first = self._first_met(target)
        return None if first is None else float(min(1.0, first.sum()))

    def expected_steps(self, counted: Flags, since: Flags | None = None) -> float | None:
        since = np.arange(len(counted)) == 0 if since is None else since
        within = self.graph.within(counted, since)
        if not within.any():
            return 0.0
        if self.graph.stays(within).any():
            return math.inf
        start = self._first_met(since)
        if start is None:
            return None
        visits = _visits(_restricted(self._matrix, within), start[within])
        return None if visits is None else float(visits.sum())

    def _first_met(self, target: Flags) -> Float[np.ndarray, " states"] | None:
        """For each state in `target` the probability that it is the first of them that is met."""
        met, start = np.zeros(len(target)), np.zeros(len(target))
        start[0] = 1.0
        if target[0]:
            return start
        undecided = self.graph.before(target)
        if undecided[0]:
            visits = _visits(_restricted(self._matrix, undecided), start[undecided])
            if visits is None:
                return None
            met[target] = visits @ self._matrix[undecided][:, target]
        return met


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
        return bool(target[0] or self.able(target)[self._reached_before(target)].all())

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
        return reached(self._back, np.flatnonzero(target))


_MET = -1
"""In a row that is eliminated: what is added up, a probability or a number of steps."""


def _eliminated(rows: dict[int, dict[int, Any]], start: int = 0) -> Fraction:
    """What is added up on the way from `start`, in expectation."""
    number = _number()
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


def _number() -> Callable[[Any], Any]:
    """Exact numbers: those of python-flint where it is installed, several times faster than fractions."""
    try:
        from flint import fmpq
    except ImportError:
        return Fraction
    return lambda p: fmpq(p.numerator, p.denominator) if isinstance(p, Fraction | int) else p


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


def _restricted(chain: sparse.csr_array, kept: Flags) -> sparse.csr_array:
    return chain[kept][:, kept].tocsr()


def _visits(inner: sparse.csr_array, mass: Float[np.ndarray, " states"]) -> Float[np.ndarray, " states"] | None:
    """`v = mass (I - P)^-1`: the expected visits of each state by a chain that leaves them all for good."""
    size = inner.shape[0]
    flow, identity = inner.T.tocsr(), sparse.eye_array(size)
    if size <= DIRECT:
        return np.atleast_1d(spsolve((identity - flow).tocsc(), mass))
    begun, visits = mass, mass.copy()
    steps = WORK // max(inner.nnz, 1)
    for t in range(1, steps + 1):
        before, mass = mass, flow @ mass
        visits += mass
        if mass.sum() <= CLOSE:
            return visits
        if t % EVERY == 0 and (factor := shrinking(before[:, None], mass[:, None])) is not None and factor[0] < 1:
            visits += mass * factor[0] / (1 - factor[0])
            break
    visits, failed = bicgstab(identity - flow, begun, x0=visits, rtol=1e-12, maxiter=max(1, steps // 4))
    return visits if not failed and np.abs(visits - flow @ visits - begun).max() <= 1e-10 else None
