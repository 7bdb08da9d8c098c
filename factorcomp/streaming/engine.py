"""Every prefix visited: those above the heads at once, those below them in stretches, on all cores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from factorcomp.bounds.oscillation import exceeds
from factorcomp.enumeration.tree import digits
from factorcomp.models.rows import EPS, FloatRows
from factorcomp.streaming import clean
from factorcomp.streaming.arrays import each
from factorcomp.streaming.functions import Functions
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import Given
from factorcomp.streaming.subtree import (
    Below,
    Carried,
    Level,
    Rows,
    ascend,
    children,
    close,
    descend,
    examine,
    in_order,
    normalizer,
    root,
)
from factorcomp.streaming.tables import Tables
from factorcomp.streaming.totals import MAXIMA, NOWHERE, Tally, Totals, together
from factorcomp.streaming.workers import Workers


class TooExtremeError(ArithmeticError):
    """Some probabilities are too small for anything but logs."""


class Stretch(NamedTuple):
    """What was seen below some heads in a row: what they hand back, `[heads, 1]`, and the totals."""

    below: Below
    totals: Totals


def joined(parts: Sequence[Stretch]) -> Stretch:
    """Parts in a row as one."""
    below = each(lambda *arrays: np.concatenate(arrays), *(part.below for part in parts))
    return Stretch(below, together([part.totals for part in parts]))


@dataclass
class Visit:
    """A visit to a tree: what was handed down to the heads, what they handed back, and all totals."""

    plan: Plan
    source: Tables | Functions
    workers: Workers

    def __post_init__(self) -> None:
        self.top = Tally(self.plan)
        self.levels: list[Level] = []
        self.rows: list[Rows] = []
        carried = root(self.plan)
        if self.plan.above:
            self.rows = self._examined(self.source.above(self.plan))
            self.levels, carried = descend(self.plan, 0, self.rows, carried, self.top)
        self.carried: Carried = each(np.ascontiguousarray, carried)
        like = Stretch(_below_like(self.plan), _totals_like(self.plan))
        stretches = self._spread("survey", self._unit, like, self._size)
        handed_back, self.below = joined(stretches)
        if self.below.maxima[MAXIMA.index("extreme")] or self.top.maxima["extreme"]:
            raise TooExtremeError
        self.top.largest("error", self.below.maxima[MAXIMA.index("error")])
        self.root = handed_back
        if self.plan.above:
            self.root = ascend(self.plan, 0, self.levels, handed_back, self.top)

    def _spread(self, name: str, work: Callable[[int], Any], like: Any, stretches: int = 1) -> list[Any]:
        """`work` of so many stretches each, by number."""
        plan = self.plan
        units = stretches * plan.stretch * plan.vocab**plan.tail
        return self.workers.spread(f"{name} {plan.horizon}", plan.stretches // stretches, work, like, units)

    @property
    def _size(self) -> int:
        """So many stretches are a unit of work: one where rows are not read, but made."""
        return self.plan.unit if isinstance(self.source, Tables) else 1

    def _unit(self, number: int) -> Stretch:
        """Some stretches in a row: at once if they are clean, one by one if not."""
        size = self._size
        if size > 1 and (stretch := self._clean(number * size, size)) is not None:
            return stretch
        return joined([self._stretch(n) for n in range(number * size, (number + 1) * size)])

    def _stretch(self, number: int) -> Stretch:
        """Some heads in a row and all below them, by the general text if they are not clean."""
        if (stretch := self._clean(number, 1)) is not None:
            return stretch
        part = Part(self, number)
        return Stretch(part.below, part.tally.totals(np.int64(number)))

    def _clean(self, number: int, stretches: int) -> Stretch | None:
        """Stretches from this one on, if they are clean."""
        plan, heads = self.plan, self.plan.heads(number, stretches)
        if plan.eos is not None:
            return None
        try:
            return Stretch(*clean.visit(plan, self.source.below(plan, heads), self.inherited(heads), number))
        except clean.UnfitError:
            return None

    def examined(self, number: int) -> list[Rows]:
        """The rows of a stretch, level by level."""
        return self._examined(self.source.below(self.plan, self.plan.heads(number)))

    def _examined(self, levels: Sequence[Sequence[Float[np.ndarray, "_ vocab"]]]) -> list[Rows]:
        """What rows say, in exact arithmetic where rounding leaves open who deviates."""
        values = [tuple(np.ascontiguousarray(v.T, dtype=np.float64)[:, :, None] for v in step) for step in levels]
        rows = examine(self.plan, values)
        if any(level.compared.open for level in rows):
            rows = examine(self.plan, values, [self._decided(step) for step in levels])
        return rows

    def inherited(self, heads: slice) -> Carried:
        """What is handed down to these heads."""
        return each(lambda x: x[heads], self.carried)

    def _decided(self, models: Sequence[Float[np.ndarray, "prefixes vocab"]]) -> Given:
        """Who differs and deviates, by rows, in exact arithmetic."""
        plan, everywhere = self.plan, np.arange(len(models[0]))
        base, *own = (FloatRows(values, plan.scale) for values in models)
        differs = deviates = np.zeros(len(everywhere), dtype=np.uint32)
        for i, rows in enumerate(own):
            bit = np.uint32(1 << i)
            unlike = exceeds(rows, everywhere, base, everywhere)
            differs = differs | np.where(unlike, bit, np.uint32(0))
            if plan.threshold:
                weight = 1 if plan.weights is None else plan.weights[i]
                unlike = exceeds(rows, everywhere, base, everywhere, plan.threshold / weight)
            deviates = deviates | np.where(unlike, bit, np.uint32(0))
        return Given(differs[:, None], deviates[:, None])

    def part(self, number: int) -> "Part":
        """A stretch visited again, and kept."""
        if number not in self._parts:
            self._parts[number] = Part(self, number)
        return self._parts[number]

    @cached_property
    def _parts(self) -> dict[int, "Part"]:
        return {}

    def largest(self, kind: str) -> float:
        """One of `MAXIMA`."""
        return max(float(self.top.maxima[kind]), float(self.below.maxima[MAXIMA.index(kind)]))

    @cached_property
    def totals(self) -> Totals:
        """Of the whole tree."""
        above = self.top.totals(np.int64(0))
        return together([above._replace(first=np.full_like(above.first, NOWHERE)), self.below])

    def tv_local_global(self) -> float:
        """`TV(P_L, P_G)`: once more down, now that `Z_G` is known (Theorem 1.5 (1))."""
        path = np.ones((1, 1))
        for level in self.levels:
            path = np.repeat(path * normalizer(level.composed, level.inherited.reachable), self.plan.vocab, axis=0)
        path = path / self.root.mean

        def apart(number: int) -> tuple[Float[np.ndarray, ""]]:
            """`TV = sum P (1 - prod Z / Z_G)_+` over the sequences of a stretch; `path` is that product so far."""
            heads = self.plan.heads(number)
            laws, so_far = self.inherited(heads), path[heads]
            for rows in self.examined(number):
                so_far = np.repeat(so_far * normalizer(rows.composed, laws.reachable), self.plan.vocab, axis=0)
                laws = children(self.plan, rows, laws, rows.compared.deviates)
            return (np.asarray(np.where(laws.reachable, laws.reach * np.maximum(1.0 - so_far, 0.0), 0.0).sum()),)

        return float(np.stack([tv for (tv,) in self._spread("tv_local_global", apart, (0,))]).sum())

    def marginal(self, expert: int, positions: tuple[int, ...]) -> tuple[Float[np.ndarray, "2 cells"], float]:
        """The marginals of the composition and of an expert on `positions`, all of the horizon; and a bound on their
        relative rounding errors."""
        plan, own = self.plan, np.ones((1, 1))
        for rows in self.rows:
            own = in_order(own * rows.components[expert + 1])
        summed = tuple(t - plan.above + 1 for t in range(plan.above, plan.horizon) if t not in positions)

        def masses(number: int) -> tuple[Float[np.ndarray, "heads 2 cells"]]:
            """Below each head, by the tokens at the positions below it."""
            heads = plan.heads(number)
            laws, mine = self.inherited(heads), own[heads]
            for rows in self.examined(number):
                mine = in_order(mine * rows.components[expert + 1])
                laws = children(plan, rows, laws, rows.compared.deviates)
            both = np.where(laws.reachable, laws.reach, 0.0), mine
            by_token = (law.reshape(-1, *[plan.vocab] * plan.tail).sum(axis=summed) for law in both)
            return (np.stack([law.reshape(len(law), -1) for law in by_token], axis=1),)

        found = [m for (m,) in self._spread(f"marginal {expert} {positions}", masses, (0,))]
        cells = digits(plan.above, [t for t in positions if t < plan.above], plan.vocab)
        by_head = np.moveaxis(np.concatenate(found), 1, 0)
        marginals = np.zeros((2, int(cells.max()) + 1, by_head.shape[2]))
        for law, into in zip(by_head, marginals, strict=True):
            np.add.at(into, cells, law)
        terms = plan.vocab ** (plan.horizon - len(positions))
        relative = float(np.expm1(2 * plan.horizon * self.largest("error"))) + 2 * EPS * (terms + 8)
        return marginals.reshape(2, -1), relative


class Part:
    """A stretch visited by the general text, and kept: its levels, and the tally with the marks of each prefix."""

    def __init__(self, visit: Visit, number: int):
        plan = visit.plan
        self.tally = Tally(plan)
        rows = visit.examined(number)
        self.levels, _ = descend(plan, plan.above, rows, visit.inherited(plan.heads(number)), self.tally)
        leaves = close(plan, rows[-1], self.levels, self.tally)
        self.below = ascend(plan, plan.above, self.levels, leaves, self.tally)


def _totals_like(plan: Plan) -> Totals:
    return Tally(plan).totals(np.int64(0))


def _below_like(plan: Plan) -> Below:
    return Below(0, 0, 0, None if plan.eos is None else 0, 0, 0)
