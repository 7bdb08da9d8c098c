"""Rows copied from the background are exactly its rows, or nothing is repaired."""

from fractions import Fraction

import numpy as np
import pytest

import factorcomp
from factorcomp.models.errors import InputError
from factorcomp.models.rows import FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel
from factorcomp.repair import repair
from factorcomp.repair.story import _check_options

VOCABULARY = ("a", "b", "c")
BASE, UP, DOWN = [0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.25, 0.5, 0.25]
THIRDS = ["1/3", "1/3", "1/3"]


def floats(row, scale, dtype=np.float64) -> TabularModel:
    values = np.array([row])
    return TabularModel(VOCABULARY, (FloatRows((values if scale == "probs" else np.log(values)).astype(dtype), scale),))


def rational(row) -> TabularModel:
    return TabularModel.from_probabilities([[row]], VOCABULARY)


@pytest.mark.parametrize(
    ("base", "own", "scale"),
    [
        (floats(BASE, "probs"), "probs", "probs"),
        (floats(BASE, "log_probs"), "log_probs", "log_probs"),
        (floats(BASE, "logits"), "log_probs", "logits"),
        (floats(BASE, "log_probs", np.float32), "logits", "logits"),
    ],
)
def test_floats_stay_floats(base, own, scale):
    """Log-probabilities are logits too: their rows mix without rounding, in the wider type."""
    done = repair(base, {"up": floats(UP, own), "down": floats(DOWN, own)})
    assert sum(expert.resets for expert in done.experts.values()) == 1
    assert done.cost == pytest.approx(0.25)
    reset = next(name for name, expert in done.experts.items() if expert.resets)
    rows = done.models[reset].steps[0]
    assert isinstance(rows, FloatRows)
    assert rows.scale == scale
    assert rows.values.astype(np.float64).tolist() == base.steps[0].values.astype(np.float64).tolist()


def test_rationals_stay_rational():
    done = repair(rational(THIRDS), {"up": rational(["1/6", "1/2", "1/3"]), "down": rational(["1/2", "1/6", "1/3"])})
    assert isinstance(done.models["down"].steps[0], RationalRows)
    assert done.models["down"].steps[0].exact(0).factors == (Fraction(1, 3),) * 3


def test_floats_that_are_probabilities_are_rational_numbers():
    done = repair(floats(BASE, "probs"), {"up": rational(THIRDS), "down": rational(["1/6", "1/2", "1/3"])})
    assert isinstance(done.models["up"].steps[0], RationalRows)
    assert (done.experts["up"].resets, done.experts["down"].resets) == (1, 0)


@pytest.mark.parametrize(
    ("base", "own"),
    [("logits", "probs"), ("probs", "log_probs"), (None, "logits"), (None, "probs"), ("log_probs", None)],
)
def test_other_kinds_agree_up_to_rounding_only(base, own):
    """An error says so; with a threshold they are repaired."""
    thirds = [float(Fraction(x)) for x in THIRDS]
    background = rational(THIRDS) if base is None else floats(thirds, base)
    experts = {
        name: rational([str(Fraction(x)) for x in row]) if own is None else floats(row, own)
        for name, row in (("up", UP), ("down", DOWN))
    }
    with pytest.raises(InputError, match="numbers of different kinds, and would agree up to rounding only"):
        repair(background, experts)
    done = repair(background, experts, threshold="1e-9")
    assert sum(expert.resets for expert in done.experts.values()) == 1


def test_steps_beyond_the_length_stay():
    rows = [[BASE], [UP] * 3]
    base = TabularModel.from_probabilities([[BASE], [BASE] * 3], VOCABULARY)
    up, down = (TabularModel.from_probabilities([[first], rows[1]], VOCABULARY) for first in (UP, DOWN))
    done = repair(base, {"up": up, "down": down}, length=1)
    assert all(model.horizon == 2 for model in done.models.values())
    assert factorcomp.verify(base, done.models, length=1).verdict == "HOLDS"
    assert factorcomp.verify(base, done.models).verdict == "REFUTED"


def test_finite_state_models_become_tables_of_that_length():
    from tests.small_automata import model

    done = repair(model("base"), {"late": model("late"), "even": model("even")}, length=4)
    assert {table.horizon for table in done.models.values()} == {4}
    assert factorcomp.verify(model("base"), done.models, length=4).verdict == "HOLDS"


def test_where_an_expert_says_nothing_it_is_given_the_row_of_the_background():
    """`narrow` excludes `b`, and says nothing after it; without it at the start the composition goes there."""
    from tests.small_automata import model

    done = repair(model("base"), {"narrow": model("narrow"), "start": model("start")}, length=2, cost="count")
    assert "narrow: the background's row at 1 prefixes of which it says nothing" in done.models["narrow"].source.notes
    assert done.models["narrow"].gaps is None or not any(gap.any() for gap in done.models["narrow"].gaps)


def test_a_repaired_model_is_no_longer_the_file_it_came_from(tmp_path):
    for name, model in {"base": rational(THIRDS), "up": rational(["1/6", "1/2", "1/3"])}.items():
        factorcomp.save(model, tmp_path / f"{name}.json")
    base, up = (factorcomp.load(tmp_path / f"{name}.json") for name in ("base", "up"))
    done = repair(base, {"up": up, "again": up})
    assert done.models["up"].source.sha256 == up.source.sha256
    assert done.models["again"].source.sha256 is None
    assert done.experts["again"].given.sha256 == up.source.sha256


def test_infinite_divergence():
    """Both open a token, and one must go: `KL(p_i || p_b)` is infinite."""
    base = rational([1, 0, 0])
    experts = {"up": rational(["1/2", "1/2", 0]), "down": rational(["1/2", 0, "1/2"])}
    with pytest.raises(InputError, match="at an infinite cost; take tv or count"):
        repair(base, experts, cost="kl")
    assert repair(base, experts).experts["up"].resets + repair(base, experts).experts["down"].resets == 1
    undefined = repair(base, {"up": experts["up"], "again": experts["up"]})
    assert undefined.composition_tv is None  # the given composition is not defined there
    assert undefined.cost == pytest.approx(0.5)


def test_divergence_decides_otherwise_than_total_variation():
    """`KL(p_i || p_b)` weighs tokens that the background hardly has."""
    base = rational(["98/100", "1/100", "1/100"])
    up, down = rational(["88/100", "1/100", "11/100"]), rational(["85/100", "7/100", "8/100"])
    assert repair(base, {"up": up, "down": down}).experts["up"].resets == 1
    by_kl = repair(base, {"up": up, "down": down}, cost="kl")
    assert by_kl.cost == pytest.approx(
        min(
            sum(p * np.log(p / b) for p, b in zip(row, (0.98, 0.01, 0.01), strict=True))
            for row in ((0.88, 0.01, 0.11), (0.85, 0.07, 0.08))
        )
    )


def test_wrong_options():
    with pytest.raises(
        InputError, match="must be interval_joint or pointwise_joint\nthe cost is 'js'; it must be tv or"
    ):
        _check_options("projective", "js")
    with pytest.raises(InputError, match="names 'left', which is no expert"):
        repair(rational(THIRDS), {"up": rational(THIRDS)}, weights={"left": 2})


def test_a_repair_shows_itself():
    """As the command line does, in a notebook too."""
    done = repair(rational(["1/2", "1/4", "1/4"]), {"up": rational(["1/4", "1/2", "1/4"]), "down": rational(THIRDS)})
    assert str(done).startswith("REPAIRED: up and down are jointly factorizable at length 1, with 1 row reset")
    assert repr(done) == str(done)
