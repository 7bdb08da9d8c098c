"""The rational kernel asked about models in memory: alone (`exact`), or for what floating point left open."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np

from factorcomp.certificates import Findings, Measures, Question, Verdict
from factorcomp.certificates import Model as KernelModel
from factorcomp.certificates import decide as decide_rationally
from factorcomp.enumeration.size import count_prefixes
from factorcomp.enumeration.survey import Progress
from factorcomp.models.errors import InputError
from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel

NUMBERS_TO_SETTLE = 60_000
"""How many probabilities the kernel is given unasked, to settle what floating point left open: some seconds at most."""


def decide_exactly(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    progress: Progress | None = None,
    claims: frozenset[str] | None = None,
) -> Findings:
    """The kernel's findings on these models, of the claims named (or all)."""
    base = kernel_model(background, question.length)
    own = {name: kernel_model(expert, question.length) for name, expert in experts.items()}
    return decide_rationally(base, own, question, progress=progress, claims=claims)


def settle(
    findings: Findings, background: TabularModel, experts: Mapping[str, TabularModel], question: Question
) -> Findings:
    """The findings, with every claim that floating point left unsettled decided by the kernel, where that is quick."""
    vocab = len(background.vocabulary)
    numbers = count_prefixes(vocab, question.length) * vocab * (len(experts) + 1)
    if not findings.unsettled or findings.measures is None or numbers > NUMBERS_TO_SETTLE:
        return findings
    exact = decide_exactly(background, experts, question, claims=findings.unsettled)
    claims = tuple(exact[c.name] if c.name in findings.unsettled else c for c in findings.claims)
    settled = replace(findings, claims=claims, unsettled=frozenset())
    return replace(settled, measures=_in_line_with(settled, findings.measures))


def _in_line_with(findings: Findings, measures: Measures) -> Measures:
    """The measures, exact where a claim settles them."""
    unit, equal = findings["unit_normalizer"], findings["local_equals_global"]
    if unit.verdict is Verdict.HOLDS and measures.log_normalizer_min is not None:
        measures = replace(measures, log_normalizer_min=0.0, log_normalizer_max=0.0)
    return measures if equal.residual is None else replace(measures, tv_local_global=equal.residual)


def kernel_model(model: TabularModel, length: int) -> KernelModel:
    """The first `length` steps of a model as the kernel takes them: nested tuples of exact numbers."""
    steps = model.steps[:length]
    scales = {_scale(rows) for rows in steps}
    if len(scales) > 1:
        raise InputError(f"{model.source.name}: some steps hold probabilities and some logs; the kernel takes one kind")
    rows = tuple(tuple(map(tuple, _numbers(step))) for step in steps)
    return KernelModel(model.vocabulary, model.eos, rows, scales.pop() if scales else "probs")


def _scale(rows: AbstractRows) -> Literal["probs", "logs"]:
    return "logs" if isinstance(rows, FloatRows) and rows.scale != "probs" else "probs"


def _numbers(rows: AbstractRows) -> list[list[Fraction]] | list[list[float]]:
    if isinstance(rows, FloatRows):
        return rows.values.astype(np.float64).tolist()
    if isinstance(rows, RationalRows):
        pairs = zip(rows.numerators.tolist(), rows.denominators.tolist(), strict=True)
        return [[Fraction(n, d) for n, d in zip(*row, strict=True)] for row in pairs]
    raise TypeError(f"rows of type {type(rows).__name__} are not given by a file")
