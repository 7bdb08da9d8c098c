"""The most separate runs of consecutive flags on a path. Source: theory.md 3.6."""

import math

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.models.finite_state import NOWHERE


def most_runs(
    following: Int[np.ndarray, "states vocab"],
    flags: Bool[np.ndarray, " states"],
    component: Int[np.ndarray, " states"],
) -> int | float:
    """Over all paths from state 0 on; `math.inf` where they begin again and again.

    `component`: the strongly connected component of each state.

    A run begins at a flag that no flag precedes. Within a strongly connected component a path can come back to where a
    run begins; between components it goes one way, and the longest way counts.
    """
    if not flags.any():
        return 0
    origin, token = np.nonzero(following != NOWHERE)
    led = following[origin, token]
    begins = flags[led] & ~flags[origin]
    inside = component[origin] == component[led]
    if (begins & inside).any():
        return math.inf
    crossing = np.unique(np.stack([component[origin], component[led], begins])[:, ~inside], axis=1)
    most = np.full(int(component.max()) + 1, -1)
    most[component[0]] = int(flags[0])
    for one, other, more in crossing[:, np.argsort(_rank(crossing[:2], len(most))[crossing[0]])].T.tolist():
        if most[one] >= 0:
            most[other] = max(most[other], most[one] + more)
    return int(most.max())


def _rank(edges: Int[np.ndarray, "2 edges"], size: int) -> Int[np.ndarray, " components"]:
    """The components' places in an order in which every edge goes forward."""
    after: list[list[int]] = [[] for _ in range(size)]
    waiting = np.bincount(edges[1], minlength=size).tolist()
    for one, other in edges.T.tolist():
        after[one].append(other)
    ready, rank = [n for n, count in enumerate(waiting) if not count], np.zeros(size, dtype=np.int64)
    for place in range(size):
        one = ready.pop()
        rank[one] = place
        for other in after[one]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return rank
