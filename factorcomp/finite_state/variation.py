"""Total variation between the composition and another law on the same states: bounds from both sides, in linear time.

The distance of two such laws is hard to compute in general. From below it is bounded by that of the states that both
lead to after t tokens (a function of the sequence: 11.7), from above by the mass that the best coupling of each step
loses (8.2 (2)): `TV(P, Q) <= 1 - sum over sequences of prod_t min(p, q)`.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from factorcomp.composition import graph
from factorcomp.finite_state.carrying import EVERY, shrinking
from factorcomp.models.rows import EPS

Rows = Float[np.ndarray, "states vocab"]


def bounds(
    following: Int[np.ndarray, "states vocab"], mine: Rows, theirs: Rows, length: int, error: float
) -> tuple[float, float]:
    """Bounds on the total variation of two laws on sequences of `length` tokens, by their rows at each state.

    `following`: where the first law goes; what the second puts on other tokens leaves the states for good. `error`: of
    the logs of the rows, by which the bounds give way with every token.
    """
    flows = [graph.matrix(following, rows).T.tocsr() for rows in (mine, theirs, np.minimum(mine, theirs))]
    masses = [np.zeros(len(following)) for _ in flows]
    for mass in masses:
        mass[0] = 1.0
    lower = 0.0
    for t in range(1, length):
        before = masses
        masses = [flow @ mass for flow, mass in zip(flows, before, strict=True)]
        lower = max(lower, _distance(masses[0], masses[1]))
        if t % EVERY == 0:
            factors = [shrinking(one[:, None], two[:, None]) for one, two in zip(before, masses, strict=True)]
            if all(factor is not None for factor in factors):  # from here on nothing changes but their sizes
                masses = [m * f ** (length - 1 - t) for m, f in zip(masses, factors, strict=True) if f is not None]
                lower = max(lower, _distance(masses[0], masses[1]))
                break
    tokens = [mass @ rows for mass, rows in zip(masses, (mine, theirs), strict=False)]
    lower = max(lower, _distance(tokens[0], tokens[1]))
    together = float(masses[2] @ np.minimum(mine, theirs).sum(axis=1))
    rounding = 2 * length * (error + mine.shape[1] * EPS)
    return max(0.0, min(lower, 1.0) - rounding), min(1.0, max(1.0 - together, lower) + rounding)


def _distance(mine: Float[np.ndarray, " cells"], theirs: Float[np.ndarray, " cells"]) -> float:
    """The total variation of two distributions, of which the second may have lost mass elsewhere."""
    return float(np.maximum(mine - theirs, 0.0).sum())


def token_marginals(chain: sparse.csr_array, rows: Rows, length: int) -> Float[np.ndarray, "length vocab"]:
    """The distribution of each of the first `length` tokens."""
    flow, mass = chain.T.tocsr(), np.zeros(chain.shape[0])
    mass[0] = 1.0
    found = np.empty((length, rows.shape[1]))
    for t in range(length):
        found[t] = mass @ rows
        mass = flow @ mass
    return found
