"""Questions about a feature map alone: is it one to one, and is it causal? Source: theory.md, Theorem 6.2."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from factorcomp.models.feature_maps import FeatureTable

Ids = Int[np.ndarray, " sequences"]


@dataclass(frozen=True)
class Parting:
    """Why a map is no prefix-tree isomorphism: two sequences, by their indices.

    They share `length` tokens but not as many feature tokens (`shared` is `"tokens"`), or the other way round.
    """

    first: int
    second: int
    length: int
    shared: Literal["tokens", "features"]


def feature_prefixes(table: FeatureTable) -> list[Ids]:
    """For t = 0, 1, …: of each sequence a number for its first t feature tokens, from 0 in lexicographic order.

    >>> table = FeatureTable.from_tuples([["x", "x"], ["x", "y"], ["z", "x"], ["z", "y"]], ["a", "b"], 2)
    >>> [ids.tolist() for ids in feature_prefixes(table)]
    [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3]]
    """
    ids = [np.zeros(len(table.values), dtype=np.int64)]
    for column in table.values.T:
        ids.append(cells(ids[-1] * max(len(table.features), 1) + column))
    return ids


def cells(keys: Ids) -> Ids:
    """The same partition, by numbers from 0 in the order of the keys."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def block_cells(table: FeatureTable, coordinates: tuple[int, ...]) -> Ids:
    """Of each sequence a number for its feature tokens at these coordinates, from 0 in lexicographic order."""
    ids = np.zeros(len(table.values), dtype=np.int64)
    for coordinate in coordinates:
        ids = cells(ids * max(len(table.features), 1) + table.values[:, coordinate])
    return ids


def collision(table: FeatureTable) -> tuple[int, int] | None:
    """The first two sequences with the same features: first by the second one; `None` if the map is one to one.

    >>> collision(FeatureTable.from_tuples([["x"], ["y"], ["y"], ["x"]], ["a", "b"], 2))
    (1, 2)
    """
    ids = feature_prefixes(table)[-1]
    first = firsts(ids)
    again = np.flatnonzero(first[ids] != np.arange(len(ids)))
    return (int(first[ids[again[0]]]), int(again[0])) if len(again) else None


def onto(table: FeatureTable) -> bool:
    """Whether a one-to-one map reaches every tuple of its feature tokens."""
    return len(table.features) ** table.coordinates == len(table.values)


def parting(table: FeatureTable) -> Parting | None:
    """The shortest length at which a map of as many coordinates as tokens is no prefix-tree isomorphism, or `None`.

    `z_1 … z_t` must be a function of `y_1 … y_t`, and the other way round, for each t.

    >>> parting(FeatureTable.from_tuples([["x", "x"], ["y", "y"], ["y", "x"], ["x", "y"]], ["a", "b"], 2))
    Parting(first=0, second=1, length=1, shared='tokens')
    """
    size, numbers = len(table.vocabulary), np.arange(len(table.values))
    for t, ids in enumerate(feature_prefixes(table)[: table.length + 1]):
        tokens = numbers // size ** (table.length - t)
        for shared, mine, theirs in (("tokens", tokens, ids), ("features", ids, tokens)):
            first = firsts(mine)[mine]
            differs = np.flatnonzero(theirs[first] != theirs)
            if len(differs):
                return Parting(int(first[differs[0]]), int(differs[0]), t, shared)
    return None


def is_causal(table: FeatureTable) -> bool:
    """Whether the map is a prefix-tree isomorphism onto its image (Theorem 6.2).

    >>> is_causal(FeatureTable.from_tuples([["x", "x"], ["x", "y"], ["y", "y"], ["y", "x"]], ["a", "b"], 2))
    True
    """
    return table.coordinates == table.length and parting(table) is None


def firsts(ids: Ids) -> Int[np.ndarray, " cells"]:
    """The first sequence of each cell."""
    return np.unique(ids, return_index=True)[1]
