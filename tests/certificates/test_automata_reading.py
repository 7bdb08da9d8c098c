"""Finite-state model files are read exactly or refused; a table unrolled from one says what the automaton says."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import Automaton, KernelError, Model, digest, read_model

HALF = (Fraction(1, 2), Fraction(1, 2))
EVEN = {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "odd", "b": "even"}}
ODD = {"probabilities": {"a": 1}, "next": {"a": "even"}}


def document(**changes: object) -> str:
    head = {"format": "factorcomp-model/1", "kind": "finite_state", "vocabulary": ["a", "b"], "eos": None}
    return json.dumps(head | {"initial": "even", "states": {"even": EVEN, "odd": ODD}} | changes)


def read(text: str, folder: Path) -> Automaton | Model:
    (folder / "model.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    return read_model(folder / "model.json")


def test_the_example_of_the_interface(tmp_path: Path) -> None:
    model = read(document(), tmp_path)
    assert isinstance(model, Automaton)
    assert (model.states, model.initial, model.eos) == (("even", "odd"), 0, None)
    assert model.rows == (HALF, (Fraction(1), Fraction(0)))
    assert model.next == ((1, 0), (0, None))
    assert model.sha256 == digest(tmp_path / "model.json")


def test_a_decimal_row_may_miss_1_by_a_millionth(tmp_path: Path) -> None:
    state = {"probabilities": {"a": 0.3333333, "b": 0.6666666}, "next": {"a": "even", "b": "even"}}
    model = read(document(states={"even": state}), tmp_path)
    assert model.rows == ((Fraction(3333333, 10**7), Fraction(6666666, 10**7)),)


def test_the_next_state_of_eos_is_neither_needed_nor_heeded(tmp_path: Path) -> None:
    free = {"even": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "even"}}}
    given = {"even": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "even", "b": "even"}}}
    tables = [read(document(eos="b", states=states), tmp_path).unrolled(3) for states in (free, given)]
    assert tables[0].steps == tables[1].steps
    ended = (Fraction(0), Fraction(1))
    assert tables[0].steps[2] == (HALF, ended, ended, ended)


def state(**changes: object) -> dict:
    return {"even": EVEN | changes, "odd": ODD}


REFUSED = {
    "no initial": (document().replace('"initial": "even", ', ""), 'got no "initial"'),
    "an unknown initial": (document(initial="middle"), 'initial: got "middle", needed the name of a state'),
    "an initial that is no name": (document(initial=0), "initial: got 0, needed a string"),
    "no states": (document(states={}), 'initial: got "even"'),
    "a list of states": (document(states=[]), "states: got a list of 0, needed a mapping"),
    "steps": (document(steps=[]), 'got the key "steps"'),
    "a state twice": (document().replace('"odd": {"prob', '"even": {"prob'), '"even" twice'),
    "an unknown key": (document(states=state(colour="red")), 'got the key "colour", needed probabilities, next'),
    "no probabilities": (document(states={"even": {"next": {}}}), 'got no "probabilities"'),
    "no next": (document(states={"even": {"probabilities": {}}}), 'got no "next"'),
    "an unknown token": (document(states=state(probabilities={"c": 1})), r'probabilities: got the token "c"'),
    "an unknown token in next": (document(states=state(next={"c": "odd"})), r'next: got the token "c"'),
    "an unknown state in next": (document(states=state(next={"a": "up", "b": "odd"})), 'next: got "up"'),
    "a number in next": (document(states=state(next={"a": 1})), "got 1, needed a string"),
    "no next for a possible token": (document(states=state(next={"a": "odd"})), 'got no state after "b"'),
    "a sum": (document(states=state(probabilities={"a": "1/3", "b": "1/3"})), "needed 1"),
    "no token possible": (document(states=state(probabilities={})), "got the sum 0.0, needed 1"),
    "a decimal off by much": (document(states=state(probabilities={"a": 0.3, "b": 0.6})), "within 1e-06"),
    "a negative": (document(states=state(probabilities={"a": -1, "b": 2})), "needed a probability"),
    "a boolean": (document(states=state(probabilities={"a": True})), "got true"),
    "words": (document(states=state(probabilities={"a": "one"})), 'got "one"'),
    "NaN": (document(states=state(probabilities={"a": math.nan})), "got NaN"),
    "half a surrogate": (document(states={"even": EVEN, "odd": ODD, "\ud800": ODD}), "surrogate"),
    "an unknown EOS": (document(eos="c"), 'eos: got "c"'),
    "a repeated token": (document(vocabulary=["a", "a"]), '"a" twice'),
    "another kind": (document(kind="hidden"), '"tabular" or "finite_state"'),
    "a kind that is a list": (document(kind=[]), "kind: got a list of 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    text, match = REFUSED[name]
    with pytest.raises(KernelError, match=match) as caught:
        read(text, tmp_path)
    assert "model.json" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_unrolled_rows_are_those_of_the_states_reached(tmp_path: Path) -> None:
    """even -a-> odd, even -b-> even, odd -a-> even, and after `a b` the model says nothing, for ever."""
    table = read(document(), tmp_path).unrolled(4)
    even, odd = HALF, (Fraction(1), Fraction(0))
    assert table.steps[0] == (even,)
    assert table.steps[1] == (odd, even)
    assert table.steps[2] == (even, None, odd, even)
    assert table.steps[3] == (odd, even, None, None, even, None, odd, even)
    assert table.horizon == 4


def test_a_table_beyond_a_million_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="more than 1048576 rows for the length 30, needed at most 1048576"):
        read(document(), tmp_path).unrolled(30)


def test_tokens_in_another_order(tmp_path: Path) -> None:
    turned = read(document(), tmp_path).aligned(("b", "a"), None, "up")
    assert turned.rows == (HALF, (Fraction(0), Fraction(1)))
    assert turned.next == ((0, 1), (None, 0))
    assert turned.unrolled(2).steps == read(document(), tmp_path).unrolled(2).aligned(("b", "a"), None, "up").steps
    with pytest.raises(KernelError, match='up: got the token "b", which the background lacks'):
        turned.aligned(("a", "c"), None, "up")
