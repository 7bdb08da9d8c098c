"""pgmpy: each conditional a `DiscreteFactor` over its positions; joints are products, marginals `marginalize`."""

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from benchmarks.engine import TOLERANCE, Answer, Engine
from benchmarks.peers.numpy_ import composed
from benchmarks.workloads import Case, Table


class Factors(NamedTuple):
    """The case, and a factor for each conditional of each model."""

    case: Case
    background: list[Any]
    experts: list[list[Any]]


def prepare(case: Case) -> Factors:
    """The tables as factors."""
    return Factors(case, factors(case.background, case), [factors(expert, case) for expert in case.experts])


def factors(table: Table, case: Case) -> list[Any]:
    """A factor for every position."""
    from pgmpy.factors.discrete import DiscreteFactor

    return [
        DiscreteFactor([f"y{s}" for s in range(t + 1)], [case.vocab] * (t + 1), rows.ravel())
        for t, rows in enumerate(table)
    ]


def product(parts: list[Any]) -> Any:
    """The product of factors."""
    return reduce(lambda one, other: one.product(other, inplace=False), parts)


def marginal(factor: Any, positions: tuple[int, ...], case: Case) -> Any:
    """The factor of the tokens at `positions`; the factor of no variables is 1."""
    outside = [f"y{t}" for t in case.outside(positions)]
    return factor.marginalize(outside, inplace=False) if outside else factor


def tv(one: Any, other: Any) -> float:
    """`1/2 sum |p - q|` of two factors with the same variables."""
    axes = [other.variables.index(name) for name in one.variables]
    return float(0.5 * np.abs(one.values - other.values.transpose(axes)).sum())


def survey(given: Factors) -> Answer:
    """The composed conditionals come from NumPy; joints and marginals from pgmpy."""
    case, _, experts = given
    law = product(factors(composed(case), case))
    return {
        "projective": [
            tv(marginal(law, mask, case), marginal(product(expert), mask, case))
            for expert, mask in zip(experts, case.masks, strict=True)
        ]
    }


def check_masks(given: Factors) -> Answer:
    """`P_b` against the product of its blocks, `P_i` against `P_i^{M_i} x P_b^{rest}`, as joints."""
    case, background, experts = given
    base = product(background)
    largest = tv(base, product([marginal(base, block, case) for block in case.blocks if block]))
    for expert, mask in zip(experts, case.masks, strict=True):
        law = product(expert)
        parts = [marginal(law, mask, case) if mask else None]
        parts += [marginal(base, case.outside(mask), case) if case.outside(mask) else None]
        largest = max(largest, tv(law, product([part for part in parts if part is not None])))
    return {"factorized": largest <= TOLERANCE}


PGMPY = Engine(
    "pgmpy",
    ("pgmpy", "pgmpy.factors.discrete"),
    ("pgmpy", "numpy"),
    prepare,
    {"survey": survey, "masks": check_masks},
    "joints, marginals on both masks, their TVs; not deviations, stopping times or conflicts",
)
