"""Tabular models as JSON (interface.md, "Model files"): numbers mean the decimal written, strings a fraction `"p/q"`.

{"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": null,
 "steps": [[["1/2", "1/2"]], [["1/4", "3/4"], ["1/2", "1/2"]]]}
"""

import gc
import json
import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal

from factorcomp.formats.json_text import decoded
from factorcomp.models.errors import InputError, Problems, shown
from factorcomp.models.numbers import MAX_DIGITS, MAX_EXPONENT
from factorcomp.models.rational_tables import rational_steps
from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import check_vocabulary

FORMAT = "factorcomp-model/1"
KEYS = ("format", "kind", "vocabulary", "eos", "steps")
MEMORY_PER_BYTE = 20
"""A number of five characters is a string object, a place in a list and two integers while it is read."""


@contextmanager
def _no_garbage_collection() -> Generator[None]:
    """A JSON text makes millions of lists and no cycle among them: looking for cycles would double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_no_garbage_collection()
def read_json(data: bytes, source: Source) -> TabularModel:
    """The tabular model that a JSON text describes, in exact rational numbers.

    **Raises:** `InputError`, with every problem of the text.
    """
    problems = Problems(source.name)
    file = decoded(data, problems)
    if file is None and problems.count:
        problems.raise_any()
    if type(file) is not dict:
        problems.add("", f"found {shown(file)}; needed an object with the keys {', '.join(KEYS)}")
        problems.raise_any()
    if file.get("kind") == "finite_state":
        problems.add("kind", 'found "finite_state", which this version does not read; needed "tabular"')
        problems.raise_any()
    for key in file:
        if key not in KEYS:
            problems.add("", f"found the unknown key {shown(key)}; needed only {', '.join(KEYS)}")
    for key, wanted in (("format", FORMAT), ("kind", "tabular")):
        if key in file and file[key] != wanted:
            problems.add(key, f'found {shown(file[key])}; needed "{wanted}"')
    for key in KEYS:
        if key not in file:
            needed = "; needed a token, or null for none" if key == "eos" else ""
            problems.add("", f'the key "{key}" is missing{needed}')
    vocabulary, eos = file.get("vocabulary"), file.get("eos")
    if "vocabulary" in file:
        check_vocabulary(vocabulary, eos, problems)
    vocab = len(vocabulary) if type(vocabulary) is list and vocabulary else None
    end = vocabulary.index(eos) if vocab and eos in vocabulary else None
    steps, notes = rational_steps(file.get("steps", []), vocab, end, problems)
    problems.raise_any()
    return TabularModel(tuple(vocabulary), steps, eos, Source(source.name, source.sha256, notes))


def write_json(model: TabularModel, name: str) -> Iterator[str]:
    """The model as JSON text, in pieces; `name` is the file's, for errors.

    Rational rows are written as they are. Rows of floats are written as probabilities with 17 digits, so that reading
    them renormalises by about 1e-16. Rows of equal numbers stay equal; the exact numbers are lost, and with them that
    logs differ by exactly a constant. `.safetensors` keeps both.

    **Raises:** `InputError` for a number that JSON files do not hold: beyond 4300 digits, or below 1e-5000.
    """
    head = {"format": FORMAT, "kind": "tabular", "vocabulary": model.vocabulary, "eos": model.eos}
    yield json.dumps(head, ensure_ascii=False)[:-1] + ',\n "steps": ['
    for length, rows in enumerate(model.steps):
        yield ",\n[" if length else "\n["
        for start in range(0, rows.shape[0], _BLOCK):
            block = _texts(rows, start, min(start + _BLOCK, rows.shape[0]), f"{name}: steps[{length}]")
            yield (",\n " if start else "") + ",\n ".join("[" + ", ".join(row) + "]" for row in block)
        yield "]"
    yield "]}\n"


_BLOCK = 4096


def _texts(rows: AbstractRows, start: int, stop: int, place: str) -> Iterator[list[str]]:
    if isinstance(rows, RationalRows):
        for numerators, denominators in zip(
            rows.numerators[start:stop].tolist(), rows.denominators[start:stop].tolist(), strict=True
        ):
            yield [_ratio(n, d, place) for n, d in zip(numerators, denominators, strict=True)]
        return
    for index, logs in enumerate(rows.log_probs(start, stop).tolist(), start):
        if isinstance(rows, FloatRows) and rows.scale == "probs":
            values = [float(x) for x in rows.values[index]]
            total = math.fsum(values)
            yield [repr(x / total) for x in values]
        else:
            yield [_exponential(x, f"{place}[{index}]") for x in logs]


def _ratio(numerator: int, denominator: int, place: str) -> str:
    if denominator == 1:
        return str(numerator)
    try:
        return f'"{numerator}/{denominator}"'
    except ValueError:
        raise InputError(f"{place}: a probability has more than {MAX_DIGITS} digits, which no file can hold") from None


def _exponential(log: float, place: str) -> str:
    """`exp(log)`, also where it underflows: a token that is possible stays possible."""
    if log == -math.inf:
        return "0"
    if log > -700:
        return repr(math.exp(log))
    value = Context(prec=17).exp(Decimal(log))
    if not value.adjusted() > -MAX_EXPONENT:
        raise InputError(
            f"{place}: exp({log:g}) is below 1e-{MAX_EXPONENT}, which JSON files do not hold; use .safetensors"
        )
    return str(value)
