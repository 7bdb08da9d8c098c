"""What a network sees, and what it does not."""

import dataclasses
import doctest
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from toy_tasks import networks
from toy_tasks.networks import Architecture, Transformer, rotate

KINDS = ("tied", "window", "rotary", "learned", "none")
EOS = 4


def made(positions, **changes):
    return Transformer(Architecture(5, positions, width=8, **changes), key=jax.random.key(1))


def test_the_documentation():
    assert doctest.testmod(networks).failed == 0


@pytest.mark.parametrize("positions", KINDS)
def test_nothing_later_and_nothing_that_fills_up_is_seen(positions):
    """Row t depends on the prompt up to its EOS and on `answer[:t]` alone."""
    network = eqx.filter_jit(made(positions, layers=2))
    answer = jnp.array([1, 0, 2])
    rows = network(jnp.array([0, 3, EOS]), answer)
    wider = network(jnp.array([0, 3, EOS, EOS, EOS]), answer)
    assert np.allclose(rows, wider, atol=1e-5)
    for t in range(3):
        other = network(jnp.array([0, 3, EOS]), answer.at[t:].set(3))
        assert np.allclose(rows[: t + 1], other[: t + 1], atol=1e-5)
        assert not np.allclose(rows[t + 1 :], other[t + 1 :], atol=1e-5)


def test_a_window_sees_so_many_tokens_of_the_interleaved_text():
    """`y_t` is a function of the last `sees` tokens of `x_1 y_1 x_2 y_2 …`, and of no fewer."""
    network = made("window", layers=2, window=1)
    sees = network.shape.sees
    assert sees == 6
    prompt, answer = jnp.arange(8) % 4, (jnp.arange(8) + 1) % 4
    t, call = 6, eqx.filter_jit(network)
    row = call(prompt, answer)[t]  # y_t of 0, 1, 2, …: after x_0 y_0 … x_t
    moved = {}
    for back in range(2 * t + 1):  # 0 is x_t, 1 is y_{t-1}, 2 is x_{t-1}, …
        place = t - (back + 1) // 2
        changed = (
            (prompt.at[place].set(3 - prompt[place]), answer)
            if back % 2 == 0
            else (prompt, answer.at[place].set(3 - answer[place]))
        )
        moved[back] = not np.allclose(call(*changed)[t], row, atol=1e-6)
    assert not any(moved[back] for back in moved if back >= sees)
    assert moved[0]
    assert moved[sees - 1] or moved[sees - 2]


def test_without_positions_a_stretched_text_is_the_same_and_with_tied_ones_it_is_not():
    prompt, answer = jnp.array([0, 3, 1, EOS]), jnp.array([1, 0])
    positions = jnp.array([0, 5, 6, 11])
    for kind, same in (("none", True), ("tied", False)):
        network = made(kind)
        assert np.allclose(network(prompt, answer), network(prompt, answer, positions), atol=1e-5) == same


def test_tied_positions_are_relative():
    """Shifting all positions changes nothing: a rotation by differences alone."""
    network, prompt, answer = made("tied"), jnp.array([0, 3, 1, EOS]), jnp.array([1, 0])
    shifted = network(prompt, answer, jnp.arange(4) + 7)
    assert np.allclose(network(prompt, answer), shifted, atol=1e-4)


def test_rotation_is_that_of_equinox_at_its_positions():
    heads = jax.random.normal(jax.random.key(0), (6, 2, 8))
    theirs = jax.vmap(eqx.nn.RotaryPositionalEmbedding(8), in_axes=1, out_axes=1)(heads)
    assert np.allclose(rotate(heads, jnp.arange(6)), theirs, atol=1e-5)


def test_all_kinds_differ():
    prompt, answer = jnp.array([0, 3, 1, EOS]), jnp.array([1, 0])
    rows = [made(kind)(prompt, answer) for kind in KINDS if kind != "learned"]
    assert not any(np.allclose(a, b) for a, b in itertools.combinations(rows, 2))
    assert dataclasses.asdict(made("tied").shape)["positions"] == "tied"
