"""The models as one kind of numbers: fractions where the tables are rational and small, float64 elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool

from factorcomp.certificates.claims import Question
from factorcomp.composition.tables import compose_tables
from factorcomp.enumeration.size import count_prefixes
from factorcomp.enumeration.summary import Summary
from factorcomp.factorization.reference import certain
from factorcomp.factorization.segments import Flags, Kernels
from factorcomp.models.rows import AbstractRows, RationalRows
from factorcomp.models.tabular import TabularModel

NUMBERS_IN_FRACTIONS = 20_000
"""Up to so many numbers in all tables, rational ones are computed with as fractions: about a second."""


@dataclass(frozen=True)
class Setting:
    """The models as one kind of numbers: `one` is 1.0, or a fraction. `names`: of the experts, `own` their kernels.

    `follows[i][t]`: where the composition's row is known to be expert `i`'s; `switching_follows`: where the switching
    model's is.
    """

    names: tuple[str, ...]
    one: Any
    composition: Kernels
    switching: Kernels
    own: Sequence[Kernels]
    follows: Sequence[Sequence[Flags]]
    switching_follows: Sequence[Sequence[Flags]]


def setting_of(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    seen: Summary,
    question: Question,
) -> Setting:
    """In fractions where the tables are rational and small, and no expert has a weight; else in float64."""
    length, vocab = question.horizon, len(background.vocabulary)
    tables = [background, *experts.values()]
    rational = all(isinstance(rows, RationalRows) for table in tables for rows in table.steps[:length])
    small = count_prefixes(vocab, length) * vocab * len(tables) <= NUMBERS_IN_FRACTIONS
    weighted = any(question.weight(name) != 1 for name in experts)
    if not (rational and small and not weighted):
        return _in_floats(tuple(experts), seen)
    composed = compose_tables(background, experts, length, question.null_tokens, question.weights, sequence_level=False)
    rows = [_fractions(table.steps[:length]) for table in (composed, *tables)]
    composition, components = rows[0], rows[1:]
    switching = [
        _switching(composition.values[t], [c.values[t] for c in components], step.deviates)
        for t, step in enumerate(seen.steps)
    ]
    support = [np.array(values > 0, dtype=bool) for values in switching]
    same = [
        [
            [(mine == own).astype(bool).all(axis=1) for mine, own in zip(model, component.values, strict=True)]
            for component in components[1:]
        ]
        for model in (composition.values, switching)
    ]
    return Setting(
        tuple(experts), Fraction(1), composition, Kernels(switching, support), components[1:], same[0], same[1]
    )


def _fractions(steps: Sequence[AbstractRows]) -> Kernels:
    values = []
    for rows in steps:
        table = np.empty(rows.shape, dtype=object)
        for h in range(rows.shape[0]):
            table[h] = rows.exact(h).factors
        values.append(table)
    return Kernels(values, [np.array(table > 0, dtype=bool) for table in values])


def _switching(composition: Any, components: Sequence[Any], deviates: Bool[np.ndarray, "experts prefixes"]) -> Any:
    """The switching model's rows in fractions: the sole deviating expert, the background, or the nearest component."""
    rows = components[0].copy()
    for h in np.flatnonzero(deviates.any(axis=0)).tolist():
        if deviates[:, h].sum() == 1:
            rows[h] = components[int(deviates[:, h].argmax()) + 1][h]
        else:
            rows[h] = min((c[h] for c in components), key=lambda row, here=composition[h]: np.abs(row - here).sum())
    return rows


def _in_floats(names: tuple[str, ...], seen: Summary) -> Setting:
    composition, switching, own = [], [], [[] for _ in names]
    follows, switching_follows = ([[] for _ in names], [[] for _ in names])
    for step in seen.steps:
        assert step.rows is not None
        base = step.rows.components[0]
        composition.append(step.log_probs)
        switching.append(step.rows.switching)
        for i in range(len(names)):
            mine = step.rows.components[i + 1]
            own[i].append(mine)
            others = np.delete(step.differs, i, axis=0).any(axis=0)
            follows[i].append(((step.log_probs == mine).all(axis=1) & certain(step)) | (step.settled & ~others))
            alike = (step.rows.switching == base).all(axis=1) & ~step.differs[i]
            switching_follows[i].append((step.rows.switching == mine).all(axis=1) | alike)
    return Setting(
        names,
        1.0,
        _exponentials(composition),
        _exponentials(switching),
        [_exponentials(levels) for levels in own],
        follows,
        switching_follows,
    )


def _exponentials(logs: Sequence[Any]) -> Kernels:
    return Kernels([np.exp(level) for level in logs], [level > -np.inf for level in logs])
