"""Every claim about one length of finite-state models, in time linear in the length. Source: theory.md 3, 7, 8."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from factorcomp.certificates.claims import ClaimResult, Findings, Mask, Number, PrefixWitness, Question, Verdict
from factorcomp.factorization import exactness, joint
from factorcomp.factorization.context import Context
from factorcomp.factorization.state_masks import StateMasks
from factorcomp.factorization.states import METHOD, follows_switching, measures, well_defined
from factorcomp.factorization.undecided import undecided
from factorcomp.finite_state.at_length import AtLength
from factorcomp.finite_state.variation import bounds
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.surveys import Progress


def decide_at_length(
    background: FiniteStateModel,
    experts: Mapping[str, FiniteStateModel],
    question: Question,
    progress: Progress | None = None,
) -> Findings:
    """Decides every claim about sequences of `question.horizon` tokens, at least one.

    Where a total variation is neither proved to be 0 nor computed it is bounded from both sides, and the claim says so.
    """
    found = AtLength(background, experts, question, progress)
    context = Context(background.vocabulary, tuple(experts), question, found, METHOD)
    defined = well_defined(context, found)
    if defined.verdict is Verdict.REFUTED:
        others = undecided(context, has_eos=background.eos is not None)
        return Findings((defined, *others), None, {}, {}, question.given_masks, states=found.states)
    equal = _local_equals_global(context, found)
    claims = [
        defined,
        joint.pointwise_joint(context),
        joint.interval_joint(context),
        exactness.exact_switching(context),
        exactness.unit_normalizer(context),
        equal,
    ]
    owned: Mapping[str, Mask] | None = None
    if question.masks is not None:
        about_masks = StateMasks(context, found, question.horizon)
        claims += about_masks.claims
        owned = about_masks.owned
    unended: Number | None = None
    if background.eos is not None:
        claims.append(_terminates(context, found))
        unended = claims[-1].residual
    quantities = {"exact_switching": found.switching, "unit_normalizer": found.normalizer}
    unsettled = {name for name, quantity in quantities.items() if quantity.doubtful}
    unsettled |= {equal.name} if equal.verdict is Verdict.UNDECIDED else set()
    numbers = replace(measures(context, found, equal, unended), bounds=_bounds(found, equal))
    return Findings(tuple(claims), numbers, {}, {}, owned, states=found.states, unsettled=frozenset(unsettled))


def _local_equals_global(context: Context[AtLength], found: AtLength) -> ClaimResult:
    claim = "local_equals_global"
    if found.alike:
        why = "Z depends on the length alone: stepwise and sequence-level composition are one distribution"
        return context.result(claim, Verdict.HOLDS, why, residual=0.0)
    seen = found.comparison
    if seen.tokens is None:
        return context.result(claim, Verdict.UNDECIDED, seen.unsettled or exactness.UNSETTLED)
    sighting = found.sighting_at(seen.tokens)
    where = context.after(sighting)
    why = f"{where} the stepwise and the sequence-level next token differ; {_between(seen.lower, seen.upper)}"
    prefix = PrefixWitness(context.spelled(seen.tokens), sighting.probability, _deviating(context, found, seen.tokens))
    return context.result(claim, Verdict.REFUTED, why, residual=seen.lower, witness=prefix)


def _deviating(context: Context[AtLength], found: AtLength, tokens: tuple[int, ...]) -> tuple[str, ...]:
    state = 0
    for token in tokens:
        state = int(found.product.followed[state, token])
    return context.who(np.flatnonzero(found.composed.deviates[:, state]).tolist())


def _between(lower: float, upper: float) -> str:
    return f"the TV lies between {lower:.4g} and {upper:.4g}"


def _terminates(context: Context[AtLength], found: AtLength) -> ClaimResult:
    """All mass has ended by the horizon (theory.md, section 10)."""
    if found.ends:
        return context.result("terminates", Verdict.HOLDS, "every sequence has ended by the horizon", residual=0.0)
    mass = "some probability" if found.unended is None else f"probability {found.unended:.4g}"
    why = f"a sequence has not ended by the horizon with {mass}"
    first, witness = found.endless, None
    if first is not None:
        witness = context.witness(first)
        why += f"; {context.after(first)} EOS cannot be reached"
    return context.result("terminates", Verdict.BOUNDED, why, residual=found.unended, witness=witness)


def _bounds(found: AtLength, equal: ClaimResult) -> dict[str, tuple[float, float]]:
    """From below and above, the total variations that are not known to be 0."""
    known = {}
    if not follows_switching(found):
        composed = found.composed
        mine, theirs = np.exp(composed.log_probs), np.exp(composed.switching)
        known["tv_to_switching"] = bounds(
            found.product.followed, mine, theirs, found.length, float(composed.error.max())
        )
    if equal.verdict is not Verdict.HOLDS:
        known["tv_local_global"] = (found.comparison.lower, found.comparison.upper)
    return known
