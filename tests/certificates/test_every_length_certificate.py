"""Certificates for every length: the invariant is derived again, and any other one is rejected, whatever the digest."""

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from factorcomp.certificates import (
    KernelError,
    Question,
    certificate,
    check_certificate,
    decide,
    digest,
    fingerprint,
    read_certificate,
    read_model,
    write_certificate,
)
from factorcomp.certificates.claims import Positions, Verdict
from tests.automata import random_automata

UNIFORM = {"a": "1/2", "b": "1/2"}


def contents(states: Mapping[str, tuple[Mapping, str]], eos: str | None = None) -> dict:
    """A finite-state file: for each state its probabilities and the states after a and b (`-`: none)."""
    written = {
        name: {"probabilities": row, "next": {y: q for y, q in zip("ab", after, strict=True) if q != "-"}}
        for name, (row, after) in states.items()
    }
    head = {"format": "factorcomp-model/1", "kind": "finite_state", "vocabulary": ["a", "b"], "eos": eos}
    return head | {"initial": next(iter(states)), "states": written}


FREE = contents({"s": (UNIFORM, "ss")})
ENDING = contents({"s": (UNIFORM, "ss")}, eos="b")
ONCE = contents({"s": (UNIFORM, "st"), "t": ({"a": "1/4", "b": "3/4"}, "zz"), "z": (UNIFORM, "zz")})
AGAIN = contents({"s": (UNIFORM, "st"), "t": ({"a": "1/4", "b": "3/4"}, "st")})
EVENLY = contents({"s": ({"a": "1/4", "b": "3/4"}, "tt"), "t": (UNIFORM, "ss")})
SILENT = contents({"s": ({"a": 1}, "s-")})
EVENS = {"up": Positions((), ((0, 2),))}

CASES: dict[str, tuple[dict, dict[str, dict], Question]] = {
    "one deviation": (FREE, {"up": ONCE}, Question("every")),
    "interleaved": (FREE, {"up": AGAIN, "down": ONCE}, Question("every", scope="all")),
    "masks": (FREE, {"up": EVENLY}, Question("every", masks=EVENS)),
    "masks found": (FREE, {"up": EVENLY}, Question("every", masks="auto")),
    "masks that clash": (FREE, {"up": EVENLY, "down": EVENLY}, Question("every", masks="auto")),
    "an end": (ENDING, {"up": ENDING}, Question("every")),
    "a gap": (SILENT, {"up": FREE}, Question("every")),
    "bounded": (FREE, {"up": ONCE}, Question(3)),
    "weighted": (FREE, {"up": ONCE}, Question("every", weights={"up": Fraction(1, 2)}, threshold=Fraction(1, 10))),
}


class Certified:
    """Models in files, and the certificate of what the kernel finds about them."""

    def __init__(self, background: dict, experts: Mapping[str, Any], question: Question, folder: Path) -> None:
        self.paths = {}
        for name, model in {"background": background, **experts}.items():
            self.paths[name] = folder / f"{name}.json"
            self.paths[name].write_text(json.dumps(model))
        self.background = self.paths.pop("background")
        models = {name: read_model(path) for name, path in self.paths.items()}
        self.findings = decide(read_model(self.background), models, question)
        required = "well_defined" if self.findings["well_defined"].verdict is Verdict.REFUTED else "interval_joint"
        self.path = folder / "certificate.json"
        self.data = certificate(
            self.findings,
            question,
            required=(required,),
            vocabulary=tuple(background["vocabulary"]),
            eos=background["eos"],
            background=(self.background.name, digest(self.background)),
            experts={name: (path.name, digest(path)) for name, path in self.paths.items()},
        )

    def reasons(self, data: dict) -> tuple[str, ...]:
        """The reasons against `data` with the right digest (none: accepted)."""
        write_certificate(self.path, data | {"digest": fingerprint(data)})
        try:
            return check_certificate(self.path, self.background, self.paths).reasons
        except KernelError as error:
            return (str(error),)


@pytest.mark.parametrize("name", CASES)
def test_what_is_found_is_certified(name: str, tmp_path: Path) -> None:
    case = Certified(*CASES[name], tmp_path)
    assert case.reasons(case.data) == ()
    assert read_certificate(case.path) == json.loads(json.dumps(case.data))


@pytest.mark.parametrize("seed", range(12))
def test_random_models_are_certified(seed: int, tmp_path: Path) -> None:
    instance = random_automata(random.Random(seed))
    case = Certified(instance.background, instance.experts, instance.question, tmp_path)
    assert case.reasons(case.data) == ()


def test_the_certificate_shows_the_invariant(tmp_path: Path) -> None:
    data = Certified(*CASES["one deviation"], tmp_path).data
    assert data["length"] == "every"
    assert data["evidence"] == {
        "invariant": {
            "states": [["s", "s"], ["s", "t"], ["s", "z"]],
            "next": [[0, 1], [2, 2], [2, 2]],
            "phases": [[["before"]], [["active"]], [["after"]]],
        },
        "masks": None,
    }


def test_masks_are_stated_as_they_are_typed(tmp_path: Path) -> None:
    given, found = (Certified(*CASES[name], tmp_path).data for name in ("masks", "masks found"))
    assert (given["masks"], given["evidence"]["masks"]) == ({"up": "0::2"}, {"up": "0::2"})
    assert (found["masks"], found["evidence"]["masks"]) == ("auto", {"up": "0::2"})


def test_no_invariant_of_what_is_not_defined(tmp_path: Path) -> None:
    data = Certified(*CASES["a gap"], tmp_path).data
    assert data["evidence"] == {"invariant": None, "masks": None}
    assert [claim["claim"] for claim in data["claims"]] == ["well_defined"]


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    """The paths to everything inside a value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def others(value: object) -> list[object]:
    """What else could stand in the place of a value."""
    if isinstance(value, str):
        kinds = (("before", "active", "after"), ("s", "t", "z"), ("HOLDS", "REFUTED"), ("0::2", "1::2"), ("a", "b"))
        return [other for kind in kinds if value in kind for other in kind if other != value] + [value + "x"]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, list):
        return [None, value + value[-1:], value[::-1], value[1:]]
    return [0, "s", [], {}] if value is None else [None]


UNALTERED = ("digest", "required", "verdict", "models", "vocabulary", "eos", "schema")
"""What test_certificate.py alters: it means the same at a length and at every one."""


def mutations(data: dict) -> Iterator[tuple[str, dict]]:
    """Each thing changed, dropped, added, turned around; but the digest and the names of files."""

    def with_change(path: tuple, change: Callable[[Any, Any], None]) -> dict:
        result = copy.deepcopy(data)
        target = result
        for key in path[:-1]:
            target = target[key]
        change(target, path[-1])
        return result

    for path in places(data):
        if path[0] in UNALTERED or path[-1] == "name":
            continue
        value = data
        for key in path:
            value = value[key]
        for other in others(value):
            if other != value:
                yield f"{path}={other!r}", with_change(path, lambda at, key, other=other: at.__setitem__(key, other))
        if path[0] != "claims" or len(path) != 2:  # a certificate may leave a claim out
            yield f"{path} dropped", with_change(path, lambda at, key: at.__delitem__(key))
        if isinstance(value, dict) and path[-1] != "weights":
            yield f"{path} added", with_change(path, lambda at, key: at[key].__setitem__("extra", 1))


def harmless(place: str, data: dict, case: dict) -> bool:
    """Fewer claims, or the same ones in another order, are as true as they were."""
    stated = [json.dumps(claim) for claim in data["claims"]] if isinstance(data.get("claims"), list) else ["x"]
    return (
        place.startswith("('claims',)")
        and {*stated} <= {json.dumps(claim) for claim in case["claims"]}
        and len({*stated}) == len(stated)
        and any(json.loads(claim)["claim"] in case["required"] for claim in stated)
    )


ALTERED = ("one deviation", "interleaved", "masks", "masks that clash", "an end", "a gap")


@pytest.mark.parametrize("name", ALTERED)
def test_any_alteration_is_rejected_by_derivation(name: str, tmp_path: Path) -> None:
    """Every state, phase, transition, mask, option and claim, one at a time, the digest computed anew."""
    case = Certified(*CASES[name], tmp_path)
    count = 0
    for place, data in mutations(case.data):
        if not harmless(place, data, case.data) and not equivalent(place, name):
            assert case.reasons(data), place
            count += 1
    assert count > 20


def equivalent(place: str, name: str) -> bool:
    """Other questions with the same true answers, about which a certificate is as true."""
    if place.startswith(("('threshold',)", "('weights',", "('weights', 'up')")):
        return True
    return place.startswith(("('scope',)", "('null_tokens',)"))


@pytest.mark.parametrize("key", ["states", "next", "phases"])
def test_the_invariant_in_another_order_is_rejected(key: str, tmp_path: Path) -> None:
    case = Certified(*CASES["one deviation"], tmp_path)
    data = copy.deepcopy(case.data)
    invariant = data["evidence"]["invariant"]
    invariant[key][0], invariant[key][2] = invariant[key][2], invariant[key][0]
    assert any(reason.startswith(f"evidence.invariant.{key}[") for reason in case.reasons(data))


def test_one_edge_more_is_named(tmp_path: Path) -> None:
    case = Certified(*CASES["one deviation"], tmp_path)
    data = copy.deepcopy(case.data)
    data["evidence"]["invariant"]["next"][1][0] = 1
    assert case.reasons(data) == ("evidence.invariant.next[1][0]: states 1, derived is 2",)


def test_the_digest_alone_is_checked_too(tmp_path: Path) -> None:
    case = Certified(*CASES["one deviation"], tmp_path)
    write_certificate(case.path, case.data | {"digest": "0" * 64})
    reasons = check_certificate(case.path, case.background, case.paths).reasons
    assert len(reasons) == 1
    assert reasons[0].startswith("digest: states 0000000000000000")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"length": "all"}, 'length: got "all", needed every'),
        ({"length": None}, "length: got null"),
        ({"masks": {"up": "2,1"}}, 'up: got the mask "2,1", needed increasing'),
        ({"masks": {"up": "0::x"}}, "masks.up: got \"0::x\", needed positions such as '0,5,7::3'"),
        ({"masks": {"up": [0.5]}}, "masks.up"),
        ({"length": 2}, "evidence"),
    ],
)
def test_what_is_no_certificate(change: dict, match: str, tmp_path: Path) -> None:
    case = Certified(*CASES["masks"], tmp_path)
    assert any(match in reason for reason in case.reasons(case.data | change))


def test_tables_and_every_length(tmp_path: Path) -> None:
    """A certificate for every length says nothing true of a table."""
    case = Certified(*CASES["one deviation"], tmp_path)
    table = {"format": "factorcomp-model/1", "kind": "tabular", "vocabulary": ["a", "b"], "eos": None}
    case.paths["up"].write_text(json.dumps(table | {"steps": [[["1/2", "1/2"]]]}))
    data = copy.deepcopy(case.data)
    data["models"]["experts"]["up"]["sha256"] = digest(case.paths["up"])
    (reason,) = case.reasons(data)
    assert "up: got a table of 1 steps, needed a finite-state model for every length" in reason
