"""The laws of the operator, on random rows with zeros, in NumPy and jitted in JAX (theory.md, section 1)."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorcomp.composition.operator import Composed, compose_rows, log_normalize, tilt
from factorcomp.composition.precision import float64

CONVENTIONS = ("strict", "drop", "cancel")


@st.composite
def rows(draw: st.DrawFn, experts: int | None = None, full_support: bool = False):
    """Background and experts as log-probabilities `[vocab]` and `[experts, vocab]`, from small weights."""
    vocab, count = draw(st.integers(1, 5)), experts or draw(st.integers(1, 4))
    weight = st.integers(1 if full_support else 0, 5)
    row = st.lists(weight, min_size=vocab, max_size=vocab).filter(any)
    with np.errstate(divide="ignore"):
        drawn = np.log([np.array(draw(row), dtype=float) for _ in range(count + 1)])
    normalized, _ = log_normalize(drawn)
    return normalized[0], normalized[1:]


def compose(background, experts, null_tokens="cancel", weights=None) -> Composed:
    weights = np.ones(len(experts)) if weights is None else np.array(weights, dtype=float)
    return compose_rows(background, experts, weights, null_tokens)


def same(found: Composed, expected: Composed) -> bool:
    """Equal, where both are defined."""
    if bool(found.undefined) != bool(expected.undefined):
        return False
    return bool(found.undefined) or close(found.log_probs, expected.log_probs)


def close(a, b) -> bool:
    return np.allclose(np.exp(a), np.exp(b), rtol=0, atol=1e-12) and ((a > -np.inf) == (b > -np.inf)).all()


@given(rows(experts=1))
def test_one_expert_gives_that_expert_back(models):
    """`k = 1`: `p^ = p_1` under `cancel`, and under `strict` where it is defined; then `Z = 1`."""
    background, experts = models
    for null_tokens in ("strict", "cancel"):
        composed = compose(background, experts, null_tokens)
        if not composed.undefined:
            assert close(composed.log_probs, experts[0])
            assert abs(composed.log_normalizer) < 1e-12
    assert not compose(background, experts, "cancel").undefined


@pytest.mark.parametrize("null_tokens", CONVENTIONS)
@given(models=rows())
def test_an_expert_equal_to_the_background_changes_nothing(models, null_tokens):
    background, experts = models
    more = np.concatenate([experts, background[None]])
    assert same(compose(background, more, null_tokens), compose(background, experts, null_tokens))


@pytest.mark.parametrize("null_tokens", CONVENTIONS)
@given(models=rows(), data=st.data())
def test_order_of_experts_is_irrelevant(models, null_tokens, data):
    background, experts = models
    order = data.draw(st.permutations(range(len(experts))))
    assert same(compose(background, experts[list(order)], null_tokens), compose(background, experts, null_tokens))


@pytest.mark.parametrize("null_tokens", CONVENTIONS)
@given(models=rows(), data=st.data())
def test_relabelling_commutes(models, null_tokens, data):
    background, experts = models
    order = list(data.draw(st.permutations(range(len(background)))))
    relabelled, composed = (
        compose(background[order], experts[:, order], null_tokens),
        compose(background, experts, null_tokens),
    )
    assert same(relabelled, composed._replace(log_probs=composed.log_probs[order]))


@pytest.mark.parametrize("null_tokens", ["strict", "drop"])
@given(models=rows(), beta=st.sampled_from([0.25, 0.5, 2.0, 3.0]))
def test_a_common_temperature_commutes(models, null_tokens, beta):
    """Proposition 1.9 (c), under `strict` and `drop`."""
    background, experts = models
    cold, _ = log_normalize(beta * np.stack([background, *experts]))
    composed = compose(background, experts, null_tokens)
    if composed.log_normalizer > -np.inf:
        tempered, _ = log_normalize(beta * composed.log_probs)
        assert same(compose(cold[0], cold[1:], null_tokens), composed._replace(log_probs=tempered))


def test_a_common_temperature_does_not_commute_under_cancel():
    """The counterexample of 1.9 (c): the negative control of the law above."""
    with np.errstate(divide="ignore"):
        background, experts = np.log([0.5, 0.5, 0.0]), np.log([[0.25, 0.25, 0.5], [0.25, 0.75, 0.0]])
    cold, _ = log_normalize(2.0 * np.stack([background, *experts]))
    tempered, _ = log_normalize(2.0 * compose(background, experts).log_probs)
    assert not close(compose(cold[0], cold[1:]).log_probs, tempered)


@given(models=rows(full_support=True), data=st.data())
def test_weights_are_tilts(models, data):
    """Proposition 1.9 (a): weights are the unweighted composition of the tilted experts."""
    background, experts = models
    weights = np.array(
        data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(experts), max_size=len(experts)))
    )
    assert same(compose(background, experts, weights=weights), compose(background, tilt(background, experts, weights)))


@pytest.mark.parametrize(
    ("null_tokens", "experts", "undefined", "expected"),
    [
        ("strict", [[0.5, 0.5]], True, None),
        ("drop", [[0.5, 0.5]], False, [1.0, 0.0]),
        ("cancel", [[0.5, 0.5]], False, [0.5, 0.5]),
        ("cancel", [[0.5, 0.5], [0.25, 0.75]], True, None),
        ("drop", [[0.5, 0.5], [0.25, 0.75]], False, [1.0, 0.0]),
        ("drop", [[0.0, 1.0]], False, [0.0, 0.0]),
    ],
)
def test_null_token_conventions(null_tokens, experts, undefined, expected):
    """Definition 1.3 at a background (1, 0), cell by cell; the last one is a dead prefix."""
    with np.errstate(divide="ignore"):
        composed = compose(np.log([1.0, 0.0]), np.log(experts), null_tokens)
    assert bool(composed.undefined) == undefined
    if expected is not None:
        assert np.exp(composed.log_probs) == pytest.approx(expected)
        assert (composed.log_normalizer == -np.inf) == (sum(expected) == 0)


def test_a_weighted_expert_must_not_open_a_token():
    """1.9 (a) needs `p_i << p_b`: undefined under every convention."""
    with np.errstate(divide="ignore"):
        background, experts = np.log([1.0, 0.0]), np.log([[0.5, 0.5]])
    assert all(compose(background, experts, null_tokens, weights=[2.0]).undefined for null_tokens in CONVENTIONS)


@pytest.mark.parametrize("null_tokens", CONVENTIONS)
@given(models=rows(experts=2))
def test_no_nan_and_rows_sum_to_one(models, null_tokens):
    background, experts = models
    composed = compose(background, experts, null_tokens)
    assert not np.isnan(composed.log_probs).any()
    assert not np.isnan(composed.log_normalizer)
    if not composed.undefined:
        total = np.exp(composed.log_probs).sum()
        assert total == pytest.approx(1.0 if composed.log_normalizer > -np.inf else 0.0)


@pytest.mark.parametrize("null_tokens", CONVENTIONS)
def test_jax_and_numpy_agree(null_tokens):
    """One text, two libraries; a batch of rows with zeros in every place."""
    rng = np.random.default_rng(0)
    with np.errstate(divide="ignore"):
        logs, _ = log_normalize(np.log(rng.integers(0, 3, (4, 500, 3)) * 1.0))
    weights = np.array([1.0, 2.0, 0.5])
    here = compose_rows(logs[0], logs[1:], weights, null_tokens)
    with float64():
        there = jax.jit(compose_rows, static_argnums=3)(logs[0], logs[1:], weights, null_tokens)
    assert (np.asarray(there.undefined) == here.undefined).all()
    defined = ~here.undefined
    assert close(np.asarray(there.log_probs)[defined], here.log_probs[defined])
