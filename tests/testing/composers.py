"""Composers by logits, right ones and some that are wrong in ways that happen; each reads like what it does."""

import numpy as np

import factorcomp


def log_softmax(logits):
    """`l - logsumexp(l)`, by rows."""
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


def by_factorcomp(background, experts, weights, null_tokens="cancel"):
    """The library's own, on tables of floats."""
    named = {f"expert {i}": expert.table for i, expert in enumerate(experts)}
    factors = dict(zip(named, weights, strict=True))
    return factorcomp.compose(background.table, named, weights=factors, null_tokens=null_tokens)


def by_factorcomp_dropping(background, experts, weights):
    """The same under `drop`."""
    return by_factorcomp(background, experts, weights, "drop")


def by_factorcomp_strict(background, experts, weights):
    """The same under `strict`."""
    return by_factorcomp(background, experts, weights, "strict")


def combine(base, rows, weights):
    """`log p_b + sum λ_i (log p_i - log p_b)`; where `p_b` is 0 the one expert that opens the token (`cancel`)."""
    base, rows = log_softmax(base), [log_softmax(row) for row in rows]
    possible = base > -np.inf
    total = np.where(possible, base, -np.inf)
    for row, weight in zip(rows, weights, strict=True):
        total = total + np.where(possible, weight * (row - np.where(possible, base, 0)), 0)
    for row in rows:
        total = np.where(~possible & (row > -np.inf), row, total)
    return log_softmax(total)


def by_logits(background, experts, weights):
    """Logit arithmetic in NumPy: every prefix anew."""
    return lambda prefixes: combine(background(prefixes), [expert(prefixes) for expert in experts], weights)


def by_logits_of_bfloat16(background, experts, weights):
    """The same, in float32, of networks that compute in bfloat16."""

    def wide(component):
        return lambda prefixes: component(prefixes).astype(np.float32)

    return by_logits(wide(background), [wide(expert) for expert in experts], weights)


class Cached:
    """A decoder that reads on where it can; `keys` says under which key each component keeps its cache."""

    def __init__(self, background, experts, weights, keys):
        self.components, self.weights, self.keys = [background, *experts], weights, keys
        self.caches = {}

    def __call__(self, prefixes):
        rows = [self.read(component, key, prefixes) for component, key in zip(self.components, self.keys, strict=True)]
        return combine(rows[0], rows[1:], self.weights)

    def read(self, component, key, prefixes):
        """One component's logits: from its cache if that has read all but the last token."""
        before, now = str(prefixes[:, :-1].tolist()), str(prefixes.tolist())
        if prefixes.shape[1] and (key, before) in self.caches:
            rows, cache = component.extend(prefixes[:, -1:], self.caches[key, before])
        else:
            rows, cache = component.extend(prefixes)
        self.caches[key, now] = cache
        return rows


def by_caches(background, experts, weights):
    """One cache for each component, kept by the prefixes that it has read."""
    return Cached(background, experts, weights, keys=range(1 + len(experts)))


# Wrong


def dividing_by_the_sum_of_weights(background, experts, weights):
    """Averages the experts' log-ratios instead of adding them."""
    total = sum(weights)
    return by_logits(background, experts, [weight / total for weight in weights])


def sharing_one_cache(background, experts, weights):
    """All components put their caches into one place."""
    return Cached(background, experts, weights, keys=[0] * (1 + len(experts)))


def forgetting_whose_cache(background, experts, weights):
    """Caches kept by length alone: a second sequence reads on from the first one's."""

    class ByLength(Cached):
        def read(self, component, key, prefixes):
            batch, length = prefixes.shape
            cache = self.caches.get((key, batch, length - 1))
            rows, cache = component.extend(prefixes) if cache is None else component.extend(prefixes[:, -1:], cache)
            self.caches[key, batch, length] = cache
            return rows

    return ByLength(background, experts, weights, keys=range(1 + len(experts)))


def in_half_precision(background, experts, weights):
    """The last log-softmax in float16."""
    exact = by_logits(background, experts, weights)
    return lambda prefixes: log_softmax(exact(prefixes).astype(np.float16))


def without_normalising_first(background, experts, weights):
    """Takes the logits of an opened token as they come."""

    def rows(prefixes):
        base, own = background(prefixes), [expert(prefixes) for expert in experts]
        possible = base > -np.inf
        total = np.where(possible, base, -np.inf)
        for row, weight in zip(own, weights, strict=True):
            total = total + np.where(possible, weight * (row - np.where(possible, base, 0)), 0)
            total = np.where(~possible & (row > -np.inf), row, total)
        return log_softmax(total)

    return rows


def multiplying_experts(background, experts, weights):
    """`prod_i p_i^λ_i`: the background is not divided out."""

    def rows(prefixes):
        with np.errstate(invalid="ignore"):
            return log_softmax(
                sum((w * e(prefixes) for e, w in zip(experts, weights, strict=True)), background(prefixes))
            )

    return rows


def ignoring_weights(background, experts, weights):
    """Composes as if every weight were 1."""
    return by_logits(background, experts, [1.0] * len(experts))


def with_a_finite_stand_in(background, experts, weights):
    """-1e9 instead of -inf."""
    exact = by_logits(background, experts, weights)
    return lambda prefixes: np.maximum(exact(prefixes), -1e9)


def without_looking_at_supports(background, experts, weights):
    """-inf - (-inf)."""

    def rows(prefixes):
        base = background(prefixes)
        with np.errstate(invalid="ignore"):
            ratios = [w * (expert(prefixes) - base) for expert, w in zip(experts, weights, strict=True)]
            return log_softmax(base + sum(ratios, np.zeros_like(base)))

    return rows


def favouring_the_first(background, experts, weights):
    """The first expert counts twice."""
    return by_logits(background, [*experts[:1], *experts], [*weights[:1], *weights])


def by_position_of_the_token(background, experts, weights):
    """A bonus for the first token of the vocabulary."""
    exact = by_logits(background, experts, weights)

    def rows(prefixes):
        logits = exact(prefixes).copy()
        logits[:, 0] += 0.01
        return log_softmax(logits)

    return rows
