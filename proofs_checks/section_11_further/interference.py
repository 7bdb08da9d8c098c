"""Section 11, interference measures: (i) the defect of FC, and (iii) the Jensen gap."""

import math
from collections.abc import Iterator
from dataclasses import replace

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, factorized, one_row_changed, shape
from proofs_checks.definitions.laws import (
    ZERO,
    Law,
    divergence,
    law_of,
    log,
    marginal,
    product_law,
    reach,
    support,
    total,
)
from proofs_checks.definitions.masks import dominated, factorized_conditionals
from proofs_checks.definitions.references import Compared, anchored, any_reference, components
from proofs_checks.statement import ROUNDING, Control, Relation, Statement, close, equal

SMALLEST = 1e-9
"""A divergence below this would be told from 0 by nothing but luck; the instances' are above it, or 0."""


def defects(family: Family) -> list[float]:
    """The total correlation of the blocks under `P_b`, and each expert's leak: entropies and divergences."""
    background = law_of(family.background, family.size, family.length)
    blocks = [block for block in (*family.masks, family.background_positions) if block]

    def entropy(law: Law) -> float:
        return -math.fsum(float(mass) * log(mass) for mass in law.values())

    result = [math.fsum(entropy(marginal(background, block)) for block in blocks) - entropy(background)]
    for mask, expert in zip(family.masks, family.experts, strict=True):
        law = law_of(expert, family.size, family.length)
        rest = tuple(position for position in range(family.length) if position not in mask)
        factors = {block: marginal(one, block) for block, one in ((mask, law), (rest, background)) if block}
        result.append(divergence(law, product_law(factors, family.length)))
    return result


def nearly_factorized(draw: Draw) -> Family:
    """FC, and often one row changed within the support."""
    family = factorized(draw, shape(draw, zeros=False))
    if draw.one_in(2):
        return family
    return one_row_changed(draw, family, draw.integer(0, len(family.experts)), draw.pick(family.prefixes))


def check_defects(family: Family) -> Iterator[Relation]:
    """Against Definition 2.1, which compares laws in fractions."""
    background = law_of(family.background, family.size, family.length)
    within = all(
        dominated(family, i, background, law_of(expert, family.size, family.length))
        for i, expert in enumerate(family.experts)
    )
    if within:
        vanish = all(defect <= SMALLEST for defect in defects(family))
        yield equal("all defects are 0 iff FC", vanish, factorized_conditionals(family))


def check_correlation_alone(family: Family) -> Iterator[Relation]:
    """False: the total correlation alone."""
    yield equal("the total correlation is 0 iff FC", defects(family)[0] <= SMALLEST, factorized_conditionals(family))


def switched(draw: Draw) -> Compared:
    """`s` one of the components at every prefix, or any kernel on the background's support."""
    family = anchored(draw, shape(draw))
    reference, assigned = components(draw, family)
    return Compared(family, reference, assigned)


def gap(compared: Compared) -> float:
    """`E_S sum_t [log E_s r_{-a} - E_s log r_{-a}]`, `r_{-a} = w/s`; infinite where `w` vanishes on `supp s`."""
    result = []
    for h in reach(compared.law, compared.family.length):
        row = compared.reference[h]
        weights = compared.composed.weights.get(h)
        if weights is None or h not in compared.composed.reachable or any(not weights[y] for y in support(row)):
            return math.inf
        ratios = {y: weights[y] / row[y] for y in support(row)}
        mean = total(row[y] * ratio for y, ratio in ratios.items())
        jensen = log(mean) - math.fsum(float(row[y]) * log(ratio) for y, ratio in ratios.items())
        result.append(float(compared.mass(h)) * jensen)
    return math.fsum(result)


def check_gap(compared: Compared) -> Iterator[Relation]:
    """It is the divergence of the composition from the switching model."""
    yield close("E_S sum_t [log E_s r_{-a} - E_s log r_{-a}] = KL(S||P^)", gap(compared), kl(compared))


def kl(compared: Compared) -> float:
    """`KL(S||P^)`, rid of what rounding leaves of a 0."""
    value = divergence(compared.law, compared.composed.local)
    return value if abs(value) > ROUNDING else float(ZERO)


def opened(draw: Draw) -> Compared:
    """Under `cancel`, with tokens outside `supp s`."""
    compared = any_reference(draw, Shape(2, 1, 2, zeros=True))
    reference, assigned = components(draw, compared.family)
    return replace(compared, reference=reference, assigned=assigned, null="cancel")


STATEMENTS = (
    Statement(
        number="11 (interference, FC)",
        kind="remark",
        sentence="total correlation and leaks vanish together exactly under factorized conditionals",
        equation="given (c):   TC(P_b) = 0 and all KL(P_i||P_i^{M_i} ⊗ P_b^{M_i^c}) = 0 iff FC",
        hypotheses=("(c) P_i^{M_i} << P_b^{M_i}",),
        draw=nearly_factorized,
        check=check_defects,
        controls=(Control("the leaks", nearly_factorized, check_correlation_alone),),
        not_checked="(ii), (iv) and (v) are 2.10, 1.5 (4) and 2.9",
        weight=2,
    ),
    Statement(
        number="11 (interference, Jensen)",
        kind="remark",
        sentence="the Jensen gap of the other experts' ratios is the divergence from the switching model",
        equation="E_S sum_t [log E_s r_{-a} - E_s log r_{-a}] = KL(S||P^)",
        hypotheses=("P^ << S: automatic under strict and drop",),
        draw=switched,
        check=check_gap,
        controls=(Control("P^ << S", opened),),
    ),
)
