"""Masks without an end as a clock: which expert owns position t, from a word that repeats. Source: theory.md 7.5."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.certificates.claims import Positions
from factorcomp.composition.search import Members, Search, breadth_first
from factorcomp.models.finite_state import NOWHERE

BACKGROUND = -1
"""The owner of a position that no mask owns."""


@dataclass(frozen=True)
class Clock:
    """The owner of position t is `owners[t]`, and after the last one from `owners[loop]` on again.

    Owners are experts by their place in the order given, or `BACKGROUND`.
    """

    owners: tuple[int, ...]
    loop: int

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def after(self) -> Int[np.ndarray, " ticks"]:
        """The tick after each tick."""
        return np.append(np.arange(1, len(self)), self.loop)

    def owner(self, position: int) -> int:
        """Who owns a position."""
        return self.owners[self.tick(position)]

    def tick(self, position: int) -> int:
        """The tick of a position."""
        if position < len(self):
            return position
        return self.loop + (position - self.loop) % (len(self) - self.loop)


def clock_of(masks: Mapping[int, Positions]) -> Clock:
    """The clock of the masks of experts, by place.

    >>> clock_of({0: Positions((), ((0, 3),)), 1: Positions((1,))})
    Clock(owners=(0, 1, -1, 0, -1), loop=2)
    """
    finite = [position for mask in masks.values() for position in mask.finite]
    progressions = [p for mask in masks.values() for p in mask.progressions]
    loop = max([*(position + 1 for position in finite), *(start for start, _ in progressions), 0])
    length = loop + math.lcm(*(step for _, step in progressions))
    owners = np.full(length, BACKGROUND)
    for expert, mask in masks.items():
        owners[list(mask.finite)] = expert
        for start, step in mask.progressions:
            owners[start::step] = expert
    return Clock(tuple(owners.tolist()), loop)


def repeating(flags: Sequence[bool], loop: int) -> Positions:
    """The positions t with `flags[t]`, where after the last flag those from `loop` on come again and again.

    Written in one way: with the smallest period, and then the smallest start of the repetition.

    >>> str(repeating([True, False, True, False, True, False], 2))
    '0::2'
    """
    head, cycle = list(flags[:loop]), list(flags[loop:])
    size = len(cycle)
    period = next(p for p in range(1, size + 1) if size % p == 0 and cycle == cycle[:p] * (size // p))
    cycle = cycle[:period]
    while head and head[-1] == cycle[-1]:
        cycle = [head.pop(), *cycle[:-1]]
    finite = tuple(t for t, flag in enumerate(head) if flag)
    return Positions(finite, tuple((len(head) + t, period) for t, flag in enumerate(cycle) if flag))


def with_clock(following: Int[np.ndarray, "states vocab"], clock: Clock, depth: int | None = None) -> Search:
    """The states together with the tick of the position that follows: `members` are state and tick.

    `depth`: the longest prefixes looked at.
    """
    ticks = clock.after

    def expand(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "parts _ vocab"]]:
        state, tick = members
        after = following[state]
        return after != NOWHERE, np.stack([after, np.broadcast_to(ticks[tick][:, None], after.shape)])

    return breadth_first([0, 0], [len(following), len(clock)], expand, depth=depth)
