"""Certificates about a feature map: derived again from the models and the map; every alteration is rejected."""

import copy
import json
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import KernelError, certificate, check_certificate, fingerprint, write_certificate
from factorcomp.formats import load, load_features
from factorcomp.verification import verify
from tests import golden
from tests.certificates.test_certificate import mutations, still_true

NAMES = [name for name in golden.example_names() if golden.features_of_example(name)]


class Certified:
    """A shipped example with a feature map, and the certificate of its report."""

    def __init__(self, name: str, folder: Path, **options: object) -> None:
        about, place = golden.about_example(name), golden.EXAMPLES / name
        self.background, self.features = place / "background.json", place / "features.json"
        self.experts = {expert: place / f"{expert}.json" for expert in about["experts"]}
        self.path = folder / "certificate.json"
        models = {expert: load(path) for expert, path in self.experts.items()}
        asked = golden.options_of_example(name) | {"require": ["feature_projective", "feature_commutes"]} | options
        self.report = report = verify(load(self.background), models, **asked)
        self.data = certificate(
            report.findings,
            report.question,
            required=report.required,
            vocabulary=report.vocabulary,
            eos=report.eos,
            background=(report.background.name, report.background.sha256),
            experts={expert: (model.name, model.sha256) for expert, model in report.experts.items()},
            features=(report.features.map.name, report.features.map.sha256),
        )

    def verdict_on(self, data: dict, redigest: bool = False, features: Path | None = None) -> tuple[str, ...]:
        """The reasons against `data` (none: accepted)."""
        data = data | {"digest": fingerprint(data)} if redigest else data
        write_certificate(self.path, data)
        try:
            result = check_certificate(self.path, self.background, self.experts, features=features or self.features)
        except KernelError as error:
            return (str(error),)
        return result.reasons


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_found_is_certified(name, exact, tmp_path):
    case = Certified(name, tmp_path, exact=exact)
    assert case.verdict_on(case.data) == ()
    assert case.verdict_on(json.loads(json.dumps(case.data))) == ()
    stated = {claim["claim"] for claim in case.data["claims"]}
    assert {"feature_projective", "feature_commutes"} <= stated
    assert case.data["features"]["masks"] == {name: list(mask) for name, mask in case.report.features.masks.items()}


def harmless(what: str, data: dict) -> bool:
    return "features.name=" in what or still_true(what, data)


def test_every_alteration_is_rejected(tmp_path):
    """Of what is said of features: every leaf changed, every key dropped, a key or an item added; digest anew."""
    case = Certified("features_of_the_sampler", tmp_path)
    numbers = [n for n, claim in enumerate(case.data["claims"]) if claim["claim"].startswith("feature")]
    places = ("features", *(f"claims.{number}" for number in numbers))
    seen = 0
    for what, data in mutations(case.data):
        if not what.startswith(places):
            continue
        fresh = not what.startswith("digest") and isinstance(data, dict) and "digest" in data
        if fresh and not harmless(what, case.data):
            assert case.verdict_on(data, redigest=True), f"{what}, with its digest recomputed"
            seen += 1
        else:
            assert case.verdict_on(data), what
    assert seen > 100


@pytest.mark.parametrize("name", NAMES)
def test_every_verdict_turned_is_rejected_by_derivation(name, tmp_path):
    case = Certified(name, tmp_path)
    for number, claim in enumerate(case.data["claims"]):
        data = copy.deepcopy(case.data)
        data["claims"][number]["verdict"] = "HOLDS" if claim["verdict"] == "REFUTED" else "REFUTED"
        reasons = case.verdict_on(data, redigest=True)
        assert any(f"claims[{number}].verdict: states" in reason for reason in reasons), reasons


def test_another_map_is_rejected(tmp_path):
    case = Certified("features_of_the_sampler", tmp_path)
    other = golden.features_of_example("features_of_the_sampler")
    other["table"] = other["table"][::-1]
    path = tmp_path / "other.json"
    path.write_text(json.dumps(other))
    (reason,) = case.verdict_on(case.data, features=path)
    assert reason.startswith("features.sha256: states")
    case.data["features"]["sha256"] = load_features(path).source.sha256
    reasons = case.verdict_on(case.data, redigest=True, features=path)
    assert any(reason.startswith("claims[") for reason in reasons)


def test_a_map_too_many_or_too_few(tmp_path):
    case = Certified("features_of_the_sampler", tmp_path)
    write_certificate(case.path, case.data)
    with pytest.raises(KernelError, match=r"is about features by .*; give that map \(--features FILE\)"):
        check_certificate(case.path, case.background, case.experts)
    plain = {key: value for key, value in case.data.items() if key != "features"}
    plain["claims"] = [claim for claim in plain["claims"] if not claim["claim"].startswith("feature")]
    plain |= {"required": ["local_equals_global"], "verdict": "REFUTED"}
    reasons = case.verdict_on(plain, redigest=True)
    assert reasons == ("features: states none, and a feature map was given",)
    write_certificate(case.path, plain | {"digest": fingerprint(plain)})
    assert check_certificate(case.path, case.background, case.experts).accepted


def test_claims_about_features_without_a_map_are_rejected(tmp_path):
    case = Certified("features_of_the_sampler", tmp_path)
    data = {key: value for key, value in case.data.items() if key != "features"}
    write_certificate(case.path, data | {"digest": fingerprint(data)})
    reasons = check_certificate(case.path, case.background, case.experts).reasons
    assert any("which is no claim about these models" in reason for reason in reasons)


def test_functions_are_not_certifiable(tmp_path):
    with pytest.raises(KernelError, match="not a file"):
        Certified("features_of_the_sampler", tmp_path, features=lambda y: y, feature_masks={"one": [0]})


def test_numbers_are_exact_in_the_certificate(tmp_path):
    case = Certified("features_of_the_sampler", tmp_path)
    witness = next(claim["witness"] for claim in case.data["claims"] if claim["claim"] == "feature_commutes")
    assert witness == {"sequence": ["0", "0"], "features": ["0", "0"], "in_tokens": "9/20", "in_features": "9/16"}
    assert case.report.to_json()["exact"]["feature_commutes"] == str(Fraction(1, 8))
