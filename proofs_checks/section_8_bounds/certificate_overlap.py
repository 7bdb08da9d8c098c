"""Section 8, overlap probability: the Clopper-Pearson upper bound from `n` independent rollouts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.confidence import binomial, clopper_pearson
from proofs_checks.definitions.laws import total
from proofs_checks.statement import Control, Relation, Statement, at_most, close, equal

LEVELS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 100))
TINY = Fraction(1, 10**9)


@dataclass(frozen=True)
class Count:
    """`n` rollouts, each of which hits the overlap with probability `q`; the bound's `α`; one possible count."""

    n: int
    q: Fraction
    alpha: Fraction
    failures: int


def count(draw: Draw) -> Count:
    """At most 60 rollouts."""
    n = draw.integer(1, 60)
    q = Fraction(draw.integer(1, 19), 20) / draw.pick((1, 2, 5, 20))
    return Count(n, q, draw.pick(LEVELS), draw.integer(0, n))


def missed(instance: Count, alpha: Fraction) -> Fraction:
    """The probability that the bound at confidence `1 - alpha` lies below `q`."""
    return total(
        mass
        for failures, mass in enumerate(binomial(instance.n, instance.q))
        if clopper_pearson(failures, instance.n, alpha) < instance.q
    )


def check(instance: Count) -> Iterator[Relation]:
    """The Beta quantile against sums of the binomial law, which are fractions."""
    n, failures, alpha = instance.n, instance.failures, instance.alpha
    yield at_most("P(u(N) < q) <= α", missed(instance, alpha), alpha)
    bound = clopper_pearson(failures, n, alpha)
    if failures < n:
        tail = total(binomial(n, Fraction(bound))[: failures + 1])
        yield close("P_u(N <= observed) = α", float(tail), float(alpha))
    if failures == 0:
        yield close("N = 0: u = 1 - α^(1/n)", bound, 1 - float(alpha) ** (1 / n))


def check_attained(instance: Count) -> Iterator[Relation]:
    """Just above the bound of a count, `q` is missed with probability `α`: no smaller bound has that coverage."""
    above = Fraction(clopper_pearson(instance.failures, instance.n, instance.alpha)) + Fraction(1, 10**12)
    if instance.failures < instance.n:
        at = Count(instance.n, above, instance.alpha, instance.failures)
        yield at_most("α - 10^-9 <= P(u(N) < q), q = u(N) + 10^-12", instance.alpha - TINY, missed(at, instance.alpha))


def check_smaller(instance: Count) -> Iterator[Relation]:
    """False: the bound at `α` would hold at `α/2`."""
    above = Fraction(clopper_pearson(instance.failures, instance.n, instance.alpha)) + Fraction(1, 10**12)
    if instance.failures < instance.n:
        at = Count(instance.n, above, instance.alpha, instance.failures)
        yield at_most("P(u(N) < q) <= α/2", missed(at, instance.alpha), instance.alpha / 2)


def check_frequency(instance: Count) -> Iterator[Relation]:
    """False: the frequency `N/n` as a bound."""
    below = total(
        mass
        for failures, mass in enumerate(binomial(instance.n, instance.q))
        if Fraction(failures, instance.n) < instance.q
    )
    yield at_most("P(N/n < q) <= α", below, instance.alpha)


def check_numbers(rollouts: tuple[int, int]) -> Iterator[Relation]:
    """At confidence 95 %."""
    few, many = rollouts
    yield equal("n = 300: .0099", f"{clopper_pearson(0, few, Fraction(1, 20)):.4f}", "0.0099")
    yield equal("n = 3000: .0010", f"{clopper_pearson(0, many, Fraction(1, 20)):.4f}", "0.0010")
    yield equal("1 - α^(1/n) = .0099", f"{-math.expm1(math.log(0.05) / few):.4f}", "0.0099")


STATEMENTS = (
    Statement(
        number="8 (overlap)",
        kind="proposition",
        sentence="from n rollouts the overlap probability is bounded at confidence 1-α",
        equation="u = Beta^{-1}(1-α; N+1, n-N):   P(q <= u) >= 1-α;   u = 1 - α^{1/n} for N = 0",
        hypotheses=("the rollouts are independent",),
        draw=count,
        check=check,
        controls=(Control("the margin above the frequency", count, check_frequency),),
        weight=2,
    ),
    Statement(
        number="8 (overlap, attained)",
        kind="proposition",
        sentence="the coverage 1-α is approached at every value of the bound",
        equation="q -> u(N) from above:   P(u(N) < q) -> α",
        draw=count,
        check=check_attained,
        controls=(Control("α: a half of it", count, check_smaller),),
        weight=2,
    ),
    Statement(
        number="8 (overlap, numbers)",
        kind="proposition",
        sentence="no hit in 300 rollouts bounds q by .0099, in 3000 by .0010",
        equation="α = 1/20:   1 - α^{1/300} = .0099,   1 - α^{1/3000} = .0010",
        cases=lambda: ((300, 3000),),
        check=check_numbers,
        controls=(Control("the numbers of rollouts", lambda draw: (200, 2000)),),
    ),
)
