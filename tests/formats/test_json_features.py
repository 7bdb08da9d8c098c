"""Files of feature maps: every problem with its place, and what one reader refuses the other refuses."""

import copy
import json
import random
import re
from pathlib import Path

import pytest

from factorcomp.certificates import KernelError, read_feature_map
from factorcomp.formats import load_features
from factorcomp.models.errors import InputError
from tests.feature_maps import random_features, written

TABLE = {
    "format": "factorcomp-features/1",
    "kind": "table",
    "vocabulary": ["a", "b"],
    "features": ["x", "y"],
    "masks": {"up": [0]},
    "length": 1,
    "table": [["x"], ["y"]],
}
HEAD = {key: TABLE[key] for key in ("format", "vocabulary", "features")}
STATE = {"output": {"a": "x", "b": "y"}, "next": {"a": "q", "b": "q"}}
TRANSDUCER = HEAD | {"kind": "transducer", "initial": "q", "states": {"q": STATE}}
POSITIONS = HEAD | {"kind": "position_wise", "positions": [{"a": "x", "b": "y"}]}
STEPS = HEAD | {"kind": "prefix_dependent", "steps": [[["x", "y"]], [["x", "y"], ["y", "x"]]]}
WRONG = [
    ([], "found a list of 0; needed an object with the keys format, kind"),
    (
        TABLE | {"format": "factorcomp-features/2"},
        'format: found "factorcomp-features/2"; needed "factorcomp-features/1"',
    ),
    (TABLE | {"kind": "tabel"}, 'kind: found "tabel"; needed "table" or "position_wise"'),
    (TABLE | {"kind": None}, "kind: found null; needed"),
    ({key: TABLE[key] for key in TABLE if key != "length"}, 'the key "length" is missing'),
    (
        TABLE | {"extra": 1},
        'found the unknown key "extra"; needed only format, kind, vocabulary, features, length, table',
    ),
    (TABLE | {"vocabulary": ["a", "a"]}, 'vocabulary: found "a" at 0 and 1; needed each token once'),
    (TABLE | {"features": ["x", 3]}, "features[1]: found 3; needed a token"),
    (TABLE | {"features": []}, "features: found no token; needed at least one"),
    (TABLE | {"masks": [0]}, "masks: found a list of 1; needed an object"),
    (TABLE | {"masks": {"up": 0}}, "masks.up: found 0; needed different coordinates, counted from 0"),
    (TABLE | {"masks": {"up": [0, 0]}}, "masks.up: found a list of 2; needed different coordinates"),
    (TABLE | {"masks": {"up": [-1]}}, "masks.up: found a list of 1; needed different coordinates"),
    (TABLE | {"length": 0.5}, "length: found 0.5; needed a number of tokens"),
    (TABLE | {"length": True}, "length: found true; needed a number of tokens"),
    (TABLE | {"length": 2}, "table: found 2 tuples; needed 4, one for each sequence of 2 tokens"),
    (TABLE | {"table": [["x"], ["z"]]}, 'table[1][0]: found "z"; needed a feature token'),
    (TABLE | {"table": [["x"], ["y", "y"]]}, "table[1]: found 2 feature tokens; needed 1, as in the first tuple"),
    (TABLE | {"table": [["x"], "y"]}, 'table[1]: found "y"; needed a list of feature tokens'),
    (TABLE | {"table": {}}, "table: found an object; needed a list with a tuple for each sequence"),
    (POSITIONS | {"positions": [{"a": "x", "b": "x"}]}, 'positions[0].b: found "x" again; needed different'),
    (POSITIONS | {"positions": [{"a": "x"}]}, 'positions[0]: lacks the token "b"; needed every token'),
    (POSITIONS | {"positions": [{"a": "x", "b": None}]}, "positions[0].b: found null; needed a feature token"),
    (POSITIONS | {"positions": [{"a": "x", "b": "y", "c": "x"}]}, 'positions[0]: found the token "c"; needed one of'),
    (POSITIONS | {"positions": {}}, "positions: found an object; needed a list of objects"),
    (POSITIONS | {"positions": [["x", "y"]]}, "positions[0]: found a list of 2; needed an object"),
    (STEPS | {"steps": [[["x", "y"]], [["x", "y"]]]}, "steps[1]: found 1 relabellings; needed 2, one for each prefix"),
    (STEPS | {"steps": [[["x", "x"]]]}, 'steps[0][0][1]: found "x" again; needed different feature tokens'),
    (STEPS | {"steps": [[["x"]]]}, "steps[0][0]: found 1 feature tokens; needed 2, one for each token"),
    (STEPS | {"steps": 3}, "steps: found 3; needed a list with the relabellings of each step"),
    (TRANSDUCER | {"initial": "r"}, 'initial: found "r"; needed the name of a state'),
    (TRANSDUCER | {"states": {}}, "states: found an object; needed an object with a state or more"),
    (
        TRANSDUCER | {"states": {"q": {}}},
        'states.q: found the keys ; needed an object with the keys "output" and "next"',
    ),
    (
        TRANSDUCER | {"states": {"q": STATE | {"next": {"a": "q", "b": "r"}}}},
        'states.q.next.b: found "r"; needed the name',
    ),
    (TRANSDUCER | {"states": {"q": STATE | {"next": {"a": "q"}}}}, 'states.q.next: lacks the token "b"'),
    (TRANSDUCER | {"states": {"q": STATE | {"output": {"a": "y", "b": "y"}}}}, 'states.q.output.b: found "y" again'),
]


@pytest.mark.parametrize(("content", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_what_is_wrong_is_said_with_its_place_and_both_readers_refuse_it(content, message, tmp_path):
    path = written(content, tmp_path)
    with pytest.raises(InputError) as error:
        load_features(path)
    assert any(line.startswith(f"{path}: {message}") for line in error.value.problems), error.value.problems
    with pytest.raises(KernelError):
        read_feature_map(path)


@pytest.mark.parametrize(
    "content", [TABLE, TRANSDUCER, POSITIONS, STEPS, TABLE | {"length": 0, "table": [[]], "masks": {}}]
)
def test_what_is_right_is_read_by_both(content, tmp_path):
    path = written(content, tmp_path)
    assert load_features(path).kind == content["kind"]
    assert read_feature_map(path).features == ("x", "y")


def test_every_problem_is_listed(tmp_path):
    content = TABLE | {"table": [["z"], [3], ["x"]], "masks": {}}
    with pytest.raises(InputError) as error:
        load_features(written(content, tmp_path))
    assert len(error.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "the file is empty"), ("{", "not JSON"), ('{"kind": 1, "kind": 2}', "2 times"), ("\ud800", "not UTF-8")],
)
def test_text_that_is_no_json(text, message, tmp_path):
    path = tmp_path / "features.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError, match=message):
        load_features(path)


@pytest.mark.parametrize("name", ["none.json", "map.txt", "a\0b.json", "folder.json"])
def test_names_of_no_files(name, tmp_path):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match=r"no such file|needed a file that ends in \.json|cannot be read"):
        load_features(str(tmp_path / name))


PYTHON = """
from factorcomp.models.feature_maps import FeatureTable
def backwards(tokens):
    return tokens[::-1]
table = FeatureTable.from_tuples([["x"], ["y"]], ["a", "b"], 1)
number = 3
class Kind: pass
"""


def test_a_function_of_python(tmp_path, monkeypatch):
    (tmp_path / "maps_for_a_test.py").write_text(PYTHON)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    backwards = load_features("python:maps_for_a_test:backwards")
    assert backwards.tabulate(("a", "b"), 2).spelled(1) == ("b", "a")
    assert load_features("python:maps_for_a_test:table").source.name == "python:maps_for_a_test:table"
    for attribute, message in (("number", "found a int"), ("Kind", "found a class"), ("nothing", "AttributeError")):
        with pytest.raises(InputError, match=message):
            load_features(f"python:maps_for_a_test:{attribute}")


@pytest.mark.parametrize("seed", range(40))
def test_both_readers_refuse_the_same_alterations(seed, tmp_path):
    """One place of a right file is changed, dropped or doubled: both readers say the same of it."""
    draw = random.Random(seed)
    file = random_features(draw, "ab", draw.randint(1, 2), ["up"])
    for _ in range(12):
        altered = copy.deepcopy(file)
        at = altered
        while True:
            key = draw.choice(list(at) if isinstance(at, dict) else range(len(at))) if at else None
            if key is None or not isinstance(at[key], dict | list) or draw.random() < 0.3:
                break
            at = at[key]
        if key is None:
            continue
        change = draw.choice(["drop", "none", "number", "string", "double"])
        if change == "drop":
            del at[key]
        elif change == "double" and isinstance(at, list):
            at.append(at[key])
        else:
            at[key] = {"none": None, "number": 7, "string": "a"}.get(change, [])
        path = written(altered, tmp_path)
        answers = []
        for read, error in ((load_features, InputError), (read_feature_map, KernelError)):
            try:
                read(path)
                answers.append("read")
            except error:
                answers.append("refused")
        assert answers[0] == answers[1], json.dumps(altered)


def test_the_map_that_is_documented(tmp_path):
    """The JSON of the page is a map that both readers read."""
    text = (Path(__file__).resolve().parents[2] / "docs/features.md").read_text(encoding="utf-8")
    (block,) = [b for b in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if "factorcomp-features/1" in b]
    path = tmp_path / "features.json"
    path.write_text(block)
    assert load_features(path).masks == {"one": (0,), "two": (1,)}
    assert read_feature_map(path).image(("0", "1"), 2)[1] == ("1", "1")
