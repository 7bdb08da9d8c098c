"""From a survey to findings: every claim about one length, in the order of a report."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from factorcomp.certificates.claims import (
    COMPOSITION_CLAIMS,
    ClaimResult,
    ExpertMeasures,
    Findings,
    Measures,
    Question,
    Termination,
    Verdict,
)
from factorcomp.enumeration.levelwise import levels
from factorcomp.enumeration.summary import Summary, summarize
from factorcomp.enumeration.tree import tokens_of
from factorcomp.factorization import exactness, joint, masks
from factorcomp.factorization.conditionals import Conditionals, decide_conditionals, tilted_steps
from factorcomp.factorization.context import Context
from factorcomp.factorization.undecided import undecided
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel
from factorcomp.surveys import Progress, Sighting, Survey


def decide(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    progress: Progress | None = None,
    seen: Summary | None = None,
) -> Findings:
    """Decides every claim by enumeration, in float64 with exact deviations; the same answer form as the kernel's.

    The models share vocabulary, EOS and a horizon of at least `question.horizon`. `seen`: their levels, where they have
    been visited already. Raises `InputError` where the enumeration does not fit into memory.
    """
    seen = seen or levels(background, experts, question, progress)
    survey = summarize(seen, question, list(experts), has_eos=background.eos is not None)
    return decide_from(survey, background, experts, question)


def decide_from(
    survey: Survey,
    background: FunctionModel | TabularModel,
    experts: Mapping[str, FunctionModel | TabularModel],
    question: Question,
) -> Findings:
    """Decides every claim from what an engine has seen of these models; of functions, no claim about all their rows."""
    context = Context(background.vocabulary, tuple(experts), question, survey)
    defined = _well_defined(context, background, experts, survey.undefined.first)
    if defined.verdict is Verdict.REFUTED:
        others = undecided(context, has_eos=background.eos is not None)
        return Findings((defined, *others), None, {}, {}, question.given_masks, survey.prefixes)
    about_masks, tied = _mask_claims(context, background, experts)
    claims = [
        defined,
        joint.pointwise_joint(context),
        joint.interval_joint(context),
        exactness.exact_switching(context),
        exactness.unit_normalizer(context),
        exactness.local_equals_global(context),
        *about_masks,
    ]
    if survey.termination is not None:
        claims.append(_terminates(context))
    return Findings(
        claims=tuple(claims),
        measures=_measures(context),
        deviating=dict(zip(experts, survey.deviating, strict=False)),
        active=dict(zip(experts, survey.active, strict=False)),
        masks=None if survey.masks is None else {context.names[i]: m for i, m in survey.masks.items()},
        prefixes=survey.prefixes,
        unsettled=_unsettled(context, claims) | tied,
    )


def _unsettled(context: Context[Survey], claims: list[ClaimResult]) -> frozenset[str]:
    """The claims that floating point left open, or whose witness it cannot tell to be the first."""
    survey = context.survey
    quantities = (survey.switching, survey.normalizer, survey.following)
    doubtful = {c for c, q in zip(COMPOSITION_CLAIMS, quantities, strict=True) if q is not None and q.doubtful}
    return frozenset({c.name for c in claims if c.verdict is Verdict.UNDECIDED or c.name in doubtful})


def _well_defined(
    context: Context[Survey],
    background: FunctionModel | TabularModel,
    experts: Mapping[str, FunctionModel | TabularModel],
    at: Sighting | None,
) -> ClaimResult:
    if at is None:
        return joint.well_defined(context, ())
    models = (background, *experts.values())
    silent = [isinstance(model, TabularModel) and model.says_nothing(at.length, at.index) for model in models]
    if any(silent):
        return joint.undefined_at_gap(context, silent)
    possible = [_row(model, at) > -np.inf for model in models]
    return joint.well_defined(context, joint.openers(possible[0], possible[1:], context.names, context.question))


def _row(model: FunctionModel | TabularModel, at: Sighting) -> Float[np.ndarray, " vocab"]:
    if isinstance(model, TabularModel):
        return model.steps[at.length].log_probs(at.index, at.index + 1)[0]
    return model.row(tokens_of(at.index, at.length, len(model.vocabulary)))


def _mask_claims(
    context: Context[Survey],
    background: FunctionModel | TabularModel,
    experts: Mapping[str, FunctionModel | TabularModel],
) -> tuple[list[ClaimResult], frozenset[str]]:
    """The claims about masks, and those whose witness another one may equal."""
    question, survey = context.question, context.survey
    if question.masks is None:
        return [], frozenset()
    if survey.masks is None:
        return masks.no_masks(context), frozenset()
    conditionals = Conditionals(None, 0.0, undecided="the rows of functions are too many to be kept and compared")
    tables = {name: expert for name, expert in experts.items() if isinstance(expert, TabularModel)}
    if isinstance(background, TabularModel) and len(tables) == len(experts):
        base = background.steps[: question.horizon]
        tilted = [tilted_steps(base, e.steps[: question.horizon], question.weight(n)) for n, e in tables.items()]
        conditionals = decide_conditionals(base, tilted, survey.masks)
    factorized = masks.factorized_conditionals(context, conditionals)
    assert survey.marginal is not None
    marginals = {} if conditionals.hold else {i: survey.marginal(i) for i in survey.masks}
    projective = [masks.projective(context, i, conditionals, marginals.get(i)) for i in survey.masks]
    tied = frozenset(f"projective:{context.names[i]}" for i, marginal in marginals.items() if marginal.tied)
    return [masks.mask_agreement(context, survey.masks), factorized, *projective], tied


def _terminates(context: Context[Survey]) -> ClaimResult:
    """All mass has ended by the horizon (theory.md, section 10)."""
    survey = context.survey.termination
    assert survey is not None
    if survey.ends:
        return context.result("terminates", Verdict.HOLDS, "every sequence has ended by the horizon", residual=0.0)
    why = f"a sequence has not ended by the horizon with probability {survey.unended:.4g}"
    witness = None
    if survey.endless is not None:
        witness = context.witness(survey.endless)
        why += f"; {context.after(survey.endless)} EOS cannot be reached"
    return context.result("terminates", Verdict.BOUNDED, why, residual=survey.unended, witness=witness)


def _measures(context: Context[Survey]) -> Measures:
    survey, termination = context.survey, context.survey.termination
    low, high = survey.log_normalizer_range or (None, None)
    assert survey.overlap is not None
    return Measures(
        tv_to_switching=survey.tv_to_switching,
        tv_local_global=survey.tv_local_global,
        log_normalizer_min=low,
        log_normalizer_max=high,
        experts={
            name: ExpertMeasures(
                deviating_prefixes=expert.deviating,
                active_prefixes=expert.active,
                activity_probability=expert.activity_probability,
                expected_active_steps=expert.expected_active_steps,
                max_oscillation=expert.max_oscillation,
                runs=expert.runs,
            )
            for name, expert in zip(context.names, survey.experts, strict=True)
        },
        overlap_probability=survey.overlap.probability,
        termination=None
        if termination is None
        else Termination(
            unended=termination.unended,
            background=termination.background,
            composition=termination.composition,
            experts=dict(zip(context.names, termination.experts, strict=True)),
        ),
    )
