"""Feature maps, read exactly: each sequence of tokens as a tuple of feature tokens (theory.md 6)."""

import hashlib
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from factorcomp.certificates.claims import Tokens
from factorcomp.certificates.documents import KernelError, brief, conform, parse
from factorcomp.certificates.models import check_tokens, check_vocabulary
from factorcomp.certificates.reading import read_bytes

FORMAT = "factorcomp-features/1"
_HEAD = {"format": str, "kind": str, "vocabulary": [str], "features": [str]}
_STATE = {"output": {"*": str}, "next": {"*": str}}
_KINDS = {
    "table": {"length": int, "table": [[str]]},
    "position_wise": {"positions": [{"*": str}]},
    "prefix_dependent": {"steps": [[[str]]]},
    "transducer": {"initial": str, "states": {"*": _STATE}},
}
Apply = Callable[[Tokens], Tokens]
RELABELS = "the map is a prefix-tree isomorphism: it relabels every next token (Theorem 6.2)"
"""Why composing commutes with a causal map."""


@dataclass(frozen=True)
class FeatureMap:
    """A map from sequences of tokens to tuples of feature tokens.

    **Fields:** `vocabulary`, `features`: the tokens, and the feature tokens in their order. `apply`: the map.
    `shortest`, `longest`: the lengths that it has. `machine`: the initial state and all states of a transducer.
    `sha256`: the digest of the file that it was read from.
    """

    vocabulary: Tokens
    features: Tokens
    apply: Apply
    shortest: int
    longest: int | None
    machine: tuple[str, Mapping[str, Any]] | None = None
    sha256: str | None = field(default=None, compare=False)

    def image(self, vocabulary: Tokens, length: int) -> list[Tokens]:
        """The features of every sequence of a length, in the order of this vocabulary.

        **Raises** `KernelError` for other tokens or another length, and where two sequences have the same features.
        """
        check_tokens((self.vocabulary, None), vocabulary, None, "features")
        if length < self.shortest or (self.longest is not None and length > self.longest):
            raise KernelError(f"features: got a map up to length {self.longest}, needed the length {length}")
        image = [self.apply(sequence) for sequence in itertools.product(vocabulary, repeat=length)]
        for token in (token for features in image for token in features if token not in self.features):
            raise KernelError(f"features: got {brief(token)}, needed one of the feature tokens")
        if len(set(image)) < len(image):
            raise KernelError("features: got a map that takes two sequences to one tuple, needed a bijection")
        return image


def read_feature_map(path: str | os.PathLike[str]) -> FeatureMap:
    """The feature map in a `.json` file (docs/features.md, "Files"); its masks are only checked for their form.

    **Raises** `KernelError` at the first thing that is wrong: file, place, what was found and what was needed.
    """
    data, place = read_bytes(path), str(path)
    file = parse(data, place)
    kind = file.get("kind") if type(file) is dict else None
    shape: dict[str, Any] = _HEAD | _KINDS.get(kind if type(kind) is str else "", {})
    if type(file) is dict and "masks" in file:
        shape["masks"] = {"*": [int]}
    if type(file) is dict and type(kind) is str and kind not in _KINDS:
        raise KernelError(f"{place}: kind: got {brief(kind)}, needed {' or '.join(_KINDS)}")
    conform(file, shape, place)
    if file["format"] != FORMAT:
        raise KernelError(f"{place}: format: got {brief(file['format'])}, needed {brief(FORMAT)}")
    check_vocabulary(file["vocabulary"], None, place)
    check_vocabulary(file["features"], None, f"{place}: features")
    for name, mask in file.get("masks", {}).items():
        if len(set(mask)) < len(mask) or min(mask, default=0) < 0:
            raise KernelError(f"{place}: masks.{name}: got {mask}, needed different coordinates from 0")
    apply, shortest, longest = _READERS[kind](file, place)
    vocabulary, features = tuple(file["vocabulary"]), tuple(file["features"])
    machine = (file["initial"], file["states"]) if kind == "transducer" else None
    return FeatureMap(vocabulary, features, apply, shortest, longest, machine, hashlib.sha256(data).hexdigest())


def _table(file: Mapping[str, Any], place: str) -> tuple[Apply, int, int]:
    length, rows, size = file["length"], file["table"], len(file["vocabulary"])
    if not 0 <= length <= 64 or len(rows) != size**length:
        raise KernelError(f"{place}: table: got {len(rows)} tuples and length {length}, needed {size}^{length} tuples")
    for index, row in enumerate(rows):
        _check_features(row, file, f"{place}: table[{index}]")
        if len(row) != len(rows[0]):
            raise KernelError(f"{place}: table[{index}]: got {len(row)} feature tokens, needed {len(rows[0])}")
    sequences = itertools.product(file["vocabulary"], repeat=length)
    return dict(zip(sequences, map(tuple, rows), strict=True)).__getitem__, length, length


def _position_wise(file: Mapping[str, Any], place: str) -> tuple[Apply, int, int]:
    positions = file["positions"]
    for t, relabelling in enumerate(positions):
        _check_relabelling(relabelling, file, f"{place}: positions[{t}]")
    return lambda y: tuple(positions[t][token] for t, token in enumerate(y)), 0, len(positions)


def _prefix_dependent(file: Mapping[str, Any], place: str) -> tuple[Apply, int, int]:
    vocabulary, steps = file["vocabulary"], file["steps"]
    known: dict[Tokens, dict[str, str]] = {}
    for t, rows in enumerate(steps):
        if len(rows) != len(vocabulary) ** t:
            raise KernelError(f"{place}: steps[{t}]: got {len(rows)} relabellings, needed {len(vocabulary)}^{t}")
        for h, (prefix, row) in enumerate(zip(itertools.product(vocabulary, repeat=t), rows, strict=True)):
            where = f"{place}: steps[{t}][{h}]"
            if len(row) != len(vocabulary):
                raise KernelError(f"{where}: got {len(row)} feature tokens, needed {len(vocabulary)}")
            known[prefix] = dict(zip(vocabulary, row, strict=True))
            _check_relabelling(known[prefix], file, where)
    return lambda y: tuple(known[y[:t]][token] for t, token in enumerate(y)), 0, len(steps)


def _transducer(file: Mapping[str, Any], place: str) -> tuple[Apply, int, None]:
    states, initial = file["states"], file["initial"]
    if initial not in states:
        raise KernelError(f"{place}: initial: got {brief(initial)}, needed the name of a state")
    for name, state in states.items():
        where = f"{place}: states[{brief(name)}]"
        _check_relabelling(state["output"], file, f"{where}.output")
        if {*state["next"]} != {*file["vocabulary"]} or not {*state["next"].values()} <= {*states}:
            raise KernelError(f"{where}.next: got other tokens or states, needed a state after every token")

    def apply(sequence: Tokens) -> Tokens:
        state, said = states[initial], []
        for token in sequence:
            said.append(state["output"][token])
            state = states[state["next"][token]]
        return tuple(said)

    return apply, 0, None


_READERS: dict[Any, Callable[[Mapping[str, Any], str], tuple[Apply, int, int | None]]] = {
    "table": _table,
    "position_wise": _position_wise,
    "prefix_dependent": _prefix_dependent,
    "transducer": _transducer,
}


def _check_features(row: Sequence[str], file: Mapping[str, Any], place: str) -> None:
    for token in row:
        if token not in file["features"]:
            raise KernelError(f"{place}: got {brief(token)}, needed a feature token")


def _check_relabelling(relabelling: Mapping[str, str], file: Mapping[str, Any], place: str) -> None:
    """Every token of the vocabulary, and to each a feature token of its own."""
    if {*relabelling} != {*file["vocabulary"]}:
        raise KernelError(f"{place}: got other tokens, needed those of the vocabulary")
    _check_features([*relabelling.values()], file, place)
    if len({*relabelling.values()}) < len(relabelling):
        raise KernelError(f"{place}: got a feature token twice, needed different ones")
