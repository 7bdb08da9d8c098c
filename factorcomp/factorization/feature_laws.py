"""The laws of features, and the stepwise composition in the order of the features. Source: theory.md, section 6."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from factorcomp.certificates.claims import NullTokens
from factorcomp.factorization.masses import Ids, Masses, array_of, bounded, compose
from factorcomp.models.feature_maps import FeatureTable
from factorcomp.models.feature_structure import feature_prefixes, firsts
from factorcomp.models.rows import EPS


@dataclass(frozen=True)
class Undefined:
    """Where the pushforwards cannot be composed: after the first features of a sequence.

    `silent`: the model that never goes there (0: the background); `None`: a ratio has no value there.
    """

    sequence: int
    coordinate: int
    silent: int | None


def stepwise_in_features(table: FeatureTable, laws: Sequence[Masses], null_tokens: NullTokens) -> Masses | Undefined:
    """The law, `[sequences]`, of the stepwise composition of the pushforwards, by features in their order.

    The kernel of a pushforward after a prefix of features is a quotient of masses, and exists where its model goes.
    Mass that dies on the way (`Z = 0`) is lost.
    """
    prefixes = feature_prefixes(table)
    exact = laws[0].exact
    mass = Masses(array_of(exact, 1, 1))
    reached = np.ones(1, dtype=bool)
    above = [law.summed(prefixes[0]) for law in laws]
    for t in range(table.coordinates):
        ids, longer = prefixes[t], prefixes[t + 1]
        parents, tokens = _children(ids, longer, table.values[:, t])
        below = [law.summed(longer) for law in laws]
        silent = np.array([masses.values == 0 for masses in above], dtype=bool) & reached
        if silent.any():
            prefix = int(silent.any(axis=0).argmax())
            return Undefined(int((ids == prefix).argmax()), t, int(silent[:, prefix].argmax()))
        rows = [
            _rows(mine, children, parents, tokens, len(table.features))
            for mine, children in zip(above, below, strict=True)
        ]
        composed = compose(rows, null_tokens)
        wrong = composed.undefined & reached
        if wrong.any():
            return Undefined(int((ids == int(wrong.argmax())).argmax()), t, None)
        values = mass.values[parents] * composed.rows.values[parents, tokens]
        mass = Masses(values, 0.0 if exact else bounded(mass.relative + composed.rows.relative + EPS))
        reached = reached[parents] & (composed.rows.values[parents, tokens] > 0)
        above = below
    return Masses(mass.values[prefixes[-1]], mass.relative)


def _children(
    ids: Ids, longer: Ids, column: Int[np.ndarray, " sequences"]
) -> tuple[Int[np.ndarray, " longer"], Int[np.ndarray, " longer"]]:
    """Of each longer prefix, the one that it extends and the feature token that it adds."""
    first = firsts(longer)
    return ids[first], column[first]


def _rows(above: Masses, below: Masses, parents: Ids, tokens: Ids, count: int) -> Masses:
    """The kernel of a pushforward after each prefix, `[prefixes, features]`; 0 where it never goes."""
    exact = above.exact
    shape = (len(above.values), max(count, 1))
    rows = array_of(exact, 0, shape)
    divisors = np.where(above.values > 0, above.values, array_of(exact, 1, len(above.values)))
    rows[parents, tokens] = below.values / divisors[parents]
    return Masses(rows, 0.0 if exact else bounded(above.relative + below.relative + EPS))
