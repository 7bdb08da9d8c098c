"""What a person sees: the verdict, what was checked, the witness with every model's numbers; and nothing that a file
smuggles in."""

import io
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from rich.console import Console

from factorcomp.certificates.claims import (
    FeatureWitness,
    MarginalWitness,
    PairWitness,
    PositionWitness,
    PrefixWitness,
    SequenceWitness,
    Verdict,
)
from factorcomp.report import words
from factorcomp.report.terminal import show, text
from factorcomp.verdicts import Diagnosis, Finding, Report, Step
from tests.report.reports import WITNESSES, answering, ending, interleaving, undefined

WIDTHS = (60, 80, 100, 140)
HOSTILE = {
    "markup": "[bold red]x[/bold red]",
    "broken markup": "[/x]",
    "newline": "a\nREFUTED",
    "carriage return": "a\rb",
    "colour": "\x1b[31mred",
    "title": "\x1b]0;title\x07",
    "tab": "\t",
    "override": "\u202eabc",
    "isolate": "\u2066abc",
    "c1": "\x9b31m",
    "emoji code": ":smile:",
    "surrogate": "\ud800",
    "zero width": "a\u200bb",
    "line separator": "a\u2028b",
    "empty": "",
}


def words_of(shown: str) -> str:
    """The text without its line breaks and blanks, so that a test does not depend on where lines are broken."""
    return " ".join(shown.split())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_says_what_was_found_and_what_was_checked(width):
    shown = words_of(text(interleaving(), width))
    for needed in (
        "REFUTED: up and down are not jointly factorizable at length 3: after 'a' both are active.",
        "background base.json",
        "2 tokens: 'a' 'b'",
        "length 3 · every prefix that the composition can reach (7)",
        "enumeration · any difference is a deviation · null tokens: cancel",
        "masks up 0,2",
        "✓ HOLDS pointwise_joint",
        "✗ REFUTED interval_joint*",
        "? UNDECIDED unit_normalizer",
        "violated with probability 1/4",
        "largest |log Z| ≈ 0 ",
        "rounding is in the way",
        "3 rows of step 2 renormalised",
    ):
        assert needed in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_the_witness_shows_the_path_and_every_models_probabilities(width):
    lines = [line.split() for line in text(interleaving(), width).splitlines()]
    assert ["0", "start", "up", "deviates"] in lines
    assert any(line[:4] == ["1", "'a'", "down", "deviates,"] for line in lines)
    assert ["background", "active", "deviates", "composition"] in lines
    assert ["'a'", "1/2", "1/2", "1/4", "0.2503"] in lines
    assert ["'b'", "1/2", "1/2", "3/4", "0.7497"] in lines


@pytest.mark.parametrize("width", WIDTHS)
def test_the_experts_measures(width):
    shown = words_of(text(interleaving(), width))
    assert "deviating prefixes 2 1" in shown
    assert "expected active steps 3/2 0.5" in shown
    assert "largest oscillation, nats 1.099 inf" in shown


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("report", [interleaving(), ending(), undefined(), interleaving("[red]\n", "x" * 300)])
def test_no_line_is_wider_than_the_terminal(report, width):
    assert max(len(line) for line in text(report, width).splitlines()) <= width


@pytest.mark.parametrize("token", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_token_is_shown_and_does_nothing(token):
    """Nothing unprintable but line ends reaches the terminal."""
    for width in WIDTHS:
        shown = text(interleaving(token), width)
        assert all(character == "\n" or character.isprintable() for character in shown)
        assert ascii(token)[1:-1].replace("\\\\", "\\") in shown.replace("\n", "") or len(token) > 20
    assert "REFUTED" in shown


def test_a_hostile_token_does_nothing_in_colour_either():
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system="truecolor")
    escape = re.compile(r"\x1b.?[^m]*m?")
    harmless = set(escape.findall(show(interleaving("aaaa"), console)))
    assert harmless
    for token in HOSTILE.values():
        assert set(escape.findall(show(interleaving(token), console))) <= harmless


def test_names_notes_and_reasons_are_escaped_too():
    report = interleaving()
    hostile = "\x1b[2J\u202e[red]\n"
    claims = tuple(replace(result, why=hostile) for result in report.claims)
    report = replace(
        report,
        background=replace(report.background, name=hostile),
        notes=(hostile,),
        findings=replace(report.findings, claims=claims),
    )
    shown = text(report)
    assert "\\x1b[2J\\u202e[red]\\n" in shown
    assert all(character == "\n" or character.isprintable() for character in shown)


def test_right_to_left_tokens_are_isolated():
    """A Hebrew token may not reorder the numbers beside it."""
    shown = text(interleaving("\u05d0\u05d1"))
    assert "'\u2068\u05d0\u05d1\u2069'" in shown
    assert shown.count("\u2068") == shown.count("\u2069")


def test_where_only_ascii_can_be_written_ascii_is_written():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    shown = show(interleaving("é"), Console(file=stream, width=100))
    assert shown.isascii()
    assert "x REFUTED" in shown
    assert "'\\xe9'" in shown


def test_a_long_path_and_a_long_vocabulary_are_shortened():
    report = interleaving()
    vocabulary = tuple(f"token{n}" for n in range(1000))
    prefix = vocabulary[:100]
    row = tuple(Fraction(1, 1000) for _ in vocabulary)
    far = (*row[:777], Fraction(1, 2), *row[778:])
    witness = PrefixWitness(prefix, Fraction(1, 10**9), ("up", "down"))
    claim = replace(report["interval_joint"], witness=witness)
    step = Step(prefix, row, {"up": row, "down": far}, far)
    report = replace(
        report,
        vocabulary=vocabulary,
        findings=replace(report.findings, claims=(claim,)),
        steps={"interval_joint": (step,)},
    )
    shown = text(report, 80)
    assert len(shown.splitlines()) < 90
    assert "'token777'" in shown
    assert "988 more tokens, on which they differ less" in shown
    assert "steps left out" in shown
    assert "'token99'" in shown
    assert "probability 1e-09" in shown


def test_many_experts_fit():
    report = interleaving()
    assert report.measures is not None
    names = [f"expert{n}" for n in range(30)]
    half = (Fraction(1, 2), Fraction(1, 2))
    experts = dict.fromkeys(names, report.measures.experts["up"])
    witness = PrefixWitness(("a",), 0.25, tuple(names))
    claim = replace(report["interval_joint"], witness=witness)
    report = replace(
        report,
        experts=dict.fromkeys(names, report.background),
        findings=replace(report.findings, claims=(claim,), measures=replace(report.measures, experts=experts)),
        steps={"interval_joint": (Step(("a",), half, dict.fromkeys(names, half), half),)},
    )
    shown = text(report, 60)
    assert max(map(len, shown.splitlines())) <= 60
    assert all(shown.count(name) >= 2 for name in names)


PREFIX = PrefixWitness(("a",), 0.25, ("up", "down"))
HEADLINES = [
    (("interval_joint", Verdict.HOLDS), "HOLDS: up and down are jointly factorizable at length 3."),
    (("pointwise_joint", Verdict.REFUTED, PREFIX), "REFUTED: after 'a' up and down deviate at once."),
    (
        ("pointwise_joint", Verdict.HOLDS),
        "HOLDS: at most one of up and down deviates wherever the composition goes, at length 3.",
    ),
    (
        ("unit_normalizer", Verdict.HOLDS),
        "HOLDS: the composition of up and down has Z = 1 wherever the composition goes.",
    ),
    (
        ("exact_switching", Verdict.REFUTED, PREFIX),
        "REFUTED: after 'a' the composition of up and down is none of its components.",
    ),
    (
        ("unit_normalizer", Verdict.REFUTED, PrefixWitness((), 1.0)),
        "REFUTED: the composition of up and down does not have Z = 1 at the start.",
    ),
    (("local_equals_global", Verdict.REFUTED, PREFIX), "are two distributions: they part after 'a'."),
    (
        ("mask_agreement", Verdict.REFUTED, PrefixWitness(("a",), 0.25, ("up",))),
        "REFUTED: up deviates off its mask after 'a'.",
    ),
    (
        ("factorized_conditionals", Verdict.REFUTED, PairWitness((("a",), ("b",)), ("up", "background"), "I2")),
        "off its mask, up after 'a' is not the background after 'b'.",
    ),
    (
        ("factorized_conditionals", Verdict.REFUTED, PairWitness((("a",), ("b",)), ("background",) * 2, "B")),
        "the background reads another block: its rows after 'a' and after 'b' differ.",
    ),
    (
        ("projective", Verdict.REFUTED, MarginalWitness((0,), ("a",), Fraction(1, 4), Fraction(1, 2)), "up"),
        "REFUTED: on the mask of up the composition does not have up's marginal: 'a' has probability 1/4, not 1/2.",
    ),
    (
        ("feature_projective", Verdict.REFUTED, FeatureWitness((0,), ("x",), Fraction(1, 4), Fraction(1, 2)), "up"),
        "REFUTED: on the feature coordinates of up the composition does not have up's marginal: 'x' has probability "
        "1/4, not 1/2.",
    ),
    (
        ("feature_commutes", Verdict.REFUTED, SequenceWitness(("a", "b"), ("x", "y"), Fraction(1, 4), Fraction(1, 2))),
        "REFUTED: composing up and down in tokens and in the order of the features are two distributions: 'x y' has "
        "probability 1/4 and 1/2.",
    ),
    (
        ("mask_agreement", Verdict.REFUTED, PositionWitness(1, ("up", "down"), (("a",), ("b",)))),
        "there are no disjoint masks, and so no mask agreement: up and down both deviate at position 1.",
    ),
    (
        ("terminates", Verdict.BOUNDED, PrefixWitness(("a",), 0.25)),
        "BOUNDED: with probability 1/4 the composition has not ended within 3 tokens.",
    ),
    (
        ("well_defined", Verdict.REFUTED, PrefixWitness(("a",), 0.25)),
        "REFUTED: the composition of up and down is not well defined: after 'a' no token is left possible.",
    ),
    (
        ("well_defined", Verdict.REFUTED, PREFIX),
        "after 'a' up and down make possible what the background excludes.",
    ),
    (
        ("interval_joint", Verdict.UNDECIDED),
        "UNDECIDED: it is not decided whether up and down are jointly factorizable at length 3: so it is",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), HEADLINES)
def test_the_first_sentence_says_the_answer(arguments, sentence):
    first = words_of(text(answering(*arguments), 120).split("\n\n")[0])
    assert sentence in first
    assert first.startswith(f"{arguments[1]}: ")


def asking(report: Report, **options) -> Report:
    """The report with another question."""
    return replace(report, question=replace(report.question, **options))


def headline(report: Report) -> str:
    return words_of(text(report, 120).split("\n\n")[0])


def test_the_scope_all_is_every_prefix():
    holds = {claim: asking(answering(claim, Verdict.HOLDS), scope="all") for claim in COMPOSED}
    assert all("at every prefix" in headline(report) for report in holds.values())


def test_the_scope_reachable_is_not_every_prefix():
    holds = {claim: answering(claim, Verdict.HOLDS) for claim in COMPOSED}
    assert all("wherever the composition goes" in headline(report) for report in holds.values())
    assert not any(re.search("(any|every) prefix", headline(report)) for report in holds.values())


COMPOSED = ("pointwise_joint", "exact_switching", "unit_normalizer", "mask_agreement")
POSITION = PositionWitness(1, ("up", "down"), (("a",), ("b",)))


@pytest.mark.parametrize("claim", ["pointwise_joint", "interval_joint", "mask_agreement"])
@pytest.mark.parametrize(
    ("verdict", "witness"), [(Verdict.HOLDS, None), (Verdict.REFUTED, PREFIX), (Verdict.REFUTED, POSITION)]
)
def test_a_threshold_is_in_the_first_sentence(claim, verdict, witness):
    report = asking(answering(claim, verdict, witness), threshold=Fraction(2))
    assert "by more than 2 nats" in headline(report)
    assert "nats" not in headline(asking(report, threshold=Fraction(0)))


PAIR_I2 = PairWitness((("a",), ("b",)), ("up", "background"), "I2")
PAIR_C = PairWitness((("a",), ("a",)), ("up", "background"), "c")
RESIDUALS = [
    ("exact_switching", Verdict.HOLDS, None, 1e-17, "reachable", "largest TV 0"),
    ("exact_switching", Verdict.HOLDS, None, Fraction(1, 10**17), "reachable", "largest TV 1e-17"),
    ("mask_agreement", Verdict.HOLDS, None, 0.09, "reachable", "largest TV 0.09"),
    ("unit_normalizer", Verdict.UNDECIDED, None, 0.0, "reachable", "largest |log Z| ≈ 0"),
    ("unit_normalizer", Verdict.UNDECIDED, None, 2e-14, "reachable", "largest |log Z| ≈ 2e-14"),
    ("projective", Verdict.REFUTED, None, 0.0, "reachable", "TV below 1e-15"),
    ("factorized_conditionals", Verdict.REFUTED, PAIR_I2, 0.0, "reachable", "largest TV below 1e-15"),
    ("factorized_conditionals", Verdict.REFUTED, PAIR_C, 0.0, "reachable", "largest TV 0"),
    ("interval_joint", Verdict.REFUTED, PREFIX, 0.9, "reachable", "violated with probability 0.9"),
    ("interval_joint", Verdict.REFUTED, PREFIX, 0.0, "reachable", "violated with probability below 1e-15"),
    ("interval_joint", Verdict.REFUTED, PREFIX, 0.0, "all", "violated with probability 0"),
    ("interval_joint", Verdict.REFUTED, POSITION, None, "all", ""),
]


@pytest.mark.parametrize(("claim", "verdict", "witness", "value", "scope", "shown"), RESIDUALS)
def test_a_residual_says_what_it_is_and_is_0_only_where_it_is(claim, verdict, witness, value, scope, shown):
    report = asking(answering(claim, verdict, witness), scope=scope)
    assert words.residual(report, replace(report.claims[0], residual=value)) == shown


def oscillating(claim: str, size: float, threshold: int = 0) -> Report:
    report = asking(answering(claim, Verdict.REFUTED, PREFIX), threshold=Fraction(threshold))
    assert report.measures is not None
    experts = {name: replace(own, max_oscillation=size) for name, own in report.measures.experts.items()}
    return replace(report, findings=replace(report.findings, measures=replace(report.measures, experts=experts)))


@pytest.mark.parametrize(
    ("report", "advised"),
    [
        (oscillating("interval_joint", 1e-6), True),
        (oscillating("mask_agreement", 1e-6), True),
        (oscillating("interval_joint", 1e-3), False),
        (oscillating("interval_joint", 1e-6, threshold=1), False),
        (oscillating("local_equals_global", 1e-6), False),
        (undefined(), False),
    ],
)
def test_differences_as_small_as_rounding_call_for_a_threshold(report, advised):
    advice = "the models differ by rounding alone? try --threshold 1e-3 (factorcomp doctor says more)"
    assert (advice in text(report)) is advised


def test_the_first_sentence_of_an_undefined_composition():
    assert words_of(text(undefined(), 120)).startswith(
        "UNDECIDED: the composition of up and down is not well defined: after 'a' no token is left possible, so that "
        "nothing can be said about interval_joint."
    )


def test_several_required_claims():
    report = replace(interleaving(), required=("well_defined", "pointwise_joint"))
    assert words_of(text(report, 120)).startswith("HOLDS: both required claims hold: the composition of up and down is")


@pytest.mark.parametrize("kind", WITNESSES)
def test_every_kind_of_witness_is_shown(kind):
    result, _ = WITNESSES[kind]
    report = interleaving()
    half, steps = (Fraction(1, 2), Fraction(1, 2)), []
    for prefix in (("a",), ("b",)):
        steps.append(Step(prefix, half, {"up": (Fraction(1, 3), Fraction(2, 3)), "down": half}, half))
    findings = replace(report.findings, claims=(result,))
    report = replace(report, required=(result.name,), findings=findings, steps={result.name: tuple(steps)})
    shown = words_of(text(report, 90))
    assert f"Witness against {result.name}" in shown
    said = {
        "marginal": "position 0 'a' position 2 'b' composition 1/4 up 1/2",
        "feature": "feature 0 'x' feature 2 'y' composition 1/4 up 1/2",
        "sequence": "tokens 'a' 'b' 'a' features 'x' 'y' composed in tokens 1/4 composed in features 1/2",
    }
    if kind in said:
        assert said[kind] in shown
    else:
        assert "'a' 1/2 1/3" in shown or "'a' 1/3 1/2" in shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0"),
        (-0.0, "0"),
        (Fraction(1, 4), "1/4"),
        (0.25, "0.25"),
        (1.0, "1"),
        (0.999999999, "1-1e-09"),
        (1 + 1e-11, "1+1e-11"),
        (1 - 1.1e-16, "1"),
        (1 - Fraction(1, 10**16), "1-1e-16"),
        (1e-300, "1e-300"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (Fraction(1, 3**50), "1.4e-24"),
        (Fraction(10**400), "huge"),
    ],
)
def test_a_number_is_never_rounded_to_the_value_that_decides(value, shown):
    assert words.number(value) == shown


def test_a_diagnosis_says_what_to_do():
    diagnosis = Diagnosis(
        "base.json",
        ("up", "[red]\x1b"),
        (
            Finding("blocks", "EOS", "they differ", "nothing means the same", "agree on it"),
            Finding("fine", "vocabulary", "2 tokens"),
        ),
    )
    for width in WIDTHS:
        shown = words_of(text(diagnosis, width))
        assert "BLOCKED: 1 thing in the way of composing up and [red]\\x1b over base.json." in shown
        assert "✗ blocks EOS they differ means nothing means the same do agree on it" in shown
        assert "✓ fine vocabulary: 2 tokens" in shown
    assert str(diagnosis) == text(diagnosis)
