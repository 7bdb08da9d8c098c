"""Claims about masks: agreement off the mask, factorized conditionals, projectivity. Source: theory.md, section 2."""

from collections.abc import Mapping, Sequence

from factorcomp.certificates.claims import (
    ClaimResult,
    MarginalWitness,
    PairWitness,
    PositionWitness,
    Verdict,
)
from factorcomp.factorization.conditionals import BACKGROUND, Conditionals
from factorcomp.factorization.context import Context
from factorcomp.factorization.exactness import UNSETTLED
from factorcomp.factorization.wording import listed, quoted
from factorcomp.surveys import Marginal, Sighting, Survey


def no_masks(context: Context[Survey]) -> list[ClaimResult]:
    """The claims about masks where `"auto"` finds two owners of one position."""
    experts = context.survey.experts
    for position in range(context.question.horizon):
        owners = [i for i, expert in enumerate(experts) if position in expert.deviates_at][:2]
        if len(owners) == 2:
            break
    sightings = [experts[i].first_deviation[position] for i in owners]
    prefixes = [context.tokens(s.length, s.index) for s in sightings if s is not None]
    witness = PositionWitness(
        position, (context.names[owners[0]], context.names[owners[1]]), (prefixes[0], prefixes[1])
    )
    return clash(context, witness, [n for n, expert in zip(context.names, experts, strict=True) if expert.deviates_at])


def clash(context: Context, witness: PositionWitness, deviators: Sequence[str]) -> list[ClaimResult]:
    """The claims about masks, refuted by a position at which two experts deviate; `deviators`: all who ever do."""
    who, where = listed(witness.experts), witness.position
    why = f"there are no disjoint masks: {who} both deviate{context.beyond} at position {where}"
    claims = [
        ("mask_agreement", None),
        ("factorized_conditionals", None),
        *(("projective", name) for name in deviators),
    ]
    return [context.result(claim, Verdict.REFUTED, why, witness=witness, mask=mask) for claim, mask in claims]


def mask_agreement(context: Context[Survey], masks: Mapping[int, tuple[int, ...]]) -> ClaimResult:
    """MA, Definition 2.6a: off its mask no expert deviates from the background."""
    first, largest = None, 0.0
    for position in range(context.question.horizon):
        for i, expert in enumerate(context.survey.experts):
            if position in masks.get(i, ()):
                continue
            largest = max(largest, expert.largest_tv[position])
            if position not in expert.deviates_at:
                continue
            seen = expert.first_deviation[position]
            earlier = seen is not None and (first is None or (seen.length, seen.index) < (first.length, first.index))
            first = seen if earlier else first
    return agreement(context, first, largest)


def agreement(context: Context, first: Sighting | None, largest: float) -> ClaimResult:
    """MA, from the first prefix at which an expert deviates off its mask, and the largest TV off a mask."""
    if first is None:
        why = f"off its mask no expert deviates{context.beyond}"
        return context.result("mask_agreement", Verdict.HOLDS, why, residual=largest)
    witness = context.witness(first)
    who, where = witness.experts[0], context.after(first)
    why = f"{where} {who} deviates{context.beyond}, and position {first.length} is not its own"
    return context.result("mask_agreement", Verdict.REFUTED, why, residual=largest, witness=witness)


def factorized_conditionals(context: Context, conditionals: Conditionals) -> ClaimResult:
    """FC, Definition 2.1, by the stepwise conditions of Theorem 2.3."""
    claim, failure, tv = "factorized_conditionals", conditionals.failure, conditionals.largest_tv
    if failure is None:
        if conditionals.undecided is not None:
            return context.result(claim, Verdict.UNDECIDED, conditionals.undecided)
        why = f"the background's blocks are independent, and each expert changes its own block alone{context.always}"
        return context.result(claim, Verdict.HOLDS, why, residual=0.0)
    first, second = (context.tokens(failure.length, index) for index in (failure.first, failure.second))
    expert = "background" if failure.expert == BACKGROUND else context.names[failure.expert]
    models = (expert, expert if failure.condition in ("B", "I1") else "background")
    if failure.condition == "c":
        why = f"after {quoted(first)} {expert} makes possible on its mask what the background excludes"
    elif failure.condition == "I2":
        why = f"off its mask {expert} after {quoted(first)} is not the background after {quoted(second)}"
    else:
        why = f"{expert} differs after {quoted(first)} and {quoted(second)}, which agree on the block of the position"
    if conditionals.at_least:
        why += "; the residual is a lower bound"
    witness = PairWitness((first, second), models, failure.condition)
    return context.result(claim, Verdict.REFUTED, why, residual=tv, witness=witness)


def projective(context: Context, expert: int, conditionals: Conditionals, marginal: Marginal | None) -> ClaimResult:
    """The composition's marginal on a mask is that expert's; by Theorem 2.2 without looking at it."""
    name = context.names[expert]
    if expert in conditionals.lawless:
        return lawless(context, name)
    if conditionals.hold or marginal is None or not marginal.positions:
        return has_law_of(context, name)
    if not marginal.differ:
        return context.result("projective", Verdict.UNDECIDED, UNSETTLED, residual=marginal.tv, mask=name)
    tokens = tuple(context.vocabulary[y] for y in marginal.cell)
    witness = MarginalWitness(marginal.positions, tokens, marginal.composition, marginal.own)
    return marginal_differs(context, name, witness, marginal.tv)


def marginal_differs(
    context: Context, name: str, witness: MarginalWitness, tv: float, what: str = "the mask"
) -> ClaimResult:
    """Not projective: the marginals of `what` differ, most at the witness."""
    composition, expert = float(witness.composition), float(witness.expert)
    why = (
        f"{what} reads {quoted(witness.tokens)} with probability {composition:.4g} under the composition, "
        f"{expert:.4g} under {name}"
    )
    return context.result("projective", Verdict.REFUTED, why, residual=tv, witness=witness, mask=name)


def has_law_of(context: Context, name: str) -> ClaimResult:
    """Projective on the mask of an expert."""
    why = f"on its mask the composition has the law of {name}{context.always}"
    return context.result("projective", Verdict.HOLDS, why, residual=0.0, mask=name)


def lawless(context: Context, name: str) -> ClaimResult:
    """Nothing to compare with: the weighted expert has no law."""
    why = f"weighted, {name} reaches a prefix where it shares no token with the background, and has no law"
    return context.result("projective", Verdict.UNDECIDED, why, mask=name)
