"""What the kernel takes for a model: a table of exact rows."""

import math
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
    of the file that it was read from.
    """

    vocabulary: tuple[str, ...]
    eos: str | None
    steps: tuple[tuple[tuple[Entry, ...], ...], ...]
    scale: Literal["probs", "logs"] = "probs"
    sha256: str | None = field(default=None, compare=False)

    @property
    def horizon(self) -> int:
        """The longest sequence that the table describes."""
        return len(self.steps)


def check_vocabulary(vocabulary: list[str], eos: str | None, place: str) -> None:
    """Raises `KernelError` unless these are different tokens, at least one, and EOS is among them."""
    if not vocabulary:
        raise KernelError(f"{place}: vocabulary: got no token, needed at least one")
    if len(set(vocabulary)) < len(vocabulary):
        twice = next(token for token in vocabulary if vocabulary.count(token) > 1)
        raise KernelError(f"{place}: vocabulary: got {brief(twice)} twice, needed different tokens")
    if not all(token.isascii() or token.encode("utf-8", "replace").decode() == token for token in vocabulary):
        raise KernelError(f"{place}: vocabulary: got half a surrogate pair, needed Unicode text")
    if eos is not None and eos not in vocabulary:
        raise KernelError(f"{place}: eos: got {brief(eos)}, needed a token of the vocabulary, or null")


def check_ended_rows(model: Model, place: str) -> None:
    """Raises `KernelError` unless every row after EOS is the EOS row (theory.md 0.1: EOS is absorbing)."""
    if model.eos is None:
        return
    end, nothing = model.vocabulary.index(model.eos), 0 if model.scale == "probs" else -math.inf
    for t, rows in enumerate(model.steps):
        for h, (prefix, row) in enumerate(zip(product(range(len(model.vocabulary)), repeat=t), rows, strict=True)):
            if end in prefix and any((entry == nothing) == (y == end) for y, entry in enumerate(row)):
                raise KernelError(f"{place} {t}, row {h}: got a row after EOS that goes on, needed all mass on EOS")


def aligned(model: Model, vocabulary: tuple[str, ...], eos: str | None, name: str) -> Model:
    """The same model over the same tokens in the order of `vocabulary`. `name` is for the error."""
    mine, needed = dict.fromkeys(model.vocabulary), dict.fromkeys(vocabulary)
    for token in (token for token in (*mine, *needed) if token not in mine or token not in needed):
        lacks = "background" if token in mine else "expert"
        raise KernelError(f"{name}: got the token {brief(token)}, which the {lacks} lacks, needed the same tokens")
    if model.eos != eos:
        raise KernelError(f"{name}: got the EOS {brief(model.eos)}, needed the background's, {brief(eos)}")
    if model.vocabulary == vocabulary:
        return model
    places = [model.vocabulary.index(token) for token in vocabulary]
    steps, sources = [], [0]
    for rows in model.steps:
        steps.append(tuple(tuple(rows[source][place] for place in places) for source in sources))
        sources = [source * len(places) + place for source in sources for place in places]
    return replace(model, vocabulary=vocabulary, steps=tuple(steps))
