"""What a person sees of a report on finite-state models: every length, and lengths beyond enumeration."""

from functools import cache

import pytest

from factorcomp.certificates.claims import Positions
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.report import pieces
from factorcomp.report.terminal import text
from factorcomp.verdicts import Report
from factorcomp.verification import verify
from tests import small_automata

WIDTHS = (50, 80, 120)
LONG = {"a" * 30: "1/2", "[red]x[/red]": "1/2"}
SUBJECTS: dict[str, tuple[tuple[str, ...], dict]] = {
    "apart": (("base", "start", "second"), {"masks": "auto"}),
    "woven": (("base", "even", "odd"), {"masks": {"even": "0::2", "odd": "1::2"}}),
    "at once": (("base", "even", "late"), {}),
    "everywhere": (("base", "late", "even"), {"scope": "all", "threshold": "1/10"}),
    "open": (("narrow", "base"), {}),
    "dead": (("base", "only_a", "only_b"), {"masks": {"only_a": [0]}}),
    "trapped": (("ending", "trapped", "hurried"), {"require": "terminates"}),
    "ends": (("ending", "hurried"), {"require": "terminates", "masks": "auto"}),
    "no masks": (("base", "even", "late"), {"masks": "auto", "require": "mask_agreement"}),
    "wrong mask": (("base", "start", "second"), {"masks": {"start": [0, 1]}, "require": "projective"}),
    "off the mask": (("base", "start", "even"), {"masks": {"even": [0], "start": [1]}, "require": "mask_agreement"}),
    "normalizer": (("base", "late", "even"), {"require": ["unit_normalizer", "local_equals_global"]}),
    "factorized": (("base", "late"), {"masks": {"late": "1::1"}, "require": "factorized_conditionals"}),
}
LENGTHS = ("every", 1000)


@cache
def report_of(subject: str, length: int | str = "every") -> Report:
    (background, *experts), options = SUBJECTS[subject]
    models = {name: small_automata.model(name) for name in experts}
    return verify(small_automata.model(background), models, length=length, **options)


def words_of(shown: str) -> str:
    """The text without its line breaks and blanks."""
    return " ".join(shown.split())


def lines_of(report: Report, width: int = 100) -> list[list[str]]:
    return [line.split() for line in text(report, width).splitlines()]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_line_is_wider_than_the_terminal(subject, length, width):
    assert max(len(line) for line in text(report_of(subject, length), width).splitlines()) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_and_hostile_tokens_fit_too(width):
    vocabulary = list(LONG)
    stay = dict.fromkeys(vocabulary, "s")
    row = dict(zip(vocabulary, ("1/4", "3/4"), strict=True))
    base = FiniteStateModel.from_states({"s": {"probabilities": LONG, "next": stay}}, vocabulary, "s", name="b" * 200)
    bent = FiniteStateModel.from_states({"s": {"probabilities": row, "next": stay}}, vocabulary, "s", name="\x1b[31m")
    experts = {"e" * 100: bent, "[bold]": bent, **{f"expert{n}": bent for n in range(8)}}
    for length in LENGTHS:
        shown = text(verify(base, experts, length=length, masks={"[bold]": "0::3"}), width)
        assert max(map(len, shown.splitlines())) <= width
        assert all(character == "\n" or character.isprintable() for character in shown)


HEADLINES = [
    ("apart", "every", "HOLDS: start and second are jointly factorizable at every length."),
    ("apart", 1000, "HOLDS: start and second are jointly factorizable at length 1000."),
    (
        "woven",
        "every",
        "REFUTED: even and odd are not jointly factorizable at every length: after 'a' both are active.",
    ),
    ("woven", 1000, "REFUTED: even and odd are not jointly factorizable at length 1000: after 'a' both are active."),
    ("everywhere", "every", "jointly factorizable at every length, counting deviations by more than 1/10 nats: after"),
    (
        "open",
        "every",
        "UNDECIDED: the composition of base is not well defined: after 'b' the background has no next state, so that "
        "nothing can be said about interval_joint.",
    ),
    (
        "dead",
        "every",
        "UNDECIDED: the composition of only_a and only_b is not well defined: at the start no token is left possible",
    ),
    (
        "trapped",
        "every",
        "REFUTED: the composition of trapped and hurried need not end: after 'b' EOS cannot be reached.",
    ),
    (
        "trapped",
        1000,
        "BOUNDED: with probability 0.3333 the composition has not ended within 1,000 tokens.",
    ),
    ("ends", "every", "HOLDS: the composition of hurried ends with probability 1."),
    (
        "no masks",
        "every",
        "REFUTED: there are no disjoint masks, and so no mask agreement: even and late both deviate at position 2.",
    ),
    ("wrong mask", "every", "REFUTED: on the mask of start the composition does not have start's marginal: 'b a' has"),
    ("off the mask", "every", "REFUTED: start deviates off its mask at the start."),
    (
        "normalizer",
        "every",
        "REFUTED: the composition of late and even does not have Z = 1 after 'a a' (and 1 more required claim, below).",
    ),
    (
        "factorized",
        "every",
        "REFUTED: late does not have factorized conditionals for these masks: on its mask late reads",
    ),
]


@pytest.mark.parametrize(("subject", "length", "sentence"), HEADLINES)
def test_the_first_sentence_says_the_answer(subject, length, sentence):
    assert sentence in words_of(text(report_of(subject, length), 120).split("\n\n")[0])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("length", "where"), [("every", "every length"), (1000, "length 1000")])
def test_what_was_checked(length, where, width):
    shown = words_of(text(report_of("woven", length), width))
    assert f"checked {where} · every prefix that the composition can reach (2 product states)" in shown
    assert "method finite-state · any difference is a deviation · null tokens: cancel" in shown
    assert "at every length" in words_of(text(report_of("everywhere"), width))
    assert "every length · every prefix (4 product states)" in words_of(text(report_of("everywhere"), 120))


@pytest.mark.parametrize(
    ("subject", "length", "masks"),
    [
        ("woven", "every", "masks even 0::2 · odd 1::2 required"),
        ("apart", "every", "masks start 0 · second 1 required"),
        ("woven", 1000, "masks even 0,2,4,6,8,10,12,14,…,998 · odd 1,3,5,7,9,11,13,15,…,999 required"),
        ("ends", "every", "masks hurried 0::1 required"),
    ],
)
def test_masks_without_an_end(subject, length, masks):
    assert masks in words_of(text(report_of(subject, length), 120))


@pytest.mark.parametrize(
    ("mask", "shown"),
    [
        (Positions(), "none"),
        (Positions((), ((0, 3),)), "0::3"),
        (Positions((0, 5), ((7, 3), (8, 3))), "0,5,7::3,8::3"),
        (Positions(tuple(range(20)), ((30, 2),)), "0,1,2,3,4,5,6,7,…,30::2"),
    ],
)
def test_positions(mask, shown):
    assert pieces.positions(mask) == shown


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("length", LENGTHS)
def test_the_path_says_who_deviates_and_who_is_active(length, width):
    lines = lines_of(report_of("woven", length), width)
    assert ["0", "start", "even", "deviates"] in lines
    assert any(line[:7] == ["1", "'a'", "odd", "deviates,", "even", "is", "active"] for line in lines)


@pytest.mark.parametrize("width", WIDTHS[1:])
@pytest.mark.parametrize("length", LENGTHS)
def test_the_models_rows_stand_side_by_side(length, width):
    lines = lines_of(report_of("woven", length), width)
    assert ["background", "active", "deviates", "composition"] in lines
    assert ["'a'", "0.5", "0.5", "0.25", "0.25"] in lines


def test_a_path_that_all_go_together():
    """`late` deviates from the first `a` on, and `even` at every other position: at once after two tokens."""
    lines = lines_of(verify_pointwise())
    assert ["0", "start", "even", "deviates"] in lines
    assert ["1", "'a'", "late", "deviates,", "even", "is", "active", "between", "deviations"] in lines
    assert ["2", "'a'", "even", "and", "late", "deviate", "◂", "here"] in lines


def verify_pointwise() -> Report:
    models = {name: small_automata.model(name) for name in ("even", "late")}
    return verify(small_automata.model("base"), models, length="every", require="pointwise_joint")


@pytest.mark.parametrize("length", LENGTHS)
def test_counts_that_no_method_found_have_no_row(length):
    shown = text(report_of("woven", length), 100)
    assert "deviating prefixes" not in shown
    assert "active prefixes" not in shown
    assert "expected active steps" in shown


def test_counts_that_were_found_have_one():
    assert "deviating prefixes" in text(report_of("woven", 3), 100)


@pytest.mark.parametrize("width", WIDTHS[1:])
def test_numbers_of_every_length(width):
    shown = words_of(text(report_of("woven"), width))
    assert "probability to be active 1 1" in shown
    assert "expected active steps inf inf" in shown
    assert "most separate runs inf inf" in shown


def test_numbers_of_a_long_length():
    shown = words_of(text(report_of("woven", 1000), 100))
    assert "expected active steps 999 999" in shown
    assert "most separate runs 500 500" in shown


def test_what_never_ends_and_what_has_not_ended():
    every, long = (words_of(text(report_of("trapped", length), 100)) for length in LENGTHS)
    assert "never ends 0.3333" in every
    assert "not ended" not in every
    assert "not ended 0.3333" in long
    assert "never ends" not in long
    assert "expected length, tokens composition inf · background 3 · trapped inf · hurried 2" in every
    assert "never ends 0 " in words_of(text(report_of("ends"), 100))


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_not_known_is_bounded_from_both_sides(width):
    shown = words_of(text(report_of("at once", 1001), width))
    low, high = report_of("at once", 1001).measures.bounds["tv_to_switching"]
    assert 0 < low <= high
    assert f"TV to the switching model {low:.4g} to 1" in shown
    assert "TV of stepwise to sequence-level" in shown
    assert " to 1 log Z 0 to " in shown


def test_what_is_not_known_of_every_length_is_left_open():
    shown = words_of(text(report_of("at once"), 100))
    assert "TV to the switching model –" in shown
    assert report_of("at once").measures.bounds == {}


def test_the_witness_of_two_normalizers_shows_both_prefixes():
    shown = words_of(text(report_of("normalizer"), 120))
    assert "Witness against local_equals_global: Z is not the same after 'a a' and after 'b b'" in shown
    assert "next token composition composition after 'a a' after 'b b' 'a' 0.1 0.25 'b' 0.9 0.75" in shown


def test_a_gap_shows_the_path_and_no_rows():
    shown = text(report_of("open"), 100)
    assert ["1", "'b'", "◂", "here"] in lines_of(report_of("open"))
    assert "next token after 'b'" not in shown
    assert "the background has no next state: what it says there is undefined" in words_of(shown)
