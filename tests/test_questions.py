"""Bad options are a table: each is refused with what was given and needed; several at once are all told."""

from fractions import Fraction

import pytest

from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import ask

ROW = ["1/2", "1/2"]
BASE = TabularModel.from_probabilities([[ROW], [ROW] * 2], ["a", "b"], name="base")
SHORT = TabularModel.from_probabilities([[ROW]], ["a", "b"], name="short")
FUNCTION = FunctionModel(lambda prefixes: prefixes, ("a", "b"))
EXPERTS = {"up": BASE, "down": BASE}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": -1}, "the length is -1; it must be a whole number"),
        ({"length": True}, "the length is True"),
        ({"length": 3}, "base: its horizon is 2, shorter than the length 3"),
        ({"masks": {"left": [0]}}, "names 'left', which is no expert; the experts are up, down"),
        ({"masks": {"up": [2]}}, "the mask of up has position 2; positions are 0 to 1"),
        ({"masks": {"up": 0}}, r"the mask of up is 0; it must be a list of positions, such as \[0, 2\]"),
        ({"masks": {"up": "02"}}, "the mask of up is '02'; it must be a list of positions"),
        ({"masks": {"up": [-1]}}, "position -1"),
        ({"masks": {"up": [0.5]}}, r"position 0\.5"),
        ({"masks": {"up": [0], "down": [0, 1]}}, "the masks of up and down share position 0; they must be disjoint"),
        ({"masks": "all"}, "the masks are 'all'; they must map experts to positions, or be 'auto'"),
        ({"length": 0, "masks": {"up": [0]}}, "there is no position in length 0"),
        ({"threshold": -1}, "the threshold is -1; it must be at least 0"),
        ({"threshold": float("nan")}, "the threshold is 'nan'; it must be a finite decimal or fraction"),
        ({"threshold": "1/0"}, "the threshold is '1/0'"),
        ({"threshold": "1e999999999"}, "the threshold is '1e999999999'"),
        ({"threshold": "much"}, "the threshold is 'much'"),
        ({"weights": {"up": 0}}, "the weight of up is 0; it must be greater than 0"),
        ({"weights": {"up": 10**9}}, "the weight of up is 1e\\+09; it must be greater than 0, at most 1000"),
        ({"weights": {"up": float("inf")}}, "the weight of up is 'inf'"),
        ({"weights": {"left": 1}}, "a weight names 'left', which is no expert"),
        ({"scope": "some"}, "the scope is 'some'; it must be reachable or all"),
        ({"null_tokens": "keep"}, "the null-token convention is 'keep'; it must be strict or drop or cancel"),
        ({"require": ["joint"]}, "the required claim 'joint' does not exist"),
        ({"require": []}, "no claim is required"),
        ({"require": ["projective"]}, "is about masks, and none are given"),
        ({"require": ["projective:down"], "masks": {"up": [0]}}, "names 'down', which has no mask"),
        ({"require": ["mask_agreement:up"], "masks": {"up": [0]}}, "'mask_agreement:up' does not exist"),
        ({"require": ["terminates"]}, "'terminates' needs an EOS"),
    ],
)
def test_bad_option(options, message):
    with pytest.raises(InputError, match=message):
        ask(BASE, EXPERTS, **options)


def test_bad_experts():
    with pytest.raises(InputError, match="there is no expert"):
        ask(BASE, {})
    with pytest.raises(InputError, match="named 'background'"):
        ask(BASE, {"background": BASE})
    with pytest.raises(InputError, match=r"\(background 2, short 1\); give a length of at most 1 \(--length 1\)"):
        ask(BASE, {"short": SHORT})
    with pytest.raises(InputError, match=r"f: no table, and so no horizon of its own; give the length \(--length N\)$"):
        ask(BASE, {"f": FUNCTION})


def test_every_problem_is_told():
    with pytest.raises(InputError) as error:
        ask(BASE, EXPERTS, length=9, threshold=-1, weights={"up": -2}, masks={"left": [0]}, require=["joint"])
    assert len(error.value.problems) == 7


def test_numbers_are_exact():
    """A float is read as Python writes it: 0.1 is a tenth."""
    question = ask(BASE, EXPERTS, threshold=0.1, weights={"up": "2/3"}, masks={"up": slice(1, None), "down": [0, 0]})
    assert question.threshold == Fraction(1, 10)
    assert question.weights == {"up": Fraction(2, 3)}
    assert question.masks == {"up": (1,), "down": (0,)}
    assert ask(BASE, {"short": SHORT}, length=1).length == 1
