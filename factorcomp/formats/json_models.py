"""Model files in JSON (interface.md, "Model files"): the head that all kinds share, and which module reads the rest."""

import gc
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from factorcomp.formats import json_automata, json_tables
from factorcomp.formats.json_text import decoded
from factorcomp.models.errors import Problems, shown
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import check_vocabulary

FORMAT = "factorcomp-model/1"
HEAD = ("format", "kind", "vocabulary", "eos")
MEMORY_PER_BYTE = 20
"""A number of five characters is a string object, a place in a list and two integers while it is read."""


class Kind(NamedTuple):
    """What a kind of file has after the head: its keys, and who reads them."""

    keys: tuple[str, ...]
    read: Callable[[Mapping[str, Any], Problems, Source], TabularModel | FiniteStateModel]


KINDS = {
    "tabular": Kind(json_tables.KEYS, json_tables.read_table),
    "finite_state": Kind(json_automata.KEYS, json_automata.read_states),
}


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
def read_json(data: bytes, source: Source) -> TabularModel | FiniteStateModel:
    """The model that a JSON text describes, in exact rational numbers.

    **Raises:** `InputError`, with every problem of the text.
    """
    problems = Problems(source.name)
    file = decoded(data, problems)
    if file is None and problems.count:
        problems.raise_any()
    if type(file) is not dict:
        problems.add("", f"found {shown(file)}; needed an object with the keys {', '.join(HEAD)}")
        problems.raise_any()
    kind = KINDS["finite_state" if file.get("kind") == "finite_state" else "tabular"]
    _check_head(file, (*HEAD, *kind.keys), problems)
    return kind.read(file, problems, source)


def _check_head(file: Mapping[str, Any], keys: tuple[str, ...], problems: Problems) -> None:
    for key in file:
        if key not in keys:
            problems.add("", f"found the unknown key {shown(key)}; needed only {', '.join(keys)}")
    for key, allowed in (("format", (FORMAT,)), ("kind", tuple(KINDS))):
        if key in file and file[key] not in allowed:
            problems.add(key, f"found {shown(file[key])}; needed {' or '.join(map(shown, allowed))}")
    for key in keys:
        if key not in file:
            needed = "; needed a token, or null for none" if key == "eos" else ""
            problems.add("", f'the key "{key}" is missing{needed}')
    if "vocabulary" in file:
        check_vocabulary(file["vocabulary"], file.get("eos"), problems)


def write_json(model: TabularModel | FiniteStateModel, name: str) -> Iterator[str]:
    """The model as JSON text, in pieces (json_numbers.py says what becomes of numbers); `name` is the file's.

    **Raises:** `InputError` for a number that JSON files do not hold: beyond 4300 digits, or below 1e-5000.
    """
    kind = "finite_state" if isinstance(model, FiniteStateModel) else "tabular"
    head = {"format": FORMAT, "kind": kind, "vocabulary": model.vocabulary, "eos": model.eos}
    yield json.dumps(head, ensure_ascii=False)[:-1]
    if isinstance(model, FiniteStateModel):
        yield from json_automata.write_states(model, name)
    else:
        yield from json_tables.write_table(model, name)
