"""What happens at every state of a product: who deviates there, and how the rows compose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse import csgraph

from factorcomp.bounds.oscillation import exceeds, oscillation
from factorcomp.certificates.claims import Question
from factorcomp.composition import graph
from factorcomp.composition.block import Block, compose_block
from factorcomp.composition.product import Following, Product, explore
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import AbstractRows
from factorcomp.surveys import Progress

STATES_PER_BLOCK = 1 << 13
"""Composed at a time, so that all that is made of them stays in cache."""
KEPT = ("log_probs", "switching", "log_normalizer", "nearest_tv", "expert_tv", "settled", "error")


@dataclass(frozen=True)
class Composed:
    """A product and, at each of its states, the fields of `Block` that are kept; they mean nothing at broken states.

    **Fields:** `differs`, `deviates`: the experts, at threshold 0 and at the question's, decided exactly; nobody does
    at a broken state. `oscillation`: of the weighted log-ratio, in nats.
    """

    product: Product
    differs: Bool[np.ndarray, "experts states"]
    deviates: Bool[np.ndarray, "experts states"]
    oscillation: Float[np.ndarray, "experts states"]
    log_probs: Float[np.ndarray, "states vocab"]
    switching: Float[np.ndarray, "states vocab"]
    log_normalizer: Float[np.ndarray, " states"]
    nearest_tv: Float[np.ndarray, " states"]
    expert_tv: Float[np.ndarray, "experts states"]
    settled: Bool[np.ndarray, " states"]
    error: Float[np.ndarray, " states"]

    @cached_property
    def graph(self) -> sparse.csr_array:
        """The edges in scope."""
        return graph.matrix(self.product.search.next)

    @cached_property
    def back(self) -> sparse.csr_array:
        """The same, against their direction."""
        return self.graph.T.tocsr()

    @cached_property
    def ahead(self) -> Int[np.ndarray, "experts states"]:
        """From each state the fewest steps to a deviation of each expert, -1 where there is none."""
        return np.stack([graph.steps_from(self.back, np.flatnonzero(flags)) for flags in self.deviates])

    @cached_property
    def components(self) -> Int[np.ndarray, " states"]:
        """The strongly connected component of each state."""
        return csgraph.connected_components(self.graph, directed=True, connection="strong")[1].astype(np.int64)

    @cached_property
    def transitions(self) -> sparse.csr_array:
        """`P[q, q']`: the probability that the composition goes on from state q to state q'."""
        return graph.matrix(self.product.followed, np.exp(self.log_probs))

    def log_probability(self, passed: Sequence[int], tokens: Sequence[int]) -> float:
        """The log-probability under the composition of a prefix; it passes these states before each of its tokens."""
        places = np.array(passed, dtype=np.int64), np.array(tokens, dtype=np.int64)
        return float(self.log_probs[places].sum())


def compose_states(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    *,
    depth: int | None = None,
    progress: Progress | None = None,
) -> Composed:
    """Explores the product (to prefixes of `depth` tokens) and composes at each state."""
    models = [background, *experts.values()]
    weights = [question.weight(name) for name in experts]
    following = Following(tuple(weight != 1 for weight in weights), question.null_tokens)
    product = explore(models, following, everything=question.scope == "all", depth=depth, progress=progress)
    members = np.maximum(product.members, 0)
    count, states = len(weights), len(product)
    differs, deviates = np.zeros((count, states), dtype=bool), np.zeros((count, states), dtype=bool)
    oscillations = np.zeros((count, states))
    base = background.rows.log_probs(0, background.rows.shape[0])
    for i, (expert, weight) in enumerate(zip(experts.values(), weights, strict=True)):
        own = expert.rows.log_probs(0, expert.rows.shape[0])
        pairs, place = np.unique(members[i + 1] * len(base) + members[0], return_inverse=True)
        mine, theirs = pairs // len(base), pairs % len(base)
        differ = exceeds(expert.rows, mine, background.rows, theirs)
        limit = question.threshold / weight
        deviate = exceeds(expert.rows, mine, background.rows, theirs, limit) if limit else differ
        osc = np.where(differ, float(weight) * oscillation(own[mine], base[theirs]), 0.0)
        differs[i], deviates[i] = differ[place] & ~product.broken, deviate[place] & ~product.broken
        oscillations[i] = np.where(product.broken, 0.0, osc[place])
    fields = _compose([model.rows for model in models], members, weights, differs, deviates, question)
    return Composed(product, differs, deviates, oscillations, *fields)


def _compose(
    rows: Sequence[AbstractRows],
    members: np.ndarray,
    weights: Sequence[Fraction],
    differs: Bool[np.ndarray, "experts states"],
    deviates: Bool[np.ndarray, "experts states"],
    question: Question,
) -> list[np.ndarray]:
    """The fields of `Block` that are kept, for all states, block by block."""
    tables = [r.log_probs(0, r.shape[0]) for r in rows]
    floats = None if set(weights) == {1} else np.array([float(weight) for weight in weights])
    blocks: list[Block] = []
    for start in range(0, members.shape[1], STATES_PER_BLOCK):
        part = slice(start, start + STATES_PER_BLOCK)
        logs = np.stack([np.asfortranarray(table[q]) for table, q in zip(tables, members[:, part], strict=True)])
        blocks.append(
            compose_block(logs[0], logs[1:], floats, differs[:, part], deviates[:, part], question.null_tokens)
        )
    return [np.concatenate([getattr(block, name) for block in blocks], axis=int(name == "expert_tv")) for name in KEPT]
