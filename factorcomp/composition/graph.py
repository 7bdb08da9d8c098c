"""Graphs whose edges are tables of next states: `following[n, y]` is the state after `n` and `y`, or `NOWHERE`."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse import csgraph

from factorcomp.models.finite_state import NOWHERE

Following = Int[np.ndarray, "states vocab"]
States = Int[np.ndarray, " _"]


def matrix(following: Following, weights: Float[np.ndarray, "states vocab"] | None = None) -> sparse.csr_array:
    """The matrix with the weight (or 1) of each edge from its row to its column; parallel edges are added."""
    size = len(following)
    origin, edge = np.nonzero(following != NOWHERE)
    values = np.ones(len(origin)) if weights is None else weights[origin, edge]
    starts = np.concatenate([[0], np.cumsum((following != NOWHERE).sum(axis=1))])
    result = sparse.csr_array((values, following[origin, edge], starts), shape=(size, size))
    result.sum_duplicates()
    return result


def reached_from(following: Following, start: States) -> Bool[np.ndarray, " states"]:
    """The states that edges lead to from those in `start`, these included."""
    return reached(matrix(following), start)


def reached(graph: sparse.csr_array, start: States) -> Bool[np.ndarray, " states"]:
    """The same of a matrix whose entries are the edges."""
    size, found = graph.shape[0], np.zeros(graph.shape[0], dtype=bool)
    if len(start):
        # one more state, from which edges lead to all of `start`
        indptr = np.append(graph.indptr, graph.indptr[-1] + len(start))
        indices = np.append(graph.indices, start).astype(graph.indices.dtype)
        whole = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(size + 1, size + 1))
        order = csgraph.breadth_first_order(whole, size, return_predecessors=False)
        found[order[1:]] = True
    return found


def steps_from(graph: sparse.csr_array, start: States) -> Int[np.ndarray, " states"]:
    """To each state the fewest edges from one in `start`, -1 where none leads."""
    steps = np.full(graph.shape[0], -1)
    steps[start] = 0
    frontier, count = np.asarray(start), 0
    while len(frontier):
        count += 1
        lengths = graph.indptr[frontier + 1] - graph.indptr[frontier]
        offsets = np.repeat(graph.indptr[frontier] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        after = graph.indices[offsets + np.arange(lengths.sum())]
        after = after[steps[after] < 0]
        steps[after] = count
        frontier = np.unique(after) if len(after) < len(steps) // 8 else np.flatnonzero(steps == count)
    return steps
