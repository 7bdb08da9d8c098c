"""Safetensors tables: numbers kept as given, refused with every problem."""

import contextlib
import json
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from factorcomp.formats import load, save
from factorcomp.models import memory
from factorcomp.models.errors import InputError
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import TabularModel
from tests.models.tables import TABLES, rational_tables, same_tables

CHAR_LSTM = Path(__file__).parents[3] / "shared" / "data" / "char_lstm"
HALVES = np.full(2, np.log(0.5))
GOOD = {"step_0": HALVES, "step_1": np.stack([HALVES, HALVES])}
METADATA = {"vocabulary": '["a", "b"]', "values": "log_probs"}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes base.safetensors into the current directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(tensors: dict[str, np.ndarray], **metadata: str | None) -> str:
        kept = {key: value for key, value in (METADATA | metadata).items() if value is not None}
        safetensors.numpy.save_file(tensors, "base.safetensors", metadata=kept)
        return "base.safetensors"

    return write


def problems_of(name: str | Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(name)
    return list(caught.value.problems)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("scale", ["probs", "log_probs", "logits"])
def test_the_numbers_are_kept_as_given(write, dtype, scale):
    given = {"probs": [0.25, 0.75], "log_probs": [0.0, -np.inf], "logits": [3.5, -np.inf]}[scale]
    rows = load(write({"step_0": np.array(given, dtype=dtype)}, values=scale)).steps[0]
    assert (rows.scale, rows.values.dtype) == (scale, dtype)
    assert rows.values.tolist() == [given]


def test_bfloat16_is_held_exactly_by_float32(write, tmp_path):
    bits = np.array([0x3F80, 0xFF80, 0xC049, 0x0001], dtype=np.uint16)
    header = {"__metadata__": {"vocabulary": '["a", "b", "c", "d"]', "values": "logits"}}
    header["step_0"] = {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}
    text = json.dumps(header).encode()
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bits.tobytes())
    rows = load(tmp_path / "b.safetensors").steps[0]
    assert rows.values.dtype == np.float32
    assert rows.values[0].tolist() == bits.view(ml_dtypes.bfloat16).astype(np.float64).tolist()


BAD = {
    "no metadata": (
        GOOD,
        dict.fromkeys(METADATA),
        ['the key "vocabulary" is missing', 'the key "values" is missing; needed'],
    ),
    "values": (GOOD, {"values": "nats"}, ['metadata: the key "values" is "nats"; needed log_probs, logits or probs']),
    "vocabulary is no JSON": (GOOD, {"vocabulary": "a b"}, ["metadata vocabulary: not JSON at line 1, column 1"]),
    "vocabulary is no list": (GOOD, {"vocabulary": "7"}, ["vocabulary: found 7; needed a list of tokens"]),
    "token twice": (GOOD, {"vocabulary": '["a", "a"]'}, ['vocabulary: found "a" at 0 and 1; needed each token once']),
    "eos": (GOOD, {"eos": "c"}, ['eos: found "c"; needed a token of the vocabulary']),
    "gap": ({"step_0": HALVES, "step_2": HALVES}, {}, ["the tensor step_1 is missing", 'found the tensor "step_2"']),
    "other tensor": (GOOD | {"weight": HALVES}, {}, ['found the tensor "weight"; needed only step_0, step_1, …']),
    "leading zero": ({"step_00": HALVES}, {}, ['found the tensor "step_00"']),
    "shape": (GOOD | {"step_1": HALVES}, {}, ["step_1: found the shape [2]; needed [2, 2]"]),
    "type": (
        GOOD | {"step_0": np.array([1, 0])},
        {},
        ["step_0: found numbers of type I64; needed F64, F32, F16, BF16"],
    ),
    "NaN": (
        GOOD | {"step_1": np.array([HALVES, [0, np.nan]])},
        {},
        ["step_1[1, 1]: found NaN; needed a finite number or"],
    ),
    "+inf": (GOOD | {"step_0": np.array([0, np.inf])}, {}, ["step_0[1]: found inf; needed a finite number or -inf"]),
    "-inf alone": (
        GOOD | {"step_0": np.full(2, -np.inf)},
        {},
        ["step_0[…]: found -inf for every token; needed a token"],
    ),
    "sum": (
        GOOD | {"step_0": np.zeros(2)},
        {},
        ["step_0[…]: exponentials sum to 2; needed 1 within 1e-6; logits need"],
    ),
    "overflow": (GOOD | {"step_0": np.array([1e300, 0])}, {}, ["step_0[…]: exponentials sum to inf"]),
    "negative": (
        {"step_0": np.array([-0.5, 1.5])},
        {"values": "probs"},
        ["step_0[0]: found -0.5; needed a probability: finite"],
    ),
    "no mass": ({"step_0": np.zeros(2)}, {"values": "probs"}, ["step_0[…]: found 0 for every token"]),
    "sum of probabilities": (
        {"step_0": np.array([0.5, 0.50001])},
        {"values": "probs"},
        ["step_0[…]: probabilities sum to 1.00001"],
    ),
    "half precision": (GOOD | {"step_0": HALVES.astype(np.float16)}, {}, ["step_0[…]: exponentials sum to 1.00"[:30]]),
    "after EOS": (GOOD, {"eos": "b"}, ["step_1[1, …]: found another token possible after EOS; needed the EOS row"]),
    "all together": (
        {"step_0": np.array([np.nan, 0]), "step_1": HALVES},
        {"eos": "c"},
        ["eos: found", "step_0[0]: found NaN", "step_1: found the shape"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_file_place_found_and_needed(write, case):
    tensors, metadata, expected = BAD[case]
    found = problems_of(write(tensors, **metadata))
    assert all(line.startswith("base.safetensors: ") for line in found)
    for text in expected:
        assert any(text in line for line in found), (text, found)


def test_eos_rows_are_read_in_every_scale(write):
    for scale, row in (("probs", [0.0, 1.0]), ("log_probs", [-np.inf, 0.0]), ("logits", [-np.inf, 7.0])):
        first = {"probs": [0.5, 0.5], "log_probs": HALVES, "logits": [1.0, 1.0]}[scale]
        tensors = {"step_0": np.array(first), "step_1": np.array([first, row])}
        assert load(write(tensors, values=scale, eos="b")).eos == "b"


def test_other_metadata_is_ignored(write):
    assert load(write(GOOD, author="nobody")).horizon == 2


def test_a_key_twice_in_the_header_is_refused(tmp_path):
    text = b'{"__metadata__": {"values": "probs", "values": "logits", "vocabulary": "[\\"a\\"]"}}'
    (tmp_path / "twice.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    assert 'the key "values" 2 times' in problems_of(tmp_path / "twice.safetensors")[0]


class TestNotes:
    def test_rounding_of_the_type_is_not_noted(self, write):
        """A row of float32 sums to 1 only within its own rounding: ε (1 + log2 |V|)."""
        assert load(write({"step_0": HALVES.astype(np.float32)})).source.notes == ()

    def test_more_than_rounding_is_noted_and_not_repaired(self, write):
        off = np.array([0.5, 0.5 + 2.0**-21])
        model = load(write({"step_0": off}, values="probs"))
        assert model.source.notes == ("base.safetensors: 1 row of step 0 renormalised, by at most 5e-7",)
        assert np.array_equal(model.steps[0].values[0], off)

    def test_logits_need_no_note(self, write):
        assert load(write({"step_0": np.array([5.0, 6.0])}, values="logits")).source.notes == ()


def test_truncated_and_altered_files_are_refused(write):
    data = Path(write(GOOD)).read_bytes()
    for part in [data[:length] for length in range(0, len(data), 7)] + [data + b"x", b"\xff" * 8 + data]:
        Path("part.safetensors").write_bytes(part)
        assert "not a safetensors file" in problems_of("part.safetensors")[0]


@given(position=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_one_altered_byte_is_read_or_refused_and_never_crashes(position, byte, tmp_path_factory):
    data = bytearray(safetensors.numpy.save(GOOD, METADATA))
    data[position % len(data)] = byte
    path = tmp_path_factory.getbasetemp() / "altered.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        load(path)


def test_a_file_too_large_for_memory_is_refused_before_it_is_read(write, monkeypatch):
    name = write(GOOD)
    monkeypatch.setattr(memory, "available", lambda: 100)
    assert "reading this table takes" in problems_of(name)[0]


@pytest.mark.parametrize("scale", TABLES)
def test_floats_read_back_exactly_with_their_scale(write, scale):
    save(TABLES[scale], "out.safetensors")
    assert same_tables(load("out.safetensors"), TABLES[scale])


def test_floats_of_one_type_read_back_with_it(write):
    model = TabularModel(("a", "b"), (FloatRows(np.array([[1.5, -2]], dtype=np.float16), "logits"),))
    save(model, "out.safetensors")
    assert same_tables(load("out.safetensors"), model)


@given(given=rational_tables())
def test_rational_tables_are_written_as_log_probabilities(given, tmp_path_factory):
    model = TabularModel.from_probabilities(*given)
    path = tmp_path_factory.getbasetemp() / "round.safetensors"
    save(model, path)
    read = load(path)
    assert (read.vocabulary, read.eos, read.source.notes) == (model.vocabulary, model.eos, ())
    for mine, theirs in zip(model.steps, read.steps, strict=True):
        assert (theirs.scale, theirs.values.dtype) == ("log_probs", np.float64)
        assert np.array_equal(theirs.values, mine.log_probs(0, mine.shape[0]))


def test_steps_of_several_scales_become_log_probabilities(write):
    model = TabularModel(("a", "b"), (FloatRows(np.ones((1, 2)), "logits"), FloatRows(np.full((2, 2), 0.5), "probs")))
    save(model, "out.safetensors")
    assert [rows.scale for rows in load("out.safetensors").steps] == ["log_probs", "log_probs"]


def test_more_axes_than_numpy_has_are_refused_and_nothing_is_written(write):
    model = TabularModel.from_probabilities([[[1]]] * 65, ["a"])
    with pytest.raises(InputError, match=r"65 steps need a tensor with as many axes, and NumPy has 64; use \.json"):
        save(model, "out.safetensors")
    assert not Path("out.safetensors").exists()


@pytest.mark.skipif(not CHAR_LSTM.exists(), reason="needs ../shared/data/char_lstm, the published character LSTMs")
@pytest.mark.parametrize("name", ["base", "hacker_news", "legal_advice"])
def test_trained_networks_are_read_without_notes(name):
    """30,941 rows of 13 in float32, normalised by the networks to rounding."""
    model = load(CHAR_LSTM / f"{name}.safetensors")
    assert sum(rows.shape[0] for rows in model.steps) == 30941
    assert (model.horizon, model.eos, len(model.vocabulary)) == (5, "<s>", 13)
    assert model.source.notes == ()
