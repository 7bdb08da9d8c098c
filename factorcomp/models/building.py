"""Tables from Python: nested lists of exact numbers, or arrays; checked as the files are, with the same messages."""

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from factorcomp.models.errors import Problems
from factorcomp.models.float_tables import check_rows
from factorcomp.models.notes import renormalised, rounding
from factorcomp.models.rational_tables import rational_steps
from factorcomp.models.rows import AbstractRows, FloatRows, Scale
from factorcomp.models.vocabulary import EndedPrefixes, check_vocabulary, prefix_count

Notes = tuple[str, ...]


def exact_steps(steps: Any, vocabulary: Any, eos: Any, name: str) -> tuple[tuple[AbstractRows, ...], Notes]:
    """Rational rows of nested lists of integers, fractions, strings `"p/q"` and floats, which are dyadic fractions.

    **Raises:** `InputError`, with every problem.
    """
    problems, vocab, end = _vocabulary(vocabulary, eos, name)
    written = [_written(_two_levels(rows, length)) for length, rows in enumerate(steps)]
    slack = Fraction(rounding(vocab or 1, np.finfo(np.float64).eps))
    rows, notes = rational_steps(written, vocab, end, problems, slack)
    problems.raise_any()
    return rows, notes


def float_steps(
    steps: Any, vocabulary: Any, eos: Any, name: str, scale: Scale
) -> tuple[tuple[AbstractRows, ...], Notes]:
    """Rows of floats, as given, of arrays of shape `[prefixes, vocab]` or `(V,)*t + (V,)`, or of nested lists.

    **Raises:** `InputError`, with every problem.
    """
    problems, _, end = _vocabulary(vocabulary, eos, name)
    problems.raise_any()
    vocab = len(vocabulary)
    ended = EndedPrefixes(vocab, end)
    tables, notes = [], []
    for length, given in enumerate(steps):
        place = f"steps[{length}]"
        values = _floats(given, place, problems)
        count = prefix_count(vocab, length)
        if values is None:
            continue
        if values.shape not in ((count, vocab), (vocab,) * (length + 1)):
            problems.add(place, f"found the shape {values.shape}; needed {(count or f'{vocab}^{length}', vocab)}")
            continue
        values = values.reshape(-1, vocab)

        def report(row: int, token: int | None, message: str, place=place) -> None:
            problems.add(f"{place}[{row}]" + ("" if token is None else f"[{token}]"), message)

        found, largest = check_rows(values, scale, end, ended(length), report)
        tables.append(FloatRows(values, scale))
        notes += renormalised(name, length, found, largest)
    problems.raise_any()
    return tuple(tables), tuple(notes)


def _vocabulary(vocabulary: Any, eos: Any, name: str) -> tuple[Problems, int | None, int | None]:
    problems = Problems(name)
    check_vocabulary(vocabulary, eos, problems)
    vocab = len(vocabulary) if isinstance(vocabulary, list | tuple) and vocabulary else None
    return problems, vocab, vocabulary.index(eos) if vocab and eos in vocabulary else None


def _floats(given: Any, place: str, problems: Problems) -> np.ndarray | None:
    """The array that is given, or float64 for lists and integers; a type that float64 does not hold is a problem."""
    try:
        values = np.asarray(given)
        if values.dtype in (np.float64, np.float32, np.float16):
            return values
        if values.dtype.kind in "iuO":
            return values.astype(np.float64)
        problems.add(place, f"found an array of {values.dtype}; needed float64, float32 or float16")
    except (TypeError, ValueError, OverflowError):
        problems.add(place, "found rows that are no array of numbers; needed as many numbers in each row as tokens")
    return None


def is_float_array(rows: Any) -> bool:
    """Whether these are rows of floats in an array, of NumPy or JAX, and not lists of numbers."""
    return not isinstance(rows, list | tuple | str) and np.asarray(rows).dtype.kind == "f"


def _written(rows: Any) -> Any:
    """The nested lists with every number as a JSON file writes it."""
    return [_written(row) for row in rows] if isinstance(rows, list | tuple) else written_number(rows)


def written_number(value: Any) -> Any:
    """A number as JSON writes it, floats with all the digits of the dyadic fraction; what is none comes out as refused.

    >>> written_number(1), written_number(Fraction(1, 3)), written_number(0.1)[:25]
    (b'1', '1/3', b'0.10000000000000000555111')
    """
    try:
        if isinstance(value, bool | str):
            return value
        if isinstance(value, Integral):
            return str(int(value)).encode()
        if isinstance(value, Rational):
            return f"{value.numerator}/{value.denominator}"
        if isinstance(value, Real):
            return {"inf": b"Infinity", "-inf": b"-Infinity", "nan": b"NaN"}.get(str(float(value))) or str(
                Decimal(float(value))
            ).encode()
    except ValueError:  # more digits than Python writes
        pass
    return object()


def _two_levels(rows: Any, length: int) -> Any:
    """Rows of shape `[prefixes, vocab]`, if they are given with an axis for each token of the prefix."""
    if not isinstance(rows, list | tuple):
        rows = np.asarray(rows).tolist()
    depth, inner = 0, rows
    while isinstance(inner, list | tuple) and inner:
        depth, inner = depth + 1, inner[0]
    if depth == 1 and length == 0:
        return [rows]
    while depth > 2 and all(isinstance(part, list | tuple) for part in rows):
        rows, depth = [row for part in rows for row in part], depth - 1
    return rows
