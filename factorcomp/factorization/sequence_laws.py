"""The laws of whole sequences: of the background, of the (tilted) experts, and of both compositions.

In fractions where every row is rational and the sequences are few; in floats, with a bound on their error, elsewhere.
Source: theory.md 1.1, 1.2, 1.5 (1), 1.9.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from factorcomp.certificates.claims import Question
from factorcomp.factorization.conditionals import tilted_steps
from factorcomp.factorization.masses import Masses, array_of, bounded, compose, sound_where
from factorcomp.models.rows import EPS, AbstractRows, PowerTooLargeError
from factorcomp.models.tabular import TabularModel

NUMBERS_FOR_FRACTIONS = 40_000
"""The most probabilities, of all models, that are taken as fractions: about a second."""
_WORDIEST = 2000
"""Bits: rows of longer fractions are taken as floats."""


@dataclass(frozen=True)
class SequenceLaws:
    """The laws, `[sequences]`, in vocabulary order.

    **Fields:** `models`: of the background, then of the experts. `local`, `whole`: of the stepwise and the
    sequence-level composition. `normalizers`: `prod_t Z(y_<t)`. `reached[t]`: the prefixes of `t` tokens that the
    composition reaches. `lawless`: an expert that its weight leaves without a law (theory.md 1.9), by place; the laws
    then mean nothing.
    """

    models: tuple[Masses, ...]
    local: Masses
    whole: Masses
    normalizers: Masses
    reached: tuple[Bool[np.ndarray, "_"], ...]
    lawless: int | None = None

    @property
    def exact(self) -> bool:
        """Whether all numbers are fractions."""
        return self.local.exact


@np.errstate(all="ignore")  # what leaves the range of floats loses its bound on the error instead
def sequence_laws(background: TabularModel, experts: Mapping[str, TabularModel], question: Question) -> SequenceLaws:
    """The laws of sequences of `question.horizon` tokens; the composition must be well defined where it goes."""
    length, vocab = question.horizon, len(background.vocabulary)
    base = background.steps[:length]
    tilted = [tilted_steps(base, model.steps[:length], question.weight(name)) for name, model in experts.items()]
    steps = [list(rows) for rows in zip(base, *tilted, strict=True)]
    numbers = sum(rows.shape[0] * rows.shape[1] for step in steps for rows in step)
    kernels = None if numbers > NUMBERS_FOR_FRACTIONS else _fractions(steps)
    if kernels is None:
        kernels = [[_floats(rows) for rows in step] for step in steps]
    exact = kernels[0][0].exact if kernels else True
    one = array_of(exact, 1, 1)
    laws = [Masses(one) for _ in range(len(experts) + 1)]
    local, normalizers, reached, lawless = Masses(one), Masses(one), [np.ones(1, dtype=bool)], None
    for kernel in kernels:
        for m, rows in enumerate(kernel):
            if m and lawless is None and ((laws[m].values > 0) & ~(rows.values > 0).any(axis=1)).any():
                lawless = m - 1
            laws[m] = _extended(laws[m], rows)
        composed = compose(kernel, question.null_tokens)
        support = (composed.rows.values > 0) & reached[-1][:, None]
        local = _extended(local, composed.rows)
        grown = normalizers.values * composed.normalizer.values
        both = bounded(normalizers.relative + composed.normalizer.relative + EPS)
        normalizers = Masses(np.repeat(grown, vocab), both)
        reached.append(support.reshape(-1))
    nothing = array_of(exact, 0, local.values.shape)
    local = _checked(Masses(np.where(reached[-1], local.values, nothing), local.relative), reached[-1])
    normalizers = _checked(normalizers, reached[-1])
    return SequenceLaws(tuple(laws), local, _reweighted(local, normalizers), normalizers, tuple(reached), lawless)


def _reweighted(local: Masses, normalizers: Masses) -> Masses:
    """`P_G = P_L e^S / E_L e^S` (1.5 (1))."""
    weights = np.where(local.values > 0, local.values * normalizers.values, local.values)
    relative = local.relative + normalizers.relative + (len(weights) + 8) * EPS
    with np.errstate(all="ignore"):
        weights = weights / weights.sum()
    return Masses(weights, 0.0 if local.exact else bounded(2 * relative))


def _extended(law: Masses, rows: Masses) -> Masses:
    """The law of the prefixes one token longer."""
    values = (law.values[:, None] * rows.values).reshape(-1)
    if law.exact:
        return Masses(values)
    possible = ((law.values > 0)[:, None] & (rows.values > 0)).reshape(-1)
    return _checked(Masses(values, bounded(law.relative + rows.relative + EPS)), possible)


def _checked(masses: Masses, possible: Bool[np.ndarray, "*_"]) -> Masses:
    """The masses, without a bound where floats are too small to be trusted."""
    if masses.exact or sound_where(masses.values, possible):
        return masses
    return Masses(masses.values, np.inf)


def _floats(rows: AbstractRows) -> Masses:
    logs = rows.log_probs(0, rows.shape[0])
    error = float(rows.error(0, rows.shape[0]).max(initial=0.0))
    relative = bounded(np.expm1(min(error, 1.0)) + 4 * EPS * (1 + np.abs(logs[logs > -np.inf]).max(initial=0.0)))
    return _checked(Masses(np.ascontiguousarray(np.exp(logs)), relative), logs > -np.inf)


def _fractions(steps: Sequence[Sequence[AbstractRows]]) -> list[list[Masses]] | None:
    """The rows as fractions; `None` if some are not rational, or have too many digits."""
    found = []
    for step in steps:
        found.append([])
        for rows in step:
            values = np.empty(rows.shape, dtype=object)
            for h in range(rows.shape[0]):
                row = _rational(rows, h)
                if row is None:
                    return None
                values[h] = row
            found[-1].append(Masses(values))
    return found


def _rational(rows: AbstractRows, index: int) -> list[Fraction] | None:
    try:
        row = rows.exact(index)
    except PowerTooLargeError:
        return None
    shifts = {shift for shift, factor in zip(row.shifts, row.factors, strict=True) if factor}
    mass = sum(row.factors)
    if (row.root != 1 and len({*row.factors} - {0}) > 1) or len(shifts) > 1:
        return None
    if any(factor.denominator.bit_length() > _WORDIEST for factor in row.factors):
        return None
    return [factor / mass if mass else Fraction(0) for factor in row.factors]
