"""The composition of finite-state models as a finite-state model. Source: theory.md 1.1, 7."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Bool

from factorcomp.bounds.oscillation import exceeds
from factorcomp.certificates.claims import NullTokens
from factorcomp.composition.product import Following, Product, explore
from factorcomp.composition.tables import Weighed, Weights, normalised, weigh
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.tabular import Source


def compose_automata(
    background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], null_tokens: NullTokens, weights: Weights
) -> FiniteStateModel:
    """The stepwise composition of aligned models for every length: its states are those of the product it can reach.

    Rational rows and whole weights compose to rational rows, exactly. Its labels: `overlap`, the states in which two
    experts deviate (at threshold 0), and `deviates_NAME` for each expert whose name can stand there.

    Raises `InputError` where the composition reaches a prefix at which it is undefined, with the first such prefix.
    """
    models, factors = [background, *experts.values()], [weights.get(name, Fraction(1)) for name in experts]
    product = explore(models, Following(tuple(factor != 1 for factor in factors), null_tokens))
    if product.broken.any():
        state = int(product.broken.argmax())
        prefix = " ".join(background.vocabulary[y] for y in product.search.tokens(state))
        reason = (
            f"a ratio has no value there ({null_tokens})" if product.undefined[state] else "all mass vanishes there"
        )
        if product.gaps[:, state].any():
            reason = "a model has no next state there"
        where = repr(prefix) if prefix else "the empty prefix"
        raise InputError(f"the composition is undefined after {where}: {reason}")
    # the state in which the sequence has ended comes last, as in every model
    ended = np.zeros(len(product), dtype=bool) if background.ended is None else product.members[0] == background.ended
    going = np.flatnonzero(~ended)
    place = np.full(len(product) + 1, NOWHERE)
    place[going] = np.arange(len(going))
    place[np.flatnonzero(ended)] = len(going)
    vocab = len(background.vocabulary)
    following = place[product.followed[going]]  # the place of NOWHERE is the last one, which is NOWHERE
    rows = _weigh(models, factors, product, null_tokens, going)
    base = background.rows.take(product.members[0, going], range(vocab))
    composed = normalised(rows, np.zeros(len(going), dtype=bool), base)
    names = _names(models, product, going)
    if background.eos is not None:
        following = np.concatenate([following, np.full((1, vocab), len(going))])
        following[:, background.vocabulary.index(background.eos)] = len(going)
        composed = composed.with_certain(background.vocabulary.index(background.eos))
    return FiniteStateModel(
        background.vocabulary,
        names,
        0,
        composed,
        following,
        background.eos,
        Source(f"composition of {' + '.join(experts)}"),
        _labels(background, experts, product, going),
    )


def _labels(
    background: FiniteStateModel, experts: Mapping[str, FiniteStateModel], product: Product, states: np.ndarray
) -> dict[str, Bool[np.ndarray, " _"]]:
    base, *own = product.members[:, states]
    deviating = [
        exceeds(expert.rows, mine, background.rows, base) for expert, mine in zip(experts.values(), own, strict=True)
    ]
    named = {f"deviates_{name}": flags for name, flags in zip(experts, deviating, strict=True)}
    labels = {"overlap": np.sum(deviating, axis=0) > 1}
    labels |= {label: flags for label, flags in named.items() if label.isascii() and label.isidentifier()}
    if background.eos is None:
        return labels
    return {label: np.append(flags, False) for label, flags in labels.items()}  # nobody deviates once it has ended


def compose_exactly(
    models: Sequence[FiniteStateModel], weights: Sequence[Fraction], product: Product, null_tokens: NullTokens
) -> list[tuple[Fraction, ...]] | None:
    """The composition's rows in rational numbers at all states of a product, zeros at broken ones.

    `None` where the models or the weights are not rational.
    """
    whole = np.arange(len(product))
    rows = _weigh(models, weights, product, null_tokens, whole)
    if not rows.exact:
        return None
    totals = [sum(row, Fraction(0)) for row in rows.values]
    alive = (~product.broken).tolist()
    return [
        tuple(w / total if going else Fraction(0) for w in row)
        for row, total, going in zip(rows.values, totals, alive, strict=True)
    ]


def _weigh(
    models: Sequence[FiniteStateModel],
    weights: Sequence[Fraction],
    product: Product,
    null_tokens: NullTokens,
    states: np.ndarray,
) -> Weighed:
    tokens = range(len(models[0].vocabulary))
    members = np.maximum(product.members[:, states], 0)
    base, *own = (model.rows.take(q, tokens) for model, q in zip(models, members, strict=True))
    named = {str(i): rows for i, rows in enumerate(own)}
    return weigh(base, named, null_tokens, {str(i): weight for i, weight in enumerate(weights)})


def _names(models: Sequence[FiniteStateModel], product: Product, states: np.ndarray) -> tuple[str, ...]:
    """The models' states' names, one after the other; numbered where two are the same."""
    names = [
        " ".join(model.states[q] for model, q in zip(models, members, strict=True))
        for members in product.members[:, states].T.tolist()
    ]
    if len(set(names)) < len(names):
        names = [f"{n} {name}" for n, name in enumerate(names)]
    return tuple(names)
