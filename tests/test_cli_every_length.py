"""The command line on finite-state models: every length and long ones, certificates, compositions, refusals."""

import json
from pathlib import Path

import pytest

from factorcomp.cli import main
from factorcomp.formats import load, save
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.tabular import TabularModel
from tests import small_automata
from tests.test_verdicts import check_contract

FUNCTION = """import numpy as np


def model(prefixes):
    bent = np.log([0.25, 0.75])
    fair = np.log([0.5, 0.5])
    return np.stack([bent if len(prefix) and prefix[-1] == 0 else fair for prefix in prefixes])


model.vocabulary = ("a", "b")
model.eos = None
"""
APART = ("base.json", "start=start.json", "second=second.json")
WOVEN = ("base.json", "even=even.json", "odd=odd.json")
ENDING = ("ending.json", "trapped=trapped.json", "hurried=hurried.json")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with the models, in which the command line runs."""
    small_automata.write(tmp_path)
    row = ["1/2", "1/2"]
    steps = [[row], [row, row]]
    table = {"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": None, "steps": steps}
    (tmp_path / "table.json").write_text(json.dumps(table))
    (tmp_path / "looking_back.py").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def data_of(capsys, *words: str) -> dict:
    """The report as data, from standard output."""
    main(["verify", *words, "--json", "-"])
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def claims_of(data: dict) -> dict[str, dict]:
    return {found["claim"] + (f":{found['mask']}" if "mask" in found else ""): found for found in data["claims"]}


STATUSES = [
    ((*APART, "--every-length"), 0, "HOLDS: start and second are jointly factorizable at every length."),
    ((*WOVEN, "--every-length"), 1, "REFUTED: even and odd are not jointly factorizable at every length: after 'a'"),
    ((*WOVEN, "--every-length", "--require", "pointwise_joint"), 0, "HOLDS: at most one of even and odd deviates"),
    (("base.json", "x=only_a.json", "y=only_b.json", "--every-length"), 3, "UNDECIDED: the composition of x and y is"),
    (("narrow.json", "x=base.json", "--every-length"), 3, "UNDECIDED: the composition of x is not well defined: after"),
    (
        ("narrow.json", "x=base.json", "--every-length", "--require", "well_defined"),
        1,
        "REFUTED: the composition of x is not well defined: after 'b' the background has no next state.",
    ),
    ((*ENDING, "--every-length", "--require", "terminates"), 1, "REFUTED: the composition of trapped and hurried need"),
    (
        ("ending.json", "hurried=hurried.json", "--every-length", "--require", "terminates"),
        0,
        "HOLDS: the composition of hurried ends with probability 1",
    ),
    (
        (*APART, "--every-length", "--masks", "start=0", "--masks", "second=1::2", "--require", "projective:second"),
        0,
        "HOLDS: on the mask of second the composition has second's marginal",
    ),
    (
        (*APART, "--every-length", "--masks", "start=0,1", "--require", "projective:start"),
        1,
        "REFUTED: on the mask of start the composition does not have start's marginal",
    ),
]


@pytest.mark.parametrize("exact", [(), ("--exact",)])
@pytest.mark.parametrize(("words", "status", "sentence"), STATUSES)
def test_the_exit_status_for_every_length(words, status, sentence, exact, capsys):
    assert main(["verify", *words, *exact]) == status
    out, err = capsys.readouterr()
    assert err == ""
    assert " ".join(out.split()).startswith(sentence)


@pytest.mark.parametrize("exact", [(), ("--exact",)])
def test_a_report_about_every_length_as_data(exact, capsys):
    """`even` and `odd` deviate for ever: infinite counts are words, counts of prefixes have no meaning."""
    data = data_of(capsys, *WOVEN, "--every-length", "--masks", "even=0::2", "--masks", "odd=1::2", *exact)
    check_contract(data)
    assert (data["length"], data["verdict"]) == ("every", "REFUTED")
    assert data["masks"] == {"even": "0::2", "odd": "1::2"}
    claims = claims_of(data)
    assert {found["method"] for found in claims.values()} == {"rational" if exact else "finite-state"}
    assert {found["length"] for found in claims.values()} == {"every"}
    assert claims["interval_joint"]["residual"] == 1.0
    assert claims["interval_joint"]["witness"] == {"prefix": ["a"], "experts": ["even", "odd"], "probability": 0.25}
    assert {name for name, found in claims.items() if found["verdict"] == "HOLDS"} == {*claims} - {"interval_joint"}
    assert {found["residual"] for name, found in claims.items() if name != "interval_joint"} == {0.0}
    measures = data["measures"]
    assert measures["overlap_probability"] == measures["tv_to_switching"] == measures["tv_local_global"] == 0.0
    for measured in measures["experts"].values():
        assert measured["deviating_prefixes"] is measured["active_prefixes"] is None
        assert measured["activity_probability"] == 1.0
        assert measured["expected_active_steps"] == measured["runs"] == "inf"
        assert measured["max_oscillation"] == pytest.approx(1.0986, abs=1e-4)


def test_exact_numbers_about_every_length(capsys):
    """The composition is `hurried` up to the first `b` or the end, so that one sequence in three meets the trap."""
    data = data_of(capsys, *ENDING, "--every-length", "--exact", "--require", "terminates")
    assert data["exact"]["interval_joint"] == "1/3"
    assert data["exact"]["terminates"] == "1/3"
    assert data["measures"]["termination"]["unended"] == pytest.approx(1 / 3)
    assert data["measures"]["termination"]["expected_length"]["composition"] == "inf"
    assert data["measures"]["termination"]["expected_length"]["experts"]["hurried"] == pytest.approx(2)
    witness = claims_of(data)["terminates"]["witness"]
    assert (witness["prefix"], witness["probability"]) == (["b"], 0.25)


def test_a_claim_about_every_length_may_fail_at_one(capsys):
    """The marginals first differ at length 2, and the pair of prefixes is found at a length of its own."""
    data = data_of(capsys, *APART, "--every-length", "--masks", "start=0,1")
    claims = claims_of(data)
    assert data["length"] == "every"
    assert claims["projective:start"]["length"] == 2
    assert claims["projective:start"]["witness"]["positions"] == [0, 1]
    assert claims["well_defined"]["length"] == "every"


def test_masks_found_for_every_length(capsys):
    assert data_of(capsys, *WOVEN, "--every-length", "--masks", "auto")["masks"] == {"even": "0::2", "odd": "1::2"}
    assert data_of(capsys, *APART, "--every-length", "--masks", "auto")["masks"] == {"start": "0", "second": "1"}


@pytest.mark.parametrize("exact", [(), ("--exact",)])
def test_a_short_length_of_finite_state_models_is_enumerated(exact, capsys):
    data = data_of(capsys, *WOVEN, "--length", "4", "--masks", "even=0::2", *exact)
    assert claims_of(data)["interval_joint"]["method"] == ("rational" if exact else "enumeration")
    assert "finite-state" not in {found["method"] for found in data["claims"]}
    assert (data["length"], data["masks"]) == (4, {"even": [0, 2]})
    assert data["measures"]["experts"]["even"]["deviating_prefixes"] == 5
    assert "bounds" not in data["measures"]


def test_a_long_length_of_finite_state_models_is_not(capsys):
    """After ten thousand tokens 2^10000 prefixes: two states tell all."""
    data = data_of(capsys, *WOVEN, "--length", "10000", "--masks", "even=0::2", "--masks", "odd=1::2")
    claims = claims_of(data)
    assert {found["method"] for found in claims.values()} == {"finite-state"}
    assert {found["length"] for found in claims.values()} == {10000}
    assert data["masks"]["odd"] == list(range(1, 10000, 2))
    assert claims["interval_joint"]["witness"]["prefix"] == ["a"]
    even = data["measures"]["experts"]["even"]
    assert (even["deviating_prefixes"], even["runs"]) == (None, 5000)
    assert even["expected_active_steps"] == pytest.approx(9999)


def test_bounds_of_a_long_length_as_data(capsys):
    """Two experts that deviate at once from the first `a` on: what is not known is bounded, and null itself."""
    data = data_of(capsys, "base.json", "one=late.json", "two=even.json", "--length", "1001")
    assert data["measures"]["tv_to_switching"] is None
    low, high = data["measures"]["bounds"]["tv_to_switching"]
    assert 0.1 < low <= high <= 1
    check_contract(data)


WINDOW = ("base.json", "back=python:looking_back:model")


@pytest.mark.parametrize(
    ("words", "method"),
    [
        (("--every-length", "--window", "1"), "finite-state"),
        (("--every-length", "--window", "2"), "finite-state"),
        (("--length", "5", "--window", "1"), "enumeration"),
        (("--length", "5"), "enumeration"),
        (("--length", "5000", "--window", "1"), "finite-state"),
    ],
)
def test_a_function_with_a_window_is_finite_state(words, method, capsys):
    data = data_of(capsys, *WINDOW, *words)
    assert data["verdict"] == "HOLDS"
    assert {found["method"] for found in data["claims"]} == {method}
    assert any("taken to look at the last" in note for note in data["notes"]) == ("--window" in words)


REFUSED = [
    ((*APART, "--every-length", "--length", "3"), "--length 3: got --every-length too; give one or the other"),
    (("base.json", "x=table.json", "--every-length"), "table.json: a table ends at its horizon; every length needs"),
    ((*WINDOW, "--every-length"), "python:looking_back:model: a function may look far back; every length needs"),
    ((*WINDOW, "--every-length", "--window", "0"), 'python:looking_back:model: after "a": found a row that differs'),
    ((*WINDOW, "--every-length", "--window", "-1"), "--window: got '-1', needed a whole number of tokens, 0 or more"),
    ((*WINDOW, "--every-length", "--window", "1.5"), "--window: got '1.5', needed a whole number of tokens"),
    ((*WINDOW, "--length", "3", "--window", "99999"), "--window: got '99999', needed a whole number"),
    ((*WINDOW, "--length", "5000"), "base.json: a table of 5000 steps for 2 tokens takes more than"),
    (APART, "background, start, second: no table, and so no horizon of its own; give the length (--length N), or ask"),
    ((*WOVEN, "--length", "10000", "--exact"), "length 10000: too many prefixes for the rational kernel"),
    ((*APART, "--every-length", "--require", "terminates"), "the required claim 'terminates' needs an EOS"),
    ((*APART, "--every-length", "--require", "projective:start"), "is about masks, and none are given"),
    (
        (*APART, "--every-length", "--masks", "start=0", "--require", "projective:second"),
        "the required claim 'projective:second' names 'second', which has no mask",
    ),
    (
        (*WOVEN, "--every-length", "--masks", "even=0::2", "--masks", "odd=3::3"),
        "the masks of even and odd share position 6; they must be disjoint",
    ),
    ((*WOVEN, "--every-length", "--masks", "even=0::100001"), "the masks repeat only after 100002 positions"),
    ((*WOVEN, "--every-length", "--masks", "even=0:999999999999"), "the mask of even has 999999999999 positions"),
    ((*WOVEN, "--every-length", "--masks", "even=0::0"), "--masks even: got '0::0', needed positions counted from 0"),
    ((*WOVEN, "--every-length", "--masks", "even=0::00"), "for every length a slice counts from 0, forward"),
    ((*WOVEN, "--length", "4", "--masks", "even=0::00"), "a slice goes on by 1 or more"),
    ((*WOVEN, "--every-length", "--masks", "even=-1::2"), "--masks even: got '-1::2', needed positions counted from 0"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_what_cannot_be_asked_ends_with_status_2(words, message, capsys):
    assert main(["verify", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


CERTIFIED = [
    (APART, ("--masks", "auto"), "HOLDS"),
    (WOVEN, ("--masks", "even=0::2", "--masks", "odd=1::2"), "REFUTED"),
    (WOVEN, ("--require", "pointwise_joint"), "HOLDS"),
    (("narrow.json", "x=base.json"), ("--require", "well_defined"), "REFUTED"),
    (ENDING, ("--require", "terminates"), "REFUTED"),
]


@pytest.mark.parametrize(("models", "options", "verdict"), CERTIFIED)
def test_a_certificate_for_every_length_is_accepted_of_these_models_alone(models, options, verdict, folder, capsys):
    main(["verify", *models, *options, "--every-length", "--certificate", "certificate.json"])
    assert capsys.readouterr().err == "wrote certificate.json\n"
    assert main(["check", "certificate.json", *models]) == 0
    assert f"ACCEPTED: certificate.json is true of these models; it certifies the verdict {verdict}." in " ".join(
        capsys.readouterr().out.split()
    )
    background, first, *others = models
    name, _, place = first.partition("=")
    other = json.loads((folder / place).read_text())
    other["states"] = {state: other["states"][state] for state in reversed(other["states"])}
    other["states"]["unused"] = next(iter(other["states"].values()))
    (folder / "other.json").write_text(json.dumps(other))
    assert main(["check", "certificate.json", background, f"{name}=other.json", *others]) == 1
    assert capsys.readouterr().out.startswith("REJECTED: certificate.json is not true of these models")


@pytest.mark.parametrize(("models", "options", "verdict"), CERTIFIED)
def test_a_certificate_for_every_length_that_lies_is_rejected(models, options, verdict, folder, capsys):
    main(["verify", *models, *options, "--every-length", "--certificate", "certificate.json"])
    text = (folder / "certificate.json").read_text()
    assert f'"{verdict}"' in text
    other = {"HOLDS": "REFUTED", "REFUTED": "HOLDS"}[verdict]
    (folder / "certificate.json").write_text(text.replace(f'"{verdict}"', f'"{other}"'))
    capsys.readouterr()
    assert main(["check", "certificate.json", *models]) == 1
    assert capsys.readouterr().out.startswith("REJECTED")


def test_a_function_with_a_window_cannot_be_certified(folder, capsys):
    assert main(["verify", *WINDOW, "--every-length", "--window", "1", "--certificate", "c.json"]) == 2
    assert "not a file, so that nobody could check it" in capsys.readouterr().err
    assert not (folder / "c.json").exists()


def test_a_composition_of_finite_state_models_is_one(capsys):
    """Composed with nothing but the background, the composition of `even` is `even` again, exactly."""
    assert main(["compose", "base.json", "even=even.json", "--output", "composed.json"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "wrote composed.json: the stepwise composition, 2 states\n")
    composed = load("composed.json")
    assert isinstance(composed, FiniteStateModel)
    assert main(["verify", "even.json", "again=composed.json", "--every-length", "--exact", "--json", "x.json"]) == 0
    assert json.loads(Path("x.json").read_text())["measures"]["experts"]["again"]["max_oscillation"] == 0.0


@pytest.mark.parametrize("ending", [".prism", ".tra", ".lab"])
def test_a_composition_is_written_for_model_checkers(ending, capsys):
    assert main(["compose", *WOVEN, "--output", f"composed{ending}"]) == 0
    assert capsys.readouterr().err == f"wrote composed{ending}: the stepwise composition, 2 states\n"
    text = Path(f"composed{ending}").read_text()
    assert {".prism": "dtmc", ".tra": "0 1 ", ".lab": "deviates_even"}[ending] in text


@pytest.mark.parametrize(("ending", "kind"), [(".json", ()), (".safetensors", ()), (".json", ("--global",))])
def test_with_a_length_a_composition_is_a_table(ending, kind, capsys):
    assert main(["compose", *WOVEN, "--length", "3", "--output", f"composed{ending}", *kind]) == 0
    word = "sequence-level" if kind else "stepwise"
    assert capsys.readouterr().err == f"wrote composed{ending}: the {word} composition, 3 steps\n"
    composed = load(f"composed{ending}")
    assert isinstance(composed, TabularModel)
    assert composed.horizon == 3


NOT_COMPOSED = [
    ((*WOVEN, "--output", "c.safetensors"), "c.safetensors: found a finite-state model; this ending needs a table"),
    (
        (*WOVEN, "--length", "3", "--output", "c.prism"),
        "c.prism: found a table; this ending needs a finite-state model",
    ),
    ((*WOVEN, "--length", "3", "--output", "c.tra"), "c.tra: found a table; this ending needs a finite-state"),
    ((*WOVEN, "--global", "--output", "c.json"), "length: got none, and the sequence-level composition is of one"),
    ((*WINDOW, "--output", "c.json"), "length: got none, and functions have no horizon; needed a number of tokens"),
    (
        ("narrow.json", "x=base.json", "--output", "c.json"),
        "the composition is undefined after 'b': a model has no",
    ),
    (
        ("base.json", "x=only_a.json", "y=only_b.json", "--output", "c.json"),
        "after the empty prefix: all mass",
    ),
    (
        ("only_a.json", "x=base.json", "--null-tokens", "strict", "--output", "c.json"),
        "the composition is undefined after the empty prefix: a ratio has no value there (strict)",
    ),
    ((*WOVEN, "--output", "c.dot"), "--output c.dot: needed a name that ends with .json or .safetensors or .prism"),
]


@pytest.mark.parametrize(("words", "message"), NOT_COMPOSED)
def test_what_cannot_be_composed_leaves_no_file(words, message, folder, capsys):
    before = sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")
    assert main(["compose", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == before


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (APART, 0, "COMPOSABLE: nothing is in the way of composing start and second over base.json."),
        ((*APART, "--length", "10000"), 0, "COMPOSABLE: nothing is in the way"),
        (("narrow.json", "x=base.json"), 1, "BLOCKED: 1 thing in the way of composing x over narrow.json."),
        (("table.json", "x=even.json"), 0, "COMPOSABLE: nothing is in the way of composing x over table.json."),
        (("base.json", "x=only_a.json", "y=only_b.json"), 1, "BLOCKED: 1 thing in the way of composing x and y over"),
    ],
)
def test_doctor_looks_at_finite_state_models(words, status, sentence, capsys):
    assert main(["doctor", *words]) == status
    assert " ".join(capsys.readouterr().out.split()).startswith(sentence)


ARPA = """\\data\\
ngram 1=4

\\1-grams:
-99 <s>
-0.3010299957 a
-0.6020599913 b
-0.6020599913 </s>

\\end\\
"""


def test_what_the_checker_cannot_read_is_not_certified(folder, capsys):
    """An n-gram file is refused, with what to do; and what is done is certified, and accepted."""
    (folder / "base.arpa").write_text(ARPA)
    words = ["verify", "base.arpa", "up=base.arpa", "--every-length"]
    assert main([*words, "--certificate", "certificate.json"]) == 2
    assert (
        "base.arpa: the checker reads .json and .safetensors; save the model as .json first" in capsys.readouterr().err
    )
    assert not (folder / "certificate.json").exists()
    save(load("base.arpa"), "ngrams.json")
    words = ["ngrams.json", "up=ngrams.json"]
    assert main(["verify", *words, "--every-length", "--certificate", "certificate.json"]) == 0
    assert main(["check", "certificate.json", *words]) == 0


def test_a_length_that_is_scanned_is_not_certified(folder, capsys):
    """Nobody could check it: too many prefixes."""
    assert main(["verify", *APART, "--length", "5000", "--certificate", "certificate.json"]) == 2
    assert "at length 5000 there are too many prefixes to be checked; ask about every length" in capsys.readouterr().err
    assert not (folder / "certificate.json").exists()


def test_a_fractional_weight_is_certified(folder, capsys):
    """With one deviator at most Z is 1 whatever the powers (Lemma 1.8), in the kernel too."""
    words = [*APART, "--every-length", "--weights", "start=1/3"]
    main(["verify", *words, "--certificate", "certificate.json"])
    assert main(["check", "certificate.json", *APART]) == 0, capsys.readouterr().out
