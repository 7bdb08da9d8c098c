"""What is the same at every prefix: the question, the tokens, and the rows and steps, each once."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from factorcomp.certificates.claims import Question
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.enclosure import Enclosure, Value
from factorcomp.certificates.models import Entry
from factorcomp.certificates.rows import LARGEST_POWER, Row, Rows
from factorcomp.certificates.step import Step

LARGEST_WEIGHT = 1000


class Setting:
    """The question about background and experts whose rows are probabilities or logs, as `scales` says of each.

    **Fields:** `experts`: their names. `size`: how many tokens there are. `exact`: whether all numbers are fractions.
    `rows`: the distributions.
    """

    def __init__(
        self, question: Question, experts: Sequence[str], size: int, scales: Sequence[Literal["probs", "logs"]]
    ) -> None:
        self.question, self.experts, self.size, self._scales = question, tuple(experts), size, scales
        self.weights = [question.weight(name) for name in experts]
        self.exact = all(scale == "probs" for scale in scales) and all(
            weight.denominator == 1 and weight <= LARGEST_POWER for weight in self.weights
        )
        self.one: Value = Fraction(1) if self.exact else Enclosure.of(1)
        self.zero: Value = self.one - self.one
        self.rows = Rows(self.weights, self.exact)
        self._steps: dict[tuple[Row | None, ...], Step] = {}

    def read(self, member: int, entries: tuple[Entry, ...] | None) -> Row | None:
        """A row of one model, the background (0) or an expert (from 1); `None` where it says nothing."""
        return None if entries is None else self.rows.read(self._scales[member], entries)

    def step(self, read: tuple[Row | None, ...]) -> Step:
        """What happens where these are the rows of background and experts."""
        if read not in self._steps:
            self._steps[read] = Step(self.rows, read, self.question, self.weights, self.size)
        return self._steps[read]

    def names(self, bits: int) -> tuple[str, ...]:
        """The experts whose bits are set, in the order given."""
        return tuple(name for i, name in enumerate(self.experts) if bits >> i & 1)


def check_options(question: Question, experts: Mapping[str, object]) -> None:
    """Raises `KernelError` for options that are out of range, or that name no expert."""
    if question.threshold < 0 or any(not 0 < weight <= LARGEST_WEIGHT for weight in question.weights.values()):
        raise KernelError(
            f"got a threshold below 0 or a weight out of range, needed >= 0, and > 0 up to {LARGEST_WEIGHT}"
        )
    if question.scope not in ("reachable", "all") or question.null_tokens not in ("strict", "drop", "cancel"):
        raise KernelError(f"got scope {question.scope!r} and null tokens {question.null_tokens!r}, needed known ones")
    masks = question.masks if isinstance(question.masks, Mapping) else {}
    for name in (*masks, *question.weights, *(question.feature_masks or {})):
        if name not in experts:
            raise KernelError(f"got a mask or a weight for {name!r}, needed one of {', '.join(experts)}")
