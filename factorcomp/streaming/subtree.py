"""A subtree visited: down with the laws, up with what lies below, and all that is counted on the way."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from factorcomp.models.rows import EPS
from factorcomp.streaming.arrays import Array, each, fold, has, several
from factorcomp.streaming.forward import Composed, compose
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import Bits, Compared, Flags, Given, LevelValues, Numbers, Values, compare, components
from factorcomp.streaming.totals import MARKS, Tally, marked


class Carried(NamedTuple):
    """What prefixes inherit, `[prefixes, lanes]`.

    `reach`: the composition's probability; `reachable`: whether it is positive, by supports (a product may underflow).
    `ratio`: the switching model's probability over it, where it is reachable. `laws`: the components' probabilities,
    with EOS. `ended`: the prefix contains EOS. `began`: who deviated before; `last`: who did at the parent; `runs`: how
    many separate runs of deviation there were, of each expert.
    """

    reach: Numbers
    reachable: Flags
    ratio: Numbers
    laws: tuple[Numbers, ...]
    ended: Flags | None
    began: Bits
    last: Bits
    runs: tuple[Int[Array, "prefixes lanes"], ...]


class Below(NamedTuple):
    """What prefixes hand back to their parents, `[prefixes, lanes]`.

    `ahead`: who deviates there or below. `overlap`, `conflict`: the probability of meeting a prefix where two experts
    deviate, are active. `ends`: a reachable prefix there or below contains EOS; `None` without EOS. `mean`: `B`, the
    expectation of the product of all `Z` from there on (Theorem 1.5), 1 where it is not reachable; `unsettled`: a `Z`
    there or below may not be 1.
    """

    ahead: Bits
    overlap: Numbers
    conflict: Numbers
    ends: Flags | None
    mean: Numbers
    unsettled: Flags


class Level(NamedTuple):
    """The prefixes of one length on the way down, kept for the way up."""

    inherited: Carried
    in_scope: Flags
    deviates: Bits
    composed: Composed


class Rows(NamedTuple):
    """The rows at the prefixes of one length."""

    compared: Compared
    components: tuple[Values, ...]
    composed: Composed


def root(plan: Plan) -> Carried:
    """The empty prefix."""
    one, zero = np.ones((1, 1)), np.zeros((1, 1), dtype=np.uint32)
    with_eos = plan.eos is not None
    laws = (one,) * (plan.experts + 1) if with_eos else ()
    runs = (np.zeros((1, 1), dtype=np.int32),) * plan.experts
    return Carried(one, one > 0, one, laws, one < 0 if with_eos else None, zero, zero, runs)


def examine(plan: Plan, values: Sequence[tuple[LevelValues, ...]], given: Sequence[Given] | None = None) -> list[Rows]:
    """What the rows of each level say by themselves; all levels but the last, the largest one, at once."""
    if not values:
        return []
    *upper, last = values
    sizes = [level[0].shape[1] for level in upper]
    groups = [last]
    if upper:
        groups.insert(0, tuple(np.concatenate(parts, axis=1) for parts in zip(*upper, strict=True)))
    levels: list[Rows] = []
    for group in groups:
        known = None
        if given is not None:
            parts = given[-1:] if group is last else given[:-1]
            known = Given(*(np.concatenate(bits) for bits in zip(*parts, strict=True)))
        compared = compare(plan, group, known)
        probs = components(plan, group)
        rows = Rows(compared, probs, compose(plan, probs, compared))
        levels += [rows] if group is last else _cut(rows, sizes)
    return levels


def _cut(rows: Rows, sizes: Sequence[int]) -> list[Rows]:
    """The levels of rows side by side."""

    def part(start: int, stop: int) -> Rows:
        return each(lambda x: x[..., start:stop, :] if x.ndim > 1 else x, rows)

    return [part(sum(sizes[:n]), sum(sizes[: n + 1])) for n in range(len(sizes))]


def descend(
    plan: Plan, length: int, rows: Sequence[Rows], carried: Carried, tally: Tally
) -> tuple[list[Level], Carried]:
    """From heads of `length` tokens through the levels with these `rows`.

    **Returns:** the levels, and what the prefixes after them inherit; at the end of the tree, what the last ones do.
    """
    levels = []
    for n, level in enumerate(rows):
        scope = carried.reachable if plan.reachable_only else np.ones_like(carried.reachable)
        deviates = np.where(scope, level.compared.deviates, np.uint32(0))
        starts = deviates & ~carried.last
        carried = carried._replace(runs=tuple(r + has(starts, i) for i, r in enumerate(carried.runs)))
        levels.append(Level(carried, scope, deviates, level.composed))
        _take_in(plan, length + n, level, levels[-1], tally)
        if length + n + 1 < plan.horizon:
            carried = children(plan, level, carried, deviates)
    return levels, carried


def children(plan: Plan, rows: Rows, parent: Carried, deviates: Bits) -> Carried:
    """What the prefixes one token longer inherit: `P(hy) = P(h) p(y|h)`."""
    shape = (plan.vocab, *parent.reach.shape)

    def to_all(x: Array) -> Array:
        return np.broadcast_to(x, shape)

    undefined, probs, ended = rows.composed.undefined, rows.composed.probs, parent.ended
    if ended is not None:
        ended = in_order(ended | (np.arange(plan.vocab) == plan.eos)[:, None, None])
    return Carried(
        in_order(np.where(undefined, 0.0, parent.reach) * probs),
        in_order((parent.reachable & ~undefined) & (probs > 0)),
        in_order(parent.ratio * rows.composed.turn),
        tuple(in_order(law * p) for law, p in zip(parent.laws, rows.components, strict=False)),
        ended,
        in_order(to_all(parent.began | deviates)),
        in_order(to_all(deviates)),
        tuple(in_order(to_all(r)) for r in parent.runs),
    )


def in_order(values: Array) -> Array:
    """`[vocab, prefixes, lanes]` as values of the prefixes one token longer."""
    return values.swapaxes(0, 1).reshape(-1, values.shape[-1])


def normalizer(composed: Composed, reachable: Flags) -> Numbers:
    """`Z` where the composition goes on from a prefix that it reaches, 1 elsewhere."""
    return np.exp(np.where(reachable & ~composed.undefined, composed.log_z, 0.0))


def _take_in(plan: Plan, length: int, rows: Rows, level: Level, tally: Tally) -> None:
    """What is known on the way down."""
    scope, inherited = level.in_scope, level.inherited
    compared, composed = rows.compared, rows.composed
    tally.largest("open", compared.open * 1.0)
    tally.largest("extreme", compared.extreme * 1.0)
    tally.mark(length, level.deviates << np.uint32(len(MARKS)))
    for i in range(plan.experts):
        there = scope & has(compared.differs, i)
        size = np.where(there, compared.oscillation[i], 0.0)
        tally.oscillation[i] = np.maximum(tally.oscillation[i], size.max())
        if length in plan.elsewhere[i]:
            distance = 0.5 * fold(np.add, np.abs(rows.components[i + 1] - rows.components[0]))
            tally.distance[i][length] = np.where(there, distance, 0.0).max()
    bad = composed.undefined & scope
    sound = scope & ~composed.undefined
    tally.undefined = tally.undefined + np.where(bad, inherited.reach, 0.0).sum(axis=0).sum()
    tally.largest("log_z_max", np.where(sound, composed.log_z, -np.inf).max())
    tally.largest("minus_log_z_min", np.where(sound, -composed.log_z, -np.inf).max())
    tally.largest("far", np.where(sound, composed.far, 0.0).max())
    tally.largest("error", composed.error)
    flags = {"undefined": bad}
    for size, differs, unsure in (
        (np.abs(composed.log_z), "z_differs", "z_unsure"),
        (composed.far, "far", "far_unsure"),
    ):
        flags |= {differs: sound & ~(size <= composed.error)}
        flags |= {unsure: sound & (size <= composed.error) & ~composed.settled}
    tally.mark(length, marked(**flags))
    if inherited.ended is not None:
        for j, law in enumerate((*inherited.laws, np.where(inherited.reachable, inherited.reach, 0.0))):
            tally.lengths[j] = tally.lengths[j] + np.where(inherited.ended, 0.0, law).sum(axis=0).sum()


def close(plan: Plan, rows: Rows, levels: Sequence[Level], tally: Tally) -> Flags | None:
    """The masses of sequences after the last level: `TV = sum (P - S)_+` where `P` goes, with `S = P ratio`.

    **Returns:** which sequences have ended, with EOS.
    """
    last = levels[-1].inherited
    tally.runs = [np.maximum(most, r.max()) for most, r in zip(tally.runs, last.runs, strict=True)]
    leaves = children(plan, rows, last, levels[-1].deviates)
    apart = np.where(leaves.reachable, leaves.reach * np.maximum(1.0 - leaves.ratio, 0.0), 0.0)
    tally.tv_to_switching = tally.tv_to_switching + apart.sum(axis=0).sum()
    if leaves.ended is None:
        return None
    running = leaves.reachable & ~leaves.ended
    tally.unended = tally.unended + np.where(running, leaves.reach, 0.0).sum(axis=0).sum()
    tally.largest("unended", running.any() * 1.0)
    return leaves.reachable & leaves.ended


def ascend(plan: Plan, length: int, levels: Sequence[Level], below: Below | Flags | None, tally: Tally) -> Below:
    """From what the prefixes after a slab hand back to what its heads, of `length` tokens, do.

    `below`: after the last level of the tree only which sequences have ended, with EOS.
    """
    k = plan.experts
    for n, level in reversed(list(enumerate(levels))):
        inherited, scope, children = level.inherited, level.in_scope, _gathered(plan, level, below, tally, length + n)
        ahead = level.deviates | children.ahead
        active = np.where(scope, (inherited.began | level.deviates) & ahead, np.uint32(0))
        tally.active[length + n] = active
        overlap, conflict = several(level.deviates), several(active)
        marks, ends = marked(overlap=overlap, conflict=conflict), None
        if children.ends is not None:
            ends = (inherited.reachable & inherited.ended) | children.ends
            marks = marks | marked(endless=inherited.reachable & ~ends)
        tally.mark(length + n, marks)
        features = scope.astype(np.int64)
        for place, bits in enumerate((level.deviates, level.deviates & ~inherited.began, active)):
            features = features | (bits.astype(np.int64) << (1 + place * k))
        tally.count(features, inherited.reach)
        meets_overlap = np.where(overlap, inherited.reach, children.overlap)
        meets_conflict = np.where(conflict, inherited.reach, children.conflict)
        below = Below(ahead, meets_overlap, meets_conflict, ends, children.mean, children.unsettled)
    assert isinstance(below, Below)
    return below


def _gathered(plan: Plan, level: Level, below: Below | Flags | None, tally: Tally, length: int) -> Below:
    """What the children hand back, for each parent."""

    def families(x: Array) -> Array:
        return x.reshape(-1, plan.vocab, x.shape[-1]).swapaxes(0, 1)

    if not isinstance(below, Below):
        nothing = np.zeros_like(level.inherited.reach)
        ended = None if below is None else fold(np.logical_or, families(below))
        unsettled = level.inherited.reachable & ~level.composed.settled
        return Below(np.zeros_like(level.deviates), nothing, nothing, ended, _mean(level, nothing + 1.0), unsettled)
    ahead = fold(np.bitwise_or, families(below.ahead))
    overlap, conflict = (fold(np.add, families(mass)) for mass in (below.overlap, below.conflict))
    ends = None if below.ends is None else fold(np.logical_or, families(below.ends))
    return Below(ahead, overlap, conflict, ends, *_following(plan, level, families, below, tally, length))


def _following(
    plan: Plan, level: Level, families: Any, below: Below, tally: Tally, length: int
) -> tuple[Numbers, Flags]:
    """`B`, and marks where the next token's law under the sequence-level composition differs: `B` varies by child."""
    composed, reachable = level.composed, level.inherited.reachable
    there = composed.probs > 0
    means = families(below.mean)
    high = fold(np.maximum, np.where(there, means, 0.0))
    low = fold(np.minimum, np.where(there, means, np.inf))
    apart = reachable & fold(np.logical_or, families(below.unsettled) & there)
    spread = np.where(apart, np.log(np.where(apart, high, 1.0) / np.where(apart, low, 1.0)), 0.0)
    tolerance = 4 * plan.horizon * tally.maxima["error"] + 64 * EPS * (plan.horizon + 1)
    tally.largest("following", np.where(np.isnan(spread), np.inf, spread).max())
    tally.mark(
        length,
        marked(following=apart & ~(spread <= tolerance), following_unsure=apart & (spread <= tolerance)),
    )
    mean = fold(np.add, composed.probs * means)
    unsettled = apart | (reachable & ~composed.settled)
    return _mean(level, mean), unsettled


def _mean(level: Level, following: Numbers) -> Numbers:
    """`Z` times what follows, where the prefix is reachable."""
    reachable = level.inherited.reachable
    sound = reachable & ~level.composed.undefined
    return np.where(sound, normalizer(level.composed, reachable) * following, 1.0)
