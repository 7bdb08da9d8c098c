"""Tables of numbers as written, to exact rational rows: every row checked, every problem told."""

import itertools
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Shaped

from factorcomp.models.errors import Problems, shown
from factorcomp.models.notes import renormalised
from factorcomp.models.numbers import NumberError
from factorcomp.models.rows import RationalRows
from factorcomp.models.vocabulary import NOT_THE_EOS_ROW, EndedPrefixes, prefix_count
from factorcomp.models.written_rows import RowReader, settle


def rational_steps(
    steps: object, vocab: int | None, eos: int | None, problems: Problems, rounding: Fraction = Fraction(0)
) -> tuple[tuple[RationalRows, ...], tuple[str, ...]]:
    """The rows of `steps[t][prefix][token]`, and the notes: which rows were renormalised, and by how much.

    **Arguments:** `vocab`: the size of the vocabulary, `None` where that is not known because it is wrong itself. `eos`:
    the index of EOS. `problems`: collects what is wrong; what is returned is then of no use. `rounding`: corrections up
    to this are the rounding of the numbers given, and not noted.
    """
    if type(steps) is not list:
        problems.add("steps", f"found {shown(steps)}; needed a list with the rows of each step")
        return (), ()
    reader = RowReader(problems.name)
    ended = EndedPrefixes(vocab or 1, eos)
    tables: list[RationalRows] = []
    notes: list[str] = []
    for length, rows in enumerate(steps):
        place = f"steps[{length}]"
        if type(rows) is not list:
            problems.add(place, f"found {shown(rows)}; needed a list of rows")
            continue
        complete = _check_count(place, len(rows), vocab, length, problems)
        read = _read(rows, vocab, reader)
        no_eos_row = np.zeros(len(rows), dtype=bool)
        if complete and eos is not None:
            no_eos_row = ended(length) & read.right & (read.numerators[:, eos] != read.denominators[:, eos]).astype(bool)
        for index in np.flatnonzero(~read.right | no_eos_row):
            for within, message in reader.describe(rows[index], vocab):
                problems.add(f"{place}[{index}]{within}", message)
            if no_eos_row[index]:
                problems.add(f"{place}[{index}]", NOT_THE_EOS_ROW)
        tables.append(RationalRows(read.numerators, read.denominators))
        noted = [off for off in read.corrections if off > rounding]
        notes += renormalised(problems.name, length, sum(read.corrections[off] for off in noted), max(noted, default=0))
    return tuple(tables), tuple(notes)


@dataclass(frozen=True)
class _Read:
    """The rows of one step; `right`: which of them are rows at all; `corrections`: how many were how far from 1."""

    numerators: Shaped[np.ndarray, "prefixes vocab"]
    denominators: Shaped[np.ndarray, "prefixes vocab"]
    right: Bool[np.ndarray, " prefixes"]
    corrections: Counter[Fraction]


def _read(rows: list, vocab: int | None, reader: RowReader) -> _Read:
    width = vocab or 1
    numerators, denominators = np.zeros((len(rows), width), dtype=np.int64), np.ones((len(rows), width), dtype=np.int64)
    right, corrections = np.zeros(len(rows), dtype=bool), Counter[Fraction]()
    if vocab is not None and set(map(type, rows)) == {list} and set(map(len, rows)) == {vocab}:
        try:
            cells = map(reader.numbers.__getitem__, itertools.chain.from_iterable(rows))
            codes = np.fromiter(cells, dtype=np.int64, count=len(rows) * vocab).reshape(-1, vocab)
        except (NumberError, TypeError):  # described below, row by row
            pass
        else:
            numerators, denominators, right, off = settle(codes, reader.numbers)
            for (above, below), count in zip(*np.unique(off[right & (off[:, 0] > 0)], axis=0, return_counts=True), strict=True):
                corrections[Fraction(int(above), int(below))] += int(count)
    for index in np.flatnonzero(~right):
        row = reader.row(rows[index], vocab)
        if row is not None and vocab is not None:
            numerators, denominators = _put(numerators, index, row.numerators), _put(denominators, index, row.denominators)
            right[index] = True
            corrections[row.correction] += 1
    return _Read(numerators, denominators, right, corrections)


def _check_count(place: str, found: int, vocab: int | None, length: int, problems: Problems) -> bool:
    if vocab is None:
        return False
    needed = prefix_count(vocab, length)
    if found != needed:
        power = f"{vocab}^{length}" if needed is None else needed
        problems.add(place, f"found {found} rows; needed {power}, one for each prefix of {length} tokens")
    return found == needed


def _put(array: Shaped[np.ndarray, "prefixes vocab"], index: int, row: tuple[int, ...]) -> Shaped[np.ndarray, "prefixes vocab"]:
    """The array with a row in it: of Python integers, once one does not fit into 64 bits."""
    try:
        array[index] = row
    except OverflowError:
        array = array.astype(object)
        array[index] = row
    return array
