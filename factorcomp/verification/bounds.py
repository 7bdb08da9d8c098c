"""What a report holds beyond its claims: bounds beside their truths, and what becomes of guarantees."""

from collections.abc import Mapping
from typing import NamedTuple

from factorcomp.certificates.claims import Findings, Question
from factorcomp.enumeration.summary import Summary
from factorcomp.factorization.guarantees import Predicate, guaranteed
from factorcomp.factorization.robust import SKIPPED, robust
from factorcomp.inequalities import Guarantees, Robust
from factorcomp.models.tabular import TabularModel

UNDEFINED = "the composition is undefined"


class Beyond(NamedTuple):
    """Bounds and guarantees, where they are asked for."""

    robust: Robust | None
    guarantees: Guarantees | None


NOTHING = Beyond(None, None)


def beyond_the_claims(
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
    seen: Summary,
    findings: Findings,
    bounds: bool,
    promised: Mapping[str, str | Predicate],
) -> Beyond:
    """Bounds and guarantees of tables, from the levels of their enumeration."""
    if findings.measures is None:
        return Beyond(None, Guarantees(skipped=UNDEFINED) if promised else None)
    kept = all(step.rows is not None for step in seen.steps)
    found = None
    if promised:
        enough = kept and bool(experts)
        found = (
            guaranteed(promised, background, experts, seen, findings, question)
            if enough
            else Guarantees(skipped=SKIPPED)
        )
    return Beyond(robust(seen, findings, background.vocabulary, background.eos, question) if bounds else None, found)
