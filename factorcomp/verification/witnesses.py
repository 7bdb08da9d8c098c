"""What every model says at the prefixes of a witness, for a reader to see."""

from collections.abc import Mapping

import numpy as np

from factorcomp.certificates.claims import Findings, Question, Tokens
from factorcomp.composition.operator import compose_rows
from factorcomp.models.tabular import TabularModel
from factorcomp.verdicts import Step, prefixes_of


def steps_to_show(
    findings: Findings, background: TabularModel, experts: Mapping[str, TabularModel], question: Question
) -> dict[str, tuple[Step, ...]]:
    """For each claim with a witness, the models' rows at the prefixes that it names."""
    steps = {}
    for result in findings.claims:
        prefixes = [prefix for prefix in prefixes_of(result.witness) if len(prefix) < question.length]
        if prefixes:
            steps[result.name] = tuple(step_at(prefix, background, experts, question) for prefix in prefixes)
    return steps


def step_at(prefix: Tokens, background: TabularModel, experts: Mapping[str, TabularModel], question: Question) -> Step:
    """The next-token probabilities after `prefix` under background, (tilted) experts and composition."""
    index = 0
    for token in prefix:
        index = index * len(background.vocabulary) + background.vocabulary.index(token)
    length = len(prefix)
    base, *own = (m.steps[length].log_probs(index, index + 1)[0] for m in (background, *experts.values()))
    weights = np.array([float(question.weight(name)) for name in experts])
    composed = compose_rows(base, np.stack(own), weights, question.null_tokens)
    undefined = bool(composed.undefined) or not np.isfinite(composed.log_normalizer)
    # where a weighted expert opens a token there is no tilted expert: its row is shown as given
    rows = zip(experts, own if undefined else composed.tilted, strict=True)
    return Step(
        prefix=prefix,
        background=_probabilities(base),
        experts={name: _probabilities(row) for name, row in rows},
        composition=None if undefined else _probabilities(composed.log_probs),
    )


def _probabilities(logs: np.ndarray) -> tuple[float, ...]:
    return tuple(float(p) for p in np.exp(logs))
