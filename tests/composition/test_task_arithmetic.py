"""theory.md, section 9: merging parameters against composing logits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from factorcomp.composition.task_arithmetic import TaskArithmetic, merge
from factorcomp.models.errors import InputError

NOTHING = np.zeros((1, 0), dtype=int)
PREFIXES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def arrays(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape)


class Network(eqx.Module):
    """A small MLP on one-hot prefixes; its activation is no parameter."""

    layers: eqx.nn.MLP

    def __init__(self, key: jax.Array):
        self.layers = eqx.nn.MLP(4, 3, 5, 2, activation=jnp.tanh, key=key)

    def __call__(self, prefixes):
        hot = jax.nn.one_hot(prefixes, 2, dtype=self.layers.layers[0].weight.dtype)
        return jax.vmap(self.layers)(hot.reshape(len(prefixes), 4))


def networks(count: int, scale: float = 0.5) -> tuple[Network, dict[str, Network]]:
    """A background, and experts that differ from it by normal noise."""
    keys = jax.random.split(jax.random.key(7), count + 1)
    base = Network(keys[0])

    def noisy(key):
        leaves, structure = jax.tree.flatten(base)
        moved = [
            leaf + scale * jax.random.normal(jax.random.fold_in(key, n), leaf.shape) if eqx.is_array(leaf) else leaf
            for n, leaf in enumerate(leaves)
        ]
        return jax.tree.unflatten(structure, moved)

    return base, {f"expert{i}": noisy(key) for i, key in enumerate(keys[1:])}


def of_networks(count: int) -> TaskArithmetic:
    return TaskArithmetic.of(lambda network, prefixes: network(prefixes), *networks(count))


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5], [0.3, 0.3, 0.3]])
def test_log_linear_models_merge_to_their_composition(weights):
    """9.1: logits `W φ(h)` are affine in `W`, so that `E = 0` for every λ."""
    rng = np.random.default_rng(0)
    features = arrays(rng, 2, 2, 6)
    base, *own = (arrays(rng, 6, 5) for _ in range(4))
    task = TaskArithmetic.of(
        lambda w, p: jnp.asarray(features)[p[:, 0], p[:, 1]] @ w, base, dict(zip("abc", own, strict=True))
    )
    found = task.compare(PREFIXES, weights)
    np.testing.assert_allclose(found.error, 0.0, atol=1e-13)
    np.testing.assert_allclose(found.merged, found.composed, atol=1e-13)
    assert found.tv.max() < 1e-14
    assert found.merged.dtype == np.float64


def test_a_linearised_network_merges_to_its_composition():
    """9.1 for a network linearised at the background; the network itself does not (the control)."""
    task = of_networks(3)
    np.testing.assert_allclose(task.linearized().error(PREFIXES, [1.0, 0.5, 2.0]), 0.0, atol=1e-13)
    assert np.abs(task.error(PREFIXES)).max() > 1e-2


def test_a_bilinear_model():
    """`z = u v`, `u = v = 1`, `τ_1 = (1,0)`, `τ_2 = (0,1)`: merged 4, composed 3."""
    one = np.array(1.0)
    task = TaskArithmetic.of(
        lambda p, _: jnp.stack([p["u"] * p["v"], 0.0])[None],
        {"u": one, "v": one},
        {"first": {"u": 2 * one, "v": one}, "second": {"u": one, "v": 2 * one}},
    )
    found = task.compare(NOTHING)
    assert task.logits_at([1, 1], NOTHING)[0, 0] == 4
    assert found.composed[0, 0] - found.composed[0, 1] == pytest.approx(3, abs=1e-15)
    assert found.error.tolist() == [[1, 0]]
    assert task.cross_curvature(NOTHING, nodes=1)[0] == pytest.approx([1, 0], abs=1e-15)
    assert task.sampled_oscillation(NOTHING) == pytest.approx([1], abs=1e-15)


def test_separable_parameters_are_exact():
    """`z = sin u + v³`: nonlinear, and yet no cross curvature."""
    one = np.array(1.0)
    task = TaskArithmetic.of(
        lambda p, _: jnp.stack([jnp.sin(p[0]) + p[1] ** 3, 0.0])[None],
        [one, one],
        {"u": [3 * one, one], "v": [one, -one]},
    )
    assert task.error(NOTHING) == pytest.approx(0.0, abs=1e-14)
    assert task.cross_curvature(NOTHING) == pytest.approx(0.0, abs=1e-14)
    assert np.abs(task.error(NOTHING, [2.0, 2.0])).max() > 1  # the curvature along each vector


def test_linear_probabilities_are_not_linear_logits():
    """Merged (7/8, 1/8), composed (5/6, 1/6)."""
    task = TaskArithmetic.of(
        lambda p, _: jnp.log(p)[None],
        np.array([1 / 2, 1 / 2]),
        {"first": np.array([5 / 8, 3 / 8]), "second": np.array([3 / 4, 1 / 4])},
    )
    found = task.compare(NOTHING)
    np.testing.assert_allclose(np.exp(found.merged), [[7 / 8, 1 / 8]], atol=1e-15)
    np.testing.assert_allclose(np.exp(found.composed), [[5 / 6, 1 / 6]], atol=1e-15)
    assert found.tv[0] == pytest.approx(1 / 24)
    assert found.tv[0] <= found.bound[0]


def test_low_rank_factors_must_not_be_averaged_separately():
    """LoRA: deltas `B_i A_i` summed in one head compose; factors averaged one by one are bilinear and do not."""
    rng = np.random.default_rng(1)
    head, features = arrays(rng, 4, 3), arrays(rng, 2, 2, 4)
    down, up = [arrays(rng, 4, 1) for _ in range(2)], [arrays(rng, 1, 3) for _ in range(2)]

    def in_one_head(w, p):
        return jnp.asarray(features)[p[:, 0], p[:, 1]] @ w

    def in_factors(factors, p):
        return jnp.asarray(features)[p[:, 0], p[:, 1]] @ (jnp.asarray(head) + factors[0] @ factors[1])

    summed = TaskArithmetic.of(in_one_head, head, {n: head + down[i] @ up[i] for i, n in enumerate("ab")})
    zero = [np.zeros((4, 1)), np.zeros((1, 3))]
    separate = TaskArithmetic.of(in_factors, zero, {n: [down[i], up[i]] for i, n in enumerate("ab")})
    halves = [0.5, 0.5]
    np.testing.assert_allclose(summed.error(PREFIXES, halves), 0.0, atol=1e-13)
    assert np.abs(separate.error(PREFIXES, halves)).max() > 0.1
    for i in range(2):  # the experts are the same
        unit = np.eye(2)[i]
        np.testing.assert_allclose(summed.logits_at(unit, PREFIXES), separate.logits_at(unit, PREFIXES), atol=1e-13)


@pytest.mark.parametrize("count", [1, 3])
def test_only_cross_curvature_counts(count):
    """`E` is the integral of the mixed second derivatives; none for one expert."""
    task = of_networks(count)
    np.testing.assert_allclose(task.cross_curvature(PREFIXES, nodes=12), task.error(PREFIXES), atol=1e-6)
    assert (np.abs(task.error(PREFIXES)).max() < 1e-15) == (count == 1)


def test_the_error_is_of_second_order():
    """`E = O(s²)` under `τ -> s τ`: halving `s` quarters it."""
    task = of_networks(3)
    sizes = [np.abs(task.scaled(2.0**-n).error(PREFIXES)).max() for n in range(7, 10)]
    ratios = np.array(sizes[:-1]) / np.array(sizes[1:])
    np.testing.assert_allclose(ratios, 4.0, rtol=0.05)


def test_total_variation_is_bounded_by_the_oscillation():
    """`TV(merge, p^) <= tanh(osc(E)/4)` at each prefix; the sampled one is near the true oscillation's bound."""
    for scale in (0.1, 3.0):
        task = of_networks(3).scaled(scale)
        found = task.compare(PREFIXES)
        assert (found.tv <= found.bound + 1e-15).all()
        assert (found.tv > 0).all()
        assert (found.oscillation <= task.sampled_oscillation(PREFIXES, points=5) + 1e-12).all()


def test_the_bound_is_attained():
    """Two tokens, `E = (o, 0)`, `p^ ∝ (e^{-o/2}, 1)`: `TV = tanh(o/4)`."""
    task = TaskArithmetic.of(
        lambda p, _: jnp.stack([p[0] * p[1] - 0.5, 0.0])[None],
        [np.array(0.0), np.array(0.0)],
        {"u": [np.array(1.0), np.array(0.0)], "v": [np.array(0.0), np.array(1.0)]},
    )
    found = task.compare(NOTHING)
    assert found.tv[0] == pytest.approx(np.tanh(1 / 4), abs=1e-15)
    assert found.bound[0] == pytest.approx(np.tanh(1 / 4), abs=1e-15)


def test_merged_networks():
    """The merged tree has the logits `g(λ)`, the background's types and everything that is no parameter."""
    base, own = networks(2)
    merged = merge(base, own, {"expert1": 0.5})
    task = TaskArithmetic.of(lambda network, prefixes: network(prefixes), base, own)
    assert merged.layers.activation is base.layers.activation
    assert merged.layers.layers[0].weight.dtype == jnp.float32
    np.testing.assert_allclose(merged(PREFIXES), task.logits_at([1.0, 0.5], PREFIXES), atol=1e-5)


def test_masked_tokens():
    """A logit of -inf in all models is no error; one in some models alone is an infinite oscillation, and no NaN."""
    hidden = np.array([0.0, 1.0, -np.inf])
    task = TaskArithmetic.of(
        lambda p, _: (jnp.asarray(hidden) + p)[None],
        np.zeros(3),
        {"u": np.array([1.0, 0, 0]), "v": np.array([0, 1.0, 0])},
    )
    found = task.compare(NOTHING)
    assert found.error.tolist() == [[0, 0, 0]]
    assert found.oscillation.tolist() == [0]
    closed = TaskArithmetic.of(
        lambda p, _: jnp.where(p[0] > 0, -jnp.inf, jnp.zeros(2) + p[1])[None] * jnp.array([1.0, 0.0]) + 0.0,
        np.zeros(2),
        {"u": np.array([0.0, 1.0])},
    )
    assert np.isfinite(closed.compare(NOTHING).oscillation).all()
    shut = TaskArithmetic.of(
        lambda p, _: jnp.where(jnp.arange(2) < p[0], -jnp.inf, 0.0)[None],
        np.zeros(1),
        {"u": np.ones(1), "v": np.zeros(1)},
    )
    assert shut.compare(NOTHING, [0.0, 1.0]).oscillation.tolist() == [np.inf]
    together = TaskArithmetic.of(
        lambda p, _: jnp.where(jnp.arange(2) < p[0] - 1, -jnp.inf, 0.0)[None],
        np.zeros(1),
        {"u": np.ones(1), "v": np.ones(1)},
    )
    found = together.compare(NOTHING)  # only merged a token is closed
    assert np.isnan(found.error[0, 0])
    assert (found.tv[0], found.bound[0]) == (0.5, 1.0)


def test_only_arrays_of_floats_are_parameters():
    """An array of integers is the background's in every model."""
    task = TaskArithmetic.of(
        lambda p, _: jnp.stack([p[0] * p[1], 0.0])[None],
        [np.array(1.0), np.array(3)],
        {"u": [np.array(2.0), np.array(5)]},
    )
    assert task.logits_at([1.0], NOTHING).tolist() == [[6, 0]]


def test_jax_stays_as_configured():
    before = jnp.ones(1).dtype
    of_networks(2).compare(PREFIXES)
    assert jnp.ones(1).dtype == before


@pytest.mark.parametrize(
    ("experts", "message"),
    [
        ({}, "there is no expert"),
        ({"a": [np.ones(3)]}, r"expert 'a': \[0\]: found an array of shape \(3,\); needed \(2,\)"),
        ({"a": [np.ones(2), np.ones(2)]}, "its tree of parameters is not the background's"),
    ],
)
def test_wrong_trees(experts, message):
    with pytest.raises(InputError, match=message):
        TaskArithmetic.of(lambda p, _: p[0][None], [np.ones(2)], experts)


def test_wrong_weights():
    with pytest.raises(InputError, match="needed one for each of 2 experts"):
        of_networks(2).error(PREFIXES, [1.0])
