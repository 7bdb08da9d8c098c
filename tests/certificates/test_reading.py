"""Model files are read exactly or refused with file, place, what was found and what was needed."""

import json
import math
import struct
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import KernelError, digest, read_model

HALVES = [["1/2", "1/2"]]


def document(**changes: object) -> str:
    table = {"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": None}
    return json.dumps(table | {"steps": [HALVES]} | changes)


def rows(row: str) -> str:
    """A document of one row, as text."""
    return document(steps=[]).replace("[]", f"[[{row}]]")


def tensors(**changes: object) -> bytes:
    """A safetensors file with two steps of probabilities over two tokens, in F32."""
    values = changes.pop("data", struct.pack("<6f", 0.5, 0.5, 0.25, 0.75, 0.5, 0.5))
    metadata = {"vocabulary": '["a", "b"]', "values": "probs"} | changes.pop("metadata", {})
    header = {
        "__metadata__": metadata,
        "step_0": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "step_1": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]},
    }
    header = {key: value for key, value in (header | changes).items() if value is not None}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + values


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('"1/3","2/3"', (Fraction(1, 3), Fraction(2, 3))),
        ("0,1", (Fraction(0), Fraction(1))),
        ("0.1,0.9", (Fraction(1, 10), Fraction(9, 10))),
        ("1e-1,9E-1", (Fraction(1, 10), Fraction(9, 10))),
        ("-0.0,1", (Fraction(0), Fraction(1))),
        ("0.3333333,0.6666666", (Fraction(3333333, 10**7), Fraction(6666666, 10**7))),
    ],
)
def test_numbers_mean_the_decimal_written(row: str, expected: tuple, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(rows(f"[{row}]"))
    assert read_model(path).steps == ((expected,),)
    assert read_model(path).sha256 == digest(path)


@pytest.mark.parametrize("values", ["log_probs", "logits"])
def test_the_log_of_a_certain_token_is_zero(values: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    logs = (0.0, -math.inf, -math.inf, 0.0, math.log(0.5), math.log(0.5))
    path.write_bytes(tensors(metadata={"values": values}, data=struct.pack("<6f", *logs)))
    model = read_model(path)
    assert (model.scale, model.steps[0], model.steps[1][0]) == ("logs", ((0.0, -math.inf),), (-math.inf, 0.0))


HOSTILE = {
    "not UTF-8": (b"\xff\xfe", "UTF-8"),
    "not JSON": ("{", "needed JSON"),
    "empty": ("", "needed JSON"),
    "two documents": (document() + "{}", "Extra data"),
    "nested": ("[" * 200_000, "nested too deeply"),
    "nested inside": (document(steps=[]).replace("[]", "[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "a key twice": (document().replace('"kind"', '"eos": null, "kind"'), '"eos" twice'),
    "an unknown key": (document(color="red"), 'got the key "color"'),
    "a missing key": ('{"format": "factorcomp-model/1", "kind": "tabular"}', 'got no "vocabulary"'),
    "a list": ("[]", "got a list of 0, needed a mapping"),
    "another version": (document(format="factorcomp-model/2"), 'format: got "factorcomp-model/2"'),
    "another kind": (document(kind="hidden"), 'kind: got "hidden", needed "tabular" or "finite_state"'),
    "a huge exponent": (rows("[1e999999999, 0]"), "exponent within 5000"),
    "a long exponent": (rows(f"[1e{'9' * 5000}, 0]"), "exponent within 5000"),
    "a small exponent": (rows("[1e-999999, 1]"), "exponent within 5000"),
    "many digits": (rows(f"[0.{'1' * 5000}, 0]"), "at most 4300 digits"),
    "a long integer": (rows(f"[{'1' * 5000}, 0]"), "integer of 5000 digits"),
    "a long string": (rows(f'["{"1" * 5000}", 0]'), "needed a number"),
    "NaN": (rows("[NaN, 1]"), "got NaN"),
    "Infinity": (rows("[Infinity, 1]"), "got Infinity"),
    "-Infinity": (rows("[-Infinity, 1]"), "got -Infinity"),
    "a boolean": (rows("[true, 0]"), r"steps\[0\]\[0\]\[0\]: got true"),
    "null": (rows("[null, 1]"), r"\[0\]: got null"),
    "a fraction over 0": (rows('["1/0", 0]'), "needed a number"),
    "words": (rows('["half", "half"]'), "got \"half\", needed a number, or a string such as '1/3'"),
    "other digits": (rows('["\u0661", 0]'), "needed a number"),
    "negative": (rows("[-0.5, 1.5]"), r"\[0\]: got -0.5, needed a probability"),
    "a sum": (rows('["1/3", "1/3"]'), "needed 1"),
    "exact and off by little": (rows('["1/3", "3333333/5000000"]'), "needed 1"),
    "decimal and off by much": (rows("[0.33, 0.66]"), "within 1e-06"),
    "ragged": (rows("[1]"), "got 1 numbers, needed 2"),
    "too few rows": (document(steps=[HALVES, HALVES]), r"steps\[1\]: got 1 rows, needed 2\^1"),
    "a repeated token": (document(vocabulary=["a", "b", "b"]), '"b" twice'),
    "no token": (document(vocabulary=[]), "needed at least one"),
    "a token that is no string": (document(vocabulary=["a", 1]), r"vocabulary\[1\]: got 1, needed a string"),
    "half a surrogate": (document(vocabulary=["a", "\ud800"]), "surrogate"),
    "an unknown EOS": (document(eos="c"), 'eos: got "c"'),
    "a row after EOS": (document(eos="b", steps=[HALVES, HALVES * 2]), "step 1, row 1: got a row after EOS"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json(name: str, tmp_path: Path) -> None:
    content, match = HOSTILE[name]
    path = tmp_path / "model.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KernelError, match=match) as caught:
        read_model(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400


def step(**changes: object) -> dict:
    return {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]} | changes


HOSTILE_TENSORS = {
    "empty": (b"", "0 bytes"),
    "short": (b"\1\2", "2 bytes"),
    "a header beyond the file": (struct.pack("<Q", 2**63) + b"{}", "needed the header within the file"),
    "a header one byte too long": (struct.pack("<Q", 3) + b"{}", "needed the header within the file"),
    "a header that is no mapping": (struct.pack("<Q", 2) + b"[]", "needed a mapping"),
    "no metadata": (struct.pack("<Q", 2) + b"{}", 'no "__metadata__"'),
    "an unknown kind of values": (tensors(metadata={"values": "odds"}), "needed log_probs, logits or probs"),
    "a vocabulary that is no list": (tensors(metadata={"vocabulary": "5"}), "vocabulary: got 5, needed a list"),
    "a vocabulary that is no JSON": (tensors(metadata={"vocabulary": "["}), "vocabulary"),
    "metadata that is no string": (tensors(metadata={"horizon": 2}), "horizon: got 2, needed a string"),
    "another tensor": (tensors(weight=step()), "needed step_0, step_1"),
    "a missing step": (tensors(step_0=None), "needed step_0, step_1"),
    "a dtype": (tensors(step_1=step(dtype="I32")), "dtype: got"),
    "a shape": (tensors(step_1=step(shape=[4])), "needed 2 times 2"),
    "a huge shape": (tensors(step_1=step(shape=[10**30, 10**30])), "needed 2 times 2"),
    "a boolean in a shape": (tensors(step_1=step(shape=[True, 2])), "got true, needed an integer"),
    "offsets outside": (tensors(step_1=step(data_offsets=[16, 32])), "data_offsets: got"),
    "offsets backwards": (tensors(step_1=step(data_offsets=[24, 8])), "data_offsets: got"),
    "negative offsets": (tensors(step_1=step(data_offsets=[-8, 8])), "data_offsets: got"),
    "offsets that do not match": (tensors(step_1=step(data_offsets=[8, 20])), "needed 16 of the 24 bytes"),
    "an overlap": (tensors(step_1=step(data_offsets=[0, 16])), "no gap and no overlap"),
    "bytes left": (tensors(data=struct.pack("<7f", 0.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0)), "4 bytes after"),
    "NaN": (tensors(data=struct.pack("<6f", 0.5, 0.5, math.nan, 0.75, 0.5, 0.5)), "step_1, row 0.*got nan"),
    "infinity": (tensors(data=struct.pack("<6f", 0.5, 0.5, math.inf, 0.75, 0.5, 0.5)), "got inf"),
    "negative": (tensors(data=struct.pack("<6f", 0.5, 0.5, -0.25, 1.25, 0.5, 0.5)), "got -0.25"),
    "a sum": (tensors(data=struct.pack("<6f", 0.5, 0.5, 0.25, 0.5, 0.5, 0.5)), "got the sum 0.75"),
    "log NaN": (tensors(metadata={"values": "logits"}, data=struct.pack("<6f", math.nan, *[0] * 5)), "got nan"),
    "log infinity": (tensors(metadata={"values": "logits"}, data=struct.pack("<6f", math.inf, *[0] * 5)), "got inf"),
    "nothing possible": (tensors(metadata={"values": "logits"}, data=struct.pack("<6f", *[-math.inf] * 6)), "-inf for"),
    "log sum": (tensors(metadata={"values": "log_probs"}), "needed a sum of 1 within"),
    "log overflow": (tensors(metadata={"values": "log_probs"}, data=struct.pack("<6f", *[3e38] * 6)), "sum of 1"),
    "a row after EOS": (tensors(metadata={"eos": "b"}), "step 1, row 1: got a row after EOS"),
}


@pytest.mark.parametrize("name", HOSTILE_TENSORS)
def test_hostile_safetensors(name: str, tmp_path: Path) -> None:
    content, match = HOSTILE_TENSORS[name]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(KernelError, match=match):
        read_model(path)


@pytest.mark.parametrize(
    ("dtype", "packed"),
    [
        ("F64", struct.pack("<2d", 0.25, 0.75)),
        ("F32", struct.pack("<2f", 0.25, 0.75)),
        ("F16", struct.pack("<2e", 0.25, 0.75)),
        ("BF16", struct.pack("<2H", 0x3E80, 0x3F40)),
    ],
)
def test_dtypes_are_read_exactly(dtype: str, packed: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    first = {"dtype": dtype, "shape": [2], "data_offsets": [0, len(packed)]}
    path.write_bytes(tensors(step_0=first, step_1=None, data=packed))
    assert read_model(path).steps == (((0.25, 0.75),),)


def test_horizon_zero_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(document(steps=[]))
    (tmp_path / "a.safetensors").write_bytes(tensors(step_0=None, step_1=None, data=b""))
    assert read_model(tmp_path / "a.json").horizon == read_model(tmp_path / "a.safetensors").horizon == 0


@pytest.mark.parametrize("name", ["model.bin", "absent.json", ".json"])
def test_other_files(name: str, tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="needed"):
        read_model(tmp_path / name)
