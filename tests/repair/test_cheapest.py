"""theory.md 11.5 against every set of resets, and what it says of one that is made."""

import random
from fractions import Fraction

import pytest

from factorcomp.repair import repair
from factorcomp.repair.story import CLAIMS
from tests.repair import exhaustive
from tests.strategies import Instance, random_instance
from tests.subjects import models

MOST_PLACES = 8


def options(instance: Instance) -> dict:
    question = instance.question
    return {
        "length": question.length,
        "threshold": question.threshold,
        "scope": question.scope,
        "null_tokens": question.null_tokens,
        "weights": question.weights,
    }


def small_instance(seed: int) -> Instance:
    """An instance with few rows to take away, some at least."""
    rng = random.Random(seed)
    while True:
        instance = random_instance(rng, cap=32)
        if 1 <= len(exhaustive.places(instance)) <= MOST_PLACES:
            return instance


def check(seed: int) -> None:
    instance = small_instance(seed)
    for claim in CLAIMS:
        for kind in ("tv", "count"):
            least = exhaustive.least(instance, claim, kind)
            done = repair(*models(instance), require=claim, cost=kind, **options(instance))
            assert done.cost == pytest.approx(float(least.cost), abs=1e-12), (seed, claim, kind)
            assert done.least
            assert sum(expert.resets for expert in done.experts.values()) >= least.resets
            if least.cost == 0 or kind == "count":
                assert sum(expert.resets for expert in done.experts.values()) == least.resets, (seed, claim, kind)


@pytest.mark.parametrize("seed", range(60))
def test_the_cheapest_of_all_sets_of_resets(seed):
    """min over all sets of resets after which the claim holds on the new scope; the fewest resets where they are free."""
    check(seed)


@pytest.mark.campaign
def test_the_cheapest_of_all_sets_of_resets_campaign(pytestconfig):
    for seed in range(1000, 1000 + pytestconfig.getoption("--campaign")):
        check(seed)
