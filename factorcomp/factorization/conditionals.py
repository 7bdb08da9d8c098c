"""Factorized conditionals, decided stepwise on the rows: theory.md, Definition 2.1 and Theorem 2.3.

Prefixes of one length fall into cells by their tokens on a block; within a cell the rows that Theorem 2.3 compares
must be one. For each cell it is enough to compare with the first row in it: equality is transitive, and exact. What
float tables settle by having the same numbers (`streaming.conditionals`) is not looked at again.

| condition | rows, of prefixes with equal tokens on the block | |
|---|---|---|
| B | of the background, on its reach; the block of the position | equal |
| I1 | of an expert, on its reach, at its own positions; its mask | equal |
| I2 | of an expert on its reach against the background's on its own, elsewhere; the block of the position | equal |
| c | of an expert, at its own positions; its mask | possible only where the background is, somewhere in the cell |
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.bounds.oscillation import exceeds
from factorcomp.enumeration.tree import digits, digits_of
from factorcomp.factorization.diameter import largest_distance
from factorcomp.models.rows import AbstractRows, PowerTooLargeError, TiltedRows
from factorcomp.streaming.conditionals import Agreement, agreement

Indices = Int[np.ndarray, "_"]  # cells, prefixes and members of cells: of different numbers
Condition = Literal["c", "B", "I1", "I2"]
CONDITIONS: tuple[Condition, ...] = ("c", "B", "I1", "I2")
BACKGROUND = -1


@dataclass(frozen=True, order=True)
class Failure:
    """A failing pair of prefixes of `length` tokens; ordered as a reader looks for the first one.

    `rank`: place of the condition in `CONDITIONS`; `expert`: its place in the order given, `BACKGROUND` for condition
    B.
    """

    length: int
    first: int
    second: int
    rank: int
    expert: int

    @property
    def condition(self) -> Condition:
        """`"c"`, `"B"`, `"I1"` or `"I2"`."""
        return CONDITIONS[self.rank]


@dataclass(frozen=True)
class Conditionals:
    """The first failing pair, if there is one, and the largest TV between two rows that must agree.

    `at_least`: `largest_tv` is only a lower bound (large vocabularies). `undecided`: why equality could not be decided.
    `lawless`: the tilted experts (by place) that reach a prefix where they share no token with the background; their
    weights give them no law (theory.md 1.9 needs `p_i << p_b`), and nothing is decided about it.
    """

    failure: Failure | None
    largest_tv: float
    at_least: bool = False
    undecided: str | None = None
    lawless: tuple[int, ...] = ()

    @property
    def hold(self) -> bool:
        """Whether the conditionals factorize."""
        return self.failure is None and self.undecided is None


def decide_conditionals(
    background: Sequence[AbstractRows],
    experts: Sequence[Sequence[AbstractRows]],
    masks: Mapping[int, tuple[int, ...]],
) -> Conditionals:
    """Decides factorized conditionals for the (tilted) experts with `masks`, by place in the order given."""
    positions = _positions(background, experts, masks)
    failures, largest, at_least = [], 0.0, False
    if lawless := _lawless(_levels(background, experts, positions)):
        return Conditionals(None, 0.0, undecided="a tilted expert has no law of its own", lawless=lawless)
    try:
        for level in _levels(background, experts, positions):
            for comparison in _comparisons(level):
                failure, largest, bound = comparison.decide(largest)
                failures += [failure] if failure else []
                at_least = at_least or bound
            failures += [f for f in [_absolute_continuity(level)] if f]
    except PowerTooLargeError as error:
        return Conditionals(min(failures, default=None), largest, at_least=True, undecided=str(error))
    return Conditionals(min(failures, default=None), largest, at_least)


def tilted_steps(
    background: Sequence[AbstractRows], expert: Sequence[AbstractRows], weight: Fraction
) -> Sequence[AbstractRows]:
    """The expert's rows, tilted by its weight (theory.md 1.9)."""
    if weight == 1:
        return expert
    return tuple(TiltedRows(base, rows, weight) for base, rows in zip(background, expert, strict=True))


@dataclass(frozen=True)
class Position:
    """The position after `length` tokens: its block, whose mask that is (`None`: nobody's), what the numbers there say.

    `full`: up to here every model gives every token a positive probability, so that every prefix is reached.
    """

    length: int
    owner: int | None
    block: tuple[int, ...]
    agreement: Agreement
    full: bool

    @property
    def settled(self) -> bool:
        """Whether every condition holds here, and no row is empty."""
        return self.agreement.rows and self.full


def _positions(
    background: Sequence[AbstractRows], experts: Sequence[Sequence[AbstractRows]], masks: Mapping[int, tuple[int, ...]]
) -> list[Position]:
    owners = {position: i for i, mask in masks.items() for position in mask}
    rest = tuple(t for t in range(len(background)) if t not in owners)
    positions, full = [], True
    for t, base in enumerate(background):
        owner = owners.get(t)
        block = rest if owner is None else masks[owner]
        numbers = agreement(base, [steps[t] for steps in experts], owner, block, t)
        full = full and numbers.full
        positions.append(Position(t, owner, block, numbers, full))
    return positions


@dataclass(frozen=True)
class Level:
    """The rows at a position, and which prefixes the background (`reach[0]`) and the experts reach.

    `prefixes`: those whose rows these are, increasing; `None`: all.
    """

    position: Position
    background: AbstractRows
    experts: tuple[AbstractRows, ...]
    reach: tuple[Bool[np.ndarray, "_"], ...]
    prefixes: Indices | None = None

    @cached_property
    def cells(self) -> Indices:
        """The cell of every prefix, by its tokens on the block of the position."""
        place, vocab = self.position, self.background.shape[1]
        if self.prefixes is None:
            return digits(place.length, place.block, vocab)
        return np.unique(digits_of(self.prefixes, place.length, place.block, vocab), return_inverse=True)[1]

    def prefix(self, index: int) -> int:
        """The prefix of row `index`."""
        return index if self.prefixes is None else int(self.prefixes[index])

    def suspects(self) -> "Level":
        """The level without the cells that the numbers settle."""
        prefixes, (count, vocab) = self.position.agreement.suspects, self.background.shape
        if prefixes is None or 2 * len(prefixes) > count:
            return self
        background, *experts = (rows.take(prefixes, range(vocab)) for rows in (self.background, *self.experts))
        return Level(self.position, background, tuple(experts), tuple(r[prefixes] for r in self.reach), prefixes)


def _levels(
    background: Sequence[AbstractRows], experts: Sequence[Sequence[AbstractRows]], positions: Sequence[Position]
) -> Iterator[Level]:
    """The levels of the positions that are not settled."""
    last = max((position.length for position in positions if not position.settled), default=-1)
    reach = tuple(np.ones(1, dtype=bool) for _ in range(len(experts) + 1))
    for position, base, *own in zip(positions[: last + 1], background, *experts, strict=False):
        if not position.settled:
            yield Level(position, base, tuple(own), reach)
        if position.length < last:
            reach = tuple(_extended(up, rows, position.full) for up, rows in zip(reach, (base, *own), strict=True))


def _extended(reach: Bool[np.ndarray, " prefixes"], rows: AbstractRows, full: bool) -> Bool[np.ndarray, " longer"]:
    """Which prefixes of one token more are reached; `full`: all are."""
    return np.ones(math.prod(rows.shape), dtype=bool) if full else (reach[:, None] & rows.support()).reshape(-1)


def _lawless(levels: Iterable[Level]) -> tuple[int, ...]:
    """The experts that reach an empty row."""
    found = set()
    for level in levels:
        for i, rows in enumerate(() if level.position.full else level.experts):
            empty = ~rows.support().any(axis=1)
            found |= {i} if (empty & level.reach[i + 1]).any() else set()
    return tuple(sorted(found))


@dataclass(frozen=True)
class Comparison:
    """Rows `mine` of one model against rows `theirs` of another (or the same), cell by cell."""

    level: Level
    rows: AbstractRows
    mine: Indices
    other: AbstractRows
    theirs: Indices
    rank: int
    expert: int

    def decide(self, found: float) -> tuple[Failure | None, float, bool]:
        """The first failing pair, the largest TV of a pair (or `found`), and whether that is only a lower bound."""
        cells = self.level.cells
        representative = _first_in_cell(cells, self.theirs)
        stranger = np.flatnonzero(exceeds(self.other, self.theirs, self.other, representative[cells[self.theirs]]))
        odd = _first_in_cell(cells, self.theirs[stranger])
        mine = self.mine[representative[cells[self.mine]] >= 0]
        unlike = exceeds(self.rows, mine, self.other, representative[cells[mine]])
        second = np.where(unlike, representative[cells[mine]], odd[cells[mine]])
        failing = second >= 0
        if not failing.any():
            return None, found, False
        at = int(failing.argmax())
        pair = [self.level.prefix(int(index)) for index in (mine[at], second[at])]
        if self.rows is self.other:
            pair.sort()
        failure = Failure(self.level.position.length, *pair, self.rank, self.expert)
        bad = np.unique(cells[mine[failing]])
        ours, others = mine[np.isin(cells[mine], bad)], self.theirs[np.isin(cells[self.theirs], bad)]
        return failure, *largest_distance(self.rows, ours, cells[ours], self.other, others, cells[others], found)


def _comparisons(level: Level) -> Iterator[Comparison]:
    """Conditions B, I1 and I2 at the position that follows the prefixes of this level, unless its numbers show them."""
    if level.position.agreement.rows:
        return
    level = level.suspects()
    base, reached = level.background, np.flatnonzero(level.reach[0])
    yield Comparison(level, base, reached, base, reached, CONDITIONS.index("B"), BACKGROUND)
    for i, rows in enumerate(level.experts):
        own = np.flatnonzero(level.reach[i + 1])
        if i == level.position.owner:
            yield Comparison(level, rows, own, rows, own, CONDITIONS.index("I1"), i)
        else:
            yield Comparison(level, rows, own, base, reached, CONDITIONS.index("I2"), i)


def _first_in_cell(cells: Indices, prefixes: Indices) -> Indices:
    """The first of `prefixes` (increasing) in each cell, -1 in a cell without one."""
    first = np.full(int(cells.max(initial=-1)) + 1, -1, dtype=np.int64)
    first[cells[prefixes[::-1]]] = prefixes[::-1]
    return first


def _absolute_continuity(level: Level) -> Failure | None:
    """Condition (c) at a position of an expert's own."""
    owner, cells = level.position.owner, level.cells
    if owner is None or level.position.full:
        return None
    base, rows = level.background.support(), level.experts[owner].support()
    possible = np.zeros((int(cells.max(initial=-1)) + 1, base.shape[1]), dtype=bool)
    for token, admits in enumerate(base.T):
        possible[cells[level.reach[0] & admits], token] = True
    failing = (rows & ~possible[cells]).any(axis=1) & level.reach[owner + 1]
    if not failing.any():
        return None
    prefix = int(failing.argmax())
    return Failure(level.position.length, prefix, prefix, CONDITIONS.index("c"), owner)
