"""From a budget per step to the law of whole sequences. Source: theory.md 7.2, 8.2 and 1.5 (4).

Plain numbers: each function is one inequality, vacuous (1 or inf) where its argument is infinite.
"""

import math


def pinsker(kl: float) -> float:
    """`TV <= sqrt(KL/2)`.

    >>> pinsker(0.5)
    0.5
    """
    return math.sqrt(kl / 2)


def exponential(kl: float) -> float:
    """`TV <= sqrt(1 - e^-KL)` (Bretagnolle and Huber): never vacuous for a finite KL.

    >>> exponential(math.inf)
    1.0
    """
    return math.sqrt(-math.expm1(-kl))


def from_kl(kl: float) -> float:
    """The smaller of the two: below a KL of about 1.6 it is Pinsker's."""
    return min(pinsker(kl), exponential(kl))


def small_deviations(length: int, experts: int, largest: float) -> float:
    """Theorem 8.2 (4): `TV <= min(T tanh(kε/4), sqrt(T) kε/4)`.

    `experts`: how many of them are not assigned, at most; `largest`: ε, the largest oscillation of their log-ratios.

    >>> round(small_deviations(2, 5, 0.05), 4)
    0.0884
    """
    reach = experts * largest if experts else 0.0
    return min(length * math.tanh(reach / 4), math.sqrt(length) * reach / 4) if length else 0.0


def floor(length: int, smallest: float) -> float:
    """Theorem 7.2: a kernel TV of at least ε at every prefix makes `TV >= 1 - (1 - ε²)^{T/2}`.

    >>> round(floor(1000, 0.05), 2)
    0.71
    """
    if smallest >= 1:
        return 1.0 if length else 0.0
    return -math.expm1(length / 2 * math.log1p(-(smallest**2)))


def tilted_tv(oscillation: float) -> float:
    """`TV <= tanh(osc/4)` of a law and the same tilted by a log-density of that oscillation (1.5 (4), 2.11)."""
    return math.tanh(oscillation / 4)


def tilted_kl(oscillation: float) -> float:
    """`KL <= osc²/8`, in both directions (1.5 (4))."""
    return oscillation**2 / 8
