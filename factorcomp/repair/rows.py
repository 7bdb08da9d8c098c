"""An expert's rows with some replaced by the background's, in the kind of numbers that the expert has."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel

DIFFERENT_KINDS = (
    "{}: its rows and those of {} are numbers of different kinds, and would agree up to rounding only; save both as "
    "one kind of file, or give a --threshold such as 1e-9"
)


def reset(
    expert: TabularModel, background: TabularModel, places: Sequence[Bool[np.ndarray, "_"]]
) -> tuple[TabularModel, bool]:
    """The expert with the background's rows at `places[t]` of step `t`, and whether these are exactly the background's.

    They are not where rationals or probabilities would have to become logs, or logs probabilities. Steps after the
    places given stay as they are, and so does an expert of which nothing is reset.
    """
    steps, exact = list(expert.steps), True
    for length, flags in enumerate(places):
        if flags.any():
            steps[length], same = merged(expert.steps[length], background.steps[length], flags)
            exact &= same
    if any(isinstance(rows, FloatRows) and rows.scale == "logits" for rows in steps):
        steps = [_as_logits(rows) for rows in steps]  # a file holds one scale, and log-probabilities are logits too
    gaps = expert.gaps
    if gaps is not None:
        gaps = tuple(gap & ~flags for gap, flags in zip(gaps, places, strict=False)) + gaps[len(places) :]
    digest = None if any(flags.any() for flags in places) else expert.source.sha256
    return replace(expert, steps=tuple(steps), gaps=gaps, source=replace(expert.source, sha256=digest)), exact


def _as_logits(rows: AbstractRows) -> AbstractRows:
    return FloatRows(rows.values, "logits") if isinstance(rows, FloatRows) and rows.scale == "log_probs" else rows


def merged(mine: AbstractRows, theirs: AbstractRows, flags: Bool[np.ndarray, " prefixes"]) -> tuple[AbstractRows, bool]:
    chosen = flags[:, None]
    if isinstance(mine, RationalRows):
        other, exact = _as_rational(theirs, flags)
        numerators = np.where(chosen, other.numerators, mine.numerators)
        return RationalRows(numerators, np.where(chosen, other.denominators, mine.denominators)), exact
    if not isinstance(mine, FloatRows):
        raise TypeError(f"rows of type {type(mine).__name__} are not given by a file")
    logs = mine.scale != "probs"
    if isinstance(theirs, FloatRows) and (theirs.scale != "probs") == logs:
        values = np.where(chosen, theirs.values, mine.values)
        return FloatRows(values, mine.scale if mine.scale == theirs.scale else "logits"), True
    values = theirs.log_probs(0, theirs.shape[0])
    return FloatRows(np.where(chosen, values if logs else np.exp(values), mine.values), mine.scale), False


def _as_rational(rows: AbstractRows, flags: Bool[np.ndarray, " prefixes"]) -> tuple[RationalRows, bool]:
    """The rows that are flagged in rational numbers (the others mean nothing), and whether these are exact."""
    if isinstance(rows, RationalRows):
        return rows, True
    numerators = np.zeros(rows.shape, dtype=object)
    denominators = np.ones(rows.shape, dtype=object)
    logs = not (isinstance(rows, FloatRows) and rows.scale == "probs")
    for h in np.flatnonzero(flags).tolist():
        row = [Fraction(float(x)) for x in np.exp(rows.log_probs(h, h + 1)[0])] if logs else rows.exact(h).factors
        total = sum(row)
        numerators[h] = [(x / total).numerator for x in row]
        denominators[h] = [(x / total).denominator for x in row]
    return RationalRows(numerators, denominators), not logs
