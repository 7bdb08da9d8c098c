"""Models of every kind, drawn, keep the laws of models; and the drawing reaches what it promises."""

import pytest
from hypothesis import find, given, settings

from factorcomp.models.finite_state import NOWHERE
from factorcomp.models.rows import RationalRows
from factorcomp.testing import check_model, finite_state_models, function_models, tabular_models, vocabularies

STRATEGIES = {
    "fractions": (tabular_models("fractions"), {}),
    "probs": (tabular_models("probs"), {}),
    "log_probs": (tabular_models("log_probs"), {}),
    "logits": (tabular_models("logits"), {}),
    "float32": (tabular_models("logits", "float32"), {}),
    "finite_state": (finite_state_models(), {}),
    "function": (function_models(), {"longest": 3}),
}


@pytest.mark.parametrize("kind", STRATEGIES)
def test_a_drawn_model_keeps_every_law(kind):
    models, options = STRATEGIES[kind]

    @settings(max_examples=10, database=None)
    @given(models)
    def holds(model):
        if getattr(model, "horizon", 1):
            results = check_model(model, examples=3, **options)
            assert len(results) >= 3
            assert all(result.holds for result in results), [str(r) for r in results if not r.holds]

    holds()


@settings(max_examples=20)
@given(vocabularies(2, 6))
def test_tokens_are_different(tokens):
    assert 2 <= len(tokens) == len(set(tokens)) <= 6


@pytest.mark.parametrize(
    ("models", "condition"),
    [
        (tabular_models(), lambda model: model.horizon == 0),
        (tabular_models(), lambda model: model.eos == model.vocabulary[0] and model.horizon > 1),
        (tabular_models(), lambda model: len(model.vocabulary) == 1),
        (tabular_models(), lambda model: model.horizon and isinstance(model.steps[0], RationalRows)),
        (finite_state_models(), lambda model: (model.next == NOWHERE).any()),
        (finite_state_models(), lambda model: model.eos is not None and len(model.states) > 1),
        (vocabularies(), lambda tokens: "" in tokens),
    ],
)
def test_edges_are_drawn(models, condition):
    assert condition(find(models, condition, settings=settings(max_examples=500, database=None)))
