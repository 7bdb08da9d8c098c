"""Every engine answers every question alike: verdicts, witnesses, measures, sets of prefixes; floats within 1e-9.

The engine in floating point may leave a claim open (UNDECIDED) where only rationals can tell: where the residual is 0,
or next to it. Nothing else may differ.
"""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from factorcomp.certificates.claims import Findings, Verdict
from tests import golden
from tests.strategies import STRUCTURES, Instance, instances, random_instance
from tests.subjects import by_definition, by_enumeration, by_kernel, undecided


def disagreements(found: Findings, truth: Findings) -> list[str]:
    """What differs, but for claims that `found` leaves open and `truth` does not, as their residual is tiny."""
    opened = set() if found.measures is None else undecided(found) - undecided(truth)
    opened = {name for name in opened if float(truth[name].residual or 0) <= 1e-12}
    differences = golden.differences(replace(found, unsettled=frozenset()), truth)
    return [line for line in differences if not any(f"[{name}]" in line for name in opened)]


@settings(max_examples=150)
@given(instances(cap=64))
def test_kernel_agrees_with_the_definitions(instance: Instance):
    assert disagreements(by_kernel(instance), by_definition(instance)) == []


@settings(max_examples=150)
@given(instances(cap=64))
def test_enumeration_agrees_with_the_definitions(instance: Instance):
    assert disagreements(by_enumeration(instance), by_definition(instance)) == []


@pytest.mark.parametrize("structure", STRUCTURES)
def test_all_agree_on_a_few_instances(structure: str):
    """Seeded: what fails here fails soon, and again."""
    rng = random.Random(structure)
    for _ in range(6):
        instance = random_instance(rng, structures=[structure], cap=64)
        truth = by_definition(instance)
        assert disagreements(by_kernel(instance), truth) == [], instance
        assert disagreements(by_enumeration(instance), truth) == [], instance


def test_where_one_expert_deviates_at_a_time_nothing_is_left_open():
    """Lemma 1.8 and Theorems 1.5, 4.4 (2): these claims are then exact in floating point too, their residual is a 0."""
    decided = 0
    for seed in range(50):
        instance = random_instance(random.Random(seed), cap=64)
        question = replace(instance.question, threshold=Fraction(0))
        truth = by_definition(instance := replace(instance, question=question))
        if question.null_tokens == "drop" or truth["pointwise_joint"].verdict is not Verdict.HOLDS:
            continue
        found = by_enumeration(instance)
        for claim in ("exact_switching", "unit_normalizer", "local_equals_global"):
            assert (found[claim].verdict, found[claim].residual) == (Verdict.HOLDS, 0.0), f"seed {seed}: {instance}"
            assert claim not in found.unsettled
        decided += 1
    assert decided > 10


def test_a_disagreement_is_seen():
    """The comparison can fail: the same question at another threshold has other deviations."""
    rng = random.Random(0)
    instance = next(i for i in (random_instance(rng, structures=["sparse"]) for _ in range(99)) if conflicts(i))
    broken = type(instance)(**{**vars(instance), "experts": dict.fromkeys(instance.experts, instance.background)})
    assert disagreements(by_enumeration(broken), by_definition(instance))


def conflicts(instance: Instance) -> bool:
    """Whether two experts are active at once."""
    findings = by_definition(instance)
    return findings.measures is not None and findings["interval_joint"].verdict is Verdict.REFUTED


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(8))
def test_campaign(part: int, request: pytest.FixtureRequest):
    """Engine, kernel and oracle on many instances, named by their seeds."""
    for seed in range(part, request.config.getoption("--campaign"), 8):
        instance = random_instance(random.Random(seed), cap=128)
        truth = by_definition(instance)
        assert disagreements(by_enumeration(instance), truth) == [], f"seed {seed}: {instance}"
        assert disagreements(by_kernel(instance), truth) == [], f"seed {seed}: {instance}"
