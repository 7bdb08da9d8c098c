"""What is added up, maximised and seen first over a tree, block by block."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Integer, UInt32

from factorcomp.streaming.arrays import Array
from factorcomp.streaming.plan import Plan

NOWHERE = 1 << 62
"""The stretch in which something was not found."""
MARKS = (
    "undefined", "overlap", "conflict", "z_differs", "z_unsure", "far", "far_unsure", "following",
    "following_unsure", "endless",
)  # fmt: skip
"""What is looked for: the bits of a prefix's marks; those that follow are the experts that deviate there."""
MAXIMA = ("far", "following", "log_z_max", "minus_log_z_min", "error", "open", "extreme", "unended")
"""What is maximised: the distance to the nearest component, the range of `log B` over children, `log Z`, `-log Z`, the
rounding bound of those; and, as 0 or 1, whether who deviates was left open, a number is too extreme, a sequence has not
ended."""


class Totals(NamedTuple):
    """Of some subtrees.

    `counted[f]`: the number and the mass of the prefixes with the feature `f`: in scope; then by expert those where it
    deviates, where it does for the first time, and where it is active. `masses`: of undefined prefixes, of the
    switching model's distance, and not ended. `lengths`: expected, of the components and the composition.
    `first[t, mark]`: the first stretch with a marked prefix of `t` tokens, or `NOWHERE`.
    """

    counted: Float[Array, "features 2"]
    masses: Float[Array, "3"]
    lengths: Float[Array, " laws"]
    oscillation: Float[Array, " experts"]
    distance: Float[Array, "experts positions"]
    runs: Int[Array, " experts"]
    maxima: Float[Array, " kinds"]
    first: Int[Array, "positions marks"]


PIECE = 1 << 15
"""So many prefixes are counted at once, in a core's cache."""
LARGEST_SET = 16
"""So many features, and one prefix in a table of all sets of them: a megabyte."""
SUMS = 3
"""The first fields are sums, those that follow maxima, the last a minimum."""


def together(parts: Sequence[Totals]) -> Totals:
    """Of all parts; the sums are added in this order."""
    fields = [np.stack(values) for values in zip(*parts, strict=True)]
    sums, largest = [x.sum(axis=0) for x in fields[:SUMS]], [x.max(axis=0) for x in fields[SUMS:-1]]
    return Totals(*sums, *largest, fields[-1].min(axis=0))


class Tally:
    """Collects numbers by the fields of `Totals`, from levels as they are visited, and ends as one.

    `marks`: of each prefix visited, by length, as bits; `active`: who is active there.
    """

    def __init__(self, plan: Plan):
        self.plan = plan
        zero = np.zeros(())
        self.counted = np.zeros((1 + 3 * plan.experts, 2))
        self.undefined = self.tv_to_switching = self.unended = zero
        self.lengths = [zero] * (plan.experts + 2)
        self.oscillation: list[Array] = [zero] * plan.experts
        self.runs: list[Array] = [np.zeros((), dtype=np.int32)] * plan.experts
        self.distance = [[zero] * plan.horizon for _ in range(plan.experts)]
        self.maxima = dict.fromkeys(MAXIMA, zero) | dict.fromkeys(("log_z_max", "minus_log_z_min"), zero - np.inf)
        self.active: dict[int, UInt32[Array, "prefixes lanes"]] = {}
        self.marks: dict[int, UInt32[Array, "prefixes lanes"]] = {}

    def largest(self, kind: str, value: Array) -> None:
        """Takes in one of `MAXIMA`."""
        self.maxima[kind] = np.maximum(self.maxima[kind], value)

    def mark(self, length: int, marks: UInt32[Array, "prefixes lanes"]) -> None:
        """Marks prefixes of this length."""
        self.marks[length] = self.marks[length] | marks if length in self.marks else marks

    def count(self, features: Integer[np.ndarray, "*prefixes"], reach: Float[np.ndarray, "*prefixes"]) -> None:
        """Counts and weighs the prefixes by their features, which are bits."""
        features, reach = features.reshape(-1), reach.reshape(-1)
        for start in range(0, len(features), PIECE):
            piece = slice(start, start + PIECE)
            self.counted += counted(features[piece], reach[piece], len(self.counted))

    def totals(self, stretch: Int[Array, ""]) -> Totals:
        """All that was collected in this stretch."""
        stack = np.stack
        places = np.arange(len(MARKS) + self.plan.experts, dtype=np.uint32)
        nowhere = np.full(places.shape, NOWHERE, dtype=np.int64)
        first = [nowhere] * self.plan.horizon
        for length, marks in self.marks.items():
            some = np.bitwise_or.reduce(np.bitwise_or.reduce(marks, axis=0))
            first[length] = np.where((some >> places) & np.uint32(1) != 0, stretch, nowhere)
        return Totals(
            self.counted,
            stack([self.undefined, self.tv_to_switching, self.unended]),
            stack(self.lengths),
            stack(self.oscillation),
            stack([stack(row) for row in self.distance]),
            stack(self.runs),
            stack([self.maxima[kind] for kind in MAXIMA]),
            stack(first),
        )


def counted(
    features: Integer[np.ndarray, " prefixes"], reach: Float[np.ndarray, " prefixes"], number: int
) -> Float[np.ndarray, "features 2"]:
    """The number and the mass of the prefixes with each feature; these are bits, so many."""
    if (features == features[0]).all():
        sets, found = features[:1], np.array([[len(features), reach.sum()]])
    elif number <= LARGEST_SET:
        found = np.stack([np.bincount(features), np.bincount(features, reach)], axis=1)
        sets = np.arange(len(found))
    else:
        sets, which = np.unique(features, return_inverse=True)
        found = np.stack([np.bincount(which), np.bincount(which, reach)], axis=1)
    has = sets.astype(np.int64) >> np.arange(number)[:, None] & 1
    return has @ found


def marked(**flags: Array) -> UInt32[Array, "prefixes lanes"]:
    """Marks by name (`MARKS`), as bits."""
    bits: Any = None
    for name, flag in flags.items():
        bit = np.where(flag, np.uint32(1 << MARKS.index(name)), np.uint32(0))
        bits = bit if bits is None else bits | bit
    return bits
