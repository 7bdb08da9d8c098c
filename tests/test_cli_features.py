"""The command line with a feature map: verified, certified, checked; and every wrong word said."""

import json

import pytest

from factorcomp.cli import main
from factorcomp.cli.shipped import example
from tests.test_verdicts import check_contract

XOR = example("features_of_the_sampler")
MODELS = [XOR.background, *(f"{name}={XOR.expert(name)}" for name in XOR.experts)]
MAP = str(XOR.folder / "features.json")


@pytest.mark.parametrize("exact", [(), ("--exact",)])
@pytest.mark.parametrize(
    ("name", "claim", "status"),
    [
        ("features_of_the_sampler", "feature_projective", 1),
        ("features_of_the_sampler", "feature_commutes", 1),
        ("features_independent_though_two_deviate", "feature_projective", 0),
        ("features_by_increments", "feature_projective:second", 0),
        ("features_by_increments", "projective", 1),
    ],
)
def test_the_exit_status_says_what_theory_says(name, claim, status, exact, tmp_path, capsys):
    path = tmp_path / "report.json"
    assert main(["verify", "--example", name, "--require", claim, "--json", str(path), *exact]) == status
    data = json.loads(path.read_text())
    check_contract(data)
    assert data["features"]["name"] == f"{name}/features.json"
    assert "Features" in capsys.readouterr().out


def test_what_is_certified_is_accepted(tmp_path, capsys):
    path = str(tmp_path / "proof.json")
    assert main(["verify", *MODELS, "--features", MAP, "--require", "feature_commutes", "--certificate", path]) == 1
    assert main(["check", path, *MODELS, "--features", MAP]) == 0
    assert "certifies the verdict REFUTED" in capsys.readouterr().out
    assert main(["check", path, *MODELS]) == 2
    assert "--features FILE" in capsys.readouterr().err
    other = tmp_path / "other.json"
    other.write_text((XOR.folder / "features.json").read_text() + " ")
    assert main(["check", path, *MODELS, "--features", str(other)]) == 1
    assert main(["check", path, *MODELS, "--features", XOR.background]) == 2


def test_masks_given_take_the_place_of_the_map_s(tmp_path):
    path = tmp_path / "report.json"
    given = ["--feature-masks", "one=1", "--require", "feature_projective:one", "--json", str(path)]
    assert main(["verify", *MODELS, "--features", MAP, *given]) == 1
    data = json.loads(path.read_text())
    assert data["features"]["masks"] == {"one": [1]}
    assert [claim["mask"] for claim in data["claims"] if claim["claim"] == "feature_projective"] == ["one"]
    assert list(data["features"]["conditions"]) == [
        "bijective",
        "causal",
        "factorized_conditionals",
        "informs_about_one",
        "independent_given_prefix",
    ]
    assert data["features"]["gaps"] == {"one": {"local": 0.2, "global": 0.25}}


WRONG = [
    (["--features", "none.json"], "none.json: there is no such file"),
    (["--features", "none.txt"], "needed a file that ends in .json"),
    (["--features", XOR.background], 'format: found "factorcomp-model/1"; needed "factorcomp-features/1"'),
    (["--features", MAP, "--feature-masks", "left=0"], "--feature-masks: no expert is named 'left'"),
    (["--features", MAP, "--feature-masks", "one=x"], "--feature-masks one: got 'x', needed positions"),
    (["--features", MAP, "--feature-masks", "one=0", "--feature-masks", "one=1"], "a mask of 'one' twice"),
    (["--features", MAP, "--feature-masks", "one=5"], "the feature mask of one has coordinate 5"),
    (["--feature-masks", "one=0"], "feature masks are given, and no feature map"),
    (["--require", "feature_projective"], "is about features, and no map is given (--features FILE)"),
    (["--require", "feature_projectiv"], "did you mean 'feature_projective'?"),
    (["--features", MAP, "--require", "feature_commutes:one"], "(or projective:NAME, feature_projective:NAME)"),
    (["--features", MAP, "--length", "1"], "its sequences have 2 tokens; needed the length 1"),
    (["--features", MAP, "--json", MAP], "would overwrite the model"),
    (["--features", "python:os:getcwd", "--certificate", "x.json"], "is not a file, so that nobody could check it"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_wrong_words(options, message, capsys):
    assert main(["verify", *MODELS, *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
