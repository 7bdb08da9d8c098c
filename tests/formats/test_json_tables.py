"""JSON tables: read exactly, refused with every problem, written so that they read back."""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from factorcomp.formats import load, save
from factorcomp.models import memory
from factorcomp.models.errors import InputError
from factorcomp.models.rows import FloatRows, TiltedRows
from factorcomp.models.tabular import TabularModel
from tests.models.tables import TABLES, rational_tables, same_tables


def table(steps: str, vocabulary: str = '["a", "b"]', eos: str = "null", **other: str) -> str:
    """A tabular file with these JSON texts as values."""
    fields = {
        "format": '"factorcomp-model/1"',
        "kind": '"tabular"',
        "vocabulary": vocabulary,
        "eos": eos,
        "steps": steps,
    }
    return "{" + ", ".join(f'"{key}": {value}' for key, value in (fields | other).items()) + "}"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes base.json into the current directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> str:
        (tmp_path / "base.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        return "base.json"

    return write


def problems_of(name: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(name)
    return list(caught.value.problems)


class TestNumbers:
    def test_a_number_means_the_decimal_written_and_a_string_the_fraction(self, write):
        model = load(write(table('[[[0.1, "9/10"]], [["2/4", 5e-1], [1, 0]]]')))
        assert model.steps[0].exact(0).factors == (Fraction(1, 10), Fraction(9, 10))
        assert model.steps[1].exact(0).factors == (Fraction(1, 2), Fraction(1, 2))
        assert model.steps[1].exact(1).factors == (1, 0)
        assert model.source.notes == ()

    def test_numbers_that_fit_are_64_bit_and_others_python_integers(self, write):
        small, large = table('[[["1/3", "2/3"]]]'), table(f'[[["1/{3**50}", "{3**50 - 1}/{3**50}"]]]')
        assert load(write(small)).steps[0].numerators.dtype == np.int64
        rows = load(write(large)).steps[0]
        assert rows.numerators.dtype == object
        assert rows.exact(0).factors[0] == Fraction(1, 3**50)

    @pytest.mark.parametrize("tiny", ["1e-400", f'"1/1{"0" * 400}"', f"0.{'0' * 399}1"])
    def test_a_probability_below_every_float_stays_positive(self, write, tiny):
        rest = f'"{10**400 - 1}/{10**400}"'
        logs = load(write(table(f"[[[{tiny}, {rest}]]]"))).steps[0].log_probs(0, 1)
        assert logs[0, 0] == pytest.approx(-400 * math.log(10))

    @pytest.mark.parametrize("zero", ["0", "-0", "0.0", "-0.0", "0e5", '"0"', '"0/7"', '"-0"'])
    def test_zero_is_zero_however_it_is_written(self, write, zero):
        assert load(write(table(f"[[[{zero}, 1]]]"))).steps[0].log_probs(0, 1).tolist() == [[-math.inf, 0.0]]

    def test_decimals_within_a_millionth_are_renormalised_exactly_and_noted(self, write):
        model = load(write(table('[[["1/2", "1/2"]], [[0.50000001, 0.5], [0.5, 0.5]]]')))
        assert model.steps[1].exact(0).factors == (Fraction(50000001, 100000001), Fraction(50000000, 100000001))
        assert model.source.notes == ("base.json: 1 row of step 1 renormalised, by at most 1e-8",)

    @pytest.mark.parametrize(("off", "reads"), [("0.000001", True), ("0.0000010000000001", False)])
    def test_the_tolerance_is_decided_exactly(self, write, off, reads):
        name = write(table(f"[[[1, {off}]]]"))
        if reads:
            assert load(name).source.notes == ("base.json: 1 row of step 0 renormalised, by at most 1e-6",)
        else:
            assert "must sum to 1 within 1e-6" in problems_of(name)[0]

    def test_a_sum_that_is_1_only_modulo_2_to_the_64_is_refused(self, write):
        """9 · 2^61 = 2^61 in 64 bits: nine tokens of probability 1 must not pass for a distribution."""
        cell = f'"{2**61}/{2**61}"'
        found = problems_of(write(table(f"[[[{', '.join([cell] * 9)}]]]", vocabulary=json.dumps(list("abcdefghi")))))
        assert found[0].startswith("base.json: steps[0][0]: sums to 9; ")

    def test_common_denominators_beyond_64_bits_are_exact(self, write):
        """x/(pq) + y/(qr) + z/(rp) = 1 although pqr needs 75 bits."""
        p, q, r = 33554393, 33554383, 33554371
        y = z = q * r // 3
        z -= (y * p + z * q) * pow(q, -1, r) % r
        x = (p * q * r - y * p - z * q) // r
        assert Fraction(x, p * q) + Fraction(y, q * r) + Fraction(z, r * p) == 1
        cells = f'"{x}/{p * q}", "{y}/{q * r}", "{z}/{r * p}"'
        rows = load(write(table(f"[[[{cells}]]]", vocabulary='["a", "b", "c"]'))).steps[0]
        assert rows.exact(0).factors == (Fraction(x, p * q), Fraction(y, q * r), Fraction(z, r * p))

    @given(rows=st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any), min_size=1, max_size=1))
    def test_exact_sums_agree_with_fractions(self, rows):
        """Every row of weights w_j / Σ w is read as these fractions, in lowest terms."""
        total = sum(rows[0])
        model = TabularModel.from_probabilities([[[f"{w}/{total}" for w in rows[0]]]], ["a", "b", "c"])
        assert model.steps[0].exact(0).factors == tuple(Fraction(w, total) for w in rows[0])


BAD = {
    "NaN": (table("[[[NaN, 1]]]"), ["steps[0][0][0]: found NaN; needed a finite number"]),
    "infinity": (table("[[[1, -Infinity]]]"), ["steps[0][0][1]: found -Infinity; needed a finite number"]),
    "negative": (table("[[[-0.5, 1.5]]]"), ["steps[0][0][0]: found -0.5; needed a probability, which is not negative"]),
    "negative fraction": (
        table('[[["-1/2", "3/2"]]]'),
        ['steps[0][0][0]: found "-1/2"; needed a probability, which is'],
    ),
    "denominator 0": (table('[[["1/0", 1]]]'), ['steps[0][0][0]: found "1/0"; needed a denominator other than 0']),
    "decimal in quotes": (
        table('[[["0.5", "1/2"]]]'),
        ['found "0.5"; needed a string such as "1/3" or "1"; decimals are'],
    ),
    "malformed strings": (
        table('[[["", "1/"]], [["/2", " 1"], ["1/2/3", "1_0"]]]'),
        [
            f"steps{place}: found"
            for place in ("[0][0][0]", "[0][0][1]", "[1][0][0]", "[1][0][1]", "[1][1][0]", "[1][1][1]")
        ],
    ),
    "other digits": (table('[[["１", "0"]]]'), ['steps[0][0][0]: found "１"; needed a string such as']),
    "boolean": (
        table("[[[true, false]]]"),
        ["steps[0][0][0]: found true; needed a number", "steps[0][0][1]: found false"],
    ),
    "null": (table("[[[null, 1]]]"), ["steps[0][0][0]: found null; needed a number"]),
    "list": (table("[[[[1], 1]]]"), ["steps[0][0][0]: found a list of 1; needed a number"]),
    "object": (table('[[[{"a": 1}, 1]]]'), ["steps[0][0][0]: found an object; needed a number"]),
    "exact sum": (
        table('[[["1/2", "1/3"]]]'),
        ['steps[0][0]: sums to 5/6; rows of integers and "p/q" strings must sum'],
    ),
    "nearly exact": (table('[[["1/3", "666666/1000000"]]]'), ["steps[0][0]: sums to 1499999/1500000; rows of"]),
    "decimal sum": (
        table("[[[0.5, 0.6]]]"),
        ["steps[0][0]: sums to 11/10; rows with a decimal must sum to 1 within 1e-6"],
    ),
    "zero row": (table("[[[0, 0]]]"), ["steps[0][0]: sums to 0"]),
    "ragged": (table("[[[1]]]"), ["steps[0][0]: found 1 numbers; needed 2, one for each token"]),
    "empty row": (table("[[[]]]"), ["steps[0][0]: found 0 numbers; needed 2"]),
    "row is no list": (table('[["10"]]'), ['steps[0][0]: found "10"; needed a list of probabilities']),
    "step is no list": (table("[7]"), ["steps[0]: found 7; needed a list of rows"]),
    "steps is no list": (table("{}"), ["steps: found an object; needed a list"]),
    "rows missing": (
        table("[[[1, 0]], [[1, 0]]]"),
        ["steps[1]: found 1 row; needed 2, one for each prefix of 1 tokens"],
    ),
    "rows too many": (table("[[[1, 0], [1, 0]]]"), ["steps[0]: found 2 rows; needed 1"]),
    "after EOS": (
        table("[[[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]", eos='"b"'),
        ["steps[1][1]: found another token possible after EOS; needed the EOS row"],
    ),
    "EOS unknown": (table("[]", eos='"z"'), ['eos: found "z"; needed a token of the vocabulary, or null']),
    "EOS is no token": (table("[]", eos="0"), ["eos: found 0; needed a token or null"]),
    "vocabulary empty": (table("[]", vocabulary="[]"), ["vocabulary: found no token; needed at least one"]),
    "vocabulary is no list": (table("[]", vocabulary='"ab"'), ['vocabulary: found "ab"; needed a list of tokens']),
    "tokens are no strings": (
        table("[]", vocabulary='["a", 1, null]'),
        ["vocabulary[1]: found 1;", "vocabulary[2]: found null;"],
    ),
    "token twice": (
        table("[]", vocabulary='["a", "b", "a"]'),
        ['vocabulary: found "a" at 0 and 2; needed each token once'],
    ),
    "surrogate": (table("[]", vocabulary=r'["\ud800"]'), [r'vocabulary[0]: found "\ud800", half a surrogate pair']),
    "version": (
        table("[]", format='"factorcomp-model/2"'),
        ['format: found "factorcomp-model/2"; needed "factorcomp-model/1"'],
    ),
    "kind": (table("[]", kind='"neural"'), ['kind: found "neural"; needed "tabular"']),
    "finite-state": (
        table("[]", kind='"finite_state"'),
        ['found the unknown key "steps"', 'the key "initial" is missing', 'the key "states" is missing'],
    ),
    "unknown key": (table("[]", colour="1"), ['found the unknown key "colour"; needed only format, kind']),
    "repeated key": (table("[]")[:-1] + ', "eos": null}', ['found the key "eos" 2 times in one object']),
    "repeated key inside": (
        table('[[[{"x": 1, "x": 2}, 1]]]'),
        ['the key "x" 2 times', "steps[0][0][0]: found an object"],
    ),
    "missing keys": ("{}", [f'the key "{key}" is missing' for key in ("format", "kind", "vocabulary", "eos", "steps")]),
    "no object": ("[]", ["found a list of 0; needed an object with the keys format, kind"]),
    "not JSON": ('{"format" 1}', ["not JSON at line 1, column 11: Expecting ':' delimiter"]),
    "empty": ("", ["not JSON at line 1, column 1: Expecting value (the file is empty)"]),
    "byte order mark": (b"\xef\xbb\xbf{}", ["starts with a byte order mark; needed UTF-8 without one"]),
    "not UTF-8": (b'{"a": "\xff"}', ["byte 7 is 0xff, which is not UTF-8"]),
    "nested lists": ("[" * 100_000, ["nested too deeply"]),
    "nested objects": ('{"a":' * 100_000, ["nested too deeply"]),
    "exponent": (
        table("[[[1e999999999, 1]]]"),
        ["steps[0][0][0]: found 1e999999999; needed an exponent between -5000"],
    ),
    "long exponent": (table(f"[[[1e{'9' * 5000}, 1]]]"), ["steps[0][0][0]: found 1e9999"]),
    "long number": (table(f"[[[{'1' * 4301}, 1]]]"), ["needed a number of at most 4300 digits"]),
    "long fraction": (table(f'[[["1/{"1" * 4301}", 1]]]'), ["needed a number of at most 4300 digits"]),
    "vast vocabulary": (
        table("[[[1]], []]", vocabulary=json.dumps([f"t{i}" for i in range(10**5)])),
        ["steps[0][0]: found 1", "needed 100000"],
    ),
    "vast step": (
        table("[" + "[]," * 99 + "[]]"),
        ["steps[0]: found 0 rows; needed 1", "steps[99]: found 0 rows; needed 2^99"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_file_place_found_and_needed(write, case):
    content, expected = BAD[case]
    found = problems_of(write(content))
    assert all(line.startswith("base.json: ") for line in found)
    for text in expected:
        assert any(text in line for line in found), (text, found)


def test_every_problem_is_listed():
    """The problems of head and rows come out together, in the order of the file."""
    with pytest.raises(InputError) as caught:
        TabularModel.from_probabilities([[[1, 1]], [[-1, 2], ["x", 1]]], ["a", "a"], "z", name="bad")
    places = [line.split(": ")[1] for line in caught.value.problems]
    assert places == ["vocabulary", "eos", "steps[0][0]", "steps[1][0][0]", "steps[1][1][0]"]


def test_the_first_hundred_problems_are_listed_and_the_others_counted(write):
    found = problems_of(write(table("[" + ",".join(["[[0.5, -1]]"] * 60) + "]")))
    assert len(found) == 101
    assert found[-1] == "base.json: and 19 more"  # 60 numbers, and 59 steps with a row too few


def test_a_common_denominator_beyond_reason_is_refused_quickly(write):
    """Adding up n fractions with n different denominators of 4000 digits takes longer than anybody waits."""
    cells = [f'"1/{10**4000 + 2 * place + 1}"' for place in range(300)]
    found = problems_of(write(table(f"[[[{', '.join(cells)}]]]", vocabulary=json.dumps([str(i) for i in range(300)]))))
    assert "needs a common denominator of more than" in found[0]


def test_a_file_too_large_for_memory_is_refused_before_it_is_read(write, monkeypatch):
    name = write(table("[]"))
    monkeypatch.setattr(memory, "available", lambda: 1000)
    assert problems_of(name)[0].startswith("base.json: reading this table takes ")


@given(
    data=st.binary(max_size=60) | st.text(alphabet='[]{}",:0123456789.eE+-/ab nulltrue', max_size=60).map(str.encode)
)
def test_noise_is_refused_and_never_crashes(data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "noise.json"
    path.write_bytes(data)
    with pytest.raises(InputError):
        load(path)


@given(
    steps=st.recursive(
        st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | st.sampled_from(["1/2", "x"]), st.lists
    )
)
def test_any_value_in_place_of_the_steps_is_read_or_refused(steps, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(table(json.dumps(steps)))
    try:
        model = load(path)
    except InputError:
        return
    assert all(sum(rows.exact(index).factors) == 1 for rows in model.steps for index in range(rows.shape[0]))


@given(given=rational_tables())
def test_a_rational_table_reads_back_exactly(given, tmp_path_factory):
    model = TabularModel.from_probabilities(*given)
    path = tmp_path_factory.getbasetemp() / "round.json"
    save(model, path)
    assert same_tables(load(path), model)
    assert load(path).source.notes == ()


@pytest.mark.parametrize("scale", ["probs", "log_probs", "logits"])
def test_a_table_of_floats_reads_back_to_rounding(scale, write):
    """The same support, and log-probabilities within 1e-12 (17 digits are written)."""
    model = TABLES[scale]
    save(model, "base.json")
    read = load("base.json")
    for mine, theirs in zip(model.steps, read.steps, strict=True):
        ours, others = mine.log_probs(0, mine.shape[0]), theirs.log_probs(0, mine.shape[0])
        assert np.array_equal(ours == -np.inf, others == -np.inf)
        np.testing.assert_allclose(others, ours, rtol=0, atol=1e-12)


def test_a_probability_that_underflows_is_written_as_a_positive_decimal(write):
    model = TabularModel.from_log_probs([[[0.0, -2000.0]]], ["a", "b"])
    save(model, "base.json")
    assert "e-869" in Path("base.json").read_text().lower()
    assert load("base.json").steps[0].log_probs(0, 1)[0, 1] == pytest.approx(-2000)


def test_what_json_cannot_hold_is_refused_and_nothing_is_written(write):
    far = FloatRows(np.array([[0.0, -20000.0]]), "logits")
    never = TiltedRows(
        FloatRows(np.array([[1.0, 0.0]]), "probs"), FloatRows(np.array([[0.0, 1.0]]), "probs"), Fraction(2)
    )
    for rows, message in (
        (far, "below 1e-5000"),
        (never, "found -inf for every token; needed a token that is possible"),
    ):
        with pytest.raises(InputError, match=message):
            save(TabularModel(("a", "b"), (rows,)), "out.json")
    assert os.listdir() == []
