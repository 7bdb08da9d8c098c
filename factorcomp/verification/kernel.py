"""The rational kernel asked about models in memory: alone (`exact`), or for what floating point left open."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np

from factorcomp.certificates import ClaimResult, Findings, Measures, Question, Verdict
from factorcomp.certificates import FeatureMap as KernelMap
from factorcomp.certificates import Model as KernelModel
from factorcomp.certificates import decide as decide_rationally
from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import PrefixWitness
from factorcomp.enumeration.size import count_prefixes
from factorcomp.factorization.every_length import decide_every_length
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import AbstractRows, FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel
from factorcomp.surveys import Progress
from factorcomp.verdicts import prefixes_of

NUMBERS_TO_SETTLE = 60_000
"""How many probabilities the kernel is given unasked, to settle what floating point left open: some seconds at most."""


def decide_exactly(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    progress: Progress | None = None,
    claims: frozenset[str] | None = None,
    features: KernelMap | None = None,
) -> Findings:
    """The kernel's findings on these models, of the claims named (or all); `features`: if the question has masks."""
    base = kernel_model(background, question.horizon)
    own = {name: kernel_model(expert, question.horizon) for name, expert in experts.items()}
    return decide_rationally(base, own, question, progress=progress, claims=claims, features=features)


def settle(
    findings: Findings, background: TabularModel, experts: Mapping[str, TabularModel], question: Question
) -> Findings:
    """The findings, with every claim that floating point left unsettled decided by the kernel, where that is quick."""
    vocab = len(background.vocabulary)
    numbers = count_prefixes(vocab, question.horizon) * vocab * (len(experts) + 1)
    if not findings.unsettled or findings.measures is None or numbers > NUMBERS_TO_SETTLE:
        return findings
    exact = decide_exactly(background, experts, question, claims=findings.unsettled)
    claims = tuple(exact[c.name] if c.name in findings.unsettled else c for c in findings.claims)
    settled = replace(findings, claims=claims, unsettled=frozenset())
    return replace(settled, measures=_in_line_with(settled, findings.measures))


def decide_all_lengths(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    progress: Progress | None = None,
    *,
    exact: bool = False,
) -> Findings:
    """What holds at every length: by the engine and, for what it leaves open, the kernel; or `exact`, by the kernel."""
    if exact:
        return decide_every_length_exactly(background, experts, question, progress)
    return settle_every_length(
        decide_every_length(background, experts, question, progress), background, experts, question
    )


def decide_every_length_exactly(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    progress: Progress | None = None,
) -> Findings:
    """The kernel's findings about every length; it leaves the long run open, which the engine adds in exact numbers."""
    base, own = automaton(background), {name: automaton(expert) for name, expert in experts.items()}
    exact = decide_rationally(base, own, question, progress=progress)
    engine = decide_every_length(background, experts, question, exact=True)
    claims = tuple(_with_the_long_run(result, engine) for result in exact.claims)
    return replace(exact, claims=claims, measures=engine.measures)


def settle_every_length(
    findings: Findings, background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], question: Question
) -> Findings:
    """The same as `settle`, about every length."""
    numbers = (findings.states or 0) * len(background.vocabulary) * (len(experts) + 1)
    if not findings.unsettled or findings.measures is None or numbers > NUMBERS_TO_SETTLE:
        return findings
    base, own = automaton(background), {name: automaton(expert) for name, expert in experts.items()}
    exact = decide_rationally(base, own, question, claims=findings.unsettled)
    claims = tuple(
        _with_the_long_run(exact[c.name], findings) if c.name in findings.unsettled else c for c in findings.claims
    )
    settled = replace(findings, claims=claims, unsettled=frozenset())
    return replace(settled, measures=_in_line_with(settled, findings.measures))


def settle_at_length(
    findings: Findings, background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], question: Question
) -> Findings:
    """The same about a length beyond enumeration, by what the kernel says of every length.

    What holds at every length holds; what first fails at a prefix as long as the length, or longer, holds too.
    """
    numbers = (findings.states or 0) * len(background.vocabulary) * (len(experts) + 1)
    if not findings.unsettled or findings.measures is None or numbers > NUMBERS_TO_SETTLE:
        return findings
    base, own = automaton(background), {name: automaton(expert) for name, expert in experts.items()}
    endless = replace(question, length="every", masks=None)
    exact = decide_rationally(base, own, endless, claims=findings.unsettled)
    settled = {name: _within(exact[name], findings[name], question.horizon) for name in findings.unsettled}
    claims = tuple(settled.get(c.name) or c for c in findings.claims)
    unsettled = frozenset(name for name, result in settled.items() if result is None)
    found = replace(findings, claims=claims, unsettled=unsettled)
    return replace(found, measures=_in_line_with(found, findings.measures))


def _within(every: ClaimResult, result: ClaimResult, length: int) -> ClaimResult | None:
    """What the kernel's result about every length says of one; `None` if nothing."""
    witness = every.witness
    shortest = min((len(prefix) for prefix in prefixes_of(witness)), default=length)
    if every.verdict is Verdict.HOLDS or (every.verdict is Verdict.REFUTED and shortest >= length):
        return replace(every, verdict=Verdict.HOLDS, residual=Fraction(0), witness=None, length=length, why=HOLDS_THERE)
    if every.verdict is Verdict.REFUTED and isinstance(witness, PrefixWitness):
        return replace(every, residual=result.residual, length=length)
    return None


HOLDS_THERE = "wherever the composition goes within the length, as the product's states show"


def _with_the_long_run(result: ClaimResult, engine: Findings) -> ClaimResult:
    """The kernel's result with the residual of the engine where the kernel leaves it open."""
    if result.residual is not None or result.verdict is not Verdict.REFUTED:
        return result
    return replace(result, residual=engine[result.name].residual)


def automaton(model: FiniteStateModel) -> Automaton:
    """A finite-state model as the kernel takes it; it adds the state in which the sequence has ended by itself."""
    count = len(model.states)
    rows = model.rows.take(np.arange(count), range(len(model.vocabulary)))
    following = tuple(tuple(q if 0 <= q < count else None for q in row) for row in model.next[:count].tolist())
    numbers = tuple(map(tuple, _numbers(rows)))
    return Automaton(model.vocabulary, model.eos, model.states, model.initial, numbers, following, _scale(rows))


def _in_line_with(findings: Findings, measures: Measures) -> Measures:
    """The measures, exact where a claim settles them."""
    unit, equal = findings["unit_normalizer"], findings["local_equals_global"]
    if unit.verdict is Verdict.HOLDS and measures.log_normalizer_min is not None:
        measures = replace(measures, log_normalizer_min=0.0, log_normalizer_max=0.0)
    if equal.residual is None or equal.length != findings.claims[0].length:
        return measures
    return replace(measures, tv_local_global=equal.residual)


def kernel_model(model: TabularModel, length: int) -> KernelModel:
    """The first `length` steps of a model as the kernel takes them: nested tuples of exact numbers."""
    steps = model.steps[:length]
    scales = {_scale(rows) for rows in steps}
    if len(scales) > 1:
        raise InputError(f"{model.source.name}: some steps hold probabilities and some logs; the kernel takes one kind")
    rows: list[list[tuple[Fraction | float, ...] | None]] = [list(map(tuple, _numbers(step))) for step in steps]
    for t, gap in enumerate(model.gaps or ()):
        for index in np.flatnonzero(gap).tolist() if t < length else ():
            rows[t][index] = None
    return KernelModel(model.vocabulary, model.eos, tuple(map(tuple, rows)), scales.pop() if scales else "probs")


def _scale(rows: AbstractRows) -> Literal["probs", "logs"]:
    return "logs" if isinstance(rows, FloatRows) and rows.scale != "probs" else "probs"


def _numbers(rows: AbstractRows) -> list[list[Fraction]] | list[list[float]]:
    if isinstance(rows, FloatRows):
        return rows.values.astype(np.float64).tolist()
    if isinstance(rows, RationalRows):
        pairs = zip(rows.numerators.tolist(), rows.denominators.tolist(), strict=True)
        return [[Fraction(n, d) for n, d in zip(*row, strict=True)] for row in pairs]
    raise TypeError(f"rows of type {type(rows).__name__} are not given by a file")
