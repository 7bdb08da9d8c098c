"""Blocks in which the composition is one component at every prefix: NumPy, at the speed of memory, and no compilation.

Only the rows that are not the background's are looked at more closely. Blocks where two experts differ at a prefix, a
probability is 0 or tiny, or rounding leaves anything open are left to the general program.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Shaped, UInt32

from factorcomp.models.rows import EPS
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import LARGEST_LOG, SMALLEST, probabilities, tilted
from factorcomp.streaming.subtree import Below, Carried, Level, ascend
from factorcomp.streaming.totals import MARKS, Tally, Totals

Rows = Float[np.ndarray, "prefixes vocab"]
Numbers = Float[np.ndarray, "prefixes 1"]


class UnfitError(Exception):
    """The block is not clean, or that cannot be told."""


def visit(plan: Plan, values: Sequence[Sequence[Rows]], heads: Carried, number: int) -> tuple[Below, Totals]:
    """The subtrees below consecutive heads, by their rows `values[level][model]`.

    **Arguments:** `heads`: what they inherit, `[heads, 1]`. `number`: of the stretch.

    **Returns:** what they hand back, `[heads, 1]`, and the totals. Raises `UnfitError`.
    """
    if not heads.reachable.all():
        raise UnfitError
    tally = Tally(plan, np)
    levels, inherited = [], heads
    for n, models in enumerate(values):
        length, last = plan.above + n, n == plan.tail - 1
        deviates, probs = _compare(plan, length, models, tally, needed=not last)
        starts = deviates & ~inherited.last
        runs = inherited.runs
        if starts.any():
            runs = tuple(r + (starts >> np.uint32(i) & np.uint32(1)).astype(np.int32) for i, r in enumerate(runs))
        inherited = inherited._replace(runs=runs)
        levels.append(Level(inherited, np.ones(deviates.shape, dtype=bool), deviates, None))
        tally.mark(length, deviates << np.uint32(len(MARKS)))
        if not last:
            assert probs is not None
            inherited = _children(plan, inherited, deviates, probs)
    tally.largest("log_z_max", np.float64(0.0))
    tally.largest("minus_log_z_min", np.float64(0.0))
    tally.runs = [r.max() for r in inherited.runs]
    tally.tv_to_switching = (heads.reach * np.maximum(1.0 - heads.ratio, 0.0)).sum()
    below = ascend(plan, plan.above, levels, None, tally)
    return below, tally.totals(np.int64(number))


def _children(plan: Plan, parent: Carried, deviates: UInt32[np.ndarray, "prefixes 1"], probs: Rows) -> Carried:
    reach = (parent.reach * probs).reshape(-1, 1)

    def to_all(x: Shaped[np.ndarray, "prefixes 1"]) -> Shaped[np.ndarray, "longer 1"]:
        return np.repeat(x, plan.vocab, axis=0)

    return Carried(
        reach, np.broadcast_to(np.True_, reach.shape), to_all(parent.ratio), (), None,
        to_all(parent.began | deviates), to_all(deviates), tuple(to_all(r) for r in parent.runs),
    )  # fmt: skip


def _compare(
    plan: Plan, length: int, models: Sequence[Rows], tally: Tally, *, needed: bool
) -> tuple[UInt32[np.ndarray, "prefixes 1"], Rows | None]:
    """Who deviates after the prefixes of one length, and the composition's rows where they are needed."""
    base = models[0]
    _check_size(plan, base)
    bits = np.zeros(len(base), dtype=np.uint32)
    composed = probabilities(plan.scale, base.T.astype(np.float64)).T if needed else None
    for i, rows in enumerate(models[1:]):
        unlike = np.flatnonzero(_some(rows != base))
        if not len(unlike):
            continue
        if bits[unlike].any():
            raise UnfitError
        mine, theirs = (np.ascontiguousarray(x[unlike].T, dtype=np.float64) for x in (rows, base))
        _check_size(plan, mine)
        value = _decided(plan, i, mine, theirs)
        weight = 1.0 if plan.weights is None else float(plan.weights[i])
        tally.oscillation[i] = max(tally.oscillation[i], weight * value.max())
        bits[unlike] = np.uint32(1 << i)
        if composed is not None or length in plan.elsewhere[i]:
            own = probabilities(plan.scale, mine)
            if weight != 1:
                own = tilted(probabilities(plan.scale, theirs), own, weight)
            if composed is not None:
                composed[unlike] = own.T
            if length in plan.elsewhere[i]:
                apart = 0.5 * np.abs(own - probabilities(plan.scale, theirs)).sum(axis=0).max()
                tally.distance[i][length] = max(tally.distance[i][length], apart)
    return bits[:, None], composed


def _decided(
    plan: Plan, i: int, mine: Float[np.ndarray, "vocab rows"], theirs: Float[np.ndarray, "vocab rows"]
) -> Float[np.ndarray, " rows"]:
    """The oscillation of the log-ratio, beyond 0 and the threshold for sure."""
    logs = plan.scale != "probs"
    f = mine - theirs if logs else mine / theirs
    high, low = f.max(axis=0), f.min(axis=0)
    value = high - low if logs else np.log(high / low)
    limit = float(plan.threshold) / (1.0 if plan.weights is None else float(plan.weights[i]))
    size = 2 * LARGEST_LOG if logs else 0.0
    if not (value > limit + 8 * EPS * (2 * size + value + limit + 1)).all():
        raise UnfitError
    return value


def _check_size(plan: Plan, rows: Float[np.ndarray, "_ _"]) -> None:
    """Whether every probability is positive, and none too small."""
    fits = rows.min() >= SMALLEST if plan.scale == "probs" else rows.min() >= -LARGEST_LOG and rows.max() <= LARGEST_LOG
    if not fits:
        raise UnfitError


def _some(flags: Bool[np.ndarray, "prefixes vocab"]) -> Bool[np.ndarray, " prefixes"]:
    """Whether any flag of a row is up; rows of 2, 4 and 8 flags are read as one number."""
    if (width := flags.shape[1]) in (2, 4, 8):
        return flags.view(f"u{width}")[:, 0] != 0
    return np.asarray(flags.any(axis=1))
