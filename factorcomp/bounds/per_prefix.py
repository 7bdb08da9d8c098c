"""How far two next-token distributions are apart, and what bounds it, prefix by prefix. Source: theory.md 8.1.

| symbol | here |
|---|---|
| `p`, `q ∝ p e^f` | `log_p`, `log_q`: logs, `[..., vocab]`; -inf is a probability of 0 |
| `f` | `tilt`, read on the support of `p` alone; -inf where `q` excludes a token of it |
| `o = osc(f)` | `oscillation_of(tilt, log_p)`; inf where `f` is -inf at some token |

Functions of arrays of NumPy or JAX, `[..., vocab]` to `[...]`. What is infinite is inf; NaN never arises.
"""

from typing import Any

from jaxtyping import Float

Array = Any  # an array of NumPy or of JAX


def total_variation(
    log_p: Float[Array, "*prefixes vocab"], log_q: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes"]:
    """`TV(p, q) = ½ sum_y |p(y) - q(y)|`.

    >>> import numpy as np
    >>> total_variation(np.log([0.5, 0.5]), np.log([0.25, 0.75])).item()
    0.25
    """
    xp = log_p.__array_namespace__()
    return 0.5 * xp.abs(xp.exp(log_p) - xp.exp(log_q)).sum(axis=-1)


def divergence(
    log_p: Float[Array, "*prefixes vocab"], log_q: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes"]:
    """`KL(p || q)`, at least 0; inf where `q` excludes a token of the support of `p`."""
    xp = log_p.__array_namespace__()
    possible, excluded = log_p > -xp.inf, log_q == -xp.inf
    both = possible & ~excluded
    terms = xp.exp(log_p) * (xp.where(both, log_p, 0.0) - xp.where(both, log_q, 0.0))
    return xp.where((possible & excluded).any(axis=-1), xp.inf, xp.maximum(terms.sum(axis=-1), 0.0))


def log_ratio(
    log_w: Float[Array, "*prefixes vocab"], log_p: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes vocab"]:
    """`f = log w - log p` on the support of `p`, 0 off it, where nothing reads it."""
    xp = log_p.__array_namespace__()
    possible = log_p > -xp.inf
    return xp.where(possible, log_w, 0.0) - xp.where(possible, log_p, 0.0)


def oscillation_of(
    tilt: Float[Array, "*prefixes vocab"], log_p: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes"]:
    """`osc(f) = max f - min f` over the support of `p`; inf where `f` is not finite there."""
    xp = log_p.__array_namespace__()
    possible = log_p > -xp.inf
    high = xp.where(possible, tilt, -xp.inf).max(axis=-1)
    low = xp.where(possible, tilt, xp.inf).min(axis=-1)
    finite = xp.isfinite(high) & xp.isfinite(low)
    return xp.where(finite, xp.where(finite, high, 0.0) - xp.where(finite, low, 0.0), xp.inf)


def tv_bound(oscillation: Float[Array, "*prefixes"]) -> Float[Array, "*prefixes"]:
    """`TV(p, q) <= tanh(o/4)`, attained by two tokens.

    >>> import numpy as np
    >>> tv_bound(np.array([0.0, np.inf])).tolist()
    [0.0, 1.0]
    """
    return oscillation.__array_namespace__().tanh(oscillation / 4)


def kl_bound(oscillation: Float[Array, "*prefixes"]) -> Float[Array, "*prefixes"]:
    """`KL(p || q), KL(q || p) <= o²/8`, sharp as `o -> 0`."""
    return oscillation**2 / 8


def sup_log(
    log_p: Float[Array, "*prefixes vocab"], log_q: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes"]:
    """`sup |log q/p|` over the support of `p`, at most `o`; inf where `q` excludes a token of it."""
    xp = log_p.__array_namespace__()
    return xp.abs(log_ratio(log_q, log_p)).max(axis=-1)


def jensen_gap(
    log_p: Float[Array, "*prefixes vocab"], tilt: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes"]:
    """`log E_p e^f - E_p f`, which is `KL(p || q)` exactly; inf where `f` is -inf on the support of `p`."""
    xp = log_p.__array_namespace__()
    possible = log_p > -xp.inf
    excluded = possible & (tilt == -xp.inf)
    top = xp.where(possible & ~excluded, tilt, -xp.inf).max(axis=-1)
    top = xp.where(xp.isfinite(top), top, 0.0)[..., None]
    shifted = xp.where(possible & ~excluded, tilt - top, 0.0)
    probability = xp.exp(log_p)
    mean = (probability * xp.where(excluded, 0.0, xp.exp(shifted))).sum(axis=-1)
    gap = xp.log(xp.where(mean > 0, mean, 1.0)) - (probability * shifted).sum(axis=-1)
    return xp.where(excluded.any(axis=-1), xp.inf, xp.maximum(gap, 0.0))


def cross_deviation(
    log_p: Float[Array, "*prefixes vocab"], tilt: Float[Array, "*prefixes vocab"]
) -> Float[Array, "*prefixes"]:
    """`TV(p, q) <= E_p|e^f - 1| / max(1, E_p e^f)`: what is small under `p` alone (theory.md, CE 8.3).

    Both are divided by `max(1, E_p e^f)` in logs, so that nothing overflows, and no 0 is divided by 0.
    """
    xp = log_p.__array_namespace__()
    possible = log_p > -xp.inf
    tilted = xp.where(possible, xp.where(possible, log_p, 0.0) + xp.where(possible, tilt, 0.0), -xp.inf)
    top = xp.maximum(tilted.max(axis=-1), 0.0)[..., None]
    mean = xp.exp(tilted - top).sum(axis=-1, keepdims=True)
    scale = top + xp.log(xp.maximum(xp.exp(-top), mean))
    return xp.abs(xp.exp(tilted - scale) - xp.exp(log_p - scale)).sum(axis=-1)
