"""A subtree visited: down with the laws, up with what lies below, and all that is counted on the way."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxtyping import Float, Int

from factorcomp.models.rows import EPS
from factorcomp.streaming.arrays import Array, each, fold, has, namespace, settle, several
from factorcomp.streaming.forward import Composed, compose
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import Bits, Compared, Flags, Given, Numbers, Values, compare, components
from factorcomp.streaming.totals import MARKS, Tally, marked


LevelValues = Float[Array, "vocab _ lanes"]  # of levels, which hold different numbers of prefixes


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
    composed: Composed | None


class Rows(NamedTuple):
    """The rows at the prefixes of one length."""

    compared: Compared
    components: tuple[Values, ...]
    composed: Composed


def root(plan: Plan, xp: Any) -> Carried:
    """The empty prefix."""
    one, zero = xp.ones((1, 1)), xp.zeros((1, 1), dtype=xp.uint32)
    with_eos = plan.eos is not None
    laws = (one,) * (plan.experts + 1) if with_eos else ()
    runs = (xp.zeros((1, 1), dtype=xp.int32),) * plan.experts
    return Carried(one, one > 0, one, laws, one < 0 if with_eos else None, zero, zero, runs)


def examine(plan: Plan, values: Sequence[tuple[LevelValues, ...]], given: Sequence[Given] | None = None) -> list[Rows]:
    """What the rows of each level say by themselves; all levels but the last, the largest one, at once."""
    if not values:
        return []
    xp = namespace(values[0][0])
    *upper, last = values
    sizes = [level[0].shape[1] for level in upper]
    groups = [last]
    if upper:
        groups.insert(0, settle(tuple(xp.concatenate(parts, axis=1) for parts in zip(*upper, strict=True))))
    levels: list[Rows] = []
    for group in groups:
        known = None
        if given is not None:
            parts = given[-1:] if group is last else given[:-1]
            known = Given(*(xp.concatenate(bits) for bits in zip(*parts, strict=True)))
        compared = compare(plan, group, known)
        probs = components(plan, group)
        rows = settle(Rows(compared, probs, compose(plan, probs, compared)))
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
    xp = tally.xp
    levels = []
    for n, level in enumerate(rows):
        scope = carried.reachable if plan.reachable_only else xp.ones_like(carried.reachable)
        deviates = xp.where(scope, level.compared.deviates, xp.uint32(0))
        starts = deviates & ~carried.last
        carried = carried._replace(runs=tuple(r + has(starts, i) for i, r in enumerate(carried.runs)))
        levels.append(Level(carried, scope, deviates, level.composed))
        _take_in(plan, length + n, level, levels[-1], tally)
        if length + n + 1 < plan.horizon:
            carried = settle(children(plan, level, carried, deviates))
    return levels, carried


def children(plan: Plan, rows: Rows, parent: Carried, deviates: Bits) -> Carried:
    """What the prefixes one token longer inherit: `P(hy) = P(h) p(y|h)`."""
    xp = namespace(deviates)
    shape = (plan.vocab, *parent.reach.shape)

    def to_all(x: Array) -> Array:
        return xp.broadcast_to(x, shape)

    def in_order(x: Array) -> Array:
        return x.swapaxes(0, 1).reshape(-1, x.shape[-1])

    undefined, probs, ended = rows.composed.undefined, rows.composed.probs, parent.ended
    if ended is not None:
        ended = in_order(ended | (xp.arange(plan.vocab) == plan.eos)[:, None, None])
    return Carried(
        in_order(xp.where(undefined, 0.0, parent.reach) * probs),
        in_order((parent.reachable & ~undefined) & (probs > 0)),
        in_order(parent.ratio * rows.composed.turn),
        tuple(in_order(law * p) for law, p in zip(parent.laws, rows.components, strict=False)),
        ended,
        in_order(to_all(parent.began | deviates)),
        in_order(to_all(deviates)),
        tuple(in_order(to_all(r)) for r in parent.runs),
    )


def _take_in(plan: Plan, length: int, rows: Rows, level: Level, tally: Tally) -> None:
    """What is known on the way down."""
    xp, scope, inherited = tally.xp, level.in_scope, level.inherited
    compared, composed = rows.compared, rows.composed
    tally.largest("open", compared.open * 1.0)
    tally.largest("extreme", compared.extreme * 1.0)
    tally.mark(length, level.deviates << xp.uint32(len(MARKS)))
    for i in range(plan.experts):
        there = scope & has(compared.differs, i)
        size = xp.where(there, compared.oscillation[i], 0.0)
        tally.oscillation[i] = xp.maximum(tally.oscillation[i], size.max())
        if length in plan.elsewhere[i]:
            distance = 0.5 * fold(xp.add, xp.abs(rows.components[i + 1] - rows.components[0]))
            tally.distance[i][length] = xp.where(there, distance, 0.0).max()
    bad = composed.undefined & scope
    sound = scope & ~composed.undefined
    tally.undefined = tally.undefined + xp.where(bad, inherited.reach, 0.0).sum(axis=0).sum()
    tally.largest("log_z_max", xp.where(sound, composed.log_z, -xp.inf).max())
    tally.largest("minus_log_z_min", xp.where(sound, -composed.log_z, -xp.inf).max())
    tally.largest("far", xp.where(sound, composed.far, 0.0).max())
    tally.largest("error", composed.error)
    flags = {"undefined": bad}
    for size, differs, unsure in (
        (xp.abs(composed.log_z), "z_differs", "z_unsure"),
        (composed.far, "far", "far_unsure"),
    ):
        flags |= {differs: sound & ~(size <= composed.error)}
        flags |= {unsure: sound & (size <= composed.error) & ~composed.settled}
    tally.mark(length, marked(**flags))
    if inherited.ended is not None:
        for j, law in enumerate((*inherited.laws, xp.where(inherited.reachable, inherited.reach, 0.0))):
            tally.lengths[j] = tally.lengths[j] + xp.where(inherited.ended, 0.0, law).sum(axis=0).sum()


def close(plan: Plan, rows: Rows, levels: Sequence[Level], tally: Tally) -> Flags | None:
    """The masses of sequences after the last level: `TV = sum (P - S)_+` where `P` goes, with `S = P ratio`.

    **Returns:** which sequences have ended, with EOS.
    """
    xp, last = tally.xp, levels[-1].inherited
    tally.runs = [xp.maximum(most, r.max()) for most, r in zip(tally.runs, last.runs, strict=True)]
    leaves = children(plan, rows, last, levels[-1].deviates)
    apart = xp.where(leaves.reachable, leaves.reach * xp.maximum(1.0 - leaves.ratio, 0.0), 0.0)
    tally.tv_to_switching = tally.tv_to_switching + apart.sum(axis=0).sum()
    if leaves.ended is None:
        return None
    running = leaves.reachable & ~leaves.ended
    tally.unended = tally.unended + xp.where(running, leaves.reach, 0.0).sum(axis=0).sum()
    tally.largest("unended", running.any() * 1.0)
    return leaves.reachable & leaves.ended


def ascend(plan: Plan, length: int, levels: Sequence[Level], below: Below | Flags | None, tally: Tally) -> Below:
    """From what the prefixes after a slab hand back to what its heads, of `length` tokens, do.

    `below`: after the last level of the tree only which sequences have ended, with EOS.
    """
    xp, k = tally.xp, plan.experts
    for n, level in reversed(list(enumerate(levels))):
        inherited, scope, children = level.inherited, level.in_scope, _gathered(plan, level, below, tally, length + n)
        ahead = level.deviates | children.ahead
        active = xp.where(scope, (inherited.began | level.deviates) & ahead, xp.uint32(0))
        tally.active[length + n] = active
        overlap, conflict = several(level.deviates), several(active)
        marks, ends = marked(overlap=overlap, conflict=conflict), None
        if children.ends is not None:
            ends = (inherited.reachable & inherited.ended) | children.ends
            marks = marks | marked(endless=inherited.reachable & ~ends)
        tally.mark(length + n, marks)
        features = scope.astype(xp.uint64)
        for place, bits in enumerate((level.deviates, level.deviates & ~inherited.began, active)):
            features = features | (bits.astype(xp.uint64) << xp.uint64(1 + place * k))
        tally.count(features, inherited.reach)
        meets_overlap = xp.where(overlap, inherited.reach, children.overlap)
        meets_conflict = xp.where(conflict, inherited.reach, children.conflict)
        below = settle(Below(ahead, meets_overlap, meets_conflict, ends, children.mean, children.unsettled))
    assert isinstance(below, Below)
    return below


def _gathered(plan: Plan, level: Level, below: Below | Flags | None, tally: Tally, length: int) -> Below:
    """What the children hand back, for each parent."""
    xp = tally.xp

    def families(x: Array) -> Array:
        return x.reshape(-1, plan.vocab, x.shape[-1]).swapaxes(0, 1)

    if not isinstance(below, Below):
        nothing = xp.zeros_like(level.inherited.reach)
        ended = None if below is None else fold(xp.logical_or, families(below))
        if level.composed is None:
            mean, unsettled = nothing + 1.0, nothing > 0
        else:
            unsettled = level.inherited.reachable & ~level.composed.settled
            mean = _mean(level, nothing + 1.0)
        return Below(xp.zeros_like(level.deviates), nothing, nothing, ended, mean, unsettled)
    ahead = fold(xp.bitwise_or, families(below.ahead))
    overlap, conflict = (fold(xp.add, families(mass)) for mass in (below.overlap, below.conflict))
    ends = None if below.ends is None else fold(xp.logical_or, families(below.ends))
    if level.composed is None:
        return Below(ahead, overlap, conflict, ends, overlap * 0.0 + 1.0, overlap < 0)
    return Below(ahead, overlap, conflict, ends, *_following(plan, level, families, below, tally, length))


def _following(
    plan: Plan, level: Level, families: Any, below: Below, tally: Tally, length: int
) -> tuple[Numbers, Flags]:
    """`B`, and marks where the next token's law under the sequence-level composition differs: `B` varies by child."""
    xp, composed, reachable = tally.xp, level.composed, level.inherited.reachable
    assert composed is not None
    there = composed.probs > 0
    means = families(below.mean)
    high = fold(xp.maximum, xp.where(there, means, 0.0))
    low = fold(xp.minimum, xp.where(there, means, xp.inf))
    apart = reachable & fold(xp.logical_or, families(below.unsettled) & there)
    spread = xp.where(apart, xp.log(xp.where(apart, high, 1.0) / xp.where(apart, low, 1.0)), 0.0)
    tolerance = 4 * plan.horizon * tally.maxima["error"] + 64 * EPS * (plan.horizon + 1)
    tally.largest("following", xp.where(xp.isnan(spread), xp.inf, spread).max())
    tally.mark(
        length,
        marked(following=apart & ~(spread <= tolerance), following_unsure=apart & (spread <= tolerance)),
    )
    mean = fold(xp.add, composed.probs * means)
    unsettled = apart | (reachable & ~composed.settled)
    return _mean(level, mean), unsettled


def _mean(level: Level, following: Numbers) -> Numbers:
    """`Z` times what follows, where the prefix is reachable."""
    xp, composed = namespace(following), level.composed
    assert composed is not None
    sound = level.inherited.reachable & ~composed.undefined
    return xp.where(sound, xp.exp(xp.where(sound, composed.log_z, 0.0)) * following, 1.0)
