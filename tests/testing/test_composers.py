"""Right composers keep every law; each wrong one breaks a law that says what is wrong with it."""

import numpy as np
import pytest

import factorcomp.testing
from factorcomp.testing.composed import Declared, Examination
from factorcomp.testing.composer_laws import COMPOSER_LAWS
from factorcomp.testing.drawing import seeded
from tests.testing import composers

LAWS = {law.name: law for law in COMPOSER_LAWS}


class TestByCaches(factorcomp.testing.ComposerLaws):
    """As a user writes it."""

    composer = staticmethod(composers.by_caches)
    examples = 5


RIGHT = {
    "factorcomp": (composers.by_factorcomp, Declared()),
    "factorcomp, drop": (composers.by_factorcomp_dropping, Declared(null_tokens="drop")),
    "factorcomp, strict": (composers.by_factorcomp_strict, Declared(null_tokens="strict")),
    "factorcomp, float32": (composers.by_factorcomp, Declared(dtype="float32")),
    "logits": (composers.by_logits, Declared()),
    "logits, bfloat16": (composers.by_logits_of_bfloat16, Declared(dtype="bfloat16", zeros=False)),
    "caches": (composers.by_caches, Declared()),
    "softmax models alone": (composers.without_looking_at_supports, Declared(zeros=False)),
    "half precision": (composers.in_half_precision, Declared(dtype="float16", zeros=False)),
}
"""Composers and what they declare; the laws are the columns."""


SUBJECTS = [
    (name, law.name) for name, (_, declared) in RIGHT.items() for law in COMPOSER_LAWS if not law.needs(declared)
]


@pytest.mark.parametrize(("subject", "law"), SUBJECTS)
def test_a_right_composer_keeps_the_law(subject, law):
    composer, declared = RIGHT[subject]
    examination, draw = Examination(composer, declared), seeded(law)
    for _ in range(8):
        result = LAWS[law].check(examination, LAWS[law].draw(draw, declared))
        assert result.holds, result


WRONG = [
    (composers.dividing_by_the_sum_of_weights, {"neutral_expert", "sole_deviator", "known_answer", "monotone_weight"}),
    (composers.sharing_one_cache, {"caches_apart"}),
    (composers.forgetting_whose_cache, {"caches_apart"}),
    (composers.in_half_precision, {"normalised", "known_answer", "sole_deviator", "identity"}),
    (composers.without_normalising_first, {"logit_shift"}),
    (composers.multiplying_experts, {"identity", "neutral_expert", "known_answer"}),
    (composers.ignoring_weights, {"monotone_weight", "known_answer"}),
    (composers.with_a_finite_stand_in, {"support", "normalised"}),
    (composers.without_looking_at_supports, {"support", "normalised", "hard_constraints"}),
    (composers.favouring_the_first, {"permutation", "neutral_expert"}),
    (composers.by_position_of_the_token, {"relabelling", "common_temperature", "projective"}),
]


@pytest.mark.parametrize(("composer", "laws"), WRONG, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_wrong_composer_is_caught_by_the_laws_that_it_breaks(composer, laws):
    for name in laws:
        result = first_broken(composer, LAWS[name])
        assert result.law == name
        assert not result.off <= result.tolerance
        assert result.why


def first_broken(composer, law, tries=100):
    """The first case that breaks the law."""
    draw, examination = seeded(law.name), Examination(composer)
    results = (law.check(examination, law.draw(draw, Declared())) for _ in range(tries))
    return next(result for result in results if not result.holds)


def test_every_law_is_broken_by_a_wrong_composer():
    """No law of composers is idle."""
    assert set().union(*(laws for _, laws in WRONG)) == set(LAWS)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("composer", [composers.sharing_one_cache, composers.forgetting_whose_cache])
def test_a_mistake_in_caching_is_no_mistake_in_arithmetic(composer):
    """Asked once, after one prefix, a composer with mixed up caches is right: only decoding shows it."""
    examination, draw = Examination(composer), seeded(0)
    for _ in range(8):
        case = LAWS["known_answer"].draw(draw, Declared())
        exact = case.exact("cancel").logs
        for prefix, needed in exact.items():
            row = examination.rows(case, [prefix])[prefix]
            assert np.allclose(np.exp(row), np.exp(needed))


def test_a_result_says_law_place_got_needed_distance_and_tolerance():
    text = str(first_broken(composers.dividing_by_the_sum_of_weights, LAWS["neutral_expert"]))
    assert text.startswith(
        "neutral_expert is broken: an expert equal to the background changes nothing (1.1)\n  after "
    )
    assert " got log p(" in text
    assert "; needed -" in text
    assert "tolerated" in text
    assert "because float64 rounds by 2 eps" in text
    assert "\n  background" in text
    assert "\n  up " in text


def test_assert_composer_raises_with_the_result():
    with pytest.raises(factorcomp.testing.LawError, match="known_answer is broken") as caught:
        factorcomp.testing.assert_composer(composers.ignoring_weights, examples=20)
    assert not caught.value.result.holds


def test_what_a_composer_raises_is_raised_with_the_case():
    def broken(background, experts, weights):
        raise RuntimeError("no composition today")

    with pytest.raises(RuntimeError, match="no composition today") as caught:
        factorcomp.testing.check_composer(broken)
    assert "asked by the law normalised about\nafter the empty prefix\n  background" in caught.value.__notes__[0]


def test_an_answer_of_another_shape_breaks_a_law():
    def one_row(background, experts, weights):
        return lambda prefixes: np.zeros(len(background.vocabulary))

    results = factorcomp.testing.check_composer(one_row, examples=3)
    assert "an array of the shape" in results[0].got
    assert not results[0].holds


def test_a_composer_without_weights_is_called_without():
    def plain(background, experts):
        return composers.by_logits(background, experts, [1.0] * len(experts))

    results = factorcomp.testing.check_composer(plain, weighted=False, examples=6)
    assert all(result.holds for result in results)
    assert "monotone_weight" not in {result.law for result in results}


def test_a_declared_tolerance_takes_the_place_of_the_derived_one():
    results = factorcomp.testing.check_composer(composers.in_half_precision, tolerance=0.1, zeros=False, examples=6)
    assert all(result.holds for result in results)
    strict = factorcomp.testing.check_composer(composers.by_logits, tolerance=0.0, examples=6)
    assert next(result for result in strict if not result.holds).why == "so much was declared"


def test_an_unknown_type_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"dtype: got 'float33'; needed .* float64, float32, bfloat16 or float16"):
        factorcomp.testing.check_composer(composers.by_logits, dtype="float33")


@pytest.mark.parametrize("tolerance", [float("nan"), float("inf"), -1.0])
def test_a_tolerance_that_forgives_everything_or_nothing_is_refused(tolerance):
    with pytest.raises(ValueError, match=r"tolerance: got .*; needed a number of nats, at least 0"):
        factorcomp.testing.check_composer(composers.by_logits, tolerance=tolerance)
