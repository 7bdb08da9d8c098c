"""The trusted kernel: it decides every claim exactly, about a bounded length by plain enumeration.

For every length, about finite-state models, it explores their product (every_length.py).

All numbers are fractions where the models are rational and the weights integers; otherwise the numbers that need an
exponential are enclosed, and a claim that an enclosure cannot tell is UNDECIDED. Deviation, and what follows from it,
is exact in both cases. Nothing is shared with the engines.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from factorcomp.certificates import composition, factorization
from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.claims import (
    COMPOSITION_CLAIMS,
    JOINT_CLAIMS,
    ClaimResult,
    ExpertMeasures,
    Findings,
    Measures,
    Question,
    Termination,
    Verdict,
)
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.enclosure import Value, total
from factorcomp.certificates.every_length import decide_every_length
from factorcomp.certificates.feature_maps import FeatureMap
from factorcomp.certificates.features import Features, check_masks
from factorcomp.certificates.judgement import Judgement, number
from factorcomp.certificates.models import Model
from factorcomp.certificates.pushforward import with_features
from factorcomp.certificates.rows import largest_in_nats
from factorcomp.certificates.tree import Levels, Progress, Tree, given_masks, spans

METHOD = "rational"
COMPOSED = (*JOINT_CLAIMS, *COMPOSITION_CLAIMS)
Named = tuple[str, str | None, Callable[[], Judgement]]


def decide(
    background: Model | Automaton,
    experts: Mapping[str, Model | Automaton],
    question: Question,
    progress: Progress | None = None,
    claims: Collection[str] | None = None,
    residuals: bool = True,
    features: FeatureMap | None = None,
) -> Findings:
    """Every claim of `question`, decided from the models' rows.

    **Arguments:** `claims`: derive only these (and `well_defined`), without the measures; names of claims, or
    `projective:NAME`. `progress`: called with the prefixes read and all prefixes. `residuals`: false leaves out those
    that take long and that no verdict needs. `features`: the map, if `question.feature_masks` is not `None`.

    **Raises** `KernelError` for models or masks that do not fit together, a horizon that is too short, or a table for
    every length.
    """
    if (features is None) != (question.feature_masks is None):
        raise KernelError("got a feature map without a question about it, or the question alone; needed both or none")
    if question.length == "every":
        plain = replace(question, feature_masks=None)
        findings = decide_every_length(background, experts, plain, progress, claims, residuals)
        if features is None:
            return findings
        return with_features(findings, background, experts, question, features, claims, residuals)
    tables = {name: _table(model, question.horizon) for name, model in experts.items()}
    tree = Tree(_table(background, question.horizon), tables, question, progress)
    results = [_result(tree, "well_defined", composition.well_defined(tree))]
    defined = results[0].verdict is Verdict.HOLDS
    masks, judges = _judges(tree, defined, residuals, features)
    for claim, mask, judge in judges:
        if claims is None or claim in claims or f"{claim}:{mask}" in claims:
            unknown = Judgement(Verdict.UNDECIDED, "the composition is not well defined")
            results.append(_result(tree, claim, judge() if defined else unknown, mask))
    prefixes = sum(map(sum, tree.scope))
    if not defined:
        return Findings(tuple(results), None, {}, {}, masks, prefixes)
    numbers = measures(tree, results) if claims is None else None
    deviating, active = (
        {name: tuple(spans([bits >> i & 1 for bits in level]) for level in sets) for i, name in enumerate(tree.experts)}
        for sets in (tree.deviating, tree.active)
    )
    return Findings(tuple(results), numbers, deviating, active, masks, prefixes)


def _table(model: Model | Automaton, length: int) -> Model:
    return model.unrolled(length) if isinstance(model, Automaton) else model


def _result(tree: Tree, claim: str, said: Judgement, mask: str | None = None) -> ClaimResult:
    residual = None if said.residual is None else number(said.residual)
    return ClaimResult(claim, said.verdict, METHOD, tree.length, said.why, residual, said.witness, mask)


def _judges(
    tree: Tree, defined: bool, residuals: bool, features: FeatureMap | None
) -> tuple[factorization.Masks | None, list[Named]]:
    """The masks, given or found, and the claims but `well_defined`, in the order of a report, each with its judge."""
    judges: list[Named] = [
        ("pointwise_joint", None, partial(composition.pointwise_joint, tree)),
        ("interval_joint", None, partial(composition.interval_joint, tree)),
        ("exact_switching", None, partial(composition.exact_switching, tree)),
        ("unit_normalizer", None, partial(composition.unit_normalizer, tree)),
        ("local_equals_global", None, partial(composition.local_equals_global, tree)),
    ]
    auto, owners = tree.question.masks == "auto", ()
    masks = None if tree.question.masks is None else given_masks(tree.question)
    clash: Judgement | None = None
    if auto:
        found = factorization.deviating_positions(tree) if defined else {}
        owners = [name for name in found if found[name]]
        clash = factorization.conflict(tree, found) if defined else None
        masks = {name: tuple(found[name]) for name in owners}
    if masks is not None:
        owners = owners or [name for name in tree.experts if name in masks]
        agreement = partial(factorization.mask_agreement, tree, masks)
        conditionals = partial(factorization.factorized_conditionals, tree, masks, residuals)
        judges += [("mask_agreement", None, agreement), ("factorized_conditionals", None, conditionals)]
        judges += [("projective", name, partial(factorization.projective, tree, masks, name)) for name in owners]
    if clash:
        judges = [(claim, mask, judge if claim in COMPOSED else lambda: clash) for claim, mask, judge in judges]
    owned = tree.question.feature_masks
    if features is not None and owned is not None:
        check_masks(owned, len(features.image(tree.vocabulary, tree.length)[0]))  # also where no claim asks
        about = cache(lambda: Features(tree, features, owned))
        mapped = [name for name in tree.experts if name in owned]
        judges += [("feature_projective", name, lambda name=name: about().projective(name)) for name in mapped]
        judges.append(("feature_commutes", None, lambda: about().commutes()))
    if tree.eos is not None:
        judges.append(("terminates", None, partial(composition.terminates, tree)))
    return None if auto and (clash or not defined) else masks, judges


def measures(tree: Tree, results: Sequence[ClaimResult]) -> Measures:
    """The numbers of a report (interface.md)."""
    low, high = composition.log_normalizers(tree)
    experts = {name: _expert_measures(tree, i) for i, name in enumerate(tree.experts)}
    residuals: dict[str, Any] = {result.claim: result.residual for result in results}
    return Measures(
        tv_to_switching=number(composition.tv_to_switching(tree)),
        tv_local_global=residuals["local_equals_global"],
        log_normalizer_min=low,
        log_normalizer_max=high,
        experts=experts,
        overlap_probability=residuals["pointwise_joint"],
        termination=_termination(tree) if tree.eos is not None else None,
    )


def _expert_measures(tree: Tree, i: int) -> ExpertMeasures:
    active = [(t, h) for t, level in enumerate(tree.active) for h, bits in enumerate(level) if bits >> i & 1]
    oscillations = {id(step): step.oscillations[i] for _, _, step in tree.prefixes()}.values()
    runs, most = [0], 0
    before = [0]
    for level in tree.deviating:
        now = [bits >> i & 1 for bits in level]
        runs = [count + (flag and not was) for count, flag, was in zip(runs, now, before, strict=True)]
        most = max([most, *runs])
        runs, before = ([item for item in items for _ in range(tree.size)] for items in (runs, now))
    return ExpertMeasures(
        deviating_prefixes=sum(bits >> i & 1 for level in tree.deviating for bits in level),
        active_prefixes=len(active),
        activity_probability=number(tree.meets(lambda t, h: tree.deviating[t][h] >> i & 1 == 1)),
        expected_active_steps=number(total((tree.composition[t][h] for t, h in active), tree.zero)),
        max_oscillation=largest_in_nats(oscillations, tree.question.weight(tree.experts[i])),
        runs=most,
    )


def _termination(tree: Tree) -> Termination:
    composed = tree.composition
    laws = [tree.component(m) for m in range(len(tree.experts) + 1)]
    names = dict(zip(tree.experts, (number(_expected_length(tree, law)) for law in laws[1:]), strict=True))
    unended = total((p for h, p in enumerate(composed[-1]) if not tree.ended(tree.length, h)), tree.zero)
    background, composition_ = (number(_expected_length(tree, law)) for law in (laws[0], composed))
    return Termination(number(unended), background, composition_, names)


def _expected_length(tree: Tree, law: Levels) -> Value:
    """The sum over t < T of the probability that a sequence goes on after t tokens."""
    going = (p for t, level in enumerate(law[:-1]) for h, p in enumerate(level) if not tree.ended(t, h))
    return total(going, tree.zero)
