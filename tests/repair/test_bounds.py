"""Where the least cost of intervals is out of reach: bounds from both sides, and they are bounds."""

import random

import pytest

from factorcomp.repair import repair, story
from factorcomp.repair.turns import NOBODY, in_intervals, in_one_order
from tests.repair.test_cheapest import interleaving_instance, options
from tests.strategies import random_instance
from tests.subjects import models


@pytest.mark.parametrize("seed", range(20))
def test_the_least_cost_lies_between_the_bounds(monkeypatch, seed):
    """pointwise <= least <= one order on all paths; what is found is a repair."""
    instance = interleaving_instance(seed) if seed % 2 else random_instance(random.Random(seed), cap=200)
    least = repair(*models(instance), **options(instance))
    monkeypatch.setattr(story, "MOST_WORK", 0)
    found = repair(*models(instance), **options(instance))
    assert found.lower_bound <= least.cost + 1e-12
    assert least.cost <= found.cost + 1e-12
    assert found.report["interval_joint"].verdict == "HOLDS"


def test_many_experts():
    """Twelve: 4096 sets of finished experts are too many, one order is not."""
    from factorcomp import TabularModel

    half, bent = ["1/2", "1/2"], ["1/4", "3/4"]
    base = TabularModel.from_probabilities([[half]], ["a", "b"])
    experts = {f"e{i}": TabularModel.from_probabilities([[bent]], ["a", "b"]) for i in range(12)}
    done = repair(base, experts)
    assert done.cost == done.lower_bound == 11 / 4
    assert done.least


@pytest.mark.parametrize("experts", range(5))
def test_turns(experts):
    """`2^k + k 2^(k-1)` states; who has finished is never active again."""
    turns = in_intervals(experts)
    assert len(turns.active) == 2**experts + experts * 2**experts // 2
    assert turns.active[0] == NOBODY
    reached = {(0, frozenset())}
    waiting = list(reached)
    while waiting:
        state, done = waiting.pop()
        for following in turns.following[state]:
            who, now = turns.active[state], turns.active[following]
            after = done | ({who} if who not in (NOBODY, now) else set())
            assert now not in after
            if (following, after) not in reached:
                reached.add((following, after))
                waiting.append((following, after))
    assert {state for state, _ in reached} == set(range(len(turns.active)))


def test_one_order_is_a_part_of_all():
    """With two experts in one order: states and moves."""
    turns = in_one_order([1, 0])
    assert turns.active == (NOBODY, 1, NOBODY, 0, NOBODY)
    assert turns.following == ((1, 3, 0), (1, 3, 2), (3, 2), (3, 4), (4,))
