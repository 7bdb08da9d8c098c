"""Storm: the composition as a Markov chain on the prefixes; stopping times as reachability."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool

from benchmarks.engine import Answer, Engine
from benchmarks.peers.numpy_ import composed, deviating
from benchmarks.workloads import Case


class Chain(NamedTuple):
    """The chain; at which prefixes each expert deviates, level after level; where the levels start."""

    case: Case
    chain: Any
    deviates: tuple[Bool[np.ndarray, "prefixes"], ...]
    starts: list[int]


def prepare(case: Case) -> Chain:
    """A state for every prefix, whole sequences absorbing; the composed conditionals and deviations come from NumPy."""
    from stormpy.datastructures import SparseMatrixBuilder
    from stormpy.models import SparseDtmc, SparseModelComponents, StateLabeling

    starts = [0]
    for t in range(case.length + 1):
        starts.append(starts[-1] + case.vocab**t)
    states, leaves = starts[-1], case.vocab**case.length
    builder = SparseMatrixBuilder[float](rows=states, columns=states, entries=states - 1 + leaves)
    for t, rows in enumerate(composed(case)):
        for h, row in enumerate(rows.tolist()):
            for y, probability in enumerate(row):
                builder.add_next_value(starts[t] + h, starts[t + 1] + h * case.vocab + y, probability)
    for leaf in range(starts[case.length], states):
        builder.add_next_value(leaf, leaf, 1.0)
    never = np.zeros(leaves, dtype=bool)
    deviates = tuple(np.concatenate([*deviating(e, case.background), never]) for e in case.experts)
    labels = StateLabeling(states)
    labels.add_label("init")
    labels.add_label_to_state("init", 0)
    for label, flags in (("deviates_0", deviates[0]), ("deviates_1", deviates[1]), ("both_active", never[:0])):
        labels.add_label(label)
        labels.set_states(label, _bits(states, flags))
    parts = SparseModelComponents[float](transition_matrix=builder.build(), state_labeling=labels)
    return Chain(case, SparseDtmc[float](parts), deviates, starts)


def survey(given: Chain) -> Answer:
    """What will still deviate is a question about the graph; the conflict one about reachability."""
    import stormpy

    case, chain, deviates, starts = given
    intervals = []
    for i, flags in enumerate(deviates):
        (formula,) = stormpy.parse_properties(f'P=? [F "deviates_{i}"]')
        never, _ = stormpy.analysis.compute_prob01_states(chain, formula)
        ahead = np.ones(len(flags), dtype=bool)
        ahead[np.fromiter(never, np.int64)] = False
        began = [flags[:1]]
        for t in range(1, case.length + 1):
            began.append(np.repeat(began[-1], case.vocab) | flags[starts[t] : starts[t + 1]])
        intervals.append(np.concatenate(began) & ahead)
    both = intervals[0] & intervals[1]
    chain.labeling.set_states("both_active", _bits(len(both), both))
    (formula,) = stormpy.parse_properties('P=? [F "both_active"]')
    probability = stormpy.model_checking(chain, formula, only_initial_states=True)[0]
    place = int(both.argmax())
    length = next(t for t in range(case.length + 1) if place < starts[t + 1])
    return {
        "active": [int(flags.sum()) for flags in intervals],
        "conflict": float(probability),
        "first": [length, place - starts[length]] if both.any() else None,
    }


def _bits(count: int, flags: Bool[np.ndarray, "prefixes"]) -> Any:
    from stormpy.datastructures import BitVector

    return BitVector(count, np.flatnonzero(flags).tolist())


STORM = Engine(
    "Storm",
    ("stormpy",),
    ("stormpy",),
    prepare,
    {"survey": survey},
    "on the chain of all prefixes: both stopping times, conflict probability; not marginals (one query for each cell)",
    largest=1 << 20,
)
