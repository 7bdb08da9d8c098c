"""The same tokens in another order are the same model."""

from itertools import product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from factorcomp.models.alignment import aligned
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel
from tests.models.tables import TABLES, rational_tables


def laws(model: TabularModel) -> dict[tuple[str, ...], dict[str, object]]:
    """prefix -> token -> its log-probability, by names and no indices."""
    return {
        prefix: dict(zip(model.vocabulary, rows.log_probs(index, index + 1)[0].tolist(), strict=True))
        for length, rows in enumerate(model.steps)
        for index, prefix in enumerate(product(model.vocabulary, repeat=length))
    }


@given(given=rational_tables(), random=st.randoms(use_true_random=False))
def test_a_table_in_another_order_gives_every_prefix_its_row(given, random):
    model = TabularModel.from_probabilities(*given)
    order = random.sample(model.vocabulary, len(model.vocabulary))
    other = model.aligned(order)
    assert other.vocabulary == tuple(order)
    assert laws(other) == laws(model)
    assert laws(other.aligned(model.vocabulary)) == laws(model)


@pytest.mark.parametrize("scale", TABLES)
def test_tables_of_floats_too(scale):
    model = TABLES[scale]
    other = model.aligned(model.vocabulary[::-1])
    assert laws(other).keys() == laws(model).keys()
    for prefix, row in laws(model).items():
        assert laws(other)[prefix] == pytest.approx(row, abs=1e-15)


def test_a_function_in_another_order_gives_every_prefix_its_row():
    def log_probs(prefixes):
        weights = 1.0 + np.arange(3) + np.asarray(prefixes).sum(1, keepdims=True)
        return np.log(weights / weights.sum(1, keepdims=True))

    model = FunctionModel(log_probs, ("a", "b", "c"), eos="c")
    other = model.aligned(("c", "a", "b"))
    assert other.vocabulary == ("c", "a", "b")
    assert {p: pytest.approx(r, abs=1e-14) for p, r in laws(model.tabulate(3)).items()} == laws(other.tabulate(3))


def table(*tokens: str, eos: str | None = None, name: str = "up.json") -> TabularModel:
    return TabularModel.from_probabilities([[f"1/{len(tokens)}"] * len(tokens)], tokens, eos, name)


def test_experts_are_put_into_the_order_of_the_background_with_a_note():
    background = table("a", "b", name="base.json")
    same, experts = aligned(background, {"up": table("b", "a"), "down": table("a", "b")})
    assert same is background
    assert [expert.vocabulary for expert in experts.values()] == [("a", "b")] * 2
    assert experts["up"].source.notes == ("up.json: tokens put into the order of base.json",)
    assert experts["down"].source.notes == ()


@pytest.mark.parametrize(
    ("expert", "message"),
    [
        (
            table("a", "y", "x"),
            'up.json: vocabulary: found the token "y", which base.json lacks; needed the same tokens',
        ),
        (table("b"), 'up.json: vocabulary: lacks the token "a" of base.json; needed the same tokens'),
        (table("a", "b", eos="b"), 'up.json: eos: found "b"; needed null, as in base.json'),
    ],
)
def test_other_tokens_and_another_eos_are_refused(expert, message):
    with pytest.raises(InputError) as caught:
        aligned(table("a", "b", name="base.json"), {"up": expert})
    assert caught.value.problems == (message,)


def test_every_problem_is_listed():
    with pytest.raises(InputError) as caught:
        aligned(table("a", "b", eos="a"), {"one": table("a", "z"), "two": table("a", "b", eos="b")})
    assert len(caught.value.problems) == 3
