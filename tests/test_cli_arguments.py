"""The words of a command line: what they mean, and every way in which they can be wrong, each with its message."""

import os
import re
from fractions import Fraction

import pytest

from factorcomp.cli.arguments import Arguments
from factorcomp.models.errors import InputError


@pytest.fixture
def arguments() -> Arguments:
    """Arguments about the experts `up` and `down`."""
    arguments = Arguments()
    arguments.models("base.json", ["up=up.json", "down=down.json"])
    assert not arguments.problems
    return arguments


def test_models_are_named_in_order():
    arguments = Arguments()
    assert arguments.models("base.json", ["up=a.json", "down=python:m:f=g"]) == {"up": "a.json", "down": "python:m:f=g"}
    assert arguments.names == ("up", "down")


@pytest.mark.parametrize(
    ("background", "experts", "message"),
    [
        (None, [], "no models: give BACKGROUND and one NAME=EXPERT or more"),
        ("base.json", [], "no experts: give one NAME=EXPERT or more after BACKGROUND"),
        ("base.json", ["up.json"], "expert 'up.json': got no name, needed NAME=EXPERT, for instance up=up.json"),
        ("base.json", ["=up.json"], "got an empty name"),
        ("base.json", [" =up.json"], "got an empty name"),
        ("base.json", ["up="], "expert 'up': got no model after '='"),
        ("base.json", ["up=a.json", "up=b.json"], "expert 'up' is given twice \\('a.json' and 'b.json'\\)"),
        ("base.json", ["background=a.json"], "'background' is the word for the background itself"),
        ("base.json", ["u\x1bp=a.json"], "unprintable characters"),
        ("base.json", [" up=a.json"], "blanks around it"),
        ("up=up.json", ["down=down.json"], "BACKGROUND: got 'up=up.json', which names an expert"),
    ],
)
def test_models_that_are_wrong(background, experts, message):
    arguments = Arguments()
    arguments.models(background, experts)
    with pytest.raises(InputError, match=message):
        arguments.raise_problems()


def test_a_file_whose_name_has_an_equals_sign_is_a_background(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b.json").write_text("{}")
    arguments = Arguments()
    arguments.models("a=b.json", ["up=up.json"])
    assert not arguments.problems


def test_masks(arguments):
    assert arguments.masks(None) is None
    assert arguments.masks(["auto"]) == "auto"
    assert arguments.masks(["up=0,5,2", "down=1"]) == {"up": (0, 2, 5), "down": (1,)}
    assert arguments.masks(["up=0::3", "down=1:"]) == {"up": slice(0, None, 3), "down": slice(1, None, None)}
    assert not arguments.problems


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["up"], "--masks: got 'up', needed NAME=VALUE with NAME one of 'up', 'down'"),
        (["u=0"], "--masks: no expert is named 'u'.*there are 'up', 'down'"),
        (["upp=0"], "did you mean 'up'"),
        (["up=0", "up=1"], "got a mask of 'up' twice; give all its positions in one"),
        (["auto", "up=0"], "got 'auto' beside 'up=0'; give one or the other"),
        (["up="], "--masks up: got '', needed positions counted from 0"),
        (["up=-1"], "--masks up: got '-1', needed positions counted from 0"),
        (["up=0-3"], "or a slice, as in up=0::3"),
        (["up=1.5"], "needed positions"),
        (["up=0::0"], "needed positions"),
        (["up=2,0,2"], "--masks up: got position 2 twice"),
        (["up=" + "9" * 5000], "needed positions"),
    ],
)
def test_masks_that_are_wrong(arguments, words, message):
    arguments.masks(words)
    with pytest.raises(InputError, match=message):
        arguments.raise_problems()


@pytest.mark.parametrize(
    ("word", "value"),
    [("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), ("1e-6", Fraction(1, 10**6)), (".5", Fraction(1, 2)), ("2", 2)],
)
def test_numbers_are_exactly_what_is_written(arguments, word, value):
    assert arguments.weights([f"up={word}"]) == {"up": value}
    assert arguments.threshold(word) == value
    assert not arguments.problems


@pytest.mark.parametrize(
    "word",
    ["nan", "inf", "-inf", "", "x", "1/0", "0x10", "1_000", "1e999999999", "1e-999999999", "9" * 200, "1e309", "²"],
)
def test_numbers_that_are_none(arguments, word):
    arguments.threshold(word)
    arguments.weights([f"up={word}"])
    with pytest.raises(InputError) as caught:
        arguments.raise_problems()
    assert [re.match(r"--threshold: got|--weights up: got", line) is not None for line in caught.value.problems] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("up=0", "--weights up: got 0, needed a number above 0; leave an expert of weight 0 out"),
        ("up=-1/2", "--weights up: got -1/2, needed a number above 0"),
        ("left=1", "--weights: no expert is named 'left'"),
    ],
)
def test_weights_that_are_wrong(arguments, word, message):
    arguments.weights([word])
    with pytest.raises(InputError, match=message):
        arguments.raise_problems()


def test_a_negative_threshold_is_wrong(arguments):
    arguments.threshold("-0.1")
    with pytest.raises(InputError, match=r"--threshold: got -0\.1, needed a number of nats, 0 or more"):
        arguments.raise_problems()


@pytest.mark.parametrize("word", ["-1", "2.5", "1e3", "x", "", "9" * 5000, "1/2"])
def test_lengths_that_are_none(arguments, word):
    arguments.length(word)
    with pytest.raises(InputError, match=r"--length: got .*, needed a whole number of tokens, 0 or more"):
        arguments.raise_problems()


def test_lengths(arguments):
    assert [arguments.length(word) for word in (None, "0", "12")] == [None, 0, 12]


def test_required_claims(arguments):
    assert arguments.required(["projective:up", "projective", "terminates", "terminates"]) == (
        "projective:up",
        "projective",
        "terminates",
    )
    assert not arguments.problems


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (
            "interval_join",
            "--require: got 'interval_join' \\(did you mean 'interval_joint'\\?\\), needed one of well_defined",
        ),
        ("interval_joint:up", "--require: got 'interval_joint:up'"),
        ("projective:left", "--require projective:left: no expert is named 'left'; there are 'up', 'down'"),
    ],
)
def test_required_claims_that_are_wrong(arguments, word, message):
    arguments.required([word])
    with pytest.raises(InputError, match=message):
        arguments.raise_problems()


def test_a_choice(arguments):
    assert arguments.choice("--scope", "all", ("reachable", "all")) == "all"
    arguments.choice("--scope", "al", ("reachable", "all"))
    with pytest.raises(InputError, match="--scope: got 'al' \\(did you mean 'all'\\?\\), needed one of reachable, all"):
        arguments.raise_problems()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (
            {"--json": "nowhere/report.json"},
            "--json nowhere/report.json: the folder .*nowhere does not exist; make it first",
        ),
        ({"--json": "folder"}, "--json folder: is a folder, needed the name of a file"),
        ({"--json": "base.json"}, "--json base.json: would overwrite the model base.json"),
        ({"--json": "link.json"}, "--json link.json: would overwrite the model base.json"),
        (
            {"--json": "x.json", "--certificate": "./x.json"},
            "--certificate ./x.json: would overwrite what --json writes",
        ),
        ({"--json": ""}, "--json: got '', needed the name of a file"),
        ({"--json": "--exact"}, "--json: got '--exact', needed the name of a file"),
    ],
)
def test_outputs_that_cannot_be_written(arguments, outputs, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "base.json").write_text("{}")
    os.symlink("base.json", tmp_path / "link.json")
    arguments.outputs(outputs, ["base.json"])
    with pytest.raises(InputError, match=message):
        arguments.raise_problems()


def test_outputs_that_may_not_be_written(arguments, tmp_path, monkeypatch):
    """Whoever runs the tests may be allowed everything: the answer of the system is made up."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (tmp_path / "old.json").write_text("{}")
    arguments.outputs({"--json": str(tmp_path / "new.json"), "--certificate": str(tmp_path / "old.json")}, [])
    assert len(arguments.problems) == 2
    with pytest.raises(InputError, match=r"new.json: the folder .* may not be written"):
        arguments.raise_problems()
    with pytest.raises(InputError, match=r"old.json: may not be written"):
        arguments.raise_problems()


@pytest.mark.parametrize("option", ["--certificate", "--output"])
def test_a_device_is_never_replaced(option, arguments):
    arguments.outputs({option: os.devnull}, [])
    with pytest.raises(InputError, match=f"{option} {os.devnull}: is no regular file"):
        arguments.raise_problems()


def test_outputs_that_can(arguments, tmp_path):
    arguments.outputs({"--json": os.devnull, "--certificate": str(tmp_path / "c.json"), "--output": None}, [])
    arguments.outputs({"--json": "-"}, [])
    assert not arguments.problems
