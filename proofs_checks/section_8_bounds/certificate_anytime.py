"""Section 8, anytime: bounds that hold at every stopping time, from a martingale and Ville's inequality."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.confidence import binomial, clopper_pearson, e_process, violation
from proofs_checks.definitions.laws import ONE, ZERO, Prefix, total
from proofs_checks.statement import Control, Relation, Statement, at_most, close, constant, equal

ALPHA = Fraction(1, 20)


@dataclass(frozen=True)
class Rollouts:
    """Up to `n` rollouts, each a failure with probability `q`; `failures` of them so far."""

    n: int
    q: Fraction
    alpha: Fraction
    failures: int


def rollouts(draw: Draw) -> Rollouts:
    """At most 30."""
    n = draw.integer(1, 30)
    return Rollouts(n, Fraction(draw.integer(1, 9), 10), draw.pick((ALPHA, Fraction(1, 2))), draw.integer(0, n))


def check(instance: Rollouts) -> Iterator[Relation]:
    """Its mean is kept by every further rollout, so it seldom grows large."""
    n, q, failures, alpha = instance.n, instance.q, instance.failures, instance.alpha
    now = e_process(failures, n, q)
    following = q * e_process(failures + 1, n + 1, q) + (1 - q) * e_process(failures, n + 1, q)
    yield equal("E_0 = 1", e_process(0, 0, q), 1)
    yield equal("E[E_{n+1}|N_n] = E_n", following, now)
    yield at_most("0 <= E_n", 0, now)
    mean = total(mass * e_process(count, n, q) for count, mass in enumerate(binomial(n, q)))
    yield equal("E E_n = 1", mean, 1)
    missed = violation(n, q, lambda count, step: e_process(count, step, q) >= 1 / alpha)
    yield at_most("P(some E_n(q) >= 1/α) <= α", missed, alpha)


def check_other_mean(instance: Rollouts) -> Iterator[Relation]:
    """False: under another failure probability."""
    n, q, failures = instance.n, instance.q, instance.failures
    other = q / 2
    following = other * e_process(failures + 1, n + 1, q) + (1 - other) * e_process(failures, n + 1, q)
    yield equal("E[E_{n+1}|N_n] = E_n", following, e_process(failures, n, q))


def check_peeking(instance: Rollouts) -> Iterator[Relation]:
    """False: the bound for a fixed `n`, looked at after every rollout."""
    missed = violation(
        instance.n, instance.q, lambda count, step: clopper_pearson(count, step, instance.alpha) < instance.q
    )
    yield at_most("P(some u_n < q) <= α", missed, instance.alpha)


def longer(draw: Draw) -> Rollouts:
    """Long enough to peek often."""
    return Rollouts(draw.integer(20, 40), Fraction(draw.integer(2, 8), 10), ALPHA, 0)


def anytime_bound(n: int) -> float:
    """The largest `q` with `E_n(q) < 20` after no failure in `n`: `1 - (α B(½,½+n)/B(½,½))^{1/n}`."""
    log_beta = math.lgamma(n + 0.5) - math.lgamma(0.5) - math.lgamma(n + 1)
    return -math.expm1((math.log(float(ALPHA)) + log_beta) / n)


def check_numbers(lengths: tuple[int, int, int]) -> Iterator[Relation]:
    """At confidence 95 %, after no failure."""
    for n, stated in zip(lengths, ("0.0212", "0.0070", "0.0025"), strict=True):
        bound = anytime_bound(n)
        yield equal(f"n = {n}: the bound is {stated}", f"{bound:.4f}", stated)
        yield close("E_n(bound) = 1/α", float(e_process(0, n, Fraction(bound)) * ALPHA), 1.0)
        price = bound / clopper_pearson(0, n, ALPHA)
        yield at_most("2.1 <= the price over Clopper-Pearson", 2.1, price)
        yield at_most("the price over Clopper-Pearson <= 2.55", price, 2.55)


def check_peeking_numbers(setting: tuple[float, int]) -> Iterator[Relation]:
    """Peeking after each rollout, by the law of the count among the rollouts so far that did not exclude `q`."""
    import numpy as np
    from scipy.special import betaincinv, betaln

    q, n = setting
    level = float(ALPHA)
    fixed, mixture = np.ones(1), np.ones(1)
    for step in range(1, n + 1):
        fixed, mixture = (np.convolve(alive, [1 - q, q]) for alive in (fixed, mixture))
        counts = np.arange(step + 1)
        bounds = np.append(betaincinv(counts[:-1] + 1, step - counts[:-1], 1 - level), 1.0)
        log_e = betaln(0.5 + counts, 0.5 + step - counts) - betaln(0.5, 0.5)
        log_e -= counts * np.log(q) + (step - counts) * np.log1p(-q)
        fixed, mixture = np.where(bounds < q, 0.0, fixed), np.where(log_e >= -np.log(level), 0.0, mixture)
    yield equal("P(some u_m < q) = 16.8 %", f"{1 - fixed.sum():.1%}", "16.8%")
    yield equal("P(some E_m(q) >= 1/α) = 2.0 %", f"{1 - mixture.sum():.1%}", "2.0%")


@dataclass(frozen=True)
class Bets:
    """Values in [0, 1], each with its law given the past, of conditional mean at least `m`; a bet `λ` on each.

    `laws[past]`: the values and their probabilities; `bets[past]`: `λ`, between 0 and `1/(1-m)`.
    """

    horizon: int
    m: Fraction
    laws: Mapping[Prefix, tuple[tuple[Fraction, Fraction], ...]]
    bets: Mapping[Prefix, Fraction]
    exact: bool

    def capital(self, path: Prefix) -> Fraction:
        """`prod (1 - λ_t (X_t - m))`; a path names the value of every step by its place in the law."""
        result = ONE
        for step, place in enumerate(path):
            value, _ = self.laws[path[:step]][place]
            result *= 1 - self.bets[path[:step]] * (value - self.m)
        return result

    def probability(self, path: Prefix) -> Fraction:
        """Of the path."""
        return math.prod((self.laws[path[:step]][place][1] for step, place in enumerate(path)), start=ONE)

    @property
    def pasts(self) -> list[Prefix]:
        """Every past, the empty one first."""
        return sorted(self.laws, key=len)


def bets(draw: Draw, largest: Fraction = ONE) -> Bets:
    """Two values around the mean at each step, or the mean alone; `λ` a fraction of its largest value."""
    horizon, m = draw.integer(1, 4), Fraction(draw.integer(1, 7), 8)
    exact = draw.one_in(2)
    laws: dict[Prefix, tuple[tuple[Fraction, Fraction], ...]] = {}
    chosen: dict[Prefix, Fraction] = {}
    pasts: list[Prefix] = [()]
    for _ in range(horizon):
        for past in pasts:
            mean = m if exact else m + (1 - m) * Fraction(draw.integer(0, 2), 4)
            low, high = mean * Fraction(draw.integer(0, 3), 4), mean + (1 - mean) * Fraction(draw.integer(1, 4), 4)
            upper = (mean - low) / (high - low)
            laws[past] = ((low, 1 - upper), (high, upper))
            chosen[past] = Fraction(draw.integer(0, 9), 10) * largest / (1 - m)
        pasts = [(*past, place) for past in pasts for place in (0, 1)]
    return Bets(horizon, m, laws, chosen, exact)


def check_bets(instance: Bets) -> Iterator[Relation]:
    """The capital does not grow on average, so it seldom grows large."""
    for past in instance.pasts:
        following = total(
            chance * instance.capital((*past, place)) for place, (_, chance) in enumerate(instance.laws[past])
        )
        now = instance.capital(past)
        yield at_most("0 <= capital", 0, now)
        yield at_most("mean >= m: E[K_{t+1}|past] <= K_t", following, now)
        if instance.exact:
            yield equal("mean = m: E[K_{t+1}|past] = K_t", following, now)
    paths = [(*past, place) for past in instance.pasts if len(past) == instance.horizon - 1 for place in (0, 1)]
    for alpha in (ALPHA, Fraction(1, 2), Fraction(2, 3)):
        large = total(
            instance.probability(path)
            for path in paths
            if any(instance.capital(path[:step]) >= 1 / alpha for step in range(1, instance.horizon + 1))
        )
        yield at_most("P(some K_t >= 1/α) <= α", large, alpha)


def smaller_mean(draw: Draw) -> Bets:
    """The mean is below `m`."""
    known = bets(draw)
    return Bets(known.horizon, min(ONE - Fraction(1, 16), known.m + Fraction(1, 16)), known.laws, known.bets, True)


def check_clairvoyant(instance: Bets) -> Iterator[Relation]:
    """False: a bet that knows the value it bets on, `λ_t` for values below `m` and 0 above."""
    mean = ZERO
    for value, chance in instance.laws[()]:
        mean += chance * (1 - (instance.bets[()] if value < instance.m else 0) * (value - instance.m))
    yield at_most("E K_1 <= 1", mean, 1)


STATEMENTS = (
    Statement(
        number="8 (anytime)",
        kind="proposition",
        sentence="the mixture e-process is a martingale, so its bound holds at all stopping times",
        equation="E[E_{n+1}(q)|N_n] = E_n(q), E_0 = 1:   P(some E_n(q) >= 1/α) <= α",
        hypotheses=("the rollouts are independent", "q is their failure probability"),
        draw=rollouts,
        check=check,
        controls=(
            Control("q is their failure probability", rollouts, check_other_mean),
            Control("the e-process, for Clopper-Pearson after each rollout", longer, check_peeking),
        ),
        not_checked="more than 30 rollouts in Ville's inequality",
        weight=4,
    ),
    Statement(
        number="8 (anytime, numbers)",
        kind="proposition",
        sentence="no failure in 300, 1000, 3000 rollouts bounds q by .0212, .0070, .0025 at any time",
        equation="E_n(q) = 20, N = 0:   q = 1 - (B(½,½+n)/(20 B(½,½)))^{1/n}",
        cases=constant((300, 1000, 3000)),
        check=check_numbers,
        controls=(Control("the numbers of rollouts", lambda draw: (200, 900, 2000)),),
    ),
    Statement(
        number="8 (anytime, peeking)",
        kind="proposition",
        sentence="peeking at a fixed-n bound after every rollout fails 16.8% of the time, not 5%; the e-process 2.0%",
        equation="q = α = 1/20, m up to 400:   P(some u_m < q) = .168,   P(some E_m(q) >= 1/α) = .020",
        cases=constant((0.05, 400)),
        check=check_peeking_numbers,
        controls=(Control("q = 1/20", lambda draw: (0.1, 400)),),
        not_checked="theory.md does not state q and n: these reproduce its numbers; more rollouts miss more often",
    ),
    Statement(
        number="8 (anytime, means)",
        kind="proposition",
        sentence="the capital of predictable bets against a mean of at least m is a supermartingale",
        equation="K_t = prod (1 - λ_t (X_t - m)):   E[K_{t+1}|past] <= K_t, K >= 0, P(some K_t >= 1/α) <= α",
        hypotheses=("X_t in [0, 1]", "E[X_t|past] >= m", "λ_t in [0, 1/(1-m)) is predictable"),
        draw=bets,
        check=check_bets,
        controls=(
            Control("E[X_t|past] >= m", smaller_mean),
            Control("λ_t < 1/(1-m)", lambda draw: bets(draw, largest=Fraction(3))),
            Control("λ_t is predictable", bets, check_clairvoyant),
        ),
        weight=2,
    ),
)
