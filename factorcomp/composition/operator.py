"""The composition operator at one prefix, in logs: theory.md, Definitions 1.1 and 1.3 and Proposition 1.9.

| symbol | here |
|---|---|
| `p_b(y|h)` | `background[..., y]`, a normalised log-probability |
| `p_i(y|h)` | `experts[i, ..., y]` |
| `λ_i` | `weights[i]`; `None` where all are 1 |
| `log Z(h)` | `log_normalizer` |

The functions take arrays of NumPy or of JAX and answer with the same; they can be jitted. `-inf` is a probability of
0, and supports are compared before anything is subtracted, so that NaN never arises.
"""

from typing import Any, NamedTuple

from jaxtyping import Bool, Float

from factorcomp.certificates.claims import NullTokens

Array = Any  # an array of NumPy or of JAX


class Composed(NamedTuple):
    """`log p^(.|h)`, `log Z(h)`, the tilted experts, and whether a ratio at `h` is undefined.

    At a dead prefix (`Z(h) = 0`) `log_normalizer` and all `log_probs` are -inf; at an undefined one they mean nothing.
    """

    log_probs: Float[Array, "*prefixes vocab"]
    log_normalizer: Float[Array, "*prefixes"]
    tilted: Float[Array, "experts *prefixes vocab"]
    undefined: Bool[Array, "*prefixes"]


def log_normalize(
    logs: Float[Array, "*prefixes vocab"],
) -> tuple[Float[Array, "*prefixes vocab"], Float[Array, "*prefixes"]]:
    """`l - logsumexp(l)` and `logsumexp(l)`; where all of `l` is -inf both are -inf."""
    xp = logs.__array_namespace__()
    top = logs.max(axis=-1)
    shift = xp.where(xp.isfinite(top), top, 0.0)[..., None]
    total = xp.exp(logs - shift).sum(axis=-1)
    alive = total > 0
    normalizer = xp.where(alive, shift[..., 0] + xp.log(xp.where(alive, total, 1.0)), -xp.inf)
    normalized = xp.where(alive[..., None], logs - xp.where(alive, normalizer, 0.0)[..., None], -xp.inf)
    return normalized, normalizer


def tilt(
    background: Float[Array, "*prefixes vocab"],
    experts: Float[Array, "experts *prefixes vocab"],
    weights: Float[Array, " experts"] | None,
) -> Float[Array, "experts *prefixes vocab"]:
    """The tilted experts `p_i^(λ_i) ∝ p_b (p_i/p_b)^λ_i` on the common support; as given where `λ_i = 1`."""
    if weights is None:
        return experts
    xp = background.__array_namespace__()
    weight = weights.reshape(-1, *([1] * background.ndim))
    common = (background > -xp.inf) & (experts > -xp.inf)
    ratio = xp.where(common, experts, 0.0) - xp.where(common, background, 0.0)
    tilted, _ = log_normalize(xp.where(common, background + weight * ratio, -xp.inf))
    return xp.where(weight == 1.0, experts, tilted)


def compose_rows(
    background: Float[Array, "*prefixes vocab"],
    experts: Float[Array, "experts *prefixes vocab"],
    weights: Float[Array, " experts"] | None,
    null_tokens: NullTokens,
) -> Composed:
    """`p^(y|h) = w(y|h) / Z(h)` with `w = p_b prod_i p_i^(λ_i)/p_b`.

    At a token with `p_b(y|h) = 0` the convention decides: `drop` gives it weight 0, `strict` is undefined if an expert
    makes it possible, `cancel` takes the probability of the one expert that does and is undefined if there are two. An
    expert of weight other than 1 that makes such a token possible is undefined under each (1.9 needs `p_i << p_b`).
    """
    xp = background.__array_namespace__()
    possible = background > -xp.inf
    opened = (experts > -xp.inf) & ~possible
    openers = opened.sum(axis=0)
    tilted = tilt(background, experts, weights)
    finite = tilted > -xp.inf
    base = xp.where(possible, background, 0.0)
    ratios = xp.where(finite & possible, xp.where(finite, tilted, 0.0) - base, xp.where(possible, -xp.inf, 0.0))
    weight_where_possible = base + ratios.sum(axis=0)
    if weights is None:
        error = xp.zeros_like(possible)
    else:
        error = (opened & (weights.reshape(-1, *([1] * background.ndim)) != 1.0)).any(axis=0)
    if null_tokens == "drop":
        weight_elsewhere = xp.full_like(background, -xp.inf)
    elif null_tokens == "strict":
        weight_elsewhere = xp.full_like(background, -xp.inf)
        error = error | (openers > 0)
    else:
        weight_elsewhere = xp.where(opened, experts, -xp.inf).max(axis=0)
        error = error | (openers > 1)
    log_probs, log_normalizer = log_normalize(xp.where(possible, weight_where_possible, weight_elsewhere))
    return Composed(log_probs, log_normalizer, tilted, error.any(axis=-1))
