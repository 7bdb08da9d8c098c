"""Masks without an end: how they are written, found and told apart."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm

from factorcomp.certificates.documents import KernelError, brief

LONGEST_CLOCK = 100_000
_PART = re.compile(r"(0|[1-9]\d{0,9})(?:::([1-9]\d{0,9}))?", re.ASCII)


@dataclass(frozen=True)
class Positions:
    """A mask without an end: the positions in `finite`, and `a, a + d, a + 2d, …` for each `(a, d)` of `progressions`.

    >>> mask = Positions((0, 5), ((7, 3),))
    >>> str(mask), 5 in mask, 13 in mask, 12 in mask
    ('0,5,7::3', True, True, False)
    """

    finite: tuple[int, ...] = ()
    progressions: tuple[tuple[int, int], ...] = ()

    def __contains__(self, position: int) -> bool:
        return position in self.finite or any(position >= a and (position - a) % d == 0 for a, d in self.progressions)

    def __bool__(self) -> bool:
        return bool(self.finite or self.progressions)

    def __str__(self) -> str:
        return ",".join([*map(str, self.finite), *(f"{a}::{d}" for a, d in self.progressions)])

    def below(self, length: int) -> tuple[int, ...]:
        """The positions less than `length`, increasing."""
        return tuple(position for position in range(length) if position in self)


def read_positions(text: str, place: str) -> Positions:
    """The mask written as `str` writes it, and in no other way."""
    parts = [_PART.fullmatch(part) for part in text.split(",")] if text else []
    numbers = [(int(match[1]), int(match[2] or 0)) for match in parts if match]
    result = Positions(tuple(a for a, d in numbers if not d), tuple((a, d) for a, d in numbers if d))
    if str(result) != text:
        raise KernelError(f"{place}: got {brief(text)}, needed positions such as '0,5,7::3'")
    return result


def repeating(flags: Sequence[bool], start: int) -> Positions:
    """The positions that are flagged, where the flags from `start` on repeat for ever: with the least period and start.

    >>> str(repeating([True, False, True, False, True, False], 2))
    '0::2'
    """
    cycle = list(flags[start:])
    size = len(cycle)
    period = next(d for d in range(1, size + 1) if size % d == 0 and cycle == cycle[:d] * (size // d))
    while start and flags[start - 1] == flags[start - 1 + period]:
        start -= 1
    found = [t for t in range(start + period) if flags[t]]
    return Positions(tuple(t for t in found if t < start), tuple((t, period) for t in found if t >= start))


class Clock:
    """The automaton of the masks: `next[c]` follows `c`, `owners[c]` owns the positions at which it stands at `c`.

    The pre-period ends after every finite position and start of a progression; the period is a multiple of every `d`.
    """

    def __init__(self, masks: Mapping[str, Positions]) -> None:
        """Raises `KernelError` for masks that overlap or are malformed, or that repeat after very long alone."""
        for name, mask in masks.items():
            starts, steps = [a for a, _ in mask.progressions], [d for _, d in mask.progressions]
            if (
                list(mask.finite) != sorted({*mask.finite})
                or min([0, *mask.finite, *starts]) < 0
                or min([1, *steps]) < 1
            ):
                raise KernelError(f"{name}: got the mask {brief(str(mask))}, needed increasing positions from 0")
        before = max((place for mask in masks.values() for place in _ends(mask)), default=0)
        size = before + lcm(*(d for mask in masks.values() for _, d in mask.progressions))
        if size > LONGEST_CLOCK:
            raise KernelError(f"got masks that repeat after {size} positions, needed at most {LONGEST_CLOCK}")
        self.next = [*range(1, size), before]
        self.owners: list[str | None] = [None] * size
        for name, mask in masks.items():
            for t in {*mask.finite, *(t for a, d in mask.progressions for t in range(a, size, d))}:
                if self.owners[t]:
                    raise KernelError(f"got masks that overlap at {t}, needed disjoint positions")
                self.owners[t] = name


def _ends(mask: Positions) -> Iterable[int]:
    return (*(t + 1 for t in mask.finite), *(a for a, _ in mask.progressions))
