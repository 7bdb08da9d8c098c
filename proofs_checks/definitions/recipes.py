"""Instances that several statements draw, beside those of `factorcomp.testing.families`."""

from collections.abc import Collection
from dataclasses import replace

from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import Family, Shape, palette
from proofs_checks.definitions.laws import Kernel, Law, Prefix, sequences


def token_in_common(draw: Draw, of: Shape) -> Family:
    """`p_i << p_b`, and at every prefix a token that all models allow: no error under any convention, and `Z > 0`."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    common = {h: draw.pick([token for token, cell in enumerate(cells) if cell]) for h, cells in background.items()}

    def inside(h: Prefix) -> Row:
        least = [int(token == common[h]) for token in range(of.size)]
        return normalised([draw.integer(one, 4) if cell else 0 for one, cell in zip(least, background[h], strict=True)])

    return Family(of.size, of.length, background, tuple({h: inside(h) for h in of.prefixes} for _ in range(of.experts)))


def one_opening(draw: Draw, of: Shape) -> Family:
    """At every prefix one expert has any row, the others the background's support: no error under `cancel`, `Z > 0`."""
    row = palette(draw, replace(of, zeros=True))
    background = {h: row() for h in of.prefixes}
    openers = {h: draw.integer(0, of.experts) for h in of.prefixes}

    def acting(expert: int, h: Prefix) -> Row:
        if openers[h] == expert:
            return draw.row(of.size, zeros=True)
        return background[h] if draw.one_in(3) else draw.row_inside(background[h])

    experts = tuple({h: acting(i, h) for h in of.prefixes} for i in range(1, of.experts + 1))
    return Family(of.size, of.length, background, experts)


def other_rows_off(draw: Draw, family: Family, scope: Collection[Prefix]) -> Family:
    """The family with any rows at the prefixes outside the scope."""

    def changed(kernel: Kernel) -> Kernel:
        return {h: row if h in scope else draw.row(family.size, zeros=True) for h, row in kernel.items()}

    return replace(family, background=changed(family.background), experts=tuple(map(changed, family.experts)))


def any_law(draw: Draw, size: int, length: int, *, zeros: bool = False) -> Law:
    """A law on `V^length`, of full support unless `zeros`."""
    paths = sequences(size, length)
    return {path: mass for path, mass in zip(paths, draw.row(len(paths), zeros=zeros), strict=True) if mass}
