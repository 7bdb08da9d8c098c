"""Active intervals on the tree: where an expert is entered, what is drawn while it is active, with which probability.

Source: theory.md 3.3, 4.5 and 5.1. A path *enters* at its first deviating prefix `g`; its *segment* are the tokens
drawn from there on while the expert is active, an EOS among them included. Numbers are floats, or fractions in arrays
of dtype object.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from factorcomp.certificates.claims import Spans
from factorcomp.enumeration.tree import to_children

Numbers = Any  # floats, or fractions in an array of dtype object
Flags = Bool[np.ndarray, "_"]


@dataclass(frozen=True)
class Kernels:
    """The rows of one model, level by level: probabilities `[prefixes, vocab]`, and where they are positive."""

    values: Sequence[Numbers]
    support: Sequence[Bool[np.ndarray, "_ vocab"]]


@dataclass(frozen=True)
class Law:
    """The probabilities of all prefixes, level by level from the empty one to the sequences, and which are possible."""

    mass: Sequence[Numbers]
    possible: Sequence[Flags]


@dataclass(frozen=True)
class Entries:
    """The prefixes at which the expert is entered."""

    length: Int[np.ndarray, " entries"]
    index: Int[np.ndarray, " entries"]


@dataclass(frozen=True)
class Ends:
    """The prefixes at which segments end. `entry`: of each its entry; `run`: the probability of the expert's segment
    after the entry, whatever the way there; `possible`: whether that is positive.
    """

    length: Int[np.ndarray, " ends"]
    index: Int[np.ndarray, " ends"]
    entry: Int[np.ndarray, " ends"]
    run: Numbers
    possible: Bool[np.ndarray, " ends"]


def law(kernels: Kernels, one: Any) -> Law:
    """The law of prefixes: the product of the kernels. `one`: 1 as a float or a fraction."""
    mass, possible = [np.array([one])], [np.ones(1, dtype=bool)]
    for values, support in zip(kernels.values, kernels.support, strict=True):
        mass.append((mass[-1][:, None] * values).reshape(-1))
        possible.append((possible[-1][:, None] & support).reshape(-1))
    return Law(mass, possible)


def at(levels: Sequence[Any], length: Int[np.ndarray, " places"], index: Int[np.ndarray, " places"]) -> Any:
    """The entries of `levels` at these prefixes."""
    found = np.empty(len(length), dtype=levels[0].dtype)
    for t in np.unique(length).tolist():
        here = length == t
        found[here] = levels[t][index[here]]
    return found


def flags(spans: Sequence[Spans], vocab: int) -> list[Flags]:
    """Sets of prefixes, given as ranges of indices for each length, as flags."""
    levels = []
    for length, ranges in enumerate(spans):
        level = np.zeros(vocab**length, dtype=bool)
        for start, stop in ranges:
            level[start:stop] = True
        levels.append(level)
    return levels


def walk(deviates: Sequence[Flags], active: Sequence[Flags], kernels: Kernels, one: Any) -> tuple[Entries, Ends]:
    """Every entry and every end of a segment of an expert with these kernels, in the order of length and index."""
    vocab = kernels.values[0].shape[1] if kernels.values else 1
    horizon = len(deviates)
    entries: list[tuple[Any, Any]] = []
    ends: list[tuple[Any, ...]] = []
    count = 0
    entry = np.full(1, -1)
    run, possible = np.array([one]), np.ones(1, dtype=bool)
    for length in range(horizon + 1):
        inside = deviates[length] if length < horizon else np.zeros(len(entry), dtype=bool)
        lasts = active[length] if length < horizon else inside
        over = np.flatnonzero((entry >= 0) & ~lasts)
        ends.append((np.full(len(over), length), over, entry[over], run[over], possible[over]))
        entry = np.where(lasts, entry, -1)
        new = np.flatnonzero(inside & (entry < 0))  # where a segment has ended, no deviation can be reached
        entries.append((np.full(len(new), length), new))
        entry[new] = count + np.arange(len(new))
        run[new], possible[new] = one, True
        count += len(new)
        if length < horizon:
            entry = to_children(entry, vocab)
            run = (run[:, None] * kernels.values[length]).reshape(-1)
            possible = (possible[:, None] & kernels.support[length]).reshape(-1)
    return (
        Entries(*(np.concatenate(parts) for parts in zip(*entries, strict=True))),
        Ends(*(np.concatenate(parts) for parts in zip(*ends, strict=True))),
    )
