"""Why a composition ends, prefix by prefix: the log-odds of EOS taken apart. Source: theory.md, Theorem 10.1."""

from dataclasses import dataclass

from jaxtyping import Bool, Float

from factorcomp.bounds.per_prefix import Array


@dataclass(frozen=True)
class EosTerms:
    """`logit e^ = logit e_b + sum_i (logit e_i - logit e_b) - log Z_q`, at each prefix.

    `background`: the first term. `shifts`: one per expert. `log_content`: `log Z_q`, with `Z_q = sum_{y != EOS} q_b
    prod_i q_i/q_b` of the content kernels. `applies`: `0 < e_b, e_i < 1`, `q_i << q_b` and `Z_q > 0`; elsewhere every
    term is 0 and means nothing.
    """

    background: Float[Array, " prefixes"]
    shifts: Float[Array, "experts prefixes"]
    log_content: Float[Array, " prefixes"]
    applies: Bool[Array, " prefixes"]

    @property
    def composition(self) -> Float[Array, " prefixes"]:
        """`logit e^`."""
        return self.background + self.shifts.sum(axis=0) - self.log_content


def eos_terms(components: Float[Array, "components prefixes vocab"], eos: int) -> EosTerms:
    """The terms at every prefix. `components`: the background, then the experts, in logs; `eos`: the place of EOS.

    >>> import numpy as np
    >>> row = np.log([[0.25, 0.25, 0.5]])
    >>> terms = eos_terms(np.stack([row, row]), 2)
    >>> terms.composition.tolist(), terms.log_content.tolist()
    ([0.0], [0.0])
    """
    xp = components.__array_namespace__()
    content = xp.concatenate([components[..., :eos], components[..., eos + 1 :]], axis=-1)
    log_e, log_rest = components[..., eos], _log_sum(content)
    possible = content[0] > -xp.inf
    within = ((content > -xp.inf) <= possible).all(axis=(0, 2))
    inside = ((log_e > -xp.inf) & (log_rest > -xp.inf)).all(axis=0)
    safe = within & inside
    logit = xp.where(safe, log_e, 0.0) - xp.where(safe, log_rest, 0.0)
    q = content - xp.where(inside, log_rest, 0.0)[..., None]
    base = xp.where(possible, q[0], 0.0)
    ratios = xp.where(possible, q[1:], 0.0) - base
    log_content = _log_sum(xp.where(possible, base + ratios.sum(axis=0), -xp.inf))
    applies = safe & (log_content > -xp.inf)
    return EosTerms(
        xp.where(applies, logit[0], 0.0),
        xp.where(applies, logit[1:] - logit[0], 0.0),
        xp.where(applies, log_content, 0.0),
        applies,
    )


def _log_sum(logs: Float[Array, "*prefixes vocab"]) -> Float[Array, "*prefixes"]:
    """`log sum exp`; -inf for no mass, and for no tokens."""
    xp = logs.__array_namespace__()
    if logs.shape[-1] == 0:
        return xp.full(logs.shape[:-1], -xp.inf)
    top = logs.max(axis=-1)
    shift = xp.where(xp.isfinite(top), top, 0.0)
    total = xp.exp(logs - shift[..., None]).sum(axis=-1)
    return xp.where(total > 0, shift + xp.log(xp.where(total > 0, total, 1.0)), -xp.inf)
