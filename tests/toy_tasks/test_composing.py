"""Networks composed by the library's operator, and what is drawn from them, against naive loops."""

import doctest
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import factorcomp
from factorcomp import FunctionModel
from toy_tasks import composing
from toy_tasks.composing import Composition, failures, generate
from toy_tasks.networks import Architecture, Transformer

EOS = 2
NETWORKS = [Transformer(Architecture(3, width=8), key=jax.random.key(n)) for n in range(3)]
COMPOSITION = Composition.of(NETWORKS)
PROMPT = jnp.array([1, 0, EOS])
CALL = eqx.filter_jit(COMPOSITION)


@eqx.filter_jit
def logits(network, prefixes):
    return jax.vmap(lambda answer: network(PROMPT, answer)[-1])(prefixes)


def rows(network, prefixes):
    """After prefixes as they are, by plain NumPy."""
    found = np.float64(logits(network, prefixes))
    return found - np.log(np.exp(found).sum(axis=1, keepdims=True))


def test_the_documentation():
    assert doctest.testmod(composing).failed == 0


def test_networks_compose_as_their_tables_do():
    """At every prefix the composition is that of the library's tables of the same networks."""
    base, *experts = [
        FunctionModel(lambda prefixes, n=n: rows(n, prefixes), ("a", "b", "EOS"), eos="EOS") for n in NETWORKS
    ]
    table = factorcomp.compose(base, {"one": experts[0], "two": experts[1]}, length=3)
    for t in range(3):
        for index, prefix in enumerate(itertools.product(range(3), repeat=t)):
            if EOS not in prefix:
                answer = jnp.array([*prefix, *[EOS] * (3 - t)])
                assert np.allclose(CALL(PROMPT, answer)[t], table.steps[t].log_probs(index, index + 1)[0], atol=1e-4)


def test_greedy_answers_are_those_of_a_loop():
    prompts = jnp.array([[1, 0, EOS], [0, EOS, EOS], [1, 1, EOS]])
    found = generate(COMPOSITION, prompts, 4, sampled=jnp.array(False), key=jax.random.key(0))
    for prompt, answer in zip(prompts, found.tolist(), strict=True):
        naive = []
        while len(naive) < 4 and EOS not in naive:
            naive.append(int(CALL(prompt, jnp.array(naive, dtype=int))[-1].argmax()))
        assert answer == naive + [EOS] * (4 - len(naive))


def test_drawn_answers_have_their_probabilities():
    """Of 4,000 drawn answers each occurs as often as the product of its rows says: within five deviations."""
    size = 4000
    prompts = jnp.broadcast_to(PROMPT, (size, 3))
    drawn = np.asarray(generate(COMPOSITION, prompts, 2, sampled=jnp.array(True), key=jax.random.key(5)))
    first = np.exp(CALL(PROMPT, jnp.array([EOS, EOS]))[0])
    for token in range(3):
        second = np.exp(CALL(PROMPT, jnp.array([token, EOS]))[1]) if token != EOS else np.eye(3)[EOS]
        for after in range(3):
            expected = first[token] * second[after]
            share = (drawn == [token, after]).all(axis=1).mean()
            assert abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / size)


def test_failure_is_what_is_left_of_the_product_of_the_rows():
    """`1 - prod_t p(y_t | y_<t)` up to and with EOS; greedy success is that of generation."""
    prompts = np.array([[1, 0, EOS], [0, EOS, EOS]])
    greedy = np.asarray(generate(COMPOSITION, jnp.asarray(prompts), 4, sampled=jnp.array(False), key=jax.random.key(0)))
    for answers in (greedy, np.array([[0, 1, EOS, EOS], [EOS] * 4])):
        failure, likeliest = failures(COMPOSITION, prompts, answers, EOS)
        for prompt, answer, found, best, made in zip(prompts, answers, failure, likeliest, greedy, strict=True):
            logs = CALL(jnp.asarray(prompt), jnp.asarray(answer))
            length = answer.tolist().index(EOS) + 1 if EOS in answer else len(answer)
            right = np.exp(sum(float(logs[t, answer[t]]) for t in range(length)))
            assert np.isclose(found, 1 - right, atol=1e-5)
            assert best == (made == answer).all()


def test_tiny_failures_are_not_rounded_away():
    """Logits of 60 leave about 1e-26 for the wrong tokens: not 0."""
    network = NETWORKS[0]
    bias = jnp.array([60.0, 0.0, 0.0])
    sure = eqx.tree_at(lambda n: (n.head.weight, n.head.bias), network, (jnp.zeros_like(network.head.weight), bias))
    failure, greedy = failures(Composition.of([sure]), np.array([[1, EOS]]), np.array([[0, 0]]), EOS)
    assert np.isclose(failure[0], 4 * np.exp(-60.0), rtol=1e-6)
    assert greedy[0]
