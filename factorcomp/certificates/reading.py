"""Model files, read exactly: a number means the decimal written, or the dyadic rational that the bytes encode."""

import hashlib
import math
import os
import re
import struct
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.documents import KernelError, brief, conform, parse
from factorcomp.certificates.models import Entry, Model, check_ended_rows, check_text, check_vocabulary

TOLERANCE = Fraction(1, 10**6)
FORMAT = "factorcomp-model/1"
_RATIO = re.compile(r"(-?\d{1,4300})(?:/(\d{1,4300}))?", re.ASCII)
_HEAD = {"format": str, "kind": str, "vocabulary": [str], "eos": (str, None)}
_NUMBER = (int, Decimal, str)
_TABULAR = _HEAD | {"steps": [[[_NUMBER]]]}
_FINITE_STATE = _HEAD | {"initial": str, "states": {"*": {"probabilities": {"*": _NUMBER}, "next": {"*": str}}}}
_TENSOR = {"dtype": str, "shape": [int], "data_offsets": [int]}
_WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


def digest(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(read_bytes(path)).hexdigest()


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file; `KernelError` where it cannot be read."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise KernelError(f"{path}: got {error}, needed a file that can be read") from None


def fraction(text: str, place: str) -> Fraction:
    """The number written as `"p"` or `"p/q"`."""
    match = _RATIO.fullmatch(text)
    if not match or (match[2] and not match[2].strip("0")):
        raise KernelError(f"{place}: got {brief(text)}, needed a number, or a string such as '1/3'")
    return Fraction(int(match[1]), int(match[2] or 1))


def read_model(path: str | os.PathLike[str]) -> Model | Automaton:
    """The model in a `.json` (tabular or finite-state) or `.safetensors` file, as interface.md describes them.

    **Raises** `KernelError` at the first thing that is wrong: file, place, what was found and what was needed.
    """
    readers = {".json": _json_model, ".safetensors": _safetensors_model}
    reader = readers.get(Path(path).suffix)
    if reader is None:
        raise KernelError(f"{path}: got the ending {Path(path).suffix!r}, needed {' or '.join(readers)}")
    data = read_bytes(path)
    model = reader(data, str(path))
    if isinstance(model, Model):
        check_ended_rows(model, f"{path}: step")
    return replace(model, sha256=hashlib.sha256(data).hexdigest())


def _json_model(data: bytes, path: str) -> Model | Automaton:
    table = parse(data, path)
    kinds = {"tabular": (_TABULAR, _tabular), "finite_state": (_FINITE_STATE, _finite_state)}
    kind = table.get("kind") if type(table) is dict else None
    for key, needed in (("format", (FORMAT,)), ("kind", kinds)):
        if type(table) is dict and key in table and table[key] not in [*needed]:
            raise KernelError(f"{path}: {key}: got {brief(table[key])}, needed {' or '.join(map(brief, needed))}")
    shape, read = kinds["finite_state" if kind == "finite_state" else "tabular"]
    conform(table, shape, path)
    check_vocabulary(table["vocabulary"], table["eos"], path)
    return read(table, path)


def _tabular(table: dict[str, Any], path: str) -> Model:
    size, steps = len(table["vocabulary"]), []
    for t, rows in enumerate(table["steps"]):
        if len(rows) != size**t:
            raise KernelError(f"{path}: steps[{t}]: got {len(rows)} rows, needed {size}^{t}, one for each prefix")
        steps.append(tuple(_json_row(row, size, f"{path}: steps[{t}][{h}]") for h, row in enumerate(rows)))
    return Model(tuple(table["vocabulary"]), table["eos"], tuple(steps))


def _finite_state(table: dict[str, Any], path: str) -> Automaton:
    """A token without a probability has 0; one that is possible and does not end the sequence needs a next state."""
    vocabulary, eos, states = table["vocabulary"], table["eos"], table["states"]
    places, known = {name: place for place, name in enumerate(states)}, {*vocabulary}
    if table["initial"] not in places:
        raise KernelError(f"{path}: initial: got {brief(table['initial'])}, needed the name of a state")
    rows, following = [], []
    for name, state in states.items():
        place = f"{path}: states[{brief(name)}]"
        check_text(name, place)
        for key, leads in state.items():
            for token in leads:
                if token not in known:
                    raise KernelError(f"{place}.{key}: got the token {brief(token)}, needed one of the vocabulary")
        leads = state["next"]
        for target in leads.values():
            if target not in places:
                raise KernelError(f"{place}.next: got {brief(target)}, needed the name of a state")
        row = [state["probabilities"].get(token, 0) for token in vocabulary]
        rows.append(_json_row(row, len(vocabulary), f"{place}.probabilities"))
        for token, p in zip(vocabulary, rows[-1], strict=True):
            if p and token != eos and token not in leads:
                raise KernelError(f"{place}.next: got no state after {brief(token)}, needed one, as it is possible")
        following.append(tuple(places[leads[token]] if token in leads else None for token in vocabulary))
    initial = places[table["initial"]]
    return Automaton(tuple(vocabulary), eos, tuple(states), initial, tuple(rows), tuple(following))


def _json_row(row: list[int | Decimal | str], size: int, place: str) -> tuple[Fraction, ...]:
    """Integers and strings are exact, decimals may miss the sum 1 by `TOLERANCE`: their proportions count."""
    if len(row) != size:
        raise KernelError(f"{place}: got {len(row)} numbers, needed {size}, one for each token")
    entries = tuple(
        fraction(entry, f"{place}[{y}]") if type(entry) is str else Fraction(entry) for y, entry in enumerate(row)
    )
    _check_probabilities(entries, TOLERANCE if any(type(entry) is Decimal for entry in row) else Fraction(0), place)
    return entries


def _check_probabilities(row: tuple[Entry, ...], tolerance: Fraction, place: str) -> None:
    for y, entry in enumerate(row):
        if not 0 <= entry < math.inf:
            raise KernelError(f"{place}[{y}]: got {float(entry)}, needed a probability")
    mass = sum(row) if type(row[0]) is Fraction else math.fsum(row)
    if not abs(mass - 1) <= tolerance:
        raise KernelError(
            f"{place}: got the sum {float(mass)}, needed 1" + f" within {float(tolerance)}" * bool(tolerance)
        )


def _check_logs(row: tuple[float, ...], normalised: bool, place: str) -> None:
    for y, entry in enumerate(row):
        if not entry < math.inf:
            raise KernelError(f"{place}[{y}]: got {entry}, needed a finite number or -inf")
    if max(row) == -math.inf:
        raise KernelError(f"{place}: got -inf for every token, needed one that is possible")
    if normalised and not (max(row) < 1 and abs(math.fsum(map(math.exp, row)) - 1) <= TOLERANCE):
        raise KernelError(f"{place}: got logs of no distribution, needed a sum of 1 within {float(TOLERANCE)}")


def _safetensors_model(data: bytes, path: str) -> Model:
    """An 8-byte little-endian header length, a JSON header, then the tensors' bytes without gap or overlap."""
    (length,) = struct.unpack("<Q", data[:8]) if len(data) >= 8 else (None,)
    if length is None or length > len(data) - 8:
        raise KernelError(f"{path}: got {len(data)} bytes and a header of {length}, needed the header within the file")
    header, place = parse(data[8 : 8 + length].rstrip(b" "), f"{path}: header"), f"{path}: header"
    conform(header, {"*": dict, "__metadata__": {"*": str, "vocabulary": str, "values": str}}, place)
    metadata = header.pop("__metadata__")
    vocabulary, eos = parse(metadata["vocabulary"].encode(), f"{place}: vocabulary"), metadata.get("eos")
    conform(vocabulary, [str], f"{place}: vocabulary")
    check_vocabulary(vocabulary, eos, place)
    values = metadata["values"]
    if values not in ("log_probs", "logits", "probs"):
        raise KernelError(f"{place}: values: got {brief(values)}, needed log_probs, logits or probs")
    if set(header) != {f"step_{t}" for t in range(len(header))}:
        raise KernelError(f"{path}: got the tensors {brief(sorted(header))}, needed step_0, step_1, ... without a gap")
    buffer = data[8 + length :]
    steps = [_tensor(header, t, len(vocabulary), buffer, path) for t in range(len(header))]
    _check_cover([tensor["data_offsets"] for tensor in header.values()], len(buffer), path)
    for t, rows in enumerate(steps):
        for h, row in enumerate(rows):
            if values == "probs":
                _check_probabilities(row, TOLERANCE, f"{path}: step_{t}, row {h}")
            else:
                _check_logs(row, values == "log_probs", f"{path}: step_{t}, row {h}")
    return Model(tuple(vocabulary), eos, tuple(steps), "probs" if values == "probs" else "logs")


def _tensor(header: dict[str, Any], t: int, size: int, data: bytes, path: str) -> tuple[tuple[float, ...], ...]:
    """The rows of `step_t`, once dtype, shape and offsets are what they must be."""
    tensor, place = header[f"step_{t}"], f"{path}: step_{t}"
    conform(tensor, _TENSOR, place)
    dtype, shape, offsets = tensor["dtype"], tensor["shape"], tensor["data_offsets"]
    if dtype not in _WIDTHS:
        raise KernelError(f"{place}: dtype: got {brief(dtype)}, needed {', '.join(_WIDTHS)}")
    if shape != [size] * (t + 1):
        raise KernelError(f"{place}: shape: got {brief(shape)}, needed {t + 1} times {size}")
    width = size ** (t + 1) * _WIDTHS[dtype]
    if len(offsets) != 2 or not 0 <= offsets[0] <= offsets[1] <= len(data) or offsets[1] - offsets[0] != width:
        raise KernelError(f"{place}: data_offsets: got {offsets}, needed {width} of the {len(data)} bytes")
    part = data[slice(*offsets)]
    if dtype == "BF16":
        part, dtype = b"".join(b"\0\0" + part[i : i + 2] for i in range(0, width, 2)), "F32"
    letter = {"F64": "d", "F32": "f", "F16": "e"}[dtype]
    return tuple(struct.iter_unpack(f"<{size}{letter}", part))


def _check_cover(spans: list[list[int]], length: int, path: str) -> None:
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            raise KernelError(f"{path}: data_offsets: got {start} after {end}, needed no gap and no overlap")
        end = stop
    if end != length:
        raise KernelError(f"{path}: got {length - end} bytes after the last tensor, needed none")
