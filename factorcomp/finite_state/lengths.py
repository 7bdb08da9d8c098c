"""From length to length: which states prefixes of exactly so many tokens lead to."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.models.finite_state import NOWHERE

MOST_LENGTHS = 10_000
"""How many lengths are looked at until the sets of states repeat."""

States = Int[np.ndarray, " _"]
Following = Int[np.ndarray, "states vocab"]


class Level(NamedTuple):
    """The states after the prefixes of one length, in the order of the first such prefix, and its index.

    `origin`, `token`, `after`: the edges that lead on: the place of the state in `states`, the token, the state after.
    """

    states: States
    index: list[int]
    origin: States
    token: States
    after: States


def walk(following: Following) -> Iterator[Level]:
    """Length after length, from state 0 on, without an end."""
    states, index = np.zeros(1, dtype=np.int64), [0]
    vocab = following.shape[1]
    while True:
        origin, token = np.nonzero(following[states] != NOWHERE)
        after = following[states[origin], token]
        yield Level(states, index, origin, token, after)
        distinct, first = np.unique(after, return_index=True)
        order = np.argsort(first)
        index = [index[origin[n]] * vocab + int(token[n]) for n in first[order].tolist()]
        states = distinct[order]


def repeating(following: Following, limit: int | None = None) -> tuple[list[States], int] | None:
    """The sets of states at lengths 0, 1, … up to the first that has come before, and the length at which it did.

    After the last one those from there on come again and again. `None` where none comes again within `MOST_LENGTHS`.
    `limit`: only the lengths below it are of interest.
    """
    level, levels, seen = np.zeros(1, dtype=np.int64), [], {}
    while len(levels) < (limit or MOST_LENGTHS):
        key = level.tobytes()
        if key in seen:
            return levels, seen[key]
        seen[key] = len(levels)
        levels.append(level)
        after = following[level]
        level = np.unique(after[after != NOWHERE])
    return None if limit is None else (levels, 0)


def first_path(following: Following, target: Bool[np.ndarray, " states"], length: int) -> tuple[int, ...] | None:
    """The first prefix of exactly `length` tokens, in vocabulary order, that leads from state 0 into `target`.

    Backwards the states from which the target is as far away as tokens are left; forwards the first token to such a
    one.
    """
    ways = [target]
    possible = following != NOWHERE
    for _ in range(length):
        ways.append((possible & ways[-1][following]).any(axis=1))
    ways.reverse()
    if not ways[0][0]:
        return None
    state, tokens = 0, []
    for way in ways[1:]:
        after = following[state]
        tokens.append(int(((after != NOWHERE) & way[after]).argmax()))
        state = int(after[tokens[-1]])
    return tuple(tokens)


def states_after(following: Following, length: int) -> Bool[np.ndarray, " states"]:
    """The states that prefixes of exactly `length` tokens lead to."""
    level = np.arange(len(following)) == 0
    levels: list[np.ndarray] = []
    seen: dict[bytes, int] = {}
    for t in range(length):
        first = seen.setdefault(np.packbits(level).tobytes(), t)
        if first < t:  # what follows comes again and again
            return levels[first + (length - first) % (t - first)]
        levels.append(level)
        level = following_states(following, level)
    return level


def following_states(following: Following, level: Bool[np.ndarray, " states"]) -> Bool[np.ndarray, " states"]:
    """The states that one token more leads to."""
    after = following[level]
    led = np.zeros(len(following), dtype=bool)
    led[after[after != NOWHERE]] = True
    return led
