"""Families of a background and experts, by construction: those that factorize, and those that just miss it.

A recipe draws a `Family` that satisfies its hypothesis because of how it is made, never by trial and error. Rows are
exact fractions; `zeros` allows tokens of probability 0, otherwise all rows have full support.

Source: theory.md 2.1, 2.3 (own-history kernels), 2.6 (mask agreement), 4.1 (one deviator, disjoint intervals).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from factorcomp.testing.drawing import Draw, Row, normalised

if TYPE_CHECKING:
    from factorcomp.models.tabular import TabularModel

Prefix = tuple[int, ...]
Kernel = Mapping[Prefix, Row]
LARGEST = {1: 3, 2: 4, 3: 3, 4: 2, 5: 2}
"""The longest horizon drawn, by the number of tokens: a brute force over all sequences stays quick."""
NAMES = ("up", "down", "left", "right", "in", "out", "near", "far")
TOKENS = "abcdefgh"


@dataclass(frozen=True)
class Family:
    """A background and experts: a row for every prefix (token numbers from 0) shorter than `length`.

    `masks[i]`: the positions (from 0) of expert `i`, where there are masks. `eos`: the token after which only it comes.
    """

    size: int
    length: int
    background: Kernel
    experts: tuple[Kernel, ...]
    masks: tuple[tuple[int, ...], ...] = ()
    eos: int | None = None

    @property
    def prefixes(self) -> list[Prefix]:
        """Every prefix shorter than the horizon, shorter first, in vocabulary order."""
        return [prefix for step in range(self.length) for prefix in product(range(self.size), repeat=step)]

    @property
    def background_positions(self) -> tuple[int, ...]:
        """`M_b`: the positions of no expert."""
        return tuple(position for position in range(self.length) if not any(position in mask for mask in self.masks))

    def owner(self, position: int) -> int | None:
        """The expert that owns the position; `None` for the background's."""
        return next((i for i, mask in enumerate(self.masks) if position in mask), None)

    def block(self, position: int) -> tuple[int, ...]:
        """`B(t)`: the mask that owns the position, or `M_b`."""
        owner = self.owner(position)
        return self.background_positions if owner is None else self.masks[owner]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The tokens by name: a, b, c, …"""
        return tuple(TOKENS[: self.size])

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The background, then the experts."""
        return (self.background, *self.experts)

    def named_masks(self) -> dict[str, tuple[int, ...]]:
        """The masks by the experts' names, as `verify` takes them."""
        return dict(zip(NAMES, self.masks, strict=False))

    def models(self) -> tuple["TabularModel", dict[str, "TabularModel"]]:
        """The family as the library's tables over the tokens a, b, c, …, with the experts' names `NAMES`."""
        from factorcomp.models.tabular import TabularModel

        eos = None if self.eos is None else TOKENS[self.eos]

        def table(kernel: Kernel) -> TabularModel:
            steps = [[kernel[h] for h in product(range(self.size), repeat=step)] for step in range(self.length)]
            return TabularModel.from_probabilities(steps, self.vocabulary, eos)

        return table(self.background), {name: table(kernel) for name, kernel in zip(NAMES, self.experts, strict=False)}


@dataclass(frozen=True)
class Shape:
    """How large a family is, and whether its rows have zeros."""

    size: int
    length: int
    experts: int
    zeros: bool

    @property
    def prefixes(self) -> list[Prefix]:
        """Every prefix shorter than the horizon."""
        return [prefix for step in range(self.length) for prefix in product(range(self.size), repeat=step)]


def shape(
    draw: Draw,
    *,
    sizes: tuple[int, int] = (2, 3),
    experts: tuple[int, int] = (1, 3),
    zeros: bool | None = None,
    shortest: int = 1,
) -> Shape:
    """A small shape; `zeros`: `None` lets the draw decide."""
    size = draw.integer(*sizes)
    length = draw.integer(shortest, max(shortest, LARGEST[size]))
    return Shape(size, length, draw.integer(*experts), draw.one_in(2) if zeros is None else zeros)


def palette(draw: Draw, of: Shape) -> Callable[[], Row]:
    """Rows that agree often: one of a few, now and then a new one."""
    rows = [draw.row(of.size, zeros=of.zeros) for _ in range(draw.integer(2, 4))]
    return lambda: draw.row(of.size, zeros=of.zeros) if draw.one_in(6) else draw.pick(rows)


def free(draw: Draw, of: Shape, *, dominated: bool = False) -> Family:
    """Nothing is arranged; with `dominated`, every expert's row lies within the background's support (`p_i << p_b`)."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}

    def expert() -> Kernel:
        return {h: draw.row_inside(background[h], zeros=of.zeros) if dominated else row() for h in of.prefixes}

    return Family(of.size, of.length, background, tuple(expert() for _ in range(of.experts)))


def common_support(draw: Draw, of: Shape) -> Family:
    """At every prefix all models have one support; an expert is often the background."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}

    def expert() -> Kernel:
        return {h: background[h] if draw.one_in(3) else draw.row_inside(background[h]) for h in of.prefixes}

    return Family(of.size, of.length, background, tuple(expert() for _ in range(of.experts)))


def composable(draw: Draw, of: Shape, *, opening: bool = False) -> Family:
    """After every prefix some token is possible under all models (`Z > 0`), and `p_i << p_b`.

    With `opening`, at times one expert alone opens a token that the background excludes.
    """
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    kept = {h: draw.pick([y for y, cell in enumerate(background[h]) if cell]) for h in of.prefixes}
    opened = {h: _opening(draw, background[h], of.experts) if opening else None for h in of.prefixes}

    def acting(i: int, h: Prefix) -> Row:
        weights = [draw.integer(0 if of.zeros else 1, 4) if cell else 0 for cell in background[h]]
        weights[kept[h]] = max(1, weights[kept[h]])
        match opened[h]:
            case (opener, token) if opener == i:
                weights[token] = draw.integer(1, 4)
        return normalised(weights)

    def expert(i: int) -> Kernel:
        return {h: acting(i, h) if draw.integer(0, 2) else background[h] for h in of.prefixes}

    return Family(of.size, of.length, background, tuple(expert(i) for i in range(of.experts)))


def _opening(draw: Draw, row: Row, experts: int) -> tuple[int, int] | None:
    """Which expert opens which null token of the row; at times none."""
    null = [y for y, cell in enumerate(row) if not cell]
    return (draw.integer(0, experts - 1), draw.pick(null)) if null and draw.one_in(2) else None


def hard_constraints(draw: Draw, of: Shape) -> Family:
    """1.9 (b): `p_i = p_b(.|A_i)`; a token of the background lies in all `A_i`."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    kept = {h: draw.pick([y for y, cell in enumerate(background[h]) if cell]) for h in of.prefixes}

    def conditioned(h: Prefix) -> Row:
        return normalised(
            [cell if y == kept[h] or not draw.integer(0, 1) else 0 for y, cell in enumerate(background[h])]
        )

    experts = tuple({h: conditioned(h) for h in of.prefixes} for _ in range(of.experts))
    return Family(of.size, of.length, background, experts)


def ending(family: Family, eos: int) -> Family:
    """The family with an EOS: after it all models say it again (0.1), so that nobody deviates."""
    certain = normalised([int(y == eos) for y in range(family.size)])
    background, *experts = ({h: certain if eos in h else row for h, row in kernel.items()} for kernel in family.kernels)
    return replace(family, background=background, experts=tuple(experts), eos=eos)


def pointwise_joint(draw: Draw, of: Shape, *, dominated: bool = False) -> Family:
    """JF-pt (4.1): at every prefix at most one expert deviates; it may open tokens unless `dominated`."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    owners = {h: draw.integer(0, of.experts) for h in of.prefixes}
    return _assigned(draw, of, background, owners, dominated)


def interval_joint(draw: Draw, of: Shape, *, dominated: bool = False) -> Family:
    """JF-int (4.2): on every path the experts act one after the other, each in one interval."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    return _assigned(draw, of, background, interval_owners(draw, of), dominated)


def interval_owners(draw: Draw, of: Shape) -> dict[Prefix, int]:
    """Who may act at every prefix (0 nobody, experts from 1), so that on every path each acts in one interval."""
    owners: dict[Prefix, int] = {}
    finished: dict[Prefix, frozenset[int]] = {(): frozenset()}
    for h in of.prefixes:
        before = owners.get(h[:-1], 0) if h else 0
        gone = finished[h[:-1]] if h else frozenset()
        free_to_act = [a for a in (before, 0, *range(1, of.experts + 1)) if a == before or a not in gone]
        owners[h] = draw.pick(free_to_act)
        finished[h] = gone | ({before} if before and owners[h] != before else set())
    return owners


def _assigned(draw: Draw, of: Shape, background: Kernel, owners: Mapping[Prefix, int], dominated: bool) -> Family:
    """Expert `i` deviates (at most) where `owners` names it, counted from 1."""

    def acting(h: Prefix) -> Row:
        inside = dominated or not of.zeros or not draw.one_in(3)
        return draw.row_inside(background[h], zeros=of.zeros) if inside else draw.row(of.size, zeros=True)

    experts = tuple(
        {h: acting(h) if owners[h] == i else background[h] for h in of.prefixes} for i in range(1, of.experts + 1)
    )
    return Family(of.size, of.length, background, experts)


def disjoint_masks(draw: Draw, of: Shape) -> tuple[tuple[int, ...], ...]:
    """Each position goes to one of the experts or to the background."""
    owners = [draw.integer(0, of.experts) for _ in range(of.length)]
    return tuple(
        tuple(position for position, owner in enumerate(owners) if owner == i) for i in range(1, of.experts + 1)
    )


def mask_agreeing(draw: Draw, of: Shape, *, dominated: bool = False) -> Family:
    """MA (2.6a) at every prefix: off its mask an expert is the background; nothing is independent."""
    masks = disjoint_masks(draw, of)
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    owners = {h: next((i for i, mask in enumerate(masks, start=1) if len(h) in mask), 0) for h in of.prefixes}
    return replace(_assigned(draw, of, background, owners, dominated), masks=masks)


def factorized(draw: Draw, of: Shape, masks: tuple[tuple[int, ...], ...] | None = None) -> Family:
    """FC (2.1): every kernel a function of the position and of the history on its own block; `p_i << p_b`.

    Off reach nothing is arranged differently: the kernels are those of the same functions. `masks`: else drawn.
    """
    masks = disjoint_masks(draw, of) if masks is None else masks
    shell = Family(of.size, of.length, {}, (), masks)
    row = palette(draw, of)
    rows: dict[tuple[int | None, int, Prefix], Row] = {}

    def own(acting: int | None, h: Prefix) -> Row:
        history = tuple(h[position] for position in shell.block(len(h)) if position < len(h))
        key = (acting, len(h), history)
        if key not in rows:
            base = rows.get((None, len(h), history))
            rows[key] = row() if acting is None or base is None else draw.row_inside(base, zeros=of.zeros)
        return rows[key]

    background = {h: own(None, h) for h in of.prefixes}
    experts = tuple(
        {h: own(i if shell.owner(len(h)) == i else None, h) for h in of.prefixes} for i in range(of.experts)
    )
    return Family(of.size, of.length, background, experts, masks)


def one_row_changed(draw: Draw, family: Family, model: int, prefix: Prefix) -> Family:
    """The family with one row of one model (0 the background, then the experts) replaced by another row."""
    kernels = [dict(family.background), *(dict(expert) for expert in family.experts)]
    old = kernels[model][prefix]
    weights = [draw.integer(1, 4) for _ in old]
    raised = draw.integer(0, len(old) - 1)
    new = tuple(Fraction(weight, sum(weights)) for weight in weights)
    if new == old:
        weights[raised] += 1
        new = tuple(Fraction(weight, sum(weights)) for weight in weights)
    kernels[model][prefix] = new
    return replace(family, background=kernels[0], experts=tuple(kernels[1:]))
