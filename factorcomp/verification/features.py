"""A feature map in `verify`: from what a caller gives to claims, by the engine and, where that is open, the kernel."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from factorcomp.certificates import FeatureMap as KernelMap
from factorcomp.certificates.claims import FEATURE_CLAIMS, Findings, Question
from factorcomp.enumeration.size import count_prefixes
from factorcomp.factorization.features import check_features, with_features
from factorcomp.models.feature_maps import FeatureFunction, FeatureMap, FeatureTable
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import ask_features
from factorcomp.verdicts import FeatureMeasures
from factorcomp.verification.kernel import NUMBERS_TO_SETTLE, decide_exactly

Features = FeatureMap | Callable[[tuple[str, ...]], Sequence[str]]


def as_map(features: object) -> FeatureMap:
    """The map; a Python function as one.

    **Raises** `TypeError` for anything else.
    """
    if isinstance(features, FeatureMap):
        return features
    function: Any = features
    if not callable(features) or isinstance(features, type):
        needed = "needed a feature map: factorcomp.load_features(path) reads one, or a function of a tuple of tokens"
        raise TypeError(f"features: got {features!r}, {needed}")
    return FeatureFunction(function)


def decide_features(
    findings: Findings,
    table: FeatureTable,
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    *,
    exact: bool,
) -> tuple[Findings, FeatureMeasures]:
    """The findings with the claims about features; `exact`: the claims by the rational kernel alone."""
    findings, measures = with_features(findings, table, background, experts, question)
    names = {result.name for result in findings.claims if result.claim in FEATURE_CLAIMS}
    open_ = names if exact else names & findings.unsettled
    vocab = len(background.vocabulary)
    numbers = count_prefixes(vocab, question.horizon) * vocab * (len(experts) + 1)
    if not open_ or findings.measures is None or (numbers > NUMBERS_TO_SETTLE and not exact):
        return findings, measures
    plain = replace(question, masks=None)  # the masks of tokens are nothing to these claims
    kernel = decide_exactly(background, experts, plain, claims=frozenset(open_), features=kernel_map(table))
    claims = tuple(kernel[c.name] if c.name in open_ else c for c in findings.claims)
    return replace(findings, claims=claims, unsettled=findings.unsettled - open_), measures


def kernel_map(table: FeatureTable) -> KernelMap:
    """The map as the kernel takes it."""
    sequences = product(table.vocabulary, repeat=table.length)
    known = {y: table.spelled(index) for index, y in enumerate(sequences)}
    return KernelMap(table.vocabulary, table.features, known.__getitem__, table.length, table.length)


def tabulated(
    features: FeatureMap,
    feature_masks: object,
    background: TabularModel,
    experts: Mapping[str, object],
    question: Question,
    require: Sequence[str],
) -> tuple[FeatureTable, Question]:
    """The map of the sequences asked about, and the question with the masks of features.

    **Raises** `InputError` where map, models and masks do not fit together, or the map is not one to one.
    """
    table = replace(features.tabulate(background.vocabulary, question.horizon), kind=features.kind)
    check_features(table)
    return table, ask_features(question, table.coordinates, experts, feature_masks, features.masks, require)
