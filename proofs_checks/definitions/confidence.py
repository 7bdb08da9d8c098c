"""Confidence bounds from rollouts, as theory.md 8 writes them; and the exact law of a count, in fractions."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache


def binomial(n: int, q: Fraction) -> list[Fraction]:
    """`P(N = 0), ..., P(N = n)` of `n` independent rollouts, each a failure with probability `q`."""
    a, b, d = q.numerator, q.denominator - q.numerator, q.denominator
    return [Fraction(math.comb(n, count) * a**count * b ** (n - count), d**n) for count in range(n + 1)]


@cache
def clopper_pearson(failures: int, n: int, alpha: Fraction) -> float:
    """`Beta^{-1}(1-α; N+1, n-N)`, the upper bound at confidence `1-α`; 1 if every rollout failed."""
    from scipy.special import betaincinv

    return 1.0 if failures == n else float(betaincinv(failures + 1, n - failures, float(1 - alpha)))


def e_process(failures: int, n: int, q: Fraction) -> Fraction:
    """`E_n(q) = B(½+N, ½+n-N) / (B(½,½) q^N (1-q)^{n-N})`; the ratio of Beta functions is `(½)_N (½)_{n-N} / n!`."""
    rising = _rising(failures) * _rising(n - failures)
    return rising / math.factorial(n) / q**failures / (1 - q) ** (n - failures)


@cache
def _rising(n: int) -> Fraction:
    """`(½)_n = ½ (½+1) ... (½+n-1)`."""
    return math.prod((Fraction(2 * step + 1, 2) for step in range(n)), start=Fraction(1))


def violation(n: int, q: Fraction, excludes: Callable[[int, int], bool]) -> Fraction:
    """The probability that the bound excludes `q` after some rollout up to the `n`-th, where `excludes(N, m)`."""
    alive = {0: Fraction(1)}
    for step in range(1, n + 1):
        following: dict[int, Fraction] = {}
        for count, mass in alive.items():
            for more, chance in ((0, 1 - q), (1, q)):
                if chance and not excludes(count + more, step):
                    following[count + more] = following.get(count + more, Fraction(0)) + mass * chance
        alive = following
    return 1 - sum(alive.values(), Fraction(0))
