"""What is asked of a tree, as far as the program for its blocks depends on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.certificates.claims import NullTokens, Question
from factorcomp.models.rows import Scale

LEAVES = 1 << 10
"""The most leaves below one head."""
NUMBERS = 1 << 18
"""About so many numbers of a model are visited by one call."""

PREFIXES = 1 << 18
"""The most prefixes of one length in stretches that are visited at once where they are clean: some megabytes."""
UNITS = 8
"""The least units of work, where stretches are visited at once."""


@dataclass(frozen=True)
class Plan:
    """The question, and how the tree is cut: heads are the prefixes of `above` tokens, `tail` levels lie below them.

    `stretch`: so many heads in a row are visited by one call. `weights`: `None` where all are 1. `elsewhere[i]`: the
    positions at which the distance of expert `i` from the background is wanted.
    """

    vocab: int
    horizon: int
    experts: int
    scale: Scale
    weights: tuple[Fraction, ...] | None
    threshold: Fraction
    null_tokens: NullTokens
    reachable_only: bool
    eos: int | None
    elsewhere: tuple[frozenset[int], ...]
    above: int
    tail: int
    stretch: int

    @property
    def stretches(self) -> int:
        """How many there are."""
        return self.vocab**self.above // self.stretch

    @property
    def unit(self) -> int:
        """So many stretches in a row are a unit of work: a power of `vocab`."""
        size, prefixes = 1, self.stretch * self.vocab ** (self.tail - 1)
        while size * self.vocab * UNITS <= self.stretches and size * self.vocab * prefixes <= PREFIXES:
            size *= self.vocab
        return size

    def heads(self, number: int, stretches: int = 1) -> slice:
        """The heads of some stretches."""
        return slice(number * self.stretch, (number + stretches) * self.stretch)


def plan(question: Question, names: Sequence[str], vocab: int, eos: int | None, scale: Scale) -> Plan:
    """The plan for a question about the experts `names`."""
    weights = tuple(question.weight(name) for name in names)
    given = question.given_masks
    everywhere = frozenset(range(question.horizon))
    if question.masks is None or (given is None and not question.threshold):
        elsewhere = tuple(frozenset[int]() for _ in names)  # nobody asks, or nobody differs off the masks to be found
    else:
        elsewhere = tuple(everywhere - frozenset((given or {}).get(name, ())) for name in names)
    return Plan(
        vocab,
        question.horizon,
        len(names),
        scale,
        None if set(weights) == {1} else weights,
        question.threshold,
        question.null_tokens,
        question.scope == "reachable",
        eos,
        elsewhere,
        *cut(vocab, question.horizon),
    )


def cut(vocab: int, horizon: int) -> tuple[int, int, int]:
    """The levels above the heads and below, and how many heads are a stretch: a power of `vocab`."""
    tail = min(horizon, _power_within(vocab, LEAVES))
    above = horizon - tail
    together = max(1, NUMBERS // vocab**tail)
    return above, tail, vocab ** min(above, _power_within(vocab, together) if together >= vocab else 0)


def _power_within(vocab: int, limit: int) -> int:
    """The largest `n >= 1` with `vocab ** n <= limit`, or 1."""
    if vocab == 1:
        return limit
    power = 1
    while vocab ** (power + 1) <= limit:
        power += 1
    return power
