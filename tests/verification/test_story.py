"""verify(): golden cases by both engines, real networks, functions, relabelling, claims left to the kernel."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from factorcomp.certificates.claims import Verdict
from factorcomp.composition import compose
from factorcomp.formats import load
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel
from factorcomp.verification import kernel, verify
from factorcomp.verification.story import check_models
from tests import golden
from tests.subjects import models, undecided

CHAR_LSTM = Path(__file__).resolve().parents[3] / "shared" / "data" / "char_lstm"
needs_golden = pytest.mark.skipif(not golden.names(), reason="../shared/golden is absent")
needs_data = pytest.mark.skipif(not CHAR_LSTM.exists(), reason="../shared/data/char_lstm is absent")


@needs_golden
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", golden.names())
def test_golden_case(name, exact):
    """Every case comes out as computed, by the engine (with what it leaves open) and by the kernel alone."""
    instance, expected = golden.load(name)
    question = instance.question
    background, experts = models(instance)
    report = verify(background, experts, masks=question.masks, null_tokens=question.null_tokens, exact=exact)
    assert golden.compare(report.findings, expected) == []


@pytest.mark.parametrize("name", golden.example_names())
def test_example(name):
    """The shipped examples, read from their files, say what they promise."""
    folder = golden.EXAMPLES / name
    about = json.loads((folder / "example.json").read_text())
    experts = {expert: load(folder / f"{expert}.json") for expert in about["experts"]}
    options = golden.options_of_example(name)
    report = verify(load(folder / "background.json"), experts, **options)
    assert {result.name: str(result.verdict) for result in report.claims} == expected_of(about, report)


def expected_of(about: dict, report) -> dict[str, str]:
    """Where the composition is undefined only that is promised."""
    if about["expected"].get("well_defined") == "REFUTED":
        return {result.name: "UNDECIDED" for result in report.claims} | {"well_defined": "REFUTED"}
    return about["expected"]


@pytest.mark.parametrize("options", [{}, {"scope": "all"}, {"threshold": 1}], ids=str)
@pytest.mark.parametrize("name", golden.example_names())
def test_the_kernel_says_what_the_engine_says(name, options):
    """The sentences of both are the same where the verdicts are: they are written twice, as nothing is shared."""
    folder = golden.EXAMPLES / name
    about = json.loads((folder / "example.json").read_text())
    experts = {expert: load(folder / f"{expert}.json") for expert in about["experts"]}
    asked = golden.options_of_example(name) | options
    engine, exact = (verify(load(folder / "background.json"), experts, **asked, exact=exact) for exact in (False, True))
    assert {result.name: result.why for result in engine.claims} == {result.name: result.why for result in exact.claims}


@pytest.fixture(scope="module")
def networks():
    names = {"hn": "hacker_news", "legal": "legal_advice"}
    return load(CHAR_LSTM / "base.safetensors"), {k: load(CHAR_LSTM / f"{v}.safetensors") for k, v in names.items()}


@needs_data
@pytest.mark.parametrize("threshold", [0, 1])
def test_real_networks(networks, threshold):
    """Trained networks never agree exactly; the kernel confirms every verdict and witness on a shorter length."""
    report = verify(*networks, threshold=threshold, masks={"hn": [0, 2], "legal": [1]}, length=3)
    exact = verify(*networks, threshold=threshold, masks={"hn": [0, 2], "legal": [1]}, length=3, exact=True)
    assert report.verdict is Verdict.REFUTED
    assert golden.differences(report.findings, exact.findings) == []
    assert {c.method for c in exact.claims} == {"rational"}


@needs_data
def test_real_networks_at_their_horizon(networks):
    """Horizon 5: 30,941 prefixes, of which EOS-free ones deviate at threshold 0."""
    assert verify(*networks, scope="all").prefixes == 30_941
    report = verify(*networks)
    assert report.question.length == 5
    assert report.measures.experts["hn"].deviating_prefixes == sum(12**t for t in range(5))
    assert report["interval_joint"].witness.prefix == ()


def coin(p: float):
    """A function from prefixes to log-probabilities that ignores the prefix."""
    row = np.log([p, 1 - p])
    return FunctionModel(lambda prefixes: jnp.broadcast_to(row, (len(prefixes), 2)), ("a", "b"))


def test_functions_are_verified_like_their_tables():
    background, expert = coin(0.5), coin(0.25)
    by_function = verify(background, {"up": expert}, length=4)
    by_table = verify(background.tabulate(4), {"up": expert.tabulate(4)})
    assert golden.differences(by_function.findings, by_table.findings) == []
    assert by_function.measures.experts["up"].deviating_prefixes == 15
    with pytest.raises(InputError, match="give the length"):
        verify(background, {"up": expert})


def test_relabelled_vocabulary_changes_nothing():
    """An expert whose file lists the tokens in another order is the same expert."""
    background = TabularModel.from_probabilities([["1/2", "1/2"], [["1/2", "1/2"], ["1/4", "3/4"]]], ["a", "b"])
    expert = TabularModel.from_probabilities([["1/4", "3/4"], [["1", "0"], ["1/2", "1/2"]]], ["a", "b"])
    mirrored = TabularModel.from_probabilities([["3/4", "1/4"], [["1/2", "1/2"], ["0", "1"]]], ["b", "a"])
    report, other = verify(background, {"x": expert}), verify(background, {"x": mirrored})
    assert golden.differences(report.findings, other.findings) == []
    assert other.notes
    assert not report.notes


def test_what_floating_point_leaves_open_goes_to_the_kernel(monkeypatch):
    """Theorem 4.4 (3'): the composition is the background, which floats cannot tell from almost the background."""
    background = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    up = TabularModel.from_probabilities([["1/3", "2/3"]], ["a", "b"])
    down = TabularModel.from_probabilities([["2/3", "1/3"]], ["a", "b"])
    settled = verify(background, {"up": up, "down": down})["exact_switching"]
    assert (settled.verdict, settled.method, settled.residual) == (Verdict.HOLDS, "rational", 0)
    monkeypatch.setattr(kernel, "NUMBERS_TO_SETTLE", 0)
    left_open = verify(background, {"up": up, "down": down})
    assert undecided(left_open.findings) == {"exact_switching"}
    assert "floating point" in left_open["exact_switching"].why


def test_composition_of_a_factorized_pair_keeps_every_claim():
    """Composing, writing it down and verifying it against its background finds one expert that does all they did."""
    background = TabularModel.from_probabilities([["1/2", "1/2"], [["1/2", "1/2"]] * 2], ["a", "b"])
    up = TabularModel.from_probabilities([["1/4", "3/4"], [["1/2", "1/2"]] * 2], ["a", "b"])
    down = TabularModel.from_probabilities([["1/2", "1/2"], [["1/3", "2/3"]] * 2], ["a", "b"])
    composed = compose(background, {"up": up, "down": down})
    report = verify(background, {"both": composed})
    assert report.measures.experts["both"].deviating_prefixes == 3


def test_length_zero_and_one_token():
    """Nothing can fail where nothing happens."""
    one = TabularModel.from_probabilities([["1"], [["1"]]], ["a"])
    assert {c.verdict for c in verify(one, {"x": one}, length=0).claims} == {Verdict.HOLDS}
    assert {c.verdict for c in verify(one, {"x": one}).claims} == {Verdict.HOLDS}


def test_one_claim_may_be_required_by_its_name():
    report = verify(coin(0.5), {"up": coin(0.25)}, length=2, require="exact_switching")
    assert (report.required, report.verdict) == (("exact_switching",), Verdict.HOLDS)


@pytest.mark.parametrize(
    ("background", "experts", "message"),
    [
        (coin(0.5), [coin(0.5)], "experts: got a list, needed a mapping from names to models, such as {'up': model}"),
        (coin(0.5), coin(0.5), "experts: got a FunctionModel, needed a mapping"),
        (coin(0.5), {"up": "up.json"}, "up: got 'up.json', needed a model: factorcomp.load"),
        ("base.json", {"up": coin(0.5)}, "background: got 'base.json', needed a model"),
        (coin(0.5), {"up": 3}, "up: got a int, needed a model"),
    ],
)
def test_what_is_no_model_is_told_how_to_be_one(background, experts, message):
    """Asked directly: under test the annotations of `verify` and `doctor` refuse these before they are looked at."""
    with pytest.raises(TypeError, match=message):
        check_models(background, experts)


def test_every_prefix_shown_carries_every_model():
    """A witness comes with the models' rows at the failing step."""
    instance, _ = golden.load_example("overlap_amplified")
    report = verify(*models(instance))
    (step,) = report.steps["pointwise_joint"]
    assert step.prefix == report["pointwise_joint"].witness.prefix
    assert set(step.experts) == set(report.experts)
    assert np.isclose(sum(step.composition), 1.0)


@pytest.mark.parametrize("exact", [False, True])
def test_a_dropped_token_is_no_unit_normalizer_in_logs(exact):
    """Theorem 4.4 (2) needs absolute continuity under `drop`: one expert deviates, and Z = 1/2."""
    with np.errstate(divide="ignore"):
        background = TabularModel.from_log_probs([np.log([1.0, 0.0])], ["a", "b"])
        expert = TabularModel.from_log_probs([np.log([0.5, 0.5])], ["a", "b"])
    report = verify(background, {"opens": expert}, null_tokens="drop", exact=exact)
    assert report["unit_normalizer"].verdict is Verdict.REFUTED
    assert report["pointwise_joint"].verdict is Verdict.HOLDS


@pytest.mark.parametrize("exact", [False, True])
def test_a_fractional_weight_is_compared_by_powers(exact):
    """The tilt of (1/10, 9/10) by 1/2 over the uniform background is (1/4, 3/4), whatever was before."""
    half = ["1/2", "1/2"]
    background = TabularModel.from_probabilities([[half], [half, half]], ["a", "b"])
    squared = TabularModel.from_probabilities([[half], [["1/10", "9/10"], ["1/10", "9/10"]]], ["a", "b"])
    other = TabularModel.from_probabilities([[half], [["1/10", "9/10"], ["1/10", "9/10"]]], ["a", "b"])
    report = verify(background, {"up": squared}, weights={"up": "1/2"}, masks={"up": [1]}, exact=exact)
    assert report["factorized_conditionals"].verdict is Verdict.HOLDS
    both = verify(background, {"up": squared, "down": other}, weights={"up": "1/2"}, exact=exact)
    assert both["pointwise_joint"].verdict is Verdict.REFUTED
