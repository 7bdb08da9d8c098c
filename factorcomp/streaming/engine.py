"""Every prefix visited: those above the heads here, stretches of blocks below them on all cores or devices."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from factorcomp.bounds.oscillation import exceeds
from factorcomp.composition.precision import float64
from factorcomp.enumeration.tree import digits
from factorcomp.models.rows import EPS
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import blocks as programs
from factorcomp.streaming import clean
from factorcomp.streaming.arrays import each, leaves
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import Given
from factorcomp.streaming.subtree import Below, Carried, Level, Rows, ascend, close, descend, examine, root
from factorcomp.streaming.tables import Tables
from factorcomp.streaming.totals import MAXIMA, NOWHERE, Tally, Totals, together
from factorcomp.streaming.workers import Workers


class TooExtremeError(ArithmeticError):
    """Some probabilities are too small for anything but logs."""


class Stretch(NamedTuple):
    """What was seen of some blocks in a row: what their heads hand back, `[heads, 1]`, and totals, `[parts, …]`."""

    below: Below
    totals: Totals


@dataclass
class Visit:
    """A visit to a tree: what was handed down to the heads, what they handed back, and all totals."""

    plan: Plan
    tables: Tables
    models: Sequence[TabularModel]
    workers: Workers

    def __post_init__(self) -> None:
        self.top = Tally(self.plan, np)
        self.levels: list[Level] = []
        self.rows: list[Rows] = []
        carried = root(self.plan, np)
        if self.plan.above:
            self.rows = examine(self.plan, self.tables.above(self.plan), self._decided_above())
            self.levels, carried = descend(self.plan, 0, self.rows, carried, self.top)
        self.heads: Carried = each(np.ascontiguousarray, carried)
        stretches = self._spread("survey", self._stretch, Stretch(_below_like(self.plan), _totals_like(self.plan)))
        self.below = together([stretch.totals for stretch in stretches])
        if self.below.maxima[MAXIMA.index("extreme")] or self.top.maxima["extreme"]:
            raise TooExtremeError
        handed_back = each(lambda *parts: np.concatenate(parts), *(stretch.below for stretch in stretches))
        self.top.largest("error", self.below.maxima[MAXIMA.index("error")])
        self.root: Below = handed_back
        if self.plan.above:
            self.root = ascend(self.plan, 0, self.levels, handed_back, self.top)

    def _spread(self, name: str, work: Callable[[int], Any], like: Any) -> list[Any]:
        plan = self.plan
        units = plan.stretch * plan.lanes * plan.vocab**plan.tail
        return self.workers.spread(name, plan.blocks // plan.stretch, work, like, units)

    def _stretch(self, number: int) -> Stretch:
        """Some blocks in a row: at once if they are clean, by the general program if not."""
        plan = self.plan
        blocks = np.arange(number * plan.stretch, (number + 1) * plan.stretch)
        heads = slice(number * plan.stretch * plan.lanes, (number + 1) * plan.stretch * plan.lanes)
        if plan.eos is None:
            inherited = each(lambda x: x[heads], self.heads)
            try:
                rows = self.tables.stretch(plan, heads.start, heads.stop)
                return Stretch(*clean.visit(plan, rows, inherited, int(blocks[0])))
            except clean.UnfitError:
                pass
        below, totals = self._run(programs.survey, blocks)
        for n in np.flatnonzero(totals.maxima[:, MAXIMA.index("open")]):
            answer = self.here(int(blocks[n])).answer
            for mine, exact in zip(leaves((below, totals)), leaves(answer), strict=True):
                mine[n] = exact
        parts = [each(lambda x, n=n: x[n], totals) for n in range(len(blocks))]
        return Stretch(each(lambda x: x.reshape(-1, 1), below), together(parts))

    def _run(self, program: Any, blocks: Int[np.ndarray, " blocks"], *inherited: Any, static: tuple = ()) -> Any:
        """What a program says of these blocks, on a device. `inherited`: by all heads, besides what is carried."""
        import jax

        plan = self.plan
        device = self.workers.device
        with float64(), jax.default_device(device):
            handed = each(lambda x: x.reshape(-1, 1, plan.lanes)[blocks], (self.heads, *inherited))
            tables = self._on(device)
            answer = jax.device_get(programs.compiled(program)(plan, tables, blocks, *handed, *static))
            return each(lambda x: np.array(x), answer)  # not JAX's own memory

    def _on(self, device: Any) -> Any:
        if device not in self._tables:
            self._tables[device] = self.tables.on(device, self.plan)
        return self._tables[device]

    @cached_property
    def _tables(self) -> dict[Any, Any]:
        return {}

    def _decided_above(self) -> list[Given]:
        """Who differs and deviates above the heads, in exact arithmetic."""
        return [self.decided(t, np.arange(self.plan.vocab**t)[:, None]) for t in range(self.plan.above)]

    def decided(self, length: int, prefixes: Int[np.ndarray, "prefixes lanes"]) -> Given:
        """Who differs and deviates at these prefixes, in exact arithmetic."""
        plan, flat = self.plan, prefixes.reshape(-1)
        base, *own = (model.steps[length] for model in self.models)
        differs = deviates = np.zeros(len(flat), dtype=np.uint32)
        for i, rows in enumerate(own):
            bit = np.uint32(1 << i)
            unlike = exceeds(rows, flat, base, flat)
            differs = differs | np.where(unlike, bit, np.uint32(0))
            if plan.threshold:
                weight = 1 if plan.weights is None else plan.weights[i]
                unlike = exceeds(rows, flat, base, flat, plan.threshold / weight)
            deviates = deviates | np.where(unlike, bit, np.uint32(0))
        return Given(differs.reshape(prefixes.shape), deviates.reshape(prefixes.shape))

    def here(self, block: int) -> "Block":
        """One block visited again, in NumPy, with all decided exactly, and kept."""
        if block not in self._seen:
            self._seen[block] = Block(self, block)
        return self._seen[block]

    @cached_property
    def _seen(self) -> dict[int, "Block"]:
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
            assert level.composed is not None
            sound = level.inherited.reachable & ~level.composed.undefined
            path = path * np.exp(np.where(sound, level.composed.log_z, 0.0))
            path = np.repeat(path, self.plan.vocab, axis=0)
        path = path / self.root.mean

        def apart(number: int) -> tuple[Float[np.ndarray, " blocks"]]:
            blocks = np.arange(number * self.plan.stretch, (number + 1) * self.plan.stretch)
            return (self._run(programs.tv_local_global, blocks, path),)

        return float(np.concatenate([tv for (tv,) in self._spread("tv_local_global", apart, (0,))]).sum())

    def marginal(self, expert: int, positions: tuple[int, ...]) -> tuple[Float[np.ndarray, "2 cells"], float]:
        """The marginals of the composition and of an expert on `positions`, all of the horizon; and a bound on their
        relative rounding errors."""
        plan, own = self.plan, np.ones((1, 1))
        for rows in self.rows:
            own = (own * rows.components[expert + 1]).swapaxes(0, 1).reshape(-1, 1)
        kept = tuple(t - plan.above for t in positions if t >= plan.above)

        def masses(number: int) -> tuple[Float[np.ndarray, "blocks 2 lanes cells"]]:
            blocks = np.arange(number * plan.stretch, (number + 1) * plan.stretch)
            return (self._run(programs.marginal, blocks, own, static=(expert, kept)),)

        found = [m for (m,) in self._spread(f"marginal {expert} {positions}", masses, (0,))]
        cells = digits(plan.above, [t for t in positions if t < plan.above], plan.vocab)
        by_head = np.moveaxis(np.concatenate(found), 1, 0).reshape(2, len(cells), -1)
        summed = np.zeros((2, int(cells.max()) + 1, by_head.shape[2]))
        for law, into in zip(by_head, summed, strict=True):
            np.add.at(into, cells, law)
        terms = plan.vocab ** (plan.horizon - len(positions))
        relative = float(np.expm1(2 * plan.horizon * self.largest("error"))) + 2 * EPS * (terms + 8)
        return summed.reshape(2, -1), relative


class Block:
    """A block visited in NumPy: its levels, and the tally with the marks of each prefix."""

    def __init__(self, visit: Visit, block: int):
        plan = visit.plan
        self.tally = Tally(plan, np)
        heads = block * plan.lanes + np.arange(plan.lanes)
        self.prefixes = [heads * plan.vocab**n + np.arange(plan.vocab**n)[:, None] for n in range(plan.tail)]
        given = [visit.decided(plan.above + n, prefixes) for n, prefixes in enumerate(self.prefixes)]
        rows = examine(plan, visit.tables.below(plan, self.prefixes), given)
        carried = each(lambda x: x.reshape(-1, 1, plan.lanes)[block], visit.heads)
        self.levels, _ = descend(plan, plan.above, rows, carried, self.tally)
        below = ascend(plan, plan.above, self.levels, close(plan, rows[-1], self.levels, self.tally), self.tally)
        self.answer = programs.Answer(below, self.tally.totals(np.int64(block)))


def _totals_like(plan: Plan) -> Totals:
    return Tally(plan, np).totals(np.int64(0))


def _below_like(plan: Plan) -> Below:
    return Below(0, 0, 0, None if plan.eos is None else 0, 0, 0)
