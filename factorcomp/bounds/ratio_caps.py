"""What a small total variation does give, where ratios are capped. Source: theory.md, Lemma 8.4."""

from typing import Literal

from jaxtyping import Float, Int

from factorcomp.bounds.per_prefix import Array, divergence, log_ratio, total_variation


def capped_deviation(
    components: Float[Array, "components prefixes vocab"],
    assigned: Int[Array, " prefixes"],
    distance: Literal["tv", "kl"] = "tv",
) -> Float[Array, " prefixes"]:
    """`TV(p^, p_i) <= sum_{j != i} R_i (prod_{l<j, l != i} R_l) 2 TV(p_j, p_b)` with `R_l = sup_y p_l/p_b`, `R_b = 1`.

    `components`: the background, then the experts, in logs. `assigned`: the component `i` at each prefix, 0 the
    background. With `distance="kl"`, Pinsker's `sqrt(2 KL(p_j || p_b))` stands for `2 TV`. It holds where all mass does
    not vanish; inf where an expert opens a token that the background excludes.

    >>> import numpy as np
    >>> base, expert = np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])
    >>> capped_deviation(np.stack([base, expert]), np.array([0])).tolist()
    [0.5]
    """
    xp = components.__array_namespace__()
    experts = components[1:]
    base = xp.broadcast_to(components[:1], experts.shape)
    opens = ((experts > -xp.inf) & (base == -xp.inf)).any(axis=(0, 2))
    caps = xp.where(base > -xp.inf, log_ratio(experts, base), -xp.inf).max(axis=-1)
    moved = 2 * total_variation(experts, base) if distance == "tv" else xp.sqrt(2 * divergence(experts, base))
    own = xp.where(assigned > 0, xp.take_along_axis(caps, xp.maximum(assigned - 1, 0)[None], axis=0)[0], 0.0)
    bound, before = xp.zeros_like(own), own
    for j in range(len(experts)):
        other = assigned != j + 1
        log_term = xp.minimum(before + xp.log(xp.where(moved[j] > 0, moved[j], 1.0)), 700.0)  # e^700 is vacuous too
        bound = bound + xp.where(other & (moved[j] > 0), xp.exp(log_term), 0.0)
        before = before + xp.where(other, caps[j], 0.0)
    return xp.where(opens, xp.inf, bound)
