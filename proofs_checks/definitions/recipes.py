"""Instances that several statements draw, beside those of `factorcomp.testing.families`."""

from collections.abc import Collection
from dataclasses import replace

from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import Family, Shape, disjoint_masks, factorized, palette
from proofs_checks.definitions.laws import Kernel, Law, Prefix, law_of, own_history, reach, sequences


def token_in_common(draw: Draw, of: Shape) -> Family:
    """`p_i << p_b`, and at every prefix a token that all models allow: no error under any convention, and `Z > 0`."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    common = {h: draw.pick([token for token, cell in enumerate(cells) if cell]) for h, cells in background.items()}

    def inside(h: Prefix) -> Row:
        least = [int(token == common[h]) for token in range(of.size)]
        return normalised([draw.integer(one, 4) if cell else 0 for one, cell in zip(least, background[h], strict=True)])

    return Family(of.size, of.length, background, tuple({h: inside(h) for h in of.prefixes} for _ in range(of.experts)))


def one_opening(draw: Draw, of: Shape, always: int | None = None) -> Family:
    """At every prefix one expert has any row, the others the background's support: no error under `cancel`, `Z > 0`.

    `always`: it is this one, from 1.
    """
    row = palette(draw, replace(of, zeros=True))
    background = {h: row() for h in of.prefixes}
    openers = {h: draw.integer(0, of.experts) if always is None else always for h in of.prefixes}

    def acting(expert: int, h: Prefix) -> Row:
        if openers[h] == expert:
            return draw.row(of.size, zeros=True)
        return background[h] if draw.one_in(3) else draw.row_inside(background[h])

    experts = tuple({h: acting(i, h) for h in of.prefixes} for i in range(1, of.experts + 1))
    return Family(of.size, of.length, background, experts)


def opened_blocks(draw: Draw, of: Shape) -> Family:
    """FC (a) and (b): factorized, but the rows of experts on their masks allow any tokens."""
    family = factorized(draw, of)

    def opened(kernel: Kernel, mask: tuple[int, ...]) -> Kernel:
        rows: dict[tuple[int, Prefix], Row] = {}
        for h in family.prefixes:
            key = (len(h), own_history(h, mask))
            if len(h) in mask and key not in rows:
                rows[key] = draw.row(of.size, zeros=True)
        return {h: rows[len(h), own_history(h, mask)] if len(h) in mask else row for h, row in kernel.items()}

    return replace(family, experts=tuple(map(opened, family.experts, family.masks)))


def other_rows_off(draw: Draw, family: Family, scope: Collection[Prefix]) -> Family:
    """The family with any rows at the prefixes outside the scope."""

    def changed(kernel: Kernel) -> Kernel:
        return {h: row if h in scope else draw.row(family.size, zeros=True) for h, row in kernel.items()}

    return replace(family, background=changed(family.background), experts=tuple(map(changed, family.experts)))


def with_masks(draw: Draw, family: Family) -> Family:
    """The family with disjoint masks; nothing agrees with them."""
    return replace(family, masks=disjoint_masks(draw, Shape(family.size, family.length, len(family.experts), False)))


def one_row_tilted(draw: Draw, family: Family) -> Family:
    """The family with one row of one model replaced by one of the same support."""
    prefix, model = draw.pick(family.prefixes), draw.integer(0, len(family.experts))
    kernels = [dict(family.background), *(dict(expert) for expert in family.experts)]
    kernels[model][prefix] = draw.row_inside(kernels[model][prefix])
    return replace(family, background=kernels[0], experts=tuple(kernels[1:]))


def other_rows_off_reach(draw: Draw, family: Family) -> Family:
    """The family with any rows of each model where that model does not reach: all laws stay."""

    def changed(kernel: Kernel) -> Kernel:
        reached = reach(law_of(kernel, family.size, family.length), family.length)
        return {h: row if h in reached else draw.row(family.size, zeros=True) for h, row in kernel.items()}

    return replace(family, background=changed(family.background), experts=tuple(map(changed, family.experts)))


def any_law(draw: Draw, size: int, length: int, *, zeros: bool = False) -> Law:
    """A law on `V^length`, of full support unless `zeros`."""
    paths = sequences(size, length)
    return {path: mass for path, mass in zip(paths, draw.row(len(paths), zeros=zeros), strict=True) if mass}
