"""What happens at a block of prefixes: one text for arrays of NumPy and of JAX, where it is jitted."""

from typing import NamedTuple

from jaxtyping import Bool, Float, Int

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.operator import Array, compose_rows
from factorcomp.models.rows import EPS


class Block(NamedTuple):
    """One block of prefixes under composition; `components` are the background and the (tilted) experts.

    `settled`: at most one expert differs from the background and none opens a token unseen, so that the composition is
    that component and `Z = 1` exactly (Lemma 1.8, Theorem 4.4 (2)); then `log_normalizer` and `nearest_tv` are exact
    zeros. `switching`: the row of the switching model.
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
    error: Float[Array, " prefixes"]


def _size(logs: Float[Array, "models prefixes vocab"]) -> Float[Array, " prefixes"]:
    xp = logs.__array_namespace__()
    return xp.where(logs > -xp.inf, xp.abs(logs), 0.0).max(axis=(0, 2))


def _error(
    background: Float[Array, "prefixes vocab"],
    experts: Float[Array, "experts prefixes vocab"],
    tilted: Float[Array, "experts prefixes vocab"],
    weights: Float[Array, " experts"] | None,
) -> Float[Array, " prefixes"]:
    """Bounds the rounding of composing: the errors of the given rows, tilted and added, and of each sum on the way."""
    xp = background.__array_namespace__()
    count, _, vocab = experts.shape
    given = 2 * EPS * (vocab + 8 + 4 * xp.maximum(_size(background[None]), _size(experts)))
    growth = count + 1 + (count if weights is None else xp.where(weights == 1.0, 1.0, 8 * (1 + 2 * weights)).sum())
    size = xp.maximum(_size(tilted), _size(background[None]))
    return 4 * (growth * given + 2 * EPS * (count + 1) ** 2 * size) + 2 * EPS * (vocab + 8)


def compose_block(
    background: Float[Array, "prefixes vocab"],
    experts: Float[Array, "experts prefixes vocab"],
    weights: Float[Array, " experts"] | None,
    differs: Bool[Array, "experts prefixes"],
    deviates: Bool[Array, "experts prefixes"],
    null_tokens: NullTokens,
) -> Block:
    """Composes a block. `differs`: at threshold 0, `deviates`: at the user's, both decided exactly beforehand."""
    xp = background.__array_namespace__()
    composed = compose_rows(background, experts, weights, null_tokens)
    tilted = composed.tilted
    components = xp.concatenate([background[None], tilted])
    error = _error(background, experts, tilted, weights)

    opens = ((experts > -xp.inf) & (background == -xp.inf)).any(axis=(0, 2))
    settled = (differs.sum(axis=0) <= 1) & ~composed.undefined & ((null_tokens == "cancel") | ~opens)
    log_probs = xp.where(settled[:, None], _pick(components, _sole(differs)), composed.log_probs)
    log_normalizer = xp.where(settled, 0.0, composed.log_normalizer)

    probs = xp.exp(components)
    tv = 0.5 * xp.abs(probs - xp.exp(log_probs)).sum(axis=-1)
    nearest_tv = xp.where(settled, 0.0, tv.min(axis=0))
    nearest = (tv <= tv.min(axis=0) + 2 * error).argmax(axis=0)
    assigned = xp.where(deviates.sum(axis=0) <= 1, _sole(deviates), nearest)
    expert_tv = xp.where(differs, 0.5 * xp.abs(probs[1:] - probs[0]).sum(axis=-1), 0.0)

    dead = ~composed.undefined & (log_normalizer == -xp.inf)
    switching = _pick(components, assigned)
    undefined = composed.undefined
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
        error,
    )


def _sole(flags: Bool[Array, "experts prefixes"]) -> Int[Array, " prefixes"]:
    """The component that a single flag points at: 0, the background, where there is none."""
    xp = flags.__array_namespace__()
    return xp.where(flags.any(axis=0), flags.argmax(axis=0) + 1, 0)


def _pick(
    components: Float[Array, "components prefixes vocab"], which: Int[Array, " prefixes"]
) -> Float[Array, "prefixes vocab"]:
    xp = components.__array_namespace__()
    return xp.take_along_axis(components, which[None, :, None], axis=0)[0]
