"""A walk over the states of a product of finite-state models, for every length or up to one (theory.md, section 7)."""

import itertools
from collections.abc import Mapping

import numpy as np

from factorcomp.bounds.oscillation import exceeds, oscillation
from factorcomp.certificates.claims import NullTokens, Tokens
from factorcomp.composition.product import Following, Product, explore
from factorcomp.diagnosis.survey import Seen, Survey, coarseness
from factorcomp.models.finite_state import FiniteStateModel


def survey_of_states(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    null_tokens: NullTokens,
    length: int | None,
) -> Survey:
    """Walk over the product's states that have not ended, those to which prefixes shorter than `length` lead.

    What the composition cannot reach is what a product has besides in which every token leads on.
    """
    survey = Survey(null_tokens, tuple(experts), "state")
    models = [background, *experts.values()]
    survey.coarseness = coarseness(model.rows for model in models)
    if length == 0:
        return survey
    following = Following((False,) * len(experts), null_tokens)
    depth = None if length is None else length - 1
    reached = explore(models, following, depth=depth)
    _compare(survey, models, reached)
    for seen, cells in _met(survey, models, reached):
        seen.reachable = int(cells.sum())
        if cells.any():
            state, token = (int(i) for i in np.argwhere(cells)[0])
            openers = [q[state] for q in _opened(models, reached)]
            guilty = tuple(name for name, opened in zip(experts, openers, strict=True) if opened[token])
            seen.first = (_prefix(background, reached, state), background.vocabulary[token], guilty)
    for seen, cells in _met(survey, models, explore(models, following, everything=True, depth=depth)):
        seen.elsewhere = int(cells.sum()) - seen.reachable
    return survey


def _prefix(background: FiniteStateModel, product: Product, state: int) -> Tokens:
    return tuple(background.vocabulary[token] for token in product.search.tokens(state))


def _opened(models: list[FiniteStateModel], product: Product) -> np.ndarray:
    """`[experts, states, vocab]`: the tokens that each expert makes possible and the background excludes."""
    said = np.asarray(~product.gaps.any(axis=0))
    base, *own = (m.rows.support()[q] & said[:, None] for m, q in zip(models, product.members, strict=True))
    return np.stack(own) & ~base


def _met(survey: Survey, models: list[FiniteStateModel], product: Product) -> list[tuple[Seen, np.ndarray]]:
    """What is counted, and the states and tokens (one column where it is not about tokens) at which it is met."""
    opened = _opened(models, product)
    dead = product.broken & ~product.undefined & ~product.gaps.any(axis=0)
    return [
        *zip(survey.opened.values(), opened, strict=True),
        (survey.clashes, opened.sum(axis=0) > 1),
        (survey.dead, dead[:, None]),
        *zip(survey.silent.values(), product.gaps[:, :, None], strict=True),
    ]


def _compare(survey: Survey, models: list[FiniteStateModel], product: Product) -> None:
    """Count where the experts deviate, and measure by how much."""
    background, *experts = models
    going = ~product.gaps.any(axis=0)
    if background.ended is not None:
        going &= product.members[0] != background.ended
    survey.total = int(going.sum())
    tables = [model.rows.log_probs(0, model.rows.shape[0]) for model in models]
    base, *own = product.members[:, going]
    deviating = np.zeros(survey.total, dtype=np.int64)
    for name, expert, table, mine in zip(survey.experts, experts, tables[1:], own, strict=True):
        differs = exceeds(expert.rows, mine, background.rows, base)
        survey.oscillations[name].append(np.where(differs, oscillation(table[mine], tables[0][base]), 0.0))
        survey.deviating[name] = int(differs.sum())
        deviating += differs
    survey.together = int((deviating > 1).sum())
    survey.twins = [
        (survey.experts[i], survey.experts[j])
        for i, j in itertools.combinations(range(len(experts)), 2)
        if not exceeds(experts[i].rows, own[i], experts[j].rows, own[j]).any()
    ]
