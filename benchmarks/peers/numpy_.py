"""Vectorised NumPy, as one writes it from the definitions: whole levels, whole joints, sums over axes."""

import numpy as np
from jaxtyping import Bool, Float

from benchmarks.engine import TOLERANCE, Answer, Engine
from benchmarks.workloads import Case, Table

Flags = list[Bool[np.ndarray, "prefixes"]]
Joint = Float[np.ndarray, "sequences"]


def composed(case: Case) -> Table:
    """`p^ = p_1 p_2 / p_b`, normalised."""
    table = []
    for base, one, other in zip(case.background, *case.experts, strict=True):
        rows = one * other / base
        rows /= rows.sum(axis=1, keepdims=True)
        table.append(rows)
    return table


def reaches(table: Table) -> list[Joint]:
    """The probabilities of the prefixes of every length, the whole sequences last."""
    reach = [np.ones(1)]
    for rows in table:
        reach.append((reach[-1][:, None] * rows).ravel())
    return reach


def joint(table: Table) -> Joint:
    """The probability of every sequence."""
    law = np.ones(1)
    for rows in table:
        law = (law[:, None] * rows).ravel()
    return law


def marginal(law: Joint, positions: tuple[int, ...], case: Case, *, keep: bool = False) -> Float[np.ndarray, "..."]:
    """The law of the tokens at `positions`; with `keep` the other axes stay, of size 1."""
    return law.reshape((case.vocab,) * case.length).sum(axis=case.outside(positions), keepdims=keep)


def tv(one: Float[np.ndarray, "..."], other: Float[np.ndarray, "..."]) -> float:
    """`1/2 sum |p - q|`."""
    return float(0.5 * np.abs(one - other).sum())


def deviating(expert: Table, background: Table) -> Flags:
    """Where the rows differ."""
    return [(own != base).any(axis=1) for own, base in zip(expert, background, strict=True)]


def active(deviates: Flags, vocab: int) -> Flags:
    """Deviated at the prefix or before, and will at it or later."""
    began, ahead = [deviates[0]], [deviates[-1]]
    for flags in deviates[1:]:
        began.append(np.repeat(began[-1], vocab) | flags)
    for flags in reversed(deviates[:-1]):
        ahead.append(flags | ahead[-1].reshape(-1, vocab).any(axis=1))
    return [b & a for b, a in zip(began, reversed(ahead), strict=True)]


def conflict(reach: list[Joint], both: Flags, vocab: int) -> tuple[float, list[int] | None]:
    """The probability of meeting a flag, and the first one."""
    met, probability, first = np.zeros(1, dtype=bool), 0.0, None
    for length, (law, flags) in enumerate(zip(reach, both, strict=False)):
        if flags.any() and first is None:
            first = [length, int(flags.argmax())]
        probability += float(law[flags & ~met].sum())
        met = np.repeat(met | flags, vocab)
    return probability, first


def survey(case: Case) -> Answer:
    """One pass after another over whole levels."""
    reach = reaches(composed(case))
    projective = [
        tv(marginal(reach[-1], mask, case), marginal(joint(expert), mask, case))
        for expert, mask in zip(case.experts, case.masks, strict=True)
    ]
    intervals = [active(deviating(expert, case.background), case.vocab) for expert in case.experts]
    both = [one & other for one, other in zip(*intervals, strict=True)]
    probability, first = conflict(reach, both, case.vocab)
    return {
        "projective": projective,
        "active": [int(sum(flags.sum() for flags in levels)) for levels in intervals],
        "conflict": probability,
        "first": first,
    }


def check_masks(case: Case) -> Answer:
    """`P_b` against the product of its blocks, `P_i` against `P_i^{M_i} x P_b^{rest}`, as joints."""
    base = joint(case.background)
    product = np.ones(())
    for block in case.blocks:
        product = product * marginal(base, block, case, keep=True)
    largest = tv(base.reshape(product.shape), product)
    for expert, mask in zip(case.experts, case.masks, strict=True):
        law = joint(expert)
        product = marginal(law, mask, case, keep=True) * marginal(base, case.outside(mask), case, keep=True)
        largest = max(largest, tv(law.reshape(product.shape), product))
    return {"factorized": largest <= TOLERANCE}


NUMPY = Engine(
    "NumPy",
    ("numpy",),
    ("numpy",),
    lambda case: case,
    {"survey": survey, "masks": check_masks},
    "composed conditionals, reach, joints, marginals on both masks and their TVs, deviations, both stopping times, "
    "conflict probability; masks: TVs of the joints to products of marginals",
)
