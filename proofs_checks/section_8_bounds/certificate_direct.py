"""Section 8, the direct TV certificate: one rollout gives an unbiased estimate of TV that lies in [0, 1]."""

import math
from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import shape
from proofs_checks.definitions.laws import ZERO, Law, Prefix, expectation, law_tv, log
from proofs_checks.definitions.references import Compared, any_reference
from proofs_checks.section_8_bounds.theorem_8_2 import with_dead_prefixes
from proofs_checks.statement import Control, Number, Relation, Statement, at_most, close, equal


def compared(draw: Draw) -> Compared:
    """Any composition and any reference; neither need dominate the other."""
    return any_reference(draw, shape(draw))


def loss(of: Law, under: Law, y: Prefix) -> Number:
    """`X = (1 - of(y)/under(y))_+`."""
    return max(ZERO, 1 - of.get(y, ZERO) / under[y])


def from_log_likelihoods(of: Law, under: Law, y: Prefix) -> float:
    """`-expm1(min(0, Δ))`, `Δ = log of(y) - log under(y)`."""
    difference = log(of.get(y, ZERO)) - log(under[y])
    return -math.expm1(min(0.0, difference))


def check(instance: Compared) -> Iterator[Relation]:
    """By enumeration, under `S` and under `P^`."""
    composed, reference = instance.composed.local, instance.law
    tv = law_tv(composed, reference)
    yield equal("E_S (1 - P^/S)_+ = TV", expectation(reference, lambda y: loss(composed, reference, y)), tv)
    yield equal("E_P^ (1 - S/P^)_+ = TV", expectation(composed, lambda y: loss(reference, composed, y)), tv)
    for y in reference:
        value = loss(composed, reference, y)
        yield at_most("0 <= X", 0, value)
        yield at_most("X <= 1", value, 1)
        yield close("X = -expm1(min(0, Δ))", from_log_likelihoods(composed, reference, y), float(value))


def check_wrong_rollouts(instance: Compared) -> Iterator[Relation]:
    """False: `(1 - P^/S)_+` averaged over rollouts of `P^`."""
    composed, reference = instance.composed.local, instance.law
    inside = {y: mass for y, mass in composed.items() if y in reference}
    yield equal(
        "E_P^ (1 - P^/S)_+ = TV",
        expectation(inside, lambda y: loss(composed, reference, y)),
        law_tv(composed, reference),
    )


def check_without_positive_part(instance: Compared) -> Iterator[Relation]:
    """False: `1 - P^/S` without the positive part."""
    composed, reference = instance.composed.local, instance.law
    mean = expectation(reference, lambda y: 1 - composed.get(y, ZERO) / reference[y])
    yield equal("E_S (1 - P^/S) = TV", mean, law_tv(composed, reference))


STATEMENTS = (
    Statement(
        number="8 (direct TV)",
        kind="proposition",
        sentence="one rollout of S, scored by both models, estimates TV without bias",
        equation="X = (1 - P^(y)/S(y))_+ = -expm1(min(0, Δ)) in [0, 1],   E_S X = TV(P^, S)",
        hypotheses=("p^ is defined on R^",),
        draw=compared,
        check=check,
        controls=(
            Control("p^ is defined on R^", with_dead_prefixes),
            Control("rollouts of S", compared, check_wrong_rollouts),
            Control("the positive part", compared, check_without_positive_part),
        ),
    ),
)
