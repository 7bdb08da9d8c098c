"""theory.md 11.5 against every set of resets, and what it says of one that is made."""

import random
from fractions import Fraction
from itertools import product

import pytest

from factorcomp.certificates.claims import Question
from factorcomp.repair import repair
from tests.repair import exhaustive
from tests.strategies import NAMES, Instance, normalised, random_instance
from tests.subjects import models

MOST_PLACES = 6


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


def interleaving_instance(seed: int) -> Instance:
    """On one path the experts take turns without an end, and two rows more; zeros, and tokens opened, at times.

    The cheapest pointwise repair costs little or nothing, disjoint intervals cost more.
    """
    rng = random.Random(seed)
    size, length, count = 2, rng.choice([3, 4]), rng.choice([2, 2, 3])
    zeros, eos = rng.random() < 0.4, rng.random() < 0.3

    def row():
        weights = [rng.randint(0 if zeros else 1, 5) for _ in range(size)]
        return normalised(weights if any(weights) else [1] * size)

    stop = normalised([0, 1])
    prefixes = [list(product(range(size), repeat=step)) for step in range(length)]
    background = [[stop if eos and 1 in prefix else row() for prefix in step] for step in prefixes]
    experts = {name: [list(step) for step in background] for name in NAMES[:count]}
    path = [rng.randrange(size) for _ in range(length)]
    index = [0]
    for token in path[:-1]:
        index.append(index[-1] * size + token)
    turns = [(t, h, NAMES[t % count]) for t, h in enumerate(index)]  # up, down, up again: nobody waits for anybody
    others = [(t, rng.randrange(size**t), rng.choice(list(experts))) for t in (1, 2)]
    for t, h, name in turns + others:
        if not (eos and 1 in prefixes[t][h]):
            experts[name][t][h] = row()
    question = Question(
        length=length,
        scope=rng.choice(["reachable", "reachable", "all"]),
        null_tokens=rng.choice(["cancel", "cancel", "drop", "strict"]),
        weights={"up": Fraction(2)} if not zeros and rng.random() < 0.3 else {},
    )
    tokens = ("a", "<eos>") if eos else ("a", "b")
    return Instance(tokens, "<eos>" if eos else None, background, experts, question, "interleaving")


def check(instance: Instance, seed: int) -> None:
    for (claim, kind), least in exhaustive.least(instance).items():
        done = repair(*models(instance), require=claim, cost=kind, **options(instance))
        resets = sum(expert.resets for expert in done.experts.values())
        assert done.cost == pytest.approx(float(least.cost), abs=1e-12), (seed, claim, kind)
        assert done.least
        assert resets >= least.resets
        if least.cost == 0 or kind == "count":
            assert resets == least.resets, (seed, claim, kind)


@pytest.mark.parametrize("seed", range(25))
def test_the_cheapest_of_all_sets_of_resets(seed):
    """min over all sets of resets after which the claim holds on the new scope; the fewest where they are free."""
    check(small_instance(seed), seed)


@pytest.mark.parametrize("seed", range(30))
def test_the_cheapest_disjoint_intervals(seed):
    """The same where experts take turns, so that intervals cost more than one expert at a time."""
    check(interleaving_instance(seed), seed)


def test_intervals_cost_more_in_many_of_these():
    costs = [
        [repair(*models(i), require=claim, **options(i)).cost for claim in ("pointwise_joint", "interval_joint")]
        for i in map(interleaving_instance, range(12))
    ]
    assert all(pointwise <= interval for pointwise, interval in costs)
    assert sum(pointwise < interval for pointwise, interval in costs) > 3


def opening_instance(null_tokens: str) -> Instance:
    """Only `up` makes `b` possible at the start; after it `up` and `down` clash at three prefixes."""
    sure, half = normalised([1, 0]), normalised([1, 1])
    up, down = normalised([1, 3]), normalised([5, 1])
    return Instance(
        ("a", "b"),
        None,
        [[sure], [half] * 2, [half] * 4],
        {
            "up": [[half], [half, up], [half, half, up, up]],
            "down": [[sure], [half, down], [half, half, down, down]],
        },
        Question(length=3, null_tokens=null_tokens),
    )


def test_it_pays_to_reset_who_opens_the_way_to_worse():
    """11.5 supposes a common support; here one reset at the start does what three further on would do."""
    instance = opening_instance("cancel")
    check(instance, -1)
    done = repair(*models(instance), cost="count", **options(instance))
    assert done.experts["up"].heaviest[0].prefix == ()
    assert done.cost == 1


def test_an_expert_may_be_reset_and_stay_active():
    """`up` acts at the start and after `a a`; in between it opens the way to three clashes, and is reset just there."""
    sure, half, up, down = normalised([1, 0]), normalised([1, 1]), normalised([1, 3]), normalised([5, 1])
    quiet, clash = [half] * 4, [half, half, up, up, half, half, half, half]
    instance = Instance(
        ("a", "b"),
        None,
        [[half], [sure, half], quiet, [half] * 8],
        {
            "up": [[up], [half, half], [up, up, half, half], clash],
            "down": [[half], [sure, half], [half, down, half, half], [half, half, down, down, *[half] * 4]],
        },
        Question(length=4),
    )
    done = repair(*models(instance), cost="count", **options(instance))
    assert [reset.prefix for reset in done.experts["up"].heaviest] == [("a",)]
    assert done.cost == exhaustive.least(instance)["interval_joint", "count"].cost == 1


def test_what_is_dropped_is_not_reached():
    """Under `drop` the composition never comes to the clashes: there is nothing to repair."""
    instance = opening_instance("drop")
    check(instance, -2)
    assert repair(*models(instance), cost="count", **options(instance)).cost == 0


@pytest.mark.campaign
def test_the_cheapest_of_all_sets_of_resets_campaign(pytestconfig):
    for seed in range(1000, 1000 + pytestconfig.getoption("--campaign")):
        check(small_instance(seed), seed)
        check(interleaving_instance(seed), seed)
