"""Trained models, as tables of float32 logs: no two rows agree, so two experts deviate from the start."""

from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import Model, Question, decide, read_model
from factorcomp.certificates.claims import Verdict

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "char_lstm"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason=f"no models at {FOLDER}")


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {path.stem: read_model(path) for path in sorted(FOLDER.glob("*.safetensors"))}


@pytest.mark.parametrize("length", [2, 3])
def test_a_true_negative_at_threshold_zero(models: dict[str, Model], length: int) -> None:
    experts = {name: model for name, model in models.items() if name != "base"}
    found = decide(models["base"], experts, Question(length))
    for claim in ("interval_joint", "pointwise_joint", "exact_switching", "unit_normalizer", "local_equals_global"):
        assert found[claim].verdict is Verdict.REFUTED
        assert found[claim].witness.prefix == ()
    assert found["interval_joint"].residual == 1.0
    assert found["terminates"].verdict is Verdict.BOUNDED
    ended = 1 + 13 if length == 3 else 1
    assert found.measures.experts["hacker_news"].deviating_prefixes == found.prefixes - ended


def test_a_threshold_leaves_fewer_deviations(models: dict[str, Model]) -> None:
    experts = {name: model for name, model in models.items() if name != "base"}
    loose, strict = (decide(models["base"], experts, Question(2, threshold=Fraction(n))) for n in (6, 0))
    for name in experts:
        few, many = loose.measures.experts[name], strict.measures.experts[name]
        assert few.deviating_prefixes <= many.deviating_prefixes
        assert few.max_oscillation == many.max_oscillation > 1
    assert 0 < loose.measures.overlap_probability < strict.measures.overlap_probability == 1
    assert loose["unit_normalizer"].residual == strict["unit_normalizer"].residual
