"""What happens at a block of prefixes."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.operator import compose_rows
from factorcomp.models.rows import EPS


class Block(NamedTuple):
    """One block of prefixes under composition; `components` are the background and the (tilted) experts.

    `settled`: at most one expert differs from the background and none opens a token unseen, so that the composition is
    that component and `Z = 1` exactly (Lemma 1.8, Theorem 4.4 (2)); then `log_normalizer` and `nearest_tv` are exact
    zeros. `switching`: the row of the switching model.
    `error` bounds the rounding errors of `log_probs`, `log_normalizer` and of each total variation.
    """

    log_probs: Float[np.ndarray, "prefixes vocab"]
    components: Float[np.ndarray, "components prefixes vocab"]
    switching: Float[np.ndarray, "prefixes vocab"]
    log_normalizer: Float[np.ndarray, " prefixes"]
    nearest_tv: Float[np.ndarray, " prefixes"]
    expert_tv: Float[np.ndarray, "experts prefixes"]
    settled: Bool[np.ndarray, " prefixes"]
    undefined: Bool[np.ndarray, " prefixes"]
    dead: Bool[np.ndarray, " prefixes"]
    error: Float[np.ndarray, " prefixes"]


def _size(logs: Float[np.ndarray, "models prefixes vocab"]) -> Float[np.ndarray, " prefixes"]:
    return np.where(logs > -np.inf, np.abs(logs), 0.0).max(axis=(0, 2))


def _error(
    background: Float[np.ndarray, "prefixes vocab"],
    experts: Float[np.ndarray, "experts prefixes vocab"],
    tilted: Float[np.ndarray, "experts prefixes vocab"],
    weights: Float[np.ndarray, " experts"] | None,
) -> Float[np.ndarray, " prefixes"]:
    """Bounds the rounding of composing: the errors of the given rows, tilted and added, and of each sum on the way."""
    count, _, vocab = experts.shape
    given = 2 * EPS * (vocab + 8 + 4 * np.maximum(_size(background[None]), _size(experts)))
    growth = count + 1 + (count if weights is None else np.where(weights == 1.0, 1.0, 8 * (1 + 2 * weights)).sum())
    size = np.maximum(_size(tilted), _size(background[None]))
    return 4 * (growth * given + 2 * EPS * (count + 1) ** 2 * size) + 2 * EPS * (vocab + 8)


def compose_block(
    background: Float[np.ndarray, "prefixes vocab"],
    experts: Float[np.ndarray, "experts prefixes vocab"],
    weights: Float[np.ndarray, " experts"] | None,
    differs: Bool[np.ndarray, "experts prefixes"],
    deviates: Bool[np.ndarray, "experts prefixes"],
    null_tokens: NullTokens,
) -> Block:
    """Composes a block. `differs`: at threshold 0, `deviates`: at the user's, both decided exactly beforehand."""
    composed = compose_rows(background, experts, weights, null_tokens)
    tilted = composed.tilted
    components = np.concatenate([background[None], tilted])
    error = _error(background, experts, tilted, weights)

    opens = ((experts > -np.inf) & (background == -np.inf)).any(axis=(0, 2))
    settled = (differs.sum(axis=0) <= 1) & ~composed.undefined & ((null_tokens == "cancel") | ~opens)
    log_probs = np.where(settled[:, None], _pick(components, _sole(differs)), composed.log_probs)
    log_normalizer = np.where(settled, 0.0, composed.log_normalizer)

    probs = np.exp(components)
    tv = 0.5 * np.abs(probs - np.exp(log_probs)).sum(axis=-1)
    nearest_tv = np.where(settled, 0.0, tv.min(axis=0))
    nearest = (tv <= tv.min(axis=0) + 2 * error).argmax(axis=0)
    assigned = np.where(deviates.sum(axis=0) <= 1, _sole(deviates), nearest)
    expert_tv = np.where(differs, 0.5 * np.abs(probs[1:] - probs[0]).sum(axis=-1), 0.0)

    dead = ~composed.undefined & (log_normalizer == -np.inf)
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


def _sole(flags: Bool[np.ndarray, "experts prefixes"]) -> Int[np.ndarray, " prefixes"]:
    """The component that a single flag points at: 0, the background, where there is none."""
    return np.where(flags.any(axis=0), flags.argmax(axis=0) + 1, 0)


def _pick(
    components: Float[np.ndarray, "components prefixes vocab"], which: Int[np.ndarray, " prefixes"]
) -> Float[np.ndarray, "prefixes vocab"]:
    return np.take_along_axis(components, which[None, :, None], axis=0)[0]
