"""Features of finite-state models, at every length or one beyond enumeration: by their pushforwards (Theorem 6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from factorcomp.certificates.claims import (
    ClaimResult,
    FeatureWitness,
    Findings,
    MarginalWitness,
    Question,
    Verdict,
)
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.features import RELABELS, placed
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureMap, Transducer
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.pushforward import push_forward
from factorcomp.questions import ask_features
from factorcomp.surveys import Progress
from factorcomp.verdicts import Condition, FeatureMeasures, ModelName
from factorcomp.verification.kernel import decide_all_lengths, settle_at_length


def transduced(
    features: FeatureMap,
    feature_masks: object,
    experts: Mapping[str, object],
    question: Question,
    require: Sequence[str],
) -> tuple[Transducer, Question]:
    """The transducer, and the question with the masks of features.

    **Raises** `InputError` for another map: it is about the sequences of one length, one by one.
    """
    if not isinstance(features, Transducer):
        what = "every length" if question.length == "every" else f"length {question.length}"
        needed = "needed a transducer, or a shorter length (--length N), at which all sequences can be mapped"
        raise InputError(f"{features.source.name}: got a map of one length and the question for {what}; {needed}")
    return features, ask_features(question, question.length, experts, feature_masks, features.masks, require)


def decide_features_of_states(
    findings: Findings,
    features: Transducer,
    models: tuple[FiniteStateModel, Mapping[str, FiniteStateModel]],
    question: Question,
    progress: Progress | None,
    *,
    exact: bool,
) -> tuple[Findings, FeatureMeasures]:
    """The findings with the claims about features: what `projective` is of the pushforwards; these commute."""
    base, experts = models
    masks = question.feature_masks or {}
    owners = [name for name in experts if name in masks]
    causal = Condition(Verdict.HOLDS, "a transducer whose states each relabel every token: causal, both ways")
    conditions = {"bijective": causal, "causal": causal}
    unsettled: frozenset[str] = frozenset()
    if findings.measures is None:
        why = "the composition is not well defined"
        claims = [_result(question, "feature_projective", Verdict.UNDECIDED, why, name) for name in owners]
        claims.append(_result(question, "feature_commutes", Verdict.UNDECIDED, why))
    else:
        answer = _of_pushforwards(features, base, experts, question, progress, exact) if owners else None
        claims = [] if answer is None else [_of_features(answer[f"projective:{name}"]) for name in owners]
        if answer is not None:
            unsettled = frozenset(f"feature_{name}" for name in answer.unsettled if name.startswith("projective"))
            factorized = answer["factorized_conditionals"]
            conditions["factorized_conditionals"] = Condition(factorized.verdict, factorized.why)
        claims.append(_result(question, "feature_commutes", Verdict.HOLDS, RELABELS))
    source = ModelName(features.source.name, features.source.sha256)
    owned = {name: masks[name] for name in owners}
    measures = FeatureMeasures(source, features.kind, None, features.features, owned, conditions)
    return placed(findings, claims, unsettled), measures


def _of_pushforwards(
    features: Transducer,
    base: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    progress: Progress | None,
    exact: bool,
) -> Findings:
    """The findings about the models of the features, with the masks of features."""
    pushed, own = push_forward(base, features), {name: push_forward(m, features) for name, m in experts.items()}
    masks = question.feature_masks
    about = replace(question, masks=masks, feature_masks=None, scope="reachable", threshold=Fraction(0))
    if question.length == "every":
        return decide_all_lengths(pushed, own, about, progress, exact=exact)
    return settle_at_length(decide_at_length(pushed, own, about, progress), pushed, own, about)


def _result(question: Question, claim: str, verdict: Verdict, why: str, mask: str | None = None) -> ClaimResult:
    residual = 0.0 if verdict is Verdict.HOLDS else None
    return ClaimResult(claim, verdict, "finite-state", question.length, why, residual, mask=mask)


def _of_features(result: ClaimResult) -> ClaimResult:
    """`projective` of the pushforwards is `feature_projective`."""
    witness = result.witness
    if isinstance(witness, MarginalWitness):
        witness = FeatureWitness(witness.positions, witness.tokens, witness.composition, witness.expert)
    return replace(result, claim="feature_projective", witness=witness)
