"""Plain JAX: one jitted function over whole levels, as one writes it first."""

from functools import partial
from typing import Any, NamedTuple

from benchmarks.engine import TOLERANCE, Answer, Engine
from benchmarks.workloads import Case


class Program(NamedTuple):
    """The tables as arrays of JAX, and the functions, jitted when they are first called."""

    tables: tuple[list[Any], list[Any], list[Any]]
    survey: Any
    check_masks: Any


def prepare(case: Case) -> Program:
    """Copies where the arrays are not aligned as JAX wants them."""
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        background, *experts = ([jnp.asarray(rows) for rows in table] for table in (case.background, *case.experts))
    shape = (case.vocab, case.length, case.masks, case.blocks)
    return Program((background, *experts), *(jax.jit(partial(work, *shape)) for work in (_survey, _largest_tv)))


def survey(program: Program) -> Answer:
    """Calls the program."""
    import jax

    with jax.enable_x64(True):
        projective, active, probability, firsts = jax.device_get(program.survey(*program.tables))
    first = next(([length, int(index)] for length, index in enumerate(firsts) if index >= 0), None)
    return {
        "projective": [float(value) for value in projective],
        "active": [int(count) for count in active],
        "conflict": float(probability),
        "first": first,
    }


def check_masks(program: Program) -> Answer:
    """Calls the program."""
    import jax

    with jax.enable_x64(True):
        return {"factorized": bool(program.check_masks(*program.tables) <= TOLERANCE)}


def _joint(table: list[Any]) -> list[Any]:
    import jax.numpy as jnp

    reach = [jnp.ones(1)]
    for rows in table:
        reach.append((reach[-1][:, None] * rows).reshape(-1))
    return reach


def _marginal(vocab: int, length: int, law: Any, positions: tuple[int, ...], *, keep: bool = False) -> Any:
    outside = tuple(t for t in range(length) if t not in positions)
    return law.reshape((vocab,) * length).sum(axis=outside, keepdims=keep)


def _active(expert: list[Any], background: list[Any], vocab: int) -> list[Any]:
    import jax.numpy as jnp

    deviates = [(own != base).any(axis=1) for own, base in zip(expert, background, strict=True)]
    began, ahead = [deviates[0]], [deviates[-1]]
    for flags in deviates[1:]:
        began.append(jnp.repeat(began[-1], vocab) | flags)
    for flags in reversed(deviates[:-1]):
        ahead.append(flags | ahead[-1].reshape(-1, vocab).any(axis=1))
    return [b & a for b, a in zip(began, reversed(ahead), strict=True)]


def _survey(
    vocab: int, length: int, masks: Any, _blocks: Any, background: list[Any], one: list[Any], other: list[Any]
) -> tuple[Any, Any, Any, Any]:
    import jax.numpy as jnp

    composed = []
    for base, first, second in zip(background, one, other, strict=True):
        rows = first * second / base
        composed.append(rows / rows.sum(axis=1, keepdims=True))
    reach = _joint(composed)
    marginal = partial(_marginal, vocab, length)
    projective = [
        0.5 * jnp.abs(marginal(reach[-1], mask) - marginal(_joint(expert)[-1], mask)).sum()
        for expert, mask in zip((one, other), masks, strict=True)
    ]
    intervals = [_active(expert, background, vocab) for expert in (one, other)]
    met, probability, firsts = jnp.zeros(1, dtype=bool), 0.0, []
    for law, mine, theirs in zip(reach, *intervals, strict=False):
        both = mine & theirs
        firsts.append(jnp.where(both.any(), both.argmax(), -1))
        probability += jnp.where(both & ~met, law, 0.0).sum()
        met = jnp.repeat(met | both, vocab)
    counts = [sum(flags.sum() for flags in levels) for levels in intervals]
    return jnp.stack(projective), jnp.stack(counts), probability, jnp.stack(firsts)


def _largest_tv(
    vocab: int, length: int, masks: Any, blocks: Any, background: list[Any], one: list[Any], other: list[Any]
) -> Any:
    import jax.numpy as jnp

    marginal = partial(_marginal, vocab, length, keep=True)
    base = _joint(background)[-1]
    product = 1.0
    for block in blocks:
        product = product * marginal(base, block)
    found = [0.5 * jnp.abs(base.reshape(product.shape) - product).sum()]
    for expert, mask in zip((one, other), masks, strict=True):
        law, rest = _joint(expert)[-1], tuple(t for t in range(length) if t not in mask)
        product = marginal(law, mask) * marginal(base, rest)
        found.append(0.5 * jnp.abs(law.reshape(product.shape) - product).sum())
    return jnp.stack(found).max()


JAX_LEVELS = Engine(
    "JAX, level-wise",
    ("jax",),
    ("jax", "jaxlib"),
    prepare,
    {"survey": survey, "masks": check_masks},
    "the same as NumPy, jitted as one program",
)
