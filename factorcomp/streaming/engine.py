"""Every prefix visited: those above the heads here, the blocks below them on the devices of JAX."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from factorcomp.bounds.oscillation import exceeds
from factorcomp.composition.precision import float64
from factorcomp.enumeration.tree import digits
from factorcomp.models.rows import EPS
from factorcomp.models.tabular import TabularModel
from factorcomp.streaming import blocks as programs
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import Given
from factorcomp.streaming.subtree import Below, Carried, Level, Rows, ascend, close, descend, examine, root
from factorcomp.streaming.tables import Tables
from factorcomp.streaming.totals import MAXIMA, SUMS, Tally, Totals

CHUNK = 64
"""So many blocks are visited by one call."""


class TooExtremeError(ArithmeticError):
    """Some probabilities are too small for anything but logs."""


@dataclass
class Visit:
    """A visit to a tree: what was handed down to the heads, what they handed back, and all totals."""

    plan: Plan
    tables: Tables
    models: Sequence[TabularModel]
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        self.top = Tally(self.plan, np)
        self.levels: list[Level] = []
        self.rows: list[Rows] = []
        carried = root(self.plan, np)
        if self.plan.above:
            self.rows = examine(self.plan, self.tables.above(self.plan), self._decided_above())
            self.levels, carried = descend(self.plan, 0, self.rows, carried, self.top)
        self.heads: Carried = _by_block(carried, self.plan)
        answer = self._below()
        self.blocks = answer.totals
        below = _map(lambda x: x.reshape(-1, 1), answer.below)
        self.top.largest("error", answer.totals.maxima[:, MAXIMA.index("error")].max())
        if self.plan.above:
            below = ascend(self.plan, 0, self.levels, below, self.top)
        self.root: Below = below

    def _below(self) -> programs.Answer:
        plan, every = self.plan, np.arange(self.plan.blocks)
        fits = plan.eos is None
        first = self._run(replace(plan, full=fits), every)
        again = np.flatnonzero(_is(first, "unfit")) if fits else every[:0]
        answer = _patched(first, again, self._run(plan, again)) if len(again) else first
        if _is(answer, "extreme").any() or self.top.maxima["extreme"] > 0:
            raise TooExtremeError
        undecided = np.flatnonzero(_is(answer, "open"))
        for block in undecided:
            answer = _patched(answer, [block], self.here(int(block)).answer)
        return answer

    def _run(
        self,
        plan: Plan,
        numbers: Int[np.ndarray, " blocks"],
        program: Any = programs.survey,
        inherited: tuple[Any, ...] = (),
        static: tuple[Any, ...] = (),
    ) -> Any:
        """What the program says of these blocks, on a device, in chunks of one size, the last one padded.

        `inherited`: by all blocks, besides what is carried to them.
        """
        import jax

        with float64():
            device = jax.devices()[0]
            tables = self.tables.on(device, plan)
            answers = []
            for start in range(0, len(numbers), CHUNK):
                chunk = numbers[start : start + CHUNK]
                size = min(CHUNK, plan.blocks)
                padded = np.pad(chunk, (0, size - len(chunk)), mode="edge")
                handed = _map(lambda x, rows=padded: x[rows], (self.heads, *inherited))
                answer = jax.device_get(programs.compiled(program)(plan, tables, padded, *handed, *static))
                answers.append(_map(lambda x, rows=chunk: x[: len(rows)], answer))
                if self.progress is not None:
                    self.progress(min(start + CHUNK, len(numbers)), len(numbers))
        return _map(lambda *parts: np.concatenate(parts), *answers)

    def _decided_above(self) -> list[Given]:
        """Who differs and deviates above the heads, in exact arithmetic."""
        return [self._decided(t, np.arange(self.plan.vocab**t)[:, None]) for t in range(self.plan.above)]

    def _decided(self, length: int, prefixes: Int[np.ndarray, "prefixes lanes"]) -> Given:
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
        return max(float(self.top.maxima[kind]), float(self.blocks.maxima[:, MAXIMA.index(kind)].max()))

    @cached_property
    def totals(self) -> Totals:
        """Of the whole tree; sums are added block after block, whatever visited them."""
        top, below = self.top.totals(np.int64(0)), self.blocks
        sums = [a + b.sum(axis=0) for a, b in zip(top[:SUMS], below[:SUMS], strict=True)]
        largest = [np.maximum(a, b.max(axis=0)) for a, b in zip(top[SUMS:-1], below[SUMS:-1], strict=True)]
        return Totals(*sums, *largest, below.first.min(axis=0))

    def tv_local_global(self) -> float:
        """`TV(P_L, P_G)`: once more down, now that `Z_G` is known (Theorem 1.5 (1))."""
        path = np.ones((1, 1))
        for level in self.levels:
            assert level.composed is not None
            sound = level.inherited.reachable & ~level.composed.undefined
            path = path * np.exp(np.where(sound, level.composed.log_z, 0.0))
            path = np.repeat(path, self.plan.vocab, axis=0)
        path = path.reshape(-1, 1, self.plan.lanes) / self.root.mean
        return float(self._run(self.plan, np.arange(self.plan.blocks), programs.tv_local_global, (path,)).sum())

    def marginal(self, expert: int, positions: tuple[int, ...]) -> tuple[Float[np.ndarray, "2 cells"], float]:
        """The marginals of the composition and of an expert on `positions`, all of the horizon; and a bound on their
        relative rounding errors."""
        plan, own = self.plan, np.ones((1, 1))
        for rows in self.rows:
            assert rows.components is not None
            own = (own * rows.components[expert + 1]).swapaxes(0, 1).reshape(-1, 1)
        own = own.reshape(-1, 1, plan.lanes)
        kept = tuple(t - plan.above for t in positions if t >= plan.above)
        every = np.arange(plan.blocks)
        masses = self._run(plan, every, programs.marginal, (own,), (expert, kept))
        cells = digits(plan.above, [t for t in positions if t < plan.above], plan.vocab)
        by_head = np.moveaxis(masses, 1, 0).reshape(2, len(cells), -1)
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
        given = [visit._decided(plan.above + n, prefixes) for n, prefixes in enumerate(self.prefixes)]
        rows = examine(plan, visit.tables.below(plan, self.prefixes), given)
        carried = _map(lambda x: x[block], visit.heads)
        self.levels, _ = descend(plan, plan.above, rows, carried, self.tally)
        below = ascend(plan, plan.above, self.levels, close(plan, rows[-1], self.levels, self.tally), self.tally)
        answer = programs.Answer(below, self.tally.totals(np.int64(block)))
        self.answer: programs.Answer = _map(lambda x: np.asarray(x)[None], answer)


def _is(answer: programs.Answer, kind: str) -> Float[np.ndarray, " blocks"]:
    return answer.totals.maxima[:, MAXIMA.index(kind)] > 0


def _patched(answer: programs.Answer, where: Any, other: programs.Answer) -> programs.Answer:
    """`answer` with the blocks `where` taken from another."""

    def patch(mine: Any, theirs: Any) -> Any:
        mine = mine.copy()
        mine[where] = theirs
        return mine

    return _map(patch, answer, other)


def _by_block(carried: Carried, plan: Plan) -> Carried:
    return _map(lambda x: np.ascontiguousarray(x).reshape(-1, 1, plan.lanes), carried)


def _map(function: Callable[..., Any], *trees: Any) -> Any:
    import jax

    return jax.tree.map(function, *trees)
