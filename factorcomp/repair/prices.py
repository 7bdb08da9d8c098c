"""What it costs to take an expert's rows away, prefix by prefix: the `c_i(h)` of theory.md 11.5, and what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from factorcomp.bounds.per_prefix import divergence
from factorcomp.certificates.claims import NullTokens, Question
from factorcomp.composition.operator import tilt
from factorcomp.enumeration.levels import Laws, Step, advance, root
from factorcomp.enumeration.size import require_room
from factorcomp.models.tabular import TabularModel

Cost = Literal["tv", "kl", "count"]
COSTS: tuple[Cost, ...] = ("tv", "kl", "count")


@dataclass(frozen=True)
class Level:
    """The prefixes of one length.

    **Fields:** `deviates`: an expert does. `keepable`: alone it may stay: the composition is defined and alive with it.
    `cost`: of resetting a deviating expert, 0 where it does not deviate. `distance`: the total variation between the
    (tilted) expert and the background. `probability`: under the given composition. `after_expert`, `after_background`:
    the tokens that the repaired composition can take where it follows that expert, or the background.
    """

    deviates: Bool[np.ndarray, "experts prefixes"]
    keepable: Bool[np.ndarray, "experts prefixes"]
    cost: Float[np.ndarray, "experts prefixes"]
    distance: Float[np.ndarray, "experts prefixes"]
    probability: Float[np.ndarray, " prefixes"]
    after_expert: Bool[np.ndarray, "experts prefixes vocab"]
    after_background: Bool[np.ndarray, "prefixes vocab"]


@dataclass(frozen=True)
class Composed:
    """A composition with the law of all its sequences; `whole`: it is defined, and alive, wherever it goes."""

    levels: tuple[Level, ...]
    leaves: Laws
    whole: bool


def price(background: TabularModel, experts: Mapping[str, TabularModel], question: Question, cost: Cost) -> Composed:
    """The levels of aligned tables: `c_i(h) = P^(h) TV(p_i, p_b)`, `P^(h) KL(p_i || p_b)`, or 1.

    `P^(h)` is the probability of `h` under the composition as given, 0 where it does not go; `p_i` the tilted expert.
    Raises `InputError` where the enumeration does not fit into memory.
    """
    require_room(len(background.vocabulary), question.horizon, len(experts))
    own, weights = list(experts.values()), [question.weight(name) for name in experts]
    laws, levels, whole = root(len(own) + 1), [], True
    for length in range(question.horizon):
        step, following = advance(laws, length, background, own, weights, question)
        whole = whole and not bool((laws.reachable & (step.undefined | step.dead)).any())
        levels.append(_level(laws, step, length, background, own, weights, question, cost))
        laws = following
    return Composed(tuple(levels), laws, whole)


def _level(
    laws: Laws,
    step: Step,
    length: int,
    background: TabularModel,
    experts: Sequence[TabularModel],
    weights: Sequence[Fraction],
    question: Question,
    cost: Cost,
) -> Level:
    base = background.steps[length].support()
    own = np.stack([expert.steps[length].support() for expert in experts])
    may_stay = keepable(base, own, np.array([weight != 1 for weight in weights]), question.null_tokens)
    if question.null_tokens == "drop":
        own = own & base
    if question.scope == "all":
        own, base = np.ones_like(own), np.ones_like(base)
    probability = laws.probability
    if cost == "count":
        lost = np.ones(step.deviates.shape)
    else:
        each = step.expert_tv if cost == "tv" else _divergence(length, background, experts, weights)
        with np.errstate(invalid="ignore"):
            lost = np.where(probability > 0, probability * each, 0.0)
    return Level(step.deviates, may_stay, np.where(step.deviates, lost, 0.0), step.expert_tv, probability, own, base)


def _divergence(
    length: int, background: TabularModel, experts: Sequence[TabularModel], weights: Sequence[Fraction]
) -> Float[np.ndarray, "experts prefixes"]:
    count = background.steps[length].shape[0]
    base = background.steps[length].log_probs(0, count)
    given = np.stack([expert.steps[length].log_probs(0, count) for expert in experts])
    tilted = tilt(base, given, np.array([float(weight) for weight in weights]))
    return divergence(tilted, np.broadcast_to(base, tilted.shape))


def keepable(
    base: Bool[np.ndarray, "prefixes vocab"],
    own: Bool[np.ndarray, "experts prefixes vocab"],
    weighted: Bool[np.ndarray, " experts"],
    null_tokens: NullTokens,
) -> Bool[np.ndarray, "experts prefixes"]:
    """Whether the composition is defined and alive with one expert alone, from the supports (1.3, 1.9)."""
    opens = (own & ~base).any(axis=2)
    if null_tokens == "drop":
        return ~(opens & weighted[:, None]) & (own & base).any(axis=2)
    return ~(opens & (weighted[:, None] | (null_tokens == "strict")))
