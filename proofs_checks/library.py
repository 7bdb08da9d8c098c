"""What factorcomp itself says of a family: its composition, and its verdicts by the rational kernel."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Kernel
from proofs_checks.definitions.operator import NullTokens

if TYPE_CHECKING:
    from factorcomp import Report


def composed_kernel(
    family: Family,
    null: NullTokens = "cancel",
    *,
    weights: Sequence[Fraction] = (),
    sequence_level: bool = False,
) -> Kernel | None:
    """`factorcomp.compose`, row by row; `None` where it refuses: an error or a dead prefix that it reaches."""
    from factorcomp import InputError, TabularModel, compose

    background, experts = family.models()
    try:
        composed = compose(
            background,
            experts,
            null_tokens=null,
            weights=dict(zip(experts, weights, strict=False)),
            sequence_level=sequence_level,
        )
    except InputError:
        return None
    assert isinstance(composed, TabularModel)
    return {
        prefix: composed.steps[step].exact(index).factors
        for step in range(family.length)
        for index, prefix in enumerate(product(range(family.size), repeat=step))
    }


def report(family: Family, null: NullTokens = "cancel", *, everywhere: bool = False) -> "Report":
    """`factorcomp.verify`, decided by the rational kernel; `everywhere`: on all prefixes."""
    from factorcomp import verify

    background, experts = family.models()
    masks = family.named_masks() if family.masks else None
    scope = "all" if everywhere else "reachable"
    return verify(background, experts, null_tokens=null, masks=masks, scope=scope, exact=True)


def verdicts(family: Family, null: NullTokens = "cancel", *, everywhere: bool = False) -> dict[str, bool | None]:
    """The report, claim by claim: holds, refuted, or `None`, undecided.

    Where there are masks, `projective` is that of all experts that own positions.
    """
    from factorcomp import Verdict

    known = {Verdict.HOLDS: True, Verdict.REFUTED: False}
    found: dict[str, bool | None] = {}
    for claim in report(family, null, everywhere=everywhere).claims:
        says, before = known.get(claim.verdict), found.get(claim.claim, True)
        found[claim.claim] = None if says is None or before is None else says and before
    return found
