"""The claims about masks of finite-state models: for every length, or for one beyond enumeration.

Agreement by a search through states and clock; factorized conditionals by Theorem 7.5; projectivity by Theorem 2.2, or
refuted by the marginals on the mask's first positions, or on one of its positions (11.7).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from factorcomp.certificates.claims import (
    ClaimResult,
    MarginalWitness,
    Mask,
    Positions,
    PositionWitness,
    Verdict,
)
from factorcomp.composition.operator import tilt
from factorcomp.enumeration.levelwise import survey as enumerated
from factorcomp.enumeration.size import count_prefixes
from factorcomp.factorization import masks
from factorcomp.factorization.conditionals import Conditionals, Failure, decide_conditionals, tilted_steps
from factorcomp.factorization.context import Context
from factorcomp.finite_state import clocks
from factorcomp.finite_state.clocks import Clock, clock_of, with_clock
from factorcomp.finite_state.laws import Law
from factorcomp.finite_state.lengths import first_path, repeating
from factorcomp.finite_state.seen import AbstractSeen
from factorcomp.finite_state.twins import factorized, failing_twins
from factorcomp.finite_state.variation import bounds, token_marginals
from factorcomp.models.tabular import TabularModel

NUMBERS_TO_ENUMERATE = 1 << 18
"""The numbers of all tables up to which a shortest length is looked for by enumeration."""
CLAIM = "factorized_conditionals"


class StateMasks:
    """The claims about masks for every length, or for sequences of `limit` tokens; and the masks, if there are any."""

    def __init__(self, context: Context, found: AbstractSeen, limit: int | None = None):
        self._context, self._found, self._question, self._limit = context, found, context.question, limit
        self.owned: Mapping[str, Mask] | None = None
        if isinstance(self._question.masks, Mapping):
            self.owned = self._question.masks
            self.claims = self._decide(self.owned)
        else:
            self.claims = self._with_masks_found()

    def _later(self, why: str, length: int) -> str:
        return f"{why}, at length {length} and beyond" if self._limit is None else why

    # masks found

    def _with_masks_found(self) -> list[ClaimResult]:
        """`--masks auto`: each expert owns the positions at which it deviates in scope."""
        context, found = self._context, self._found
        deviates, following = found.composed.deviates, found.product.search.next
        owners = [name for name, flags in zip(context.names, deviates, strict=True) if flags.any()]
        sets = repeating(following, self._limit)
        if sets is None:
            why = "the positions at which experts deviate do not repeat within the lengths looked at"
            named = [("mask_agreement", None), (CLAIM, None), *(("projective", n) for n in owners)]
            return [context.result(claim, Verdict.UNDECIDED, why, mask=mask) for claim, mask in named]
        flags = [[bool(mine[level].any()) for mine in deviates] for level in sets[0]]
        clash = next((t for t, level in enumerate(flags) if sum(level) > 1), None)
        if clash is not None:
            who = [i for i, flag in enumerate(flags[clash]) if flag][:2]
            prefixes = [context.spelled(first_path(following, deviates[i], clash) or ()) for i in who]
            one, other = context.who(who)
            return masks.clash(context, PositionWitness(clash, (one, other), (prefixes[0], prefixes[1])), owners)
        self.owned = {}
        for i, name in enumerate(context.names):
            mine = [level[i] for level in flags]
            if self._limit is None:
                positions: Mask = clocks.repeating(mine, sets[1])
            else:
                positions = tuple(t for t, flag in enumerate(_unrolled(mine, sets[1], self._limit)) if flag)
            if positions:
                self.owned[name] = positions
        return self._decide(self.owned)

    # the claims

    def _decide(self, owned: Mapping[str, Mask]) -> list[ClaimResult]:
        by_place = {i: owned[name] for i, name in enumerate(self._context.names) if name in owned}
        clock = clock_of({i: endless(mask, self._limit) for i, mask in by_place.items()})
        factorized_ = self._factorized(by_place, clock)
        return [self._agreement(clock), factorized_, *self._projective(by_place, factorized_)]

    def _agreement(self, clock: Clock) -> ClaimResult:
        """Off its mask no expert deviates (2.6)."""
        context, found = self._context, self._found
        search = with_clock(found.product.search.next, clock, None if self._limit is None else self._limit - 1)
        state, owner = search.members[0], np.array(clock.owners)[search.members[1]]
        off = owner != np.arange(len(context.names))[:, None]
        largest = float(np.where(off, found.composed.expert_tv[:, state], 0.0).max(initial=0.0))
        failing = off & found.composed.deviates[:, state]
        first = None
        if failing.any():
            place = int(failing.any(axis=0).argmax())
            only = np.arange(len(failing)) == failing[:, place].argmax()
            first = found.sighting_of(search, place, state[search.path(place)].tolist(), only)
        return masks.agreement(context, first, largest)

    @cached_property
    def _laws(self) -> tuple[Law, dict[int, Law]]:
        return self._found.law(0), {i: self._found.law(i + 1) for i in range(len(self._context.names))}

    @cached_property
    def _lawless(self) -> tuple[int, ...]:
        return tuple(i for i, law in self._laws[1].items() if law.lawless_within(self._limit))

    def _factorized(self, by_place: Mapping[int, Mask], clock: Clock) -> ClaimResult:
        """FC (2.1), by Theorem 7.5; its first failure by enumeration, or by following twins where that is too much."""
        context, limit = self._context, self._limit
        if self._lawless:
            why = "a tilted expert has no law of its own"
            return masks.factorized_conditionals(context, Conditionals(None, 0.0, undecided=why, lawless=self._lawless))
        background, laws = self._laws
        if factorized(background, self._found.background, laws, clock):
            return masks.factorized_conditionals(context, Conditionals(None, 0.0))
        length, most = 1, self._most(len(context.names) + 1)
        while True:
            conditionals = self._conditionals(length, by_place)
            if conditionals.failure is not None:
                shortest = conditionals.failure.length + 1
                return self._refuted(conditionals if limit == length else self._conditionals(shortest, by_place))
            if length == most:
                break
            length = min(2 * length, most)
        if length == limit:
            return masks.factorized_conditionals(context, Conditionals(None, 0.0))
        twins = failing_twins(background, self._found.background, laws, clock)
        if twins is None:
            why = f"no prefixes shorter than {most} tokens refute it, and there are too many pairs of longer ones"
            return context.result(CLAIM, Verdict.UNDECIDED, why)
        if limit is not None and twins[0] >= limit:
            return masks.factorized_conditionals(context, Conditionals(None, 0.0))
        return self._refuted(Conditionals(Failure(*twins), 0.0, at_least=True))

    def _refuted(self, conditionals: Conditionals) -> ClaimResult:
        """Refuted; about every length from the first one that shows it, about a long one with what that one shows."""
        assert conditionals.failure is not None
        length = conditionals.failure.length + 1
        if self._limit is not None and length < self._limit:
            conditionals = replace(conditionals, at_least=True)
        result = masks.factorized_conditionals(self._context, conditionals)
        result = replace(result, why=self._later(result.why, length))
        return result if self._limit is not None else replace(result, length=length)

    def _most(self, models: int) -> int:
        """The longest length that is enumerated."""
        vocab, length = len(self._context.vocabulary), 1
        most = 64 if self._limit is None else min(64, self._limit)
        while length < most and count_prefixes(vocab, length + 1) * vocab * models <= NUMBERS_TO_ENUMERATE:
            length += 1
        return length

    def _conditionals(self, length: int, by_place: Mapping[int, Mask]) -> Conditionals:
        base, tables = self._tables(length)
        tilted = [tilted_steps(base.steps, t.steps, self._question.weight(name)) for name, t in tables.items()]
        return decide_conditionals(base.steps, tilted, {i: below(mask, length) for i, mask in by_place.items()})

    def _tables(self, length: int) -> tuple[TabularModel, dict[str, TabularModel]]:
        found = self._found
        return found.background.tabulate(length), {name: e.tabulate(length) for name, e in found.experts.items()}

    def _projective(self, by_place: Mapping[int, Mask], factorized_: ClaimResult) -> list[ClaimResult]:
        """Projective by Theorem 2.2, or refuted where the marginals differ."""
        results: dict[int, ClaimResult] = {}
        context, holds = self._context, factorized_.verdict is Verdict.HOLDS
        for i, mask in by_place.items():
            name = context.names[i]
            if i in self._lawless:
                results[i] = masks.lawless(context, name)
            elif holds or not mask:
                results[i] = masks.has_law_of(context, name)
        most = self._most(2 * len(context.names) + 4)
        for length in range(1, most + 1):
            results |= self._first_marginals(length, {i: m for i, m in by_place.items() if i not in results})
        for i, mask in by_place.items():
            if i not in results:
                results[i] = self._by_one_position(i, mask, most)
        return [results[i] for i in by_place]

    def _first_marginals(self, length: int, open_: Mapping[int, Mask]) -> dict[int, ClaimResult]:
        """The experts whose marginals on the mask's positions below `length` differ, `length - 1` being one."""
        context = self._context
        asked = {i: below(mask, length) for i, mask in open_.items() if length - 1 in mask}
        if not asked:
            return {}
        base, tables = self._tables(length)
        bounded = replace(self._question, length=length, masks={context.names[i]: p for i, p in asked.items()})
        survey = enumerated(base, tables, bounded)
        results = {}
        assert survey.marginal is not None
        for marginal in map(survey.marginal, survey.masks or ()):
            if marginal.differ:
                at_length = replace(context, question=bounded, survey=survey)
                result = masks.projective(at_length, marginal.expert, Conditionals(None, 0.0, undecided=""), marginal)
                if self._limit is None or self._limit == length:
                    result = replace(result, why=self._later(result.why, length))
                else:
                    result = self._bounded(replace(result, length=self._limit), marginal.expert)
                results[marginal.expert] = result
        return results

    def _by_one_position(self, i: int, mask: Mask, most: int) -> ClaimResult:
        """Of a length beyond enumeration: refuted by the law of the token at one position, or UNDECIDED."""
        context, name = self._context, self._context.names[i]
        why = f"factorized_conditionals, which would prove it, fails; up to length {most} the marginals do not differ"
        undecided = context.result("projective", Verdict.UNDECIDED, why, mask=name)
        if self._limit is None or self._limit == most:
            return undecided
        composed, law = self._found.composed, self._laws[1][i]
        mine = token_marginals(composed.transitions, np.exp(composed.log_probs), self._limit)
        own = token_marginals(law.chain, np.exp(law.rows.log_probs(0, law.rows.shape[0])), self._limit)
        places = np.array(below(mask, self._limit), dtype=np.int64)
        distance = 0.5 * np.abs(mine - own).sum(axis=1)
        error = 8 * self._limit * float(composed.error.max() + law.rows.error(0, law.rows.shape[0]).max())
        t = int(places[distance[places].argmax()])
        if not distance[t] > error:
            return self._bounded(undecided, i)
        y = int(np.abs(mine[t] - own[t]).argmax())
        witness = MarginalWitness((t,), (context.vocabulary[y],), float(mine[t, y]), float(own[t, y]))
        result = masks.marginal_differs(context, name, witness, float(distance[t]), f"position {t}")
        return self._bounded(result, i)

    def _bounded(self, result: ClaimResult, i: int) -> ClaimResult:
        """The result of a long length, with bounds on the total variation: a marginal's is at most that of the laws."""
        composed, length = self._found.composed, self._limit or 0
        members = np.maximum(self._found.product.members, 0)
        name = self._context.names[i]
        base = self._found.background.rows.log_probs(0, self._found.background.rows.shape[0])[members[0]]
        expert = self._found.experts[name]
        own = expert.rows.log_probs(0, expert.rows.shape[0])[members[i + 1]]
        weight = float(self._question.weight(name))
        rows = tilt(base, own[None], None if weight == 1 else np.array([weight]))[0]
        error = float(composed.error.max())
        _, upper = bounds(self._found.product.followed, np.exp(composed.log_probs), np.exp(rows), length, error)
        lower = 0.0 if result.residual is None else float(result.residual)
        return replace(result, why=f"{result.why}; the TV lies between {lower:.4g} and {max(upper, lower):.4g}")


def endless(mask: Mask, limit: int | None) -> Positions:
    """A mask for every length; one within `limit` as one that repeats as soon as it seems to: what comes after the
    limit is of no interest."""
    if isinstance(mask, Positions):
        return mask
    assert limit is not None
    flags = np.isin(np.arange(limit), mask).tolist()
    period = smallest_period(flags)
    return clocks.repeating(flags[:period], 0) if period < limit else Positions(mask)


def smallest_period(word: list[bool]) -> int:
    """The smallest p with `word[p:] == word[:-p]`, by the borders of its prefixes (Knuth, Morris and Pratt).

    >>> smallest_period([True, False, True, False, True])
    2
    """
    borders = [0] * len(word)
    for place in range(1, len(word)):
        border = borders[place - 1]
        while border and word[place] != word[border]:
            border = borders[border - 1]
        borders[place] = border + (word[place] == word[border])
    return len(word) - (borders[-1] if word else 0)


def below(mask: Mask, length: int) -> tuple[int, ...]:
    """The positions of a mask below `length`."""
    return mask.below(length) if isinstance(mask, Positions) else tuple(p for p in mask if p < length)


def _unrolled(flags: list[bool], loop: int, length: int) -> list[bool]:
    """The first `length` flags, those from `loop` on repeated."""
    period = len(flags) - loop
    return [flags[t if t < len(flags) else loop + (t - loop) % period] for t in range(length)]
