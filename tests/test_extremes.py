"""Numbers at the ends of what floats and decimals hold, and what must not be lost or believed for them."""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from factorcomp import InputError, TabularModel, verify
from factorcomp.bounds.per_prefix import cross_deviation
from factorcomp.certificates import KernelError, Model, Question, decide
from factorcomp.certificates.enclosure import logarithm
from factorcomp.certificates.feature_maps import FeatureMap
from factorcomp.formats import folders
from factorcomp.formats.folders import save_folder
from factorcomp.models.feature_maps import FeatureFunction

NEVER = -np.inf


def table(*rows: list[float]) -> TabularModel:
    steps = [np.array(rows[0])] + [np.array(rows[1:])] * (len(rows) > 1)
    return TabularModel.from_log_probs(steps, ["a", "b", "c"][: len(rows[0])])


@pytest.mark.parametrize("gap", [Fraction(1, 2**300), -Fraction(1, 3**1000)])
def test_a_logarithm_that_no_digit_tells_from_0_is_enclosed(gap: Fraction):
    low, high = logarithm(1 + gap)
    assert low <= gap <= high
    assert high - low < Fraction(1, 10**40)
    assert (low == 0) if gap > 0 else (high == 0)


@pytest.mark.parametrize("exact", [False, True])
def test_logits_of_any_size_are_decided(exact: bool):
    certain = table([0.0, -1e10])
    report = verify(certain, {"up": table([0.0, -5e9])}, masks={"up": [0]}, exact=exact)
    assert report["pointwise_joint"].verdict == "HOLDS"
    assert not math.copysign(1.0, float(report["projective:up"].residual or 0)) < 0


@pytest.mark.parametrize("logit", [1e3, 1e18])
def test_equal_marginals_are_not_refuted_where_floats_have_no_bound(logit: float):
    """`c` in place of `b` first, with one law of what follows: the marginal is the same, one cell of it impossible."""
    half, first, second = math.log(0.5), [0.0, -logit, NEVER], [-logit, 0.0, NEVER]
    base = table([half, half, NEVER], first, second, second)
    other = table([half, NEVER, half], first, second, second)
    report = verify(base, {"up": base, "down": other}, masks={"up": [1], "down": [0]})
    assert report["projective:up"].verdict != "REFUTED"
    control = verify(base, {"up": base, "down": table([0.0, NEVER, NEVER], first, second, second)}, masks={"up": [1]})
    assert control["projective:up"].verdict == "REFUTED"


def test_the_cross_deviation_is_a_number_where_all_mass_is_too_small():
    log_p = np.array([[0.0, -1000.0], [0.0, -1e17], [0.0, NEVER]])
    tilt = np.array([[0.0, 900.0], [0.0, 1e17], [-np.inf, 0.0]])
    assert cross_deviation(log_p, tilt) == pytest.approx([0.0, 0.5, 1.0])


def leaves(*_: object) -> tuple[str, ...]:
    sys.exit(0)


def test_code_that_exits_is_an_error_and_no_verdict():
    base = table([0.0, NEVER])
    up = table([math.log(0.5), math.log(0.5)])
    with pytest.raises(InputError, match="the function raised SystemExit"):
        FeatureFunction(leaves).tabulate(("a", "b"), 1)
    with pytest.raises(InputError, match="the predicate raised SystemExit"):
        verify(base, {"up": up}, guarantees={"up": leaves})


def test_a_folder_of_a_files_name_is_not_replaced(tmp_path: Path):
    inside = tmp_path / "out" / "up.json" / "kept"
    inside.mkdir(parents=True)
    half = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    with pytest.raises(InputError, match=r"holds 'up\.json' too"):
        save_folder(str(tmp_path / "out"), {"up": half}, "numbers.json", str, replace=True)
    assert inside.is_dir()


def test_an_interrupt_leaves_the_folder_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    half = TabularModel.from_probabilities([["1/2", "1/2"]], ["a", "b"])
    target = tmp_path / "out"
    save_folder(str(target), {"up": half}, "numbers.json", lambda _: "old")
    real = folders.os.replace

    def interrupted(source: Path, place: Path) -> None:
        if source.name.endswith(".new"):
            raise KeyboardInterrupt
        real(source, place)

    monkeypatch.setattr(folders.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_folder(str(target), {"up": half}, "numbers.json", lambda _: "new", replace=True)
    assert (target / "numbers.json").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_impossible_masks_of_features_are_refused_where_nothing_is_defined():
    same = FeatureMap(("a", "b"), ("a", "b"), lambda y: y, 1, 1)
    dead, other = (Model(("a", "b"), None, (((p, 1 - p),),)) for p in (Fraction(0), Fraction(1)))
    base = Model(("a", "b"), None, (((Fraction(1, 2), Fraction(1, 2)),),))
    asked = Question(length=1, feature_masks={"up": (0,)})
    experts = {"up": dead, "down": other}
    assert decide(base, experts, asked, features=same)["well_defined"].verdict == "REFUTED"
    for mask in ((0, 0), (-1,), (7,)):
        with pytest.raises(KernelError):
            decide(base, experts, replace(asked, feature_masks={"up": mask}), features=same)
