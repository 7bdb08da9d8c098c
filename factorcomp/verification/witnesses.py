"""What every model says at the prefixes of a witness, for a reader to see."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from factorcomp.bounds.oscillation import exceeds
from factorcomp.certificates.claims import Findings, PrefixWitness, Question, Tokens
from factorcomp.composition.operator import compose_rows
from factorcomp.enumeration.tree import index_of
from factorcomp.models.alignment import Model
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import FunctionModel
from factorcomp.verdicts import Marks, Step, prefixes_of


def steps_to_show(
    findings: Findings, background: Model, experts: Mapping[str, Model], question: Question
) -> dict[str, tuple[Step, ...]]:
    """For each claim with a witness, the models' rows at the prefixes that it names."""
    steps = {}
    for result in findings.claims:
        prefixes = prefixes_of(result.witness)
        if question.length != "every":
            prefixes = [prefix for prefix in prefixes if len(prefix) < question.length]
        found = [step_at(prefix, background, experts, question) for prefix in prefixes]
        said = tuple(step for step in found if step is not None)
        if said and len(said) == len(found):
            steps[result.name] = said
    return steps


def marks_on_the_way(
    findings: Findings, background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], question: Question
) -> dict[Tokens, Marks]:
    """Who deviates at every prefix of a witness, and who is known to be active there.

    An expert is active from its first deviation on the path to its last one (theory.md 3.3), and up to the witness's
    prefix if that refutes `interval_joint` and names it.
    """
    marks: dict[Tokens, Marks] = {}
    for result in findings.claims:
        if not isinstance(result.witness, PrefixWitness):
            continue
        prefix, named = result.witness.prefix, result.witness.experts if result.claim == "interval_joint" else ()
        deviating = _deviating(prefix, background, experts, question)
        if result.claim == "well_defined":  # where the composition is undefined nobody deviates
            deviating[-1] = ()
        for length, who in enumerate(deviating):
            known = marks.get(prefix[:length], Marks((), ())).active
            begun = {name for before in deviating[: length + 1] for name in before}
            lasting = {*named, *(name for later in deviating[length:] for name in later)}
            active = tuple(name for name in experts if name in known or name in begun & lasting)
            marks[prefix[:length]] = Marks(who, active)
    return marks


def marks_seen(
    findings: Findings,
    vocabulary: Sequence[str],
    names: Sequence[str],
    who: Callable[[int, int], Sequence[Sequence[int]]],
) -> dict[Tokens, Marks]:
    """Who deviates and is active on the way to every prefix that a witness names, from an engine that can tell."""
    marks = {}
    for prefix in {p[:n] for r in findings.claims for p in prefixes_of(r.witness) for n in range(len(p) + 1)}:
        index = index_of([vocabulary.index(token) for token in prefix], len(vocabulary))
        deviating, active = (tuple(names[i] for i in experts) for experts in who(len(prefix), index))
        marks[prefix] = Marks(deviating, active)
    return marks


def _deviating(
    prefix: Tokens, background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], question: Question
) -> list[tuple[str, ...]]:
    """The experts that deviate after each of the first tokens of a prefix, as long as all models say something."""
    tokens = [background.vocabulary.index(token) for token in prefix]
    paths = [model.path(tokens) for model in (background, *experts.values())]
    length = min(map(len, paths))
    base, *own = (np.array(path[:length]) for path in paths)
    flags = [
        exceeds(expert.rows, mine, background.rows, base, question.threshold / question.weight(name))
        for (name, expert), mine in zip(experts.items(), own, strict=True)
    ]
    who = [tuple(name for name, flag in zip(experts, level, strict=True) if flag) for level in np.stack(flags).T]
    return who + [()] * (len(prefix) + 1 - length)


def step_at(prefix: Tokens, background: Model, experts: Mapping[str, Model], question: Question) -> Step | None:
    """The next-token probabilities after `prefix` under background, (tilted) experts and composition.

    `None` where a model says nothing there.
    """
    tokens = tuple(background.vocabulary.index(token) for token in prefix)
    rows = [_row(model, tokens) for model in (background, *experts.values())]
    if any(row is None for row in rows):
        return None
    base, *own = (row for row in rows if row is not None)
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


def _row(model: Model, tokens: Sequence[int]) -> Float[np.ndarray, " vocab"] | None:
    """The log-probabilities after a prefix."""
    if isinstance(model, FiniteStateModel):
        path = model.path(tokens)
        return model.rows.log_probs(path[-1], path[-1] + 1)[0] if len(path) > len(tokens) else None
    if isinstance(model, FunctionModel):
        return model.row(tokens)
    index = index_of(tokens, len(model.vocabulary))
    if model.says_nothing(len(tokens), index):
        return None
    return model.steps[len(tokens)].log_probs(index, index + 1)[0]


def _probabilities(logs: np.ndarray) -> tuple[float, ...]:
    return tuple(float(p) for p in np.exp(logs))
