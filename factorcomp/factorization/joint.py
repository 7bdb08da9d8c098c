"""Joint factorizability: is the composition defined, do experts deviate one at a time, are their intervals disjoint?

Source: theory.md, Definitions 1.1, 1.3, 3.3 and 4.1, Theorem 4.2.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from factorcomp.certificates.claims import ClaimResult, Question, Verdict
from factorcomp.factorization.context import Context
from factorcomp.factorization.wording import listed
from factorcomp.surveys import Meeting


def well_defined(context: Context, openers: tuple[str, ...]) -> ClaimResult:
    """No undefined ratio, and no prefix where all mass vanishes.

    `openers`: at an undefined prefix the experts that make a token possible which the background excludes.
    """
    undefined = context.survey.undefined
    if undefined.first is None:
        why = f"every ratio is defined and some token is possible {context.everywhere}"
        return context.result("well_defined", Verdict.HOLDS, why, residual=0.0)
    where = context.after(undefined.first)
    if openers:
        verb = "makes" if len(openers) == 1 else "make"
        why = f"{where} {listed(openers)} {verb} possible what the background excludes: the ratio is undefined"
    else:
        why = f"{where} background and experts leave no token possible: all mass vanishes"
    witness = replace(context.witness(undefined.first), experts=openers)
    return context.result("well_defined", Verdict.REFUTED, why, residual=undefined.probability, witness=witness)


def undefined_at_gap(context: Context, silent: Sequence[bool]) -> ClaimResult:
    """The composition is undefined at a prefix of which some models (the background first) say nothing."""
    undefined = context.survey.undefined
    assert undefined.first is not None
    experts = tuple(name for name, gap in zip(context.names, silent[1:], strict=True) if gap)
    who = ["the background"] * int(silent[0]) + list(experts)
    has, says = ("has", "it says") if len(who) == 1 else ("have", "they say")
    why = f"{context.after(undefined.first)} {listed(who)} {has} no next state: what {says} there is undefined"
    witness = replace(context.witness(undefined.first), experts=experts)
    return context.result("well_defined", Verdict.REFUTED, why, residual=undefined.probability, witness=witness)


def openers(
    possible: Bool[np.ndarray, " vocab"],
    experts: Sequence[Bool[np.ndarray, " vocab"]],
    names: Sequence[str],
    question: Question,
) -> tuple[str, ...]:
    """The experts that open the first token in error at an undefined prefix (Definition 1.3); none at a dead one.

    `possible`, `experts`: the tokens that the background and each expert make possible there.
    """
    tolerated = {"strict": 0, "cancel": 1, "drop": len(names)}[question.null_tokens]
    for token in np.flatnonzero(~possible):
        who = tuple(name for name, mine in zip(names, experts, strict=True) if mine[token])
        if len(who) > tolerated or any(question.weight(name) != 1 for name in who):
            return who
    return ()


def pointwise_joint(context: Context) -> ClaimResult:
    """JF-pt, Definition 4.1: `Dev_i` and `Dev_j` are disjoint on the scope."""
    none = f"at most one expert deviates{context.beyond} {context.everywhere}"
    return _disjoint(context, "pointwise_joint", context.survey.overlap, "deviate", none)


def interval_joint(context: Context) -> ClaimResult:
    """JF-int, Theorem 4.2: the canonical active sets `Act_i` and `Act_j` are disjoint on the scope."""
    none = f"the experts' active intervals are disjoint on every path{context.always}"
    return _disjoint(context, "interval_joint", context.survey.conflict, "are active", none)


def _disjoint(context: Context, claim: str, meeting: Meeting | None, verb: str, none: str) -> ClaimResult:
    assert meeting is not None
    if meeting.first is None:
        return context.result(claim, Verdict.HOLDS, none, residual=0.0)
    who = context.who(meeting.first.experts)
    both = f"both {listed(who)}" if len(who) == 2 else listed(who)
    why = f"{context.after(meeting.first)} {both} {verb}"
    witness = context.witness(meeting.first)
    return context.result(claim, Verdict.REFUTED, why, residual=meeting.probability, witness=witness)
