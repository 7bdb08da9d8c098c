"""Task arithmetic on random networks: what section 9 of the theory says, and that a wrong order would be seen."""

import doctest

import equinox as eqx
import jax
import numpy as np
import pytest

from factorcomp.composition.task_arithmetic import TaskArithmetic
from toy_tasks.letter_substitution import arithmetic
from toy_tasks.letter_substitution.arithmetic import errors, logits_of, prefixes, slope, success
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.networks import Architecture, Transformer
from toy_tasks.training import Family, Trained

TASK, SHAPE = Letters(), Architecture(17, width=8)
PROMPTS = np.array([TASK.tokens("ACP"), [*TASK.tokens("A"), 16, 16]])
PLACES, TOKENS = prefixes(PROMPTS, PROMPTS, 16)
BASE = Transformer(SHAPE, key=jax.random.key(0))


def near(seed, scale=0.3):
    """The network `BASE` with all weights moved at random."""
    other = Transformer(SHAPE, key=jax.random.key(seed))
    return jax.tree.map(lambda a, b: a + scale * b if eqx.is_inexact_array(a) else a, BASE, other)


@pytest.fixture(scope="module")
def found():
    return errors(TaskArithmetic.of(logits_of(4), BASE, {"A->B": near(1), "C->D": near(2)}), PLACES, TOKENS)


def test_the_documentation():
    assert doctest.testmod(arithmetic).failed == 0


def test_every_prefix_up_to_eos_is_there_once():
    assert len(PLACES) == 4 + 2
    assert TOKENS.tolist() == [0, 2, 15, 16, 0, 16]


def test_logits_are_those_of_the_network_after_the_prefix():
    rows = np.asarray(logits_of(4)(BASE, PLACES))
    for row, place in zip(rows, PLACES, strict=True):
        alone = eqx.filter_jit(BASE)(place[:4], place[4:8])[place[-1]]
        assert np.allclose(row, alone, atol=1e-5)


def test_theorem_9_2_the_error_is_of_second_order(found):
    assert found["slope"]["oscillation_mean"] == pytest.approx(2, abs=0.1)
    assert found["slope"]["oscillation_max"] == pytest.approx(2, abs=0.1)
    assert found["of_second_order"] == 1
    for row in found["scales"]:
        assert row["tv_max"] <= row["bound_max"] + 1e-12
        assert row["error_max"] > 1e-10


def test_with_one_expert_the_merged_network_is_the_expert():
    one = TaskArithmetic.of(logits_of(4), BASE, {"A->B": near(1)}).compare(PLACES)
    assert np.abs(one.error).max() < 1e-12
    assert one.tv.max() < 1e-12


def test_theorem_9_1_linearised_both_are_equal_to_rounding(found):
    linear = found["linearized"]
    assert linear["error_max"] <= 1e-13 * max(1.0, linear["largest_logit"])
    assert linear["tv_max"] < 1e-13
    assert found["scales"][0]["error_max"] > 1e-3


def test_the_slope_tells_orders_apart():
    rows = [{"scale": s, "x": 2 * s**3} for s in arithmetic.SCALES]
    assert slope(rows, "x") == pytest.approx(3)


def test_success_of_one_expert_is_the_same_merged_or_composed():
    family = Family(Trained(BASE, [], 0.0), {"A->B": Trained(near(1), [], 0.0)})
    row = success(family, ["A->B"], PROMPTS)
    assert row["merged_failure"] == pytest.approx(row["composed_failure"], abs=1e-5)
    assert row["merged_greedy"] == row["composed_greedy"]
