"""Mass carried from state to state, over a given number of steps.

Chains forget where they began: after a while each step multiplies the mass by one number λ and leaves its shape alone,
and the rest is a geometric series. If `‖P x - λ x‖ <= ε ‖x‖` (in the 1-norm, in which P expands nothing) the mass after
n more steps is `λ^n x` up to `n ε ‖x‖`, so that this is seen, and not supposed.
"""

import numpy as np
from jaxtyping import Float
from scipy import sparse

Mass = Float[np.ndarray, "states columns"]
EVERY = 16
"""After so many steps it is looked whether the shape still changes."""
PATIENCE = 1 << 30
"""After so many multiplications the shape is not waited for any more."""
CONSTANT = 2e-15
"""A change of shape by no more than this is that of rounding."""


def carry(
    flow: sparse.csr_array, mass: Mass, outside: Mass, steps: int, *, settles: bool = True
) -> tuple[Mass, Mass, int | None]:
    """The sum of `x_0 … x_(steps-1)`, `x_steps`, and how many steps were skipped because the shape had settled.

    `x_0` is `mass` and `x_(t+1) = flow (x_t · outside)`. `flow[q', q]`: the probability to go from q to q'. `outside`:
    0 where mass that arrives is not carried on. `settles`: false carries every step; otherwise it is given up (`None`
    skipped) after `PATIENCE`.
    """
    arrived = np.zeros_like(mass)
    for t in range(1, steps + 1):
        arrived += mass
        after = flow @ (mass * outside)
        left = steps - t
        if settles and not t % EVERY and left and (factor := shrinking(mass, after)) is not None:
            return arrived + after * geometric(factor, left), after * factor**left, left
        if settles and t * flow.nnz * mass.shape[1] > PATIENCE:
            return arrived, after, None
        mass = after
    return arrived, mass, 0


def shrinking(mass: Mass, after: Mass) -> Float[np.ndarray, " columns"] | None:
    """The λ of each column, if a step changes no column but by that factor."""
    size, later = mass.sum(axis=0), after.sum(axis=0)
    factor = np.where(size > 0, later / np.where(size > 0, size, 1.0), 0.0)
    change = np.abs(after - factor * mass).sum(axis=0)
    return np.minimum(factor, 1.0) if (change <= CONSTANT * size).all() else None


def geometric(factor: Float[np.ndarray, " columns"], terms: int) -> Float[np.ndarray, " columns"]:
    """`1 + λ + … + λ^(terms - 1)`, also where λ is 1 up to rounding."""
    gap = 1.0 - factor
    short = terms * (1.0 - 0.5 * (terms - 1) * gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        long = -np.expm1(terms * np.log1p(-gap)) / gap
    return np.where(terms * gap < 1e-7, short, long)
