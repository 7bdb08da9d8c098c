"""Every claim about every length at once, in the order of a report. Source: theory.md, section 7."""

from collections.abc import Mapping
from dataclasses import replace

from factorcomp.certificates.claims import ClaimResult, Findings, Mask, Number, PairWitness, Question, Verdict
from factorcomp.factorization import exactness, joint
from factorcomp.factorization.context import Context
from factorcomp.factorization.state_masks import StateMasks
from factorcomp.factorization.states import METHOD, measures, well_defined
from factorcomp.factorization.undecided import undecided
from factorcomp.factorization.wording import quoted
from factorcomp.finite_state.every_length import EveryLength
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.surveys import Progress


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
    defined = well_defined(context, found)
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
    owned: Mapping[str, Mask] | None = None
    if question.masks is not None:
        about_masks = StateMasks(context, found)
        claims += about_masks.claims
        owned = about_masks.owned
    unended: Number | None = None
    if background.eos is not None:
        claims.append(_terminates(context, found))
        unended = claims[-1].residual
    quantities = {"exact_switching": found.switching, "unit_normalizer": found.normalizer}
    unsettled = {name for name, quantity in quantities.items() if quantity.doubtful} | ({equal.name} & {*doubtful})
    return Findings(
        tuple(claims),
        measures(context, found, equal, unended),
        {},
        {},
        owned,
        states=found.states,
        invariant=found.invariant,
        unsettled=frozenset(unsettled),
    )


def _interval_joint(context: Context[EveryLength], found: EveryLength) -> ClaimResult:
    result = joint.interval_joint(context)
    if result.verdict is Verdict.REFUTED:
        result = replace(result, why=f"{result.why}, at length {found.conflict_length} and beyond")
    return result


def _local_equals_global(context: Context[EveryLength], found: EveryLength) -> tuple[ClaimResult, list[str]]:
    """The claim, and its name if floating point cannot be sure of it or of its witness."""
    claim, seen = "local_equals_global", found.normalizers
    doubtful = [claim] if seen.unsettled else []
    if seen.differ is not None:
        first, second = (context.tokens(seen.differ.length, index) for index in (seen.differ.first, seen.differ.second))
        length = seen.differ.length + 1
        why = f"Z differs after {quoted(first)} and {quoted(second)}: the two compositions differ at length {length}"
        witness = PairWitness((first, second), ("composition", "composition"), "Z")
        result = context.result(claim, Verdict.REFUTED, why, residual=seen.tv, witness=witness)
        return replace(result, length=length), doubtful
    if seen.unsettled:
        return context.result(claim, Verdict.UNDECIDED, exactness.UNSETTLED), doubtful
    why = "stepwise and sequence-level composition are one distribution at every length"
    return context.result(claim, Verdict.HOLDS, why, residual=0.0), doubtful


def _terminates(context: Context[EveryLength], found: EveryLength) -> ClaimResult:
    first = found.endless
    if first is None:
        why = "EOS can be reached wherever the composition goes: it ends"
        return context.result("terminates", Verdict.HOLDS, why, residual=0.0)
    why, residual = f"{context.after(first)} EOS cannot be reached", found.chain.probability_to_meet(found.stuck)
    return context.result("terminates", Verdict.REFUTED, why, residual=residual, witness=context.witness(first))
