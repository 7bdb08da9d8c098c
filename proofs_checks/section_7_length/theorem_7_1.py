"""Theorem 7.1 (inheritance with budget): guarantees of the experts hold for the composition, up to a KL budget.

`κ = E_S sum_t KL(s||p^)`, of the kernels along paths of the switching model `S`.
"""

import math
from collections.abc import Callable, Iterator

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.laws import (
    Kernel,
    Prefix,
    divergence,
    law_of,
    log,
    log_ratio_range,
    mass_of,
    prefixes,
    probability_that,
    reach,
)
from proofs_checks.definitions.operator import Composition, compose
from proofs_checks.definitions.segmented_families import skills
from proofs_checks.definitions.segments import Skills
from proofs_checks.statement import Control, Relation, Statement, at_most, close, equal, fact


def expected(switching: Kernel, composed: Composition, cost: Callable[[Prefix], float]) -> float:
    """`E_S sum_t cost(h)`, prefix by prefix."""
    law = law_of(switching, composed.size, composed.length)
    reached = [h for h in prefixes(composed.size, composed.length) if mass_of(law, h)]
    return math.fsum(float(mass_of(law, h)) * cost(h) for h in reached)


def budget(case: Skills) -> float:
    """`κ`; infinite where the composition has no kernel or excludes a token."""
    composed, switching = compose(case.family), case.switching

    def cost(h: Prefix) -> float:
        return divergence(switching[h], composed.kernel[h]) if h in composed.kernel else math.inf

    return expected(switching, composed, cost)


def success(case: Skills) -> tuple[float, float]:
    """`P^(all entered skills succeed)` and `1 - sum_i δ_i`."""
    composed = compose(case.family).local
    switching = law_of(case.switching, case.family.size, case.family.length)
    guarantees = case.guarantees(reach(switching, case.family.length))
    return float(probability_that(composed, case.all_succeed)), 1 - float(sum(guarantees))


def check(case: Skills) -> Iterator[Relation]:
    """The budget, and what is left of the guarantees."""
    family, composed, switching = case.family, compose(case.family), case.switching
    kappa = budget(case)
    whole = divergence(law_of(switching, family.size, family.length), composed.local)
    yield close("κ = KL(S||P^)", kappa, whole)

    def oscillation(h: Prefix) -> float:
        ratio = log_ratio_range(composed.kernel[h], switching[h])
        return math.inf if ratio is None else log(ratio) ** 2 / 8

    yield at_most("κ <= E_S sum_t osc²/8", kappa, expected(switching, composed, oscillation))
    succeed, guaranteed = success(case)
    loss = min(math.sqrt(kappa / 2), math.sqrt(-math.expm1(-kappa)))
    yield at_most("1 - sum δ_i - min(sqrt(κ/2), sqrt(1 - e^-κ)) <= P^(all succeed)", guaranteed - loss, succeed)


def check_exact(case: Skills) -> Iterator[Relation]:
    """Exact JF."""
    composed, switching = compose(case.family), case.switching
    law = law_of(switching, case.family.size, case.family.length)
    rows = {h: (switching[h], composed.kernel.get(h)) for h in reach(law, case.family.length)}
    yield fact("κ = 0: p^ = s on Reach(S)", all(one == other for one, other in rows.values()))
    yield equal("P^ = S", composed.local, law)
    succeed, guaranteed = success(case)
    yield at_most("1 - sum δ_i <= P^(all succeed)", guaranteed, succeed)


def check_free_of_charge(case: Skills) -> Iterator[Relation]:
    """False: without the budget."""
    succeed, guaranteed = success(case)
    yield at_most("1 - sum δ_i <= P^(all succeed)", guaranteed, succeed)


def check_half(case: Skills) -> Iterator[Relation]:
    """False: half of the square."""
    kappa = budget(case)
    composed, switching = compose(case.family), case.switching

    def oscillation(h: Prefix) -> float:
        ratio = log_ratio_range(composed.kernel[h], switching[h])
        return math.inf if ratio is None else log(ratio) ** 2 / 16

    yield at_most("κ <= E_S sum_t osc²/16", kappa, expected(switching, composed, oscillation))


def common(draw: Draw) -> Skills:
    """Everybody deviates a little, on the background's support."""
    return skills(draw, exact=False)


STATEMENTS = (
    Statement(
        number="7.1",
        kind="theorem",
        sentence="the composition keeps the guarantees up to a budget of relative entropy",
        equation="P^(all entered skills succeed) >= 1 - sum_i δ_i - min(sqrt(κ/2), sqrt(1 - e^-κ))",
        hypotheses=("S switches between the experts, one interval each", "P_i(G_i|g) >= 1 - δ_i for all entry g of S"),
        draw=common,
        check=check,
        controls=(
            Control("the budget", common, check_free_of_charge),
            Control("the constant: osc²/16", common, check_half),
        ),
        not_checked="how κ_T grows with T",
    ),
    Statement(
        number="7.1 exact",
        kind="theorem",
        sentence="with exact joint factorizability the budget is zero",
        equation="κ_T = 0,   P^(all entered skills succeed) >= 1 - sum_i δ_i",
        hypotheses=("JF-int", "P_i(G_i|g) >= 1 - δ_i for all entry g of S"),
        draw=skills,
        check=check_exact,
        controls=(Control("JF-int", common),),
    ),
)
