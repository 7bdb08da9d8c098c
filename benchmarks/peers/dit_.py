"""dit: joints as distributions over outcomes, marginals and variational distances by the library."""

from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.engine import Answer, Engine
from benchmarks.peers.numpy_ import composed, joint
from benchmarks.workloads import Case, Table


class Outcomes(NamedTuple):
    """The case, and every sequence."""

    case: Case
    sequences: list[tuple[int, ...]]


def prepare(case: Case) -> Outcomes:
    """Spells out every sequence."""
    return Outcomes(case, list(product(range(case.vocab), repeat=case.length)))


def survey(given: Outcomes) -> Answer:
    """Composed conditionals and joints come from NumPy; the distributions, marginals and distances are dit's."""
    import dit
    from dit.divergences import variational_distance

    case, sequences = given

    def law(table: Table) -> dit.Distribution:
        probabilities = joint(table)
        return dit.Distribution(sequences, probabilities / np.sum(probabilities))  # it insists on a sum of 1

    composition = law(composed(case))
    return {
        "projective": [
            float(variational_distance(composition.marginal(mask), law(expert).marginal(mask)))
            for expert, mask in zip(case.experts, case.masks, strict=True)
        ]
    }


DIT = Engine(
    "dit",
    ("dit",),
    ("dit",),
    prepare,
    {"survey": survey},
    "marginals on both masks and their TVs; not deviations, stopping times or conflicts",
    largest=1 << 20,
)
