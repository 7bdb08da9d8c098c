"""Factorized conditionals, cell by cell, against all pairs of rows; and the largest distance against every pair."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factorcomp.certificates.claims import PairWitness, Positions, Question, Verdict
from factorcomp.factorization import diameter
from factorcomp.factorization.at_length import decide_at_length
from factorcomp.factorization.conditionals import BACKGROUND, decide_conditionals
from factorcomp.factorization.decision import decide
from factorcomp.factorization.diameter import largest_distance
from factorcomp.factorization.every_length import decide_every_length
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.rows import FloatRows, TiltedRows
from factorcomp.models.tabular import TabularModel
from factorcomp.verification.kernel import decide_all_lengths, decide_exactly


def table(*steps: list[str]) -> tuple:
    """Rows such as `"1/2 1/2"`, step by step."""
    rows = [[row.split() for row in step] for step in steps]
    return TabularModel.from_probabilities(rows, ["a", "b"]).steps


UNIFORM = table(["1/2 1/2"], ["1/2 1/2"] * 2)


def first(background, experts, masks) -> tuple | None:
    failure = decide_conditionals(background, experts, masks).failure
    return failure and (failure.condition, failure.length, failure.first, failure.second, failure.expert)


def test_theorem_2_3_condition_by_condition():
    """The smallest failure of each condition."""
    late = table(["1/2 1/2"], ["1/4 3/4", "3/4 1/4"])
    early = table(["1/4 3/4"], ["1/2 1/2"] * 2)
    opens = table(["1 0"], ["1/2 1/2"] * 2)
    masks = {0: (0,), 1: (1,)}
    assert first(UNIFORM, [early, UNIFORM], masks) is None
    assert first(late, [late, late], masks) == ("B", 1, 0, 1, BACKGROUND)
    assert first(UNIFORM, [UNIFORM, late], masks) == ("I1", 1, 0, 1, 1)
    assert first(UNIFORM, [late, UNIFORM], masks) == ("I2", 1, 0, 0, 0)
    assert first(opens, [early, opens], masks) == ("c", 0, 0, 0, 0)


def test_reach_of_the_composition_is_not_enough():
    """The example of Theorem 2.3: the rows agree where the composition goes, not where the expert goes."""
    one = table(["1/2 1/2"], ["1/4 3/4", "3/4 1/4"])
    two = table(["1 0"], ["1/2 1/2"] * 2)
    assert first(UNIFORM, [one, two], {0: (1,), 1: (0,)}) == ("I1", 1, 0, 1, 0)


def test_a_weight_beyond_exact_powers_is_undecided():
    """Proportional powers of rationals are compared exactly, up to a limit; beyond it the claim stays open."""
    steep = table(["1/4 3/4"], ["1/2 1/2"] * 2)
    tilted = [
        TiltedRows(b, p, Fraction(1, 10**20)) for b, p in zip(table(["1/3 2/3"], ["1/2 1/2"] * 2), steep, strict=True)
    ]
    found = decide_conditionals(table(["1/3 2/3"], ["1/2 1/2"] * 2), [tilted], {})
    assert found.failure is None
    assert found.undecided is not None


@st.composite
def cells(draw: st.DrawFn):
    """Two sets of rows with their cells, every cell in both."""
    vocab, count = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 4), min_size=vocab, max_size=vocab).filter(any)
    sides = []
    for _ in range(2):
        owners = sorted([*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=4))])
        values = np.array([draw(row) for _ in owners], dtype=float)
        sides.append((FloatRows(values, "probs"), np.arange(len(owners)), np.array(owners)))
    return sides


@pytest.mark.parametrize("work", [0, diameter.MOST_WORK])
@given(sides=cells())
def test_largest_distance_is_that_of_the_farthest_pair(sides, work):
    """By pairs or by sets of tokens, the answer is the maximum over pairs in a common cell."""
    (rows, mine, my_cells), (other, theirs, their_cells) = sides
    p, q = np.exp(rows.log_probs(0, len(mine))), np.exp(other.log_probs(0, len(theirs)))
    pairs = [(i, j) for i in mine for j in theirs if my_cells[i] == their_cells[j]]
    expected = max(0.5 * np.abs(p[i] - q[j]).sum() for i, j in pairs)
    found, at_least = largest_distance(rows, mine, my_cells, other, theirs, their_cells, 0.0)
    assert found == pytest.approx(expected, abs=1e-12)
    assert not at_least


def test_sets_and_pairs_are_both_taken(monkeypatch):
    """Many rows of few tokens go by sets: the same distance as pair by pair."""
    rng = np.random.default_rng(1)
    a, b = rng.dirichlet(np.ones(3), 40), rng.dirichlet(np.ones(3), 50)
    by_sets = diameter._between(a, b)
    assert by_sets[0] == pytest.approx(0.5 * np.abs(a[:, None] - b[None]).sum(2).max())
    monkeypatch.setattr(diameter, "_AT_ONCE", 1)
    assert diameter._between(a, b) == by_sets, "one set at a time"
    assert diameter._between(a[:2], b[:2])[0] == pytest.approx(0.5 * np.abs(a[:2, None] - b[None, :2]).sum(2).max())
    monkeypatch.setattr(diameter, "MOST_WORK", 1)
    assert diameter._between(a, b)[1], "beyond the most work the answer must say that it is a lower bound"


def test_sets_of_one_token_bound_the_distance_from_below(monkeypatch):
    """Beyond the most work: the first token alone tells most, 6/10; and once a lower bound, always one."""
    monkeypatch.setattr(diameter, "MOST_WORK", 0)
    a, b = np.array([[0.6, 0.2, 0.2]]), np.array([[0.0, 0.5, 0.5]])
    assert diameter._between(a, b) == (pytest.approx(0.6), True)
    background = table(["1/2 1/2"], ["1/4 3/4", "3/4 1/4"], ["1/2 1/2"] * 4)
    found = decide_conditionals(background, [background], {0: (0,)})
    assert (found.failure.condition, found.largest_tv, found.at_least) == ("B", pytest.approx(0.5), True)


def model(*steps: list[str]) -> TabularModel:
    return TabularModel.from_probabilities([[row.split() for row in step] for step in steps], ["a", "b"])


@pytest.mark.parametrize("engine", [decide, decide_exactly])
@pytest.mark.parametrize(
    ("background", "expert", "mask", "condition", "models", "why"),
    [
        (["1 0"], ["1/2 1/2"], (0,), "c", ("up", "background"), "up makes possible on its mask what the background"),
        (["1/2 1/2"], ["1/4 3/4"], (), "I2", ("up", "background"), "off its mask up"),
    ],
)
def test_a_failure_at_the_start(engine, background, expert, mask, condition, models, why):
    """The smallest failures of (c) and (I2), about the expert as given: nothing is tilted without a weight."""
    found = engine(model(background), {"up": model(expert)}, Question(1, masks={"up": mask}))
    result = found["factorized_conditionals"]
    assert (result.verdict, result.witness) == (Verdict.REFUTED, PairWitness(((), ()), models, condition))
    assert why in result.why


@pytest.mark.parametrize("engine", [decide, decide_exactly])
def test_a_token_opened_after_one_prefix_fails_c_there(engine):
    """Up owns both positions, and opens `b` after `a` alone; on the mask `1` the cell has a row that admits `b`."""
    background = model(["1/2 1/2"], ["1 0", "1/2 1/2"])
    up = model(["1/2 1/2"], ["1/2 1/2", "1/2 1/2"])
    found = engine(background, {"up": up}, Question(2, masks={"up": (0, 1)}))["factorized_conditionals"]
    assert found.witness == PairWitness((("a",), ("a",)), ("up", "background"), "c")
    found = engine(background, {"up": up}, Question(2, masks={"up": (1,)}))["factorized_conditionals"]
    assert found.witness == PairWitness((("a",), ("b",)), ("background", "background"), "B")


def test_theorem_2_2_proves_what_floats_cannot():
    """The marginal on up's mask is up's by the conditionals, whose rows are compared exactly; in logs no sum is."""

    def logs(first: list[float]) -> TabularModel:
        return TabularModel.from_log_probs([np.log([first]), np.log([[0.3, 0.7]] * 2)], ["a", "b"])

    question = Question(2, masks={"up": (0,)})
    found = decide(logs([0.3, 0.7]), {"up": logs([0.6, 0.4]), "idle": logs([0.3, 0.7])}, question)
    assert found["factorized_conditionals"].verdict is Verdict.HOLDS
    assert (found["projective:up"].verdict, found["projective:up"].residual) == (Verdict.HOLDS, 0)
    assert "projective:up" not in found.unsettled


def test_equal_normalizers_in_floats_are_left_to_the_kernel():
    """After `a` and after `b` both deviate, with the tokens exchanged, so that Z is 19/18 after either."""

    def model_of(p: list[str]) -> FiniteStateModel:
        rows = {"s": ["1/2", "1/2"], "p": p, "q": p[::-1], "r": ["1/2", "1/2"]}
        turn = {"s": "pq", "p": "rr", "q": "rr", "r": "rr"}
        said = {q: dict(zip("ab", row, strict=True)) for q, row in rows.items()}
        states = {q: {"probabilities": said[q], "next": dict(zip("ab", turn[q], strict=True))} for q in rows}
        return FiniteStateModel.from_states(states, ["a", "b"], "s")

    base, experts = model_of(["1/2", "1/2"]), {"up": model_of(["1/3", "2/3"]), "down": model_of(["5/12", "7/12"])}
    claim, question = "local_equals_global", Question("every")
    found = decide_every_length(base, experts, question)
    assert (found[claim].verdict, claim in found.unsettled) == (Verdict.UNDECIDED, True)
    assert decide_all_lengths(base, experts, question)[claim].verdict is Verdict.HOLDS


def machine(s: str, t: str) -> FiniteStateModel:
    """From s to t by a, and to u by b; t and u stay; the rows of u are uniform."""
    rows, turn = {"s": s, "t": t, "u": "1/2 1/2"}, {"s": "tu", "t": "tt", "u": "uu"}
    states = {
        q: {"probabilities": dict(zip("ab", row.split(), strict=True)), "next": dict(zip("ab", turn[q], strict=True))}
        for q, row in rows.items()
    }
    return FiniteStateModel.from_states(states, ["a", "b"], "s")


def in_tables(engine):
    def decide_tables(background, experts, question):
        tables = {name: expert.tabulate(question.horizon) for name, expert in experts.items()}
        return engine(background.tabulate(question.horizon), tables, question)

    return decide_tables


@pytest.mark.parametrize(
    ("engine", "length"),
    [
        (in_tables(decide), 2),
        (in_tables(decide_exactly), 2),
        (decide_at_length, 2),
        (decide_every_length, "every"),
        (partial(decide_all_lengths, exact=True), "every"),
    ],
)
def test_a_tilted_expert_without_a_law_leaves_them_open(engine, length):
    """1.9: after `a`, where down does not let the composition go, up shares no token with the background.

    At the position before, all conditions hold; with weight 1 up has a law, and fails (c) after `a`.
    """
    background, up, down = machine("1/2 1/2", "1 0"), machine("1/2 1/2", "0 1"), machine("0 1", "1 0")
    masks = {"up": (1,), "down": (0,)} if length == 2 else {"up": Positions((1,)), "down": Positions((0,))}
    found = engine(background, {"up": up, "down": down}, Question(length, masks=masks, weights={"up": Fraction(2)}))
    assert found["well_defined"].verdict is Verdict.HOLDS
    assert found["factorized_conditionals"].verdict is found["projective:up"].verdict is Verdict.UNDECIDED
    assert "no law" in found["factorized_conditionals"].why
    given = engine(background, {"up": up, "down": down}, Question(length, masks=masks))["factorized_conditionals"]
    assert given.verdict is Verdict.REFUTED
