"""Tables of numbers as written, to exact rational rows: every row checked, every problem told."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
from jaxtyping import Shaped

from factorcomp.models.errors import Problems, shown
from factorcomp.models.notes import renormalised
from factorcomp.models.numbers import NumberError
from factorcomp.models.rows import RationalRows
from factorcomp.models.vocabulary import NOT_THE_EOS_ROW, EndedPrefixes, prefix_count
from factorcomp.models.written_rows import Row, RowReader, settle


def rational_steps(
    steps: object, vocab: int | None, eos: int | None, problems: Problems, rounding: Fraction = Fraction(0)
) -> tuple[tuple[RationalRows, ...], tuple[str, ...]]:
    """The rows of `steps[t][prefix][token]`, and the notes: which rows were renormalised, and by how much.

    **Arguments:** `vocab`: the size of the vocabulary, `None` where it is wrong itself. `eos`: the index of EOS.
    `problems`: collects what is wrong; what is returned is then of no use. `rounding`: corrections up to this are the
    rounding of the numbers given, and not noted.
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
        read = ReadRows(rows, vocab, reader, rounding)
        goes_on = np.zeros(len(rows), dtype=bool)
        if complete and eos is not None:
            certain = (read.numerators[:, eos] == read.denominators[:, eos]).astype(bool)
            goes_on = ended(length) & read.right & ~certain
        for index in np.flatnonzero(~read.right | goes_on).tolist():
            for within, message in reader.describe(rows[index], vocab):
                problems.add(f"{place}[{index}]{within}", message)
            if goes_on[index]:
                problems.add(f"{place}[{index}]", NOT_THE_EOS_ROW)
        tables.append(RationalRows(read.numerators, read.denominators))
        notes += renormalised(problems.name, length, read.renormalised, read.largest)
    return tuple(tables), tuple(notes)


class ReadRows:
    """Rows as written, read: those that fit into 64 bits all at once, the others one by one.

    **Fields:** `right`: which of them are rows at all. `renormalised`: how many summed to 1 only within 1e-6 (and more
    than `rounding`), `largest`: and how far from 1.
    """

    def __init__(self, rows: list, vocab: int | None, reader: RowReader, rounding: Fraction):
        shape = (len(rows), vocab or 1)
        self.numerators = np.zeros(shape, dtype=np.int64)
        self.denominators = np.ones(shape, dtype=np.int64)
        self.right = np.zeros(len(rows), dtype=bool)
        self.renormalised, self.largest, self._rounding = 0, Fraction(0), rounding
        if vocab is not None and set(map(type, rows)) == {list} and set(map(len, rows)) == {vocab}:
            self._settle(rows, vocab, reader)
        equal: dict[int, tuple[Row, list[int]]] = {}
        for index in np.flatnonzero(~self.right).tolist():
            if (row := reader.row(rows[index], vocab)) is not None:
                equal.setdefault(id(row), (row, []))[1].append(index)
        for row, places in equal.values():
            self.right[places] = True
            if vocab is not None:
                self.numerators = _put(self.numerators, places, row.numerators)
                self.denominators = _put(self.denominators, places, row.denominators)
                self._count(row.correction, len(places))

    def _settle(self, rows: list, vocab: int, reader: RowReader) -> None:
        cells = map(reader.numbers.__getitem__, itertools.chain.from_iterable(rows))
        try:
            codes = np.fromiter(cells, dtype=np.int64, count=len(rows) * vocab).reshape(-1, vocab)
        except (NumberError, TypeError):  # some cell is no number: the rows are told apart one by one
            return
        self.numerators, self.denominators, self.right, off = settle(codes, reader.numbers)
        pairs = off[self.right & (off[:, 0] > 0)]
        for (above, below), times in Counter(zip(*pairs.T.tolist(), strict=True)).items():
            self._count(Fraction(above, below), times)

    def _count(self, correction: Fraction, times: int) -> None:
        if correction > self._rounding:
            self.renormalised += times
            self.largest = max(self.largest, correction)


def _check_count(place: str, found: int, vocab: int | None, length: int, problems: Problems) -> bool:
    if vocab is None:
        return False
    needed = prefix_count(vocab, length)
    if found != needed:
        power = f"{vocab}^{length}" if needed is None else needed
        problems.add(
            place, f"found {found} row{'s' * (found != 1)}; needed {power}, one for each prefix of {length} tokens"
        )
    return found == needed


def _put(
    array: Shaped[np.ndarray, "prefixes vocab"], places: list[int], row: tuple[int, ...]
) -> Shaped[np.ndarray, "prefixes vocab"]:
    """The array with a row at these places: of Python integers, once one does not fit into 64 bits."""
    try:
        array[places] = row
    except OverflowError:
        array = array.astype(object)
        array[places] = row
    return array
