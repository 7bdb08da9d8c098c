"""Feature maps: every kind says what its file says, for tokens in any order; one to one, and causal, as defined."""

import math
import random
from itertools import permutations, product

import numpy as np
import pytest

from factorcomp.certificates import read_feature_map
from factorcomp.formats import load_features
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureFunction, FeatureTable, PositionWiseMap, Transducer
from factorcomp.models.feature_structure import collision, is_causal, onto, parting
from tests import oracle_features
from tests.feature_maps import KINDS, random_features, written


def of_table(tuples, vocabulary="ab", length=2) -> FeatureTable:
    return FeatureTable.from_tuples(tuples, list(vocabulary), length)


@pytest.mark.parametrize("seed", range(60))
def test_a_map_says_what_its_file_says(seed, tmp_path):
    """Engine, kernel and oracle, of a vocabulary in another order than the file's, and of the tables of all kinds."""
    draw = random.Random(seed)
    vocabulary = tuple("abc"[: draw.randint(1, 3)])
    length = draw.randint(0, 3)
    file = random_features(draw, vocabulary, length, ["up", "down"])
    path = written(file, tmp_path)
    truth = oracle_features.map_of(file, vocabulary, length)
    table = load_features(path).tabulate(vocabulary, length)
    assert [table.spelled(index) for index in range(len(table.values))] == list(truth.values())
    assert read_feature_map(path).image(vocabulary, length) == list(truth.values())
    assert table.masks == {name: tuple(sorted(mask)) for name, mask in file["masks"].items()}
    assert table.source.sha256 == read_feature_map(path).sha256
    assert collision(table) is None
    assert is_causal(table) == oracle_features.is_tree_isomorphism(length, truth)
    assert onto(table) == (set(product(file["features"], repeat=table.coordinates)) == set(truth.values()))


def test_every_kind_is_drawn():
    drawn = {random_features(random.Random(seed), "ab", 2, [])["kind"] for seed in range(60)}
    assert drawn == {"table", *KINDS[3:]}


@pytest.mark.parametrize(("vocab", "length", "count"), [(2, 1, 2), (2, 2, 8), (3, 1, 6)])
def test_tree_isomorphisms_are_counted(vocab, length, count):
    """Theorem 6.2: `prod_t (|V|!)^(|V|^(t-1))` of all bijections of `V^T`."""
    assert count == math.prod(math.factorial(vocab) ** vocab ** (t - 1) for t in range(1, length + 1))
    tokens = "abc"[:vocab]
    tuples = list(product(tokens, repeat=length))
    assert sum(is_causal(of_table(table, tokens, length)) for table in permutations(tuples)) == count


@pytest.mark.campaign
def test_tree_isomorphisms_of_three_bits_are_counted():
    """128 of the 40,320 bijections."""
    tuples = list(product("ab", repeat=3))
    assert sum(is_causal(of_table(table, "ab", 3)) for table in permutations(tuples)) == 128


@pytest.mark.parametrize(
    ("tuples", "pair"),
    [
        ([["x"], ["y"], ["z"], ["w"]], None),
        ([["x"], ["y"], ["y"], ["x"]], (1, 2)),
        ([["x"], ["x"], ["x"], ["x"]], (0, 1)),
        ([[], [], [], []], (0, 1)),
    ],
)
def test_two_sequences_with_the_same_features_are_found(tuples, pair):
    assert collision(of_table(tuples)) == pair


def test_partings_are_the_shortest():
    swapped = of_table([["x", "x"], ["x", "y"], ["y", "x"], ["y", "y"]][::-1])
    assert parting(swapped) is None
    backwards = of_table([["x", "x"], ["y", "x"], ["x", "y"], ["y", "y"]])
    found = parting(backwards)
    assert (found.first, found.second, found.length, found.shared) == (0, 1, 1, "tokens")
    late = of_table([["x", "a"], ["x", "b"], ["x", "c"], ["x", "d"]])
    found = parting(late)
    assert (found.first, found.second, found.length, found.shared) == (0, 2, 1, "features")
    assert not is_causal(of_table([["x"], ["y"], ["z"], ["w"]]))


def test_a_function_is_asked_once_for_each_sequence():
    asked = []

    def parity(tokens):
        asked.append(tokens)
        return (str(tokens.count("b") % 2), *tokens[1:])

    table = FeatureFunction(parity).tabulate(("a", "b"), 2)
    assert asked == list(product("ab", repeat=2))
    assert table.spelled(3) == ("0", "b")
    assert FeatureFunction(parity).tabulate(("b", "a"), 2).spelled(1) == ("1", "a")


BAD_FUNCTIONS = [
    (lambda tokens: "ab", "needed a tuple of strings"),
    (lambda tokens: (1, 2), "needed a tuple of strings"),
    (lambda tokens: tokens[: 1 + (tokens[0] == "a")], "found 1 feature tokens; needed 2"),
    (lambda tokens: 1 / 0, "ZeroDivisionError"),
]


@pytest.mark.parametrize(("function", "message"), BAD_FUNCTIONS, ids=range(len(BAD_FUNCTIONS)))
def test_what_is_wrong_with_a_function_is_said(function, message):
    with pytest.raises(InputError, match=message):
        FeatureFunction(function).tabulate(("a", "b"), 2)


def test_maps_that_do_not_fit_are_refused():
    flip = PositionWiseMap(("a", "b"), ("a", "b"), np.array([[1, 0]]))
    with pytest.raises(InputError, match="says nothing of sequences beyond 1 tokens; the length is 2"):
        flip.tabulate("ab", 2)
    with pytest.raises(InputError, match='found the token "b", which the models lack'):
        flip.tabulate("ac", 1)
    with pytest.raises(InputError, match='lacks the token "c" of the models'):
        flip.tabulate("abc", 1)
    with pytest.raises(InputError, match="its sequences have 2 tokens; needed the length 1"):
        of_table([["a"], ["b"], ["c"], ["d"]]).tabulate("ab", 1)
    endless = Transducer(("a", "b"), ("a", "b"), ("q",), 0, np.array([[1, 0]]), np.array([[0, 0]]))
    with pytest.raises(InputError, match=r"the features of all 2\^100 sequences takes"):
        endless.tabulate("ab", 100)


def test_tokens_of_a_transducer_in_another_order():
    endless = Transducer(("a", "b"), ("x", "y"), ("q", "r"), 0, np.array([[0, 1], [1, 0]]), np.array([[0, 1], [1, 0]]))
    turned = endless.aligned(("b", "a"))
    assert turned.tabulate("ab", 3).values.tolist() == endless.tabulate("ab", 3).values.tolist()
    assert turned.labels.tolist() == [[1, 0], [0, 1]]
