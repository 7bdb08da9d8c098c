"""What the composition is: one of its components at every prefix, of unit normalizer, the same stepwise and globally.

Exact where at most one expert differs (theory.md, Lemma 1.8 and Theorems 1.5, 4.4). Elsewhere floats decide, and where
they cannot tell a residual from 0 the claim stays open for the rational kernel.
"""

from factorcomp.certificates.claims import ClaimResult, Verdict
from factorcomp.factorization.context import Context
from factorcomp.surveys import Survey, Vanishing

UNSETTLED = "floating point cannot tell the residual from 0"


def exact_switching(context: Context) -> ClaimResult:
    """At every prefix the composition is the background or one expert."""
    holds = f"the composition is one of its components {context.everywhere}"
    return _vanishing(context, "exact_switching", context.survey.switching, holds, "the composition is no component")


def unit_normalizer(context: Context) -> ClaimResult:
    """`Z(h) = 1` at every prefix."""
    holds = f"Z = 1 {context.everywhere}"
    return _vanishing(context, "unit_normalizer", context.survey.normalizer, holds, "Z is not 1")


def _vanishing(context: Context, claim: str, quantity: Vanishing | None, holds: str, fails: str) -> ClaimResult:
    assert quantity is not None
    if quantity.first is not None:
        why = f"{context.after(quantity.first)} {fails}"
        witness = context.witness(quantity.first)
        return context.result(claim, Verdict.REFUTED, why, residual=quantity.largest, witness=witness)
    if quantity.unsettled is not None:
        why = f"{UNSETTLED} {context.after(quantity.unsettled)}"
        return context.result(claim, Verdict.UNDECIDED, why, residual=quantity.largest)
    return context.result(claim, Verdict.HOLDS, holds, residual=0.0)


def local_equals_global(context: Context[Survey]) -> ClaimResult:
    """`P_L = P_G` on sequences (Theorem 1.5)."""
    claim, following, tv = "local_equals_global", context.survey.following, context.survey.tv_local_global
    assert following is not None
    if following.first is not None:
        why = f"{context.after(following.first)} the stepwise and the sequence-level next token differ"
        return context.result(claim, Verdict.REFUTED, why, residual=tv, witness=context.witness(following.first))
    if following.unsettled is not None:
        return context.result(claim, Verdict.UNDECIDED, UNSETTLED, residual=tv)
    why = "stepwise and sequence-level composition are one distribution"
    return context.result(claim, Verdict.HOLDS, why, residual=0.0)
