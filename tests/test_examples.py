"""The shipped examples: complete, readable, and what they promise is what the oracle finds."""

import json
from dataclasses import replace

import pytest

from tests import golden, oracle_automata, oracle_features
from tests.oracle import decide, tabulate

NAMES = golden.example_names()
ENDLESS = [name for name in NAMES if golden.about_example(name)["options"].get("length") == "every"]
TABLES = [name for name in NAMES if name not in ENDLESS]
KEYS = ["title", "statement", "why", "experts", "options", "expected"]


def verdicts(instance, name: str) -> dict[str, str]:
    """The verdict of every claim, by the oracle."""
    models = (instance.vocabulary, instance.eos, instance.background, instance.experts)
    claims = decide(*models, instance.question).claims
    if (file := golden.features_of_example(name)) is not None:
        case = tabulate(*models, replace(instance.question, masks=None))
        mapping = oracle_features.map_of(file, instance.vocabulary, case.length)
        masks = {owner: tuple(mask) for owner, mask in file["masks"].items()}
        claims += tuple(oracle_features.feature_claims(case, mapping, file["features"], masks))
    return {claim.name: str(claim.verdict) for claim in claims}


def test_there_are_examples():
    """The two of the toy task, and every folder that holds anything holds an example."""
    assert {"letters_AAC", "letters_ACA"} <= set(NAMES)
    assert sorted(path.name for path in golden.EXAMPLES.iterdir() if any(path.glob("*.json"))) == NAMES


def test_example_is_described():
    """Every example says the same things of itself, in one order; a title is one sentence, and of one example."""
    abouts = [golden.about_example(name) for name in NAMES]
    assert all(list(about) == KEYS for about in abouts)
    titles = [about["title"] for about in abouts]
    assert all(title.endswith(".") for title in titles)
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", ENDLESS)
def test_example_about_every_length_says_what_the_oracle_finds(name):
    """The same of finite-state models."""
    instance, about = golden.load_automata(name)
    found = oracle_automata.decide(instance)
    assert about["expected"] == {claim.name: str(claim.verdict) for claim in found.claims}


@pytest.mark.parametrize("name", TABLES)
def test_example_says_what_the_oracle_finds(name):
    """`expected` lists every claim that the models and options give rise to, with its verdict."""
    instance, about = golden.load_example(name)
    assert about["expected"] == verdicts(instance, name)


@pytest.mark.parametrize("name", TABLES)
def test_example_reads_well(name):
    """A row stands on a line of its own."""
    instance, _ = golden.load_example(name)
    for model in ("background", *instance.experts):
        text = (golden.EXAMPLES / name / f"{model}.json").read_text(encoding="utf-8")
        assert json.loads(text) == instance.model_json(model)
        lines = [line.strip().rstrip(",") for line in text.splitlines()]
        rows = [json.dumps([str(cell) for cell in row]) for step in instance.model(model) for row in step]
        assert [line for line in lines if line.startswith('["')] == rows


@pytest.mark.parametrize(
    "name", [name for name in TABLES if golden.load_example(name)[1]["expected"]["well_defined"] == "HOLDS"]
)
def test_examples_depend_on_their_experts(name):
    """Negative control: with every expert replaced by the background all claims but those about masks and ends hold."""
    instance, about = golden.load_example(name)
    for steps in instance.experts.values():
        steps[:] = instance.background
    after = verdicts(instance, name)
    claims = ("pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer", "local_equals_global")
    assert {after[claim] for claim in claims} == {"HOLDS"}
    refuted = [claim for claim in claims if about["expected"][claim] == "REFUTED"]
    assert all(after[claim] != about["expected"][claim] for claim in refuted)
