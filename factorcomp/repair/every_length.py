"""Pointwise repair of finite-state models for every length, on the states that all models reach together.

At each state of the product the dearest deviating expert stays and the others are reset: whatever the states weigh,
that is the cheapest choice at each (theory.md 11.5). A repaired expert has the states of the product, and goes on as it
was where the repaired composition does not go (as the background where it says nothing).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse import csgraph, linalg

from factorcomp.bounds.oscillation import exceeds
from factorcomp.bounds.per_prefix import divergence, total_variation
from factorcomp.certificates.claims import Question, Verdict
from factorcomp.composition.graph import reached_from
from factorcomp.composition.operator import tilt
from factorcomp.composition.search import Members, Search, breadth_first
from factorcomp.finite_state.every_length import EveryLength
from factorcomp.models.alignment import Model
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.tabular import Source
from factorcomp.repair.outcome import HEAVIEST, Repair, RepairedExpert, Reset
from factorcomp.repair.prices import Cost, keepable
from factorcomp.repair.rows import DIFFERENT_KINDS, merged
from factorcomp.repair.turns import NOBODY
from factorcomp.surveys import Progress
from factorcomp.verdicts import ModelName
from factorcomp.verification.story import verify


@dataclass(frozen=True)
class _Choice:
    """At product states: who deviates, how far from the background, whose row is kept, and the tokens that follow."""

    deviates: Bool[np.ndarray, "experts states"]
    distance: Float[np.ndarray, "experts states"]
    kept: Int[np.ndarray, " states"]
    tokens: Bool[np.ndarray, "states vocab"]

    @property
    def resets(self) -> Bool[np.ndarray, "experts states"]:
        """Who is reset."""
        return self.deviates & (np.arange(len(self.deviates))[:, None] != self.kept)


def repair_every_length(
    background: Model,
    experts: Mapping[str, Model],
    question: Question,
    require: str,
    cost: Cost,
    progress: Progress | None = None,
) -> Repair:
    """The same as `repair`, pointwise at every length, of aligned finite-state models.

    **Raises** `InputError` for intervals, and where the repaired composition reaches a prefix of which the background
    says nothing.
    """
    if require != "pointwise_joint":
        raise InputError(
            f"{require} at every length cannot be repaired; require pointwise_joint, or give a length (--length N)"
        )
    assert isinstance(background, FiniteStateModel)
    own = {name: expert for name, expert in experts.items() if isinstance(expert, FiniteStateModel)}
    models = [background, *own.values()]

    def expand(members: Members) -> tuple[Bool[np.ndarray, "_ vocab"], Int[np.ndarray, "models _ vocab"]]:
        leads = _choose(background, own, members, question, cost).tokens
        after = [np.where((q != NOWHERE)[:, None], m.next[q], NOWHERE) for m, q in zip(models, members, strict=True)]
        return leads & (members[0] != NOWHERE)[:, None], np.stack(after)

    sizes = [model.rows.shape[0] for model in models]
    search = breadth_first([model.initial for model in models], sizes, expand, progress=progress)
    choice = _choose(background, own, search.members, question, cost)
    repaired, problems = {}, []
    for i, (name, expert) in enumerate(own.items()):
        repaired[name], exact = _rebuilt(background, expert, search, i, choice.resets[i])
        if not exact and not question.threshold:
            problems.append(DIFFERENT_KINDS.format(expert.source.name, background.source.name))
    if problems:
        raise InputError(problems)
    report = verify(
        background,
        repaired,
        length="every",
        require=require,
        threshold=question.threshold,
        scope=question.scope,
        null_tokens=question.null_tokens,
        weights=question.weights,
        progress=progress,
    )
    if report.verdict is not Verdict.HOLDS:
        failed = next(result for result in report.claims if result.verdict is not Verdict.HOLDS)
        raise InputError(f"these models cannot be repaired at the background's rows: {failed.name}: {failed.why}")
    return Repair(
        models=repaired,
        report=report,
        claim=require,
        kind=cost,
        cost=float(choice.resets.sum()),
        lower_bound=None,
        spent=_spent(background, repaired, question, choice),
        composition_tv=None,
        experts={
            name: _given_up(background, search, choice, i, ModelName(expert.source.name, expert.source.sha256))
            for i, (name, expert) in enumerate(own.items())
        },
    )


def _choose(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    members: Members,
    question: Question,
    cost: Cost,
) -> _Choice:
    base_state, tokens = np.maximum(members[0], 0), range(len(background.vocabulary))
    base = background.rows.take(base_state, tokens)
    places, logs = np.arange(len(base_state)), base.log_probs(0, len(base_state))
    deviates, given = [], []
    for (name, expert), states in zip(experts.items(), members[1:], strict=True):
        rows = expert.rows.take(np.maximum(states, 0), tokens)
        limit = question.threshold / question.weight(name)
        deviates.append(exceeds(rows, places, base, places, limit) & (states != NOWHERE) & (members[0] != NOWHERE))
        given.append(rows.log_probs(0, len(places)))
    weights = np.array([float(question.weight(name)) for name in experts])
    rows, who = np.stack(given), np.stack(deviates)
    tilted = tilt(logs, rows, weights)
    base_rows = np.broadcast_to(logs, tilted.shape)
    distance = total_variation(tilted, base_rows)
    price = {"tv": distance, "kl": divergence(tilted, base_rows), "count": np.ones(distance.shape)}[cost]
    possible, support = rows > -np.inf, logs > -np.inf
    allowed = who & keepable(support, possible, weights != 1, question.null_tokens)
    price = np.where(allowed, price, -1.0)
    kept = np.where(allowed.any(axis=0), price.argmax(axis=0), NOBODY)
    after = np.where((kept != NOBODY)[:, None], possible[kept, places], support)
    if question.null_tokens == "drop":
        after &= support
    if question.scope == "all":
        after = np.ones_like(after)
    return _Choice(who, np.where(who, distance, 0.0), kept, after)


def _rebuilt(
    background: FiniteStateModel, expert: FiniteStateModel, search: Search, i: int, resets: Bool[np.ndarray, " states"]
) -> tuple[FiniteStateModel, bool]:
    """An expert on the states of the product, then those of itself, then those of the background; what can be reached.

    And whether the rows that it takes from the background are exactly these.
    """
    base_state, own_state = search.members[0], search.members[i + 1]
    ended = NOWHERE - 1 if background.ended is None else background.ended
    going = np.flatnonzero(base_state != ended)
    counts = len(going), len(expert.states), len(background.states)
    first_own, first_base, last = counts[0], counts[0] + counts[1], sum(counts)
    place = np.full(len(base_state) + 1, NOWHERE)
    place[np.flatnonzero(base_state == ended)] = last
    place[going] = np.arange(len(going))

    def moved(following: Int[np.ndarray, "_ vocab"], by: int, end: int | None) -> Int[np.ndarray, "_ vocab"]:
        return np.where(following == NOWHERE, NOWHERE, np.where(following == end, last, following + by))

    end = NOWHERE - 1 if expert.ended is None else expert.ended
    as_own, as_base = moved(expert.next, first_own, end), moved(background.next, first_base, ended)
    silent = own_state[going] == NOWHERE
    elsewhere = np.where(silent[:, None], NOWHERE, as_own[own_state[going]])
    elsewhere = np.where(elsewhere == NOWHERE, as_base[base_state[going]], elsewhere)
    within = place[search.next[going]]  # the place of NOWHERE is the last one, which is NOWHERE
    following = np.concatenate(
        [np.where(within == NOWHERE, elsewhere, within), as_own[: counts[1]], as_base[: counts[2]]]
    )
    none, everything = np.zeros(counts[1], dtype=bool), np.ones(counts[2], dtype=bool)
    mine = np.concatenate([np.maximum(own_state[going], 0), np.arange(counts[1]), np.zeros(counts[2], dtype=int)])
    theirs = np.concatenate([base_state[going], np.zeros(counts[1], dtype=int), np.arange(counts[2])])
    tokens = range(len(background.vocabulary))
    taken = np.concatenate([resets[going] | silent, none, everything])
    whole = np.concatenate([following, np.full((1, following.shape[1]), last)]) if expert.eos else following
    kept = np.flatnonzero(reached_from(whole, np.zeros(1, dtype=np.int64))[:last])
    rows, exact = merged(expert.rows.take(mine[kept], tokens), background.rows.take(theirs[kept], tokens), taken[kept])
    renamed = np.full(last + 2, NOWHERE)
    renamed[kept] = np.arange(len(kept))
    renamed[last] = len(kept)
    following = renamed[following[kept]]
    if expert.eos is not None:
        rows = rows.with_certain(expert.vocabulary.index(expert.eos))
        following = np.concatenate([following, np.full((1, len(tokens)), len(kept))])
    names = [f"{n} {background.states[base_state[n]]}" for n in going]
    names += [f"own {state}" for state in expert.states] + [f"background {state}" for state in background.states]
    source = replace(expert.source, sha256=None) if resets.any() else expert.source
    model = FiniteStateModel(
        expert.vocabulary,
        tuple(names[n] for n in kept),
        0,
        rows,
        following,
        expert.eos,
        Source(source.name, source.sha256, source.notes),
    )
    return model, exact


def _spent(
    background: FiniteStateModel, repaired: Mapping[str, FiniteStateModel], question: Question, choice: _Choice
) -> float:
    """The expected total variation given up along a path of the repaired composition, `sum_q E[visits to q] TV(q)`.

    inf where a state with a reset is visited for ever.
    """
    found = EveryLength(background, repaired, question)
    each = np.zeros(len(found.product))
    for i, model in enumerate(repaired.values()):
        numbers = np.array([int(s.partition(" ")[0]) if s[0].isdigit() else NOWHERE for s in model.states] + [NOWHERE])
        state = numbers[found.product.members[i + 1]]
        each += np.where((state != NOWHERE) & choice.resets[i][state], choice.distance[i][state], 0.0)
    each = np.where(found.product.reachable, each, 0.0)
    chain = found.composed.transitions
    _, component = csgraph.connected_components(chain, directed=True, connection="strong")
    origin, edge = chain.nonzero()
    left = np.zeros(component.max() + 1, dtype=bool)
    left[component[origin[component[origin] != component[edge]]]] = True
    passing = left[component] & found.product.reachable
    if (each[~passing] > 0).any():
        return np.inf
    places = np.flatnonzero(passing)
    if not each.any():
        return 0.0
    inner = sparse.eye_array(len(places), format="csc") - chain[places][:, places].T.tocsc()
    visits = np.atleast_1d(linalg.spsolve(inner, (places == 0).astype(float)))
    return float(visits @ each[places])


def _given_up(
    background: FiniteStateModel, search: Search, choice: _Choice, expert: int, given: ModelName
) -> RepairedExpert:
    states = np.flatnonzero(choice.resets[expert])
    dearest = states[np.argsort(-choice.distance[expert][states], kind="stable")][:HEAVIEST]
    heaviest = [
        Reset(
            tuple(background.vocabulary[y] for y in search.tokens(int(state))),
            None,
            float(choice.distance[expert][state]),
            1.0,
        )
        for state in dearest
    ]
    return RepairedExpert(given, len(states), float(len(states)), None, tuple(heaviest))
