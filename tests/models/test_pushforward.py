"""Pushforwards: the law of the features is that of the tokens carried over; they compose as the tokens do (6.2)."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from factorcomp import FiniteStateModel, InputError, TabularModel, compose, load_features, push_forward
from factorcomp.models.feature_maps import FeatureTable, Transducer
from factorcomp.models.function import FunctionModel
from tests import oracle, oracle_features, subjects
from tests.feature_maps import random_features, transducer, written
from tests.strategies import random_instance


def steps_of(model: TabularModel) -> list:
    """The rows of a table in fractions; `None` where it says nothing."""
    said = []
    for t, rows in enumerate(model.steps):
        exact = [None if model.says_nothing(t, h) else rows.exact(h).factors for h in range(rows.shape[0])]
        said.append([None if row is None else tuple(x / sum(row) for x in row) for row in exact])
    return said


def law_of_features(model: TabularModel, length: int) -> dict:
    """The law of a table, by tokens."""
    kernel = oracle.kernel_of(steps_of(model), len(model.vocabulary), length)
    law, level = {}, {(): Fraction(1)}
    for _ in range(length):
        level = {(*h, y): mass * p for h, mass in level.items() for y, p in enumerate(kernel[h]) if p}
    for sequence, mass in level.items():
        law[tuple(model.vocabulary[y] for y in sequence)] = mass
    return law


def causal_file(draw, vocabulary, length, names) -> dict:
    while True:
        file = random_features(draw, vocabulary, length, names)
        if file["kind"] != "table":
            return file


@pytest.mark.parametrize("seed", range(30))
def test_the_law_is_carried_over(seed, tmp_path):
    """A table through a causal map of any kind, of the map's own alphabet."""
    draw = random.Random(seed)
    instance = random_instance(draw, cap=40)
    length = instance.question.length
    file = causal_file(draw, instance.vocabulary, length, [])
    features = load_features(written(file, tmp_path))
    mapping = oracle_features.map_of(file, instance.vocabulary, length)
    for name in ("background", *instance.experts):
        kernel = oracle.kernel_of(instance.model(name), len(instance.vocabulary), length)
        truth = oracle_features.carried(oracle_features.law_of(kernel, len(instance.vocabulary), length), mapping)
        pushed = push_forward(subjects.model(instance, name), features)
        assert pushed.vocabulary == tuple(file["features"])
        assert law_of_features(pushed, length) == truth


@pytest.mark.parametrize("seed", range(15))
def test_composing_and_pushing_commute(seed, tmp_path):
    """Theorem 6.2 (<=): the pushforward of the composition is the composition of the pushforwards, row by row."""
    draw = random.Random(seed)
    instance = random_instance(draw, structures=("free",), cap=40)
    while any(0 in row for name in ("background", *instance.experts) for step in instance.model(name) for row in step):
        instance = random_instance(draw, structures=("free",), cap=40)
    if instance.eos is not None or not instance.question.length:
        return
    features = load_features(written(causal_file(draw, instance.vocabulary, instance.question.length, []), tmp_path))
    base, experts = subjects.models(instance)
    there = push_forward(compose(base, experts), features)
    here = compose(push_forward(base, features), {n: push_forward(m, features) for n, m in experts.items()})
    assert steps_of(there) == steps_of(here)


def test_more_features_than_tokens_leave_gaps():
    """The image is a strict part of the tuples: of the others a table says nothing."""
    base = TabularModel.from_probabilities([["1/4", "3/4"], [["1/2", "1/2"], ["1/3", "2/3"]]], ["a", "b"])
    table = FeatureTable.from_tuples([["x", "y"], ["x", "z"], ["z", "x"], ["z", "y"]], ["a", "b"], 2)
    pushed = push_forward(base, table)
    assert steps_of(pushed)[0] == [(Fraction(1, 4), 0, Fraction(3, 4))]
    assert steps_of(pushed)[1] == [(0, Fraction(1, 2), Fraction(1, 2)), None, (Fraction(1, 3), Fraction(2, 3), 0)]
    assert law_of_features(pushed, 2)["z", "y"] == Fraction(1, 2)


def test_floats_keep_their_numbers():
    logs = TabularModel.from_log_probs([np.log([[0.25, 0.75]])], ["a", "b"])
    pushed = push_forward(logs, FeatureTable.from_tuples([["y"], ["x"]], ["a", "b"], 1))
    assert pushed.steps[0].values.tolist() == logs.steps[0].values[:, ::-1].tolist()


def random_machine(draw: random.Random, vocabulary, eos=None) -> FiniteStateModel:
    states = [f"s{n}" for n in range(draw.randint(1, 3))]
    said = {}
    for state in states:
        weights = [draw.randint(0, 3) for _ in vocabulary]
        weights[draw.randrange(len(vocabulary))] += 1
        tokens = [y for y, w in zip(vocabulary, weights, strict=True) if w]
        total = sum(weights)
        said[state] = {
            "probabilities": {y: f"{w}/{total}" for y, w in zip(vocabulary, weights, strict=True) if w},
            "next": {y: draw.choice(states) for y in tokens if y != eos},
        }
    return FiniteStateModel.from_states(said, vocabulary, "s0", eos)


@pytest.mark.parametrize("eos", [None, "b"])
@pytest.mark.parametrize("seed", range(15))
def test_finite_state_models_through_a_transducer(seed, eos, tmp_path):
    """Tabulated, the pushforward is the pushforward of the table; also after EOS."""
    draw = random.Random(seed)
    model = random_machine(draw, ["a", "b", "c"][: draw.randint(2, 3)], eos)
    tokens = draw.sample(model.vocabulary, len(model.vocabulary))
    head = {"format": "factorcomp-features/1", "kind": "transducer", "vocabulary": tokens}
    features = load_features(written(head | transducer(draw, tokens), tmp_path))
    pushed = push_forward(model, features)
    assert pushed.eos is None
    assert len(set(pushed.states)) == len(pushed.states)
    for length in range(4):
        mine, other = law_of_features(pushed.tabulate(length), length), push_forward(model.tabulate(length), features)
        assert mine == law_of_features(other, length)


def test_a_transducer_of_more_features():
    """Feature tokens that no state says are impossible, and lead nowhere."""
    model = FiniteStateModel.from_states(
        {"q": {"probabilities": {"a": "1/3", "b": "2/3"}, "next": {"a": "q", "b": "q"}}}, ["a", "b"], "q"
    )
    features = Transducer(("a", "b"), ("x", "y", "z"), ("s",), 0, np.array([[2, 0]]), np.array([[0, 0]]))
    pushed = push_forward(model, features)
    assert pushed.rows.exact(0).factors == (Fraction(2, 3), 0, Fraction(1, 3))
    assert pushed.next.tolist() == [[0, -1, 0]]


def test_what_cannot_be_pushed():
    model = random_machine(random.Random(0), ["a", "b"])
    table = FeatureTable.from_tuples([y[::-1] for y in product("ab", repeat=2)], ["a", "b"], 2)
    with pytest.raises(InputError, match="a finite-state model needs a transducer"):
        push_forward(model, table)
    with pytest.raises(InputError, match="no prefix-tree isomorphism"):
        push_forward(model.tabulate(2), table)
    with pytest.raises(InputError, match="needed the length 3"):
        push_forward(model.tabulate(3), table)
    with pytest.raises(InputError, match="a function; needed a table"):
        push_forward(FunctionModel(lambda prefixes: prefixes, ("a", "b")), table)
