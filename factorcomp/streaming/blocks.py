"""The programs for blocks, compiled once each: scans over groups of heads that are visited side by side."""

from collections.abc import Sequence
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

from jaxtyping import Float, Int

from factorcomp.streaming.arrays import Array, settle
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import AnyValues
from factorcomp.streaming.subtree import Below, Carried, ascend, children, close, descend, examine
from factorcomp.streaming.tables import OnDevice, part
from factorcomp.streaming.totals import Tally, Totals


class Answer(NamedTuple):
    """Of each block: what its heads hand back, and its totals."""

    below: Below
    totals: Totals


def survey(plan: Plan, tables: Sequence[Sequence[OnDevice]], blocks: Int[Array, " blocks"], carried: Carried) -> Answer:
    """Visits these blocks, which inherit `carried`, `[blocks, 1, lanes]`."""
    import jax
    import jax.numpy as jnp

    def visit(block: Array, carried: Carried) -> Answer:
        tally = Tally(plan, jnp)
        rows = examine(plan, _read(plan, tables, block))
        levels, _ = descend(plan, plan.above, rows, carried, tally)
        below = ascend(plan, plan.above, levels, close(plan, rows[-1], levels, tally), tally)
        return Answer(below, tally.totals(block))

    return jax.lax.scan(lambda _, inputs: (None, visit(*inputs)), None, (blocks, carried))[1]


def tv_local_global(
    plan: Plan,
    tables: Sequence[Sequence[OnDevice]],
    blocks: Int[Array, " blocks"],
    carried: Carried,
    path: Float[Array, "blocks 1 lanes"],
) -> Float[Array, " blocks"]:
    """`TV = sum P (1 - prod Z / Z_G)_+` over the sequences below these blocks (Theorem 1.5 (1)).

    `path`: at the heads, the product of `Z` on the way over `Z_G`.
    """
    import jax
    import jax.numpy as jnp

    def visit(block: Array, carried: Carried, path: Array) -> Array:
        Tally(plan, jnp)
        for rows in examine(plan, _read(plan, tables, block)):
            path = path * jnp.exp(jnp.where(carried.reachable & ~rows.composed.undefined, rows.composed.log_z, 0.0))
            path = jnp.repeat(path, plan.vocab, axis=0)
            carried = settle(children(plan, rows, carried, rows.compared.deviates))
        apart = jnp.where(carried.reachable, carried.reach * jnp.maximum(1.0 - path, 0.0), 0.0)
        return apart.sum(axis=0).sum()

    return jax.lax.scan(lambda _, inputs: (None, visit(*inputs)), None, (blocks, carried, path))[1]


def marginal(
    plan: Plan,
    tables: Sequence[Sequence[OnDevice]],
    blocks: Int[Array, " blocks"],
    carried: Carried,
    own: Float[Array, "blocks 1 lanes"],
    expert: int,
    kept: tuple[int, ...],
) -> Float[Array, "blocks 2 lanes cells"]:
    """Of the composition and of an expert, below each head: the masses by the tokens at the levels `kept` below it.

    `own`: the expert's probabilities of the heads.
    """
    import jax
    import jax.numpy as jnp

    summed = tuple(n for n in range(plan.tail) if n not in kept)

    def visit(block: Array, carried: Carried, own: Array) -> Array:
        for rows in examine(plan, _read(plan, tables, block)):
            own = settle((own * rows.components[expert + 1]).swapaxes(0, 1).reshape(-1, plan.lanes))
            carried = settle(children(plan, rows, carried, rows.compared.deviates))
        laws = jnp.stack([jnp.where(carried.reachable, carried.reach, 0.0), own])
        digits = laws.reshape(2, *[plan.vocab] * plan.tail, plan.lanes)
        return digits.sum(axis=tuple(n + 1 for n in summed)).reshape(2, -1, plan.lanes).swapaxes(1, 2)

    return jax.lax.scan(lambda _, inputs: (None, visit(*inputs)), None, (blocks, carried, own))[1]


def _read(plan: Plan, tables: Sequence[Sequence[OnDevice]], block: Array) -> list[tuple[AnyValues, ...]]:
    """The rows of a block, level by level, in float64."""
    import jax.numpy as jnp

    levels = []
    for n, models in enumerate(tables):
        count, total = plan.vocab**n, plan.vocab ** (plan.above + n + 1)
        size = count * plan.vocab * plan.lanes
        rows = [part(table, block * size, size, total).reshape(plan.lanes, count, plan.vocab) for table in models]
        levels.append(tuple(settle(r.transpose(2, 1, 0).astype(jnp.float64)) for r in rows))
    return levels


@cache
def compiled(program: Any) -> Any:
    """One of the programs above, jitted; what follows the fifth argument is static."""
    import jax

    return jax.jit(program, static_argnums=(0, *range(5, len(signature(program).parameters))))
