"""The pushforward of a model under a causal feature map: the model of the features. Source: theory.md, Theorem 6.2."""

from typing import overload

import numpy as np
from jaxtyping import Int, Shaped

from factorcomp.models import memory
from factorcomp.models.alignment import Model
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureMap, FeatureTable, Transducer
from factorcomp.models.feature_structure import is_causal
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.function import FunctionModel, table_size
from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows
from factorcomp.models.tabular import Source, TabularModel

_NO_TOKEN = -1


@overload
def push_forward(model: TabularModel, features: FeatureMap) -> TabularModel: ...
@overload
def push_forward(model: FiniteStateModel, features: FeatureMap) -> FiniteStateModel: ...
def push_forward(model: Model, features: FeatureMap) -> TabularModel | FiniteStateModel:
    """The model whose sequences are the features of those of `model`: `p(z | D(h)) = p(y | h)`, `D(hy) = D(h) z`.

    A table through any causal map is a table, a finite-state model through a transducer a finite-state model, over the
    feature tokens. It has no EOS: what follows EOS is relabelled as everything else. Of prefixes that are no features
    of tokens a table says nothing.

    **Raises** `InputError` for a map that is no prefix-tree isomorphism, other tokens, and a finite-state model through
    another map than a transducer.

    >>> base = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])
    >>> mapped = push_forward(base, FeatureTable.from_tuples([["y"], ["x"]], ["a", "b"], 1))
    >>> mapped.vocabulary, mapped.steps[0].exact(0).factors
    (('x', 'y'), (Fraction(3, 4), Fraction(1, 4)))
    """
    if isinstance(model, FunctionModel):
        raise InputError(f"{model.source.name}: a function; needed a table (tabulate it first) or a finite-state model")
    if isinstance(model, TabularModel):
        return _table(model, features.tabulate(model.vocabulary, model.horizon))
    if not isinstance(features, Transducer):
        raise InputError(
            f"{features.source.name}: a map of sequences of one length; a finite-state model needs a transducer"
        )
    return _states(model, features.aligned(model.vocabulary))


def _table(model: TabularModel, table: FeatureTable) -> TabularModel:
    """`steps[t]`: for every prefix of features the row of the tokens' prefix, its columns relabelled."""
    if not is_causal(table):
        raise InputError(f"{table.source.name}: no prefix-tree isomorphism; needed a causal map with a causal inverse")
    size, count = len(model.vocabulary), len(table.features)
    memory.require(table_size(count, model.horizon), table.source.name, "the table of the features")
    prefixes = np.zeros(1, dtype=np.int64)  # of each prefix of features that of tokens, or -1
    steps, gaps = [], []
    for t, rows in enumerate(model.steps):
        ahead = size ** (model.horizon - t - 1)
        labels = table.values[:: ahead or 1, t].reshape(-1, size)  # [prefixes, vocab]
        places = _inverse(labels, count)[np.maximum(prefixes, 0)]
        places[prefixes == _NO_TOKEN] = _NO_TOKEN
        steps.append(relabelled(rows, np.maximum(prefixes, 0), places))
        gap = prefixes == _NO_TOKEN
        if model.gaps is not None:
            gap |= model.gaps[t][np.maximum(prefixes, 0)]
        gaps.append(gap)
        prefixes = np.where(places == _NO_TOKEN, _NO_TOKEN, prefixes[:, None] * size + places).reshape(-1)
    known = tuple(gaps) if any(gap.any() for gap in gaps) else None
    return TabularModel(table.features, tuple(steps), None, _source(model, table), known)


def _states(model: FiniteStateModel, features: Transducer) -> FiniteStateModel:
    """The product of the model's states and the map's, as far as they are reached."""
    count, places = len(features.features), _inverse(features.labels, len(features.features))
    numbers = {(model.initial, features.initial): 0}
    following: list[list[int]] = []
    for q, s in (pairs := list(numbers)):
        following.append([NOWHERE] * count)
        for z, y in enumerate(places[s].tolist()):
            after = NOWHERE if y == _NO_TOKEN else int(model.next[q, y])
            if after != NOWHERE:
                pair = (after, int(features.next[s, y]))
                if pair not in numbers:
                    numbers[pair] = len(numbers)
                    pairs.append(pair)
                following[-1][z] = numbers[pair]
    own, other = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    names = [*model.states, *(["the end"] if model.ended is not None else [])]
    states = tuple(f"{n}: {names[q]}, {features.states[s]}" for n, (q, s) in enumerate(pairs))
    rows = relabelled(model.rows, own, places[other])
    return FiniteStateModel(features.features, states, 0, rows, np.array(following), None, _source(model, features))


def relabelled(
    rows: AbstractRows, prefixes: Int[np.ndarray, " prefixes"], places: Int[np.ndarray, "prefixes features"]
) -> AbstractRows:
    """Row `prefixes[n]`, in whose place `z` stands the number of token `places[n, z]`; impossible where that is -1."""
    absent = places == _NO_TOKEN
    tokens = np.maximum(places, 0)

    def taken(values: Shaped[np.ndarray, "_ vocab"], nothing: float | int) -> Shaped[np.ndarray, "prefixes features"]:
        moved = np.take_along_axis(values[prefixes], tokens, axis=1)
        moved[absent] = nothing
        return moved

    if isinstance(rows, RationalRows):
        return RationalRows(taken(rows.numerators, 0), taken(rows.denominators, 1))
    if isinstance(rows, FloatRows):
        return FloatRows(taken(rows.values, 0.0 if rows.scale == "probs" else -np.inf), rows.scale)
    raise TypeError(f"rows of type {type(rows).__name__} are not given by a model")


def _inverse(labels: Int[np.ndarray, "rows vocab"], count: int) -> Int[np.ndarray, "rows features"]:
    """Of each feature token the token that it stands for, -1 where there is none."""
    places = np.full((len(labels), count), _NO_TOKEN, dtype=np.int64)
    np.put_along_axis(places, labels, np.broadcast_to(np.arange(labels.shape[1]), labels.shape), axis=1)
    return places


def _source(model: TabularModel | FiniteStateModel, features: FeatureTable | Transducer) -> Source:
    return Source(f"{model.source.name} through {features.source.name}")
