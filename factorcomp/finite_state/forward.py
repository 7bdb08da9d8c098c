"""The forward scan: the mass of a composition carried over the prefixes of one length, and what it meets on its way.

It is carried in columns: all of it, what of it has not yet met a set of states, what of it has met the deviations of an
expert. Where the shape of the columns settles the rest is a geometric series (carrying.py), and what is known of a
small part is then a difference of large ones: it is taken if that is sure to one part in 10^9. Otherwise the mass is
carried step by step to the end, in sums of positive numbers alone; where that takes too long there is no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from factorcomp.finite_state.carrying import CONSTANT, carry

Flags = Bool[np.ndarray, " states"]
Columns = Float[np.ndarray, "states columns"]
Within = Int[np.ndarray, "states experts"]
SURE = 1e-9
WORK = 1 << 31
"""Multiplications that are spent on one scan, at most; each step costs `OVERHEAD` of them."""
OVERHEAD = 10_000


@dataclass(frozen=True)
class Forward:
    """What the mass meets on its way; `None` for what would take too long.

    **Fields:** `met[s]`: the probability to meet the set s. `steps[i]`: the expected number of active steps of expert
    i. `conflict`: of two experts, the probability that both are active at some prefix; `None` where the scan is not
    sure of it. `going`: the expected number of prefixes, shorter than the length, that have not ended. `last`: the mass
    at each state one token before the end.
    """

    met: tuple[float | None, ...]
    steps: tuple[float | None, ...]
    conflict: float | None
    going: float | None
    last: Float[np.ndarray, " states"] | None


def carry_forward(
    chain: sparse.csr_array,
    sets: Sequence[Flags],
    length: int,
    ended: Flags,
    ahead: Int[np.ndarray, "experts states"] | None = None,
) -> Forward:
    """Carries the mass over `length` prefixes; the first sets are those at which the experts of `ahead` deviate.

    `ahead`: the steps to the next deviation, -1 where there is none. Of two experts the last set is that at which any
    deviates.
    """
    size = chain.shape[0]
    inside = np.stack([np.zeros(size), *sets], axis=1)
    within = np.full((size, 0), length) if ahead is None else np.where(ahead < 0, length, ahead).T
    flow = chain.T.tocsr()
    found = _quickly(flow, inside, within, ended, length)
    return _step_by_step(flow, inside, within, ended, length) if found is None else found


def _quickly(flow: sparse.csr_array, inside: Columns, within: Within, ended: Flags, length: int) -> Forward | None:
    """Once the shape of all columns settles; `None` if it does not soon, or the differences are not sure.

    As long as every deviation that can be reached lies within the length, being active is having deviated and being
    able to; only at the end the distance counts.
    """
    experts = within.shape[1]
    far = max(1, int(within.max(initial=0, where=within < length)))
    outside, columns = 1.0 - inside, np.zeros_like(inside)
    columns[0] = 1.0
    arrived, columns, skipped = carry(flow, columns, outside, length - far)
    if not skipped:
        return None
    steps = _begun(arrived * outside, within < length)
    conflict = _both(arrived, inside, within < length) if experts == 2 else None
    last = columns[:, 0]
    for t in range(length - far, length):  # from here on the distance counts
        alive = within <= length - 1 - t
        conflict = None if conflict is None else conflict + _both(columns, inside, alive)
        arrived = arrived + columns
        columns = columns * outside
        last = columns[:, 0]
        steps += _begun(columns, alive)
        columns = flow @ columns
    met, going = (arrived * inside).sum(axis=0)[1:], float(arrived[:, 0] @ ~ended)
    error = skipped * CONSTANT
    if _sure(met, error) and _sure(np.append(steps, going), skipped * error / 2):
        conflict = conflict if conflict is not None and _sure(np.array([conflict]), error) else None
        return Forward(_listed(np.minimum(met, 1.0)), _listed(steps), conflict, going, last)
    return None


def _sure(values: Float[np.ndarray, " numbers"], error: float) -> bool:
    return bool(np.all((values == 0) | (error <= SURE * values)))


def _step_by_step(flow: sparse.csr_array, inside: Columns, within: Within, ended: Flags, length: int) -> Forward:
    """Every step, without a subtraction: of each expert the mass that has met its deviations has a column too."""
    size, experts = within.shape
    if length * (flow.nnz * (inside.shape[1] + experts) + OVERHEAD) > WORK:
        return Forward((None,) * (inside.shape[1] - 1), (None,) * experts, None, None, None)
    sets = inside.shape[1]
    outside, own = 1.0 - inside, inside[:, 1 : 1 + experts]
    far = max(1, int(within.max(initial=0, where=within < length)))
    columns = np.zeros((size, sets + experts))  # what has not met each set, then what has met each expert's deviations
    columns[0, :sets] = 1.0
    arrived, steps, last = np.zeros_like(columns), np.zeros(experts), columns[:, 0]
    for t in range(length):
        if t == length - far:  # until here every deviation that can be reached lies within the length
            steps = ((arrived[:, sets:] + arrived[:, 1 : 1 + experts] * own) * (within < length)).sum(axis=0)
        arrived += columns
        columns[:, sets:] += columns[:, 1 : 1 + experts] * own
        columns[:, :sets] *= outside
        if t >= length - far:
            steps = steps + (columns[:, sets:] * (within <= length - 1 - t)).sum(axis=0)
        last = columns[:, 0]
        columns = flow @ columns
    met = (arrived[:, 1:sets] * inside[:, 1:]).sum(axis=0)
    return Forward(_listed(np.minimum(met, 1.0)), _listed(steps), None, float(arrived[:, 0] @ ~ended), last)


def _listed(values: Float[np.ndarray, " numbers"]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _both(columns: Columns, inside: Columns, alive: Bool[np.ndarray, "states 2"]) -> float:
    """The mass of which both of two experts have deviated for the first time, where both are alive.

    From then on both have, and neither comes to life again: before they were not both active, and now they are. Of the
    mass that arrives where the second deviates it is what the first has met and the second has not; where both do, all
    that has not met both.
    """
    one, other, none = columns[:, 1], columns[:, 2], columns[:, -1]
    newly = inside[:, 1] * (one - none) + inside[:, 2] * (other - none) + inside[:, 1] * inside[:, 2] * none
    return float(newly[alive.all(axis=1)].sum())


def _begun(columns: Columns, alive: Bool[np.ndarray, "states experts"]) -> Float[np.ndarray, " experts"]:
    """The mass of each expert that has deviated, where it is alive."""
    return ((columns[:, :1] - columns[:, 1 : 1 + alive.shape[1]]) * alive).sum(axis=0)


def probability_to_meet(chain: sparse.csr_array, near: Int[np.ndarray, " states"], length: int) -> float | None:
    """The probability to be at a state q after t tokens with `near[q] <= length - 1 - t`, of a chain from state 0 on.

    `near`: -1 where that never counts. `None` where it would take too long.
    """
    flow, counts = chain.T.tocsr(), near >= 0
    far = int(near.max(initial=0))
    start, outside = np.zeros((len(near), 1)), (~counts).astype(float)[:, None]
    start[0] = 1.0
    arrived, mass, skipped = carry(flow, start, outside, length - far)
    met = float(arrived[counts].sum())
    if skipped is None or not skipped * CONSTANT <= SURE * met:
        if length * (flow.nnz + OVERHEAD) > WORK:
            return None
        arrived, mass, _ = carry(flow, start, outside, length - far, settles=False)
        met = float(arrived[counts].sum())
    for t in range(length - far, length):
        here = (counts & (near <= length - 1 - t))[:, None]
        met += float(mass[here].sum())
        mass = flow @ np.where(here, 0.0, mass)
    return min(1.0, met)
