"""Every other claim, where the composition is undefined."""

from factorcomp.certificates.claims import CLAIMS, FEATURE_CLAIMS, MASK_CLAIMS, ClaimResult, Verdict
from factorcomp.factorization.context import Context


def undecided(context: Context, *, has_eos: bool) -> list[ClaimResult]:
    """All claims but `well_defined` that the question asks for, UNDECIDED."""
    given = None if context.question.masks == "auto" else context.question.masks
    results = []
    for claim in CLAIMS[1:]:
        if claim == "terminates" and not has_eos:
            continue
        if claim in MASK_CLAIMS and context.question.masks is None:
            continue
        if claim in FEATURE_CLAIMS:  # added with the feature map
            continue
        owners = [name for name in context.names if given and name in given] if claim == "projective" else [None]
        why = "the composition is not well defined"
        results += [context.result(claim, Verdict.UNDECIDED, why, mask=mask) for mask in owners]
    return results
