"""Stretches in which the composition is one component at every prefix: NumPy, at the speed of memory, no compilation.

Arrays are `[prefixes]` and `[prefixes, vocab]`, as the tables lie. Rows are compared in pieces that stay in a core's
cache, and only those that are not the background's are looked at more closely. Stretches where two experts differ at a
prefix, a probability is 0 or tiny, or rounding leaves anything open are left to the general program. In the others `Z`
is 1 and no two experts deviate at once: nothing of that is computed.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped, UInt, UInt8

from factorcomp.models.rows import EPS
from factorcomp.streaming.arrays import UNROLLED, fold, several
from factorcomp.streaming.conditionals import pieces
from factorcomp.streaming.forward import rounding
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import LARGEST_LOG, SMALLEST, probabilities, tilted
from factorcomp.streaming.subtree import Below, Carried
from factorcomp.streaming.totals import MARKS, NOWHERE, Tally, Totals

Rows = Float[np.ndarray, "prefixes vocab"]
Values = Sequence[Sequence[Float[np.ndarray, "_ vocab"]]]
Numbers = Float[np.ndarray, " prefixes"]
Sets = UInt[np.ndarray, " prefixes"]
PIECE = 1 << 16
"""Numbers compared at once: many enough that asking for it takes no time."""


class UnfitError(Exception):
    """The stretch is not clean, or that cannot be told."""


class Level(NamedTuple):
    """The prefixes of one length: their probabilities, who deviated before, and who deviates there."""

    reach: Numbers
    began: Sets
    deviates: Sets


def visit(plan: Plan, values: Values, heads: Carried, number: int) -> tuple[Below, Totals]:
    """The subtrees below consecutive heads, by their rows `values[level][model]`.

    **Arguments:** `heads`: what they inherit, `[heads, 1]`. `number`: of the first one's stretch.

    **Returns:** what they hand back, `[heads, 1]`, and the totals. Raises `UnfitError`.
    """
    if not heads.reachable.all():
        raise UnfitError
    tally = Tally(plan)
    levels = _descend(plan, values, heads, tally)
    below, first = _ascend(plan, levels, tally)
    tally.tv_to_switching = (heads.reach * np.maximum(1.0 - heads.ratio, 0.0)).sum()  # the ratio stays below a head
    tally.largest("log_z_max", 0.0)
    tally.largest("minus_log_z_min", 0.0)
    first = np.where(first < NOWHERE, number + first, NOWHERE)
    return below, tally.totals(np.int64(number))._replace(first=first)


def _descend(plan: Plan, values: Values, heads: Carried, tally: Tally) -> list[Level]:
    """All levels, with the laws; and the runs of deviation."""
    kind = _bits_of(plan.experts)
    reach, began, last = heads.reach[:, 0], heads.began[:, 0].astype(kind), heads.last[:, 0].astype(kind)
    runs = [r[:, 0].astype(np.uint8) for r in heads.runs]
    levels = []
    for n, models in enumerate(values):
        deviates = _compare(plan, plan.above + n, models, kind, tally)
        runs = _counting(runs, deviates & ~last, plan.vocab)
        levels.append(Level(reach, began, deviates))
        if n + 1 < plan.tail:
            reach = _children(reach, _composed(plan, models, deviates))
            began, last = _repeated(began | deviates, plan.vocab), _repeated(deviates, plan.vocab)
    tally.runs = [r.max().astype(np.int32) for r in runs]
    return levels


def _ascend(plan: Plan, levels: Sequence[Level], tally: Tally) -> tuple[Below, Int[np.ndarray, "positions marks"]]:
    """What the heads hand back; and the first stretch with each mark, from 0 on: who is active where is known here."""
    k = plan.experts
    first = np.full((plan.horizon, len(MARKS) + k), NOWHERE, dtype=np.int64)
    kind = _bits_of(1 + 3 * k)
    ahead = meets = None
    for n, (reach, began, deviates) in reversed(list(enumerate(levels))):
        ahead = deviates if ahead is None else deviates | _folded(np.bitwise_or, ahead.reshape(-1, plan.vocab))
        active = (began | deviates) & ahead
        features = np.ones(len(reach), dtype=kind)
        for place, bits in enumerate((deviates, deviates & ~began, active)):
            features |= bits.astype(kind) * kind(2 << place * k)  # faster than a shift
        tally.count(features, reach)
        conflict = several(active)
        for mark in (MARKS.index("conflict"), *range(len(MARKS), len(MARKS) + k)):
            flags = conflict if mark < len(MARKS) else deviates & (1 << (mark - len(MARKS))) != 0
            if flags.any():
                first[plan.above + n, mark] = flags.argmax() // (plan.stretch * plan.vocab**n)
        if meets is not None:
            meets = np.where(conflict, reach, _folded(np.add, meets.reshape(-1, plan.vocab)))
        elif conflict.any():
            meets = np.where(conflict, reach, 0.0)
    assert ahead is not None
    nothing = np.zeros((len(ahead), 1))
    conflicts = nothing if meets is None else meets[:, None]
    below = Below(ahead.astype(np.uint32)[:, None], nothing, conflicts, None, nothing + 1.0, nothing > 0)
    return below, first


def _compare(plan: Plan, length: int, models: Sequence[Rows], kind: type, tally: Tally) -> Sets:
    """Who deviates after the prefixes of one length."""
    base, *own = models
    deviates, size = np.zeros(len(base), dtype=kind), 0.0
    for piece in pieces(*base.shape, PIECE):
        theirs, here = base[piece], deviates[piece]
        size = max(size, _size(plan, theirs))
        for i, rows in enumerate(own):
            mine = rows[piece]
            flags = mine != theirs
            if not flags.any():
                continue
            unlike = _folded(np.bitwise_or, _words(flags)) != 0
            if here.any() and (unlike & (here != 0)).any():
                raise UnfitError
            here |= unlike.astype(kind) * kind(1 << i)
            pair = (mine, theirs) if unlike.all() else tuple(x.compress(unlike, axis=0) for x in (mine, theirs))
            size = max(size, _size(plan, pair[0]))
            tally.oscillation[i] = max(tally.oscillation[i], _oscillation(plan, i, *pair))
            if length in plan.elsewhere[i]:
                base_row, own_row = _components(plan, i, *pair)
                apart = 0.5 * np.abs(own_row - base_row).sum(axis=0).max()
                tally.distance[i][length] = max(tally.distance[i][length], apart)
    tally.largest("error", rounding(plan, np.float64(size)))
    return deviates


def _size(plan: Plan, rows: Rows) -> float:
    """The largest log, 0 for probabilities; raises `UnfitError` where a probability is 0 or too small."""
    low = float(rows.min())
    if plan.scale == "probs":
        if not low >= SMALLEST:
            raise UnfitError
        return 0.0
    size = max(-low, float(rows.max()))
    if not (-low <= LARGEST_LOG and size <= LARGEST_LOG):
        raise UnfitError
    return size


def _oscillation(plan: Plan, i: int, mine: Rows, theirs: Rows) -> float:
    """The largest oscillation of the log-ratio, where all are beyond 0 and the threshold for sure."""
    logs = plan.scale != "probs"
    f = np.subtract(mine, theirs, dtype=np.float64) if logs else np.divide(mine, theirs, dtype=np.float64)
    high, low = _folded(np.maximum, f), _folded(np.minimum, f)
    with np.errstate(over="ignore"):
        each = high - low if logs else high / low
    least, most = (float(x if logs else np.log(x)) for x in (each.min(), each.max()))
    weight = 1.0 if plan.weights is None else float(plan.weights[i])
    limit = float(plan.threshold) / weight
    size = 2 * LARGEST_LOG if logs else 0.0
    if not (least > limit + 8 * EPS * (2 * size + least + limit + 1) and most < np.inf):
        raise UnfitError
    return weight * most


def _components(plan: Plan, i: int, mine: Rows, theirs: Rows) -> Sequence[Float[np.ndarray, "vocab prefixes"]]:
    """The probabilities of the background and of the (tilted) expert."""
    base, own = (probabilities(plan.scale, x.T.astype(np.float64)) for x in (theirs, mine))
    weight = 1.0 if plan.weights is None else float(plan.weights[i])
    return base, own if weight == 1 else tilted(base, own, weight)


def _composed(plan: Plan, models: Sequence[Rows], deviates: Sets) -> Rows:
    """The rows of who deviates, or of the background: proportions, to be written over."""
    who = int(deviates[0]).bit_length() if (deviates == deviates[0]).all() else 0
    composed = _proportions(plan, models[who])
    for i, rows in enumerate(models[1:]):
        there = deviates == 1 << i
        tilts = plan.weights is not None and plan.weights[i] != 1
        if not there.any() or (who == i + 1 and not tilts):
            continue
        mine, theirs = (x.compress(there, axis=0) for x in (rows, models[0]))
        composed[there] = _components(plan, i, mine, theirs)[1].T if tilts else _proportions(plan, mine)
    if not composed.min() > 0:  # tilted away
        raise UnfitError
    return composed


def _proportions(plan: Plan, rows: Rows) -> Rows:
    """Of probabilities; logs are within `LARGEST_LOG`, so that their exponentials are numbers."""
    return rows.astype(np.float64) if plan.scale == "probs" else np.exp(rows, dtype=np.float64)


def _children(reach: Numbers, rows: Rows) -> Float[np.ndarray, " children"]:
    """`P(hy) = P(h) p(y|h)`, with `p` in proportion to `rows`, in their place."""
    for piece in pieces(*rows.shape, PIECE):
        here = rows[piece]
        scale = reach[piece] / _folded(np.add, here)
        if here.shape[1] > UNROLLED:
            here *= scale[:, None]
        else:
            for column in here.T:
                column *= scale
    return rows.reshape(-1)


def _counting(runs: list[UInt8[np.ndarray, "_"]], starts: Sets, vocab: int) -> list[UInt8[np.ndarray, "_"]]:
    """The runs of deviation so far, of each expert, where one may start; as they were above if none does."""
    if not starts.any():
        return runs
    counts = []
    for i, count in enumerate(runs):
        here = starts & (1 << i) != 0
        if here.any():
            while len(count) < len(here):
                count = _repeated(count, vocab)
            count = count + here.view(np.uint8)
        counts.append(count)
    return counts


def _bits_of(number: int) -> type[np.integer]:
    """The smallest integers with so many bits that `np.bincount` takes."""
    return next(kind for kind in (np.uint8, np.uint16, np.uint32, np.int64) if np.iinfo(kind).bits >= number)


def _repeated(values: Shaped[np.ndarray, "_"], times: int) -> Shaped[np.ndarray, "_"]:
    """Each value so often; bytes as a product with `0x0101…`."""
    if values.itemsize == 1 and times in (2, 4, 8):
        word = np.dtype(f"u{times}").type
        return (values.astype(word) * word(int.from_bytes(b"\1" * times))).view(values.dtype)
    return np.repeat(values, times)


def _words(flags: Bool[np.ndarray, "prefixes vocab"]) -> UInt[np.ndarray, "prefixes words"]:
    """The flags of a row as few numbers."""
    width = next(width for width in (8, 4, 2, 1) if flags.shape[1] % width == 0)
    return flags.view(f"u{width}")


def _folded(operation: Any, rows: Shaped[np.ndarray, "prefixes _"]) -> Shaped[np.ndarray, " prefixes"]:
    """Combines the numbers of a row: neighbours first, as they lie in memory."""
    width, flat = rows.shape[1], rows.reshape(-1)
    while width % 2 == 0:
        flat, width = operation(flat[::2], flat[1::2]), width // 2
    return fold(operation, flat.reshape(-1, width).T)
