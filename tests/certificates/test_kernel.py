"""The kernel against the brute-force oracle, and against the laws of theory.md."""

import random
from fractions import Fraction
from operator import sub

import pytest
from hypothesis import given, settings

from factorcomp.certificates import KernelError, Model, Question, decide, factorization
from factorcomp.certificates.claims import CLAIMS, Verdict
from factorcomp.certificates.rows import Rows
from tests import golden, oracle
from tests.certificates.subjects import decided, model
from tests.strategies import Instance, instances

NAMES = ("up", "down")
HALF, THIRD = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 3), Fraction(2, 3))


def table(*steps: list[tuple[Fraction, ...]], eos: str | None = None) -> Model:
    return Model(("a", "b"), eos, tuple(map(tuple, steps)))


@settings(max_examples=80, deadline=None)
@given(instances())
def test_agrees_with_the_oracle(instance: Instance) -> None:
    truth = oracle.decide(instance.vocabulary, instance.eos, instance.background, instance.experts, instance.question)
    assert golden.differences(decided(instance), truth) == []


@settings(max_examples=40, deadline=None)
@given(instances())
def test_laws(instance: Instance) -> None:
    """interval => pointwise (4.2); pointwise => Z = 1, switching exact, local = global at threshold 0 (4.4)."""
    found = decided(instance)
    if found["well_defined"].verdict is Verdict.REFUTED:
        return
    holds = {result.name for result in found.claims if result.verdict is Verdict.HOLDS}
    assert "pointwise_joint" in holds or "interval_joint" not in holds
    if "pointwise_joint" in holds and not instance.question.threshold and instance.question.null_tokens != "drop":
        assert {"exact_switching", "unit_normalizer", "local_equals_global"} <= holds
        assert found.measures.tv_to_switching == 0
    for result in found.claims:
        if result.verdict is Verdict.HOLDS and result.claim not in ("mask_agreement",):
            assert result.residual == 0, result
        if result.verdict is Verdict.REFUTED:
            assert result.witness is not None, result


@settings(max_examples=20, deadline=None)
@given(instances())
def test_claims_alone_are_those_among_all(instance: Instance) -> None:
    everything = decided(instance)
    experts = {name: model(instance, name) for name in instance.experts}
    for result in everything.claims:
        alone = decide(model(instance, "background"), experts, instance.question, claims={result.name})
        assert alone[result.name] == result
        assert alone.deviating == everything.deviating


def test_order_of_claims() -> None:
    rows = table([HALF], [HALF, HALF], eos=None)
    found = decide(rows, {"up": rows}, Question(2, masks={"up": (0,)}))
    names = [result.claim for result in found.claims]
    assert names == [claim for claim in CLAIMS if claim in names]


def test_length_zero_holds() -> None:
    found = decide(table(), {"up": table()}, Question(0))
    assert {(result.verdict, result.residual) for result in found.claims} == {(Verdict.HOLDS, 0)}
    assert found.measures.log_normalizer_min is None


def test_progress_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    rows = table([HALF], [HALF, THIRD])
    decide(rows, {"up": rows}, Question(2), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (3, 3)], "prefixes read before those of length 0, 1, and at the end"
    assert decide(table(), {"up": table()}, Question(0), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (0, 0)
    seen.clear()
    rows = table([HALF], [HALF] * 2, [HALF] * 4)
    decide(rows, {"up": rows}, Question(3), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 7), (1, 7), (3, 7), (7, 7)]
    seen.clear()
    thirds = (Fraction(1, 3),) * 3
    rows = Model(("a", "b", "c"), None, ((thirds,), (thirds,) * 3))
    decide(rows, {"up": rows}, Question(2), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 4), (1, 4), (4, 4)]


@pytest.mark.parametrize("lawless", ["up", "down"])
def test_whichever_expert_has_no_law_leaves_conditionals_open(lawless: str) -> None:
    """Theorem 1.9 (a) fails after `a`, which the other expert keeps the composition from."""
    sure, never = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    base = table([HALF], [sure, HALF])
    experts = {
        name: table([HALF], [never, HALF]) if name == lawless else table([never], [sure, HALF]) for name in NAMES
    }
    question = Question(2, masks={"up": (0,), "down": (1,)}, weights={lawless: Fraction(2)})
    found = decide(base, experts, question)
    assert found["well_defined"].verdict is Verdict.HOLDS
    assert found["factorized_conditionals"].verdict is Verdict.UNDECIDED
    assert f"weighted, {lawless} reaches" in found["factorized_conditionals"].why


@pytest.mark.parametrize(("masks", "told"), [({"up": (0,)}, {"up": (0,)}), ("auto", None), (None, None)])
def test_masks_where_the_composition_is_undefined(masks, told) -> None:
    """Those given are told; none are found."""
    sure = (Fraction(1), Fraction(0))
    found = decide(table([sure]), {"up": table([HALF])}, Question(1, masks=masks, null_tokens="strict"))
    assert found["well_defined"].verdict is Verdict.REFUTED
    assert found.masks == told


def test_floats_are_the_dyadic_rationals_that_they_are() -> None:
    """1/10 as a float is no tenth: the expert that says `Fraction(1, 10)` deviates."""
    exact, rounded = (Fraction(1, 10), Fraction(9, 10)), (0.1, 0.9)
    found = decide(table([exact]), {"up": table([rounded])}, Question(1))
    assert found.deviating["up"] == (((0, 1),),)
    same = decide(table([(0.25, 0.75)]), {"up": table([(Fraction(1, 4), Fraction(3, 4))])}, Question(1))
    assert same.deviating["up"] == ((),)


@pytest.mark.parametrize(
    ("question", "match"),
    [
        (Question(2), "horizon of 1, needed the length 2"),
        (Question(-1), "needed the length -1"),
        (Question(1, masks={"up": (0,), "down": (0,)}), "disjoint"),
        (Question(1, masks={"up": (1,)}), "positions from 0 to 0"),
        (Question(1, masks={"left": (0,)}), "'left'.*needed one of up, down"),
        (Question(1, weights={"up": Fraction(0)}), "weight"),
        (Question(1, threshold=Fraction(-1)), "threshold"),
    ],
)
def test_questions_that_cannot_be_asked(question: Question, match: str) -> None:
    with pytest.raises(KernelError, match=match):
        decide(table([HALF]), {"up": table([HALF]), "down": table([THIRD])}, question)


def test_vocabularies_are_aligned() -> None:
    turned = Model(("b", "a"), None, (((Fraction(2, 3), Fraction(1, 3)),), (THIRD, HALF)))
    straight = table([THIRD], [HALF, THIRD[::-1]])
    assert decide(straight, {"up": turned}, Question(2)).deviating["up"] == ((), ())
    with pytest.raises(KernelError, match='up: got the token "c", which the background lacks'):
        decide(straight, {"up": Model(("a", "c"), None, straight.steps)}, Question(2))
    with pytest.raises(KernelError, match='up: got the token "b", which the expert lacks'):
        decide(straight, {"up": Model(("a",), None, (((Fraction(1),),),) * 2)}, Question(2))
    with pytest.raises(KernelError, match="EOS"):
        decide(straight, {"up": Model(("a", "b"), "b", straight.steps)}, Question(1))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("count", [4, 20])
def test_largest_distance_is_that_of_the_farthest_rows(count: int, seed: int, monkeypatch) -> None:
    """Few rows of three tokens go pair by pair, many by sets of tokens: the maximum over all pairs, or none."""
    draw, rows = random.Random(seed), Rows([], exact=True)
    options = [rows.rational([Fraction(draw.randint(0, 9)) for _ in range(2)] + [Fraction(1)]) for _ in range(60)]
    left, right = draw.sample(options, count), draw.sample(options, count)
    farthest = max(sum(map(abs, map(sub, p.probabilities, q.probabilities))) / 2 for p in left for q in right)
    steps = 3 * min(count * count, 8 * 2 * count)
    monkeypatch.setattr(factorization, "MOST_WORK", steps)
    assert factorization.spread(left, right, Fraction(0)) == farthest
    monkeypatch.setattr(factorization, "MOST_WORK", steps - 1)
    assert factorization.spread(left, right, Fraction(0)) is None
