"""How bounds and guarantees look: compact, honest about what says nothing, harmless whatever is in a file."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from factorcomp.inequalities import Bound, Comparison, Effect, Ending, Guarantee, Guarantees, JointBound, Robust
from factorcomp.report.terminal import text
from tests.report.reports import interleaving

BOUNDS = (
    Bound("distances", "expected TV per step, summed", "8.2 (2)", "tv", 0.25, 0.5),
    Bound("caps", "ratio caps, summed", "8.4", "tv", 0.25, 17.0),
    Bound("tanh", "expected tanh(o/4), summed", "8.1", "tv", 0.25, None, "the composition goes where it cannot"),
    Bound("oscillation", "expected o²/8, summed", "8.2 (1)", "kl", 0.1, math.inf),
    Bound("floor", "at least: TV per step", "7.2", "tv", 0.25, 0.125, below=True),
)
ROBUST = Robust(
    comparisons=(
        Comparison("switching", "the switching model", False, 0.25, 0.1, 0.2, BOUNDS),
        Comparison("local_global", "stepwise and sequence-level composition", True, 0.0, 0.0, 0.0),
    ),
    switching_defect=Effect(0.25, ("a",), 0.3),
    leave_one_out={"up": Effect(0.5, (), 0.5), "down": Effect(0.0, None, 0.0)},
    ending=Ending(("a",), -3.5, -4.5, -4.5, {"up": 0.0, "down": 0.0}, -1.0),
)
UP = Guarantee(
    expert="up",
    pattern="b.*",
    entries_reached=2,
    entered=Fraction(1),
    own_entered=Fraction(1),
    succeeds=Fraction(1, 100),
    own_succeeds=Fraction(99, 100),
    fails=Fraction(99, 100),
    own_fails=Fraction(1, 100),
    failure=Fraction(1),
    worst=("b",),
    drift=Fraction(49, 50),
    segment_drift=Fraction(49, 50),
    ratio=math.inf,
    exact_segments=False,
    segment_tv=Fraction(1, 8),
)
NONE_BY_S = JointBound("switching", "1 - sum δ S(entered) - TV(P̂, S)", "5.1 (3)", None, "S does not follow up")


def shown(robust=None, guarantees=None, width: int = 100) -> str:
    return text(replace(interleaving(), robust=robust, guarantees=guarantees), width)


def test_only_what_says_something_is_shown():
    out = shown(ROBUST, width=200)
    part = out[out.index("\nBounds") : out.index("\nNotes")]
    assert "≤ expected TV per step, summed (8.2 (2))" in part
    assert "≥ at least: TV per step (7.2)" in part
    assert "ratio caps" not in part  # 17 bounds no total variation
    assert "o²/8" not in part  # nor does infinity
    assert "not bounded further: the composition goes where it cannot" in part
    assert "TV: stepwise and sequence-level composition" in part
    assert "-3.5 = - 4.5 background + 0 up + 0 down + 1 content; the nearest component's are -4.5" in part
    assert "without down  0\n" in part


def test_all_is_zero_in_a_line():
    same = Comparison("switching", "the switching model", True, 0.0, 0.0, 0.0)
    assert "all 0: the composition is the switching model exactly" in shown(Robust((same,)))


def test_a_guarantee():
    found = Guarantees((UP,), Fraction(1, 100), (JointBound("union", "1 - …", "5.1 (3)", Fraction(-1)), NONE_BY_S))
    out = shown(guarantees=found)
    assert "99/100 alone, 1/100 in the composition" in out
    assert "99/100 ≤ 1: with probability 1 after 'b', its worst entry" in out
    assert "not bounded: 1/100 alone, and an entry becomes inf times as likely" in out
    assert "off those of up by a TV of 1/8" in out
    assert "1/100 ≥ 0: no bound says more" in out
    assert "not bounded S does not follow up" in " ".join(out.split())


def test_the_data_hold_all_of_it():
    found = Guarantees((UP,), Fraction(1, 100), (NONE_BY_S,))
    data = replace(interleaving(), robust=ROBUST, guarantees=found).to_json()
    bounds = data["robust"]["comparisons"]["switching"]["bounds"]
    assert [bound["bound"] for bound in bounds] == ["distances", "caps", "tanh", "oscillation", "floor"]
    assert bounds[2]["at_most"] is None
    assert bounds[3]["at_most"] == "inf"
    assert bounds[4]["at_least"] == 0.125
    assert data["guarantees"]["experts"]["up"]["largest_ratio"] == "inf"
    assert data["guarantees"]["experts"]["up"]["fails_at_most_on_average"] == "inf"
    assert data["exact"]["guarantees"]["experts"]["up"]["drift"] == "49/50"
    assert data["guarantees"]["bounds"]["switching"]["why"] == "S does not follow up"


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_too_long(width):
    found = Guarantees((UP,), Fraction(1, 100), (NONE_BY_S,))
    lines = shown(ROBUST, found, width).split("\n")
    start = lines.index("Bounds")
    assert all(len(line) <= width for line in lines[start:])


def test_hostile_words_do_nothing():
    nasty = replace(UP, expert="u\x1b[31mp", pattern="[red]\x1b[2J", worst=("\u202eb",))
    out = shown(ROBUST, Guarantees((nasty,), Fraction(1, 100), ()))
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[red]" in out
