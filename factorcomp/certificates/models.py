"""What the kernel takes for a model: a table of exact rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from factorcomp.certificates.documents import KernelError, brief

Entry = Fraction | float


@dataclass(frozen=True)
class Model:
    """An autoregressive model as a table: `steps[t][h]` is the row of the prefix with index h among those of length t.

    **Fields:** `vocabulary`, `eos`: the tokens, in the order of the rows. `steps`: rows of fractions and floats, where
    a float is the dyadic rational that it is. `scale`: rows of `"probs"` define a distribution by their proportions;
    rows of `"logs"` by their exponentials, up to a constant, with `-math.inf` for probability 0. `sha256`: the digest
    of the file that it was read from. The row of a prefix of which the model says nothing is `None` (theory.md 7).
    """

    vocabulary: tuple[str, ...]
    eos: str | None
    steps: tuple[tuple[tuple[Entry, ...] | None, ...], ...]
    scale: Literal["probs", "logs"] = "probs"
    sha256: str | None = field(default=None, compare=False)

    @property
    def horizon(self) -> int:
        """The longest sequence that the table describes."""
        return len(self.steps)

    def aligned(self, vocabulary: tuple[str, ...], eos: str | None, name: str) -> "Model":
        """The same model over the same tokens in the order of `vocabulary`. `name` is for the error."""
        check_tokens((self.vocabulary, self.eos), vocabulary, eos, name)
        if self.vocabulary == vocabulary:
            return self
        places = [self.vocabulary.index(token) for token in vocabulary]
        steps, sources = [], [0]
        for rows in self.steps:
            level = (rows[source] for source in sources)
            steps.append(tuple(row and tuple(row[place] for place in places) for row in level))
            sources = [source * len(places) + place for source in sources for place in places]
        return replace(self, vocabulary=vocabulary, steps=tuple(steps))


def check_vocabulary(vocabulary: list[str], eos: str | None, place: str) -> None:
    """Raises `KernelError` unless these are different tokens, at least one, and EOS is among them."""
    if not vocabulary:
        raise KernelError(f"{place}: vocabulary: got no token, needed at least one")
    if len(set(vocabulary)) < len(vocabulary):
        twice = next(token for token in vocabulary if vocabulary.count(token) > 1)
        raise KernelError(f"{place}: vocabulary: got {brief(twice)} twice, needed different tokens")
    for token in vocabulary:
        check_text(token, f"{place}: vocabulary")
    if eos is not None and eos not in vocabulary:
        raise KernelError(f"{place}: eos: got {brief(eos)}, needed a token of the vocabulary, or null")


def check_text(text: str, place: str) -> None:
    """Raises `KernelError` unless a token or a name is Unicode text."""
    if not text.isascii() and text.encode("utf-8", "replace").decode() != text:
        raise KernelError(f"{place}: got half a surrogate pair, needed Unicode text")


def check_ended_rows(model: Model, place: str) -> None:
    """Raises `KernelError` unless every row after EOS is the EOS row (theory.md 0.1: EOS is absorbing)."""
    if model.eos is None:
        return
    end, nothing = model.vocabulary.index(model.eos), 0 if model.scale == "probs" else -math.inf
    for t, rows in enumerate(model.steps):
        for h, (prefix, row) in enumerate(zip(product(range(len(model.vocabulary)), repeat=t), rows, strict=True)):
            if row and end in prefix and any((entry == nothing) == (y == end) for y, entry in enumerate(row)):
                raise KernelError(f"{place} {t}, row {h}: got a row after EOS that goes on, needed all mass on EOS")


def check_tokens(
    model: tuple[Sequence[str], str | None], vocabulary: Sequence[str], eos: str | None, name: str
) -> None:
    """Raises `KernelError` unless a model has these tokens, in any order, and this EOS. `name` is for the error."""
    mine, needed = dict.fromkeys(model[0]), dict.fromkeys(vocabulary)
    for token in (token for token in (*mine, *needed) if token not in mine or token not in needed):
        lacks = "background" if token in mine else "expert"
        raise KernelError(f"{name}: got the token {brief(token)}, which the {lacks} lacks, needed the same tokens")
    if model[1] != eos:
        raise KernelError(f"{name}: got the EOS {brief(model[1])}, needed the background's, {brief(eos)}")
