"""The counted example: what is counted, how it is smoothed, and that it comes out the same each time."""

import doctest
from fractions import Fraction
from itertools import pairwise

import numpy as np

from factorcomp.formats import load
from factorcomp.models.finite_state import FiniteStateModel
from toy_tasks.prose_and_code import count
from toy_tasks.prose_and_code.count import BEGIN, END, VOCABULARY, counted, kind, main, model


def test_the_documentation_of_the_script():
    assert doctest.testmod(count).failed == 0


def test_every_character_is_a_token():
    """Upper case is lower case, and what has no token of its own is `other`; no character is the end of a line."""
    kinds = {kind(chr(code)) for code in range(0x3000)}
    assert kinds == {*VOCABULARY} - {END}
    assert {kind(character) for character in "éßİ@\t²"} == {"other"}


def test_counts_are_smoothed_by_one():
    """p(y | s) = (c(s, y) + 1) / (Σ_z c(s, z) + |V|), by counting in the text itself."""
    text = "a b\n\n  Ab1\nb\n"
    lines = [[BEGIN, "a", "space", "b", END], [BEGIN, "a", "b", "digit", END], [BEGIN, "b", END]]
    pairs = [pair for line in lines for pair in pairwise(line)]
    found = model(counted(text), "text")
    for place, state in enumerate(found.states):
        after = [token for before, token in pairs if before == state]
        row = tuple(Fraction(after.count(token) + 1, len(after) + len(VOCABULARY)) for token in VOCABULARY)
        assert found.rows.exact(place).factors == row
    states = [*found.states, END]
    assert [[states[target] for target in row] for row in found.next[:-1]] == [[*VOCABULARY]] * len(found.states)


def test_the_files_are_small_and_the_same_each_time(tmp_path):
    main(tmp_path / "first")
    main(tmp_path / "second")
    models: dict[str, FiniteStateModel] = {}
    for name in ("background", "prose", "code"):
        data = (tmp_path / "first" / f"{name}.json").read_bytes()
        assert data == (tmp_path / "second" / f"{name}.json").read_bytes()
        assert len(data) < 300_000
        models[name] = load(tmp_path / "first" / f"{name}.json")
        assert models[name].source.notes == ()
    every = np.arange(len(models["background"].states))
    for name in ("prose", "code"):
        assert not models[name].rows.identical(every, models["background"].rows, every).any()
