"""Joint factorizability: is the composition defined, do experts deviate one at a time, are their intervals disjoint?

Source: theory.md, Definitions 1.1, 1.3, 3.3 and 4.1, Theorem 4.2.
"""

from dataclasses import replace

from factorcomp.certificates.claims import ClaimResult, Verdict
from factorcomp.enumeration.survey import Meeting
from factorcomp.factorization.context import Context
from factorcomp.factorization.wording import listed


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


def pointwise_joint(context: Context) -> ClaimResult:
    """JF-pt, Definition 4.1: `Dev_i` and `Dev_j` are disjoint on the scope."""
    none = f"at most one expert deviates{context.beyond} {context.everywhere}"
    return _disjoint(context, "pointwise_joint", context.survey.overlap, "deviate", none)


def interval_joint(context: Context) -> ClaimResult:
    """JF-int, Theorem 4.2: the canonical active sets `Act_i` and `Act_j` are disjoint on the scope."""
    none = "the experts' active intervals are disjoint on every path"
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
