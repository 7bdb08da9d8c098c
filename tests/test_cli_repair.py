"""`factorcomp repair`: the folder it makes, whole or not at all, and what it says."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

import factorcomp
from factorcomp.cli import main
from factorcomp.cli.shipped import example, examples
from factorcomp.formats import folders
from factorcomp.models.errors import InputError

MODEL = '{"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": null, "steps": %s}'
FAIR = '[["1/2", "1/2"], ["1/2", "1/2"]]'
FILES = {
    "base": f'[[["1/2", "1/2"]], {FAIR}]',
    "up": f'[[["1/4", "3/4"]], {FAIR}]',
    "clash": f'[[["1/8", "7/8"]], {FAIR}]',
    "down": '[[["1/2", "1/2"]], [["1/2", "1/2"], ["1/4", "3/4"]]]',
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with models, in which the command line runs."""
    for name, steps in FILES.items():
        (tmp_path / f"{name}.json").write_text(MODEL % steps)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def repair(*words: str) -> int:
    return main(["repair", "base.json", *words])


def test_the_folder(folder, capsys):
    """Experts in the kind of file they came in, exactly, with the numbers; the verdict holds as they are read again."""
    assert repair("up=up.json", "clash=clash.json", "--output", "out") == 0
    said = capsys.readouterr()
    assert said.out.startswith("REPAIRED: up and clash are jointly factorizable at length 2, with 1 row reset")
    assert "up at the start: probability 1, TV 0.25" in said.out
    assert "no positive weights" not in said.out
    assert "wrote out: up.json, clash.json, repair.json" in said.err
    assert sorted(os.listdir("out")) == ["clash.json", "repair.json", "up.json"]
    numbers = json.loads(Path("out/repair.json").read_text())
    assert numbers["cost"] == {"kind": "tv", "total": 0.25, "lower_bound": 0.25}
    assert numbers["experts"]["up"]["heaviest"] == [{"prefix": [], "probability": 1.0, "tv": 0.25, "cost": 0.25}]
    assert numbers["sha256"]["up"] == hashlib.sha256(Path("out/up.json").read_bytes()).hexdigest()
    assert numbers["models"]["experts"]["up"]["sha256"] == hashlib.sha256(Path("up.json").read_bytes()).hexdigest()
    assert json.loads(Path("out/up.json").read_text())["steps"][0] == [["1/2", "1/2"]]
    assert main(["verify", "base.json", "up=out/up.json", "clash=out/clash.json"]) == 0
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_without_an_output_nothing_is_written(folder, capsys):
    before = sorted(os.listdir())
    assert main(["repair", "--example", "interleaving_intervals"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("REPAIRED: up and down are jointly factorizable at length 3, with 1 row reset")
    assert "nothing was written" in said.err
    assert sorted(os.listdir()) == before


def test_every_example_is_repaired(capsys):
    """With its own options; those about every length, pointwise."""
    for name in examples():
        every = ["--require", "pointwise_joint"] if example(name).options.get("length") == "every" else []
        assert main(["repair", "--example", name, *every]) == 0, name
        assert capsys.readouterr().out.startswith(("REPAIRED: ", "NOTHING TO REPAIR: "))


def test_nothing_to_repair(folder, capsys):
    assert repair("up=up.json", "down=down.json", "--output", "out", "--require", "pointwise_joint") == 0
    assert capsys.readouterr().out.startswith("NOTHING TO REPAIR: at most one of up and down deviates")


def test_a_folder_that_is_there(folder, capsys):
    """An empty one is filled; another stays as it is, unless told, and never loses what is not ours."""
    words = ("up=up.json", "clash=clash.json", "--output", "out")
    os.mkdir("out")
    assert repair(*words) == 0
    assert repair(*words) == 2
    assert "out: is there and not empty; choose another, or replace it with --force" in capsys.readouterr().err
    Path("out/up.json").write_text("old")
    assert repair(*words, "--force") == 0
    assert Path("out/up.json").read_text() != "old"
    Path("out/notes.txt").write_text("mine")
    assert repair(*words, "--force") == 2
    assert "holds 'notes.txt' too" in capsys.readouterr().err
    assert Path("out/notes.txt").read_text() == "mine"


def test_safetensors_stay_safetensors(folder):
    base = factorcomp.TabularModel.from_log_probs([np.log([0.5, 0.5]).astype(np.float32)], ["a", "b"])
    up = factorcomp.TabularModel.from_log_probs([np.log([0.25, 0.75]).astype(np.float32)], ["a", "b"])
    factorcomp.save(base, "base.safetensors")
    factorcomp.save(up, "up.safetensors")
    words = ["repair", "base.safetensors", "up=up.safetensors", "again=up.safetensors", "--output", "out"]
    assert main(words) == 0
    assert sorted(os.listdir("out")) == ["again.safetensors", "repair.json", "up.safetensors"]
    assert main(["verify", "base.safetensors", "up=out/up.safetensors", "again=out/again.safetensors"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["up=up.json", "--force"], "--force: got no --output"),
        (["up=up.json", "--output", ""], "needed the name of a folder"),
        (["--example", "drift"], "give the example or the models, not both"),
        (["up=up.json", "--output", "up.json"], "--output up.json: is no folder"),
        (["up=up.json", "--output", "no/out"], "does not exist; make it first"),
        (["up=up.json", "--output", ".", "--force"], "the model base.json lies in this folder"),
        (["up=up.json", "--output", "out", "--require", "projective"], "--require: got 'projective'"),
        (["up=up.json", "--output", "out", "--cost", "tvs"], "--cost: got 'tvs' (did you mean 'tv'?)"),
        (["up=up.json", "--output", "out", "--every-length"], "a table ends at its horizon"),
        (
            ["repair=up.json", "--output", "out"],
            "expert 'repair': repair.json is the name of what is written beside it",
        ),
        (["a/b=up.json", "--output", "out"], "expert 'a/b': the name cannot be that of a file"),
        (["Up=up.json", "up=up.json", "--output", "out"], "the same name but for capital letters"),
        (["up=none.json", "--output", "out"], "none.json: there is no such file"),
        (["up=up.json", "--output", "out", "--length", "9"], "its horizon is 2"),
    ],
)
def test_bad_calls(folder, capsys, words, message):
    """Status 2, a reason, and nothing is made."""
    before = sorted(os.listdir())
    assert repair(*words) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert sorted(os.listdir()) == before


def test_a_disk_that_fills_leaves_nothing(folder, monkeypatch):
    """The second of two files cannot be written: the old folder is there as it was."""
    words = ("up=up.json", "clash=clash.json", "--output", "out")
    assert repair(*words) == 0
    before = {name: Path("out", name).read_bytes() for name in os.listdir("out")}
    save = folders.save

    def full(model, path):
        if path.name == "clash.json":
            raise OSError(28, "No space left on device")
        save(model, path)

    monkeypatch.setattr(folders, "save", full)
    assert repair(*words, "--force") == 2
    assert {name: Path("out", name).read_bytes() for name in os.listdir("out")} == before
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_a_swap_that_fails_is_undone(folder, monkeypatch):
    """The new folder cannot take the place of the old one: the old one is put back."""
    words = ("up=up.json", "clash=clash.json", "--output", "out")
    assert repair(*words) == 0
    replace = os.replace

    def stuck(source, target):
        if str(source).endswith(".new"):
            raise OSError(1, "Operation not permitted")
        replace(source, target)

    monkeypatch.setattr(folders.os, "replace", stuck)
    assert repair(*words, "--force") == 2
    assert sorted(os.listdir("out")) == ["clash.json", "repair.json", "up.json"]
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_no_name_of_an_output_folder():
    with pytest.raises(InputError, match="needed the name of a folder"):
        folders.check_folder("")
