"""Every claim about every length at once, in the order of a report. Source: theory.md, section 7."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from factorcomp.certificates.claims import (
    ClaimResult,
    ExpertMeasures,
    Findings,
    Measures,
    PairWitness,
    Positions,
    PositionWitness,
    Question,
    Termination,
    Verdict,
)
from factorcomp.enumeration.levelwise import survey as enumerated
from factorcomp.enumeration.size import count_prefixes
from factorcomp.factorization import exactness, joint, masks
from factorcomp.factorization.conditionals import Conditionals, Failure, decide_conditionals
from factorcomp.factorization.context import Context
from factorcomp.factorization.undecided import undecided
from factorcomp.factorization.wording import quoted
from factorcomp.finite_state.clocks import Clock, clock_of, with_clock
from factorcomp.finite_state.clocks import repeating as repeating_positions
from factorcomp.finite_state.every_length import EveryLength
from factorcomp.finite_state.laws import Law, law_beside, law_of
from factorcomp.finite_state.lengths import repeating, walk
from factorcomp.finite_state.twins import factorized, failing_twins
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import TiltedRows
from factorcomp.models.tabular import TabularModel
from factorcomp.surveys import Progress

METHOD = "finite-state"
NUMBERS_TO_ENUMERATE = 1 << 18
"""The numbers of all tables up to which a shortest length is looked for by enumeration."""
NO_CONVERGENCE = "; how often could not be computed"


def decide_every_length(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    progress: Progress | None = None,
    *,
    exact: bool = False,
) -> Findings:
    """Decides every claim for every length. `exact`: the long run in rational numbers, where the models are rational.

    The models share vocabulary and EOS. What floating point leaves open is `unsettled`, as by enumeration.
    """
    found = EveryLength(background, experts, question, progress, exact)
    context = Context(background.vocabulary, tuple(experts), question, found, METHOD)
    defined = _well_defined(context, found)
    given = None if question.masks is None or question.masks == "auto" else question.masks
    if defined.verdict is Verdict.REFUTED:
        others = undecided(context, has_eos=background.eos is not None)
        return Findings((defined, *others), None, {}, {}, given, states=found.states)
    equal, doubtful = _local_equals_global(context, found)
    claims = [
        defined,
        joint.pointwise_joint(context),
        _interval_joint(context, found),
        exactness.exact_switching(context),
        exactness.unit_normalizer(context),
        equal,
    ]
    owned: Mapping[str, Positions] | None = None
    if question.masks is not None:
        about_masks = Masks(context, found)
        claims += about_masks.claims
        owned = about_masks.owned
    if background.eos is not None:
        claims.append(_terminates(context, found))
    quantities = {"exact_switching": found.switching, "unit_normalizer": found.normalizer}
    unsettled = {name for name, quantity in quantities.items() if quantity.doubtful} | ({equal.name} & {*doubtful})
    return Findings(
        tuple(claims),
        _measures(context, found, equal),
        {},
        {},
        owned,
        states=found.states,
        invariant=found.invariant,
        unsettled=frozenset(unsettled),
    )


def _well_defined(context: Context[EveryLength], found: EveryLength) -> ClaimResult:
    broken = found.product.broken
    if not broken.any():
        return joint.well_defined(context, ())
    state = int(broken.argmax())
    gaps = found.product.gaps[:, state]
    if gaps.any():
        return joint.undefined_at_gap(context, tuple(np.array(context.names)[gaps[1:]].tolist()))
    rows = [
        model.rows.support()[q]
        for model, q in zip(
            (found.background, *found.experts.values()), found.product.members[:, state].tolist(), strict=True
        )
    ]
    return joint.well_defined(context, joint.openers(rows[0], rows[1:], context.names, context.question))


def _interval_joint(context: Context[EveryLength], found: EveryLength) -> ClaimResult:
    result = joint.interval_joint(context)
    if result.verdict is Verdict.REFUTED:
        result = replace(result, why=f"{result.why}, as seen at length {found.conflict_length} and beyond")
    return result


def _local_equals_global(context: Context[EveryLength], found: EveryLength) -> tuple[ClaimResult, list[str]]:
    """The claim, and its name if floating point cannot be sure of it or of its witness."""
    claim, seen = "local_equals_global", found.normalizers
    doubtful = [claim] if seen.unsettled else []
    if seen.differ is not None:
        first, second = (context.tokens(seen.differ.length, index) for index in (seen.differ.first, seen.differ.second))
        length = seen.differ.length + 1
        why = f"Z depends on more than the length: it differs after {quoted(first)} and {quoted(second)}"
        witness = PairWitness((first, second), ("composition", "composition"), "Z")
        result = context.result(claim, Verdict.REFUTED, why, residual=seen.tv, witness=witness)
        return replace(result, length=length), doubtful
    if seen.unsettled:
        return context.result(claim, Verdict.UNDECIDED, exactness.UNSETTLED), doubtful
    why = "Z depends on the length alone: at every length both compositions are one distribution"
    return context.result(claim, Verdict.HOLDS, why, residual=0.0), doubtful


def _terminates(context: Context[EveryLength], found: EveryLength) -> ClaimResult:
    first = found.endless
    if first is None:
        why = "from wherever the composition goes EOS can be reached: it ends with probability 1"
        return context.result("terminates", Verdict.HOLDS, why, residual=0.0)
    ends = found.chain.probability_to_meet(found.ended)
    why = f"{context.after(first)} EOS cannot be reached"
    residual = None if ends is None else 1 - ends
    return context.result("terminates", Verdict.REFUTED, why, residual=residual, witness=context.witness(first))


class Masks:
    """The claims about masks for every length."""

    def __init__(self, context: Context[EveryLength], found: EveryLength):
        self._context, self._found, self._question = context, found, context.question
        self.owned: Mapping[str, Positions] | None = None
        if isinstance(self._question.masks, Mapping):
            self.owned = {name: m for name, m in self._question.masks.items() if isinstance(m, Positions)}
            self.claims = self._decide(self.owned)
        else:
            self.claims = self._with_masks_found()

    def _with_masks_found(self) -> list[ClaimResult]:
        """`--masks auto`: each expert owns the positions at which it deviates in scope."""
        context, found = self._context, self._found
        deviates, search = found.composed.deviates, found.product.search
        owners = [name for name, flags in zip(context.names, deviates, strict=True) if flags.any()]
        named = [("mask_agreement", None), ("factorized_conditionals", None), *(("projective", n) for n in owners)]
        sets = repeating(search.next)
        flags = [[bool(mine[level].any()) for mine in deviates] for level in (sets[0] if sets else ())]
        if sets is None:
            why = "the positions at which experts deviate do not repeat within the lengths looked at"
            return [context.result(claim, Verdict.UNDECIDED, why, mask=mask) for claim, mask in named]
        clash = next((t for t, level in enumerate(flags) if sum(level) > 1), None)
        if clash is not None:
            return masks.clash(
                context, self._clash_at(clash, [i for i, flag in enumerate(flags[clash]) if flag][:2]), owners
            )
        self.owned = {
            name: repeating_positions([level[i] for level in flags], sets[1])
            for i, name in enumerate(context.names)
            if name in owners
        }
        return self._decide(self.owned)

    def _clash_at(self, position: int, experts: list[int]) -> PositionWitness:
        context, deviates = self._context, self._found.composed.deviates
        level = next(level for t, level in enumerate(walk(self._found.product.search.next)) if t == position)
        prefixes = [context.tokens(position, level.index[int(deviates[i, level.states].argmax())]) for i in experts]
        one, other = context.who(experts)
        return PositionWitness(position, (one, other), (prefixes[0], prefixes[1]))

    def _decide(self, owned: Mapping[str, Positions]) -> list[ClaimResult]:
        by_place = {i: owned[name] for i, name in enumerate(self._context.names) if name in owned}
        clock = clock_of(by_place)
        factorized_ = self._factorized(by_place, clock)
        return [self._agreement(clock), factorized_, *self._projective(by_place, factorized_)]

    def _agreement(self, clock: Clock) -> ClaimResult:
        """Off its mask no expert deviates (2.6)."""
        context, found = self._context, self._found
        search = with_clock(found.product.search.next, clock)
        state, owner = search.members[0], np.array(clock.owners)[search.members[1]]
        off = owner != np.arange(len(context.names))[:, None]
        largest = float(np.where(off, found.composed.expert_tv[:, state], 0.0).max(initial=0.0))
        failing = off & found.composed.deviates[:, state]
        first = None
        if failing.any():
            place = int(failing.any(axis=0).argmax())
            only = np.arange(len(failing)) == failing[:, place].argmax()
            path = state[search.path(place)].tolist()
            first = found.sighting_of(search, place, path, only)
        return masks.agreement(context, first, largest)

    @cached_property
    def _laws(self) -> tuple[Law, dict[int, Law]]:
        found = self._found
        weights = [self._question.weight(name) for name in self._context.names]
        laws = [law_beside(found.background, e, w) for e, w in zip(found.experts.values(), weights, strict=True)]
        return law_of(found.background), dict(enumerate(laws))

    @property
    def _lawless(self) -> tuple[int, ...]:
        return tuple(i for i, law in self._laws[1].items() if law.lawless)

    def _factorized(self, by_place: Mapping[int, Positions], clock: Clock) -> ClaimResult:
        """FC (2.1), by Theorem 7.5; its first failure by enumeration, or by following twins where that is too much."""
        context = self._context
        if self._lawless:
            why = "a tilted expert has no law of its own"
            return masks.factorized_conditionals(context, Conditionals(None, 0.0, undecided=why, lawless=self._lawless))
        background, laws = self._laws
        if factorized(background, self._found.background, laws, clock):
            return masks.factorized_conditionals(context, Conditionals(None, 0.0))
        length, most = 1, self._most(len(context.names) + 1)
        while length <= most:
            conditionals = self._conditionals(length, by_place)
            if conditionals.failure is not None:
                shortest = conditionals.failure.length + 1
                return self._refuted(self._conditionals(shortest, by_place))
            length = min(2 * length, most) if length < most else length + 1
        twins = failing_twins(background, self._found.background, laws, clock)
        if twins is None:
            why = f"it fails, but no two prefixes of up to {most} tokens show it, and the first that do were not found"
            return context.result("factorized_conditionals", Verdict.UNDECIDED, why)
        length, first, second, rank, expert = twins
        return self._refuted(Conditionals(Failure(length, first, second, rank, expert), 0.0, at_least=True))

    def _refuted(self, conditionals: Conditionals) -> ClaimResult:
        assert conditionals.failure is not None
        result = masks.factorized_conditionals(self._context, conditionals)
        length = conditionals.failure.length + 1
        return replace(result, length=length, why=f"{result.why}, at length {length} and beyond")

    def _most(self, models: int) -> int:
        """The longest length that is enumerated."""
        vocab, length = len(self._context.vocabulary), 1
        while count_prefixes(vocab, length + 1) * vocab * models <= NUMBERS_TO_ENUMERATE and length < 64:
            length += 1
        return length

    def _conditionals(self, length: int, by_place: Mapping[int, Positions]) -> Conditionals:
        base, tables = self._tables(length)
        tilted = []
        for name, table in tables.items():
            weight, pairs = self._question.weight(name), zip(base.steps, table.steps, strict=True)
            tilted.append(table.steps if weight == 1 else tuple(TiltedRows(b, rows, weight) for b, rows in pairs))
        return decide_conditionals(base.steps, tilted, {i: mask.below(length) for i, mask in by_place.items()})

    def _tables(self, length: int) -> tuple[TabularModel, dict[str, TabularModel]]:
        found = self._found
        return found.background.tabulate(length), {name: e.tabulate(length) for name, e in found.experts.items()}

    def _projective(self, by_place: Mapping[int, Positions], factorized_: ClaimResult) -> list[ClaimResult]:
        """Projective by Theorem 2.2, or refuted at the shortest length at which the marginals differ."""
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
            open_ = {i: mask.below(length) for i, mask in by_place.items() if i not in results}
            asked = {i: positions for i, positions in open_.items() if length - 1 in positions}
            if not asked:
                continue
            base, tables = self._tables(length)
            bounded = replace(self._question, length=length, masks={context.names[i]: p for i, p in asked.items()})
            survey = enumerated(base, tables, bounded)
            at_length = replace(context, question=bounded, survey=survey)
            for marginal in survey.marginals:
                if marginal.differ:
                    result = masks.projective(at_length, marginal, Conditionals(None, 0.0, undecided=""))
                    results[marginal.expert] = replace(result, why=f"{result.why}, at length {length} and beyond")
        why = (
            f"up to length {most} the marginals do not differ, and factorized_conditionals, which would prove it, fails"
        )
        return [
            results.get(i) or context.result("projective", Verdict.UNDECIDED, why, mask=context.names[i])
            for i in by_place
        ]


def _measures(context: Context[EveryLength], found: EveryLength, equal: ClaimResult) -> Measures:
    composed, reachable = found.composed, found.product.reachable
    normalizer = composed.log_normalizer
    follows = (composed.settled & (composed.differs == composed.deviates).all(axis=0))[reachable].all()
    termination = None
    if found.background.eos is not None:
        ends = 1 if found.endless is None else found.chain.probability_to_meet(found.ended)
        termination = Termination(
            unended=None if ends is None else 1 - ends,
            background=found.expected_length(0),
            composition=found.expected_length(),
            experts={name: found.expected_length(i + 1) for i, name in enumerate(context.names)},
        )
    return Measures(
        tv_to_switching=0.0 if follows else None,
        tv_local_global=0.0 if equal.verdict is Verdict.HOLDS else None,
        log_normalizer_min=float(normalizer.min()),
        log_normalizer_max=float(normalizer.max()),
        experts={
            name: ExpertMeasures(
                deviating_prefixes=None,
                active_prefixes=None,
                activity_probability=found.activity(i),
                expected_active_steps=found.active_steps(i),
                max_oscillation=float(composed.oscillation[i].max()),
                runs=found.runs(i),
            )
            for i, name in enumerate(context.names)
        },
        overlap_probability=found.overlap.probability,
        termination=termination,
    )
