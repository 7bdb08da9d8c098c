"""Finite-state models to time, and the same models as functions from prefixes to log-probabilities."""

import numpy as np
from jaxtyping import Float, Int

from factorcomp import FiniteStateModel, FunctionModel
from factorcomp.models.rows import FloatRows

Models = tuple[FiniteStateModel, dict[str, FiniteStateModel]]


def shared(states: int, vocab: int = 4, changed: float = 0.01) -> Models:
    """All models on one random structure, each expert with other rows in a share of the states."""
    rng = np.random.default_rng(0)
    following = rng.integers(0, states, (states, vocab))
    base = rng.dirichlet(np.ones(vocab), states)
    experts = {}
    for name in ("up", "down"):
        rows = base.copy()
        chosen = rng.random(states) < changed
        rows[chosen] = rng.dirichlet(np.ones(vocab), int(chosen.sum()))
        experts[name] = _model(following, rows)
    return _model(following, base), experts


def product(states: int) -> Models:
    """Each model on a structure of its own, uniform over four tokens but for one state in fifty of each expert."""
    rng = np.random.default_rng(0)

    def one(changed: float) -> FiniteStateModel:
        rows = np.full((states, 4), 1 / 4)
        rows[rng.random(states) < changed] = [0.4, 0.3, 0.2, 0.1]
        return _model(rng.integers(0, states, (states, 4)), rows)

    return one(0.0), {"up": one(0.02), "down": one(0.02)}


def as_function(model: FiniteStateModel) -> FunctionModel:
    """The same model as a function that walks the states along each prefix, in JAX."""
    following, logs = model.next.astype(np.int32), model.rows.log_probs(0, len(model.states))

    def log_probs(prefixes):
        import jax.numpy as jnp

        states = jnp.full(len(prefixes), model.initial, dtype=jnp.int32)
        for t in range(prefixes.shape[1]):
            states = jnp.asarray(following)[states, prefixes[:, t]]
        return jnp.asarray(logs)[states]

    return FunctionModel(log_probs, model.vocabulary)


def _model(following: Int[np.ndarray, "states vocab"], rows: Float[np.ndarray, "states vocab"]) -> FiniteStateModel:
    """A model without EOS."""
    tokens = tuple(f"t{y}" for y in range(rows.shape[1]))
    return FiniteStateModel(tokens, tuple(f"s{n}" for n in range(len(rows))), 0, FloatRows(rows, "probs"), following)
