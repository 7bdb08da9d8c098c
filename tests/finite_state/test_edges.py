"""Too much, too little, too rare: many experts, one token, rounding in bounds, mass that never ends."""

from fractions import Fraction

import numpy as np
import pytest

from factorcomp.composition import search
from factorcomp.finite_state.carrying import geometric
from factorcomp.finite_state.lengths import first_path, following_states, states_after
from factorcomp.models import memory
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.verification import verify

HALF = {"a": "1/2", "b": "1/2"}


def two_states(first: dict, second: dict) -> FiniteStateModel:
    """`s` goes to `t` by b and stays by a; `t` goes back."""
    states = {
        "s": {"probabilities": first, "next": {"a": "s", "b": "t"}},
        "t": {"probabilities": second, "next": {"a": "s", "b": "s"}},
    }
    return FiniteStateModel.from_states(states, ["a", "b"], "s")


BASE = two_states(HALF, HALF)
LATE = two_states(HALF, {"a": "1/4", "b": "3/4"})
EARLY = two_states({"a": "1/4", "b": "3/4"}, HALF)


@pytest.mark.parametrize("length", ["every", 5000])
@pytest.mark.parametrize("many", [60, 61, 65])
def test_many_experts_are_decided_or_refused(many: int, length):
    """The first deviates where the last does not, and comes back: never jointly factorizable; beyond 60 no answer."""
    experts = {"first": EARLY} | {f"same{i}": BASE for i in range(many - 2)} | {"last": LATE}
    if many > 60:
        with pytest.raises(InputError, match=rf"found {many} experts; at most 60 can be followed"):
            verify(BASE, experts, length=length)
    else:
        assert verify(BASE, experts, length=length).verdict == "REFUTED"


@pytest.mark.parametrize("length", [1, 1000, "every"])
def test_one_token(length):
    one = FiniteStateModel.from_states({"s": {"probabilities": {"a": 1}, "next": {"a": "s"}}}, ["a"], "s")
    assert verify(one, {"same": one}, length=length).verdict == "HOLDS"


def test_mass_that_never_ends_is_not_lost_to_rounding():
    """A state without EOS is entered with probability 10^-20."""
    rare = Fraction(1, 10**20)
    states = {
        "s": {"probabilities": {"a": rare, "e": 1 - rare}, "next": {"a": "t"}},
        "t": {"probabilities": {"a": 1}, "next": {"a": "t"}},
    }
    model = FiniteStateModel.from_states(states, ["a", "e"], "s", "e")
    report = verify(model, {"same": model}, length="every", require="terminates")
    assert report.verdict == "REFUTED"
    assert report["terminates"].residual == pytest.approx(1e-20, rel=1e-12)
    assert report.measures is not None
    assert report.measures.termination is not None
    assert report.measures.termination.unended == pytest.approx(1e-20, rel=1e-12)


def test_an_upper_bound_gives_way_by_its_rounding():
    """Z differs from 1 by less than floating point shows: the total variation is not known to be 0."""
    rare = Fraction(1, 10**9)
    acting = two_states({"a": Fraction(1, 2) - rare, "b": Fraction(1, 2) + rare}, HALF)
    report = verify(BASE, {"one": acting, "two": acting}, length=100_000)
    assert report["local_equals_global"].verdict == "UNDECIDED"
    assert report.measures is not None
    low, high = report.measures.bounds["tv_local_global"]
    assert low == 0
    assert high > 0


def test_a_search_asks_for_its_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "ROOM", 1)
    monkeypatch.setattr(memory, "available", lambda: 10)
    with pytest.raises(InputError, match=r"the models: following .* combinations of their states takes"):
        verify(BASE, {"late": LATE, "early": EARLY}, length="every")


def test_the_states_after_a_length():
    """By walking; and from the first repetition on by what repeats. A cycle of 3 behind a path of 2."""
    following = np.array([[1, NOWHERE], [2, 2], [3, NOWHERE], [4, NOWHERE], [2, NOWHERE]])
    level = np.arange(5) == 0
    for length in range(20):
        assert (states_after(following, length) == level).all()
        target = int(level.argmax())
        path = first_path(following, level, length)
        assert path is not None
        state = 0
        for token in path:
            state = int(following[state, token])
        assert state == target
        level = following_states(following, level)


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.999, 1 - 1e-9, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("terms", [1, 2, 50])
def test_a_geometric_series(factor: float, terms: int):
    exact = sum(Fraction(factor) ** t for t in range(terms))
    assert geometric(np.array([factor]), terms)[0] == pytest.approx(float(exact), rel=1e-9)


def test_more_combinations_than_an_integer_counts():
    """Fourteen models of 40 states have 41^14 combinations; 40 are reached, in the order of their first prefixes."""
    states = {str(n): {"probabilities": HALF, "next": {"a": str((n + 1) % 40), "b": str(n)}} for n in range(40)}
    cycle = FiniteStateModel.from_states(states, ["a", "b"], "0")
    findings = verify(cycle, {f"same{i}": cycle for i in range(13)}, length="every").findings
    assert findings.states == 40
    assert findings.invariant is not None
    assert [names[0] for names in findings.invariant.states if names] == [str(n) for n in range(40)]
