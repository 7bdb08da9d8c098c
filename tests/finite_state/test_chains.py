"""The long run: random chains against plain simulation of their mass, exact against float, and slow exits."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from factorcomp.finite_state import chains
from factorcomp.finite_state.chains import Chain, ExactChain
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.verification import verify

Rows = list[dict[int, Fraction]]
STEPS = 1000


def random_rows(rng: random.Random) -> Rows:
    """Up to eight states, sparse rows that sum to 1."""
    size, rows = rng.randint(1, 8), []
    for state in range(size):
        weights = [rng.choice([0, 0, 1, 2, 3]) for _ in range(size)]
        if rng.random() < 0.2 or not any(weights):
            weights = [int(other == state) for other in range(size)]
        rows.append({other: Fraction(w, sum(weights)) for other, w in enumerate(weights) if w})
    return rows


def matrix(rows: Rows) -> sparse.csr_array:
    return sparse.csr_array([[float(row.get(other, 0)) for other in range(len(rows))] for row in rows])


def flags(rng: random.Random, size: int) -> np.ndarray:
    return np.array([rng.random() < 0.3 for _ in range(size)])


def met(dense: np.ndarray, target: np.ndarray) -> float:
    """The mass that meets the target within many steps, carried by hand."""
    mass, found = np.eye(len(dense))[0], 0.0
    for _ in range(STEPS):
        found += mass[target].sum()
        mass = np.where(target, 0, mass) @ dense
    return found


def steps(dense: np.ndarray, counted: np.ndarray, since: np.ndarray) -> float:
    waiting, begun, found = np.eye(len(dense))[0], np.zeros(len(dense)), 0.0
    for _ in range(STEPS):
        begun = begun + np.where(since, waiting, 0)
        waiting = np.where(since, 0, waiting)
        found += begun[counted].sum()
        waiting, begun = waiting @ dense, begun @ dense
    return found


def able(rows: Rows, target: np.ndarray) -> np.ndarray:
    """The states from which the target can be reached: what is left is left for good."""
    found = target.copy()
    for _ in rows:
        found = found | np.array([any(found[other] for other in row) for row in rows])
    return found


@pytest.mark.parametrize("direct", [600, 0])
def test_chains_agree_with_their_simulation(direct: int, monkeypatch: pytest.MonkeyPatch):
    """By elimination and (`direct` 0) by following the mass; exactly, and by hand."""
    monkeypatch.setattr(chains, "DIRECT", direct)
    rng, infinite, answered = random.Random(1), 0, 0
    for _ in range(60):
        rows = random_rows(rng)
        quick, exact, dense = Chain(matrix(rows)), ExactChain(rows, matrix(rows)), matrix(rows).toarray()
        target = flags(rng, len(rows))
        found, true = quick.probability_to_meet(target), exact.probability_to_meet(target)
        assert float(true) == pytest.approx(met(dense, target), abs=1e-4)
        assert found is None or found == pytest.approx(float(true), abs=1e-9)
        counted = able(rows, target)
        for since in (target, np.arange(len(rows)) == 0):
            found, true = quick.expected_steps(counted, since), exact.expected_steps(counted, since)
            infinite += true == math.inf
            simulated = steps(dense, counted, since)
            assert simulated > 20 if true == math.inf else float(true) == pytest.approx(simulated, rel=1e-3, abs=1e-4)
            assert found is None or found == true or found == pytest.approx(float(true), rel=1e-9)
            answered += found is not None
    assert infinite > 5
    assert answered > 80


@pytest.mark.parametrize("digits", [3, 9, 12, 15, 17, 40])
def test_a_slow_exit_costs_no_digit(digits: int):
    """One state left with probability 2/10^k, for two others alike: each is met with probability 1/2, after 10^k/2."""
    rest = Fraction(1, 10**digits)
    states = {
        "s": {"probabilities": {"a": 1 - 2 * rest, "b": rest, "c": rest}, "next": {"a": "s", "b": "d", "c": "e"}},
        "d": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "e", "b": "e"}},
        "e": {"probabilities": {"a": 1}, "next": {"a": "e"}},
    }
    base = FiniteStateModel.from_states(states, ["a", "b", "c"], "s")
    changed = states | {"d": {"probabilities": {"a": "1/4", "b": "3/4"}, "next": {"a": "e", "b": "e"}}}
    up = FiniteStateModel.from_states(changed, ["a", "b", "c"], "s")
    measures = verify(base, {"up": up}, length="every").measures
    assert measures is not None
    assert measures.experts["up"].activity_probability == pytest.approx(0.5, rel=1e-12)
    assert measures.experts["up"].expected_active_steps == pytest.approx(0.5, rel=1e-12)


def test_an_expected_length_beyond_floating_point_is_right():
    """EOS with probability 10^-17 a token: 10^17 tokens, where 1 - (1 - 10^-17) is 0 in floating point."""
    rest = Fraction(1, 10**17)
    states = {"s": {"probabilities": {"a": 1 - rest, "e": rest}, "next": {"a": "s"}}}
    model = FiniteStateModel.from_states(states, ["a", "e"], "s", "e")
    report = verify(model, {"same": model}, length="every", require="terminates")
    assert report.verdict == "HOLDS"
    assert report.measures is not None
    assert report.measures.termination is not None
    assert report.measures.termination.composition == pytest.approx(1e17, rel=1e-12)


@pytest.mark.parametrize("length", [1_000, 100_000, 1_000_000])
def test_rare_activity_in_a_long_sequence(length: int):
    """A state is left with probability 10^-15 a token, for one in which the expert acts once: active steps and the
    probability to be active are both about length/10^15. Or there is no answer; never a wrong one."""
    rest = Fraction(1, 10**15)
    states = {
        "s": {"probabilities": {"a": 1 - rest, "b": rest}, "next": {"a": "s", "b": "d"}},
        "d": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "e", "b": "e"}},
        "e": {"probabilities": {"a": 1}, "next": {"a": "e"}},
    }
    base = FiniteStateModel.from_states(states, ["a", "b"], "s")
    acting = states | {"d": {"probabilities": {"a": "1/4", "b": "3/4"}, "next": {"a": "e", "b": "e"}}}
    report = verify(base, {"up": FiniteStateModel.from_states(acting, ["a", "b"], "s")}, length=length)
    assert report.measures is not None
    seen, truth = report.measures.experts["up"], (length - 1) * 1e-15
    if length > 100_000:
        assert seen.activity_probability is None
        assert seen.expected_active_steps is None
        return
    assert seen.activity_probability == pytest.approx(truth, rel=1e-6)
    assert seen.expected_active_steps == pytest.approx(truth, rel=1e-6)


def test_fractions_say_what_python_flint_says(monkeypatch: pytest.MonkeyPatch):
    """The same exact numbers with and without the optional library."""
    rng = random.Random(2)
    cases = [(rows, flags(rng, len(rows))) for rows in (random_rows(rng) for _ in range(30))]

    def answers() -> list[Fraction]:
        return [ExactChain(rows, matrix(rows)).probability_to_meet(target) for rows, target in cases]

    found = answers()
    monkeypatch.setattr(chains, "exact_numbers", lambda: Fraction)
    assert answers() == found
