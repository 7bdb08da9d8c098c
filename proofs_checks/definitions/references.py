"""A composition beside a reference model `s`: theory.md 8.2. And families that stay alive by construction."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Row, Shape, palette, pointwise_joint
from proofs_checks.definitions.laws import ZERO, Kernel, Law, Prefix, divergence, law_of, row_tv, support
from proofs_checks.definitions.operator import Composition, NullTokens, compose, probability_of
from proofs_checks.statement import Relation, at_most


@dataclass(frozen=True)
class Compared:
    """A composition `P^` and a reference `S`, a kernel `s(.|h)` at every prefix.

    `assigned[h]`: whose kernel `s(.|h)` is, the background's for 0; without a prefix if it is nobody's.
    """

    family: Family
    reference: Kernel
    assigned: dict[Prefix, int]
    null: NullTokens = "strict"

    @cached_property
    def composed(self) -> Composition:
        """The local composition."""
        return compose(self.family, self.null)

    @cached_property
    def law(self) -> Law:
        """`S`."""
        return law_of(self.reference, self.family.size, self.family.length)

    def mass(self, prefix: Prefix) -> Fraction:
        """`S(h)`."""
        return probability_of(self.reference, prefix)

    def tv(self, prefix: Prefix) -> Fraction:
        """`d(h) = TV(p^(.|h), s(.|h))`, 0 outside `R^` and where `p^` is not defined."""
        inside = prefix in self.composed.reachable and prefix in self.composed.kernel
        return row_tv(self.composed.kernel[prefix], self.reference[prefix]) if inside else ZERO

    def divergence(self, prefix: Prefix) -> float:
        """`KL(s(.|h) || p^(.|h))`, infinite outside `R^`."""
        inside = prefix in self.composed.reachable
        return divergence(self.reference[prefix], self.composed.kernel[prefix]) if inside else math.inf

    def range(self, prefix: Prefix) -> Fraction | None:
        """`e^{o(h)}`, `o(h) = osc log(w/s)` over `supp s(.|h)`; `None` where that is infinite, as outside `R^`."""
        if prefix not in self.composed.reachable:
            return None
        return ratio_range(self.composed.weights[prefix], self.reference[prefix])

    def oscillation(self, prefix: Prefix) -> float:
        """`o(h)`."""
        ratio = self.range(prefix)
        return math.inf if ratio is None else math.log(ratio)


def ratio_range(above: Row, below: Row) -> Fraction | None:
    """`max/min` of `above/below` over `supp below`; `None`, infinite, where `above` vanishes on it."""
    ratios = [above[token] / below[token] for token in support(below)]
    return max(ratios) / min(ratios) if min(ratios) else None


def within_tanh(says: str, tv: Fraction, ratio: Fraction) -> Relation:
    """`TV <= tanh(o/4)` with `e^o = ratio`, in fractions: `((1 + TV)/(1 - TV))² <= e^o`."""
    return at_most(says, (1 + tv) ** 2, ratio * (1 - tv) ** 2)


def anchored(draw: Draw, of: Shape) -> Family:
    """Experts inside the background's support, all with one token in common at every prefix: `Z > 0` everywhere."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    anchors = {h: draw.pick(sorted(support(base))) for h, base in background.items()}

    def expert() -> Kernel:
        return {h: background[h] if draw.one_in(4) else inside(draw, background[h], anchors[h]) for h in of.prefixes}

    return Family(of.size, of.length, background, tuple(expert() for _ in range(of.experts)))


def inside(draw: Draw, base: Row, anchor: int) -> Row:
    """A row within the support of `base` that is positive at the anchor."""
    weights = [draw.integer(token == anchor, 4) if cell else 0 for token, cell in enumerate(base)]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def components(draw: Draw, family: Family) -> tuple[dict[Prefix, Row], dict[Prefix, int]]:
    """A switching model: at every prefix some component's kernel."""
    assigned = {h: draw.integer(0, len(family.experts)) for h in family.prefixes}
    return switched(family, assigned), assigned


def switched(family: Family, assigned: dict[Prefix, int]) -> dict[Prefix, Row]:
    """`s(.|h) = p_{a(h)}(.|h)`."""
    models = (family.background, *family.experts)
    return {h: models[i][h] for h, i in assigned.items()}


def some_row(draw: Draw, size: int) -> Row:
    """A row of full support, or not."""
    return draw.row(size, zeros=draw.one_in(2))


def dominating_reference(draw: Draw, of: Shape) -> Compared:
    """`P^ << S`: under `strict`, a component's kernel at every prefix, or some kernel on the background's support."""
    family = anchored(draw, of)
    reference, assigned = components(draw, family)
    if draw.one_in(3):
        reference = {h: draw.row_inside(base) for h, base in family.background.items()}
        assigned = {}
    return Compared(family, reference, assigned)


def any_reference(draw: Draw, of: Shape) -> Compared:
    """Any `s`: a component's kernel, or any row at all; under `strict`, or one deviator that may open tokens."""
    jointly = draw.one_in(3)
    family = pointwise_joint(draw, of) if jointly else anchored(draw, of)
    reference, assigned = components(draw, family)
    for h in family.prefixes:
        if draw.one_in(3):
            reference[h] = some_row(draw, of.size)
            del assigned[h]
    return Compared(family, reference, assigned, "cancel" if jointly else "strict")


def hit(prefixes: Iterable[Prefix], law: Law) -> Law:
    """The outcomes with a prefix among `prefixes`, with their masses."""
    known = set(prefixes)
    return {y: mass for y, mass in law.items() if any(y[:step] in known for step in range(len(y)))}
