"""The kernel about feature maps, against brute force and against the theorems of theory.md, section 6."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import pytest

from factorcomp.certificates import FeatureMap, KernelError, Model, Question, Verdict, decide, read_feature_map
from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import FeatureWitness, SequenceWitness
from factorcomp.certificates.pushforward import push_forward
from tests import golden, oracle, oracle_features
from tests.certificates.subjects import model
from tests.feature_maps import random_features, written
from tests.strategies import normalised, random_instance

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED


def mapped(vocabulary, length, tuples, features=None) -> FeatureMap:
    """A map in memory."""
    tuples = list(tuples)
    known = dict(zip(product(vocabulary, repeat=length), map(tuple, tuples), strict=True))
    features = features or tuple(sorted({z for row in tuples for z in row}))
    return FeatureMap(tuple(vocabulary), tuple(features), known.__getitem__, length, length)


def positive_model(draw: random.Random, vocabulary, length) -> Model:
    rows = [
        tuple(normalised([draw.randint(1, 5) for _ in vocabulary]) for _ in range(len(vocabulary) ** t))
        for t in range(length)
    ]
    return Model(tuple(vocabulary), None, tuple(rows))


def commuting(models, length, tuples) -> Verdict:
    base, *experts = models
    question = Question(length, feature_masks={})
    experts = {f"e{i}": expert for i, expert in enumerate(experts)}
    found = decide(
        base, experts, question, claims={"feature_commutes"}, features=mapped(base.vocabulary, length, tuples)
    )
    return found["feature_commutes"].verdict


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_brute_force(seed, tmp_path):
    """Random models, and maps of all kinds: verdict, residual and witness of every claim."""
    draw = random.Random(seed)
    instance = random_instance(draw, cap=30)
    file = random_features(draw, instance.vocabulary, instance.question.length, list(instance.experts))
    masks = {name: tuple(mask) for name, mask in file["masks"].items()}
    question = replace(instance.question, masks=None, feature_masks=masks)
    experts = {name: model(instance, name) for name in instance.experts}
    features = read_feature_map(written(file, tmp_path))
    found = decide(model(instance, "background"), experts, question, features=features)
    mine = [result for result in found.claims if result.claim.startswith("feature")]
    if found["well_defined"].verdict is REFUTED:
        assert {result.verdict for result in mine} == {UNDECIDED}
        return
    case = oracle.tabulate(instance.vocabulary, instance.eos, instance.background, instance.experts, question)
    if oracle_features.lawless(case):
        assert {result.verdict for result in mine} <= {UNDECIDED, HOLDS}
        return
    mapping = oracle_features.map_of(file, instance.vocabulary, case.length)
    truth = oracle_features.feature_claims(case, mapping, file["features"], masks)
    assert list(golden._differences("claims", tuple(mine), tuple(truth))) == []


def test_the_maps_that_commute_are_the_tree_isomorphisms():
    """Theorem 6.2, |V| = T = 2: 8 of the 24 bijections, by models of full support."""
    draw = random.Random(1)
    models = [positive_model(draw, "ab", 2) for _ in range(3)]
    tuples = list(product("ab", repeat=2))
    verdicts = [commuting(models, 2, table) for table in permutations(tuples)]
    assert verdicts.count(HOLDS) == 8
    assert verdicts.count(REFUTED) == 16
    draws = [[models[0], *(positive_model(draw, "ab", 2) for _ in range(2))] for _ in range(3)]
    for table, verdict in zip(permutations(tuples), verdicts, strict=True):
        if verdict is HOLDS:
            assert {commuting(models, 2, table) for models in draws} == {HOLDS}


def test_bijections_of_three_bits_commute_iff_causal():
    """Theorem 6.2, |V| = 2, T = 3: 150 random bijections and 50 tree isomorphisms."""
    draw = random.Random(2)
    models = [positive_model(draw, "ab", 3) for _ in range(3)]
    tuples = list(product("ab", repeat=3))
    for number in range(200):
        table = draw.sample(tuples, len(tuples))
        if number % 4 == 0:
            flips = {y[:t]: draw.randint(0, 1) for y in tuples for t in range(3)}
            table = [tuple("ab"[("ab".index(y[t])) ^ flips[y[:t]]] for t in range(3)) for y in tuples]
        mapping = dict(zip(product(range(2), repeat=3), table, strict=True))
        expected = HOLDS if oracle_features.is_tree_isomorphism(3, mapping) else REFUTED
        assert commuting(models, 3, table) is expected
        assert number % 4 or expected is HOLDS


@pytest.mark.campaign
def test_all_bijections_of_three_bits():
    """128 of the 40,320."""
    draw = random.Random(3)
    models = [positive_model(draw, "ab", 3) for _ in range(3)]
    tuples = list(product("ab", repeat=3))
    assert sum(commuting(models, 3, table) is HOLDS for table in permutations(tuples)) == 128


def exclusive_or() -> tuple[Model, dict[str, Model], FeatureMap]:
    """CE 6.3: `z = (y_1 ⊕ y_2, y_2)`; background uniform, each expert 1/4 on one feature."""
    image = {y: (str(int(y[0]) ^ int(y[1])), y[1]) for y in product("01", repeat=2)}
    quarter = {"0": Fraction(3, 4), "1": Fraction(1, 4)}

    def of(density) -> Model:
        law = {y: density(image[y]) for y in image}
        root = [sum(p for y, p in law.items() if y[0] == token) for token in "01"]
        later = [tuple(law[first, token] / root[place] for token in "01") for place, first in enumerate("01")]
        return Model(("0", "1"), None, ((tuple(root),), tuple(later)))

    base = of(lambda z: Fraction(1, 4))
    experts = {"one": of(lambda z: quarter[z[0]] / 2), "two": of(lambda z: quarter[z[1]] / 2)}
    return base, experts, mapped("01", 2, image.values())


def test_the_informal_claim_fails_for_the_sampler():
    """CE 6.3: local (3/10, 3/10) instead of (1/4, 1/4); the stepwise composition is off by 1/8."""
    base, experts, features = exclusive_or()
    found = decide(base, experts, Question(2, feature_masks={"one": (0,), "two": (1,)}), features=features)
    for name, coordinate in (("one", 0), ("two", 1)):
        result = found[f"feature_projective:{name}"]
        assert result.residual == Fraction(1, 20)
        assert result.witness == FeatureWitness((coordinate,), ("0",), Fraction(7, 10), Fraction(3, 4))
    result = found["feature_commutes"]
    assert result.residual == Fraction(1, 8)
    assert result.witness == SequenceWitness(("0", "0"), ("0", "0"), Fraction(9, 20), Fraction(9, 16))
    assert found["local_equals_global"].residual == Fraction(1, 8)


def test_a_pushforward_has_no_kernel_where_its_model_never_goes():
    """`cancel` opens a token at the root; backwards, the background never goes there, and nothing is claimed."""
    half, sure = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))
    base = Model(("a", "b"), None, ((half,), (sure, sure)))
    up = Model(("a", "b"), None, ((half,), (half, sure)))
    question = Question(2, feature_masks={"up": (0,)})
    backwards = mapped("ab", 2, [y[::-1] for y in product("ab", repeat=2)])
    found = decide(base, {"up": up, "same": base}, question, features=backwards)["feature_commutes"]
    assert found.verdict is UNDECIDED
    assert "after 'b' the background never goes" in found.why
    forwards = mapped("ab", 2, product("ab", repeat=2))
    assert decide(base, {"up": up, "same": base}, question, features=forwards)["feature_commutes"].verdict is HOLDS


def test_one_expert_alone_commutes_only_where_the_background_goes():
    """k = 1, read backwards: up opens `b` at position 1, so that of `b` first the background's features have no row."""
    half, sure = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))
    base, up = (Model(("a", "b"), None, ((half,), (row, row))) for row in (sure, half))
    backwards = [word[::-1] for word in product("ab", repeat=2)]
    assert commuting((base, up), 2, backwards) is UNDECIDED
    assert commuting((up, base), 2, backwards) is HOLDS


def test_what_dies_on_the_way_is_lost():
    """After the first feature `a` both experts share no token: in the order of features 1/2 is lost, in tokens none."""
    half, sure = (Fraction(1, 2),) * 2, (Fraction(1), Fraction(0))
    base = Model(("a", "b"), None, ((half,), (half, half)))
    up, down = Model(("a", "b"), None, ((half,), (sure, half))), Model(("a", "b"), None, ((half,), (half, sure)))
    found = decide(
        base,
        {"up": up, "down": down},
        Question(2, null_tokens="drop", feature_masks={}),
        features=mapped("ab", 2, [("a", "a"), ("b", "a"), ("b", "b"), ("a", "b")]),
    )
    case = oracle.tabulate(
        ("a", "b"), None, base.steps, {"up": up.steps, "down": down.steps}, Question(2, null_tokens="drop")
    )
    mapping = dict(zip(product(range(2), repeat=2), [("a", "a"), ("b", "a"), ("b", "b"), ("a", "b")], strict=True))
    (truth,) = oracle_features.feature_claims(case, mapping, ("a", "b"), {})
    assert found["feature_commutes"].residual == truth.residual
    assert found["feature_commutes"].witness == truth.witness


LOGS = [((-0.5, -1.25),), ((-0.1, -3.0), (0.5, 0.25))]


def test_logs_are_decided_by_theorem_or_beyond_their_enclosure():
    """Irrational numbers: causal maps commute, the copy of an expert is projective, the rest may only be refuted."""
    base = Model(("a", "b"), None, tuple(map(tuple, LOGS)), "logs")
    up = Model(("a", "b"), None, (((0.0, 0.0),), ((1.0, 0.0), (0.0, 0.0))), "logs")
    forwards = mapped("ab", 2, product("ab", repeat=2))
    backwards = mapped("ab", 2, [y[::-1] for y in product("ab", repeat=2)])
    masks = Question(2, feature_masks={"up": (0,), "same": (1,)})
    found = decide(base, {"up": up, "same": base}, masks, features=forwards)
    assert found["feature_commutes"].verdict is HOLDS
    assert found["feature_projective:up"].verdict is HOLDS
    assert found["feature_projective:same"].verdict is REFUTED
    found = decide(base, {"up": up, "same": base}, masks, features=backwards)
    assert found["feature_commutes"].verdict is UNDECIDED
    found = decide(base, {"up": up, "twice": up}, Question(2, feature_masks={}), features=backwards)
    assert found["feature_commutes"].verdict is REFUTED


BAD_MASKS = [
    ({"up": (2,)}, "coordinates below 2"),
    ({"up": (1, 0)}, "do not increase"),
    ({"up": (0,), "down": (0,)}, "overlap"),
    ({"left": (0,)}, "'left'"),
]


@pytest.mark.parametrize(("masks", "message"), BAD_MASKS)
def test_masks_that_cannot_be(masks, message):
    base, experts, features = exclusive_or()
    experts = {"up": experts["one"], "down": experts["two"]}
    with pytest.raises(KernelError, match=message):
        decide(base, experts, Question(2, feature_masks=masks), features=features)


def test_maps_that_cannot_be():
    base, experts, _ = exclusive_or()
    constant = mapped("01", 2, [("0",)] * 4)
    with pytest.raises(KernelError, match="two sequences to one tuple"):
        decide(base, experts, Question(2, feature_masks={}), features=constant)
    with pytest.raises(KernelError, match='got "b", needed one of the feature tokens'):
        decide(base, experts, Question(2, feature_masks={}), features=mapped("01", 2, product("ab", repeat=2), "a"))
    with pytest.raises(KernelError, match="needed the length 1"):
        decide(base, experts, Question(1, feature_masks={}), features=constant)
    with pytest.raises(KernelError, match='got the token "a"'):
        decide(base, experts, Question(2, feature_masks={}), features=mapped("ab", 2, product("ab", repeat=2)))
    for question, features in ((Question(2), constant), (Question(2, feature_masks={}), None)):
        with pytest.raises(KernelError, match="needed both or none"):
            decide(base, experts, question, features=features)


def test_a_pushforward_says_nothing_where_its_model_does():
    """Nothing follows the impossible `b`, nor the feature `x` that no state says."""
    model = Automaton(("a", "b"), None, ("q",), 0, ((Fraction(1), Fraction(0)),), ((0, None),))
    swap = {"output": {"a": "z", "b": "y"}, "next": {"a": "s", "b": "s"}}
    features = FeatureMap(("a", "b"), ("x", "y", "z"), tuple, 0, None, ("s", {"s": swap}))
    pushed = push_forward(model, features)
    assert pushed.rows == ((0, 0, 1),)
    assert pushed.next == ((None, None, 0),)
