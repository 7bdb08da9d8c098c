"""Bad options are a table: each is refused with what was given and needed; several at once are all told."""

import re
from fractions import Fraction

import pytest

from factorcomp.certificates.claims import Positions, Question
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import ask
from tests import small_automata

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
        ({"masks": {"up": "x"}}, "the mask of up is 'x'; it must be a list of positions"),
        ({"masks": {"up": slice(0, None, 0)}}, r"the mask of up is slice\(0, None, 0\); a slice goes on by 1 or more"),
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


LOOP = small_automata.model("base")
LOOPS = dict.fromkeys(("up", "down", "left"), LOOP)
ENDLESS = r"finite-state models \(--window W makes one of a function that looks at the last W tokens\)"


@pytest.mark.parametrize(
    ("background", "experts", "messages"),
    [
        (BASE, {"up": LOOP}, [f"^base: a table ends at its horizon; every length needs {ENDLESS}$"]),
        (
            FUNCTION,
            {"up": LOOP},
            [f"^in memory: a function may look far back; every length needs {ENDLESS}$"],
        ),
        (LOOP, {"up": LOOP, "short": SHORT}, ["^short: a table ends at its horizon"]),
        (BASE, {"up": SHORT}, ["^base: a table ends", "^short: a table ends"]),
        (BASE, {"up": LOOP, "f": FUNCTION}, ["^base: a table ends", "a function may look far back"]),
    ],
)
def test_every_length_is_refused_with_each_model_that_has_an_end(background, experts, messages):
    with pytest.raises(InputError) as error:
        ask(background, experts, length="every")
    assert len(error.value.problems) == len(messages)
    for problem, message in zip(error.value.problems, messages, strict=True):
        assert re.search(message, problem)


def test_every_length_of_finite_state_models():
    question = ask(LOOP, LOOPS, length="every", masks="auto")
    assert (question.length, question.masks) == ("every", "auto")
    with pytest.raises(ValueError, match="every length has no horizon"):
        _ = question.horizon


def test_finite_state_models_have_no_horizon_of_their_own():
    with pytest.raises(InputError) as error:
        ask(LOOP, {"up": LOOP})
    assert error.value.problems == (
        "background, up: no table, and so no horizon of its own; give the length (--length N), or ask about every "
        "length (--every-length)",
    )
    with pytest.raises(
        InputError, match=r"^up: no table, and so no horizon of its own; give the length \(--length N\)$"
    ):
        ask(BASE, {"up": LOOP})
    assert ask(BASE, {"up": LOOP}, length=2).length == 2


@pytest.mark.parametrize("length", ["always", "Every", 2.0, None])
def test_every_is_the_only_word_for_a_length(length):
    with pytest.raises(InputError, match=r"the length is|give the length"):
        ask(LOOP, {"up": LOOP}, length=length)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ([], ""),
        ([5, 0, 5], "0,5"),
        (range(3), "0,1,2"),
        (slice(None), "0::1"),
        (slice(2, None), "2::1"),
        (slice(1, None, 3), "1::3"),
        (slice(1, 8, 3), "1,4,7"),
        (slice(4), "0,1,2,3"),
        (slice(4, 2), ""),
        ("5,0", "0,5"),
        ("1::3", "1::3"),
        ("1:8:3", "1,4,7"),
        (Positions((0, 5), ((7, 3),)), "0,5,7::3"),
    ],
)
def test_a_mask_without_an_end(given, written):
    """A slice without a stop goes on for ever; with one it is a list."""
    masks = ask(LOOP, LOOPS, length="every", masks={"up": given}).masks
    assert isinstance(masks, dict)
    assert isinstance(masks["up"], Positions)
    assert str(masks["up"]) == written


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ({"up": slice(-1, None)}, r"the mask of up is slice\(-1, None, None\); for every length a slice counts from 0"),
        ({"up": slice(0, -1)}, "for every length a slice counts from 0, forward"),
        ({"up": slice(0, None, -1)}, "for every length a slice counts from 0, forward"),
        ({"up": slice(0, None, 0)}, "for every length a slice counts from 0, forward"),
        ({"up": slice(0.5, None)}, "for every length a slice counts from 0, forward"),
        ({"up": slice(0, 10**12)}, "the mask of up has 1000000000000 positions; at most 100000 can be listed"),
        ({"up": [-1]}, "the mask of up is -1; positions are 0 or more, and steps 1 or more"),
        ({"up": Positions((), ((-1, 2),))}, "the mask of up is -1::2; positions are 0 or more"),
        ({"up": Positions((), ((1, 0),))}, "the mask of up is 1::0; positions are 0 or more, and steps 1 or more"),
        ({"up": [0.5]}, r"the mask of up has position 0\.5; positions are whole numbers from 0"),
        ({"up": [True]}, "the mask of up has position True; positions are whole numbers from 0"),
        ({"up": "0::x"}, "the mask of up is '0::x'; it must be a list of positions"),
        ({"up": "0::0"}, "for every length a slice counts from 0, forward"),
        ({"up": 7}, r"the mask of up is 7; it must be a list of positions, such as \[0, 2\]"),
        ({"other": slice(None)}, "a mask names 'other', which is no expert"),
        ({"up": slice(0, None, 2), "down": [4, 1]}, "the masks of up and down share position 4; they must be disjoint"),
        ({"up": slice(0, None, 2), "down": slice(3, None, 3)}, "the masks of up and down share position 6;"),
        ({"up": slice(5, None, 7), "down": slice(1, None, 5)}, "the masks of up and down share position 26;"),
        ({"up": [1, 5], "down": [5], "left": slice(1, None, 9)}, "the masks of up and left share position 1;"),
        (
            {"up": slice(0, None, 317), "down": slice(1, None, 331)},
            "repeat only after 104929 positions; at most 100000 can be",
        ),
        ({"up": [10**9]}, "the masks repeat only after 1000000002 positions; at most 100000 can be followed"),
        ({"up": [10**9], "down": [0], "left": [0]}, "the masks repeat only after 1000000002 positions"),
    ],
)
def test_masks_that_cannot_be_without_an_end(masks, message):
    with pytest.raises(InputError, match=message) as error:
        ask(LOOP, LOOPS, length="every", masks=masks)
    assert len(error.value.problems) == 1


def test_progressions_that_never_meet_are_disjoint():
    """`1 + 4i` meets `3 + 6j` first at 9; `4i` is even and never does."""
    with pytest.raises(InputError, match="share position 9;"):
        ask(LOOP, LOOPS, length="every", masks={"up": slice(1, None, 4), "down": slice(3, None, 6)})
    masks = {"up": slice(0, None, 4), "down": slice(3, None, 6), "left": [1]}
    assert ask(LOOP, LOOPS, length="every", masks=masks).masks is not None


def test_a_long_list_is_taken_in_no_time():
    """Linear in the number of positions: fifty thousand of them, once for each expert."""
    masks = {"up": slice(0, 50_000), "down": slice(50_000, 99_000)}
    found = ask(LOOP, LOOPS, length="every", masks=masks).masks
    assert isinstance(found, dict)
    assert [len(mask.finite) for mask in found.values() if isinstance(mask, Positions)] == [50_000, 49_000]


def test_a_mask_without_an_end_has_a_beginning_within_a_length():
    mask = Positions((0, 5), ((7, 3),))
    assert ask(LOOP, LOOPS, length=12, masks={"up": mask, "down": slice(1, None, 5)}).masks == {
        "up": (0, 5, 7, 10),
        "down": (1, 6, 11),
    }
    assert ask(LOOP, LOOPS, length=0, masks={"up": mask}).masks == {"up": ()}
    assert Question(12, masks={"up": mask, "down": (1, 6)}).given_masks == {"up": (0, 5, 7, 10), "down": (1, 6)}


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (Positions((-1,)), "the mask of up is -1; positions are 0 or more"),
        (Positions((), ((1, 0),)), "the mask of up is 1::0; positions are 0 or more, and steps 1 or more"),
        (Positions((), ((-3, 2),)), "the mask of up is -3::2; positions are 0 or more"),
    ],
)
def test_positions_that_are_none_within_a_length(mask, message):
    with pytest.raises(InputError, match=message):
        ask(LOOP, LOOPS, length=3, masks={"up": mask})


def test_positions_overlap_within_a_length_too():
    """Only where the length reaches: 6 is the first position that both progressions have."""
    masks = {"up": Positions((), ((0, 2),)), "down": Positions((), ((3, 3),))}
    assert ask(LOOP, LOOPS, length=6, masks=masks).masks == {"up": (0, 2, 4), "down": (3,)}
    with pytest.raises(InputError, match="share position 6; they must be disjoint"):
        ask(LOOP, LOOPS, length=7, masks=masks)
