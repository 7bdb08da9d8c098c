"""Stopping times of the prefix filtration, and what they certify: theory.md, section 3."""

from collections.abc import Collection, Mapping
from functools import cache
from itertools import product

from proofs_checks.definitions.laws import Prefix, prefixes, sequences

Times = Mapping[Prefix, int]
"""`σ: V^T -> {0..T}`."""
Window = frozenset[tuple[Prefix, int]]
"""Steps of paths: `(y, l)`."""


@cache
def stopping_times(size: int, length: int) -> tuple[Times, ...]:
    """All of them: at a prefix stop, or go on and decide at each child."""

    def onwards(prefix: Prefix) -> list[Times]:
        rest = length - len(prefix)
        here: Times = {(*prefix, *more): len(prefix) for more in product(range(size), repeat=rest)}
        if not rest:
            return [here]
        children = product(*(onwards((*prefix, token)) for token in range(size)))
        return [here, *({path: t for child in chosen for path, t in child.items()} for chosen in children)]

    return tuple(onwards(()))


def is_stopping_time(times: Times) -> bool:
    """`{σ = l}` is decided by `y_{<=l}`: a path that agrees with `y` up to `σ(y)` stops with it."""
    return all(times[other] == stop for path, stop in times.items() for other in times if other[:stop] == path[:stop])


def window(first: Times, last: Times) -> Window:
    """`{(y, l): σ_1(y) <= l < σ_2(y)}`."""
    return frozenset((path, step) for path, start in first.items() for step in range(start, last[path]))


def marks(deviations: Collection[Prefix], size: int, length: int) -> Window:
    """The steps of paths at which a prefix deviates; certified by the windows that contain them (3.1)."""
    return frozenset(
        (path, step) for path in sequences(size, length) for step in range(length) if path[:step] in deviations
    )


@cache
def windows(size: int, length: int) -> tuple[Window, ...]:
    """Those of all pairs of stopping times `σ_1 <= σ_2`."""
    times = stopping_times(size, length)
    return tuple(
        window(first, last)
        for first in times
        for last in times
        if all(start <= last[path] for path, start in first.items())
    )


@cache
def sets_of_prefixes(size: int, length: int) -> tuple[frozenset[Prefix], ...]:
    """Every set of prefixes shorter than `length`."""
    every = prefixes(size, length)
    marked = product((False, True), repeat=len(every))
    return tuple(frozenset(h for h, chosen in zip(every, one, strict=True) if chosen) for one in marked)
