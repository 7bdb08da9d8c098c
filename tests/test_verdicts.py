"""The report as data, held against the contract of interface.md."""

import json
import math
import os
from dataclasses import replace
from fractions import Fraction

import pytest

from factorcomp.certificates.claims import PairWitness, PositionWitness, PrefixWitness, Verdict
from factorcomp.verdicts import Report, prefixes_of, replacing
from tests.report.reports import WITNESSES, ending, interleaving, undefined

KEYS = (
    "schema",
    "verdict",
    "required",
    "models",
    "vocabulary",
    "length",
    "scope",
    "null_tokens",
    "threshold",
    "weights",
    "masks",
    "claims",
    "measures",
    "robust",
    "guarantees",
    "exact",
    "notes",
)
MEASURES = (
    "tv_to_switching",
    "tv_local_global",
    "log_normalizer_min",
    "log_normalizer_max",
    "experts",
    "overlap_probability",
    "termination",
)
EXPERT = (
    "deviating_prefixes",
    "active_prefixes",
    "activity_probability",
    "expected_active_steps",
    "max_oscillation",
    "runs",
)
NUMBER = (int, float)


def plain(report: Report) -> dict:
    """The report as a reader of the file has it."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(report.to_json_text(), parse_constant=refuse)


def check_contract(data: dict) -> None:
    """What interface.md says of every report, by hand: keys in order, and the type of every value."""
    assert tuple(key for key in data if key != "features") == KEYS
    assert data["schema"] == "factorcomp-report/1"
    assert data["verdict"] in {"HOLDS", "REFUTED", "BOUNDED", "UNDECIDED"}
    assert list(data["models"]) == ["background", "experts"]
    for model in (data["models"]["background"], *data["models"]["experts"].values()):
        assert list(model) == ["name", "sha256"]
        assert model["sha256"] is None or len(model["sha256"]) == 64
    assert all(isinstance(token, str) for token in data["vocabulary"])
    assert isinstance(data["length"], int) or data["length"] == "every"
    masks = list((data["masks"] or {}).values())
    assert all(isinstance(mask, str if data["length"] == "every" else list) for mask in masks)
    assert data["scope"] in {"reachable", "all"}
    assert data["null_tokens"] in {"strict", "drop", "cancel"}
    assert isinstance(data["threshold"], float)
    for claim in data["claims"]:
        keys = [key for key in claim if key != "mask"]
        assert keys == ["claim", "verdict", "method", "length", "residual", "witness", "why"]
        assert ("mask" in claim) == (claim["claim"] in ("projective", "feature_projective"))
        assert (
            claim["residual"] is None or isinstance(claim["residual"], NUMBER) or claim["residual"] in ("inf", "-inf")
        )
    if data["measures"]:
        assert tuple(key for key in data["measures"] if key != "bounds") == MEASURES
        assert list(data["measures"]["experts"]) == list(data["models"]["experts"])
        for expert in data["measures"]["experts"].values():
            assert tuple(expert) == EXPERT


@pytest.mark.parametrize("make", [interleaving, ending, undefined])
def test_the_report_as_data_keeps_the_contract(make):
    check_contract(plain(make()))


def test_the_contract_can_fail():
    data = plain(interleaving())
    data["measures"]["experts"]["up"].pop("runs")
    with pytest.raises(AssertionError):
        check_contract(data)


def test_the_numbers_of_a_report():
    data = plain(interleaving())
    assert data["verdict"] == "REFUTED"
    assert data["required"] == ["interval_joint"]
    assert data["claims"][2]["residual"] == 0.25
    assert data["claims"][4]["mask"] == "up"
    assert data["masks"] == {"up": [0, 2]}
    assert plain(undefined())["masks"] is None
    assert data["measures"]["experts"]["up"]["expected_active_steps"] == 1.5
    assert data["measures"]["log_normalizer_min"] == -1e-17


def test_infinity_is_a_string_and_so_is_a_count_beyond_the_floats():
    down = plain(interleaving())["measures"]["experts"]["down"]
    assert down["max_oscillation"] == "inf"
    assert down["active_prefixes"] == str(2**53 + 1)
    assert plain(interleaving())["measures"]["experts"]["up"]["active_prefixes"] == 3


def test_exact_holds_every_fraction_and_nothing_else():
    assert plain(interleaving())["exact"] == {
        "tv_to_switching": "0",
        "overlap_probability": "0",
        "well_defined": "0",
        "pointwise_joint": "0",
        "interval_joint": "1/4",
        "experts": {"up": {"activity_probability": "1", "expected_active_steps": "3/2"}},
    }


def test_termination_as_data_and_exactly():
    data = plain(ending())
    assert data["measures"]["termination"] == {
        "unended": 0.25,
        "expected_length": {"background": 2.5, "composition": 2.25, "experts": {"up": 2.0, "down": 2.0}},
    }
    assert data["exact"]["termination"] == {
        "unended": "1/4",
        "expected_length": {"background": "5/2", "experts": {"up": "2"}},
    }


def test_an_undefined_composition_has_no_measures():
    data = plain(undefined())
    assert data["verdict"] == "UNDECIDED"
    assert data["measures"] == {}
    assert data["exact"] == {"well_defined": "1/4"}
    assert data["claims"][1]["residual"] is None
    assert data["claims"][1]["witness"] is None


def test_nothing_exact_is_an_empty_mapping():
    report = interleaving()
    claims = tuple(replace(result, residual=None) for result in report.claims)
    assert replace(report, findings=replace(report.findings, claims=claims, measures=None)).to_json()["exact"] == {}


@pytest.mark.parametrize("kind", WITNESSES)
def test_each_kind_of_witness_as_data(kind):
    result, expected = WITNESSES[kind]
    report = interleaving()
    report = replace(report, findings=replace(report.findings, claims=(result,)))
    assert plain(report)["claims"][0]["witness"] == expected


def test_a_fraction_of_any_length_is_written_in_full():
    long = Fraction(1, 7**6000)
    report = interleaving()
    result = replace(report.claims[0], residual=long)
    text = replace(report, findings=replace(report.findings, claims=(result,))).to_json()["exact"]["well_defined"]
    numerator, denominator = text.split("/")
    value = 0
    for start in range(0, len(denominator), 4000):
        part = denominator[start : start + 4000]
        value = value * 10 ** len(part) + int(part)
    assert (numerator, value) == ("1", 7**6000)


def test_nan_is_refused():
    report = interleaving()
    broken = replace(report.claims[0], residual=math.nan)
    with pytest.raises(ValueError, match="no NaN"):
        replace(report, findings=replace(report.findings, claims=(broken,))).to_json()


def test_tokens_that_are_not_text_survive_the_file(tmp_path):
    report = interleaving("\ud800", "\x1b[31m\n")
    report.write_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_bytes())["vocabulary"] == ["\ud800", "\x1b[31m\n"]


def test_write_json_replaces_the_file_as_a_whole(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)
    interleaving().write_json(path)
    assert plain(interleaving()) == json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["report.json"]


def test_write_json_to_standard_output(capsys):
    interleaving().write_json("-")
    assert json.loads(capsys.readouterr().out) == plain(interleaving())


def test_nothing_half_written_is_left(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_what_is_not_a_regular_file_is_not_replaced():
    interleaving().write_json(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_who_deviates_and_who_is_active_at_a_prefix():
    report = interleaving()
    assert report.deviating(()) == ("up",)
    assert report.deviating(["a"]) == ("down",)
    assert report.active(["a"]) == ("up", "down")
    assert report.active(["a", "b"]) == ()
    assert report.active(["a", "a", "a"]) == ()


def test_a_claim_that_is_not_there_names_those_that_are():
    with pytest.raises(KeyError, match=r"no claim 'projective'; the claims are well_defined, .*, projective:up"):
        _ = interleaving()["projective"]


def test_the_claims_that_make_the_verdict():
    report = interleaving()
    assert [result.claim for result in report.decisive] == ["interval_joint"]
    both = replace(report, required=("pointwise_joint", "well_defined"))
    assert both.verdict is Verdict.HOLDS
    assert [result.claim for result in both.decisive] == ["well_defined", "pointwise_joint"]
    assert [result.claim for result in undefined().decisive] == ["well_defined"]
    assert replace(report, required=("terminates",)).decisive == ()


@pytest.mark.parametrize(
    ("witness", "prefixes"),
    [
        (None, ()),
        (PrefixWitness(("a",), 0.5), (("a",),)),
        (PairWitness((("a",), ("a",)), ("up", "background"), "c"), (("a",),)),
        (PositionWitness(1, ("up", "down"), (("a",), ("b",))), (("a",), ("b",))),
    ],
)
def test_the_prefixes_whose_rows_a_reader_wants(witness, prefixes):
    assert prefixes_of(witness) == prefixes


@pytest.mark.parametrize("show", [str, repr])
def test_a_report_in_a_notebook_shows_its_answer_without_colours(show):
    shown = show(interleaving())
    assert shown.startswith("REFUTED: up and down are not jointly factorizable at length 3: after 'a' both are active.")
    assert "\x1b" not in shown
