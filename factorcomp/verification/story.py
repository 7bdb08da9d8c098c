"""verify(): the whole story, from models to a report."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from factorcomp.certificates.claims import Findings, Length, NullTokens, Question, Scope, Tokens
from factorcomp.enumeration.levelwise import NUMBERS_TO_KEEP, levels
from factorcomp.enumeration.size import count_prefixes
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.decision import decide, decide_from
from factorcomp.factorization.guarantees import Predicate
from factorcomp.factorization.robust import SKIPPED
from factorcomp.inequalities import Guarantees, Robust
from factorcomp.models import memory
from factorcomp.models.alignment import Model, aligned, as_table
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureMap
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import FunctionModel, table_size
from factorcomp.models.tabular import TabularModel
from factorcomp.models.windows import as_finite_state
from factorcomp.questions import Masks, Numeric, ask
from factorcomp.streaming import TooExtremeError, suits, survey
from factorcomp.surveys import Progress
from factorcomp.verdicts import FeatureMeasures, Marks, ModelName, Report
from factorcomp.verification.bounds import NOTHING, Beyond, beyond_the_claims
from factorcomp.verification.feature_states import decide_features_of_states, transduced
from factorcomp.verification.features import Features, as_map, decide_features, tabulated
from factorcomp.verification.kernel import (
    decide_all_lengths,
    decide_exactly,
    settle,
    settle_at_length,
)
from factorcomp.verification.witnesses import marks_on_the_way, marks_seen, steps_to_show


def verify(
    background: Model,
    experts: Mapping[str, Model],
    *,
    length: Length | None = None,
    window: int | None = None,
    masks: Masks = None,
    threshold: Numeric = 0,
    scope: Scope = "reachable",
    null_tokens: NullTokens = "cancel",
    weights: Mapping[str, Numeric] | None = None,
    exact: bool = False,
    require: Sequence[str] | str = ("interval_joint",),
    bounds: bool = True,
    guarantees: Mapping[str, str | Predicate] | None = None,
    features: Features | None = None,
    feature_masks: Masks = None,
    resume: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Proves, refutes with a witness, or leaves open whether a background and its experts are jointly factorizable.

    Composes `p^(y|h) ∝ p_b(y|h) prod_i p_i(y|h)/p_b(y|h)` at every prefix `h` shorter than `length` and decides the
    claims of theory.md, sections 1-4 and 10.

    **Arguments:** `length`: the horizon in tokens; by default that of the tables; or `"every"`: every length at once,
    of finite-state models (theory.md, section 7). `window`: functions look at the last so many tokens, and are taken
    as finite-state models. `masks`: expert name -> the positions (from 0) that it owns, or `"auto"`. `threshold`: in
    nats; an expert deviates at a prefix if the oscillation of its log-ratio to the background exceeds it. `scope`: the
    prefixes that the composition can reach, or all. `null_tokens`: theory.md 1.3. `weights`: expert name -> the factor
    of its log-ratio. `exact`: decide by the rational kernel alone. `require`: the claim or claims that make the
    verdict. `bounds`: also how far the composition is from what it ought to be (theory.md, section 8). `guarantees`:
    expert name -> the segments on which it succeeds while active: a regular expression of their tokens joined by
    blanks, or a predicate of entry prefix and segment (theory.md, section 5). `features`: a feature map, or a function
    from a tuple of tokens to a tuple of feature tokens (theory.md, section 6). `feature_masks`: expert name -> its
    coordinates (from 0); by default those of the map. `resume`: a file in which long work on large tables is kept, and
    from which it goes on after an interruption. `progress`: called with the prefixes (states) done and their
    number.

    **Returns:** a `Report`. **Raises** `InputError`, with every problem, where models or options do not fit together.

    >>> from factorcomp import TabularModel
    >>> base = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    >>> up = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])
    >>> report = verify(base, {"up": up, "same": base})
    >>> print(report.verdict, report.measures.experts["up"].deviating_prefixes)
    HOLDS 1
    """
    check_models(background, experts)
    require = (require,) if isinstance(require, str) else tuple(require)
    if window is not None:
        background = _within(background, window)
        experts = {name: _within(expert, window) for name, expert in experts.items()}
    background, aligned_experts = aligned(background, experts)
    question = ask(
        background,
        aligned_experts,
        length=length,
        masks=masks,
        threshold=threshold,
        scope=scope,
        null_tokens=null_tokens,
        weights=weights,
        require=require,
        guarantees=guarantees,
        features=features is not None,
    )
    if feature_masks is not None and features is None:
        raise InputError("feature masks are given, and no feature map; give one (--features FILE)")
    mapped = None if features is None else Mapped(as_map(features), feature_masks, require)
    if (states := finite_state_models(background, aligned_experts, question)) is not None:
        if guarantees:
            raise InputError(f"guarantees: length {question.length} has too many prefixes; give a shorter length")
        answer = _of_states(*states, question, mapped, exact, progress)
    else:
        promised = guarantees or {}
        work = Work(exact, bounds, promised, resume, progress)
        answer = _of_tables(background, aligned_experts, question, mapped, work)
    models = (answer.background, *answer.experts.values())
    return Report(
        background=_name(answer.background),
        experts={name: _name(expert) for name, expert in answer.experts.items()},
        vocabulary=background.vocabulary,
        eos=background.eos,
        question=answer.question,
        required=require,
        findings=answer.findings,
        notes=tuple(dict.fromkeys(note for model in models for note in model.source.notes)),
        steps=steps_to_show(answer.findings, answer.background, answer.experts, answer.question),
        prefixes=answer.findings.prefixes,
        marks=answer.marks,
        robust=answer.beyond.robust,
        guarantees=answer.beyond.guarantees,
        features=answer.features,
    )


class Mapped(NamedTuple):
    """A feature map, the masks that were given for it, and the claims required."""

    features: FeatureMap
    masks: Masks
    require: Sequence[str]


class Work(NamedTuple):
    """How tables are enumerated, and what is looked for besides the claims."""

    exact: bool
    bounds: bool
    guarantees: Mapping[str, str | Predicate]
    resume: str | os.PathLike[str] | None
    progress: Progress | None


class Answer(NamedTuple):
    """What was asked of which models in the end, and everything found."""

    background: Model
    experts: Mapping[str, Model]
    question: Question
    findings: Findings
    marks: Mapping[Tokens, Marks] = {}
    beyond: Beyond = NOTHING
    features: FeatureMeasures | None = None


def _of_states(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    mapped: Mapped | None,
    exact: bool,
    progress: Progress | None,
) -> Answer:
    """By the product of finite-state models: every length, or one beyond enumeration."""
    transducer, asked = None, question
    if mapped is not None:
        transducer, asked = transduced(mapped.features, mapped.masks, experts, question, mapped.require)
    if question.length == "every":
        findings = decide_all_lengths(background, experts, question, progress, exact=exact)
    elif exact:
        raise InputError(
            f"length {question.horizon}: too many prefixes for the rational kernel; it decides shorter lengths, or "
            "every length (--every-length)"
        )
    else:
        found = decide_at_length(background, experts, question, progress)
        findings = settle_at_length(found, background, experts, question)
    marks, said = marks_on_the_way(findings, background, experts, question), None
    if transducer is not None:
        models = (background, experts)
        findings, said = decide_features_of_states(findings, transducer, models, asked, progress, exact=exact)
    return Answer(background, experts, asked, findings, marks, features=said)


def _of_tables(
    background: Model,
    experts: Mapping[str, Model],
    question: Question,
    mapped: Mapped | None,
    work: Work,
) -> Answer:
    """By enumeration, or by the rational kernel."""
    exact, bounds, guarantees, resume, progress = work
    if not exact and mapped is None and (functions := _as_they_are(background, experts, question)) is not None:
        base, own = functions
        streamed = _streamed(base, own, question, resume, progress)
        if streamed is not None:
            return Answer(base, own, question, *streamed, _skipped(bounds, guarantees))
    base = as_table(background, question.horizon, progress)
    tables = {name: as_table(expert, question.horizon, progress) for name, expert in experts.items()}
    keep_rows, beyond, said, marks = bounds or bool(guarantees), NOTHING, None, {}
    streamed = None if exact else _streamed(base, tables, question, resume, progress)
    if streamed is not None:
        findings, marks, seen = *streamed, None
        beyond = _skipped(bounds, guarantees)
    elif exact:
        findings = decide_exactly(base, tables, question, progress)
        seen = levels(base, tables, question, keep_rows=True) if keep_rows else None
    else:
        seen = levels(base, tables, question, progress, keep_rows=keep_rows)
        findings = settle(decide(base, tables, question, seen=seen), base, tables, question)
    if seen is not None:
        beyond = beyond_the_claims(base, tables, question, seen, findings, bounds, guarantees)
    if mapped is not None:
        table, question = tabulated(mapped.features, mapped.masks, base, tables, question, mapped.require)
        findings, said = decide_features(findings, table, base, tables, question, exact=exact)
    return Answer(base, tables, question, findings, marks, beyond, said)


def _skipped(bounds: bool, guarantees: Mapping[str, str | Predicate]) -> Beyond:
    """What is asked of large tables beyond the claims."""
    return Beyond(Robust(skipped=SKIPPED) if bounds else None, Guarantees(skipped=SKIPPED) if guarantees else None)


def _as_they_are(
    background: Model, experts: Mapping[str, Model], question: Question
) -> tuple[FunctionModel | TabularModel, dict[str, FunctionModel | TabularModel]] | None:
    """The models, if the tables of the functions among them would take more than half of the memory."""
    own = {name: expert for name, expert in experts.items() if isinstance(expert, FunctionModel | TabularModel)}
    if not isinstance(background, FunctionModel | TabularModel) or len(own) < len(experts):
        return None
    functions = sum(isinstance(model, FunctionModel) for model in (background, *own.values()))
    needed = functions * table_size(len(background.vocabulary), question.horizon)
    if not functions or needed <= (memory.available() or needed) / 2 or needed > LARGEST_WALK:
        return None
    tables = (background, *own.values())
    if any(isinstance(model, TabularModel) and model.horizon < question.horizon for model in tables):
        return None
    return background, own


def _streamed(
    background: FunctionModel | TabularModel,
    experts: Mapping[str, FunctionModel | TabularModel],
    question: Question,
    resume: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> tuple[Findings, Mapping[Tokens, Marks]] | None:
    """What the streaming engine says of tables that are worth it, and that it can read."""
    vocab, models = len(background.vocabulary), (background, *experts.values())
    numbers = count_prefixes(vocab, question.horizon) * vocab * len(models)
    if numbers <= NUMBERS_TO_STREAM or not suits(models, question):
        return None
    try:
        seen = survey(background, experts, question, progress, resume)
    except TooExtremeError:
        return None
    findings = decide_from(seen, background, experts, question)
    who = seen.who
    return findings, {} if who is None else marks_seen(findings, background.vocabulary, list(experts), who)


NUMBERS_TO_STREAM = NUMBERS_TO_KEEP
"""Tables of floats of more numbers, in all, are streamed; those of fewer are kept, for what goes beyond the claims."""
LARGEST_WALK = 1 << 44
"""Functions whose tables would take more bytes are refused: nobody would wait for their rows."""
LONGEST = 1_000_000
"""The longest sequences that are scanned."""
NUMBERS_TO_ENUMERATE = 1 << 21
"""Finite-state models are enumerated, and all measures known, up to so many numbers in all tables: about a second."""


def finite_state_models(
    background: Model, experts: Mapping[str, Model], question: Question
) -> tuple[FiniteStateModel, dict[str, FiniteStateModel]] | None:
    """The models if they are all finite-state and the length is every length, or beyond enumeration."""
    own = {name: expert for name, expert in experts.items() if isinstance(expert, FiniteStateModel)}
    if not isinstance(background, FiniteStateModel) or len(own) < len(experts):
        return None
    if question.length != "every":
        vocab = len(background.vocabulary)
        if count_prefixes(vocab, question.length) * vocab * (len(own) + 1) <= NUMBERS_TO_ENUMERATE:
            return None
        if question.length > LONGEST:
            every = "ask about every length (--every-length)"
            raise InputError(f"length {question.length}: lengths up to {LONGEST:,} are scanned; {every}")
    return background, own


def check_models(background: object, experts: object) -> None:
    """Raises `TypeError` unless these are a model and a mapping from names to models."""
    if not isinstance(experts, Mapping):
        given = f"a {type(experts).__name__}"
        raise TypeError(f"experts: got {given}, needed a mapping from names to models, such as {{'up': model}}")
    for name, model in {"background": background, **experts}.items():
        if not isinstance(model, Model):
            given = repr(model) if isinstance(model, str | os.PathLike) else f"a {type(model).__name__}"
            raise TypeError(f"{name}: got {given}, needed a model: factorcomp.load(path) reads one")


def _within(model: Model, window: int) -> Model:
    """A function that looks at the last `window` tokens, as a finite-state model; others as they are."""
    return as_finite_state(model, window) if isinstance(model, FunctionModel) else model


def _name(model: Model) -> ModelName:
    return ModelName(model.source.name, model.source.sha256)
