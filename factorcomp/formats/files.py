"""Models by name: read from a file or from Python, written to a file."""

import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from factorcomp.formats import arpa, json_models, prism, safetensors_tables
from factorcomp.formats.python_objects import SCHEME, read_python
from factorcomp.models import memory
from factorcomp.models.automata_building import NO_NEXT, located
from factorcomp.models.errors import InputError, Problems
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.float_tables import check_rows
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import EndedPrefixes


class Format(NamedTuple):
    """What an ending needs: a reader, a writer if there is one, the memory that a byte takes while it is read.

    **Fields:** `writes`: the kinds of models that are written. `read`: `None` for what is only written.
    """

    read: Callable[[bytes, Source], TabularModel | FiniteStateModel] | None
    write: Callable[[Any, str], Iterable[bytes]] | None
    memory_per_byte: int
    writes: tuple[type, ...]


FORMATS = {
    ".json": Format(
        json_models.read_json,
        lambda model, name: (text.encode() for text in json_models.write_json(model, name)),
        json_models.MEMORY_PER_BYTE,
        (TabularModel, FiniteStateModel),
    ),
    ".safetensors": Format(
        safetensors_tables.read_safetensors,
        lambda model, name: [safetensors_tables.write_safetensors(model, name)],
        safetensors_tables.MEMORY_PER_BYTE,
        (TabularModel,),
    ),
    ".arpa": Format(arpa.read_arpa, None, arpa.MEMORY_PER_BYTE, ()),
    ".prism": Format(None, lambda model, name: [_prism(model, name)], 0, (FiniteStateModel,)),
    ".tra": Format(None, lambda model, name: [prism.write_tra(model).encode()], 0, (FiniteStateModel,)),
    ".lab": Format(None, lambda model, name: [prism.write_lab(model, model.labels).encode()], 0, (FiniteStateModel,)),
}


def _prism(model: FiniteStateModel, name: str) -> bytes:
    return prism.write_prism(model, f"{Path(name).name}, {model.source.name}", model.labels).encode()


BLOCK = 2**16
"""Rows that are checked together before they are written."""


def load(name: str | os.PathLike[str]) -> TabularModel | FiniteStateModel | FunctionModel:
    """The model of this name: a path that ends in `.json`, `.safetensors` or `.arpa`, or `python:module:attribute`.

    The last runs the code of `module`, which may lie in the current directory; no file that is read runs code.

    **Returns:** the model; its `source` holds the name as given, the SHA-256 of the file's bytes, and notes on what was
    read: rows that were renormalised.

    **Raises:** `InputError`, with every problem of the file: its place, what was found, what was needed.
    """
    name = os.fspath(name)
    if name.startswith(SCHEME):
        return read_python(name)
    _check_name(name)
    path = Path(name)
    kind = FORMATS.get(path.suffix)
    try:
        if path.is_dir():
            raise InputError(
                f"{name}: a directory; this version does not read Hugging Face models. It reads {_kinds()}"
            )
        if kind is None or kind.read is None:
            raise InputError(f"{name}: this version does not read this kind of file. It reads {_kinds()}")
        if path.exists() and not path.is_file():
            raise InputError(f"{name}: not a regular file; needed one, so that it can be read again")
        memory.require(path.stat().st_size * kind.memory_per_byte, name, "reading this table")
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None
    return kind.read(data, Source(name, hashlib.sha256(data).hexdigest()))


def save(model: TabularModel | FiniteStateModel | FunctionModel, path: str | os.PathLike[str]) -> None:
    """Writes a table (`.json` or `.safetensors`) or a finite-state model to a file: all of it, or nothing.

    A finite-state model is written as `.json`, or for PRISM and Storm as `.prism`, or explicitly as `.tra` and `.lab`.
    JSON keeps rational rows exactly, and floats to 16 digits; safetensors keeps floats exactly, and writes rational
    rows as log-probabilities in float64.

    **Raises:** `InputError` for another ending, a folder that cannot be written, rows that are no distributions, or a
    number that the format cannot hold.
    """
    name = os.fspath(path)
    _check_name(name)
    kind = FORMATS.get(Path(name).suffix)
    if kind is None or kind.write is None:
        written = _listed([ending for ending, kind in FORMATS.items() if kind.write is not None])
        raise InputError(f"{name}: this version does not write this kind of file. It writes {written}")
    if isinstance(model, FunctionModel) or not isinstance(model, kind.writes):
        needed = "a finite-state model" if kind.writes == (FiniteStateModel,) else "a table; give the length"
        raise InputError(f"{name}: found {_kind(model)}; this ending needs {needed}")
    if isinstance(model, FiniteStateModel):
        _check_states(model, name)
    else:
        _check_rows(model, name)
    target = Path(os.path.realpath(name))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            for piece in kind.write(model, name):
                file.write(piece)
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(f"{name}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _kind(model: TabularModel | FiniteStateModel | FunctionModel) -> str:
    if isinstance(model, FunctionModel):
        return "a function"
    return "a table" if isinstance(model, TabularModel) else "a finite-state model"


def _check_rows(model: TabularModel, name: str) -> None:
    """Raises `InputError` unless every row is a distribution, the EOS row after EOS: what is written can be read."""
    problems = Problems(name)
    ended = EndedPrefixes(len(model.vocabulary), None if model.eos is None else model.vocabulary.index(model.eos))
    for length, rows in enumerate(model.steps):
        for start in range(0, rows.shape[0], BLOCK):
            logs = rows.log_probs(start, start + BLOCK)

            def report(row: int, token: int | None, message: str, place=f"steps[{length}]", start=start) -> None:
                problems.add(f"{place}[{start + row}]" + ("" if token is None else f"[{token}]"), message)

            check_rows(logs, "log_probs", ended.eos, ended(length)[start : start + BLOCK], report)
    problems.raise_any()


def _check_states(model: FiniteStateModel, name: str) -> None:
    """Raises `InputError` unless names are unique, rows are distributions, and `next` is there where it is needed."""
    problems = Problems(name)
    states = [*model.states] + ([] if model.ended is None else ["the end"])
    for state, count in Counter(model.states).items():
        if count > 1:
            problems.add(located("states", state), f"found {count} states of this name; needed each name once")
    logs = model.rows.log_probs(0, len(states))

    def report(row: int, token: int | None, message: str) -> None:
        problems.add(located("states", states[row], *([] if token is None else [model.vocabulary[token]])), message)

    check_rows(logs, "log_probs", model.eos_index, np.arange(len(states)) == model.ended, report)
    for state, token in np.argwhere((logs > -np.inf) & (model.next == NOWHERE)).tolist():
        problems.add(located("states", states[state], "next", model.vocabulary[token]), NO_NEXT)
    problems.raise_any()


def _check_name(name: str) -> None:
    if "\0" in name:
        raise InputError(f"{name!r}: the name contains a zero byte; needed a path")


def _listed(endings: Sequence[str]) -> str:
    return ", ".join(endings[:-1]) + f" and {endings[-1]}"


def _kinds() -> str:
    read = [ending for ending, kind in FORMATS.items() if kind.read is not None]
    return f"files that end in {_listed(read)}, and {SCHEME}module:attribute"
