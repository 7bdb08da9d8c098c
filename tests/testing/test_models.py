"""Right models keep every law, each wrong one breaks the law that says what is wrong with it."""

import jax.numpy as jnp
import numpy as np
import pytest

import factorcomp
import factorcomp.testing
from factorcomp.testing.model_laws import MODEL_LAWS
from tests.testing import models

HALF = ["1/2", "1/2"]
END = [0, 1]
TABLE = factorcomp.TabularModel.from_probabilities([[HALF], [["1/3", "2/3"], END]], ["a", "b"], eos="b")
AUTOMATON = factorcomp.FiniteStateModel.from_states(
    {
        "even": {"probabilities": {"a": "1/3", "b": "2/3"}, "next": {"a": "odd", "b": "even"}},
        "odd": {"probabilities": {"a": 1}, "next": {"a": "even"}},
    },
    ["a", "b"],
    "even",
)


def by_parity(prefixes):
    """A function of JAX: log-probabilities in float32."""
    odd = prefixes.sum(axis=1) % 2
    return jnp.where(odd[:, None] == 1, jnp.log(jnp.array([0.25, 0.75])), jnp.log(jnp.array([0.5, 0.5])))


class TestScorer(factorcomp.testing.ModelLaws):
    model = models.Scorer()
    dtype = "float64"
    examples = 8


class TestTable(factorcomp.testing.ModelLaws):
    model = TABLE
    examples = 8


class TestFiniteState(factorcomp.testing.ModelLaws):
    model = AUTOMATON
    examples = 8


class TestFunction(factorcomp.testing.ModelLaws):
    model = factorcomp.FunctionModel(by_parity, ("a", "b"), eos="a")
    examples = 8


class TestComposition(factorcomp.testing.ModelLaws):
    """A composition is a model."""

    model = factorcomp.compose(AUTOMATON, {"same": AUTOMATON})
    examples = 8


@pytest.mark.parametrize(("kind", "law"), models.WRONG.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_a_wrong_model_is_caught_by_the_law_that_it_breaks(kind, law):
    results = {result.law: result for result in factorcomp.testing.check_model(kind(), dtype="float64", examples=30)}
    assert not results[law].holds
    assert law in str(results[law])


def test_every_law_is_broken_by_a_wrong_model():
    """No law of models is idle."""
    assert set(models.WRONG.values()) == {law.name for law in MODEL_LAWS}


def test_the_future_is_seen_in_the_message():
    results = factorcomp.testing.check_model(models.SeesTheFuture(), dtype="float64")
    text = str(next(result for result in results if not result.holds))
    assert text.startswith("causal is broken: a row along a sequence is that of the tokens before it\n  after ")
    assert "\n  got     a 0." in text
    assert "\n  needed  a 0." in text


def test_single_precision_is_not_double_precision():
    """The tolerance follows the declared type: rows rounded to float32 do not sum to 1 in float64."""

    def single(prefixes):
        return np.tile(np.log([0.1, 0.2, 0.7]).astype(np.float32), (len(prefixes), 1))

    results = factorcomp.testing.check_model(single, vocabulary=["a", "b", "c"])
    assert all(result.holds for result in results)
    strict = factorcomp.testing.check_model(single, vocabulary=["a", "b", "c"], dtype="float64")
    assert [result.law for result in strict if not result.holds] == ["normalised"]


def test_finite_states_are_asked_only_where_they_say_something():
    """After 'a' only 'a' has a next state."""
    assert all(result.holds for result in factorcomp.testing.check_model(AUTOMATON, examples=60))


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (lambda prefixes: prefixes, {}, "the model: found no vocabulary; needed its tokens"),
        (models.Scorer(), {"eos": "c"}, "eos: got 'c'; needed a token of the vocabulary"),
        (3, {"vocabulary": ["a"]}, "the model: got a int; needed a model or a function of prefixes"),
        (TABLE.truncated(0), {}, "a table without a step has no row that a law could speak of"),
        (models.Scorer(), {"examples": 0}, "examples: got 0; needed at least 1"),
    ],
)
def test_what_cannot_be_examined_is_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        factorcomp.testing.check_model(model, **options)


def test_what_a_model_raises_is_raised_with_the_prefixes():
    def broken(prefixes):
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory") as caught:
        factorcomp.testing.check_model(broken, vocabulary=["a"])
    assert "raised by the model, asked by the law normalised about the prefixes" in caught.value.__notes__[0]


def test_one_token_and_the_empty_prefix_alone():
    """|V| = 1, a horizon of 1; EOS is the only token."""
    certain = factorcomp.TabularModel.from_probabilities([[[1]]], ["a"], eos="a")
    assert all(result.holds for result in factorcomp.testing.check_model(certain))
