"""Every golden case comes out exactly: verdicts, residuals, witnesses, probabilities, total variations, activity."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import Question, decide, read_model

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
CASES = sorted(GOLDEN.glob("*.json"))


def ask(case: dict, folder: Path) -> tuple:
    """Background, experts and question of a golden case, its models written to files and read back."""
    models = {}
    for name, data in {"": case["background"], **case["experts"]}.items():
        path = folder / f"model{len(models)}.json"
        path.write_text(json.dumps(data))
        models[name] = read_model(path)
    background, options = models.pop(""), case["options"]
    masks = options.get("masks")
    return background, models, Question(
        length=options.get("length", background.horizon),
        masks=masks and {name: tuple(positions) for name, positions in masks.items()},
        null_tokens=options.get("null_tokens", "cancel"),
        scope=options.get("scope", "reachable"),
    )


@pytest.mark.skipif(not CASES, reason=f"no golden cases at {GOLDEN}")
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden_case(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text())
    findings = decide(*ask(case, tmp_path))
    expected, measures = case["expected"], case["expected"]["measures"]
    for claim, verdict in expected["claims"].items():
        assert findings[claim].verdict == verdict, (claim, findings[claim].why)
    if findings.measures is None:
        assert measures == {}
        return
    for claim in ("pointwise_joint", "interval_joint"):
        result, wanted = findings[claim], measures[claim]
        assert result.residual == Fraction(wanted["residual"])
        witness = result.witness
        assert (witness and list(witness.prefix)) == wanted["witness"]
        assert (witness and str(witness.probability)) == wanted["probability"]
        assert list(witness.experts if witness else ()) == wanted["experts"]
    found = findings.measures
    assert found.tv_to_switching == Fraction(measures["tv_to_switching"])
    assert found.tv_local_global == findings["local_equals_global"].residual == Fraction(measures["tv_local_global"])
    assert found.overlap_probability == Fraction(measures["overlap_probability"])
    assert found.log_normalizer_min == pytest.approx(math.log(Fraction(measures["Z_min"])), abs=1e-15)
    assert found.log_normalizer_max == pytest.approx(math.log(Fraction(measures["Z_max"])), abs=1e-15)
    if "unended" in measures:
        assert found.termination.unended == Fraction(measures["unended"])
    for name, wanted in measures["experts"].items():
        for key, value in wanted.items():
            assert getattr(found.experts[name], key) == Fraction(value), (name, key)
    for name, wanted in measures.get("projective", {}).items():
        assert str(findings[f"projective:{name}"].residual) == wanted
