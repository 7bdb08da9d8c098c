"""`verify --guarantee` and `--no-bounds` on the command line: what is shown, what is data, what is refused."""

import json
from pathlib import Path

import pytest

from factorcomp.cli import main

CHAR_LSTM = Path(__file__).resolve().parents[2] / "shared" / "data" / "char_lstm"
PREDICATES = """
def second(entry, segment):
    return entry == ("a",) and segment == ("b",)

def fails(entry, segment):
    raise ValueError("no idea")

number = 3
"""


@pytest.fixture
def predicates(tmp_path, monkeypatch):
    """A folder with a module of predicates, in which the command line runs."""
    (tmp_path / "skills_of_this_test.py").write_text(PREDICATES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def data(capsys, *words: str) -> dict:
    main(["verify", *words, "--json", "-"])
    return json.loads(capsys.readouterr().out)


def test_a_99_percent_guarantee_becomes_1_percent(capsys):
    assert main(["verify", "--example", "drift", "--guarantee", "up=b"]) == 0
    out = capsys.readouterr().out
    assert "99/100 alone, 1/100 in the composition" in out
    assert "drift: TV 49/50 of the" in out
    assert "with probability 1 after 'b', its worst entry" in out


def test_a_predicate_from_python(predicates, capsys):
    place = "python:skills_of_this_test:second"
    found = data(capsys, "--example", "drift", "--guarantee", f"up={place}")["guarantees"]["experts"]["up"]
    assert (found["succeeds"], found["succeeds_alone"]) == (0.01, 0.99)
    assert found["pattern"] == "second"


def test_a_pattern_may_contain_an_equals_sign(capsys):
    found = data(capsys, "--example", "drift", "--guarantee", "up=(?=b)b")["guarantees"]["experts"]["up"]
    assert found["pattern"] == "(?=b)b"
    assert found["succeeds"] == 0.01


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["up"], "--guarantee: got 'up', needed NAME=VALUE"),
        (["u=b"], "--guarantee: no expert is named 'u'"),
        (["up=(b"], "--guarantee up: got '(b', needed a regular expression: "),
        (["up=a", "up=b"], "--guarantee: got a guarantee of 'up' twice"),
        (
            ["up=python:skills_of_this_test:missing"],
            "--guarantee up: python:skills_of_this_test:missing: AttributeError",
        ),
        (["up=python:no_such_module_here:f"], "ModuleNotFoundError"),
        (["up=python:skills_of_this_test:number"], "is a int, needed a function of entry and segment"),
        (["up=python:skills_of_this_test:fails"], "the predicate raised ValueError: no idea"),
    ],
)
def test_what_is_no_guarantee_ends_with_status_2(words, message, predicates, capsys):
    arguments = [argument for word in words for argument in ("--guarantee", word)]
    assert main(["verify", "--example", "drift", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_not_with_every_length(capsys):
    assert main(["verify", "--example", "joint_up_to_length_five", "--every-length", "--guarantee", "up=b"]) == 2
    assert "--guarantee: got --every-length too" in capsys.readouterr().err


def test_every_problem_at_once(capsys):
    words = ["--guarantee", "u=b", "--guarantee", "up=(", "--threshold", "x"]
    assert main(["verify", "--example", "drift", *words]) == 2
    assert capsys.readouterr().err.count("error: ") == 3


def test_no_bounds(capsys):
    found = data(capsys, "--example", "overlap_amplified", "--no-bounds")
    assert found["robust"] is None
    assert data(capsys, "--example", "overlap_amplified")["robust"]["comparisons"]["switching"]["tv"] == pytest.approx(
        0.324
    )


@pytest.mark.skipif(not CHAR_LSTM.is_dir(), reason="needs the shared tables of character models")
def test_trained_models(capsys):
    """Real networks at a threshold: every number finite or said to be infinite, every bound no less than the truth."""
    files = [str(CHAR_LSTM / f"{name}.safetensors") for name in ("base", "legal_advice", "hacker_news")]
    words = [files[0], f"legal={files[1]}", f"news={files[2]}", "--threshold", "0.5", "--length", "4"]
    found = data(capsys, *words, "--guarantee", "legal=.*e.*")
    comparisons = found["robust"]["comparisons"]
    assert set(comparisons) == {"switching", "local_global"}
    for comparison in comparisons.values():
        for bound in comparison["bounds"]:
            assert float(bound["truth"]) <= float(bound["at_most"]) + 1e-9
    legal = found["guarantees"]["experts"]["legal"]
    assert legal["entered"] == pytest.approx(1)
    assert not legal["exact_segments"]
    assert legal["fails"] <= legal["fails_at_most"] + 1e-9
    assert found["robust"]["ending"]["composition"] == pytest.approx(
        found["robust"]["ending"]["background"]
        + sum(found["robust"]["ending"]["shifts"].values())
        - found["robust"]["ending"]["log_content"]
    )
