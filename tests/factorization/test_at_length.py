"""One length of finite-state models, by hand: what the agreement with enumeration does not compare."""

import itertools
import re
from fractions import Fraction

import pytest

from factorcomp.certificates.claims import Findings, MarginalWitness, Question, Verdict
from factorcomp.factorization import state_masks
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.decision import decide
from factorcomp.models.finite_state import FiniteStateModel

TURN = {"s": "t", "t": "u", "u": "v", "v": "w", "w": "x", "x": "v"}


def machine(rows: str | dict[str, str], turn: dict[str, str] | None = None, eos: str | None = None) -> FiniteStateModel:
    """From each state whatever the token to the next one; rows by state, or one row in one state."""
    rows, turn = ({"s": rows}, {"s": "s"}) if isinstance(rows, str) else (rows, turn)
    described = {}
    for state, row in rows.items():
        tokens = dict(zip("abcd", row.split(), strict=False))
        described[state] = {"probabilities": tokens, "next": dict.fromkeys(tokens.keys() - {eos}, turn[state])}
    return FiniteStateModel.from_states(described, list(tokens), next(iter(rows)), eos)


def test_masks_are_found_before_and_after_they_repeat():
    """Up deviates at 1, and at 3, 6, 9, ...; within seven tokens at 1, 3 and 6."""
    base = machine(dict.fromkeys(TURN, "1/2 1/2"), TURN)
    up = machine(dict.fromkeys(TURN, "1/2 1/2") | dict.fromkeys("tv", "1/4 3/4"), TURN)
    for length, mask in ((1, None), (2, (1,)), (7, (1, 3, 6)), (12, (1, 3, 6, 9))):
        found = decide_at_length(base, {"up": up}, Question(length, masks="auto"))
        assert found.masks == ({"up": mask} if mask else {})
        assert found["mask_agreement"].verdict is Verdict.HOLDS


def test_the_marginal_of_one_position_differs_most_at_its_witness(monkeypatch: pytest.MonkeyPatch):
    """Theorem 11.7, where nothing is enumerated: (10, 8, 3)/21 under the composition, (1, 8, 3)/12 under up."""
    monkeypatch.setattr(state_masks, "NUMBERS_TO_ENUMERATE", 1)
    base, up, down = map(machine, ("1/3 1/3 1/3", "1/12 8/12 3/12", "10/12 1/12 1/12"))
    found = decide_at_length(base, {"up": up, "down": down}, Question(4, masks={"up": (1, 3)}))
    result = found["projective:up"]
    assert result.verdict is Verdict.REFUTED
    assert result.witness == MarginalWitness((1,), ("a",), result.witness.composition, result.witness.expert)
    assert (result.witness.composition, result.witness.expert) == pytest.approx((10 / 21, 1 / 12))
    assert result.residual == pytest.approx(10 / 21 - 1 / 12)
    assert "the TV lies between 0.3929 and" in result.why
    assert "and beyond" not in result.why + found["factorized_conditionals"].why


@pytest.mark.parametrize("weights", [{}, {"up": Fraction(2)}])
def test_the_distance_of_two_marginals_is_between_its_bounds(weights, monkeypatch: pytest.MonkeyPatch):
    """Up deviates in its second state alone, and down everywhere, a little: the TV on up's mask, by enumeration."""
    base, down = machine("1/2 1/2"), machine("9/20 11/20")
    up = machine({"s": "1/2 1/2", "t": "9/10 1/10"}, {"s": "t", "t": "t"})
    question = Question(4, masks={"up": (1, 3)}, weights=weights)
    truth = by_enumeration(base, {"up": up, "down": down}, question)["projective:up"].residual
    monkeypatch.setattr(state_masks, "NUMBERS_TO_ENUMERATE", 1)
    result = decide_at_length(base, {"up": up, "down": down}, question)["projective:up"]
    low, high = map(float, re.search(r"the TV lies between (\S+) and (\S+)$", result.why).groups())
    assert 0 < low == pytest.approx(result.residual, rel=1e-3)
    assert low <= truth * (1 + 1e-3)
    assert truth <= high < 0.2


@pytest.mark.parametrize(("length", "verdict"), [(2, Verdict.HOLDS), (3, Verdict.REFUTED), (6, Verdict.REFUTED)])
def test_conditionals_that_fail_beyond_what_is_enumerated(length, verdict, monkeypatch: pytest.MonkeyPatch):
    """I1: on its mask up says after `a .` what it does not say after `b .`, from the third token on."""
    edges = {"s": {"a": "p", "b": "q"}, "p": {"a": "p2", "b": "p2"}, "q": {"a": "q2", "b": "q2"}}
    edges |= {state: {"a": "r", "b": "r"} for state in ("p2", "q2", "r")}

    def model(**rows: str) -> FiniteStateModel:
        said = {state: dict(zip("ab", rows.get(state, "1/2 1/2").split(), strict=True)) for state in edges}
        described = {state: {"probabilities": said[state], "next": edges[state]} for state in edges}
        return FiniteStateModel.from_states(described, ["a", "b"], "s")

    base, up = model(), model(p2="1/4 3/4", q2="3/4 1/4")
    question = Question(length, masks={"up": (2,) if length > 2 else ()})
    truth = by_enumeration(base, {"up": up}, question)["factorized_conditionals"]
    monkeypatch.setattr(state_masks, "NUMBERS_TO_ENUMERATE", 1)
    found = decide_at_length(base, {"up": up}, question)["factorized_conditionals"]
    assert (found.verdict, truth.verdict, found.witness) == (verdict, verdict, truth.witness)


def test_the_smallest_period_of_every_short_word():
    """The definition: the fewest letters after which the word goes on as it began."""
    for length in range(9):
        for word in map(list, itertools.product([False, True], repeat=length)):
            periods = (p for p in range(length + 1) if p or not word if word[p:] == word[: length - p])
            assert state_masks.smallest_period(word) == next(periods)


def by_enumeration(base: FiniteStateModel, experts: dict[str, FiniteStateModel], question: Question) -> Findings:
    tables = {name: expert.tabulate(question.horizon) for name, expert in experts.items()}
    return decide(base.tabulate(question.horizon), tables, question)


@pytest.mark.parametrize("engine", [decide_at_length, by_enumeration])
def test_mass_that_has_not_ended_is_said(engine):
    """3/4 of the mass goes on at each token: 9/16 after two. One model three times: nothing is left unsettled."""
    base = machine("3/4 1/4", eos="b")
    found = engine(base, {"up": base, "down": base}, Question(2))
    assert (found["terminates"].verdict, found["terminates"].residual) == (Verdict.BOUNDED, pytest.approx(9 / 16))
    assert found["terminates"].why == "a sequence has not ended by the horizon with probability 0.5625"
    assert found.unsettled == frozenset()
    zeros = {result.name for result in found.claims if result.residual == Fraction(0)}
    assert zeros == {result.name for result in found.claims} - {"terminates"}
