"""The law of a model, or of an expert tilted by its weight, as an automaton of its own. Source: theory.md 1.9, 7.5."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse

from factorcomp.composition import graph
from factorcomp.composition.search import Members, breadth_first
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.rows import AbstractRows, TiltedRows


@dataclass(frozen=True)
class Law:
    """The states that a model reaches by itself: `rows[n]`, and `following[n, y]` along its support.

    `background[n]` is the state of the background after the same prefixes, `NOWHERE` where it says nothing; where that
    is not asked for it is 0, without a meaning. `depth`: the length of the first prefix that leads to a state. A tilted
    expert may reach a state at which it shares no token with the background: then it has no law.
    """

    rows: AbstractRows
    following: Int[np.ndarray, "states vocab"]
    background: Int[np.ndarray, " states"]
    depth: Int[np.ndarray, " states"]

    @property
    def support(self) -> Bool[np.ndarray, "states vocab"]:
        """The tokens that can follow."""
        return self.following != NOWHERE

    def lawless_within(self, limit: int | None) -> bool:
        """Whether a prefix (shorter than `limit`) has no next token."""
        empty = ~self.support.any(axis=1)
        return bool((empty if limit is None else empty & (self.depth < limit)).any())

    @property
    def chain(self) -> sparse.csr_array:
        """`P[q, q']`, in floating point."""
        return graph.matrix(self.following, np.exp(self.rows.log_probs(0, self.rows.shape[0])))

    @property
    def exact_rows(self) -> list[tuple[Fraction, ...]] | None:
        """The rows in rational numbers; `None` where they are not rational."""
        rows = [self.rows.exact(n) for n in range(self.rows.shape[0])]
        if any(row.root != 1 or any(row.shifts) for row in rows):
            return None
        return [tuple(p / sum(row.factors) for p in row.factors) for row in rows]

    def ended(self, eos: int) -> Bool[np.ndarray, " states"]:
        """The state in which only EOS leads on, and back to it."""
        here = np.arange(len(self.following))
        return (self.following[:, eos] == here) & (self.support.sum(axis=1) == 1)


def law_of(model: FiniteStateModel) -> Law:
    """The law of a model."""
    return _law(model, None, Fraction(1))


def law_beside(background: FiniteStateModel, expert: FiniteStateModel, weight: Fraction) -> Law:
    """The law of a (tilted) expert on the pairs of states of background and expert."""
    return _law(expert, background, weight)


def _law(model: FiniteStateModel, beside: FiniteStateModel | None, weight: Fraction) -> Law:
    own, base = model.rows.support(), None if beside is None else beside.rows.support()

    def support(members: Members) -> Bool[np.ndarray, "_ vocab"]:
        found = own[members[1]]
        if base is not None and weight != 1:
            found = found & base[members[0]] & (members[0] != NOWHERE)[:, None]
        return found

    def expand(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "parts _ vocab"]]:
        mine = model.next[members[1]]
        there = np.zeros_like(mine)
        if beside is not None:
            there = np.where((members[0] != NOWHERE)[:, None], beside.next[members[0]], NOWHERE)
        return support(members), np.stack([there, mine])

    start = (0 if beside is None else beside.initial, model.initial)
    sizes = (1 if beside is None else beside.rows.shape[0], model.rows.shape[0])
    search = breadth_first(start, sizes, expand)
    theirs, mine = search.members
    tokens = range(len(model.vocabulary))
    rows = model.rows.take(mine, tokens)
    if beside is not None and weight != 1:
        rows = TiltedRows(beside.rows.take(theirs, tokens), rows, weight)
    return Law(rows, search.next, theirs, search.depth)
