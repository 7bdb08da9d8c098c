"""The composition of finite-state models is the composition of their tables, at every length; and its labels."""

import random

import numpy as np
import pytest

from factorcomp.bounds.oscillation import exceeds
from factorcomp.composition.automata import compose_automata
from factorcomp.composition.tables import compose_tables
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import FloatRows
from tests.automata import AutomataInstance, random_automata

LENGTH = 4


def in_floats(model: FiniteStateModel) -> FiniteStateModel:
    """The same model with its rows as log-probabilities."""
    rows = FloatRows(model.rows.log_probs(0, model.rows.shape[0]), "log_probs")
    return FiniteStateModel(model.vocabulary, model.states, model.initial, rows, model.next, model.eos)


def defined(instance: AutomataInstance) -> FiniteStateModel | None:
    (background, experts), question = instance.models(), instance.question
    try:
        return compose_automata(background, experts, question.null_tokens, question.weights)
    except InputError:
        return None


@pytest.mark.parametrize("floats", [False, True])
def test_it_is_the_composition_of_the_tables(floats: bool):
    """`compose(models).tabulate(T) = compose(tables of T steps)` wherever the composition goes; exactly if rational."""
    compared = 0
    for seed in range(60):
        instance = random_automata(random.Random(seed))
        composed = defined(instance)
        if composed is None:
            continue
        (background, experts), question = instance.models(), instance.question
        if floats:
            background, experts = in_floats(background), {name: in_floats(e) for name, e in experts.items()}
            composed = compose_automata(background, experts, question.null_tokens, question.weights)
        tables = {name: expert.tabulate(LENGTH) for name, expert in experts.items()}
        base = background.tabulate(LENGTH)
        wanted = compose_tables(base, tables, LENGTH, question.null_tokens, question.weights, sequence_level=False)
        found = composed.tabulate(LENGTH)
        reach = np.ones(1, dtype=bool)
        for mine, theirs in zip(found.steps, wanted.steps, strict=True):
            at = np.flatnonzero(reach)
            if floats:
                logs = (rows.log_probs(0, rows.shape[0])[at] for rows in (mine, theirs))
                np.testing.assert_allclose(*(np.exp(log) for log in logs), atol=1e-12)
            else:
                assert not exceeds(mine, at, theirs, at).any(), f"seed {seed}: {instance}"
            reach = (reach[:, None] & theirs.support()).reshape(-1)
        compared += 1
    assert compared > 40


def test_labels_say_where_experts_deviate():
    """`overlap` is where two of the `deviates_NAME` are up; nobody deviates once the sequence has ended."""
    overlaps = 0
    for seed in range(60):
        composed = defined(random_automata(random.Random(seed)))
        if composed is None:
            continue
        own = [flags for label, flags in composed.labels.items() if label.startswith("deviates_")]
        assert (composed.labels["overlap"] == (np.sum(own, axis=0) > 1)).all()
        assert all(len(flags) == composed.rows.shape[0] for flags in composed.labels.values())
        assert composed.ended is None or not any(flags[composed.ended] for flags in composed.labels.values())
        overlaps += bool(composed.labels["overlap"].any())
    assert overlaps > 3


@pytest.mark.parametrize(("name", "labelled"), [("up", True), ("größe", False), ("a-b", False)])
def test_a_name_that_prism_cannot_read_labels_nothing(name, labelled):
    """Labels are identifiers of PRISM: letters of ASCII, digits and underscores."""
    composed = compose_automata(machine(s="a:s b:s"), {name: machine(s="a:s")}, "cancel", {})
    assert list(composed.labels) == ["overlap", *[f"deviates_{name}"] * labelled]


def test_where_it_is_undefined_the_first_such_prefix_is_named():
    state = {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "s", "b": "t"}}
    only = {"probabilities": {"a": 1}, "next": {"a": "t"}}
    other = {"probabilities": {"b": 1}, "next": {"b": "t"}}
    background = FiniteStateModel.from_states({"s": state, "t": state}, ["a", "b"], "s")
    up = FiniteStateModel.from_states({"s": state, "t": only}, ["a", "b"], "s")
    down = FiniteStateModel.from_states({"s": state, "t": other}, ["a", "b"], "s")
    with pytest.raises(InputError, match=r"undefined after 'b': all mass vanishes there"):
        compose_automata(background, {"up": up, "down": down}, "cancel", {})


def machine(**states: str) -> FiniteStateModel:
    """`s="a:t b:s"`: from state s to t after a, to s after b, each of these tokens as probable; `_` is a space."""
    described = {}
    for name, text in states.items():
        edges = {y: q.replace("_", " ") for y, q in (edge.split(":") for edge in text.split())}
        described[name.replace("_", " ")] = {"probabilities": dict.fromkeys(edges, f"1/{len(edges)}"), "next": edges}
    return FiniteStateModel.from_states(described, ["a", "b"], next(iter(described)))


def test_its_states_bear_the_names_of_the_models_states():
    """One after the other; numbered only where two are then the same."""
    base = machine(s="a:s b:s_u", s_u="a:s_u b:s_u")
    up = machine(u="a:u b:v", v="a:v b:v")
    assert compose_automata(base, {"up": up}, "cancel", {}).states == ("s u", "s u v")
    alike = machine(u_v="a:v b:v", v="a:v b:v")
    assert compose_automata(base, {"up": alike}, "cancel", {}).states == ("0 s u v", "1 s v", "2 s u v")


@pytest.mark.parametrize(
    ("null_tokens", "up", "message"),
    [
        ("strict", machine(s="a:s b:s"), r"undefined after the empty prefix: a ratio has no value there \(strict\)"),
        ("cancel", machine(s="a:s b:s"), r"undefined after 'b': a model has no next state there"),
        ("drop", machine(s="b:s"), r"undefined after the empty prefix: all mass vanishes there"),
    ],
)
def test_why_it_is_undefined(null_tokens, up, message):
    with pytest.raises(InputError, match=message):
        compose_automata(machine(s="a:s"), {"up": up}, null_tokens, {})
