"""The composition as a table, stepwise or of whole sequences. Source: theory.md 1.1, 1.2, 1.5 (3)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.operator import compose_rows
from factorcomp.models.errors import InputError
from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows
from factorcomp.models.tabular import Source, TabularModel

Weights = Mapping[str, Fraction]


@dataclass(frozen=True)
class Weighed:
    """The weights `w(y|h)` of one step, `[prefixes, vocab]`: exact fractions (dtype object), or logs in float64."""

    values: Any
    undefined: Bool[np.ndarray, " prefixes"]
    exact: bool

    def possible(self) -> Bool[np.ndarray, "prefixes vocab"]:
        """Where the weight is positive."""
        return self.values > 0 if self.exact else self.values > -np.inf


def compose_tables(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    length: int,
    null_tokens: NullTokens,
    weights: Weights,
    *,
    sequence_level: bool,
) -> TabularModel:
    """The composition of aligned tables as a table of `length` steps: rational if they are and the weights are whole.

    Stepwise, row `h` is `w(.|h)/Z(h)`; at the sequence level `p_G(y|h) ∝ w(y|h) B(hy)` with `B(h) = sum_y w(y|h)
    B(hy)`, 1 at
    the leaves. A row that the composition cannot reach and that has no mass is the background's, and a note says so.

    Raises `InputError` where the composition reaches an undefined ratio, or (stepwise) a prefix where all mass
    vanishes.
    """
    steps = [
        weigh(background.steps[t], {n: e.steps[t] for n, e in experts.items()}, null_tokens, weights)
        for t in range(length)
    ]
    models = (background, *experts.values())
    for t, step in enumerate(steps):
        gaps = [model.gaps[t] for model in models if model.gaps is not None]
        steps[t] = replace(step, undefined=np.any([step.undefined, *gaps], axis=0))
    reach = _reach(steps)
    for t, (step, reached) in enumerate(zip(steps, reach, strict=True)):
        if (step.undefined & reached).any():
            index = int((step.undefined & reached).argmax())
            reason = f"a ratio has no value there ({null_tokens})"
            if any(model.says_nothing(t, index) for model in models):
                reason = "a model has no next state there"
            raise InputError(f"the composition is undefined after {_prefix(index, t, background)}: {reason}")
    if sequence_level:
        steps = _with_what_follows(steps, len(background.vocabulary))
        if length and not steps[0].possible().any():
            raise InputError("no sequence is possible under background and experts together: nothing to compose")
        reach = _reach(steps)
    rows, notes = [], []
    for t, (step, reached) in enumerate(zip(steps, reach, strict=True)):
        empty = ~step.possible().any(axis=1) | step.undefined
        if (empty & reached).any():
            prefix = _prefix(int((empty & reached).argmax()), t, background)
            raise InputError(f"the composition is undefined after {prefix}: all mass vanishes there")
        if empty.any():
            count = int(empty.sum())
            notes.append(
                f"composition: step {t}: the background's row where none has mass, out of reach: {count} times"
            )
        rows.append(normalised(step, empty, background.steps[t]))
    names = " + ".join(experts)
    return TabularModel(
        background.vocabulary, tuple(rows), background.eos, Source(f"composition of {names}", notes=tuple(notes))
    )


def weigh(
    background: AbstractRows, experts: Mapping[str, AbstractRows], null_tokens: NullTokens, weights: Weights
) -> Weighed:
    """`w(y|h)` at row after row of background and experts; exact if the rows are rational and the weights whole."""
    factors = [weights.get(name, Fraction(1)) for name in experts]
    rows = [background, *experts.values()]
    if all(isinstance(r, RationalRows) for r in rows) and all(f.denominator == 1 for f in factors):
        return _weigh_exactly(background, list(experts.values()), null_tokens, [int(f) for f in factors])
    prefixes = background.shape[0]
    logs = [r.log_probs(0, prefixes) for r in rows]
    composed = compose_rows(logs[0], np.stack(logs[1:]), np.array([float(f) for f in factors]), null_tokens)
    values = np.where(composed.log_probs > -np.inf, composed.log_probs + composed.log_normalizer[:, None], -np.inf)
    return Weighed(values, composed.undefined, exact=False)


def _weigh_exactly(
    background: AbstractRows, experts: list[AbstractRows], null_tokens: NullTokens, weights: list[int]
) -> Weighed:
    prefixes, vocab = background.shape
    values = np.empty((prefixes, vocab), dtype=object)
    undefined = np.zeros(prefixes, dtype=bool)
    for h in range(prefixes):
        base = background.exact(h).factors
        own = [_tilt(base, rows.exact(h).factors, weight) for rows, weight in zip(experts, weights, strict=True)]
        for y, p in enumerate(base):
            openers = [row[y] for row in own if row[y]] if not p else []
            weighted = any(
                not p and rows.exact(h).factors[y] and w != 1 for rows, w in zip(experts, weights, strict=True)
            )
            tolerated = {"strict": 0, "cancel": 1, "drop": len(own)}[null_tokens]
            undefined[h] |= weighted or len(openers) > tolerated
            opened = openers[0] if openers and null_tokens == "cancel" else Fraction(0)
            values[h, y] = math.prod((row[y] / p for row in own), start=p) if p else opened
    return Weighed(values, undefined, exact=True)


def _tilt(base: tuple[Fraction, ...], row: tuple[Fraction, ...], weight: int) -> tuple[Fraction, ...]:
    """The tilted expert `∝ p_b (p/p_b)^λ` on the common support; the row itself for weight 1."""
    if weight == 1:
        return row
    powers = [b * (p / b) ** weight if b and p else Fraction(0) for b, p in zip(base, row, strict=True)]
    total = sum(powers)
    return tuple(x / total for x in powers) if total else tuple(powers)


def _reach(steps: list[Weighed]) -> list[Bool[np.ndarray, " prefixes"]]:
    """The prefixes that the composition reaches, by length; nothing below an undefined one."""
    reach = [np.ones(1, dtype=bool)]
    for step in steps[:-1]:
        reach.append(((reach[-1] & ~step.undefined)[:, None] & step.possible()).reshape(-1))
    return reach[: len(steps)]


def _with_what_follows(steps: list[Weighed], vocab: int) -> list[Weighed]:
    """The weights `w(y|h) B(hy)`; undefined rows, which are not reached, count as nothing."""
    found = []
    follows: Any = None
    for step in reversed(steps):
        values = step.values
        if follows is not None:
            child = follows.reshape(-1, vocab)
            values = values * child if step.exact else values + child
        values = values.copy()
        values[step.undefined] = Fraction(0) if step.exact else -np.inf
        found.append(replace(step, values=values))
        follows = values.sum(axis=1) if step.exact else np.logaddexp.reduce(values, axis=1)
    return found[::-1]


def normalised(step: Weighed, empty: Bool[np.ndarray, " prefixes"], background: AbstractRows) -> AbstractRows:
    """`w(.|h)/Z(h)`, and the background's row where it is `empty`."""
    if not step.exact:
        filled = np.where(empty[:, None], background.log_probs(0, background.shape[0]), step.values)
        return FloatRows(filled - np.logaddexp.reduce(filled, axis=1)[:, None], "log_probs")
    numerators, denominators = np.empty(step.values.shape, dtype=object), np.empty(step.values.shape, dtype=object)
    for h, row in enumerate(step.values):
        exact = background.exact(h).factors if empty[h] else [x / sum(row) for x in row]
        numerators[h] = [x.numerator for x in exact]
        denominators[h] = [x.denominator for x in exact]
    return RationalRows(numerators, denominators)


def _prefix(index: int, length: int, model: TabularModel) -> str:
    tokens = []
    for _ in range(length):
        index, token = divmod(index, len(model.vocabulary))
        tokens.append(model.vocabulary[token])
    return repr(" ".join(reversed(tokens))) if tokens else "the empty prefix"
