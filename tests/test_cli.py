"""The commands: exit statuses, what is on which stream, and that nothing is left half-written."""

import json
import os
import re
import signal
import subprocess
import sys
import types
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import factorcomp
from factorcomp.cli import main
from factorcomp.cli.commands import _listed
from factorcomp.cli.shipped import FOLDER, example, examples
from factorcomp.models.errors import InputError
from factorcomp.verdicts import Report
from tests.report.reports import answering, interleaving, undefined

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = "interleaving_intervals"
MODEL = '{"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": null, "steps": %s}'
FAIR = MODEL % '[[["1/2", "1/2"]], [["1/2", "1/2"], ["1/2", "1/2"]]]'
UP = MODEL % '[[["1/4", "3/4"]], [["1/2", "1/2"], ["1/2", "1/2"]]]'
DOWN = MODEL % '[[["1/2", "1/2"]], [["1/2", "1/2"], ["1/4", "3/4"]]]'
CLASH = MODEL % '[[["1/8", "7/8"]], [["1/2", "1/2"], ["1/2", "1/2"]]]'


@pytest.fixture
def models(tmp_path, monkeypatch) -> Path:
    """A folder with models, in which the command line runs."""
    for name, text in {"base": FAIR, "up": UP, "down": DOWN, "clash": CLASH}.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "report.json").write_text('{"schema": "factorcomp-report/1"}')
    (tmp_path / "malformed.json").write_text('{"format": "factorcomp-model/1"')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def verifier(monkeypatch):
    """A `verify` that answers with a report made by hand, and keeps what it was asked."""
    asked: dict = {"report": interleaving()}

    def verify(background, experts, *, progress=None, **options) -> Report:
        asked.update(background=background, experts=experts, options=options)
        if isinstance(asked["report"], BaseException):
            raise asked["report"]
        return asked["report"]

    monkeypatch.setitem(sys.modules, "factorcomp.verification", types.SimpleNamespace(verify=verify))
    return asked


def run(*words: str, **options) -> subprocess.CompletedProcess:
    """The command line in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, "-m", "factorcomp", *words], env=environment, capture_output=True, text=True, **options
    )


PAIR = ("base.json", "up=up.json", "down=down.json")


def test_help_and_version_need_nothing_heavy(capsys):
    code = (
        "import sys\nfrom factorcomp.cli import main\n"
        "statuses = [main(['--help']), main(['verify', '--help']), main(['--version'])]\n"
        "heavy = {'jax', 'numpy', 'jaxtyping', 'safetensors', 'factorcomp.models', 'factorcomp.verification'}\n"
        "print(statuses, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 0] []"
    assert done.stderr == ""


def test_the_test_of_lightness_can_fail():
    code = "import sys, factorcomp.formats\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("command", ["verify", "check", "compose", "repair", "doctor", "examples"])
def test_every_command_explains_itself(command, capsys):
    assert main([command, "--help"]) == 0
    out, err = capsys.readouterr()
    assert f"factorcomp {command}" in out
    assert err == ""


def test_every_option_of_the_interface_is_offered(capsys):
    main(["verify", "--help"])
    shown = capsys.readouterr().out
    for option in (
        "--length",
        "--every-length",
        "--window",
        "--masks",
        "--threshold",
        "--scope",
        "--null-tokens",
        "--weights",
        "--exact",
        "--require",
        "--json",
        "--certificate",
        "--example",
    ):
        assert re.search(rf"{option}\b", shown)
    for later in ("--html", "--rollouts", "--no-exact", "--empty"):
        assert later not in shown


USAGE = [
    ((), ""),
    (("vrify",), 'Did you mean "verify"'),
    (("verify", "--nope"), "--nope"),
    (("verify", "--json"), "--json requires an argument"),
    (("verify",), "no models: give BACKGROUND"),
    (("verify", "base.json"), "no experts"),
    (("verify", "base.json", "up.json"), "got no name, needed NAME=EXPERT"),
    (("verify", "gone.json", "up=up.json"), "gone.json: there is no such file"),
    (("verify", "malformed.json", "up=up.json"), "malformed.json"),
    (("verify", *PAIR, "--length", "2.5"), "--length: got '2.5'"),
    (("verify", *PAIR, "--scope", "some"), "--scope: got 'some'"),
    (("verify", *PAIR, "--json", "nowhere/x.json"), "--json nowhere/x.json: the folder"),
    (("verify", *PAIR, "--certificate", "base.json"), "would overwrite the model base.json"),
    (
        ("verify", "base.json", "f=python:json:dumps", "--certificate", "c.json"),
        "not a file, so that nobody could check",
    ),
    (("verify", "--example", "nope"), "no example is named 'nope'"),
    (("verify", "base.json", "--example", EXAMPLE), "give the example or the models, not both"),
    (("compose", *PAIR), "no --output: give the file to write"),
    (("compose", *PAIR, "--output", "x.txt"), "--output x.txt: needed a name that ends with .json or .safetensors"),
    (("compose", *PAIR, "--output", "nowhere/x.json"), "the folder"),
    (("check",), "no certificate: give CERTIFICATE"),
    (("check", "c.json"), "no models"),
    (("check", "gone.json", *PAIR), "gone.json"),
    (("check", "gone.json", *PAIR), "error: gone.json: there is no such file\n"),
    (("check", "base.json", *PAIR), "base.json: seems to be a model; give the certificate first"),
    (("check", "report.json", *PAIR), "report.json: seems to be a report; `verify --certificate FILE` writes"),
    (
        ("verify", *PAIR, "--masks", "up=0", "down=1"),
        "--masks: 'down=1' stands without the option; give it before each one: --masks up=0 --masks down=1\n",
    ),
    (("verify", "--example", "letters_AAC", "--masks", "a_to_b=0", "c_to_d=2"), "--masks a_to_b=0 --masks c_to_d=2\n"),
    (("verify", *PAIR, "--weights", "up=1/3", "down=2.5"), "--weights up=1/3 --weights down=2.5\n"),
    (("doctor", "gone.json", "up=up.json"), "gone.json: there is no such file"),
    (("examples", "driftt"), "did you mean 'drift'"),
]


@pytest.mark.parametrize(("words", "message"), USAGE)
def test_what_cannot_be_used_ends_with_status_2_and_says_why(words, message, models, verifier, capsys):
    before = sorted(os.listdir(models))
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert "Traceback" not in err
    assert out == "" or not words
    assert sorted(os.listdir(models)) == before
    assert "background" not in verifier, "the work began before the call was found wrong"


def test_every_problem_is_reported_at_once(models, verifier, capsys):
    words = [
        "--length",
        "-3",
        "--threshold",
        "nan",
        "--weights",
        "up=0",
        "--masks",
        "left=1",
        "--require",
        "x",
        "--json",
        "nowhere/x",
    ]
    assert main(["verify", "gone.json", "up=malformed.json", "up=y.json", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    for part in (
        "--length",
        "--threshold",
        "--weights up",
        "--masks",
        "--require",
        "--json",
        "gone.json",
        "malformed.json",
        "given twice",
    ):
        assert any(part in line for line in lines), part


def test_a_hostile_name_does_nothing_to_the_terminal(models, verifier, capsys):
    assert main(["verify", "\x1b[2J\nREFUTED.json", "up=up.json"]) == 2
    err = capsys.readouterr().err
    assert "\\x1b[2J\\nREFUTED.json" in err
    assert "\x1b" not in err


STATUSES = [
    (answering("interval_joint", factorcomp.Verdict.HOLDS), 0),
    (interleaving(), 1),
    (answering("terminates", factorcomp.Verdict.BOUNDED), 3),
    (answering("interval_joint", factorcomp.Verdict.UNDECIDED), 3),
    (undefined(), 3),
    (InputError("masks overlap"), 2),
    (MemoryError(), 2),
    (KeyboardInterrupt(), 130),
    (ZeroDivisionError("a fault"), 3),
]


@pytest.mark.parametrize(("answer", "status"), STATUSES)
def test_the_exit_status_of_verify(answer, status, models, verifier, capsys):
    verifier["report"] = answer
    assert main(["verify", *PAIR]) == status
    out, err = capsys.readouterr()
    if isinstance(answer, Report):
        assert out.startswith(str(answer.verdict))
        assert err == ""
    else:
        assert out == ""
        assert err != ""


def test_the_options_reach_verify_as_they_were_meant(models, verifier):
    words = "--length 2 --masks up=0 --masks down=1::1 --threshold 0.1 --scope all --null-tokens strict --exact"
    more = "--weights up=1/3 --require pointwise_joint --require projective:up"
    assert main(["verify", *PAIR, *words.split(), *more.split()]) == 1
    assert verifier["options"] == {
        "length": 2,
        "masks": {"up": (0,), "down": slice(1, None, 1)},
        "threshold": Fraction(1, 10),
        "scope": "all",
        "null_tokens": "strict",
        "exact": True,
        "weights": {"up": Fraction(1, 3)},
        "require": ("pointwise_joint", "projective:up"),
    }
    assert list(verifier["experts"]) == ["up", "down"]
    assert verifier["background"].source.name == "base.json"


def test_without_options_verify_has_its_own_defaults(models, verifier):
    main(["verify", *PAIR])
    assert verifier["options"] == {}


def test_an_example_brings_its_models_and_options_which_can_be_overridden(verifier):
    main(["verify", "--example", "letters_AAC"])
    assert verifier["background"].source.name == "letters_AAC/background.json"
    assert verifier["options"]["masks"] == {"a_to_b": [0, 1], "c_to_d": [2]}
    main(["verify", "--example", "letters_AAC", "--masks", "auto", "--scope", "all"])
    assert verifier["options"]["masks"] == "auto"
    assert verifier["options"]["scope"] == "all"


def test_json_on_standard_output_is_alone_there(models, verifier, capsys):
    assert main(["verify", *PAIR, "--json", "-"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == interleaving().to_json()
    assert err == ""


def test_json_in_a_file_beside_the_report(models, verifier, capsys):
    assert main(["verify", *PAIR, "--json", "report.json"]) == 1
    assert json.loads((models / "report.json").read_text()) == interleaving().to_json()
    out, err = capsys.readouterr()
    assert out.startswith("REFUTED")
    assert err == "wrote report.json\n"


def test_the_template_of_a_model_is_printed_on_real_lines(models, verifier, capsys):
    assert main(["verify", "base.json", "up=python:json:dumps"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("needed a TabularModel, a FunctionModel, or a function with a vocabulary:")
    assert lines[1].startswith("    def model(prefixes):")
    assert lines[-1].startswith("    model.eos = None")


def test_examples_on_a_narrow_terminal_lose_nothing():
    titles = {name: example(name).title for name in examples()}
    narrow = _listed(titles, 50)
    assert max(map(len, narrow)) <= 50
    assert [line for line in narrow if not line.startswith(" ")] == list(examples())
    joined = " ".join(" ".join(narrow).split())
    assert all(title in joined for title in titles.values())
    assert _listed(titles, None) == _listed(titles, 10_000)


def test_a_failed_verification_leaves_the_old_report(models, verifier, capsys):
    (models / "report.json").write_text("old")
    verifier["report"] = InputError("no")
    assert main(["verify", *PAIR, "--json", "report.json"]) == 2
    assert (models / "report.json").read_text() == "old"


def test_doctor(models, capsys):
    assert main(["doctor", *PAIR]) == 0
    assert capsys.readouterr().out.startswith("COMPOSABLE")
    (models / "short.json").write_text(MODEL % '[[["1/2", "1/2"]]]')
    assert main(["doctor", "base.json", "up=short.json"]) == 1
    assert capsys.readouterr().out.startswith("BLOCKED")
    assert main(["doctor", "base.json", "up=short.json", "--length", "1"]) == 0


def test_examples_are_listed_one_a_line(capsys):
    assert main(["examples"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(examples())
    assert len(lines) > 10
    assert all(len(line.split()) > 3 for line in lines)


def test_where_an_example_lies_is_all_that_is_printed(capsys):
    assert main(["examples", "drift"]) == 0
    assert capsys.readouterr().out == f"{FOLDER / 'drift'}\n"


@pytest.mark.parametrize(("words", "status"), [(("examples",), 0), (("verify", "--example", EXAMPLE), 1)])
def test_a_reader_that_goes_away_changes_no_status(words, status):
    """`factorcomp verify … | head` is still REFUTED."""
    process = subprocess.Popen(
        [sys.executable, "-m", "factorcomp", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == status


def test_a_file_that_cannot_be_filled_is_named(models, verifier, capsys):
    assert main(["verify", *PAIR, "--json", "/dev/full"]) == 2
    assert capsys.readouterr().err == "error: /dev/full: cannot be written: No space left on device\n"


def test_a_full_disk_is_an_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "factorcomp", "examples"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def test_output_that_cannot_show_a_character_shows_its_escape():
    done = run("doctor", *[f"{FOLDER}/drift/{word}" for word in ("background.json",)], cwd=ROOT)
    assert done.returncode == 2
    words = ["doctor", str(FOLDER / "drift" / "background.json"), f"up={FOLDER / 'drift' / 'background.json'}"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "factorcomp", *words], env=environment, capture_output=True)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert b"+ fine" in done.stdout


def test_interruption_ends_with_130_and_without_a_traceback(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "import numpy as np\n"
        "from factorcomp.models.function import FunctionModel\n"
        "def rows(prefixes):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "model = FunctionModel(rows, ('a', 'b'))\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "JAX_PLATFORMS": "cpu"}
    process = subprocess.Popen(
        [sys.executable, "-m", "factorcomp", "doctor", "python:slow:model", "x=python:slow:model", "--length", "1"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_the_public_names_are_lazy_and_all_there():
    code = (
        "import sys, factorcomp\n"
        "assert not {'numpy', 'jax', 'rich', 'factorcomp.verdicts'} & set(sys.modules)\n"
        "assert factorcomp.__all__ == sorted(factorcomp.__all__)\n"
        "assert set(factorcomp.__all__) <= set(dir(factorcomp))\n"
        "print(factorcomp.Verdict.HOLDS, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "HOLDS False\n"


@pytest.mark.parametrize("name", [name for name in factorcomp.__all__ if name != "__version__"])
def test_each_public_name_is_what_it_says(name):
    assert getattr(factorcomp, name) is not None
    assert factorcomp.__dict__[name] is getattr(factorcomp, name)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'factorcomp' has no attribute 'verfy'"):
        _ = factorcomp.verfy


def test_a_report_keeps_the_names_as_given(models, verifier):
    verifier["report"] = replace(interleaving(), notes=())
    main(["verify", "./base.json", "up=up.json"])
    assert verifier["background"].source.name == "./base.json"
