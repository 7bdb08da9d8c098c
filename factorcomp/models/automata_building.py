"""Finite-state models from states as written: every state checked, every problem told, files and Python alike.

A state is an object `{"probabilities": {token: number}, "next": {token: name}}` (interface.md, "Model files").
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from factorcomp.models import memory
from factorcomp.models.building import written_number
from factorcomp.models.errors import Problems, shown
from factorcomp.models.notes import renormalised, rounding
from factorcomp.models.numbers import NumberError, fraction
from factorcomp.models.rational_tables import ReadRows
from factorcomp.models.rows import RationalRows
from factorcomp.models.vocabulary import check_vocabulary, encodable
from factorcomp.models.written_rows import RowError, RowReader

NOWHERE = -1
"""The next state where there is none."""
KEYS = {"probabilities", "next"}
NO_NEXT = "is missing; needed the next state, as this token has a positive probability"
CELLS = 2**18
"""Numbers read together: bounds the memory that their texts and the steps between take."""
MEMORY_PER_CELL = 48
"""Numerator, denominator and next state, and once more while the blocks are put together."""


class Automaton(NamedTuple):
    """What a finite-state model consists of, as its fields; `notes`: what a reader must know about how it was read."""

    states: tuple[str, ...]
    initial: int
    rows: RationalRows
    next: Int[np.ndarray, "states vocab"]
    notes: tuple[str, ...]


def read_automaton(
    states: Any,
    vocabulary: object,
    initial: object,
    eos: object,
    problems: Problems,
    slack: Fraction = Fraction(0),
) -> Automaton:
    """The automaton of `states[name]["probabilities"][token]` and `states[name]["next"][token]`, in exact numbers.

    **Arguments:** `problems`: collects what is wrong. `slack`: corrections up to this are the rounding of the
    numbers given, and not noted.

    **Raises:** `InputError` if anything is wrong, in the head (which `problems` may already tell) or here.
    """
    if type(states) is not dict:
        problems.add("states", f"found {shown(states)}; needed an object with a state under each name")
        states = {}
    elif not states:
        problems.add("states", "found no state; needed at least one")
    elif type(initial) is not str or initial not in states:
        problems.add("initial", f"found {shown(initial)}; needed the name of a state")
    tokens = _tokens(vocabulary)
    memory.require(len(states) * len(tokens) * MEMORY_PER_CELL, problems.name, f"an automaton of {len(states)} states")
    reading = _Reading(states, tokens, eos if type(eos) is str else None, problems, slack)
    blocks = [reading.block(block) for block in _blocks(states, max(1, CELLS // max(1, len(tokens))))]
    problems.raise_any()
    numerators, denominators, following = map(np.concatenate, zip(*blocks, strict=True))
    notes = renormalised(problems.name, None, reading.renormalised, reading.largest)
    if eos is not None:
        end = np.array([[token == eos for token in tokens]], dtype=np.int64)
        numerators, denominators = np.vstack([numerators, end]), np.vstack([denominators, np.ones_like(end)])
        following = np.vstack([following, np.full_like(end, len(states))])
        following[:, end[0] == 1] = len(states)
        if reading.after_eos:
            count = reading.after_eos
            where = f"{count} state{'s' * (count > 1)}"
            notes += (f"{problems.name}: the next state given for EOS in {where} is ignored: after EOS, only EOS",)
    places = {name: place for place, name in enumerate(states)}
    return Automaton(tuple(states), places[initial], RationalRows(numerators, denominators), following, notes)


def exact_automaton(states: Any, vocabulary: Any, initial: Any, eos: Any, name: str) -> Automaton:
    """The automaton of states from Python: integers, fractions, strings `"p/q"`, and floats, dyadic fractions.

    **Raises:** `InputError`, with every problem.
    """
    problems = Problems(name)
    check_vocabulary(vocabulary, eos, problems)
    slack = Fraction(rounding(max(1, len(_tokens(vocabulary))), np.finfo(np.float64).eps))
    return read_automaton(_written(states), vocabulary, initial, eos, problems, slack)


def _written(states: Any) -> Any:
    """States from Python as a file writes them: numbers as texts, mappings as objects; others come out as refused."""
    if not isinstance(states, Mapping):
        return states
    return {name: _written_state(state) for name, state in states.items()}


def _written_state(state: Any) -> Any:
    if not isinstance(state, Mapping):
        return state
    parts = {key: dict(part) if isinstance(part, Mapping) else part for key, part in state.items()}
    if type(probabilities := parts.get("probabilities")) is dict:
        parts["probabilities"] = {token: written_number(value) for token, value in probabilities.items()}
    return parts


def located(*names: object) -> str:
    """The place of something in a file, by the names of the objects around it.

    >>> located("states", "even", "next", "a"), located("states", "a b", "probabilities", "")
    ('states.even.next.a', 'states."a b".probabilities.""')
    """
    return ".".join(name if type(name) is str and re.fullmatch(r"[\w-]{1,40}", name) else shown(name) for name in names)


class _Reading:
    """The states of one input, read in blocks; counts what the notes say."""

    def __init__(
        self, states: Mapping[str, Any], tokens: tuple[str, ...], eos: str | None, problems: Problems, slack: Fraction
    ):
        self.places = {name: place for place, name in enumerate(states)}
        self.tokens = tokens
        self.known = set(tokens)
        self.eos = eos
        self.problems = problems
        self.slack = slack
        self.reader = RowReader(problems.name)
        self.renormalised, self.largest, self.after_eos = 0, Fraction(0), 0

    def block(self, states: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numerators, denominators and next states of some states, each `[states, vocab]`."""
        zeros = [b"0"] * len(self.tokens)
        rows: list[Any] = [None] * len(states)
        following = np.full((len(states), len(self.tokens)), NOWHERE)
        for index, state in enumerate(states.values()):
            if self._well_formed(state):
                rows[index] = list(map(state["probabilities"].get, self.tokens, zeros))
                leads = state["next"]
                following[index] = [self.places[leads[token]] if token in leads else NOWHERE for token in self.tokens]
                self.after_eos += self.eos in leads
        read = ReadRows(rows, len(self.tokens) or None, self.reader, self.slack)
        goes_on = np.array([token != self.eos for token in self.tokens], dtype=bool)
        lost = ((read.numerators != 0).astype(bool) & goes_on & (following == NOWHERE)).any(1) if self.tokens else False
        named = list(states.items())
        wrong = ~read.right | lost | ~np.array([type(name) is str and encodable(name) for name in states], dtype=bool)
        for index in np.flatnonzero(wrong).tolist():
            for where, message in self._describe(*named[index]):
                self.problems.add(where, message)
        self.renormalised += read.renormalised
        self.largest = max(self.largest, read.largest)
        return read.numerators, read.denominators, following

    def _well_formed(self, state: Any) -> bool:
        """Whether the state's keys, tokens and next states are right; its numbers may still be wrong."""
        if type(state) is not dict or state.keys() != KEYS or {*map(type, state.values())} != {dict}:
            return False
        leads = state["next"]
        try:
            return state["probabilities"].keys() | leads.keys() <= self.known and self.places.keys() >= {
                *leads.values()
            }
        except TypeError:  # a next state that is a list or an object: not hashable
            return False

    def _describe(self, name: object, state: Any) -> Iterator[tuple[str, str]]:
        """What is wrong with a state: each place, and the message."""
        here = ("states", name)
        if type(name) is not str:
            yield located(*here), f"found {shown(name)} as a name; needed a string"
        elif not encodable(name):
            yield located(*here), f"found {shown(name)}, half a surrogate pair; needed Unicode text"
        if type(state) is not dict:
            yield located(*here), f"found {shown(state)}; needed an object with the keys probabilities and next"
            return
        for key in state:
            if key not in KEYS:
                yield located(*here), f"found the unknown key {shown(key)}; needed only probabilities and next"
        for key, needed in (("probabilities", "a number for each token"), ("next", "the name of a state")):
            if key not in state:
                yield located(*here), f'the key "{key}" is missing'
            elif type(state[key]) is not dict:
                yield located(*here, key), f"found {shown(state[key])}; needed an object with {needed}"
        parts = [part if type(part := state.get(key)) is dict else None for key in ("probabilities", "next")]
        yield from self._describe_probabilities(here, *parts)
        for token, target in (parts[1] or {}).items():
            yield from self._unknown(token, (*here, "next", token))
            if type(target) is not str or target not in self.places:
                yield located(*here, "next", token), f"found {shown(target)}; needed the name of a state"

    def _describe_probabilities(
        self, here: tuple[object, ...], probabilities: dict | None, leads: dict | None
    ) -> Iterator[tuple[str, str]]:
        if probabilities is None:
            return
        here, bad = (*here, "probabilities"), False
        for token, written in probabilities.items():
            yield from self._unknown(token, (*here, token))
            try:
                positive = fraction(written)[0] > 0
            except NumberError as error:
                bad = True
                yield located(*here, token), f"found {shown(written)}; {error}"
                continue
            if positive and token != self.eos and leads is not None and token not in leads:
                yield located(*here[:-1], "next", token), NO_NEXT
        if not bad:
            try:
                self.reader.read(list(probabilities.values()) or [b"0"])
            except RowError as error:
                yield located(*here), str(error)

    def _unknown(self, token: object, where: tuple[object, ...]) -> Iterator[tuple[str, str]]:
        if self.tokens and token not in self.known:
            yield located(*where), "no token of the vocabulary; needed one"


def _tokens(vocabulary: object) -> tuple[str, ...]:
    """The tokens, once each: none where the vocabulary itself is wrong, and cannot tell which tokens are unknown."""
    if not isinstance(vocabulary, list | tuple):
        return ()
    return tuple(dict.fromkeys(token for token in vocabulary if type(token) is str))


def _blocks(states: Mapping[str, Any], size: int) -> Iterator[dict[str, Any]]:
    items = iter(states.items())
    while block := dict(itertools.islice(items, size)):
        yield block
