"""verify() with a feature map: engine, kernel and brute force say the same; what floats cannot tell they leave open."""

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from factorcomp import TabularModel, load, load_features, verify
from factorcomp.certificates.claims import Verdict
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureTable
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import FloatRows
from factorcomp.verification.features import as_map
from tests import golden, oracle, oracle_features, subjects
from tests.feature_maps import random_features, written
from tests.strategies import Instance, random_instance

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED


def drawn(seed: int, folder) -> tuple[Instance, dict, object]:
    """A random instance, a features file, and the map that is read from it."""
    draw = random.Random(seed)
    instance = random_instance(draw, cap=30)
    file = random_features(draw, instance.vocabulary, instance.question.length, list(instance.experts))
    return instance, file, load_features(written(file, folder))


def case_of(instance: Instance) -> oracle.Case:
    question = replace(instance.question, masks=None)
    return oracle.tabulate(instance.vocabulary, instance.eos, instance.background, instance.experts, question)


def asked(instance: Instance, features, models=None, **options):
    background, experts = models or subjects.models(instance)
    question = instance.question
    given = {"null_tokens": question.null_tokens, "weights": question.weights, "scope": question.scope}
    return verify(background, experts, features=features, **given, **options)


def in_floats(instance: Instance) -> tuple[TabularModel, dict[str, TabularModel]]:
    """The models with logs in float64: nearly the same, and irrational."""

    def logs(model: TabularModel) -> TabularModel:
        steps = [rows.log_probs(0, rows.shape[0]) for rows in model.steps]
        return TabularModel.from_log_probs(steps, model.vocabulary, model.eos)

    background, experts = subjects.models(instance)
    return logs(background), {name: logs(model) for name, model in experts.items()}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_brute_force(seed, exact, tmp_path):
    """Claims with residuals and witnesses, and what is said of the map, by engine and kernel."""
    instance, file, features = drawn(seed, tmp_path)
    report = asked(instance, features, exact=exact)
    claims = tuple(result for result in report.claims if result.claim.startswith("feature"))
    json.dumps(report.to_json(), allow_nan=False)
    assert "Features" in str(report)
    case = case_of(instance)
    if report["well_defined"].verdict is REFUTED:
        assert {result.verdict for result in claims} == {UNDECIDED}
        assert report.features.gaps is None
        return
    if oracle_features.lawless(case):
        return
    mapping = oracle_features.map_of(file, instance.vocabulary, case.length)
    masks = {name: tuple(sorted(file["masks"][name])) for name in case.names if name in file["masks"]}
    truth = oracle_features.feature_claims(case, mapping, file["features"], masks)
    assert list(golden._differences("claims", claims, tuple(truth))) == []
    assert {result.method for result in claims} <= {"rational" if exact else "enumeration"}
    check_conditions(report.features, case, mapping, masks)


def check_conditions(found, case, mapping, masks) -> None:
    conditions = found.conditions
    causal = oracle_features.is_tree_isomorphism(case.length, mapping)
    assert (conditions["causal"].verdict is HOLDS) == causal
    assert abs(found.path_oscillation - oracle_features.path_oscillation(case)) < 1e-9
    assert found.gaps == oracle_features.gaps(case, mapping, masks)
    if masks:
        firsts = {
            "independent_given_prefix": oracle_features.dependent_prefix(case, mapping, masks),
            "informs_about_one": oracle_features.informative_prefix(case, mapping, masks),
        }
        for name, prefix in firsts.items():
            assert (conditions[name].verdict, conditions[name].witness) == (
                (HOLDS, ()) if prefix is None else (REFUTED, (case.tokens(prefix),))
            )
        holds = oracle_features.factorized(case, mapping, masks)
        assert conditions["factorized_conditionals"].verdict is (HOLDS if holds else REFUTED)


@pytest.mark.parametrize("seed", range(100, 115))
def test_floats_never_say_more_than_they_know(seed, tmp_path):
    """Models in logs: a verdict is that of brute force, or a difference of rounding that is there, or left open."""
    instance, file, features = drawn(seed, tmp_path)
    report = asked(instance, features, in_floats(instance))
    case = case_of(instance)
    if report["well_defined"].verdict is REFUTED or oracle_features.lawless(case):
        return
    mapping = oracle_features.map_of(file, instance.vocabulary, case.length)
    masks = {name: tuple(sorted(mask)) for name, mask in file["masks"].items()}
    for truth in oracle_features.feature_claims(case, mapping, file["features"], masks):
        found = report[truth.name]
        rounding = found.verdict is REFUTED and 0 < found.residual < 1e-12
        assert rounding or found.verdict in (truth.verdict, UNDECIDED)
        if truth.residual is not None and found.residual is not None:
            assert abs(found.residual - truth.residual) < 1e-9


def test_floats_out_of_range_say_nothing():
    """Probabilities below 1e-308: the engine has no number, and the kernel decides."""
    rows = [np.array([[0.0, -800.0]]), np.array([[-800.0, 0.0], [-1.0, np.log1p(-np.exp(-1.0))]])]
    base = TabularModel.from_log_probs(rows, ["a", "b"])
    up = TabularModel.from_log_probs([np.log([[0.5, 0.5]]), np.log([[0.5, 0.5]] * 2)], ["a", "b"])
    report = verify(base, {"up": up, "same": base}, features=lambda y: y[::-1], feature_masks={"up": [0], "same": [1]})
    assert report.features.gaps == {"up": (None, None), "same": (None, None)}
    assert report.features.path_oscillation is None
    assert report["feature_projective:same"].method == "rational"
    assert report.features.conditions["factorized_conditionals"].verdict is UNDECIDED


def test_floats_that_reach_no_sequence_say_nothing():
    """Up and down exclude each other's token nearly: all products are below the floats, though Z is not 0."""
    up, down = np.array([[0.0, -800.0]]), np.array([[-800.0, 0.0]])
    base, *own = (TabularModel.from_log_probs([row], ["a", "b"]) for row in (np.log([[0.5, 0.5]]), up, down))
    report = verify(base, dict(zip(("up", "down"), own, strict=True)), features=lambda y: y)
    assert report["well_defined"].verdict is HOLDS
    assert report.features.path_oscillation is None


def test_weights_tilt_the_experts(tmp_path):
    """Every claim is about the tilted experts of 1.9: the same as with these given."""
    draw = random.Random(7)
    instance = random_instance(draw, structures=("free",), cap=8)
    while instance.question.length < 2 or any(0 in row for step in instance.background for row in step):
        instance = random_instance(draw, structures=("free",), cap=8)
    names = list(instance.experts)
    file = random_features(draw, instance.vocabulary, instance.question.length, names)
    features = load_features(written(file, tmp_path))
    weight = {names[0]: Fraction(2)}
    instance = replace(instance, question=replace(instance.question, weights=weight, null_tokens="cancel"))
    case = case_of(instance)
    tilted = [[case.experts[names[0]][h] for h in case.prefixes(t)] for t in range(case.length)]
    given = asked(instance, features)
    plain = replace(instance.question, weights={})
    same = asked(replace(instance, question=plain, experts={**instance.experts, names[0]: tilted}), features)
    assert [c.residual for c in given.claims if c.claim.startswith("feature")] == [
        c.residual for c in same.claims if c.claim.startswith("feature")
    ]


# The examples of theory.md


def of_example(name: str, **options):
    about = golden.about_example(name)
    folder = golden.EXAMPLES / name
    experts = {expert: load(folder / f"{expert}.json") for expert in about["experts"]}
    return verify(load(folder / "background.json"), experts, **(golden.options_of_example(name) | options))


def test_exclusive_or():
    """CE 6.3: whole sequences compose exactly, the sampler is off by 1/20 on each feature, 1/8 in all."""
    report = of_example("features_of_the_sampler")
    assert report.features.gaps == {"one": (Fraction(1, 20), 0), "two": (Fraction(1, 20), 0)}
    assert report["feature_commutes"].residual == Fraction(1, 8)
    assert report.features.conditions["factorized_conditionals"].verdict is HOLDS
    assert report.features.conditions["independent_given_prefix"].witness == (("0",),)


def test_rank_one_though_two_deviate():
    """CE 6.5: (iv) of 6.4' holds, the condition of 6.4 fails at the root, and all is exact."""
    report = of_example("features_independent_though_two_deviate")
    conditions = report.features.conditions
    assert conditions["independent_given_prefix"].verdict is HOLDS
    assert conditions["informs_about_one"].witness == ((),)
    assert report["pointwise_joint"].verdict is REFUTED
    assert all(result.verdict is HOLDS for result in report.claims if result.claim.startswith("feature"))
    assert report.features.path_oscillation == 0


def test_other_masks_in_place_of_those_of_the_map():
    """Negative control: the experts' coordinates exchanged."""
    report = of_example("features_by_increments", feature_masks={"first": [1], "second": [0]})
    assert report["feature_projective:first"].verdict is REFUTED
    assert report.features.masks == {"first": (1,), "second": (0,)}
    assert report.question.feature_masks == {"first": (1,), "second": (0,)}


@pytest.mark.parametrize("seed", range(12))
def test_two_tokens_stay_independent_iff_each_informs_about_one(seed, tmp_path):
    """Corollary to 6.4': for |V| = 2, (iv) is the condition of 6.4, where the features factorize."""
    draw = random.Random(seed)
    law = [draw.randint(1, 6) for _ in range(6)]
    tuples = [(r, c, d) for r in "01" for c in "01" for d in "01"]
    mass = {
        z: Fraction(law[int(z[0])], law[0] + law[1]) * Fraction(law[2 + int(z[1])], law[2] + law[3]) for z in tuples
    }
    sides = [[Fraction(law[i], law[i] + law[i + 1]), Fraction(law[i + 1], law[i] + law[i + 1])] for i in (0, 2, 4)]
    mass = {z: math.prod(side[int(feature)] for side, feature in zip(sides, z, strict=True)) for z in tuples}
    draw.shuffle(tuples)
    if seed % 2:  # the first token is a feature: the classification has both answers
        tuples.sort(key=lambda z: z[0])
    leaves = [mass[z] for z in tuples]
    steps = []
    for t in range(3):
        width = 8 >> t
        heads = [sum(leaves[i : i + width // 2]) for i in range(0, 8, width)]
        wholes = [sum(leaves[i : i + width]) for i in range(0, 8, width)]
        steps.append([[h / w, 1 - h / w] for h, w in zip(heads, wholes, strict=True)])
    base = TabularModel.from_probabilities(steps, ["0", "1"])
    known = dict(zip([(a, b, c) for a in "01" for b in "01" for c in "01"], tuples, strict=True))
    masks = {"up": [0], "down": [1, 2]}
    report = verify(base, {"up": base, "down": base}, features=known.__getitem__, feature_masks=masks)
    conditions = report.features.conditions
    assert conditions["independent_given_prefix"].verdict is conditions["informs_about_one"].verdict


# Conditions, in fractions and in floats


def two_steps(rows: str, logs: bool) -> TabularModel:
    """The row of the first token, and those after `a` and `b`."""
    first, *later = ([Fraction(p) for p in row.split()] for row in rows.split(", "))
    if not logs:
        return TabularModel.from_probabilities([[first], later], ["a", "b"])
    with np.errstate(divide="ignore"):
        steps = [np.log(np.array(step, dtype=float)) for step in ([first], later)]
    return TabularModel.from_log_probs(steps, ["a", "b"])


BACKGROUND, UP, DOWN = ".3 .7, .2 .8, .2 .8", ".6 .4, .2 .8, .2 .8", ".3 .7, .6 .4, .6 .4"
FACTORIZED = [
    (BACKGROUND, UP, DOWN, HOLDS, "whole sequences compose exactly"),
    (".3 .7, .2 .8, .6 .4", UP, DOWN, REFUTED, "(a) under the background the blocks"),
    (BACKGROUND, UP, ".3 .7, .6 .4, .9 .1", REFUTED, "(b) down changes more"),
    (BACKGROUND, ".6 .4, .5 .5, .5 .5", DOWN, REFUTED, "(b) up changes more"),
    ("1 0, .2 .8, .2 .8", UP, "1 0, .6 .4, .6 .4", REFUTED, "(c) up makes features possible"),
    (BACKGROUND.replace(".2 .8", "1 0"), UP.replace(".2 .8", "1 0"), DOWN, REFUTED, "(c) down makes features possible"),
]


@pytest.mark.parametrize("logs", [False, True])
@pytest.mark.parametrize(("background", "up", "down", "verdict", "why"), FACTORIZED)
def test_factorized_conditionals_of_the_pushforwards(background, up, down, verdict, why, logs):
    """Definition 2.1: which condition fails, and of whom. Floats find what is broken, and never that nothing is."""
    base, *own = (two_steps(rows, logs) for rows in (background, up, down))
    experts, masks = dict(zip(("up", "down"), own, strict=True)), {"up": [0], "down": [1]}
    report = verify(base, experts, features=lambda y: y, feature_masks=masks, null_tokens="cancel")
    found = report.features.conditions["factorized_conditionals"]
    if logs and verdict is HOLDS:
        verdict, why = UNDECIDED, "floating point cannot tell"
    assert found.verdict is verdict
    assert why in found.why


ALIKE = [".3 .7, .2 .8, .2 .8", ".1 .9, .7 .3, .7 .3", "1/3 2/3, 1/7 6/7, 1/7 6/7"]
INFORMED = [*((rows, HOLDS) for rows in ALIKE), (".3 .7, .2 .8, .6 .4", REFUTED)]


@pytest.mark.parametrize("logs", [False, True])
@pytest.mark.parametrize(("background", "truth"), INFORMED)
def test_what_the_next_token_tells_of_features(background, truth, logs):
    """6.4, 6.4' (iv). Floats that are off by rounding leave open what holds, and refute what is far from it."""
    base = two_steps(background, logs)
    report = verify(base, {"up": base, "down": base}, features=lambda y: y, feature_masks={"up": [0], "down": [1]})
    conditions = report.features.conditions
    for name in ("independent_given_prefix", "informs_about_one"):
        assert conditions[name].verdict is (UNDECIDED if logs and truth is HOLDS else truth)
        assert conditions[name].witness == (((),) if truth is REFUTED else ())


def test_one_open_prefix_leaves_the_condition_open():
    """6.4: floats cannot tell whether the second token informs about the third, one bit off after `a b`; `b` is not
    reached. Its rows are logs, so that what fractions say of nearly the same models is no help."""
    almost = np.log([0.2, 0.8]), np.log([np.nextafter(0.2, 1), 0.8])
    with np.errstate(divide="ignore"):
        steps = [np.log([[1.0, 0.0]]), np.log([[0.3, 0.7]] * 2), np.array([*almost, *almost])]
    base = TabularModel.from_log_probs(steps, ["a", "b"])
    report = verify(base, {"up": base, "down": base}, features=lambda y: y, feature_masks={"up": [1], "down": [2]})
    assert report.features.conditions["informs_about_one"].verdict is UNDECIDED


@pytest.mark.parametrize("shift", [0.0, 2.0**27, 2.0**40])
def test_large_logits_are_not_taken_for_a_difference(shift):
    """After `a` and `b` the same row but for a constant, in which floats lose the digits of its probabilities."""
    row = np.array([0.0, 0.5])
    steps = FloatRows(row[None], "logits"), FloatRows(np.stack([row, row + shift]), "logits")
    base = TabularModel(("a", "b"), steps)
    report = verify(base, {"up": base, "down": base}, features=lambda y: y, feature_masks={"up": [0], "down": [1]})
    for name in ("independent_given_prefix", "informs_about_one", "factorized_conditionals"):
        assert report.features.conditions[name].verdict is UNDECIDED


def test_floats_know_what_no_token_can_tell():
    """The first token is certain, the second informs about its own feature alone: no rounding can change that."""
    base = two_steps("1 0, .2 .8, .2 .8", logs=True)
    report = verify(base, {"up": base, "down": base}, features=lambda y: y, feature_masks={"up": [0], "down": [1]})
    for name in ("independent_given_prefix", "informs_about_one", "causal"):
        assert report.features.conditions[name].verdict is HOLDS
    commutes = report["feature_commutes"]  # for a causal map whatever the models
    assert (commutes.verdict, commutes.residual, commutes.method) == (HOLDS, 0, "enumeration")


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("null_tokens", "background", "up", "down", "why"),
    [
        # the second token comes first: after `b`, down alone says `b`; in tokens `b` comes first, where up forbids it
        ("strict", "1/2 1/2, 1/2 1/2, 1 0", "1 0, 1/2 1/2, 1 0", "1/2 1/2, 1/2 1/2, 1/2 1/2", "a ratio is undefined"),
        ("cancel", "1 0, 1 0, 1/2 1/2", "1/2 1/2, 1 0, 1/2 1/2", "1 0, 1 0, 1/2 1/2", "the background never goes"),
    ],
)
def test_pushforwards_that_cannot_be_composed(null_tokens, background, up, down, why, exact):
    """6.2 asks for the composition in the order of the features, here the last token first."""
    base, *own = (two_steps(rows, logs=False) for rows in (background, up, down))
    experts = dict(zip(("up", "down"), own, strict=True))
    report = verify(base, experts, features=lambda y: y[::-1], null_tokens=null_tokens, exact=exact)
    assert report["well_defined"].verdict is HOLDS
    found = report["feature_commutes"]
    assert found.verdict is UNDECIDED
    assert f"after 'b' {why}" in found.why


@pytest.mark.parametrize("exact", [False, True])
def test_a_weighted_expert_without_a_law_has_no_pushforward(exact):
    """1.9: after `a`, where down does not let the composition go, up shares no token with the background."""
    base, up, down = (
        two_steps(rows, False) for rows in ("1/2 1/2, 1 0, 1/2 1/2", "1/2 1/2, 0 1, 1/2 1/2", "0 1, 1 0, 1/2 1/2")
    )
    report = verify(base, {"up": up, "down": down}, features=lambda y: y[::-1], weights={"up": 2}, exact=exact)
    assert report["well_defined"].verdict is HOLDS
    assert report["feature_commutes"].verdict is UNDECIDED
    assert "weighted, up reaches a prefix where it shares no token" in report["feature_commutes"].why


def test_without_masks_nothing_is_said_of_blocks():
    base = two_steps(BACKGROUND, logs=False)
    about = verify(base, {"up": base}, features=lambda y: y).features
    assert set(about.conditions) == {"bijective", "causal"}
    assert about.gaps == {}


@pytest.mark.parametrize(("features", "why"), [("xy", "onto all tuples"), ("xyz", "onto 4 of all tuples")])
def test_maps_onto_all_tuples_or_some(features, why):
    base = two_steps(BACKGROUND, logs=False)
    table = FeatureTable.from_tuples(list(product("xy", features[-2:])), ["a", "b"], 2)
    found = verify(base, {"up": base}, features=table).features.conditions["bijective"]
    assert found.verdict is HOLDS
    assert why in found.why


def test_numbers_in_floats_are_those_in_fractions():
    """The path oscillation, the gaps, and the witness, in plain floats."""
    found = []
    for logs in (True, False):
        base, up = two_steps(".3 .7, .2 .8, .6 .4", logs), two_steps(".6 .4, .5 .5, .7 .3", logs)
        experts = {"up": up, "twice": up}
        found.append(verify(base, experts, features=lambda y: y[::-1], feature_masks={"up": [0, 1]}))
    rounded, exact = found
    assert rounded.features.path_oscillation == pytest.approx(exact.features.path_oscillation, abs=1e-12)
    assert exact.features.path_oscillation > 0.1
    assert rounded.features.gaps["up"] == pytest.approx(tuple(map(float, exact.features.gaps["up"])), abs=1e-12)
    mine, truth = (report["feature_projective:up"] for report in found)
    assert (mine.method, mine.witness.tokens) == ("enumeration", truth.witness.tokens)
    assert mine.residual == pytest.approx(float(truth.residual), abs=1e-12)
    for name in ("composition", "expert"):
        assert (type(getattr(mine.witness, name)), type(getattr(truth.witness, name))) == (float, Fraction)
        assert getattr(mine.witness, name) == pytest.approx(float(getattr(truth.witness, name)), abs=1e-12)


# What cannot be asked


HALF = ["1/2", "1/2"]
BASE = TabularModel.from_probabilities([[HALF], [HALF, HALF]], ["a", "b"])
STATES = FiniteStateModel.from_states(
    {"q": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "q", "b": "q"}}}, ["a", "b"], "q"
)
CALLS = [
    ({"features": lambda y: y[:1]}, "'a a' and 'a b' have the same features, 'a'; needed a map that is one to one"),
    ({"feature_masks": {"up": [0]}}, "feature masks are given, and no feature map"),
    ({"require": "feature_commutes"}, "'feature_commutes' is about features, and no map is given"),
    ({"features": lambda y: y, "feature_masks": {"left": [0]}}, "a feature mask names 'left', which is no expert"),
    (
        {"features": lambda y: y, "feature_masks": {"up": [2]}},
        "the feature mask of up has coordinate 2; coordinates are",
    ),
    (
        {"features": lambda y: y, "feature_masks": {"up": [0], "down": [0]}},
        "the feature masks of up and down share coordinate 0",
    ),
    ({"features": lambda y: y, "feature_masks": "auto"}, "the feature masks are 'auto'; they must map experts"),
    ({"features": lambda y: y, "require": "feature_projective"}, "is about masks of features, and no expert has one"),
    (
        {"features": lambda y: y, "feature_masks": {"up": [0]}, "require": ["feature_projective:down"]},
        "names 'down', which has no mask of features",
    ),
    ({"features": lambda y: y, "require": ["feature_commutes:up"]}, "does not exist"),
]


@pytest.mark.parametrize(("options", "message"), CALLS, ids=[message[:40] for _, message in CALLS])
def test_what_cannot_be_asked(options, message):
    with pytest.raises(InputError) as error:
        verify(BASE, {"up": BASE, "down": BASE}, **options)
    assert message in str(error.value)


@pytest.mark.parametrize("features", ["features.json", 3, dict])
def test_what_is_no_map(features):
    with pytest.raises(TypeError, match="needed a feature map"):
        as_map(features)


def test_finite_state_models_of_a_length_are_tabulated():
    report = verify(STATES, {"up": STATES}, length=3, features=lambda y: y[::-1], feature_masks={"up": "0::2"})
    assert report["feature_projective:up"].verdict is HOLDS
    assert report.features.masks == {"up": (0, 2)}


@pytest.mark.parametrize(("vocabulary", "length"), [(["a"], 0), (["a"], 3), (["a", "b"], 0)])
def test_the_smallest_cases(vocabulary, length):
    """Length 0, and one token: nothing can differ."""
    steps = [[[1] if len(vocabulary) == 1 else HALF] * len(vocabulary) ** t for t in range(length)]
    base = TabularModel.from_probabilities(steps, vocabulary)
    masks = {"up": [0]} if length else {"up": []}
    report = verify(base, {"up": base}, features=lambda y: y[::-1], feature_masks=masks, require="feature_projective")
    assert report.verdict is HOLDS
    assert report["feature_commutes"].residual == 0
