"""Theory.md 8.1, 8.3 and 8.4 at one prefix, against sums in high precision over rational rows."""

import decimal
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.bounds.per_prefix import (
    cross_deviation,
    divergence,
    jensen_gap,
    kl_bound,
    log_ratio,
    oscillation_of,
    sup_log,
    total_variation,
    tv_bound,
)
from factorcomp.bounds.ratio_caps import capped_deviation
from tests.oracle import row_tv

CLOSE = 1e-12
"""Far above what some dozen operations on numbers of size 1 to 100 lose."""
DIGITS = decimal.Context(prec=60)


def logs(*rows):
    with np.errstate(divide="ignore"):
        return np.log(np.array([[float(x) for x in row] for row in rows]))


def normalised(weights):
    total = sum(weights)
    return tuple(Fraction(w, total) for w in weights)


def high(x: Fraction) -> decimal.Decimal:
    return DIGITS.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


def kl(p, q) -> float:
    """`KL(p || q)` in sixty digits."""
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return math.inf
    return float(
        sum((high(a) * DIGITS.ln(high(a / b)) for a, b in zip(p, q, strict=True) if a > 0), decimal.Decimal(0))
    )


def random_pairs(count, seed=0, zeros=True):
    """Rows `p`, `q` with the support of `q` inside that of `p`."""
    rng = random.Random(seed)
    for _ in range(count):
        size = rng.randint(1, 5)
        p = [rng.randint(0 if zeros else 1, 9) for _ in range(size)]
        if not any(p):
            p[0] = 1
        q = [rng.choice((rng.randint(0 if zeros else 1, 9), 1000)) if x else 0 for x in p]
        if any(q):
            yield normalised(p), normalised(q)


def test_distances_are_their_definitions():
    """TV, KL, sup|log q/p| and osc(f), zeros included; the Jensen gap is KL(p || q) exactly."""
    for p, q in random_pairs(300):
        (log_p,), (log_q,) = logs(p), logs(q)
        f = log_ratio(log_q + 3.25, log_p)  # any constant
        assert float(total_variation(log_p, log_q)) == pytest.approx(float(row_tv(p, q)), abs=CLOSE)
        assert float(divergence(log_p, log_q)) == pytest.approx(kl(p, q), abs=CLOSE)
        assert float(divergence(log_q, log_p)) == pytest.approx(kl(q, p), abs=CLOSE)
        assert float(jensen_gap(log_p, f)) == pytest.approx(kl(p, q), abs=CLOSE)
        ratios = [b / a for a, b in zip(p, q, strict=True) if a > 0]
        lost = min(ratios) == 0
        assert float(oscillation_of(f, log_p)) == pytest.approx(
            math.inf if lost else math.log(max(ratios) / min(ratios)), abs=CLOSE
        )
        assert float(sup_log(log_p, log_q)) == pytest.approx(
            math.inf if lost else max(abs(math.log(r)) for r in ratios), abs=CLOSE
        )


def test_every_bound_holds():
    """TV <= tanh(o/4), KL in both directions <= o²/8, sup|log q/p| <= o, TV <= E_p|e^f - 1| / max(1, E_p e^f)."""
    for p, q in random_pairs(120, seed=1):
        (log_p,), (log_q,) = logs(p), logs(q)
        for shift in (-800.0, -1.0, 0.0, 1.0, 800.0):
            f = log_ratio(log_q + shift, log_p)
            o = oscillation_of(f, log_p)
            tv = float(row_tv(p, q))
            assert tv <= float(tv_bound(o)) + CLOSE
            assert max(kl(p, q), kl(q, p)) <= float(kl_bound(o)) + CLOSE
            assert float(sup_log(log_p, log_q)) <= float(o) + CLOSE
            cross = float(cross_deviation(log_p, f))
            assert tv <= cross + CLOSE
            assert math.isfinite(cross)


def test_cross_deviation_is_its_definition():
    """`E_p|e^f - 1| / max(1, E_p e^f)` in fractions, of weights that are not normalised."""
    for p, q in random_pairs(200, seed=2):
        for scale in (Fraction(1, 50), Fraction(1), Fraction(50)):
            w = [scale * b for b in q]
            mean = sum(abs(b - a) for a, b in zip(p, w, strict=True) if a > 0)
            expected = mean / max(Fraction(1), sum(w))
            (log_p,), (log_w,) = logs(p), logs(w)
            assert float(cross_deviation(log_p, log_ratio(log_w, log_p))) == pytest.approx(float(expected), abs=CLOSE)


def test_the_tv_bound_is_attained():
    """Lemma 8.1: two tokens with `p = (1/(1+c), c/(1+c))` and `q` the other way round, `o = 2 log c`."""
    c = Fraction(9, 4)
    p, q = (1 / (1 + c), c / (1 + c)), (c / (1 + c), 1 / (1 + c))
    (log_p,), (log_q,) = logs(p), logs(q)
    o = oscillation_of(log_ratio(log_q, log_p), log_p)
    assert float(tv_bound(o)) == pytest.approx(float(row_tv(p, q)), rel=1e-14)


def test_the_kl_constant_is_sharp():
    """KL / (o²/8) -> 1 as o -> 0 at `p = (1/2, 1/2)`: at o = 1/100 within 1e-4, and 1/9 would be too small."""
    e = math.exp(0.01)
    (log_p,), (log_q,) = logs((0.5, 0.5)), logs((1 / (1 + e), e / (1 + e)))
    o = oscillation_of(log_ratio(log_q, log_p), log_p)
    ratio = float(divergence(log_p, log_q) / kl_bound(o))
    assert 1 - 1e-4 < ratio <= 1 + 1e-9
    assert float(divergence(log_p, log_q)) > float(o) ** 2 / 9


def test_the_bounds_need_absolute_continuity():
    """Negative control, 8.2: `s = (1, 0)`, `p^ = (1/2, 1/2)`: osc over the support of s is 0, TV 1/2."""
    (log_s,), (log_p,) = logs((1, 0)), logs((0.5, 0.5))
    assert float(tv_bound(oscillation_of(log_ratio(log_p, log_s), log_s))) == 0
    assert float(total_variation(log_p, log_s)) == 0.5


def test_a_small_total_variation_gives_nothing():
    """CE 8.3: TV(p_2, p_b) < η and KL(p_b || p_2) -> 0, but TV(p^, p_1) -> 1/2; the cross deviation sees it."""
    for eta in (1e-2, 1e-4, 1e-6):
        base, second, first = logs((1 - eta, eta), (1 - eta**2, eta**2), (0.5, 0.5))
        log_r = second - base
        composed = first + log_r - np.logaddexp(*(first + log_r))
        tv = float(total_variation(composed, first))
        assert float(total_variation(second, base)) < eta
        assert float(divergence(base, second)) < 15 * eta
        assert tv > 0.5 - 2 * eta
        assert tv <= float(cross_deviation(first, log_r)) + CLOSE
        assert tv <= float(tv_bound(oscillation_of(log_r, first))) + CLOSE
        components = np.stack([base, first, second])[:, None]
        assert tv <= float(capped_deviation(components, np.array([1]))[0]) + CLOSE


def compose(base, experts):
    weights = [
        b * math.prod((e[y] / b for e in experts), start=Fraction(1)) if b else Fraction(0) for y, b in enumerate(base)
    ]
    total = sum(weights)
    return tuple(w / total for w in weights) if total else None


@pytest.mark.parametrize("distance", ["tv", "kl"])
def test_ratio_caps_hold(distance):
    """Lemma 8.4: TV(p^, p_i) <= the capped sum for every assignment, the background's too; in Pinsker's form too."""
    rng, tried = random.Random(3), 0
    for _ in range(300):
        size, k = rng.randint(1, 4), rng.randint(1, 4)
        base = normalised(
            [rng.randint(1, 9) if rng.random() < 0.9 else 0 for _ in range(size - 1)] + [rng.randint(1, 9)]
        )
        experts = []
        for _ in range(k):
            weights = [rng.randint(0, 9) if b else 0 for b in base]
            experts.append(normalised(weights) if any(weights) else base)
        composed = compose(base, experts)
        if composed is None:
            continue
        tried += 1
        components = logs(base, *experts)[:, None]
        for a, own in enumerate((base, *experts)):
            bound = float(capped_deviation(components, np.array([a]), distance)[0])
            assert float(row_tv(composed, own)) <= bound + CLOSE
    assert tried > 200


def test_ratio_caps_are_the_sum_of_the_lemma():
    """R_i (prod_{l<j, l != i} R_l) 2 TV(p_j, p_b), summed by hand."""
    base, experts = normalised([1, 1]), [normalised([1, 3]), normalised([3, 1]), normalised([2, 1])]
    caps = [max(e / b for e, b in zip(expert, base, strict=True)) for expert in experts]
    moved = [2 * row_tv(expert, base) for expert in experts]
    by_hand = {
        0: moved[0] + caps[0] * moved[1] + caps[0] * caps[1] * moved[2],
        2: caps[1] * (moved[0] + caps[0] * moved[2]),
    }
    for a, expected in by_hand.items():
        assert float(capped_deviation(logs(base, *experts)[:, None], np.array([a]))[0]) == pytest.approx(
            float(expected)
        )


def test_ratio_caps_by_divergence():
    """Of one expert against the background: `R_b sqrt(2 KL)` with R_b = 1; a token that all exclude adds nothing."""
    base, expert = normalised([1, 1]), normalised([1, 3])
    expected = pytest.approx(math.sqrt(2 * kl(expert, base)))
    for rows in ((base, expert), ((*base, 0), (*expert, 0))):
        assert capped_deviation(logs(*rows)[:, None], np.array([0]), "kl").tolist() == [expected]


def test_ratio_caps_say_nothing_where_an_expert_opens_a_token():
    """Negative control: without `p_j << p_b` the sum, 1 or less, would be no bound, and is inf."""
    components = logs((1, 0), (0.5, 0.5))[:, None]
    assert capped_deviation(components, np.array([0])).tolist() == [math.inf]


def test_the_same_text_in_jax():
    """Arrays of JAX answer with the same numbers."""
    jax = pytest.importorskip("jax")
    from factorcomp.composition.precision import float64

    p, q = logs((0.5, 0.25, 0.25), (1, 0, 0)), logs((0.25, 0.5, 0.25), (0.5, 0.5, 0))
    with float64():
        a, b = jax.numpy.asarray(p), jax.numpy.asarray(q)
        for function in (total_variation, divergence, sup_log, lambda x, y: oscillation_of(log_ratio(y, x), x)):
            np.testing.assert_allclose(np.asarray(function(a, b)), function(p, q), atol=1e-14)
        base = jax.numpy.stack([a, b])
        found = capped_deviation(base, jax.numpy.asarray([0, 1]))
        np.testing.assert_allclose(np.asarray(found), capped_deviation(np.stack([p, q]), np.array([0, 1])))
