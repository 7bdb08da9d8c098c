"""Tabular models as JSON (interface.md, "Model files"): numbers mean the decimal written, strings a fraction `"p/q"`.

{"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": null,
 "steps": [[["1/2", "1/2"]], [["1/4", "3/4"], ["1/2", "1/2"]]]}
"""

from collections.abc import Iterator, Mapping
from typing import Any

from factorcomp.formats.json_numbers import row_texts
from factorcomp.models.errors import Problems
from factorcomp.models.rational_tables import rational_steps
from factorcomp.models.tabular import Source, TabularModel

KEYS = ("steps",)
"""The keys of this kind alone."""
_BLOCK = 4096


def read_table(file: Mapping[str, Any], problems: Problems, source: Source) -> TabularModel:
    """The tabular model of a decoded file, in exact rational numbers.

    **Arguments:** `problems`: those of the head, which is read (json_models.py).

    **Raises:** `InputError`, with every problem.
    """
    vocabulary, eos = file.get("vocabulary", []), file.get("eos")
    vocab = len(vocabulary) if type(vocabulary) is list and vocabulary else None
    end = vocabulary.index(eos) if vocab and eos in vocabulary else None
    steps, notes = rational_steps(file.get("steps", []), vocab, end, problems)
    problems.raise_any()
    return TabularModel(tuple(file["vocabulary"]), steps, eos, Source(source.name, source.sha256, notes))


def write_table(model: TabularModel, name: str) -> Iterator[str]:
    """What follows the head of a table's file, in pieces; `name` is the file's, for errors.

    **Raises:** `InputError` for a number that JSON files do not hold.
    """
    yield ',\n "steps": ['
    for length, rows in enumerate(model.steps):
        yield ",\n[" if length else "\n["
        for start in range(0, rows.shape[0], _BLOCK):
            block = row_texts(rows, start, min(start + _BLOCK, rows.shape[0]), f"{name}: steps[{length}]")
            yield (",\n " if start else "") + ",\n ".join("[" + ", ".join(row) + "]" for row in block)
        yield "]"
    yield "]}\n"
