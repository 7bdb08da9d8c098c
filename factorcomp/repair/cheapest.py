"""The cheapest rows to take away, by dynamic programming from the leaves. Source: theory.md 11.5.

`f(h, s) = min_{s'} g(h, s')` over the states `s'` that may follow `s`, and

    g(h, s') = sum_{i deviates, i is not kept} c_i(h) + sum_y f(hy, s')

where the sum is over the tokens `y` that the repaired composition can take: those of the expert kept, else of the
background. An expert is kept only where it is active in `s'`; where it is, it may be reset too (it must, where the
composition is undefined with it; it may pay, where it opens tokens that lead to worse). With a common support this
never pays and all tokens are taken, which is the recursion of 11.5. Among equal costs the fewest resets are made, then
those of the first move.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.repair.prices import Level
from factorcomp.repair.turns import NOBODY, Turns

_BLOCK = 1 << 14
"""Prefixes that are looked at together: what is made of them stays in cache."""


@dataclass(frozen=True)
class Plan:
    """What to reset, by length, and what it costs. `reached`: the scope of the repaired composition."""

    resets: tuple[Bool[np.ndarray, "experts _"], ...]
    reached: tuple[Bool[np.ndarray, "_"], ...]
    cost: float


@dataclass(frozen=True)
class _Decided:
    """At each prefix of one length: the best next state from every state, and whether its expert is kept there."""

    following: Int[np.ndarray, "states prefixes"]
    kept: Bool[np.ndarray, "states prefixes"]


@dataclass(frozen=True)
class _Values:
    """Costs, and the number of resets, which decides between equal ones."""

    cost: Float[np.ndarray, "*shape"]
    resets: Int[np.ndarray, "*shape"]

    def __getitem__(self, place: Any) -> "_Values":
        return _Values(self.cost[place], self.resets[place])

    def better_than(self, other: "_Values") -> Bool[np.ndarray, "*shape"]:
        return (self.cost < other.cost) | ((self.cost == other.cost) & (self.resets < other.resets))


def cheapest(levels: Sequence[Level], turns: Turns) -> Plan:
    """The plan of least cost among those in which every path follows the moves of `turns`."""
    below: _Values | None = None
    decided: list[_Decided] = []
    for level in reversed(levels):
        below, choice = _decide(level, turns, below)
        decided.append(choice)
    cost = 0.0 if below is None else float(below.cost[0, 0])
    return _follow(levels, decided[::-1], turns, cost)


def _decide(level: Level, turns: Turns, below: _Values | None) -> tuple[_Values, _Decided]:
    states, (prefixes, vocab) = len(turns.active), level.after_background.shape
    values = _Values(np.empty((states, prefixes)), np.empty((states, prefixes), dtype=np.int64))
    decided = _Decided(np.empty((states, prefixes), dtype=np.int16), np.empty((states, prefixes), dtype=bool))
    for start in range(0, prefixes, _BLOCK):
        part = slice(start, min(start + _BLOCK, prefixes))
        mine = _part(level, part)
        children = None if below is None else below[:, part.start * vocab : part.stop * vocab]
        entered = []
        for state, who in enumerate(turns.active):
            after = None if children is None else children[state]
            best, decided.kept[state, part] = _enter(mine, who, after)
            entered.append(best)
        for state, following in enumerate(turns.following):
            first, *others = following
            cost, resets = entered[first].cost.copy(), entered[first].resets.copy()
            choice = np.full(len(cost), first, dtype=np.int16)
            for other in others:
                better = entered[other].better_than(_Values(cost, resets))
                np.copyto(cost, entered[other].cost, where=better)
                np.copyto(resets, entered[other].resets, where=better)
                choice[better] = other
            values.cost[state, part], values.resets[state, part] = cost, resets
            decided.following[state, part] = choice
    return values, decided


def _part(level: Level, part: slice) -> Level:
    return Level(
        level.deviates[:, part],
        level.keepable[:, part],
        level.cost[:, part],
        level.distance[:, part],
        level.probability[part],
        level.after_expert[:, part],
        level.after_background[part],
    )


def _enter(level: Level, who: int, after: _Values | None) -> tuple[_Values, Bool[np.ndarray, " prefixes"]]:
    """`g(h, s')` for a state in which `who` is active, and whether its row is kept rather than reset."""
    reset = _add(level.cost.sum(axis=0), level.deviates.sum(axis=0), after, level.after_background)
    nothing = np.zeros(len(reset.cost), dtype=bool)
    if who == NOBODY:
        return reset, nothing
    others = np.arange(len(level.cost)) != who
    tokens = np.where(level.deviates[who][:, None], level.after_expert[who], level.after_background)
    kept = _add(level.cost[others].sum(axis=0), level.deviates[others].sum(axis=0), after, tokens)
    keep = (~level.deviates[who] | level.keepable[who]) & ~reset.better_than(kept)
    best = _Values(np.where(keep, kept.cost, reset.cost), np.where(keep, kept.resets, reset.resets))
    return best, keep & level.deviates[who]


def _add(
    cost: Float[np.ndarray, " prefixes"],
    resets: Int[np.ndarray, " prefixes"],
    after: _Values | None,
    tokens: Bool[np.ndarray, "prefixes vocab"],
) -> _Values:
    """With what follows after each of the tokens."""
    if after is None:
        return _Values(cost, resets)
    below, many = after.cost.reshape(tokens.shape), after.resets.reshape(tokens.shape)
    return _Values(cost + np.where(tokens, below, 0.0).sum(axis=1), resets + np.where(tokens, many, 0).sum(axis=1))


def _follow(levels: Sequence[Level], decided: Sequence[_Decided], turns: Turns, cost: float) -> Plan:
    """From the root along the best moves: what is reset where the repaired composition goes."""
    active, everyone = np.array(turns.active), np.arange(len(levels[0].deviates) if levels else 0)[:, None]
    reached, state = np.ones(1, dtype=bool), np.zeros(1, dtype=np.int16)
    resets, scope = [], []
    for level, choice in zip(levels, decided, strict=True):
        prefixes, vocab = level.after_background.shape
        place = np.arange(prefixes)
        state = choice.following[state, place]
        kept = np.where(choice.kept[state, place], active[state], NOBODY)
        resets.append(reached & level.deviates & (everyone != kept))
        scope.append(reached)
        tokens = np.where((kept != NOBODY)[:, None], level.after_expert[kept, place], level.after_background)
        reached = (reached[:, None] & tokens).reshape(-1)
        state = np.repeat(state, vocab)
    return Plan(tuple(resets), tuple(scope), cost)
