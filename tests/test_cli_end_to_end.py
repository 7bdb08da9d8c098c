"""The command line on real models: what is verified, certified, checked and composed, with nothing replaced."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from factorcomp.cli import main
from factorcomp.cli.shipped import example
from tests.test_verdicts import check_contract

MODEL = '{"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": %s, "eos": %s, "steps": %s}'
ONE = '[[["1/2", "1/2"]]]'
TWO = '[[["1/2", "1/2"]], [["1/2", "1/2"], ["1/2", "1/2"]]]'
ENDING = '[[["1/2", "1/2"]], [["1/2", "1/2"], ["0", "1"]]]'
VERDICTS = [
    ("three_experts_disjoint", "interval_joint", 0),
    ("interleaving_intervals", "interval_joint", 1),
    ("interleaving_intervals", "pointwise_joint", 0),
    ("dead_prefix", "interval_joint", 3),
    ("dead_prefix", "well_defined", 1),
    ("agreement_off_the_mask_only", "projective:up", 0),
    ("agreement_off_the_mask_only", "projective", 1),
]


@pytest.mark.parametrize("exact", [(), ("--exact",)])
@pytest.mark.parametrize(("name", "claim", "status"), VERDICTS)
def test_the_exit_status_says_what_theory_says_of_an_example(name, claim, status, exact, tmp_path, capsys):
    path = tmp_path / "report.json"
    assert main(["verify", "--example", name, "--require", claim, "--json", str(path), *exact]) == status
    data = json.loads(path.read_text())
    check_contract(data)
    assert data["verdict"] == {0: "HOLDS", 1: "REFUTED", 3: "UNDECIDED"}[status]
    assert capsys.readouterr().out.startswith(data["verdict"])
    expected = json.loads((example(name).folder / "example.json").read_text())["expected"]
    for found in data["claims"]:
        label = found["claim"] + (f":{found['mask']}" if "mask" in found else "")
        assert label not in expected or found["verdict"] == expected[label], label


def test_a_refutation_shows_the_models_at_the_witness(capsys):
    """The page for `interleaving_intervals` holds the rows of all models after the witness's prefix."""
    main(["verify", "--example", "interleaving_intervals"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert any(line[:1] == ["background"] and line[-1:] == ["composition"] for line in lines)
    rows = [line for line in lines if len(line) == 5 and line[0] in ("'a'", "'b'")]
    assert len(rows) == 2


MISFITS = [
    (("base.json", "x=short.json"), "the horizons differ (background 2, x 1)"),
    (("base.json", "x=tokens.json"), 'tokens.json: vocabulary: found the token "c"'),
    (("base.json", "x=eos.json"), 'eos.json: eos: found "b"'),
    (("base.json", "x=base.json", "--length", "7"), "shorter than the length 7"),
    (("base.json", "x=base.json", "--masks", "x=5"), "the mask of x has position 5"),
    (("base.json", "x=base.json", "y=base.json", "--masks", "x=0", "--masks", "y=0"), "share position 0"),
    (("base.json", "x=base.json", "--require", "terminates"), "'terminates' needs an EOS"),
    (("base.json", "x=base.json", "--require", "projective"), "'projective' is about masks"),
    (("base.json", "x=base.json", "--require", "projective:x"), "'projective:x' is about masks"),
]


@pytest.mark.parametrize(("words", "message"), MISFITS)
@pytest.mark.parametrize("exact", [(), ("--exact",)])
def test_models_and_options_that_do_not_fit_end_with_status_2(words, message, exact, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("base.json").write_text(MODEL % ('["a", "b"]', "null", TWO))
    Path("short.json").write_text(MODEL % ('["a", "b"]', "null", ONE))
    Path("tokens.json").write_text(MODEL % ('["a", "c"]', "null", TWO))
    Path("eos.json").write_text(MODEL % ('["a", "b"]', '"b"', ENDING))
    assert main(["verify", *words, *exact]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""
    assert "Traceback" not in err


def models_of(name: str) -> list[str]:
    shown = example(name)
    return [shown.background, *(f"{expert}={shown.expert(expert)}" for expert in shown.experts)]


@pytest.mark.parametrize("name", ["three_experts_disjoint", "interleaving_intervals", "dead_prefix"])
def test_a_certificate_is_accepted_and_one_that_lies_is_not(name, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    main(["verify", *models_of(name), "--certificate", str(path)])
    capsys.readouterr()
    assert main(["check", str(path), *models_of(name)]) == 0
    assert capsys.readouterr().out.startswith("ACCEPTED")
    text = path.read_text()
    lie = text.replace('"REFUTED"', '"HOLDS"') if "REFUTED" in text else text.replace('"HOLDS"', '"REFUTED"')
    path.write_text(lie)
    assert main(["check", str(path), *models_of(name)]) == 1
    assert capsys.readouterr().out.startswith("REJECTED")


def test_checking_needs_the_standard_library_alone(tmp_path):
    """`check` shares no code with the engines: neither NumPy nor JAX is loaded."""
    path = tmp_path / "certificate.json"
    main(["verify", *models_of("drift"), "--certificate", str(path)])
    code = (
        "import sys\nfrom factorcomp.cli import main\n"
        f"status = main({['check', str(path), *models_of('drift')]!r})\n"
        "print(status, sorted({'numpy', 'jax', 'safetensors', 'factorcomp.enumeration'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_certificate_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "broken.json").write_text("{")
    for place in ("broken.json", "gone.json"):
        assert main(["check", str(tmp_path / place), *models_of("drift")]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert place in err


@pytest.mark.parametrize("ending", [".json", ".safetensors"])
@pytest.mark.parametrize("kind", [(), ("--global",)])
def test_a_composition_can_be_written_and_used_again(ending, kind, tmp_path, capsys):
    """Composed with nothing but the background, the composition of one step of `up` is `up` again."""
    path = tmp_path / f"composed{ending}"
    shown = example("interleaving_intervals")
    assert main(["compose", shown.background, f"up={shown.expert('up')}", "--output", str(path), *kind]) == 0
    assert capsys.readouterr().out == ""
    assert main(["doctor", shown.expert("up"), f"again={path}"]) == 0
