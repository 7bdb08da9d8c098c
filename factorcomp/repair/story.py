"""repair(): the whole story, from models that are not jointly factorizable to the nearest ones that are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from factorcomp.certificates.claims import Length, NullTokens, Question, Scope, Verdict
from factorcomp.enumeration.size import count_prefixes
from factorcomp.enumeration.tree import spelled
from factorcomp.factorization.weights import exact_weights
from factorcomp.models.alignment import Model, aligned, as_table
from factorcomp.models.errors import InputError
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import Numeric, ask
from factorcomp.repair.cheapest import Plan, cheapest
from factorcomp.repair.outcome import HEAVIEST, Repair, RepairedExpert, Reset
from factorcomp.repair.prices import COSTS, Composed, Cost, Level, price
from factorcomp.repair.rows import DIFFERENT_KINDS, reset
from factorcomp.repair.turns import at_every_prefix, in_intervals, in_one_order
from factorcomp.surveys import Progress
from factorcomp.verdicts import ModelName
from factorcomp.verification.story import check_models, verify

Claim = Literal["pointwise_joint", "interval_joint"]
CLAIMS: tuple[Claim, ...] = ("interval_joint", "pointwise_joint")
MOST_WORK = 1 << 31
"""Moves at all prefixes up to which intervals are planned at the least cost: a minute at most."""
MOST_NUMBERS = 1 << 28
"""Values of states at prefixes up to which they are: some gigabytes."""
MOST_EXPERTS = 10
MOST_PREFIXES_FOR_WEIGHTS = 1000


def repair(
    background: Model,
    experts: Mapping[str, Model],
    *,
    require: Claim = "interval_joint",
    cost: Cost = "tv",
    length: Length | None = None,
    threshold: Numeric = 0,
    scope: Scope = "reachable",
    null_tokens: NullTokens = "cancel",
    weights: Mapping[str, Numeric] | None = None,
    progress: Progress | None = None,
) -> Repair:
    """The cheapest experts that are jointly factorizable: at some prefixes they are reset to the background.

    At a prefix `h` one expert at most may keep a row that deviates, and with `interval_joint` the active intervals of
    the experts are disjoint on every path, wherever the *repaired* composition goes. Resetting expert `i` at `h` costs
    `P^(h) TV(p_i(.|h), p_b(.|h))` (`tv`: in total the expected total variation given up under the composition), `P^(h)
    KL(p_i(.|h) || p_b(.|h))` (`kl`), or 1 (`count`); `P^` is the composition as given, `p_i` the tilted expert.
    Where equal costs leave a choice the fewest rows are reset; where the given composition does not go, `tv` and
    `kl` cost nothing, so that there only the number of resets counts.

    Also reset are experts with which the composition is undefined or dead at a prefix: under `strict`, or with a
    weight other than 1, those that open a token; under `drop` those that share no token with the background.

    **Arguments:** `length`: a horizon, or `"every"` for finite-state models (pointwise). The others as in `verify`.

    **Returns:** a `Repair`; its models are verified. **Raises** `InputError` where models or options do not fit
    together, where rows of one kind of numbers cannot be copied exactly into another, and where every repair would
    cost infinitely much. Source: theory.md 11.5.

    >>> from factorcomp import TabularModel
    >>> base = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    >>> up = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])
    >>> down = TabularModel.from_probabilities([["5/8", "3/8"]], ["a", "b"])
    >>> done = repair(base, {"up": up, "down": down})
    >>> done.cost, {name: expert.resets for name, expert in done.experts.items()}
    (0.125, {'up': 0, 'down': 1})
    """
    check_models(background, experts)
    _check_options(require, cost)
    background, own = aligned(background, experts)
    options: dict[str, Any] = {"threshold": threshold, "scope": scope, "null_tokens": null_tokens, "weights": weights}
    question = ask(background, own, length=length, require=(require,), **options)
    if question.length == "every":
        from factorcomp.repair.every_length import repair_every_length

        return repair_every_length(background, own, question, require, cost, progress)
    base = as_table(background, question.horizon, progress)
    given = {
        name: _without_gaps(_whole(expert, question.horizon, progress), base, question.horizon)
        for name, expert in own.items()
    }
    before = price(base, given, question, cost)
    plan, least = _plan(before.levels, len(given), require)
    if not math.isfinite(plan.cost):
        raise InputError(
            "--cost kl: every repair resets an expert that makes possible what the background excludes, at an infinite "
            "cost; take tv or count"
        )
    repaired = _reset(base, given, plan, question)
    report = verify(base, repaired, length=question.length, require=require, progress=progress, **options)
    if report.verdict is not Verdict.HOLDS:
        failed = next(result for result in report.claims if result.verdict is not Verdict.HOLDS)
        raise InputError(f"these models cannot be repaired at the background's rows: {failed.name}: {failed.why}")
    changed = any(flags.any() for flags in plan.resets)
    after = price(base, repaired, question, "count") if changed else before
    return Repair(
        models=repaired,
        report=report,
        claim=require,
        kind=cost,
        cost=plan.cost,
        lower_bound=least,
        spent=_spent(before, after, plan),
        composition_tv=_composition_tv(before, after) if changed else 0.0,
        experts={
            name: _given_up(i, before.levels, plan, base, given[name], repaired[name]) for i, name in enumerate(given)
        },
        weights=_weights_alone(background, own, question) if changed else None,
    )


def _check_options(require: object, cost: object) -> None:
    """Raises `InputError` with what is wrong with the options that `repair` has alone."""
    problems = [] if require in CLAIMS else [f"the required claim is {require!r}; it must be {' or '.join(CLAIMS)}"]
    problems += [] if cost in COSTS else [f"the cost is {cost!r}; it must be {' or '.join(COSTS)}"]
    if problems:
        raise InputError(problems)


def _weights_alone(background: Model, experts: Mapping[str, Model], question: Question) -> str | None:
    """The weights with which the given experts are exact as they are, in words; `None` without a common support."""
    if count_prefixes(len(background.vocabulary), question.horizon) > MOST_PREFIXES_FOR_WEIGHTS:
        return None
    try:
        return str(exact_weights(background, experts, length=question.horizon, scope=question.scope))
    except InputError:
        return None


def _whole(expert: Model, length: int, progress: Progress | None) -> TabularModel:
    """The expert as a table with all the steps it has."""
    return expert if isinstance(expert, TabularModel) else as_table(expert, length, progress)


def _without_gaps(expert: TabularModel, background: TabularModel, length: int) -> TabularModel:
    """Where an expert says nothing it is given the background's row."""
    if expert.gaps is None:
        return expert
    filled, _ = reset(expert, background, expert.gaps[:length])
    count = sum(int(gap.sum()) for gap in expert.gaps[:length])
    note = f"{expert.source.name}: the background's row at {count} prefixes of which it says nothing"
    return replace(filled, source=replace(filled.source, notes=(*filled.source.notes, note)))


def _plan(levels: Sequence[Level], experts: int, require: Claim) -> tuple[Plan, float]:
    """The cheapest plan that was found, and a bound below every plan.

    Where the least cost of disjoint intervals is out of reach: that of one order of the experts on all paths, and
    the least cost of pointwise repair, which every interval repair is.
    """
    if require == "pointwise_joint":
        plan = cheapest(levels, at_every_prefix(experts))
        return plan, plan.cost
    prefixes = sum(len(level.probability) for level in levels)
    widest = max((len(level.probability) for level in levels), default=0)
    if experts <= MOST_EXPERTS:
        turns = in_intervals(experts)
        if turns.moves * prefixes <= MOST_WORK and len(turns.active) * widest <= MOST_NUMBERS:
            plan = cheapest(levels, turns)
            return plan, plan.cost
    bound = cheapest(levels, at_every_prefix(experts)).cost
    plans = [cheapest(levels, in_one_order(order)) for order in _orders(levels, experts)]
    plan = min(plans, key=lambda plan: plan.cost)
    return plan, bound


def _orders(levels: Sequence[Level], experts: int) -> list[list[int]]:
    """By where experts deviate on average, weighted by cost; and by where they first do."""
    where = [(t, level.cost.sum(axis=1), np.asarray(level.deviates.any(axis=1))) for t, level in enumerate(levels)]
    total = sum((cost for _, cost, _ in where), np.zeros(experts))
    moment = sum((t * cost for t, cost, _ in where), np.zeros(experts))
    mean = np.divide(moment, total, out=np.zeros(experts), where=(total > 0) & np.isfinite(total))
    first = [next((t for t, _, up in where if up[i]), 0) for i in range(experts)]
    return [list(map(int, np.argsort(key, kind="stable"))) for key in (mean, np.array(first))]


def _reset(
    background: TabularModel, experts: Mapping[str, TabularModel], plan: Plan, question: Question
) -> dict[str, TabularModel]:
    repaired, problems = {}, []
    for i, (name, expert) in enumerate(experts.items()):
        repaired[name], exact = reset(expert, background, [flags[i] for flags in plan.resets])
        if not exact and not question.threshold:
            problems.append(DIFFERENT_KINDS.format(expert.source.name, background.source.name))
    if problems:
        raise InputError(problems)
    return repaired


def _given_up(
    expert: int,
    levels: Sequence[Level],
    plan: Plan,
    background: TabularModel,
    given: TabularModel,
    repaired: TabularModel,
) -> RepairedExpert:
    resets = [
        Reset(
            spelled(h, length, background.vocabulary),
            float(level.probability[h]),
            float(level.distance[expert, h]),
            float(level.cost[expert, h]),
        )
        for length, (level, flags) in enumerate(zip(levels, plan.resets, strict=True))
        for h in _dearest(level.cost[expert], flags[expert])
    ]
    count = sum(int(flags[expert].sum()) for flags in plan.resets)
    cost = sum(float(level.cost[expert][flags[expert]].sum()) for level, flags in zip(levels, plan.resets, strict=True))
    heaviest = sorted(resets, key=lambda reset: -reset.cost)[:HEAVIEST]
    law_tv = _law_tv(given, repaired, len(levels)) if count else 0.0
    return RepairedExpert(ModelName(given.source.name, given.source.sha256), count, cost, law_tv, tuple(heaviest))


def _dearest(cost: Float[np.ndarray, " prefixes"], flags: np.ndarray) -> list[int]:
    """The dearest prefixes among those flagged, the first ones among equals."""
    places = np.flatnonzero(flags)
    return places[np.argsort(-cost[places], kind="stable")][:HEAVIEST].tolist()


def _law_tv(first: TabularModel, second: TabularModel, length: int) -> float:
    """The total variation between the laws of two tables."""
    laws = []
    for model in (first, second):
        law = np.ones(1)
        for rows in model.steps[:length]:
            law = (law[:, None] * np.exp(rows.log_probs(0, rows.shape[0]))).reshape(-1)
        laws.append(law)
    return 0.5 * float(np.abs(laws[0] - laws[1]).sum())


def _composition_tv(before: Composed, after: Composed) -> float | None:
    if not before.whole:
        return None
    return 0.5 * float(np.abs(before.leaves.probability - after.leaves.probability).sum())


def _spent(before: Composed, after: Composed, plan: Plan) -> float:
    """`E sum_t sum_i TV(p_i, p_b)` over the experts reset, along a path of the repaired composition."""
    pairs = zip(before.levels, after.levels, plan.resets, strict=True)
    return float(sum((new.probability * (old.distance * flags)).sum() for old, new, flags in pairs))
