"""Finite-state models in JSON: read exactly, refused with every problem, written so that they read back."""

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from factorcomp.formats import load, save
from factorcomp.models import automata_building, memory
from factorcomp.models.errors import InputError
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.rows import FloatRows, RationalRows

EVEN = '"even": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "odd", "b": "even"}}'
ODD = '"odd": {"probabilities": {"a": 1}, "next": {"a": "even"}}'


def automaton(states: str = f"{EVEN}, {ODD}", **other: str | None) -> str:
    """A finite-state file with these JSON texts as values, without those that are `None`."""
    fields = {
        "format": '"factorcomp-model/1"',
        "kind": '"finite_state"',
        "vocabulary": '["a", "b"]',
        "eos": "null",
        "initial": '"even"',
        "states": "{" + states + "}",
    }
    return "{" + ", ".join(f'"{key}": {value}' for key, value in (fields | other).items() if value is not None) + "}"


def state(probabilities: str, leads: str = '{"a": "even", "b": "even"}', name: str = "even") -> str:
    return f'"{name}": {{"probabilities": {probabilities}, "next": {leads}}}'


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes base.json into the current directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(content: str) -> str:
        (tmp_path / "base.json").write_text(content, encoding="utf-8")
        return "base.json"

    return write


def read(name: str) -> FiniteStateModel:
    model = load(name)
    assert isinstance(model, FiniteStateModel)
    return model


def problems_of(name: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(name)
    return list(caught.value.problems)


def same(mine: FiniteStateModel, other: FiniteStateModel) -> bool:
    heads = [(model.vocabulary, model.states, model.initial, model.eos) for model in (mine, other)]
    every = np.arange(mine.rows.shape[0])
    return (
        heads[0] == heads[1]
        and np.array_equal(mine.next, other.next)
        and mine.rows.shape == other.rows.shape
        and bool(mine.rows.identical(every, other.rows, every).all())
    )


def test_the_documented_example(write):
    model = read(write(automaton()))
    assert (model.vocabulary, model.states, model.initial, model.eos) == (("a", "b"), ("even", "odd"), 0, None)
    assert model.next.tolist() == [[1, 0], [0, NOWHERE]]
    assert [model.rows.exact(index).factors for index in range(2)] == [(Fraction(1, 2), Fraction(1, 2)), (1, 0)]
    assert model.source.name == "base.json"
    assert model.source.notes == ()


def test_with_an_eos_there_is_one_state_more(write):
    """After EOS only EOS; whatever `next` says of EOS is ignored, and noted."""
    model = read(write(automaton(eos='"b"')))
    assert model.ended == 2
    assert model.next.tolist() == [[1, 2], [0, 2], [2, 2]]
    assert model.rows.exact(2).factors == (0, 1)
    ignored = "base.json: the next state given for EOS in 1 state is ignored: after EOS, only EOS"
    assert model.source.notes == (ignored,)


def test_eos_needs_no_next_state(write):
    model = read(write(automaton(state('{"a": "1/2", "b": "1/2"}', '{"a": "even"}'), eos='"b"')))
    assert model.source.notes == ()
    assert model.next.tolist() == [[0, 1], [1, 1]]


def test_a_token_of_probability_0_may_have_a_next_state(write):
    assert read(write(automaton(state('{"a": 1}')))).next.tolist() == [[0, 0]]


def test_decimals_are_renormalised_exactly_and_noted(write):
    model = read(write(automaton(state('{"a": 0.50000001, "b": 0.5}'))))
    assert model.rows.exact(0).factors == (Fraction(50000001, 100000001), Fraction(50000000, 100000001))
    assert model.source.notes == ("base.json: 1 row renormalised, by at most 1e-8",)


def test_names_are_any_strings(write):
    names = ["", "a b", 'q"é\n', "states.x", "0"]
    leads = ", ".join(state('{"a": 1}', json.dumps({"a": name, "b": ""}), json.dumps(name)[1:-1]) for name in names)
    model = read(write(automaton(leads, initial='""')))
    assert list(model.states) == names
    save(model, "out.json")
    assert same(load("out.json"), model)


HALVES = '{"a": "1/2", "b": "1/2"}'
BAD: Mapping[str, tuple[str, list[str]]] = {
    "missing keys": (
        '{"kind": "finite_state"}',
        [f'the key "{key}" is missing' for key in ("format", "vocabulary", "eos", "initial", "states")],
    ),
    "initial missing, and a row wrong": (
        automaton(state('{"a": 2}'), initial=None),
        ['the key "initial" is missing', "states.even.probabilities: sums to 2"],
    ),
    "unknown key": (automaton(steps="[]"), ['found the unknown key "steps"; needed only format, kind']),
    "repeated key": (automaton()[:-1] + ', "eos": null}', ['found the key "eos" 2 times']),
    "repeated state": (automaton(f"{EVEN}, {EVEN}, {ODD}"), ['found the key "even" 2 times in one object']),
    "version": (automaton(format='"factorcomp-model/2"'), ['format: found "factorcomp-model/2"; needed']),
    "unknown initial": (automaton(initial='"evn"'), ['initial: found "evn"; needed the name of a state']),
    "initial is no string": (automaton(initial="0"), ["initial: found 0; needed the name of a state"]),
    "no states": (automaton(""), ["states: found no state; needed at least one"]),
    "states is a list": (
        automaton(states="")[:-3] + "[]}",
        ["states: found a list of 0; needed an object with a state under each name"],
    ),
    "state is no object": (automaton('"even": 7'), ["states.even: found 7; needed an object with the keys prob"]),
    "keys of a state": (
        automaton('"even": {"probabilties": {}, "next": {}}'),
        ['states.even: found the unknown key "probabilties"', 'states.even: the key "probabilities" is missing'],
    ),
    "next missing": (
        automaton('"even": {"probabilities": {"a": 1}}'),
        ['states.even: the key "next" is missing'],
    ),
    "probabilities is a list": (
        automaton(state("[1, 0]")),
        ["states.even.probabilities: found a list of 2; needed an object with a number for each token"],
    ),
    "next is a string": (
        automaton(state(HALVES, '"even"')),
        ['states.even.next: found "even"; needed an object with the name of a state'],
    ),
    "unknown tokens": (
        automaton(state('{"a": 1, "c": 0}', '{"a": "even", "d": "even"}')),
        [
            "states.even.probabilities.c: no token of the vocabulary; needed one",
            "states.even.next.d: no token of the vocabulary; needed one",
        ],
    ),
    "next is missing for a token": (
        automaton(state(HALVES, '{"a": "odd"}') + ", " + ODD),
        ["states.even.next.b: is missing; needed the next state, as this token has a positive probability"],
    ),
    "next is missing, and the row wrong": (
        automaton(state('{"a": "1/2", "b": "1/3"}', '{"a": "even"}')),
        ["states.even.next.b: is missing", "states.even.probabilities: sums to 5/6"],
    ),
    "next is unknown": (
        automaton(state(HALVES, '{"a": "evn", "b": "even"}')),
        ['states.even.next.a: found "evn"; needed the name of a state'],
    ),
    "next is no string": (
        automaton(state(HALVES, '{"a": null, "b": ["even"]}')),
        ["states.even.next.a: found null; needed", "states.even.next.b: found a list of 1; needed"],
    ),
    "numbers": (
        automaton(state('{"a": NaN, "b": "0.5"}')),
        [
            "states.even.probabilities.a: found NaN; needed a finite number",
            'states.even.probabilities.b: found "0.5"; needed a string such as',
        ],
    ),
    "negative": (automaton(state('{"a": -1, "b": 2}')), ["states.even.probabilities.a: found -1; needed a prob"]),
    "a number is a list": (automaton(state('{"a": [1]}')), ["states.even.probabilities.a: found a list of 1"]),
    "exact sum": (
        automaton(state('{"a": "1/2", "b": "1/3"}')),
        ['states.even.probabilities: sums to 5/6; rows of integers and "p/q" strings must sum to 1 exactly'],
    ),
    "decimal sum": (
        automaton(state('{"a": 0.5, "b": 0.6}')),
        ["states.even.probabilities: sums to 11/10; rows with a decimal must sum to 1 within 1e-6"],
    ),
    "no probabilities": (automaton(state("{}")), ["states.even.probabilities: sums to 0"]),
    "a name to be quoted": (
        automaton(f"{EVEN}, {ODD}, {state('{}', name='a b')}"),
        ['states."a b".probabilities: sums to 0'],
    ),
    "surrogate": (
        automaton(f"{EVEN}, {ODD}, {state(HALVES, name=chr(92) + 'ud800')}"),
        [r'states."\ud800": found "\ud800", half a surrogate pair; needed Unicode text'],
    ),
    "vocabulary empty": (automaton(vocabulary="[]"), ["vocabulary: found no token; needed at least one"]),
    "vocabulary is no list, and a row wrong": (
        automaton(state('{"a": 2}'), vocabulary="3"),
        ["vocabulary: found 3; needed a list of tokens", "states.even.probabilities: sums to 2"],
    ),
    "token twice": (automaton(vocabulary='["a", "b", "a"]'), ['vocabulary: found "a" at 0 and 2']),
    "EOS unknown": (automaton(eos='"z"'), ['eos: found "z"; needed a token of the vocabulary, or null']),
    "EOS is no token": (automaton(eos="[]"), ["eos: found a list of 0; needed a token or null"]),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_every_place_found_and_needed(write, case):
    """The problems that are listed are these, and no others."""
    content, expected = BAD[case]
    found = problems_of(write(content))
    assert all(line.startswith("base.json: ") for line in found)
    for text in expected:
        assert any(text in line for line in found), (text, found)
    assert len(found) == len(expected)


def test_the_states_are_told_in_the_order_of_the_file(write, monkeypatch):
    """In blocks of any size."""
    monkeypatch.setattr(automata_building, "CELLS", 2)
    rows = [state('{"a": 2}' if index % 3 else "7", "{}", f"q{index}") for index in range(7)]
    found = problems_of(write(automaton(", ".join(rows), initial='"q0"')))
    assert list(dict.fromkeys(line.split(".")[2] for line in found)) == [f"q{index}" for index in range(7)]


def test_an_automaton_too_large_is_refused_before_it_is_allocated(write, monkeypatch):
    name = write(automaton(vocabulary=json.dumps(["a", "b", *map(str, range(10**5))])))
    size = Path(name).stat().st_size * 20
    monkeypatch.setattr(memory, "available", lambda: size)
    monkeypatch.setattr(automata_building, "MEMORY_PER_CELL", 10**4)
    assert problems_of(name)[0].startswith("base.json: an automaton of 2 states takes 2 GB")


@st.composite
def automata(draw) -> dict:
    """What `FiniteStateModel.from_states` takes: integer weights, normalised; next states for some tokens more."""
    vocab = draw(st.integers(1, 3))
    vocabulary = draw(st.lists(st.text(max_size=2), min_size=vocab, max_size=vocab, unique=True))
    names = draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True))
    eos = draw(st.none() | st.sampled_from(vocabulary))
    states = {}
    for name in names:
        weights = [draw(st.integers(0, 4) | st.integers(0, 10**25)) for _ in vocabulary]
        weights = weights if any(weights) else [1] * vocab
        targets = {token: draw(st.sampled_from(names)) for token in vocabulary}
        needed = [t for t, w in zip(vocabulary, weights, strict=True) if (w or draw(st.booleans())) and t != eos]
        states[name] = {
            "probabilities": {t: f"{w}/{sum(weights)}" for t, w in zip(vocabulary, weights, strict=True)},
            "next": {token: targets[token] for token in needed},
        }
    return {"states": states, "vocabulary": vocabulary, "initial": draw(st.sampled_from(names)), "eos": eos}


@given(given=automata())
def test_rational_automata_read_back_exactly(given, tmp_path_factory):
    model = FiniteStateModel.from_states(**given)
    path = tmp_path_factory.getbasetemp() / "round.json"
    save(model, path)
    again = read(str(path))
    assert same(again, model)
    assert again.source.notes == ()


@given(given=automata())
def test_files_and_python_mean_the_same(given, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "same.json"
    path.write_text(json.dumps({"format": "factorcomp-model/1", "kind": "finite_state"} | given))
    assert same(read(str(path)), FiniteStateModel.from_states(**given))


@given(given=automata())
def test_the_rows_are_those_of_the_states_that_prefixes_lead_to(given):
    """rows[q_t], q_t = next[q_{t-1}, y_t]: walked through the dictionaries that were given."""
    model = FiniteStateModel.from_states(**given)
    table, vocabulary, eos = model.tabulate(3), given["vocabulary"], given["eos"]
    reached: list = [given["initial"]]
    for length, rows in enumerate(table.steps):
        for index, name in enumerate(reached):
            gap = table.gaps is not None and bool(table.gaps[length][index])
            assert gap == (name is None)
            if name == ("ended",):
                assert rows.exact(index).factors == tuple(Fraction(token == eos) for token in vocabulary)
            elif name is not None:
                row = given["states"][name]["probabilities"]
                assert rows.exact(index).factors == tuple(Fraction(row[token]) for token in vocabulary)
        reached = [_step(given, name, token) for name in reached for token in vocabulary]


def _step(given: dict, name, token: str):
    if name is None:
        return None
    return ("ended",) if name == ("ended",) or token == given["eos"] else given["states"][name]["next"].get(token)


FLOATS = np.array([[0.1, 0.9], [0.0, 1.0]])


@pytest.mark.parametrize("scale", ["probs", "log_probs", "logits"])
def test_floats_read_back_to_rounding(scale, write):
    """The same support, and log-probabilities within 1e-12 (17 digits are written)."""
    with np.errstate(divide="ignore"):
        rows = FloatRows(FLOATS if scale == "probs" else np.log(FLOATS) + 3.0 * (scale == "logits"), scale)
    model = FiniteStateModel(("a", "b"), ("q", "r"), 1, rows, np.array([[1, 0], [NOWHERE, 0]]))
    save(model, "base.json")
    again = read("base.json")
    assert np.array_equal(again.next, model.next)
    assert (again.states, again.initial) == (("q", "r"), 1)
    np.testing.assert_allclose(again.rows.log_probs(0, 2), rows.log_probs(0, 2), rtol=0, atol=1e-12)


def test_the_json_that_is_written_is_the_documented_format(write):
    save(read(write(automaton())), "out.json")
    assert Path("out.json").read_text() == (
        '{"format": "factorcomp-model/1", "kind": "finite_state", "vocabulary": ["a", "b"], "eos": null,\n'
        ' "initial": "even",\n "states": {\n'
        ' "even": {"probabilities": {"a": "1/2", "b": "1/2"}, "next": {"a": "odd", "b": "even"}},\n'
        ' "odd": {"probabilities": {"a": 1}, "next": {"a": "even"}}}}\n'
    )


@pytest.mark.parametrize(
    ("states", "rows", "following", "message"),
    [
        (("q", "q"), FLOATS, [[0, 0], [0, 0]], "states.q: found 2 states of this name; needed each name once"),
        (("q", "r"), FLOATS - 1, [[0, 0], [0, 0]], r"states\.q\.a: found NaN"),
        (("q", "r"), FLOATS, [[0, NOWHERE], [0, 0]], r"states\.q\.next\.b: is missing; needed the next state"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in log")
def test_what_could_not_be_read_back_is_refused_and_nothing_is_written(write, states, rows, following, message):
    model = FiniteStateModel(("a", "b"), states, 0, FloatRows(rows, "probs"), np.array(following))
    with pytest.raises(InputError, match=message):
        save(model, "out.json")
    assert not Path("out.json").exists()


def test_only_json_holds_finite_state_models(write):
    model = read(write(automaton()))
    with pytest.raises(InputError, match=r"found a finite-state model; this ending needs a table; give the length"):
        save(model, "out.safetensors")


class TestFromStates:
    def test_numbers_are_exact_and_floats_dyadic(self):
        model = FiniteStateModel.from_states(
            {"q": {"probabilities": {"a": Fraction(1, 3), "b": "2/3"}, "next": {"a": "q", "b": "r"}},
             "r": {"probabilities": {"a": 0.25, "b": np.float64(0.75)}, "next": {"a": "q", "b": "q"}}},
            ("a", "b"), "r",
        )  # fmt: skip
        assert [model.rows.exact(index).factors for index in range(2)] == [
            (Fraction(1, 3), Fraction(2, 3)),
            (Fraction(1, 4), Fraction(3, 4)),
        ]
        assert isinstance(model.rows, RationalRows)
        assert model.source.notes == ()

    @pytest.mark.parametrize("row", [{"a": 0.1, "b": 0.9}, {"a": 0.5, "b": 0.5000001}])
    def test_only_more_than_rounding_is_noted(self, row):
        states = {"q": {"probabilities": row, "next": {"a": "q", "b": "q"}}}
        model = FiniteStateModel.from_states(states, ["a", "b"], "q")
        assert bool(model.source.notes) == (row["b"] != 0.9)

    def test_wrong_states_are_refused_as_files_are(self):
        states = {
            "q": {"probabilities": {"a": object(), "b": True}, "next": {"a": "r"}},
            "s": {"probabilities": {"a": float("nan")}, "next": {3: "q"}},
            7: 5,
        }
        with pytest.raises(InputError) as caught:
            FiniteStateModel.from_states(states, ["a", "b"], "x", eos="c", name="here")
        assert list(caught.value.problems) == [
            'here: eos: found "c"; needed a token of the vocabulary, or null',
            'here: initial: found "x"; needed the name of a state',
            'here: states.q.probabilities.a: found a object; needed a number, or a string such as "1/3"',
            'here: states.q.probabilities.b: found true; needed a number, or a string such as "1/3"',
            'here: states.q.next.a: found "r"; needed the name of a state',
            "here: states.s.probabilities.a: found NaN; needed a finite number",
            "here: states.s.next.a int: no token of the vocabulary; needed one",
            "here: states.a int: found a int as a name; needed a string",
            "here: states.a int: found a int; needed an object with the keys probabilities and next",
        ]
