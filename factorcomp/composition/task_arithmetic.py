"""Task arithmetic: adding up what fine-tuning changed, against composing by logits. Source: theory.md, section 9.

| symbol | here |
|---|---|
| `θ_b`, `θ_b + τ_i` | `background`, `experts[i]`: trees of parameters, such as equinox models |
| `z_θ(h)` | `logits(tree, prefixes)`, `[prefixes, vocab]` |
| `g(c) = z(θ_b + sum_i c_i τ_i)` | `TaskArithmetic.logits_at(c, prefixes)` |
| `E = g(1) - g(0) - sum_i (g(e_i) - g(0))` | `error` |

All of section 9 is about `g`, a function of `k` numbers: `∇²z[τ_i, τ_j]` is its second derivative in `c_i`, `c_j`.
Everything is computed in float64, whatever JAX is configured to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree, Shaped

from factorcomp.bounds.per_prefix import total_variation, tv_bound
from factorcomp.composition.operator import compose_rows, log_normalize
from factorcomp.composition.precision import float64
from factorcomp.models.errors import InputError

Prefixes = Int[Any, "batch length"]
Logits = Callable[[PyTree, Prefixes], Float[Any, "batch vocab"]]
Coefficients = Float[Any, " experts"]
Numbers = Sequence[float | int] | Shaped[np.ndarray, " experts"]


@dataclass(frozen=True)
class Comparison:
    """The merged model against the local composition of its experts, prefix by prefix.

    **Fields:** `merged`, `composed`: log-probabilities. `error`: `E`, 0 at tokens that no model makes possible.
    `oscillation`: of `E`, inf where the models' supports differ. `tv`: between both. `bound`: `tanh(osc(E)/4) >= tv`
    (9.2): a theorem about the exact `E`; here up to the rounding of float64.
    """

    merged: Float[np.ndarray, "batch vocab"]
    composed: Float[np.ndarray, "batch vocab"]
    error: Float[np.ndarray, "batch vocab"]
    oscillation: Float[np.ndarray, " batch"]
    tv: Float[np.ndarray, " batch"]
    bound: Float[np.ndarray, " batch"]


@dataclass(frozen=True)
class TaskArithmetic:
    """The logits as a function of the coefficients of the task vectors.

    **Fields:** `names`: of the experts, in the order of the coefficients. `function`: `(c, prefixes) -> g(c)`.
    """

    names: tuple[str, ...]
    function: Callable[[Coefficients, Prefixes], Float[Array, "batch vocab"]]

    @classmethod
    def of(cls, logits: Logits, background: PyTree, experts: Mapping[str, PyTree]) -> "TaskArithmetic":
        """The task vectors `τ_i = experts[i] - background` of trees of one structure.

        Only leaves that are arrays of floats are parameters; all others are the background's.

        >>> import numpy as np
        >>> product = lambda weights, prefixes: jnp.stack([weights[0] * weights[1], 0.0])[None]
        >>> experts = {"first": [np.array(2.0), np.array(1.0)], "second": [np.array(1.0), np.array(2.0)]}
        >>> task = TaskArithmetic.of(product, [np.array(1.0), np.array(1.0)], experts)
        >>> print(task.logits_at([1, 1], np.zeros((1, 0), int))[0, 0], task.error(np.zeros((1, 0), int))[0, 0])
        4.0 1.0

        **Raises:** `InputError`, with every expert whose tree, or the shape of an array in it, is not the background's.
        """
        leaves, structure = jax.tree.flatten(background)
        places = [n for n, leaf in enumerate(leaves) if _is_parameter(leaf)]
        problems = [line for name, tree in experts.items() for line in _differences(name, tree, background)]
        if not experts:
            problems.append("there is no expert; give at least one")
        if problems:
            raise InputError(problems)
        with float64():
            base = [jnp.asarray(leaves[n], dtype=jnp.float64) for n in places]
            moved = [
                [jnp.asarray(theirs[n], dtype=jnp.float64) - mine for n, mine in zip(places, base, strict=True)]
                for theirs in map(jax.tree.leaves, experts.values())
            ]

        def function(coefficients: Coefficients, prefixes: Prefixes) -> Float[Array, "batch vocab"]:
            filled = list(leaves)
            for m, n in enumerate(places):
                filled[n] = base[m] + sum(c * vector[m] for c, vector in zip(coefficients, moved, strict=True))
            return jnp.asarray(logits(jax.tree.unflatten(structure, filled), prefixes), dtype=jnp.float64)

        return cls(tuple(experts), function)

    def logits_at(self, coefficients: Numbers, prefixes: Prefixes) -> Float[np.ndarray, "batch vocab"]:
        """`g(c)`."""
        with float64():
            point = jnp.asarray(coefficients, dtype=jnp.float64)
            return np.asarray(self.function(point, jnp.asarray(prefixes)))

    def linearized(self) -> "TaskArithmetic":
        """The network linearised at the background: `g(0) + g'(0) c`, affine in the parameters (9.1)."""

        def function(coefficients: Coefficients, prefixes: Prefixes) -> Float[Array, "batch vocab"]:
            value, slope = jax.jvp(
                lambda c: self.function(c, prefixes), (jnp.zeros_like(coefficients),), (coefficients,)
            )
            return value + slope

        return replace(self, function=function)

    def scaled(self, scale: float) -> "TaskArithmetic":
        """The same with every `τ` multiplied by `scale`; `E` is then of order `scale²` (9.2)."""
        return replace(self, function=lambda coefficients, prefixes: self.function(scale * coefficients, prefixes))

    def error(self, prefixes: Prefixes, weights: Numbers | None = None) -> Float[np.ndarray, "batch vocab"]:
        """`E = g(λ) - g(0) - sum_i λ_i (g(e_i) - g(0))`: how far the merged logits are from composing.

        0 at every prefix where the logits are affine in the parameters (9.1). With all weights 1, the default, it is
        the cross curvature alone; with others the curvature along each vector adds to it. NaN where supports differ.
        """
        merged, base, own, factors = self._logits(prefixes, weights)
        possible = np.isfinite(np.stack([merged, base, *own]))
        with np.errstate(invalid="ignore"):
            error = merged - base - np.tensordot(factors, own - base, axes=1)
        return np.where(possible.all(axis=0), error, np.where(possible.any(axis=0), np.nan, 0.0))

    def compare(self, prefixes: Prefixes, weights: Numbers | None = None) -> Comparison:
        """The merged model `softmax g(λ)` and the local composition of the experts with weights `λ`."""
        merged, base, own, factors = self._logits(prefixes, weights)
        (merged, _), (base, _) = log_normalize(merged), log_normalize(base)
        own = np.stack([log_normalize(logits)[0] for logits in own])
        composed = compose_rows(base, own, None if (factors == 1).all() else factors, "cancel").log_probs
        error = self.error(prefixes, weights)
        possible, differ = merged > -np.inf, np.isnan(error).any(axis=1)
        high, low = (np.where(possible, error, -sign * np.inf) for sign in (1, -1))
        with np.errstate(invalid="ignore"):
            oscillation = np.where(differ, np.inf, high.max(axis=1) - low.min(axis=1))
        tv = total_variation(merged, composed)
        return Comparison(merged, composed, error, oscillation, tv, tv_bound(oscillation))

    def cross_curvature(self, prefixes: Prefixes, nodes: int = 8) -> Float[np.ndarray, "batch vocab"]:
        """`E` by its integral form: `sum_{m>=2} ∫∫ ∇²z(θ_b + s τ_{<m} + u τ_m)[τ_{<m}, τ_m] ds du` (9.2).

        By Gauss-Legendre quadrature with `nodes` nodes in `s` and in `u`: exact where the integrand is a polynomial of
        degree below `2 nodes` in each, otherwise an approximation.
        """
        points, shares = np.polynomial.legendre.leggauss(nodes)
        points, shares = (points + 1) / 2, shares / 2
        total = np.zeros_like(self.logits_at(np.zeros(len(self.names)), prefixes))
        for m in range(1, len(self.names)):
            values = self._mixed(m, points, prefixes)
            total += np.einsum("s,u,su...->...", shares, shares, values)
        return total

    def sampled_oscillation(self, prefixes: Prefixes, points: int = 5) -> Float[np.ndarray, " batch"]:
        """`sum_{m>=2} max osc(∇²z[τ_{<m}, τ_m])` over a grid of `points`² places `(s, u)` in `[0,1]²`.

        With the supremum in place of the maximum over the grid it would bound `osc(E)`. As it is it is sampled: nothing
        is guaranteed between the places of the grid. `Comparison.oscillation`, which is computed, needs no grid.
        """
        total = np.zeros(len(np.asarray(prefixes)))
        for m in range(1, len(self.names)):
            values = self._mixed(m, np.linspace(0.0, 1.0, points), prefixes)
            total += np.ptp(values, axis=-1).max(axis=(0, 1))
        return total

    def _mixed(self, m: int, points: Float[np.ndarray, " points"], prefixes: Prefixes) -> Float[np.ndarray, "..."]:
        """`∇²z(θ_b + s τ_{<m} + u τ_m)[τ_{<m}, τ_m]` for all `s` and `u` in `points`; experts counted from 0."""
        with float64():
            tokens = jnp.asarray(prefixes)
            before = jnp.asarray(np.arange(len(self.names)) < m, dtype=jnp.float64)
            mine = jnp.asarray(np.arange(len(self.names)) == m, dtype=jnp.float64)

            def at(place: Float[Array, "2"]) -> Float[Array, "batch vocab"]:
                def slope(point: Coefficients) -> Float[Array, "batch vocab"]:
                    return jax.jvp(lambda c: self.function(c, tokens), (point,), (before,))[1]

                return jax.jvp(slope, (place[0] * before + place[1] * mine,), (mine,))[1]

            grid = np.stack(np.meshgrid(points, points, indexing="ij"), axis=-1)
            values = np.asarray(jax.jit(lambda grid: jax.lax.map(at, grid))(jnp.asarray(grid.reshape(-1, 2))))
        return values.reshape(len(points), len(points), *values.shape[1:])

    def _logits(
        self, prefixes: Prefixes, weights: Numbers | None
    ) -> tuple[
        Float[np.ndarray, "batch vocab"], Float[np.ndarray, "batch vocab"], Float[np.ndarray, "..."], np.ndarray
    ]:
        """`g(λ)`, `g(0)`, `g(e_i)` for all i, and `λ`."""
        count = len(self.names)
        factors = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
        if factors.shape != (count,):
            raise InputError(f"the weights have the shape {factors.shape}; needed one for each of {count} experts")
        own = np.stack([self.logits_at(unit, prefixes) for unit in np.eye(count)])
        return self.logits_at(factors, prefixes), self.logits_at(np.zeros(count), prefixes), own, factors


def merge(background: PyTree, experts: Mapping[str, PyTree], weights: Mapping[str, float] | None = None) -> PyTree:
    """The merged model `θ_b + sum_i λ_i τ_i`, a tree as the background's with arrays of its types.

    >>> import numpy as np
    >>> merge({"w": np.zeros(2)}, {"up": {"w": np.ones(2)}, "down": {"w": np.full(2, -3.0)}}, {"down": 0.5})
    {'w': array([-0.5, -0.5])}

    **Raises:** `InputError` as `TaskArithmetic.of`.
    """
    if problems := [line for name, tree in experts.items() for line in _differences(name, tree, background)]:
        raise InputError(problems)
    factors = [(weights or {}).get(name, 1.0) for name in experts]

    def moved(leaf: Any, *theirs: Any) -> Any:
        if not _is_parameter(leaf):
            return leaf
        base = np.asarray(leaf, dtype=np.float64)
        vectors = [
            factor * (np.asarray(other, np.float64) - base) for factor, other in zip(factors, theirs, strict=True)
        ]
        total = sum(vectors, base).astype(leaf.dtype)
        return total if isinstance(leaf, np.ndarray) else jnp.asarray(total)

    return jax.tree.map(moved, background, *experts.values())


def _is_parameter(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray | np.floating | jax.Array) and jnp.issubdtype(leaf.dtype, jnp.floating)


def _differences(name: str, tree: PyTree, background: PyTree) -> list[str]:
    """In what a tree is not like the background's."""
    (mine, structure), (theirs, other) = jax.tree.flatten(background), jax.tree.flatten(tree)
    if structure != other:
        return [f"expert {name!r}: its tree of parameters is not the background's: {other}; needed {structure}"]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(background)[0]]
    return [
        f"expert {name!r}: {path}: found an array of shape {np.shape(b)}; needed {np.shape(a)}, as in the background"
        for path, a, b in zip(paths, mine, theirs, strict=True)
        if _is_parameter(a) and np.shape(a) != np.shape(b)
    ]
