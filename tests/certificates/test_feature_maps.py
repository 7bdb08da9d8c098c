"""Feature-map files are read by the kernel exactly, or refused with the place and what was needed."""

import json
from itertools import product
from pathlib import Path

import pytest

from factorcomp.certificates import KernelError, read_feature_map
from tests.feature_maps import written

SWAP, SAME = {"a": "b", "b": "a"}, {"a": "a", "b": "b"}
TURN = {"s": {"output": SAME, "next": {"a": "s", "b": "t"}}, "t": {"output": SWAP, "next": {"a": "s", "b": "t"}}}
MAPS = {
    "table": {"length": 1, "table": [["b"], ["a"]]},
    "position_wise": {"positions": [SAME, SWAP]},
    "prefix_dependent": {"steps": [[["a", "b"]], [["a", "b"], ["b", "a"]]]},
    "transducer": {"initial": "s", "states": TURN},
}


def described(kind: str, /, **changes: object) -> dict:
    head = {"format": "factorcomp-features/1", "kind": kind, "vocabulary": ["a", "b"], "features": ["a", "b"]}
    return head | MAPS[kind] | changes


@pytest.mark.parametrize(
    ("kind", "said", "lengths"),
    [
        ("table", ["b", "a"], (1, 1)),
        ("position_wise", ["ab", "aa", "bb", "ba"], (0, 2)),
        ("prefix_dependent", ["aa", "ab", "bb", "ba"], (0, 2)),
        ("transducer", ["aa", "ab", "bb", "ba"], (0, None)),
    ],
)
def test_every_kind_is_read(kind: str, said: list[str], lengths: tuple, tmp_path: Path) -> None:
    features = read_feature_map(written(described(kind), tmp_path))
    assert (features.shortest, features.longest) == lengths
    assert ["".join(features.apply(word)) for word in product("ab", repeat=len(said[0]))] == said
    assert (features.machine is None) is (kind != "transducer")


@pytest.mark.parametrize("length", [0, 64])
def test_the_shortest_and_the_longest_table(length: int, tmp_path: Path) -> None:
    """One token has one sequence of each length, of 64 tokens at most (65 are refused below)."""
    file = described("table", vocabulary=["a"], features=["x"], length=length, table=[["x"] * length])
    features = read_feature_map(written(file, tmp_path))
    assert (features.shortest, features.longest, features.apply(("a",) * length)) == (length, length, ("x",) * length)


STATE = {"output": SAME, "next": {"a": "s", "b": "s"}}
WRONG = {
    "another kind": (described("table", kind="tree"), "kind: got"),
    "another version": (described("table", format="factorcomp-features/2"), "format: got"),
    "a feature token twice": (described("table", features=["a", "a", "b"]), '"a" twice'),
    "a coordinate twice": (described("table", masks={"up": [0, 0]}), "masks.up: .*different coordinates from 0"),
    "a coordinate below 0": (described("table", masks={"up": [1, -1]}), "masks.up: .*different coordinates from 0"),
    "too few tuples": (described("table", table=[["a"]]), r"got 1 tuples and length 1, needed 2\^1"),
    "a negative length": (described("table", length=-1, table=[]), "length -1"),
    "a very long length": (
        described("table", vocabulary=["a"], features=["x"], length=65, table=[["x"] * 65]),
        "length 65",
    ),
    "an unknown feature token": (described("table", table=[["b"], ["c"]]), r'table\[1\]: got "c"'),
    "tuples of two sizes": (described("table", table=[["b"], ["a", "a"]]), r"table\[1\]: got 2 .*needed 1"),
    "a token without a feature": (
        described("position_wise", positions=[SAME, {"a": "a"}]),
        r"positions\[1\]: got other",
    ),
    "a feature for two tokens": (described("position_wise", positions=[{"a": "a", "b": "a"}]), "twice"),
    "too few relabellings": (described("prefix_dependent", steps=[[["a", "b"]], [["a", "b"]]]), r"steps\[1\]: got 1"),
    "a short relabelling": (described("prefix_dependent", steps=[[["a"]]]), r"steps\[0\]\[0\]: got 1 feature tokens"),
    "no such initial state": (described("transducer", initial="x"), 'initial: got "x"'),
    "no such next state": (
        described("transducer", states={"s": STATE | {"next": {"a": "s", "b": "x"}}}),
        r'states\["s"\].next: got other tokens or states',
    ),
    "no next state": (
        described("transducer", states={"s": STATE | {"next": {"a": "s"}}}),
        "got other tokens or states",
    ),
    "a next state of no token": (
        described("transducer", states={"s": STATE | {"next": {"a": "s", "b": "s", "c": "s"}}}),
        "got other tokens or states",
    ),
    "an output for no token": (
        described("transducer", states={"s": STATE | {"output": {"a": "b"}}}),
        "output: got other",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_another_file_is_refused_with_its_place(case: str, tmp_path: Path) -> None:
    file, message = WRONG[case]
    path = written(json.loads(json.dumps(file)), tmp_path)
    with pytest.raises(KernelError, match=message) as caught:
        read_feature_map(path)
    assert str(caught.value).startswith(str(path))
