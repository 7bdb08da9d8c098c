"""Rows composed in probabilities, and how far each is from the switching model: theory.md 1.1, 1.3, 1.8 and 4.4."""

from typing import NamedTuple

from jaxtyping import Float

from factorcomp.models.rows import EPS
from factorcomp.streaming.arrays import Array, fold, has, namespace, settle, several
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
    xp = namespace(compared.differs)
    base, *own = components
    possible = base > 0
    safe = xp.where(possible, base, 1.0)
    product = own[0]
    for p in own[1:]:
        product = product * (p / safe)
    opened = [(p > 0) & ~possible for p in own]
    openers = sum(flags.astype(xp.int32) for flags in opened)
    elsewhere: Array = 0.0
    undefined = xp.zeros(compared.differs.shape, dtype=bool)
    if plan.null_tokens == "strict":
        undefined = compared.opens != 0
    elif plan.null_tokens == "cancel":
        undefined = fold(xp.logical_or, openers > 1)
        elsewhere = sum(xp.where(flags, p, 0.0) for flags, p in zip(opened, own, strict=True))
    for i, weight in enumerate(plan.weights or ()):
        undefined = undefined | has(compared.opens, i) if weight != 1 else undefined
    product = settle(xp.where(possible, product, elsewhere))
    z = settle(fold(xp.add, product))
    alive = z > 0
    settled = ~several(compared.differs) & ~undefined
    if plan.null_tokens != "cancel":
        settled = settled & (compared.opens == 0)
    probs = product * xp.where(alive, 1.0 / xp.where(alive, z, 1.0), 0.0)
    probs = settle(xp.where(settled, sole(components, compared.differs), probs))
    log_z = xp.where(settled, 0.0, xp.where(alive, xp.log(xp.where(alive, z, 1.0)), -xp.inf))

    error = 4 * ((2 * plan.experts + 1) * (relative_error(plan, compared.size) + EPS) + EPS * (plan.vocab + 8))
    distances = settle([0.5 * fold(xp.add, xp.abs(p - probs)) for p in components])
    nearest = distances[0]
    for distance in distances[1:]:
        nearest = xp.minimum(nearest, distance)
    switching = components[-1]
    for p, distance in zip(components[-2::-1], distances[-2::-1], strict=True):
        switching = xp.where(distance <= nearest + 2 * error, p, switching)
    switching = xp.where(several(compared.deviates), switching, sole(components, compared.deviates))
    reached = probs > 0
    turn = xp.where(reached, switching / xp.where(reached, probs, 1.0), 1.0)
    undefined = undefined | ~(alive | settled)
    return Composed(probs, turn, undefined, settled, log_z, xp.where(settled, 0.0, nearest), error + xp.zeros(()))


def sole(components: tuple[Values, ...], who: Bits) -> Values:
    """The row of the first expert in the set, or of the background for the empty one."""
    xp = namespace(who)
    row = components[0]
    for i in reversed(range(len(components) - 1)):
        row = xp.where(has(who, i), components[i + 1], row)
    return row
