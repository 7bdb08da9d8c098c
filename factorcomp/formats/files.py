"""Models by name: read from a file or from Python, written to a file."""

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from factorcomp.formats import json_tables, safetensors_tables
from factorcomp.formats.python_objects import SCHEME, read_python
from factorcomp.models import memory
from factorcomp.models.errors import InputError, Problems
from factorcomp.models.float_tables import check_rows
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import EndedPrefixes


class Format(NamedTuple):
    """What a kind of file needs: a reader, a writer, and the memory that a byte of it takes while it is read."""

    read: Callable[[bytes, Source], TabularModel]
    write: Callable[[TabularModel, str], Iterable[bytes]]
    memory_per_byte: int


FORMATS = {
    ".json": Format(
        json_tables.read_json,
        lambda model, name: (text.encode() for text in json_tables.write_json(model, name)),
        json_tables.MEMORY_PER_BYTE,
    ),
    ".safetensors": Format(
        safetensors_tables.read_safetensors,
        lambda model, name: [safetensors_tables.write_safetensors(model, name)],
        safetensors_tables.MEMORY_PER_BYTE,
    ),
}
BLOCK = 2**16
"""Rows that are checked together before they are written."""
NOT_YET = {".arpa": "n-gram models (.arpa)"}


def load(name: str | os.PathLike[str]) -> TabularModel | FunctionModel:
    """The model of this name: a path that ends in `.json` or `.safetensors`, or `python:module:attribute`.

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
        if kind is None:
            what = NOT_YET.get(path.suffix, "this kind of file")
            raise InputError(f"{name}: this version does not read {what}. It reads {_kinds()}")
        if path.exists() and not path.is_file():
            raise InputError(f"{name}: not a regular file; needed one, so that it can be read again")
        memory.require(path.stat().st_size * kind.memory_per_byte, name, "reading this table")
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror or error}") from None
    return kind.read(data, Source(name, hashlib.sha256(data).hexdigest()))


def save(model: TabularModel | FunctionModel, path: str | os.PathLike[str]) -> None:
    """Writes a tabular model to a file that ends in `.json` or `.safetensors`: all of it, or nothing.

    JSON keeps rational rows exactly, and floats to 16 digits; safetensors keeps floats exactly, and writes rational
    rows as log-probabilities in float64.

    **Raises:** `InputError` for another ending, a folder that cannot be written, rows that are no distributions, or a
    number that the format cannot hold.
    """
    name = os.fspath(path)
    _check_name(name)
    ending = Path(name).suffix
    if ending not in FORMATS:
        raise InputError(
            f"{name}: this version does not write {NOT_YET.get(ending, 'this kind of file')}. It writes {_endings()}"
        )
    if not isinstance(model, TabularModel):
        raise InputError(f"{name}: found a {type(model).__name__}; needed a table: model.tabulate(length) makes one")
    _check_rows(model, name)
    target = Path(os.path.realpath(name))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            for piece in FORMATS[ending].write(model, name):
                file.write(piece)
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(f"{name}: cannot be written: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


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


def _check_name(name: str) -> None:
    if "\0" in name:
        raise InputError(f"{name!r}: the name contains a zero byte; needed a path")


def _endings() -> str:
    return " and ".join(FORMATS)


def _kinds() -> str:
    return f"files that end in {_endings()}, and {SCHEME}module:attribute"
