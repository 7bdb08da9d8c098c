"""Random things from one source of integers, so that a recipe is written once and drawn in two ways.

A recipe is a function of a `Draw`. Under a seeded generator (`seeded`) it makes a hundred thousand instances in
seconds; as a Hypothesis strategy (`strategy`) the same recipe shrinks to a readable smallest instance. Small integer
weights, normalised, give exact fractions, hit zeros, and shrink well.
"""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Thing = TypeVar("Thing")
Row = tuple[Fraction, ...]


def normalised(weights: Sequence[int | Fraction]) -> Row:
    """The row proportional to the weights, which are not all 0.

    >>> normalised([1, 0, 3])
    (Fraction(1, 4), Fraction(0, 1), Fraction(3, 4))
    """
    total = sum(weights)
    return tuple(Fraction(weight) / total for weight in weights)


class Draw:
    """A source of choices. `integer(low, high)` includes both ends, and `low` is the simplest."""

    def __init__(self, integer: Callable[[int, int], int]):
        self.integer = integer

    def one_in(self, chances: int) -> bool:
        """True with probability one in `chances`; false is the simplest."""
        return self.integer(0, chances - 1) == chances - 1

    def pick(self, things: Sequence[Thing]) -> Thing:
        """One of the things; the first is the simplest."""
        return things[self.integer(0, len(things) - 1)]

    def subset(self, things: Sequence[Thing]) -> tuple[Thing, ...]:
        """Some of the things, in their order; none is the simplest."""
        return tuple(thing for thing in things if self.integer(0, 1))

    def shuffled(self, things: Sequence[Thing]) -> tuple[Thing, ...]:
        """The things in another order; the order given is the simplest."""
        left, order = list(things), []
        while left:
            order.append(left.pop(self.integer(0, len(left) - 1)))
        return tuple(order)

    def fraction(self, low: int = 1, high: int = 4) -> Fraction:
        """A fraction of small numerator and denominator, both from `low` to `high`."""
        return Fraction(self.integer(low, high), self.integer(max(1, low), high))

    def row(self, size: int, *, zeros: bool = False) -> Row:
        """A row over `size` tokens; with `zeros`, some of them at times."""
        weights = [self.integer(0 if zeros else 1, 4) for _ in range(size)]
        if not any(weights):
            weights[self.integer(0, size - 1)] = 1
        return normalised(weights)

    def row_inside(self, row: Row, *, zeros: bool = False) -> Row:
        """A row whose support is that of `row`; with `zeros`, within it."""
        weights = [self.integer(0 if zeros else 1, 4) if cell else 0 for cell in row]
        return normalised(weights) if any(weights) else row


def seeded(seed: int | str) -> Draw:
    """Choices from Python's own generator: the same for the same seed, on every machine.

    >>> seeded(0).row(2) == seeded(0).row(2)
    True
    """
    generator = random.Random(str(seed))
    return Draw(generator.randint)


def strategy(recipe: Callable[[Draw], Thing]) -> "SearchStrategy[Thing]":
    """The recipe as a Hypothesis strategy, which shrinks towards the simplest choices."""
    from hypothesis import strategies as st

    between = cache(st.integers)

    def drawn(draw: Any) -> Thing:
        # A recipe is random by `draw` alone. What checks types as it runs may sample by Python's global generator,
        # which Hypothesis forbids: the generator is put back.
        state = random.getstate()
        try:
            return recipe(Draw(lambda low, high: draw(between(low, high))))
        finally:
            random.setstate(state)

    return st.composite(drawn)()
