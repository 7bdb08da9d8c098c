"""Joint claims by hand: who is named, in the witness and in the line; the engine and the kernel say the same."""

from fractions import Fraction
from functools import partial

import pytest

from factorcomp.certificates.claims import COMPOSITION_CLAIMS as EXACT
from factorcomp.certificates.claims import JOINT_CLAIMS as JOINT
from factorcomp.certificates.claims import Findings, PrefixWitness, Question, Verdict
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.decision import decide
from factorcomp.factorization.every_length import decide_every_length
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.tabular import TabularModel
from factorcomp.verification.kernel import decide_all_lengths, decide_exactly

both_engines = pytest.mark.parametrize("engine", [decide, decide_exactly])


def table(*steps: str) -> TabularModel:
    """Steps of rows such as `"1/2 1/2, 1/2 1/2"`, of the tokens a, b, ..."""
    rows = [[row.split() for row in step.split(",")] for step in steps]
    return TabularModel.from_probabilities(rows, list("abcd"[: len(rows[0][0])]))


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


@pytest.mark.parametrize(
    ("engine", "length"),
    [(decide_at_length, 1), (decide_every_length, "every"), (partial(decide_all_lengths, exact=True), "every")],
)
@pytest.mark.parametrize("null_tokens", ["drop", "cancel"])
def test_a_weighted_opener_is_an_error_in_every_state(engine, length, null_tokens: str):
    """1.9 (a) about states; without the weight the token is tolerated."""
    base, opens = (
        FiniteStateModel.from_states({"s": {"probabilities": row, "next": {"a": "s", "b": "s"}}}, ["a", "b"], "s")
        for row in ({"a": 1}, {"a": "1/2", "b": "1/2"})
    )
    weighted = engine(base, {"up": opens}, Question(length, null_tokens=null_tokens, weights={"up": Fraction(2)}))
    assert weighted["well_defined"].verdict is Verdict.REFUTED
    assert weighted["well_defined"].witness == PrefixWitness((), Fraction(1), ("up",))
    plain = engine(base, {"up": opens}, Question(length, null_tokens=null_tokens))
    assert plain["well_defined"].verdict is Verdict.HOLDS


@both_engines
def test_all_that_deviate_are_named(engine):
    """Two are `both`, three are not."""
    base, other = table("1/2 1/2"), table("1/4 3/4")

    def why(*names: str) -> list[str]:
        found: Findings = engine(base, dict.fromkeys(names, other), Question(1))
        return [found[claim].why for claim in ("pointwise_joint", "interval_joint")]

    assert why("up", "down") == [f"at the start both up and down {verb}" for verb in ("deviate", "are active")]
    assert why("up", "down", "left") == [f"at the start up, down and left {verb}" for verb in ("deviate", "are active")]


@both_engines
def test_the_openers_of_the_first_token_in_error_are_the_witness(engine):
    """1.3, `cancel`: up alone opens `b`, which is no error; up and down open `c`; of `d` nothing is said."""
    base, up, down = table("1 0 0 0"), table("1/4 1/4 1/4 1/4"), table("1/3 0 1/3 1/3")
    found = engine(base, {"left": base, "up": up, "down": down}, Question(1))
    assert found["well_defined"].witness == PrefixWitness((), Fraction(1), ("up", "down"))
    assert "at the start up and down make possible what the background excludes" in found["well_defined"].why
    strict = engine(base, {"left": base, "up": up, "down": down}, Question(1, null_tokens="strict"))
    assert strict["well_defined"].witness == PrefixWitness((), Fraction(1), ("up",))
    assert "at the start up makes possible what the background excludes" in strict["well_defined"].why
    dead = engine(base, {"left": table("0 1 0 0")}, Question(1, null_tokens="drop"))
    assert dead["well_defined"].witness == PrefixWitness((), Fraction(1), ())
    assert dead["well_defined"].why.endswith("leave no token possible: all mass vanishes")


@both_engines
@pytest.mark.parametrize(("scope", "words"), [("all", "at every prefix"), ("reachable", "wherever the composition")])
def test_the_scope_is_said(engine, scope: str, words: str):
    base = table("1/2 1/2")
    found = engine(base, {"up": base}, Question(1, scope=scope))
    claims = ("well_defined", "pointwise_joint", "exact_switching", "unit_normalizer")
    assert all(words in found[claim].why for claim in claims)


@both_engines
def test_where_it_is_undefined_every_claim_asked_for_is_left_open(engine):
    """With masks given one `projective` for each, whatever the name; with masks to be found none."""
    base, opens = table("1 0"), table("1/2 1/2")

    def names(**options) -> list[str]:
        found = engine(base, {"a": opens, "up": base}, Question(1, null_tokens="strict", **options))
        assert {result.verdict for result in found.claims[1:]} == {Verdict.UNDECIDED}
        return [result.name for result in found.claims if result.claim not in ("well_defined", *JOINT, *EXACT)]

    assert names() == []
    assert names(masks="auto") == ["mask_agreement", "factorized_conditionals"]
    given = names(masks={"up": (0,), "a": ()})
    assert given == ["mask_agreement", "factorized_conditionals", "projective:a", "projective:up"]
