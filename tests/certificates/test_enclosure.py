"""Numbers that are not rational: enclosures hold the truth, and what deviation settles stays exact."""

import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factorcomp.certificates import Model, Question, decide
from factorcomp.certificates import setting as setting_module
from factorcomp.certificates.claims import Verdict
from factorcomp.certificates.enclosure import (
    Enclosure,
    excess,
    exponential,
    log_exceeds,
    logarithm,
    positive,
    surely_less,
    total,
)
from factorcomp.certificates.rows import Rows, oscillation, same
from tests.certificates.subjects import decided
from tests.strategies import Instance, instances

positives = st.fractions(min_value=0, max_value=10**6, max_denominator=10**6)


def holds(enclosure: Enclosure, value: Fraction) -> bool:
    return Fraction(enclosure.lower) <= value <= Fraction(enclosure.upper)


@given(positives, positives)
def test_arithmetic_encloses_the_fractions(p: Fraction, q: Fraction) -> None:
    x, y = Enclosure.of(p), Enclosure.of(q)
    assert holds(x + y, p + q)
    assert holds(x - y, p - q)
    assert holds(x * y, p * q)
    assert holds(abs(x - y), abs(p - q))
    assert holds(excess(x, y), max(p - q, Fraction(0)))
    assert holds(total([x, y, x], Enclosure.of(0)), p + q + p)
    if q:
        assert holds(x / y, p / q)
    assert positive(x) in (p > 0, None)
    assert not surely_less(x, y) or p < q


@given(st.fractions(min_value=-40, max_value=40, max_denominator=1000), st.integers(0, 8))
def test_exponential_lies_between_its_partial_sums(x: Fraction, extra: int) -> None:
    """e^x <= sum_{n<N} x^n/n! + the geometric tail, for x >= 0; and e^-x = 1/e^x."""
    terms, term = [], Fraction(1)
    for n in range(220 + extra):
        terms.append(term)
        term = term * abs(x) / (n + 1)
    low, high = sum(terms), sum(terms) + 2 * term
    low, high = (low, high) if x >= 0 else (1 / high, 1 / low)
    enclosure = exponential(x, x)
    assert Fraction(enclosure.lower) <= high
    assert low <= Fraction(enclosure.upper)
    assert float(enclosure) == pytest.approx(math.exp(x), rel=1e-14)


@given(st.fractions(min_value=Fraction(1, 100), max_value=100))
def test_logarithm_is_undone_by_the_exponential(value: Fraction) -> None:
    low, high = logarithm(value)
    assert holds(exponential(low, high), value)


def test_a_rational_close_to_a_logarithm_is_told_from_it() -> None:
    """log 2 to 200 digits, from below and from above."""
    low, high = logarithm(Fraction(2), 200)
    assert log_exceeds(Fraction(2), low)
    assert not log_exceeds(Fraction(2), high)
    assert not log_exceeds(Fraction(1), Fraction(0))
    assert log_exceeds(Fraction(1), Fraction(-1, 10**900))


def test_nothing_times_what_has_no_bound_is_nothing() -> None:
    """1 over a number that may be 0 has no upper bound; times an exact zero it is 0, and never NaN."""
    nothing, unbounded = Enclosure.of(0), Enclosure.of(1) / Enclosure(Decimal(0), Decimal(1))
    assert (unbounded.lower, unbounded.upper) == (1, Decimal("inf"))
    for product in (nothing * unbounded, unbounded * nothing):
        assert product.lower == product.upper == 0
    assert positive(unbounded) is True


def test_underflow_is_enclosed() -> None:
    tiny = exponential(Fraction(-(10**30)), Fraction(-(10**30)))
    assert tiny.lower == 0 < tiny.upper
    assert positive(tiny) is None


@settings(max_examples=60, deadline=None)
@given(instances())
def test_enclosures_never_contradict_the_fractions(instance: Instance) -> None:
    """The same question in both arithmetics: decided verdicts and witnesses agree, numbers agree to 1e-9."""
    exact = decided(instance)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setting_module, "LARGEST_POWER", 0)
        enclosed = decided(instance)
    assert enclosed.deviating == exact.deviating
    assert enclosed.active == exact.active
    for mine, other in zip(enclosed.claims, exact.claims, strict=True):
        assert mine.verdict in (other.verdict, Verdict.UNDECIDED), (mine, other)
        if mine.residual is not None:
            assert abs(mine.residual - other.residual) <= 1e-9, (mine, other)
        if mine.verdict is not Verdict.UNDECIDED and hasattr(other.witness, "prefix"):
            assert mine.witness.prefix == other.witness.prefix
            assert mine.witness.experts == other.witness.experts
        if mine.verdict is not Verdict.UNDECIDED and hasattr(other.witness, "tokens"):
            assert mine.witness.tokens == other.witness.tokens, "of equal differences the first"
    joint = ("pointwise_joint", "interval_joint", "mask_agreement", "factorized_conditionals", "terminates")
    for result in enclosed.claims:
        if result.claim in joint and exact["well_defined"].verdict is Verdict.HOLDS:
            assert result.verdict is not Verdict.UNDECIDED, result
    if exact.measures is not None:
        for name in ("tv_to_switching", "tv_local_global", "overlap_probability"):
            assert abs(getattr(enclosed.measures, name) - getattr(exact.measures, name)) <= 1e-9


def logs(*rows: list[tuple[float, ...]]) -> Model:
    return Model(("a", "b"), None, tuple(map(tuple, rows)), "logs")


def test_rows_of_logs_that_differ_by_a_constant_are_one_distribution() -> None:
    found = decide(logs([(0.0, -1.5)]), {"up": logs([(2.0, 0.5)])}, Question(1))
    assert found.deviating["up"] == ((),)


@pytest.mark.parametrize("null_tokens", ["strict", "drop", "cancel"])
def test_what_deviation_settles_is_exact_on_logs(null_tokens: str) -> None:
    """One deviator at each prefix: Z = 1 and the composition is a component, with residual 0 (1.8, 4.4)."""
    base = logs([(0.0, -1.5)], [(0.0, -1.5)] * 2)
    up = logs([(0.25, -1.5)], [(0.0, -1.5)] * 2)
    down = logs([(0.0, -1.5)], [(0.0, -1.25), (0.0, -1.5)])
    question = Question(2, masks={"up": (0,), "down": (1,)}, null_tokens=null_tokens)
    found = decide(base, {"up": up, "down": down}, question)
    for claim in ("pointwise_joint", "exact_switching", "unit_normalizer", "local_equals_global"):
        assert (found[claim].verdict, found[claim].residual) == (Verdict.HOLDS, 0.0)
    assert found.measures.tv_to_switching == found.measures.tv_local_global == 0.0
    assert found["projective:down"].verdict is Verdict.REFUTED


def test_a_composition_that_is_the_background_is_known_though_two_deviate() -> None:
    """Theorem 4.4 (3') in logs: r_1 r_2 = 1, so the composition is the background, and Z < 1."""
    base, up, down = logs([(0.0, 0.0)]), logs([(0.0, 1.0)]), logs([(1.0, 0.0)])
    found = decide(base, {"up": up, "down": down}, Question(1))
    assert found["exact_switching"].verdict is Verdict.HOLDS
    assert found["unit_normalizer"].verdict is Verdict.REFUTED
    z = 4 * math.e / (1 + math.e) ** 2
    assert found.measures.log_normalizer_min == pytest.approx(math.log(z), abs=1e-12)


@pytest.mark.parametrize(
    ("null_tokens", "composed", "alone"), [("cancel", (1, 3, 4, 0), (1, 1, 2, 0)), ("drop", (1, 3, 0, 0), (1, 1, 0, 0))]
)
def test_an_opened_token_keeps_its_probability_among_enclosures(null_tokens, composed, alone) -> None:
    """1.3: up opens `c`, alone or while down deviates too; `d` is impossible. The idle expert forbids fractions."""
    rows = ((2, 2, 0, 0), (1, 1, 2, 0), (1, 3, 0, 0))
    base, up, down = (Model(tuple("abcd"), None, ((tuple(Fraction(n, 4) for n in row),),)) for row in rows)
    idle = Model(tuple("abcd"), None, (((0.0, 0.0, -math.inf, -math.inf),),), "logs")
    question = Question(1, null_tokens=null_tokens)
    for experts, weights in (({"up": up, "down": down}, composed), ({"up": up}, alone)):
        exact, enclosed = decide(base, experts, question), decide(base, experts | {"idle": idle}, question)
        law = [Fraction(n, sum(weights)) for n in weights]
        gap = min(
            sum(abs(p - Fraction(n, 4)) for p, n in zip(law, row, strict=True)) / 2 for row in rows[: len(experts) + 1]
        )
        assert exact["exact_switching"].residual == gap
        assert enclosed["exact_switching"].residual == pytest.approx(float(gap), abs=1e-12)
        assert enclosed["unit_normalizer"].residual == pytest.approx(float(exact["unit_normalizer"].residual))
        assert enclosed["local_equals_global"].verdict is Verdict.HOLDS
        assert enclosed.measures.tv_to_switching == pytest.approx(float(exact.measures.tv_to_switching), abs=1e-12)


def test_undecided_says_where_and_why() -> None:
    """Lemma 1.8: Z = 1 though two deviate. A third expert, in logs, forbids fractions; no enclosure tells Z from 1."""
    sixths = [[Fraction(n, 6) for n in row] for row in ((2, 2, 2), (1, 1, 4), (1, 3, 2))]
    base, up, down = (Model(("a", "b", "c"), None, ((tuple(row),),)) for row in sixths)
    idle = Model(("a", "b", "c"), None, (((0.0, 0.0, 0.0),),), "logs")
    assert decide(base, {"up": up, "down": down}, Question(1))["unit_normalizer"].verdict is Verdict.HOLDS
    found = decide(base, {"up": up, "down": down, "idle": idle}, Question(1))
    assert found["unit_normalizer"].verdict is Verdict.UNDECIDED
    assert found["unit_normalizer"].why.endswith("50 digits cannot tell the residual from 0 at the start")
    assert found["exact_switching"].verdict is Verdict.REFUTED
    assert found.deviating == {"up": (((0, 1),),), "down": (((0, 1),),), "idle": ((),)}


@pytest.mark.parametrize("extreme", [-1e308, -1e30, -745.2, 700.0, 1e308])
def test_extreme_logits_give_no_nan(extreme: float) -> None:
    base, up, down = logs([(0.0, extreme)]), logs([(extreme, 0.0)]), logs([(0.0, 0.0)])
    for null_tokens in ("strict", "cancel", "drop"):
        found = decide(base, {"up": up, "down": down}, Question(1, null_tokens=null_tokens, masks={"up": (0,)}))
        for result in found.claims:
            assert result.residual is None or not math.isnan(result.residual)
        assert found["pointwise_joint"].verdict is Verdict.REFUTED


def test_a_normalizer_too_small_for_a_logarithm_leaves_no_residual() -> None:
    """At the start Z is above 1, after it about `exp(-1e308)`, of which it is only known that it may be 0."""
    near, never = [(0.0, 1.0)], -1e308
    base = logs([(0.0, 0.0)], [(0.0, 0.0)] * 2)
    experts = {"up": logs(near, [(0.0, never)] * 2), "down": logs(near, [(never, 0.0)] * 2)}
    result = decide(base, experts, Question(2))["unit_normalizer"]
    assert (result.verdict, result.residual) == (Verdict.REFUTED, None)


@pytest.mark.parametrize("weight", [Fraction(1, 2), Fraction(3, 2), Fraction(7, 3)])
def test_tilted_rational_rows_are_compared_exactly(weight: Fraction) -> None:
    """FC holds for experts with a fractional weight on a product background, though their rows are irrational (1.9)."""
    half, third = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 3), Fraction(2, 3))
    base = Model(("a", "b"), None, ((half,), (third, third)))
    up = Model(("a", "b"), None, ((third,), (third, third)))
    question = Question(2, masks={"up": (0,)}, weights={"up": weight})
    found = decide(base, {"up": up}, question)
    assert found["factorized_conditionals"].verdict is Verdict.HOLDS
    assert (found["projective:up"].verdict, found["projective:up"].residual) == (Verdict.HOLDS, 0.0)


@pytest.mark.parametrize("weight", [Fraction(1, 2), Fraction(3, 2), Fraction(7, 3), Fraction(1, 65)])
def test_tilted_rows_enclose_their_probabilities(weight: Fraction) -> None:
    """1.9: `p_b (p_i/p_b)^λ` over its sum, to 40 digits, by powers of decimals; for λ = 1/2 also sqrt(2) - 1."""
    rows = Rows([weight], exact=False)
    base, own = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 5), Fraction(4, 5), Fraction(0)]
    found = rows.tilted(rows.rational(base), rows.rational(own), weight).probabilities
    with localcontext(Context(prec=80)):
        decimals = [[Decimal(p.numerator) / p.denominator for p in row] for row in (base, own)]
        power = Decimal(weight.numerator) / weight.denominator
        values = [b * (p / b) ** power if p else Decimal(0) for b, p in zip(*decimals, strict=True)]
        for enclosure, value in zip(found, values, strict=True):
            assert enclosure.lower <= value / sum(values) <= enclosure.upper
            assert enclosure.upper - enclosure.lower < Decimal("1e-40")
    half, third = (rows.rational([Fraction(1, n), 1 - Fraction(1, n)]) for n in (2, 3))
    if weight == Fraction(1, 2):
        assert float(rows.tilted(half, third, weight).probabilities[0]) == pytest.approx(math.sqrt(2) - 1, rel=1e-15)


@pytest.mark.parametrize("logits", list(itertools.permutations((0.0, 0.25, 2.0))))
def test_the_oscillation_of_logits_is_between_their_extremes(logits: tuple[float, ...]) -> None:
    """0.1: 2 nats, whatever the order of the tokens; against a background of logs, and one of fractions."""
    rows = Rows([], exact=False)
    expert = rows.read("logs", logits)
    assert oscillation(expert, rows.read("logs", (1.0, 1.0, 1.0))) == (1, 2)
    assert oscillation(expert, rows.rational([Fraction(1, 3)] * 3)) == (1, 2)


def test_a_power_of_one_is_one() -> None:
    """Powers beyond the largest leave a row unknown; not if what they are of is 1."""
    rows = Rows([Fraction(1, 65)], exact=False)
    half = rows.rational([Fraction(1)] * 2)
    assert rows.product([(half, Fraction(64, 65)), (half, Fraction(1, 65))]) is half


def test_powers_some_of_which_are_whole() -> None:
    """The composition of experts of weights 1 and 1/2: `p_b^(-1/2) p_1 p_2^(1/2)`, here 1 : 2 sqrt(3), no fraction."""
    rows = Rows([Fraction(1), Fraction(1, 2)], exact=False)
    half, twice, thrice = (rows.rational([Fraction(1), Fraction(n)]) for n in (1, 2, 3))
    found = rows.product([(half, Fraction(-1, 2)), (twice, Fraction(1)), (thrice, Fraction(1, 2))])
    assert float(found.probabilities[0]) == pytest.approx(1 / (1 + 2 * math.sqrt(3)), rel=1e-15)
    assert same(found, rows.product([(thrice, Fraction(1, 2)), (twice, Fraction(1))])) is True
    assert [same(found, rows.rational([Fraction(1), Fraction(n)])) for n in (2, 3, 6)] == [False] * 3


def test_a_row_beyond_the_powers_may_be_one_that_is_known() -> None:
    """`(2^65)^(1/65) = 2`: the tilted row is 1 : 2, which no enclosure can tell; and 1 : 3 it surely is not."""
    rows = Rows([Fraction(1, 65)], exact=False)
    half, steep = rows.rational([Fraction(1)] * 2), rows.rational([Fraction(1), Fraction(2**65)])
    tilted = rows.tilted(half, steep, Fraction(1, 65))
    twice, thrice = (rows.rational([Fraction(1), Fraction(n)]) for n in (2, 3))
    assert [same(tilted, twice), same(twice, tilted)] == [None, None]
    assert [same(tilted, thrice), same(thrice, tilted)] == [False, False]


@pytest.mark.parametrize("weight", [Fraction(1), Fraction(1, 2)])
def test_rows_are_known_by_their_proportions(weight: Fraction) -> None:
    """1 : 2 is 2 : 4 is 1/3 : 2/3, and 2 : 1 is another row."""
    rows = Rows([weight], exact=True)
    row = rows.rational([Fraction(1), Fraction(2)])
    assert (row.integers, row.probabilities) == ((1, 2), [Fraction(1, 3), Fraction(2, 3)])
    assert rows.rational([Fraction(2), Fraction(4)]) is rows.rational([Fraction(1, 3), Fraction(2, 3)]) is row
    assert rows.rational([Fraction(2), Fraction(1)]) is not row
    assert rows.rational([Fraction(0)] * 2).probabilities == [0, 0]


@pytest.mark.parametrize("weight", [Fraction(1, 64), Fraction(1, 65)])
def test_rows_are_told_apart_whatever_the_root(weight: Fraction) -> None:
    """Tilted rows are known by their powers up to 64; those read are always known."""
    half, third = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 3), Fraction(2, 3))
    base, up = (Model(("a", "b"), None, ((row,), (half, half))) for row in (half, third))
    down = Model(("a", "b"), None, ((half,), (third, half)))
    found = decide(base, {"up": up, "down": down}, Question(2, weights={"up": weight}))
    assert found.deviating == {"up": (((0, 1),), ()), "down": ((), ((0, 1),))}
    assert found["exact_switching"].verdict is Verdict.HOLDS
    again = decide(base, {"up": up, "down": up}, Question(2, weights={"up": weight}))
    assert again["pointwise_joint"].verdict is Verdict.REFUTED


def test_marginals_that_enclosures_cannot_tell_apart_stay_open() -> None:
    """Down reads up's block, so no theorem covers up's mask, where the marginals are equal and irrational."""
    half, third = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 3), Fraction(2, 3))
    base, up = (Model(("a", "b"), None, ((row,), (half, half))) for row in (half, third))
    down = Model(("a", "b"), None, ((half,), (third, half)))
    question = Question(2, masks={"up": (0,), "down": (1,)}, weights={"up": Fraction(1, 2)})
    found = decide(base, {"up": up, "down": down}, question)
    assert found["projective:up"].verdict is Verdict.UNDECIDED
    assert 0 < found["projective:up"].residual < 1e-45
    assert found["projective:down"].verdict is Verdict.REFUTED
    whole = decide(base, {"up": up, "down": down}, Question(2, masks={"up": (0,), "down": (1,)}))
    assert (whole["projective:up"].verdict, whole["projective:up"].residual) == (Verdict.HOLDS, 0)


def test_weights_beyond_the_limit_leave_undecided_only_what_needs_them() -> None:
    half, third = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 3), Fraction(2, 3))
    base = Model(("a", "b"), None, ((half,), (half, half)))
    up = Model(("a", "b"), None, ((half,), (third, third)))
    found = decide(base, {"up": up}, Question(2, masks={"up": (1,)}, weights={"up": Fraction(1001, 1000)}))
    assert found["interval_joint"].verdict is Verdict.HOLDS
    assert found["unit_normalizer"].verdict is Verdict.HOLDS
    assert found["factorized_conditionals"].verdict is Verdict.HOLDS
    other = Model(("a", "b"), None, ((half,), (third, (Fraction(2, 6), Fraction(4, 6)))))
    assert decide(base, {"up": other}, Question(2)).deviating["up"] == ((), ((0, 2),))
