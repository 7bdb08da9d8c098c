"""Finite-state models as JSON (interface.md, "Model files"): the next state is a function of state and token.

{"format": "factorcomp-model/1", "kind": "finite_state", "vocabulary": ["a", "b"], "eos": null, "initial": "even",
 "states": {"even": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "odd", "b": "even"}},
            "odd":  {"probabilities": {"a": 1},                 "next": {"a": "even"}}}}
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from factorcomp.formats.json_numbers import row_texts
from factorcomp.models.automata_building import read_automaton
from factorcomp.models.errors import Problems
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.tabular import Source

KEYS = ("initial", "states")
"""The keys of this kind alone."""


def read_states(file: Mapping[str, Any], problems: Problems, source: Source) -> FiniteStateModel:
    """The finite-state model of a decoded file, in exact rational numbers.

    **Arguments:** `problems`: those of the head, which is read (json_models.py).

    **Raises:** `InputError`, with every problem.
    """
    if "states" not in file:
        problems.raise_any()
    vocabulary, eos, written = file.get("vocabulary"), file.get("eos"), file["states"]
    first = next(iter(written), None) if type(written) is dict else None
    initial = file.get("initial", first)  # where it is missing, which the head tells, the states are read all the same
    states, place, rows, following, notes = read_automaton(written, vocabulary, initial, eos, problems)
    source = Source(source.name, source.sha256, notes)
    return FiniteStateModel(tuple(file["vocabulary"]), states, place, rows, following, eos, source)


def write_states(model: FiniteStateModel, name: str) -> Iterator[str]:
    """What follows the head of a finite-state model's file, in pieces; `name` is the file's, for errors.

    **Raises:** `InputError` for a number that JSON files do not hold.
    """
    tokens = [json.dumps(token, ensure_ascii=False) for token in model.vocabulary]
    states = [json.dumps(state, ensure_ascii=False) for state in model.states]
    yield f',\n "initial": {states[model.initial]},\n "states": {{'
    rows = row_texts(model.rows, 0, len(states), f"{name}: the row of state")
    for index, (state, row, following) in enumerate(zip(states, rows, model.next[: len(states)].tolist(), strict=True)):
        probabilities = [
            f"{token}: {text}" for token, text in zip(tokens, row, strict=True) if text not in ("0", "0.0")
        ]
        leads = [
            f"{token}: {states[target]}"
            for place, (token, target) in enumerate(zip(tokens, following, strict=True))
            if target != NOWHERE and place != model.eos_index
        ]
        yield (
            f"{',' if index else ''}\n {state}: "
            f'{{"probabilities": {{{", ".join(probabilities)}}}, "next": {{{", ".join(leads)}}}}}'
        )
    yield "}}\n"
