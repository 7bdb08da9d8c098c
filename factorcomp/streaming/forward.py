"""Rows composed in probabilities, and how far each is from the switching model: theory.md 1.1, 1.3, 1.8 and 4.4."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from factorcomp.models.rows import EPS
from factorcomp.streaming.arrays import Array, fold, has, several
from factorcomp.streaming.plan import Plan
from factorcomp.streaming.rows import Bits, Compared, Flags, Numbers, Values, relative_error


class Composed(NamedTuple):
    """The composition at a block of prefixes.

    `turn`: by what its probability of a token must be multiplied to be the switching model's. `error` bounds the
    rounding of `log_z` and of `far`, the distance to the nearest component. `settled`: both are 0 for sure.
    """

    probs: Values
    turn: Values
    undefined: Flags
    settled: Flags
    log_z: Numbers
    far: Numbers
    error: Float[Array, ""]


def compose(plan: Plan, components: tuple[Values, ...], compared: Compared) -> Composed:
    """`p^ = p_b prod_i p_i/p_b / Z`; exactly the sole component that differs, where it is one."""
    base, *own = components
    possible = base > 0
    safe = np.where(possible, base, 1.0)
    product = own[0]
    for p in own[1:]:
        product = product * (p / safe)
    opened = [(p > 0) & ~possible for p in own]
    openers = sum(flags.astype(np.int32) for flags in opened)
    elsewhere: Array = 0.0
    undefined = np.zeros(compared.differs.shape, dtype=bool)
    if plan.null_tokens == "strict":
        undefined = compared.opens != 0
    elif plan.null_tokens == "cancel":
        undefined = fold(np.logical_or, openers > 1)
        elsewhere = sum(np.where(flags, p, 0.0) for flags, p in zip(opened, own, strict=True))
    for i, weight in enumerate(plan.weights or ()):
        undefined = undefined | has(compared.opens, i) if weight != 1 else undefined
    product = np.where(possible, product, elsewhere)
    z = fold(np.add, product)
    alive = z > 0
    settled = ~several(compared.differs) & ~undefined
    if plan.null_tokens != "cancel":
        settled = settled & (compared.opens == 0)
    probs = product * np.where(alive, 1.0 / np.where(alive, z, 1.0), 0.0)
    probs = np.where(settled, sole(components, compared.differs), probs)
    log_z = np.where(settled, 0.0, np.where(alive, np.log(np.where(alive, z, 1.0)), -np.inf))

    error = rounding(plan, compared.size)
    distances = [0.5 * fold(np.add, np.abs(p - probs)) for p in components]
    nearest = distances[0]
    for distance in distances[1:]:
        nearest = np.minimum(nearest, distance)
    switching = components[-1]
    for p, distance in zip(components[-2::-1], distances[-2::-1], strict=True):
        switching = np.where(distance <= nearest + 2 * error, p, switching)
    switching = np.where(several(compared.deviates), switching, sole(components, compared.deviates))
    reached = probs > 0
    turn = np.where(reached, switching / np.where(reached, probs, 1.0), 1.0)
    undefined = undefined | ~(alive | settled)
    return Composed(probs, turn, undefined, settled, log_z, np.where(settled, 0.0, nearest), error + np.zeros(()))


def rounding(plan: Plan, size: Float[Array, ""]) -> Float[Array, ""]:
    """Bounds the rounding of `log_z` and of `far`, where logs are up to `size`."""
    return 4 * ((2 * plan.experts + 1) * (relative_error(plan, size) + EPS) + EPS * (plan.vocab + 8))


def sole(components: tuple[Values, ...], who: Bits) -> Values:
    """The row of the first expert in the set, or of the background for the empty one."""
    row = components[0]
    for i in reversed(range(len(components) - 1)):
        row = np.where(has(who, i), components[i + 1], row)
    return row
