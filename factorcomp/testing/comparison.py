"""Rows of log-probabilities compared: how far apart they are, and how far rounding can put them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from factorcomp.testing.families import Prefix
from factorcomp.testing.results import LawResult

Rows = Mapping[Prefix, Float[np.ndarray, " vocab"]]


class NoRowsError(Exception):
    """What came back is not one row for each prefix; its words say what did."""


@dataclass(frozen=True)
class Tolerance:
    """The largest distance that rounding explains, and how it was derived."""

    value: float
    why: str


def epsilon(dtype: str) -> float:
    """The distance from 1 to the next number of a floating-point type.

    >>> epsilon("float32")
    1.1920928955078125e-07

    **Raises:** `ValueError` for a name that is no floating-point type.
    """
    import ml_dtypes  # NumPy alone does not know bfloat16

    try:
        return float(ml_dtypes.finfo(dtype).eps)
    except (TypeError, ValueError) as error:
        names = "float64, float32, bfloat16 or float16"
        raise ValueError(f"dtype: got {dtype!r}; needed the name of a floating-point type: {names}") from error


def of_rows(dtype: str, vocab: int, size: float) -> Tolerance:
    """Of the rows of one model: `2 eps (|V| + 8 + 4 max|log p|)`.

    A log-softmax subtracts, exponentiates, sums |V| terms and takes a log; each rounds by at most eps of a quantity of
    size `max|log p|`, or of 1. Twice, because both rows that are compared are rounded.
    """
    value = 2 * epsilon(dtype) * (vocab + 8 + 4 * size)
    return Tolerance(value, f"rows in {dtype} round by 2 eps (|V| + 8 + 4 max|log p|) with max|log p| = {size:.3g}")


def of_composition(dtype: str, vocab: int, weights: Sequence[int], size: float) -> Tolerance:
    """Of composed rows: `2 eps (|V| + 8 + 2 (k + 4) S)`, `S = (1 + 2 sum λ) max|l|`.

    `S` bounds every partial sum of `l_b + sum λ_i (l_i - l_b)`. Reading the logits, subtracting, weighing and adding
    round by at most eps of it for each of the k terms, and the log-softmax by eps of it a few times more.
    """
    count, total = len(weights), (1 + 2 * sum(weights)) * size
    value = 2 * epsilon(dtype) * (vocab + 8 + 2 * (count + 4) * total)
    why = f"{dtype} rounds by 2 eps (|V| + 8 + 2 (k + 4) S) with |V| = {vocab}, k = {count}, S = {total:.3g}"
    return Tolerance(value, why)


def size_of(rows: Rows) -> float:
    """The largest finite `|l|`."""
    return max((float(np.abs(row[np.isfinite(row)]).max(initial=0.0)) for row in rows.values()), default=0.0)


def distances(got: Float[np.ndarray, "*_"], needed: Float[np.ndarray, "*_"]) -> Float[np.ndarray, "*_"]:
    """`|got - needed|`: 0 between two -inf, infinite where one alone is infinite, and for NaN.

    >>> distances(np.array([0.5, -np.inf, -np.inf, np.nan]), np.array([0.0, -np.inf, 0.0, np.nan]))
    array([0.5, 0. , inf, inf])
    """
    with np.errstate(invalid="ignore"):
        far = np.abs(got - needed)
    far = np.where((got == -np.inf) & (needed == -np.inf), 0.0, far)
    return np.where(np.isnan(far), np.inf, far)


@dataclass(frozen=True)
class Subject:
    """What a result speaks of: a law, the tokens, the case and the text that shows it at a prefix."""

    law: str
    says: str
    vocabulary: tuple[str, ...]
    case: Any

    def shown(self, prefix: Prefix) -> tuple[str, ...]:
        """The case at a prefix, if it can show itself."""
        return self.case.lines(prefix) if hasattr(self.case, "lines") else ()

    def after(self, prefix: Prefix) -> str:
        """A place: after which prefix."""
        return f"after {' '.join(self.vocabulary[y] for y in prefix)!r}" if prefix else "after the empty prefix"

    def holds(self) -> LawResult:
        """The result of a law that holds."""
        return LawResult(self.law, self.says, holds=True, case=self.case)

    def broken(self, where: Prefix | str, got: str, needed: str, off: float, tolerance: Tolerance) -> LawResult:
        """The result of a law that does not."""
        place, lines = (where, ()) if isinstance(where, str) else (self.after(where), self.shown(where))
        return LawResult(
            self.law, self.says, False, place, got, needed, off, tolerance.value, tolerance.why, lines, self.case
        )

    def compare(self, got: Rows, needed: Rows, tolerance: Tolerance) -> LawResult:
        """Whether the rows are the same after every prefix of `needed`, up to the tolerance; the worst place if not."""
        far = {h: distances(np.asarray(got[h], dtype=np.float64), row) for h, row in needed.items()}
        worst = max(far, key=lambda h: far[h].max(initial=0.0), default=None)
        if worst is None or far[worst].max(initial=0.0) <= tolerance.value:
            return self.holds()
        token = int(far[worst].argmax())
        name = f"log p({self.vocabulary[token]!r})"
        lines = (
            *self.shown(worst),
            f"got     {self.probabilities(got[worst])}",
            f"needed  {self.probabilities(needed[worst])}",
        )
        return LawResult(
            self.law,
            self.says,
            False,
            self.after(worst),
            f"{name} = {float(got[worst][token]):.6g}",
            f"{float(needed[worst][token]):.6g}",
            float(far[worst].max()),
            tolerance.value,
            tolerance.why,
            lines,
            self.case,
        )

    def probabilities(self, row: Float[np.ndarray, " vocab"]) -> str:
        """A row of logs as probabilities, the first few tokens of a large vocabulary."""
        with np.errstate(over="ignore"):
            cells = [
                f"{y} {float(np.exp(x)):.4g}" for y, x in zip(self.vocabulary, np.asarray(row, float), strict=True)
            ]
        return "  ".join(cells[:8]) + (" …" if len(cells) > 8 else "")


def rows_after(ask: Any, prefixes: Sequence[Prefix], vocab: int) -> dict[Prefix, Float[np.ndarray, " vocab"]]:
    """The rows after the prefixes in float64, asked in one batch for each length.

    **Raises:** `NoRowsError` where something else than one row for each prefix comes back.
    """
    found: dict[Prefix, np.ndarray] = {}
    for length in sorted({len(prefix) for prefix in prefixes}):
        batch = [prefix for prefix in prefixes if len(prefix) == length]
        found |= dict(zip(batch, one_batch(ask, batch, vocab), strict=True))
    return found


def one_batch(ask: Any, batch: Sequence[Prefix], vocab: int) -> Float[np.ndarray, "batch vocab"]:
    """The rows after some prefixes of one length, asked together, in float64."""
    return as_rows(ask(as_tokens(batch)), (len(batch), vocab))


def as_tokens(batch: Sequence[Prefix]) -> Int[np.ndarray, "batch length"]:
    """Prefixes of one length as an array."""
    return np.array(batch, dtype=np.int32).reshape(len(batch), len(batch[0]))


def as_rows(answer: Any, shape: tuple[int, ...]) -> Float[np.ndarray, "*_"]:
    """An answer as an array of this shape in float64."""
    rows = np.asarray(answer)
    if rows.shape != shape:
        raise NoRowsError(f"an array of the shape {rows.shape} instead of {shape}, one row for each prefix")
    if rows.dtype.kind not in "fV":  # bfloat16 is of the kind V
        raise NoRowsError(f"an array of {rows.dtype} instead of floating-point numbers")
    return rows.astype(np.float64)
