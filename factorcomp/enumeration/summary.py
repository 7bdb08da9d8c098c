"""From the levels of an enumeration to its survey."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from factorcomp.certificates.claims import Question
from factorcomp.enumeration.levels import Laws, Step
from factorcomp.enumeration.tree import (
    ExpertFlags,
    PrefixFlags,
    ahead,
    digits,
    first_met,
    log_sum,
    most_runs,
    seen,
    spans,
    tokens_of,
)
from factorcomp.models.rows import EPS
from factorcomp.surveys import (
    ExpertSurvey,
    Marginal,
    Meeting,
    Sighting,
    Survey,
    TerminationSurvey,
    Vanishing,
)

Levels = Sequence[PrefixFlags]


class Summary:
    """The levels of one enumeration: `steps[t]` stands between `laws[t]` and `laws[t+1]`."""

    def __init__(self, laws: Sequence[Laws], steps: Sequence[Step], vocab: int):
        self.laws = laws
        self.steps = steps
        self.vocab = vocab
        self.deviates = [step.deviates & step.in_scope for step in steps]

    def first(self, flags: Levels, who: Sequence[ExpertFlags] = ()) -> Sighting | None:
        """The first prefix whose flag is up, with the experts that `who` marks there."""
        for length, level in enumerate(flags):
            if level.any():
                index = int(level.argmax())
                probability = float(self.laws[length].probability[index])
                experts = np.flatnonzero(who[length][:, index]) if who else ()
                return Sighting(length, index, probability, tuple(int(i) for i in experts))
        return None

    def mass(self, flags: Levels) -> float:
        """The probability of the prefixes whose flag is up, added over all lengths."""
        return float(sum(law.probability[flag].sum() for law, flag in zip(self.laws, flags, strict=False)))

    def meeting(self, flags: Levels, who: Sequence[ExpertFlags] = ()) -> Meeting:
        """The first prefix whose flag is up, and the probability that a path meets one."""
        return Meeting(self.first(flags, who), self.mass(first_met(flags, self.vocab)))

    def vanishing(self, value: Callable[[Step], Float[np.ndarray, " prefixes"]]) -> Vanishing:
        """The quantity `value` of every prefix in scope, against its rounding error."""
        sizes = [np.abs(value(step)) for step in self.steps]
        scope = [step.in_scope for step in self.steps]
        # not (x <= error) rather than x > error, so that a NaN would show up as a difference
        certain = [s & ~(x <= step.error) for x, s, step in zip(sizes, scope, self.steps, strict=True)]
        unsure = [s & (x <= step.error) & ~step.settled for x, s, step in zip(sizes, scope, self.steps, strict=True)]
        largest = max((float(x[s].max(initial=0.0)) for x, s in zip(sizes, scope, strict=True)), default=0.0)
        return Vanishing(self.first(certain, self.deviates), self.first(unsure), largest)


def undefined(summary: Summary) -> Meeting:
    """The prefixes in scope where a ratio is undefined or all mass vanishes."""
    return summary.meeting([(step.undefined | step.dead) & step.in_scope for step in summary.steps])


def summarize(summary: Summary, question: Question, names: Sequence[str], *, has_eos: bool) -> Survey:
    """The survey of experts `names`; only its first fields if the composition is undefined in scope."""
    bad = undefined(summary)
    prefixes = sum(int(step.in_scope.sum()) for step in summary.steps)
    if bad.first is not None:
        return Survey(bad, prefixes)
    active = _active(summary)
    experts = tuple(_expert(summary, i, [level[i] for level in active]) for i in range(len(names)))
    masks = masks_of(experts, question, names)
    normalizers = [step.log_normalizer[step.in_scope] for step in summary.steps]
    normalizers = [values for values in normalizers if len(values)]
    leaves, following = summary.laws[-1], _following(summary)
    return Survey(
        undefined=bad,
        prefixes=prefixes,
        overlap=summary.meeting([level.sum(axis=0) > 1 for level in summary.deviates], summary.deviates),
        conflict=summary.meeting([level.sum(axis=0) > 1 for level in active], active),
        normalizer=summary.vanishing(lambda step: step.log_normalizer),
        log_normalizer_range=(
            (float(min(v.min() for v in normalizers)), float(max(v.max() for v in normalizers)))
            if normalizers
            else None
        ),
        switching=summary.vanishing(lambda step: step.nearest_tv),
        tv_to_switching=_tv_to(leaves, leaves.log_switching),
        tv_local_global=_tv_to(leaves, leaves.log_composition + _log_ratio_to_local(leaves)) if following.any else 0.0,
        following=following,
        experts=experts,
        masks=masks,
        marginal=None if masks is None else lambda i: _marginal(summary, i, masks[i]),
        deviating=tuple(tuple(spans(level[i]) for level in summary.deviates) for i in range(len(names))),
        active=tuple(tuple(spans(level[i]) for level in active) for i in range(len(names))),
        termination=_termination(summary) if has_eos else None,
    )


def _active(summary: Summary) -> list[ExpertFlags]:
    """Definition 3.3: a deviation at or before the prefix, and one at it or still to be reached within the scope."""
    began, alive = seen(summary.deviates, summary.vocab), ahead(summary.deviates, summary.vocab)
    scope = [step.in_scope for step in summary.steps]
    return [b & a & s for b, a, s in zip(began, alive, scope, strict=True)]


def _expert(summary: Summary, i: int, active: Levels) -> ExpertSurvey:
    deviates = [level[i] for level in summary.deviates]
    in_scope = [step.in_scope for step in summary.steps]
    oscillations = [step.oscillation[i][s].max(initial=0.0) for step, s in zip(summary.steps, in_scope, strict=True)]
    tvs = [step.expert_tv[i][s].max(initial=0.0) for step, s in zip(summary.steps, in_scope, strict=True)]
    firsts = []
    for length, level in enumerate(deviates):
        index = int(level.argmax())
        here = Sighting(length, index, float(summary.laws[length].probability[index]), (i,))
        firsts.append(here if level.any() else None)
    return ExpertSurvey(
        deviating=sum(int(level.sum()) for level in deviates),
        active=sum(int(level.sum()) for level in active),
        activity_probability=summary.meeting(deviates).probability,
        expected_active_steps=summary.mass(active),
        max_oscillation=float(max(oscillations, default=0.0)),
        runs=most_runs(deviates, summary.vocab),
        deviates_at=tuple(t for t, first in enumerate(firsts) if first is not None),
        first_deviation=tuple(firsts),
        largest_tv=tuple(float(tv) for tv in tvs),
    )


def masks_of(
    experts: Sequence[ExpertSurvey], question: Question, names: Sequence[str]
) -> Mapping[int, tuple[int, ...]] | None:
    """The masks given, by expert; or each expert's deviating positions, unless two experts share one."""
    if question.masks is None:
        return None
    if (given := question.given_masks) is not None:
        return {i: given[name] for i, name in enumerate(names) if name in given}
    found = {i: expert.deviates_at for i, expert in enumerate(experts)}
    owned = [position for positions in found.values() for position in positions]
    return {i: positions for i, positions in found.items() if positions} if len(owned) == len(set(owned)) else None


def _tv_to(leaves: Laws, log_other: Float[np.ndarray, " sequences"]) -> float:
    """`TV = sum (P^(y) - Q(y))_+` over the support of the composition's law `P^`."""
    log_p, log_q = leaves.log_composition[leaves.reachable], log_other[leaves.reachable]
    return float((np.exp(log_p) * -np.expm1(np.minimum(log_q - log_p, 0.0))).sum())


def _log_ratio_to_local(leaves: Laws) -> Float[np.ndarray, " sequences"]:
    """`log P_G/P_L = S - log Z_G` (Theorem 1.5 (1)); 0 where the composition does not go."""
    logs = np.where(leaves.reachable, leaves.path_log_normalizer, 0.0)
    total = log_sum((leaves.log_composition + logs)[leaves.reachable])
    return np.where(leaves.reachable, logs - total, 0.0)


def _following(summary: Summary) -> Vanishing:
    """Of `log B`, the range over the children of each reachable prefix (Theorem 1.5 (3)).

    0 iff the next token is the same under both compositions; exactly 0 where below the children all is settled (`B =
    1`), and before the last token (`B = 1` at the leaves).
    """
    leaves = summary.laws[-1]
    tolerance = 4 * float(leaves.path_error[leaves.reachable].max(initial=0.0)) + 64 * EPS * len(summary.laws)
    open_below = ahead(
        [law.reachable & ~step.settled for law, step in zip(summary.laws, summary.steps, strict=False)], summary.vocab
    )
    log_b, largest = np.zeros(len(leaves.reachable)), 0.0
    differs, unsure = [], []
    children_open = np.zeros(len(leaves.reachable), dtype=bool)
    for length in reversed(range(len(summary.steps))):
        step, law, below = summary.steps[length], summary.laws[length], summary.laws[length + 1]
        child = np.where(below.reachable, log_b, -np.inf).reshape(-1, summary.vocab)
        low = np.where(below.reachable, log_b, np.inf).reshape(-1, summary.vocab).min(axis=1)
        top = child.max(axis=1)
        safe = np.where(np.isfinite(top), top, 0.0)
        spread = np.where(law.reachable, safe - np.where(np.isfinite(low), low, safe), 0.0)
        may_differ = children_open.reshape(-1, summary.vocab).any(axis=1) & law.reachable
        differs.append(may_differ & ~(spread <= tolerance))
        unsure.append(may_differ & (spread <= tolerance))
        largest = max(largest, float(spread.max(initial=0.0)))
        mean = (np.exp(step.log_probs) * np.exp(child - safe[:, None])).sum(axis=1)
        log_b = np.where(law.reachable, step.log_normalizer + safe + np.log(np.where(law.reachable, mean, 1.0)), 0.0)
        children_open = open_below[length]
    return Vanishing(summary.first(differs[::-1], summary.deviates), summary.first(unsure[::-1]), largest)


def _marginal(summary: Summary, expert: int, positions: tuple[int, ...]) -> Marginal:
    """The marginals of the composition and of an expert on `positions`, from the prefixes that just contain them.

    Sums of positive terms: each cell's relative error is that of its terms and of at most `n` additions.
    """
    length = max(positions, default=-1) + 1
    laws, vocab = summary.laws[length], summary.vocab
    cells = digits(length, positions, vocab)
    count = vocab ** len(positions)
    composition = np.bincount(cells, weights=laws.probability, minlength=count)
    own = np.bincount(cells, weights=np.exp(laws.log_models[expert + 1]), minlength=count)
    with np.errstate(over="ignore"):
        relative = float(np.expm1(2 * laws.path_error.max())) + 2 * EPS * (len(cells) // count + 8)
    return compare_marginals(expert, positions, vocab, composition, own, relative)


def compare_marginals(
    expert: int,
    positions: tuple[int, ...],
    vocab: int,
    composition: Float[np.ndarray, " cells"],
    own: Float[np.ndarray, " cells"],
    relative: float,
) -> Marginal:
    """The marginals of the composition and of an expert on `positions`, of which `relative` bounds the rounding."""
    gap = np.abs(composition - own)
    error = np.full(gap.shape, np.inf)  # without a bound nothing differs for sure: infinity times 0 would be NaN
    if np.isfinite(relative):
        error = relative * (composition + own) + np.finfo(np.float64).tiny
    near = (gap >= gap.max() - 2 * error.max()) & ((gap > error) | ~(gap > error).any())
    cell, tied = int(near.argmax()), len(gap) > 2 and int(near.sum()) > 1  # two cells differ by the same, exactly
    tokens = tokens_of(cell, len(positions), vocab)
    tv, differ = 0.5 * float(gap.sum()), bool((~(gap <= error)).any())
    return Marginal(expert, positions, tv, differ, tied, tokens, float(composition[cell]), float(own[cell]))


def _termination(summary: Summary) -> TerminationSurvey:
    leaves, laws = summary.laws[-1], summary.laws
    unended = leaves.reachable & ~leaves.ended
    reaches = ahead([law.ended & law.reachable for law in laws], summary.vocab)
    endless = [law.reachable & ~up for law, up in zip(laws[:-1], reaches, strict=False)]
    running = laws[:-1]
    expected = np.array([np.exp(law.log_models[:, ~law.ended]).sum(axis=1) for law in running])
    background, *experts = expected.sum(axis=0) if running else np.zeros(len(leaves.log_models))
    return TerminationSurvey(
        unended=float(leaves.probability[unended].sum()),
        ends=not unended.any(),
        endless=summary.first(endless),
        composition=float(sum(law.probability[~law.ended].sum() for law in running)),
        background=float(background),
        experts=tuple(float(x) for x in experts),
    )
