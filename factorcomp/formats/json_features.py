"""Feature maps as JSON (README, "Feature maps"): a head that all kinds share, and what each kind adds.

{"format": "factorcomp-features/1", "kind": "table", "vocabulary": ["0", "1"], "features": ["0", "1"],
 "masks": {"up": [0], "down": [1]}, "length": 2, "table": [["0", "0"], ["1", "1"], ["1", "0"], ["0", "1"]]}
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from factorcomp.formats.json_text import decoded
from factorcomp.models.errors import Problems, shown
from factorcomp.models.feature_maps import (
    FeatureMap,
    FeatureMasks,
    FeatureTable,
    PositionWiseMap,
    PrefixDependentMap,
    Transducer,
    read_tuples,
)
from factorcomp.models.tabular import Source
from factorcomp.models.vocabulary import check_vocabulary, prefix_count

FORMAT = "factorcomp-features/1"
HEAD = ("format", "kind", "vocabulary", "features")
MEMORY_PER_BYTE = 20
_LONGEST = 10**6
_MISSING = object()
"""In the place of what is missing, which is told where it is looked for."""


class Head(NamedTuple):
    """What all kinds share: the tokens, the feature tokens, the masks, where it comes from."""

    vocabulary: tuple[str, ...]
    features: tuple[str, ...]
    masks: FeatureMasks | None
    source: Source


class Kind(NamedTuple):
    """What a kind of map has after the head: its keys, and who reads them."""

    keys: tuple[str, ...]
    read: Callable[[Mapping[str, Any], Head, Problems], FeatureMap]


def read_features(data: bytes, source: Source) -> FeatureMap:
    """The feature map that a JSON text describes.

    **Raises:** `InputError`, with every problem of the text: its place, what was found, what was needed.
    """
    problems = Problems(source.name)
    file = decoded(data, problems)
    if file is None and problems.count:
        problems.raise_any()
    if type(file) is not dict:
        problems.add("", f"found {shown(file)}; needed an object with the keys {', '.join(HEAD)}")
        problems.raise_any()
    kind = KINDS.get(file["kind"]) if isinstance(file.get("kind"), str) else None
    keys = (*HEAD, *(kind.keys if kind else ()))
    for key in file:
        if key not in (*keys, "masks") and kind:
            problems.add("", f"found the unknown key {shown(key)}; needed only {', '.join(keys)} and masks")
    for key, allowed in (("format", (FORMAT,)), ("kind", tuple(KINDS))):
        if key in file and file[key] not in allowed:
            problems.add(key, f"found {shown(file[key])}; needed {' or '.join(map(shown, allowed))}")
    for key in keys:
        if key not in file:
            problems.add("", f'the key "{key}" is missing')
    for key in ("vocabulary", "features"):
        if key in file:
            found = Problems(source.name)
            check_vocabulary(file[key], None, found)
            for line in found.lines:
                problems.add("", line.removeprefix(f"{source.name}: ").replace("vocabulary", key, 1))
    masks = _masks(file["masks"], problems) if "masks" in file else None
    if kind is None or problems.count:
        problems.raise_any()
    assert kind is not None
    head = Head(tuple(file["vocabulary"]), tuple(file["features"]), masks, source)
    read = kind.read(file, head, problems)
    problems.raise_any()
    return read


def _masks(given: object, problems: Problems) -> FeatureMasks:
    """Expert name -> coordinates, increasing; that they are disjoint and within is asked when the length is known."""
    if type(given) is not dict:
        problems.add("masks", f"found {shown(given)}; needed an object: expert name -> list of coordinates")
        return {}
    masks: dict[str, tuple[int, ...]] = {}
    for name, written in given.items():
        numbers = [_whole(number) for number in written] if type(written) is list else [None]
        if None in numbers or len(set(numbers)) < len(numbers):
            problems.add(f"masks.{name}", f"found {shown(written)}; needed different coordinates, counted from 0")
        masks[str(name)] = tuple(sorted(number for number in numbers if number is not None))
    return masks


def _whole(written: object) -> int | None:
    """A whole number from 0, as it was written; `None` if it is none."""
    if isinstance(written, bytes) and written.isdigit() and len(written) < 10:
        return int(written)
    return None


def _read_table(file: Mapping[str, Any], head: Head, problems: Problems) -> FeatureTable:
    length = _whole(file["length"])
    rows = file["table"]
    if length is None or length > _LONGEST:
        problems.add("length", f"found {shown(file['length'])}; needed a number of tokens, at least 0")
    if type(rows) is not list:
        problems.add("table", f"found {shown(rows)}; needed a list with a tuple for each sequence")
        rows = []
    values = read_tuples(rows, head.vocabulary, head.features, length or 0, problems)
    return FeatureTable(head.vocabulary, head.features, length or 0, values, head.masks, head.source)


def _read_positions(file: Mapping[str, Any], head: Head, problems: Problems) -> PositionWiseMap:
    labels = np.zeros((0, len(head.vocabulary)), dtype=np.int64)
    if type(file["positions"]) is not list:
        problems.add("positions", f"found {shown(file['positions'])}; needed a list of objects, one per position")
    else:
        rows = [_by_token(row, f"positions[{t}]", head, problems) for t, row in enumerate(file["positions"])]
        labels = np.array(rows, dtype=np.int64).reshape(len(rows), len(head.vocabulary))
    return PositionWiseMap(head.vocabulary, head.features, labels, head.masks, head.source)


def _read_steps(file: Mapping[str, Any], head: Head, problems: Problems) -> PrefixDependentMap:
    size, labels = len(head.vocabulary), []
    steps = file["steps"]
    if type(steps) is not list:
        problems.add("steps", f"found {shown(steps)}; needed a list with the relabellings of each step")
        steps = []
    for t, rows in enumerate(steps):
        place, count = f"steps[{t}]", prefix_count(size, t)
        if type(rows) is not list or len(rows) != count:
            needed = f"{size}^{t}" if count is None else count
            found = f"{len(rows)} relabellings" if type(rows) is list else shown(rows)
            problems.add(place, f"found {found}; needed {needed}, one for each prefix of {t} tokens")
            continue
        found_rows = []
        for h, row in enumerate(rows):
            if type(row) is not list or len(row) != size:
                found = f"{len(row)} feature tokens" if type(row) is list else shown(row)
                problems.add(f"{place}[{h}]", f"found {found}; needed {size}, one for each token")
                continue
            found_rows.append(_places([*enumerate(row)], f"{place}[{h}]", head, problems))
        labels.append(np.array(found_rows, dtype=np.int64).reshape(-1, size))
    return PrefixDependentMap(head.vocabulary, head.features, tuple(labels), head.masks, head.source)


def _read_states(file: Mapping[str, Any], head: Head, problems: Problems) -> Transducer:
    states, initial = file["states"], file["initial"]
    if type(states) is not dict or not states:
        problems.add("states", f"found {shown(states)}; needed an object with a state or more")
        problems.raise_any()
    places = {name: place for place, name in enumerate(states)}
    if not isinstance(initial, str) or initial not in places:
        problems.add("initial", f"found {shown(initial)}; needed the name of a state")
    labels, following = [], []
    for name, state in states.items():
        place = f"states.{name}"
        if type(state) is not dict or set(state) != {"output", "next"}:
            found = f"the keys {', '.join(map(shown, state))}" if type(state) is dict else shown(state)
            problems.add(place, f'found {found}; needed an object with the keys "output" and "next"')
            continue
        labels.append(_by_token(state["output"], f"{place}.output", head, problems))
        following.append(_targets(state["next"], f"{place}.next", head, places, problems))
    problems.raise_any()
    return Transducer(
        head.vocabulary,
        head.features,
        tuple(states),
        places[initial],
        np.array(labels, dtype=np.int64),
        np.array(following, dtype=np.int64),
        head.masks,
        head.source,
    )


def _targets(given: object, place: str, head: Head, states: Mapping[str, int], problems: Problems) -> list[int]:
    found = []
    for token, target in _tokens(given, place, head, problems):
        if target is not _MISSING and (not isinstance(target, str) or target not in states):
            problems.add(f"{place}.{token}", f"found {shown(target)}; needed the name of a state")
        found.append(states.get(target, 0) if isinstance(target, str) else 0)
    return found


def _by_token(given: object, place: str, head: Head, problems: Problems) -> list[int]:
    """The places of the feature tokens that an object gives to the tokens, in vocabulary order; all different."""
    return _places(_tokens(given, place, head, problems), place, head, problems)


def _tokens(given: object, place: str, head: Head, problems: Problems) -> list[tuple[str, object]]:
    """What an object says of each token, in vocabulary order: of these tokens, and of no others."""
    if type(given) is not dict:
        problems.add(place, f"found {shown(given)}; needed an object: token -> feature token or state")
        return [(token, _MISSING) for token in head.vocabulary]
    for token in given:
        if token not in head.vocabulary:
            problems.add(place, f"found the token {shown(token)}; needed one of the vocabulary")
    for token in head.vocabulary:
        if token not in given:
            problems.add(place, f"lacks the token {shown(token)}; needed every token")
    return [(token, given.get(token, _MISSING)) for token in head.vocabulary]


def _places(written: Sequence[tuple[object, object]], place: str, head: Head, problems: Problems) -> list[int]:
    """The places of these feature tokens, each told apart from the others."""
    known = {token: number for number, token in enumerate(head.features)}
    found, seen = [], set()
    for key, token in written:
        inner = f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key}"
        if not isinstance(token, str) or token not in known:
            if token is not _MISSING:
                problems.add(inner, f"found {shown(token)}; needed a feature token")
        elif token in seen:
            problems.add(inner, f"found {shown(token)} again; needed different feature tokens, to be one to one")
        else:
            seen.add(token)
        found.append(known.get(token, 0) if isinstance(token, str) else 0)
    return found


KINDS = {
    "table": Kind(("length", "table"), _read_table),
    "position_wise": Kind(("positions",), _read_positions),
    "prefix_dependent": Kind(("steps",), _read_steps),
    "transducer": Kind(("initial", "states"), _read_states),
}
