"""Models by name: which names there are, and files written whole or not at all."""

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from factorcomp.formats import files, load, save
from factorcomp.models.errors import InputError
from factorcomp.models.function import FunctionModel
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel

MODEL = TabularModel.from_probabilities([["1/4", "3/4"]], ["a", "b"])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone.json", "gone.json: there is no such file"),
        ("gone.safetensors", "there is no such file"),
        ("gone.arpa", "there is no such file"),
        (
            "model.txt",
            r"does not read this kind of file\. It reads files that end in \.json, \.safetensors and \.arpa, and",
        ),
        ("model", "does not read this kind of file"),
        ("", "a directory; this version does not read Hugging Face models"),
        ("folder.json", "a directory; this version does not read Hugging Face models"),
        ("pipe.json", "not a regular file"),
        ("loop.json", "cannot be read|no such file"),
        ("a" * 5000 + ".json", "cannot be read"),
        ("nul\0.json", r"'nul\\x00\.json': the name contains a zero byte"),
    ],
)
def test_names_that_cannot_be_loaded(name, message):
    os.mkdir("folder.json")
    os.mkfifo("pipe.json")
    os.symlink("loop.json", "loop.json")
    with pytest.raises(InputError, match=message):
        load(name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused():
    Path("secret.json").touch(mode=0)
    with pytest.raises(InputError, match=r"secret\.json: cannot be read: Permission denied"):
        load("secret.json")


@pytest.mark.parametrize("ending", [".json", ".safetensors"])
@pytest.mark.parametrize("kind", [str, Path])
def test_the_source_holds_name_and_digest(ending, kind):
    name = "./base" + ending
    save(MODEL, kind(name))
    source = load(kind(name)).source
    assert source.name == str(kind(name))
    assert source.sha256 == hashlib.sha256(Path(name).read_bytes()).hexdigest()


@pytest.mark.parametrize("ending", [".txt", ".arpa", "", ".JSON"])
def test_another_ending_is_refused_before_anything_is_written(ending):
    with pytest.raises(InputError, match=r"does not write .* It writes \.json, \.safetensors, .* and \.lab"):
        save(MODEL, "out" + ending)
    assert os.listdir() == []


def test_only_tables_are_written():
    model = FunctionModel(lambda prefixes: np.zeros((len(prefixes), 1)), ("a",))
    with pytest.raises(InputError, match=r"found a function; this ending needs a table; give the length"):
        save(model, "out.json")


def test_a_folder_that_is_not_there_is_refused():
    with pytest.raises(InputError, match=r"gone/out\.json: cannot be written: No such file or directory"):
        save(MODEL, "gone/out.json")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(monkeypatch):
    save(MODEL, "out.json")
    before = Path("out.json").read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        save(MODEL, "out.json")
    assert os.listdir() == ["out.json"]
    assert Path("out.json").read_bytes() == before


def test_an_interrupted_write_leaves_nothing(monkeypatch):
    def interrupted(model, name):
        yield b"{"
        raise KeyboardInterrupt

    model = TabularModel.from_log_probs([np.log([0.5, 0.5])], ["a", "b"])
    monkeypatch.setitem(files.FORMATS, ".json", files.FORMATS[".json"]._replace(write=interrupted))
    with pytest.raises(KeyboardInterrupt):
        save(model, "out.json")
    assert os.listdir() == []


def test_a_link_stays_a_link_and_its_target_is_written():
    Path("target.json").write_text("old")
    os.symlink("target.json", "link.json")
    save(MODEL, "link.json")
    assert Path("link.json").is_symlink()
    assert load("target.json").vocabulary == ("a", "b")


def test_a_new_file_has_the_usual_permissions():
    mask = os.umask(0o027)
    try:
        save(MODEL, "out.json")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(os.stat("out.json").st_mode) == 0o640


def test_the_json_that_is_written_is_the_documented_format():
    save(TabularModel.from_probabilities([["1/4", "3/4"], [[1, 0], ["1/2", "1/2"]]], ["a", "é"]), "out.json")
    assert Path("out.json").read_text(encoding="utf-8") == (
        '{"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "é"], "eos": null,\n'
        ' "steps": [\n[["1/4", "3/4"]],\n[[1, 0],\n ["1/2", "1/2"]]]}\n'
    )


@pytest.mark.parametrize("ending", [".json", ".safetensors"])
@pytest.mark.parametrize(
    ("rows", "eos", "message"),
    [
        (FloatRows(np.full((1, 2), -np.inf), "logits"), None, r"steps\[0\]\[0\]: found -inf for every token"),
        (FloatRows(np.array([[0.5, np.nan]]), "probs"), None, r"steps\[0\]\[0\]\[\d\]: found NaN"),
        (FloatRows(np.full((2, 2), 0.5), "probs"), "b", r"steps\[1\]\[1\]: found another token possible after EOS"),
    ],
)
def test_rows_that_could_not_be_read_back_are_refused(ending, rows, eos, message):
    steps = (rows,) if len(rows.values) == 1 else (FloatRows(rows.values[:1], "probs"), rows)
    with pytest.raises(InputError, match=message):
        save(TabularModel(("a", "b"), steps, eos), "out" + ending)
    assert os.listdir() == []


@pytest.mark.parametrize("ending", [".json", ".safetensors"])
def test_proportions_are_written_as_probabilities(ending):
    """In memory rows of probabilities define a distribution by their proportions; a file's must sum to 1."""
    save(TabularModel(("a", "b"), (FloatRows(np.array([[1.0, 3.0]]), "probs"),)), "out" + ending)
    np.testing.assert_allclose(load("out" + ending).steps[0].log_probs(0, 1), np.log([[0.25, 0.75]]))
