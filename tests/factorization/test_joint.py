"""Joint claims by hand: who is named, in the witness and in the line; the engine and the kernel say the same."""

from fractions import Fraction

import pytest

from factorcomp.certificates.claims import Findings, PrefixWitness, Question, Verdict
from factorcomp.factorization.decision import decide
from factorcomp.models.tabular import TabularModel
from factorcomp.verification.kernel import decide_exactly

both_engines = pytest.mark.parametrize("engine", [decide, decide_exactly])


def table(*steps: str) -> TabularModel:
    """Steps of rows such as `"1/2 1/2, 1/2 1/2"`."""
    rows = [[row.split() for row in step.split(",")] for step in steps]
    return TabularModel.from_probabilities(rows, ["a", "b"])


@both_engines
@pytest.mark.parametrize("weighted", ["up", "down"])
def test_one_weighted_opener_among_two_leaves_the_ratio_undefined(engine, weighted: str):
    """1.9 (a) under `drop`: both open `b`, which would be tolerated if neither had a weight; both are named."""
    base, opens = table("1 0"), table("1/2 1/2")
    question = Question(1, null_tokens="drop", weights={weighted: Fraction(2)})
    result = engine(base, {"up": opens, "down": opens}, question)["well_defined"]
    assert (result.verdict, result.witness) == (Verdict.REFUTED, PrefixWitness((), Fraction(1), ("up", "down")))
    tolerated = engine(base, {"up": opens, "down": opens}, Question(1, null_tokens="drop"))
    assert tolerated["well_defined"].verdict is Verdict.HOLDS


@both_engines
def test_all_that_deviate_are_named(engine):
    """Two are `both`, three are not."""
    base, other = table("1/2 1/2"), table("1/4 3/4")

    def why(*names: str) -> list[str]:
        found: Findings = engine(base, dict.fromkeys(names, other), Question(1))
        return [found[claim].why for claim in ("pointwise_joint", "interval_joint")]

    assert why("up", "down") == [f"at the start both up and down {verb}" for verb in ("deviate", "are active")]
    assert why("up", "down", "left") == [f"at the start up, down and left {verb}" for verb in ("deviate", "are active")]
