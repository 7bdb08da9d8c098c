"""The arithmetic of a block of prefixes, jitted once, so that compile time does not grow with length."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.operator import compose_rows, tilt


class Block(NamedTuple):
    """One block of prefixes under composition; `components` are the background and the (tilted) experts.

    `settled`: at most one expert differs from the background and none opens a token unseen, so that the composition is
    that component and `Z = 1` exactly (Lemma 1.8, Theorem 4.4 (2)); then `log_normalizer` and `nearest_tv` are exact
    zeros. `switching`: the row of the switching model; `switches`: it is settled to be the composition's.
    `error` bounds the rounding errors of `log_probs`, `log_normalizer` and of each total variation.
    """

    log_probs: Float[Array, "prefixes vocab"]
    components: Float[Array, "components prefixes vocab"]
    switching: Float[Array, "prefixes vocab"]
    log_normalizer: Float[Array, " prefixes"]
    nearest_tv: Float[Array, " prefixes"]
    expert_tv: Float[Array, "experts prefixes"]
    settled: Bool[Array, " prefixes"]
    undefined: Bool[Array, " prefixes"]
    dead: Bool[Array, " prefixes"]
    switches: Bool[Array, " prefixes"]
    error: Float[Array, " prefixes"]


def _size(logs: Float[Array, "models prefixes vocab"]) -> Float[Array, " prefixes"]:
    return jnp.where(logs > -jnp.inf, jnp.abs(logs), 0.0).max(axis=(0, 2))


def _error(
    background: Float[Array, "prefixes vocab"],
    experts: Float[Array, "experts prefixes vocab"],
    tilted: Float[Array, "experts prefixes vocab"],
    weights: Float[Array, " experts"],
) -> Float[Array, " prefixes"]:
    """Bounds the rounding of composing: the errors of the given rows, tilted and added, and of each sum on the way."""
    count, _, vocab = experts.shape
    eps = jnp.finfo(jnp.float64).eps
    given = 2 * eps * (vocab + 8 + 4 * jnp.maximum(_size(background[None]), _size(experts)))
    growth = jnp.where(weights == 1.0, 1.0, 8 * (1 + 2 * weights)).sum() + count + 1
    size = jnp.maximum(_size(tilted), _size(background[None]))
    return 4 * (growth * given + 2 * eps * (count + 1) ** 2 * size) + 2 * eps * (vocab + 8)


@partial(jax.jit, static_argnames="null_tokens")
def compose_block(
    background: Float[Array, "prefixes vocab"],
    experts: Float[Array, "experts prefixes vocab"],
    weights: Float[Array, " experts"],
    differs: Bool[Array, "experts prefixes"],
    deviates: Bool[Array, "experts prefixes"],
    null_tokens: NullTokens,
) -> Block:
    """Composes a block. `differs`: at threshold 0, `deviates`: at the user's, both decided exactly beforehand."""
    composed = compose_rows(background, experts, weights, null_tokens)
    tilted = tilt(background, experts, weights)
    components = jnp.concatenate([background[None], tilted])
    error = _error(background, experts, tilted, weights)

    opens = ((experts > -jnp.inf) & (background == -jnp.inf)).any(axis=(0, 2))
    settled = (differs.sum(axis=0) <= 1) & ~composed.undefined & ((null_tokens == "cancel") | ~opens)
    log_probs = jnp.where(settled[:, None], _pick(components, _sole(differs)), composed.log_probs)
    log_normalizer = jnp.where(settled, 0.0, composed.log_normalizer)

    probs = jnp.exp(components)
    tv = 0.5 * jnp.abs(probs - jnp.exp(log_probs)).sum(axis=-1)
    nearest_tv = jnp.where(settled, 0.0, tv.min(axis=0))
    nearest = (tv <= tv.min(axis=0) + 2 * error).argmax(axis=0)
    assigned = jnp.where(deviates.sum(axis=0) <= 1, _sole(deviates), nearest)
    expert_tv = jnp.where(differs, 0.5 * jnp.abs(probs[1:] - probs[0]).sum(axis=-1), 0.0)

    dead = ~composed.undefined & (log_normalizer == -jnp.inf)
    switching = _pick(components, assigned)
    undefined = composed.undefined
    switches = settled & (assigned == _sole(differs))
    return Block(
        log_probs,
        components,
        switching,
        log_normalizer,
        nearest_tv,
        expert_tv,
        settled,
        undefined,
        dead,
        switches,
        error,
    )


def _sole(flags: Bool[Array, "experts prefixes"]) -> Int[Array, " prefixes"]:
    """The component that a single flag points at: 0, the background, where there is none."""
    return jnp.where(flags.any(axis=0), flags.argmax(axis=0) + 1, 0)


def _pick(
    components: Float[Array, "components prefixes vocab"], which: Int[Array, " prefixes"]
) -> Float[Array, "prefixes vocab"]:
    return jnp.take_along_axis(components, which[None, :, None], axis=0)[0]
