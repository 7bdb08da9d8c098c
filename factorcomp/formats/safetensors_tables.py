"""Tabular models as safetensors (interface.md, "Model files"): `step_t` of shape `(V,)*t + (V,)`, and metadata.

Metadata: `vocabulary` (a JSON list), `eos` (or absent), `values`: `log_probs`, `logits` or `probs`.
"""

import json
import re
from typing import Any, get_args

import numpy as np
import safetensors
import safetensors.numpy
from jaxtyping import Float

from factorcomp.formats.json_text import decoded
from factorcomp.models.errors import InputError, Problems, shown
from factorcomp.models.float_tables import check_rows
from factorcomp.models.notes import renormalised
from factorcomp.models.rows import FloatRows, Scale
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import EndedPrefixes, check_vocabulary

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16}
"""NumPy has no bfloat16: its bits are the upper half of a float32."""
SCALES: dict[str, Scale] = {scale: scale for scale in get_args(Scale)}
MEMORY_PER_BYTE = 3
"""The file, the tensors that the library cuts out of it, and the blocks in which they are checked."""
MAX_AXES = 64


def read_safetensors(data: bytes, source: Source) -> TabularModel:
    """The tabular model in a safetensors file, its numbers as given (bfloat16 as float32, which holds them exactly).

    **Raises:** `InputError`, with every problem of the file.
    """
    problems = Problems(source.name)
    try:
        tensors = dict(safetensors.deserialize(data))
    except safetensors.SafetensorError as error:
        raise InputError(f"{source.name}: not a safetensors file, or a part of one: {error}") from None
    header = decoded(data[8 : 8 + int.from_bytes(data[:8], "little")].strip(), problems) or {}
    vocabulary, eos, scale = _metadata(header.get("__metadata__") or {}, problems)
    vocab = len(vocabulary) if isinstance(vocabulary, list) and vocabulary else None
    end = vocabulary.index(eos) if vocab and eos in vocabulary else None
    ended = EndedPrefixes(vocab or 1, end)
    steps: list[FloatRows] = []
    notes: list[str] = []
    for name in _step_names(tensors, problems):
        length = int(name.removeprefix("step_"))
        values = _values(name, tensors[name], vocab, length, problems)
        if values is None or scale is None:
            continue

        def report(row: int, token: int | None, message: str, name=name, length=length, size=values.shape[1]) -> None:
            index = [row // size**place % size for place in reversed(range(length))]
            problems.add(f"{name}{[*index, '…' if token is None else token]}".replace("'", ""), message)

        count, largest = check_rows(values, scale, end, ended(length), report)
        steps.append(FloatRows(values, scale))
        notes += renormalised(source.name, length, count, largest)
    problems.raise_any()
    return TabularModel(tuple(vocabulary), tuple(steps), eos, Source(source.name, source.sha256, tuple(notes)))


def _metadata(metadata: dict[str, str], problems: Problems) -> tuple[Any, str | None, Scale | None]:
    vocabulary, eos, values = None, metadata.get("eos"), metadata.get("values")
    if "vocabulary" not in metadata:
        problems.add("metadata", 'the key "vocabulary" is missing; needed the tokens, as a JSON list')
    else:
        inner = Problems(f"{problems.name}: metadata vocabulary")
        vocabulary = decoded(metadata["vocabulary"].encode(), inner)
        for line in inner.lines:
            problems.add("", line.removeprefix(f"{problems.name}: "))
        if not inner.count:
            check_vocabulary(vocabulary, eos, problems)
    if values not in SCALES:
        found = "is missing" if values is None else f"is {shown(values)}"
        problems.add("metadata", f'the key "values" {found}; needed log_probs, logits or probs')
    return vocabulary, eos, SCALES.get(values or "")


def _step_names(tensors: dict[str, Any], problems: Problems) -> list[str]:
    """The tensors that are steps, in order: `step_0`, `step_1`, … without a gap."""
    steps = [name for name in tensors if re.fullmatch("step_(0|[1-9][0-9]*)", name)]
    names = [f"step_{length}" for length in range(len(steps))]
    for name in sorted(set(tensors) - set(names)):
        problems.add("", f"found the tensor {shown(name)}; needed only step_0, step_1, … without a gap")
    for name in names:
        if name not in tensors:
            problems.add("", f"the tensor {name} is missing")
    return [name for name in names if name in tensors]


def _values(
    name: str, tensor: dict[str, Any], vocab: int | None, length: int, problems: Problems
) -> Float[np.ndarray, "prefixes vocab"] | None:
    shape, dtype = tensor["shape"], tensor["dtype"]
    if dtype not in DTYPES:
        problems.add(name, f"found numbers of type {dtype}; needed {', '.join(DTYPES)}")
    if vocab is None:
        return None
    if shape != [vocab] * (length + 1):
        needed = str([vocab] * (length + 1)) if length < 8 else f"{length + 1} axes of {vocab}"
        problems.add(
            name, f"found the shape {shape if len(shape) < 10 else f'with {len(shape)} axes'}; needed {needed}"
        )
        return None
    if dtype not in DTYPES:
        return None
    values = np.frombuffer(tensor["data"], dtype=np.dtype(DTYPES[dtype]).newbyteorder("<")).reshape(-1, vocab)
    return (
        (values.astype(np.uint32) << 16).view(np.float32)
        if dtype == "BF16"
        else values.astype(DTYPES[dtype], copy=False)
    )


def write_safetensors(model: TabularModel, name: str) -> bytes:
    """The model as a safetensors file: log-probabilities in float64.

    Where every step holds floats of one scale (of a file that was read, say) these are kept as they are, unless they
    are proportions of a distribution only, and no file holds such.
    """
    vocab = len(model.vocabulary)
    if model.horizon > MAX_AXES:
        raise InputError(
            f"{name}: {model.horizon} steps need a tensor with as many axes, and NumPy has {MAX_AXES}; use .json"
        )
    scales = {rows.scale if isinstance(rows, FloatRows) and _sums_to_1(rows) else None for rows in model.steps}
    kept = scales.pop() if len(scales) == 1 else None
    tensors = {}
    for length, rows in enumerate(model.steps):
        values = rows.values if kept and isinstance(rows, FloatRows) else rows.log_probs(0, rows.shape[0])
        tensors[f"step_{length}"] = np.ascontiguousarray(values).reshape((vocab,) * (length + 1))
    metadata = {"vocabulary": json.dumps(model.vocabulary, ensure_ascii=False), "values": kept or "log_probs"}
    return safetensors.numpy.save(tensors, metadata | ({} if model.eos is None else {"eos": model.eos}))


def _sums_to_1(rows: FloatRows) -> bool:
    problems: list[int] = []
    check_rows(
        rows.values, rows.scale, None, np.zeros(len(rows.values), dtype=bool), lambda row, *_: problems.append(row)
    )
    return not problems
