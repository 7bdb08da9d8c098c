"""Families that just miss a hypothesis: one clause is broken, at one place, and the others hold.

Each recipe takes a family for which the hypothesis holds by construction, and breaks it by construction: nothing is
drawn until it fits. All prefixes are reached (full support) unless the clause is about zeros.

Source: theory.md 2.1, 2.3 (the clauses of factorized conditionals), 2.6a, 4.1, 4.3.
"""

from collections.abc import Callable
from dataclasses import replace

from factorcomp.testing import families
from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import Family, Prefix, Shape


def another_row(draw: Draw, row: Row) -> Row:
    """A row of the same support that is another; the support has two tokens or more."""
    possible = [y for y, cell in enumerate(row) if cell]
    raised, times = draw.pick(possible), draw.integer(2, 3)
    return normalised([cell * times if y == raised else cell for y, cell in enumerate(row)])


def with_row(family: Family, model: int, prefix: Prefix, row: Row) -> Family:
    """The family with one row of one model (0 the background, then the experts) replaced."""
    kernels = [dict(kernel) for kernel in family.kernels]
    kernels[model][prefix] = row
    return replace(family, background=kernels[0], experts=tuple(kernels[1:]))


def full(draw: Draw, *, shortest: int = 2, experts: tuple[int, int] = (2, 3)) -> Shape:
    """A shape of two tokens or more, all of them possible."""
    return families.shape(draw, sizes=(2, 3), experts=experts, zeros=False, shortest=shortest)


def pointwise_joint(draw: Draw) -> Family:
    """Not JF-pt (4.1), at one prefix: two experts deviate there."""
    family = families.pointwise_joint(draw, full(draw, shortest=1))
    prefix = draw.pick(family.prefixes)
    first, second = draw.shuffled(range(len(family.experts)))[:2]
    for expert in (first, second):
        family = with_row(family, 1 + expert, prefix, another_row(draw, family.background[prefix]))
    return family


def interval_joint(draw: Draw) -> Family:
    """JF-pt, but not JF-int (like 4.3): one expert deviates before and after another does on one path."""
    of = full(draw, shortest=3)
    row = families.palette(draw, of)
    background = {h: row() for h in of.prefixes}
    owners = {h: draw.integer(0, of.experts) for h in of.prefixes}
    path = tuple(draw.integer(0, of.size - 1) for _ in range(of.length - 1))
    first = draw.integer(0, of.length - 3)
    between = draw.integer(first + 1, of.length - 2)
    last = draw.integer(between + 1, of.length - 1)
    outer, inner = (1 + expert for expert in draw.shuffled(range(of.experts))[:2])
    owners |= {path[:first]: outer, path[:between]: inner, path[:last]: outer}
    experts = tuple(
        {h: another_row(draw, background[h]) if owners[h] == i else background[h] for h in of.prefixes}
        for i in range(1, of.experts + 1)
    )
    return Family(of.size, of.length, background, experts)


def absolute_continuity(draw: Draw) -> Family:
    """Not `p_i << p_b`, at one prefix: one expert opens a token there; JF-pt holds."""
    of = replace(full(draw, shortest=1, experts=(1, 3)), zeros=True)
    family = families.pointwise_joint(draw, of, dominated=True)
    prefix, opener = draw.pick(family.prefixes), draw.integer(1, of.experts)
    kept, opened = draw.shuffled(range(of.size))[:2]
    closed = normalised([0 if y == opened else 1 if y == kept else draw.integer(0, 3) for y in range(of.size)])
    for model in range(1 + of.experts):
        family = with_row(family, model, prefix, closed)
    wider = normalised([draw.integer(1, 3) if y in (kept, opened) else cell for y, cell in enumerate(closed)])
    return with_row(family, opener, prefix, wider)


def mask_agreement(draw: Draw) -> Family:
    """Not MA (2.6a), at one prefix: an expert leaves the background off its mask."""
    family = families.mask_agreeing(draw, full(draw, shortest=1, experts=(1, 3)))
    expert = draw.integer(0, len(family.experts) - 1)
    family = _ceding(draw, family, expert)
    off = [h for h in family.prefixes if len(h) not in family.masks[expert]]
    prefix = draw.pick(off)
    return with_row(family, 1 + expert, prefix, another_row(draw, family.background[prefix]))


def _ceding(draw: Draw, family: Family, expert: int) -> Family:
    """The family, in which the expert's mask lacks a position: it agrees with the background there."""
    if len(family.masks[expert]) < family.length:
        return family
    position = draw.integer(0, family.length - 1)
    kernel = {h: family.background[h] if len(h) == position else row for h, row in family.experts[expert].items()}
    masks = tuple(tuple(p for p in mask if p != position) for mask in family.masks)
    experts = tuple(kernel if i == expert else other for i, other in enumerate(family.experts))
    return replace(family, experts=experts, masks=masks)


def background_blocks(draw: Draw) -> Family:
    """Not (a), that is not (B) (2.1, 2.3), at one prefix: the background looks at another block there.

    The experts keep to their own histories, and off their masks to the kernels that the background else has.
    """
    of = full(draw, experts=(1, 3))
    family = _masked(draw, of, 0)
    prefix = _crossing(draw, family)
    return with_row(family, 0, prefix, another_row(draw, family.background[prefix]))


def own_history(draw: Draw) -> Family:
    """Not (I1) (2.3), at one prefix: an expert looks off its mask there, on its mask."""
    of = full(draw, experts=(1, 3))
    expert = draw.integer(1, of.experts)
    family = _masked(draw, of, expert)
    prefix = _crossing(draw, family)
    return with_row(family, expert, prefix, another_row(draw, family.experts[expert - 1][prefix]))


def off_the_mask(draw: Draw) -> Family:
    """Not (I2) (2.3), at one prefix: off its mask an expert leaves the background."""
    of = full(draw, experts=(1, 3))
    expert = draw.integer(1, of.experts)
    family = _masked(draw, of, 0 if of.experts == 1 or draw.one_in(2) else 1 + expert % of.experts)
    prefix = _crossing(draw, family)
    return with_row(family, expert, prefix, another_row(draw, family.experts[expert - 1][prefix]))


def _masked(draw: Draw, of: Shape, owner: int) -> Family:
    """Factorized conditionals in which the last position is the owner's (0 the background), and an earlier is not."""
    owners = [draw.integer(0, of.experts) for _ in range(of.length)]
    owners[-1] = owner
    if set(owners) == {owner}:
        owners[draw.integer(0, of.length - 2)] = 1 if owner != 1 else 0
    masks = tuple(tuple(t for t, who in enumerate(owners) if who == i) for i in range(1, of.experts + 1))
    return families.factorized(draw, of, masks)


def _crossing(draw: Draw, family: Family) -> Prefix:
    """A prefix before the last position: others have the same history on its block, and another elsewhere."""
    return tuple(draw.integer(0, family.size - 1) for _ in range(family.length - 1))


def mask_support(draw: Draw) -> Family:
    """Not (c) (2.1): on its mask an expert opens a token that the background never takes there."""
    of = full(draw, shortest=1, experts=(1, 3))
    expert = draw.integer(1, of.experts)
    family = _owned(draw, of, expert)
    position = draw.pick(family.masks[expert - 1])
    kept, opened = draw.shuffled(range(of.size))[:2]
    closed = normalised([0 if y == opened else 1 if y == kept else draw.integer(0, 3) for y in range(of.size)])
    wider = normalised([1 if y == opened else cell for y, cell in enumerate(closed)])
    for model in range(1 + of.experts):
        for h in family.prefixes:
            if len(h) == position:
                family = with_row(family, model, h, wider if model == expert else closed)
    return family


def _owned(draw: Draw, of: Shape, expert: int) -> Family:
    """Factorized conditionals in which the expert owns a position."""
    owners = [draw.integer(0, of.experts) for _ in range(of.length)]
    owners[draw.integer(0, of.length - 1)] = expert
    masks = tuple(tuple(t for t, who in enumerate(owners) if who == i) for i in range(1, of.experts + 1))
    return families.factorized(draw, of, masks)


NEAR_MISSES: dict[str, Callable[[Draw], Family]] = {
    "pointwise_joint": pointwise_joint,
    "interval_joint": interval_joint,
    "absolute_continuity": absolute_continuity,
    "mask_agreement": mask_agreement,
    "(B)": background_blocks,
    "(I1)": own_history,
    "(I2)": off_the_mask,
    "(c)": mask_support,
}
"""The clause that is broken -> the recipe."""
