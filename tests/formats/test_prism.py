"""What is written for PRISM is the chain of the model: as text, and as Storm reads it where it is installed."""

import math
import random
import re
from fractions import Fraction

import numpy as np
import pytest

from factorcomp.formats.prism import write_lab, write_prism, write_tra
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.rows import FloatRows
from tests.automata import build, random_automata

PARITY = build(
    {
        "vocabulary": ["a", "b", "$"],
        "eos": "$",
        "initial": "odd",
        "states": {
            "even": {"probabilities": {"a": "1/3", "b": "1/3", "$": "1/3"}, "next": {"a": "odd", "b": "odd"}},
            "odd": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "even", "b": "odd"}},
        },
    }
)


def test_program():
    """Tokens that lead to one state are added up; the ended state is absorbing and free."""
    overlap = np.array([True, True, False])
    assert write_prism(PARITY, "parity", {"overlap": overlap, "never": ~overlap & overlap}) == (
        '// "parity": 3 states, tokens ["a", "b", "$"], by factorcomp\n'
        "dtmc\n"
        "\n"
        "module model\n"
        "  s : [0..2] init 1;\n"
        "  [] s=0 -> 2/3:(s'=1) + 1/3:(s'=2);  // \"even\"\n"
        "  [] s=1 -> 1/2:(s'=0) + 1/2:(s'=1);  // \"odd\"\n"
        '  [] s=2 -> 1:(s\'=2);  // "ended"\n'
        "endmodule\n"
        "\n"
        'label "overlap" = (s>=0&s<=1);\n'
        'label "never" = false;\n'
        'label "ended" = s=2;\n'
        "\n"
        'rewards "steps"\n'
        "  s!=2 : 1;\n"
        "endrewards\n"
    )


def test_explicit_files():
    """One line by transition, one by state with a label."""
    assert write_tra(PARITY) == f"3 5\n0 1 {2 / 3!r}\n0 2 {1 / 3!r}\n1 0 0.5\n1 1 0.5\n2 2 1.0\n"
    assert write_lab(PARITY, {"here": np.array([True, True, False])}) == (
        '0="init" 1="deadlock" 2="ended" 3="here"\n0: 3\n1: 0 3\n2: 2\n'
    )


def test_names_cannot_leave_their_comment():
    """A state's or a file's name with a line break stays in its comment."""
    model = build(
        {
            "vocabulary": ["a"],
            "eos": None,
            "initial": "x\ny",
            "states": {"x\ny": {"probabilities": {"a": 1}, "next": {"a": "x\ny"}}},
        }
    )
    text = write_prism(model, "a\nb")
    assert text.splitlines()[0].startswith('// "a\\nb"')
    assert '  [] s=0 -> 1:(s\'=0);  // "x\\ny"' in text.splitlines()


def test_floats_are_written_as_they_are():
    """Decimals that read back as the same numbers; masses of one target are added up."""
    rows = FloatRows(np.log(np.array([[0.1, 0.2, 0.7], [1.0, 1e-300, 1e-9]])), "log_probs")
    model = FiniteStateModel(("a", "b", "c"), ("p", "q"), 0, rows, np.array([[0, 0, 1], [1, 1, 0]]))
    numbers = [float(number) for number in re.findall(r"(\S+):\(s'", write_prism(model, "floats"))]
    logs = rows.log_probs(0, 2)
    assert numbers == [math.exp(logs[0, 0]) + math.exp(logs[0, 1]), *np.exp(logs[[0, 1, 1], [2, 2, 0]])]


@pytest.mark.parametrize("label", ["ended", "init", "two words", '"', "1st", "é"])
def test_labels_are_identifiers(label):
    with pytest.raises(ValueError, match="label"):
        write_prism(PARITY, "parity", {label: np.zeros(3, dtype=bool)})


def test_labels_speak_of_each_state():
    with pytest.raises(ValueError, match=r"needed \(3,\)"):
        write_lab(PARITY, {"here": np.zeros(2, dtype=bool)})


def test_no_next_state_is_refused():
    """A chain cannot go nowhere."""
    rows = FloatRows(np.array([[0.5, 0.5]]), "probs")
    model = FiniteStateModel(("a", "b"), ("p",), 0, rows, np.array([[0, NOWHERE]]))
    with pytest.raises(ValueError, match="no next state"):
        write_tra(model)


def test_every_row_sums_to_one():
    """Exactly, for rational rows, whatever the model."""
    rng = random.Random(0)
    for _ in range(50):
        text = write_prism(random_automata(rng).model("background"), "random")
        for line in text.splitlines():
            if "->" in line:
                assert sum(Fraction(number) for number in re.findall(r"(\S+):\(s'", line)) == 1


def for_storm(transitions: str, labels: str) -> tuple[str, str]:
    """Explicit files with the headings of Storm's dialect."""
    heading, *rows = labels.splitlines()
    names = re.findall(r'"(\w+)"', heading)
    lines = [f"{row.split(':')[0]} {' '.join(names[int(place)] for place in row.split()[1:])}" for row in rows]
    transitions = "dtmc\n" + transitions.split("\n", 1)[1]
    return transitions, "\n".join(["#DECLARATION", " ".join(names), "#END", *lines]) + "\n"


def test_storm_reads_both(tmp_path):
    """The program and the explicit files are the same chain to Storm."""
    stormpy = pytest.importorskip("stormpy", reason="Storm reads what was written: pip install stormpy")
    rng = random.Random(1)
    for _ in range(20):
        model = random_automata(rng, ["ending", "alternating"]).model("background")
        (tmp_path / "m.prism").write_text(write_prism(model, "random"))
        transitions, labels = for_storm(write_tra(model), write_lab(model))
        (tmp_path / "m.tra").write_text(transitions)
        (tmp_path / "m.lab").write_text(labels)
        formula = stormpy.parse_properties('P=? [F<=5 "ended"]')
        program = stormpy.build_model[float](stormpy.parse_prism_program(str(tmp_path / "m.prism")), formula)
        explicit = stormpy.build_model_from_explicit(str(tmp_path / "m.tra"), str(tmp_path / "m.lab"))
        one, other = (stormpy.model_checking(chain, formula[0]) for chain in (program, explicit))
        assert float(one[0].lower) == pytest.approx(float(other[model.initial].lower))
