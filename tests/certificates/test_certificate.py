"""A certificate that says something false is rejected by derivation; one altered otherwise, by its digests."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp.certificates import (
    KernelError,
    Verdict,
    certificate,
    check_certificate,
    digest,
    fingerprint,
    write_certificate,
)
from factorcomp.certificates.certificate import statement
from factorcomp.certificates.claims import ClaimResult
from tests import golden
from tests.certificates.subjects import decided_from_files, written

CASES = ("local_differs_from_global", "dependent_background")
pytestmark = pytest.mark.skipif(not golden.names(), reason=f"no golden cases at {golden.DIRECTORY}")


class Certified:
    """A golden case, its models in files, and its certificate."""

    def __init__(self, name: str, folder: Path, **changes: object) -> None:
        self.instance, _ = golden.load(name)
        self.background, self.experts = written(self.instance, folder)
        self.findings = decided_from_files(self.instance, folder)
        self.path = folder / "certificate.json"
        self.data = self.certified(**changes)

    def certified(self, **changes: object) -> dict:
        """The certificate of the findings."""
        arguments = {
            "required": ("interval_joint",),
            "vocabulary": self.instance.vocabulary,
            "eos": self.instance.eos,
            "background": (self.background.name, digest(self.background)),
            "experts": {name: (path.name, digest(path)) for name, path in self.experts.items()},
        }
        return certificate(self.findings, self.instance.question, **(arguments | changes))

    def verdict_on(self, data: dict, redigest: bool = False) -> tuple[str, ...]:
        """The reasons against `data` (none: accepted)."""
        data = data | {"digest": fingerprint(data)} if redigest else data
        write_certificate(self.path, data)
        try:
            result = check_certificate(self.path, self.background, self.experts)
        except KernelError as error:
            return (str(error),)
        assert result.accepted == (not result.reasons)
        return result.reasons


@pytest.mark.parametrize("name", golden.names())
def test_what_is_found_is_certified(name: str, tmp_path: Path) -> None:
    case = Certified(name, tmp_path)
    assert case.verdict_on(case.data) == ()
    assert case.verdict_on(json.loads(json.dumps(case.data))) == ()


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_bound_is_stated_with_its_number(verdict: Verdict) -> None:
    """And with no other verdict: residuals are derived again, not stated."""
    result = ClaimResult("terminates", verdict, "rational", 2, "", Fraction(9, 16))
    assert statement(result)["bound"] == (Fraction(9, 16) if verdict is Verdict.BOUNDED else None)


def leaves(data: object, path: tuple = ()) -> Iterator[tuple]:
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from leaves(value, (*path, key))


def changed(value: object) -> list[object]:
    """Other values for a leaf: of the same kind, and of another."""
    if isinstance(value, bool) or value is None:
        return ["x", 0, 0.5]
    if isinstance(value, int):
        return [value + 1, -1, None]
    if isinstance(value, float):
        return [value + 1e-6, None]
    if isinstance(value, str):
        others = {"REFUTED": ["HOLDS", "UNDECIDED"], "HOLDS": ["REFUTED"], "cancel": ["strict"], "reachable": ["all"]}
        return [*others.get(value, ["1/7", "b" if value == "a" else "a"]), value + "x", None]
    return [None, "x"]


def mutations(data: dict) -> Iterator[tuple[str, dict]]:
    """Every leaf changed, every key or item dropped, and a key or item added everywhere."""

    def at(path: tuple, change: Callable) -> dict:
        result = copy.deepcopy(data)
        target = result
        for key in path[:-1]:
            target = target[key]
        change(target, path[-1])
        return result

    for path in leaves(data):
        value = data
        for key in path:
            value = value[key]
        place = ".".join(map(str, path))
        if path:
            for other in changed(value):
                yield f"{place}={other!r}", at(path, lambda target, key, other=other: target.__setitem__(key, other))
            yield f"{place} dropped", at(path, lambda target, key: target.__delitem__(key))
        wrapped = copy.deepcopy({"": data})
        target = wrapped
        for key in ("", *path[:-1]) if path else ():
            target = target[key]
        inner = target[path[-1]] if path else wrapped[""]
        if isinstance(inner, dict):
            inner["extra"] = {"name": "x", "sha256": "0"} if path[-1:] == ("experts",) else []
            yield f"{place} with a key more", wrapped[""]
        elif isinstance(inner, list):
            inner.append(copy.deepcopy(inner[-1]) if inner else 0)
            yield f"{place} with an item more", wrapped[""]


def still_true(what: str, data: dict) -> bool:
    """Alterations that leave a true certificate of the same models, if the digest is recomputed.

    Fewer claims (none of them required), another list of required claims with the verdict that they have, another name
    of a file, a weight of 1 written out or a scope that makes no difference.
    """
    if "models" in what and ".name=" in what:
        return True
    if what.startswith("claims.") and what.endswith(" dropped") and what.count(".") == 1:
        return data["claims"][int(what.split(" ")[0].split(".")[1])]["claim"] not in data["required"]
    return what.startswith(("scope=", "null_tokens=", "required", "threshold=", "masks."))


@pytest.mark.parametrize("name", CASES)
def test_every_alteration_is_rejected(name: str, tmp_path: Path) -> None:
    case = Certified(name, tmp_path)
    seen = 0
    for what, data in mutations(case.data):
        fresh = not what.startswith("digest") and isinstance(data, dict) and "digest" in data
        if fresh and not still_true(what, case.data):
            assert fingerprint(data) != data["digest"]
            assert case.verdict_on(data, redigest=True), f"{what}, with its digest recomputed"
            seen += 1
        else:
            assert case.verdict_on(data), what
    assert seen > 100


@pytest.mark.parametrize("required", ["interval_joint", "projective", "projective:up"])
def test_every_claim_that_is_decided_is_stated(required: str, tmp_path: Path) -> None:
    """But those whose witness may not be the first, unless they are required, by their own name or by their claim's."""
    case = Certified("factorized_conditionals", tmp_path, required=(required,))
    decided = [result.name for result in case.findings.claims if result.verdict is not Verdict.UNDECIDED]

    def stated(**changes: object) -> list[str]:
        case.findings = replace(case.findings, **changes)
        data = case.certified(required=(required,))
        return [f"{c['claim']}:{c['mask']}" if c["mask"] else c["claim"] for c in data["claims"]]

    assert stated() == decided
    assert "projective:up" in decided
    unsettled = frozenset({"projective:up", "exact_switching"})
    left_out = {"exact_switching"} | ({"projective:up"} if required == "interval_joint" else set())
    assert stated(unsettled=unsettled) == [name for name in decided if name not in left_out]


@pytest.mark.parametrize("name", ["letters_ACA", "dependent_background"])
def test_claims_that_are_not_required_may_be_left_out(name: str, tmp_path: Path) -> None:
    """A certificate that says less says nothing false."""
    case = Certified(name, tmp_path)
    for number, claim in enumerate(case.data["claims"]):
        data = copy.deepcopy(case.data)
        del data["claims"][number]
        assert (case.verdict_on(data, redigest=True) == ()) is (claim["claim"] not in case.data["required"])


@pytest.mark.parametrize("name", CASES)
def test_a_required_claim_is_left_out_only_by_an_open_verdict(name: str, tmp_path: Path) -> None:
    """Then nothing is said of it; with any other verdict the certificate lacks what it rests on."""
    case = Certified(name, tmp_path)
    rest = [claim for claim in case.data["claims"] if claim["claim"] != "interval_joint"]
    assert len(rest) == len(case.data["claims"]) - 1
    assert case.verdict_on(case.data | {"claims": rest, "verdict": "UNDECIDED"}, redigest=True) == ()
    reasons = case.verdict_on(case.data | {"claims": rest}, redigest=True)
    assert reasons == ("claims: state nothing of interval_joint, which is required",)


@pytest.mark.parametrize("name", golden.names())
def test_every_verdict_turned_is_rejected_by_derivation(name: str, tmp_path: Path) -> None:
    case = Certified(name, tmp_path)
    for number, claim in enumerate(case.data["claims"]):
        for verdict in {"HOLDS", "REFUTED", "BOUNDED"} - {claim["verdict"]}:
            data = copy.deepcopy(case.data)
            data["claims"][number]["verdict"] = verdict
            reasons = case.verdict_on(data, redigest=True)
            assert any(f"claims[{number}].verdict: states" in reason for reason in reasons), reasons


@pytest.mark.parametrize("name", CASES)
def test_another_overall_verdict_is_rejected(name: str, tmp_path: Path) -> None:
    case = Certified(name, tmp_path)
    for verdict in {"HOLDS", "REFUTED", "BOUNDED", "UNDECIDED"} - {case.data["verdict"]}:
        (reason,) = case.verdict_on(case.data | {"verdict": verdict}, redigest=True)
        assert reason == f"verdict: states {verdict}, derived is {case.data['verdict']}"


def test_a_false_certificate_names_the_field(tmp_path: Path) -> None:
    case = Certified("local_differs_from_global", tmp_path)
    data = copy.deepcopy(case.data)
    data["evidence"]["deviating"]["one" if "one" in data["evidence"]["deviating"] else next(iter(case.experts))][1] = []
    (reason,) = case.verdict_on(data, redigest=True)
    assert reason.startswith("evidence.deviating.")


def test_a_required_claim_must_exist(tmp_path: Path) -> None:
    case = Certified("local_differs_from_global", tmp_path)
    data = copy.deepcopy(case.data) | {"required": ["nonsense"], "verdict": "UNDECIDED"}
    assert any("required: states" in reason for reason in case.verdict_on(data, redigest=True))


def test_another_model_is_rejected(tmp_path: Path) -> None:
    case = Certified("local_differs_from_global", tmp_path)
    name, path = next(iter(case.experts.items()))
    path.write_text(path.read_text() + " ")
    assert any(f"models.experts.{name}.sha256" in reason for reason in case.verdict_on(case.data))


def test_experts_must_be_those_certified(tmp_path: Path) -> None:
    case = Certified("local_differs_from_global", tmp_path)
    write_certificate(case.path, case.data)
    result = check_certificate(case.path, case.background, {"other": next(iter(case.experts.values()))})
    assert not result.accepted
    assert "models.experts" in result.reasons[0]


def test_floats_of_an_engine_are_accepted_within_rounding(tmp_path: Path) -> None:
    case = Certified("local_differs_from_global", tmp_path)
    witness = next(claim["witness"] for claim in case.data["claims"] if claim["witness"])
    exact = witness["probability"]
    numerator, _, denominator = exact.partition("/")
    value = int(numerator) / int(denominator or 1)
    for other, accepted in ((value, True), (value + 1e-12, True), (value + 1e-6, False), ("7/9", False)):
        witness["probability"] = other
        assert (case.verdict_on(case.data, redigest=True) == ()) == accepted


def test_what_the_kernel_cannot_decide_is_rejected_with_that_reason(tmp_path: Path) -> None:
    """Lemma 1.8 with a weight that leaves the rationals: Z is 1 only up to its enclosure."""
    case = Certified("unit_normalizer_with_overlap", tmp_path)
    data = copy.deepcopy(case.data)
    idle = tmp_path / "idle.safetensors"
    vocabulary = json.dumps(data["vocabulary"])
    size = len(data["vocabulary"])
    header = {
        "__metadata__": {"vocabulary": vocabulary, "values": "logits"},
        "step_0": {"dtype": "F32", "shape": [size], "data_offsets": [0, 4 * size]},
    }
    text = json.dumps(header).encode()
    idle.write_bytes(len(text).to_bytes(8, "little") + text + bytes(4 * size))
    data["models"]["experts"]["idle"] = {"name": idle.name, "sha256": digest(idle)}
    data["evidence"]["deviating"]["idle"] = data["evidence"]["active"]["idle"] = [[]]
    case.experts["idle"] = idle
    reasons = case.verdict_on(data, redigest=True)
    assert any("the kernel cannot decide unit_normalizer: exponentials" in reason for reason in reasons)


def test_an_undefined_composition_is_certified_as_such(tmp_path: Path) -> None:
    case = Certified("dead_prefix", tmp_path)
    assert [claim["claim"] for claim in case.data["claims"]] == ["well_defined"]
    assert case.data["verdict"] == "UNDECIDED"
    assert case.verdict_on(case.data) == ()


def test_models_that_are_no_files_cannot_be_certified(tmp_path: Path) -> None:
    with pytest.raises(KernelError, match="not a file"):
        Certified("dead_prefix", tmp_path, background=("python:model", None))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("[" * 100_000, "nested"),
        ("{}", "schema"),
        ('{"schema": 1, "schema": 2}', "twice"),
        ('{"schema": NaN}', "NaN"),
        ('{"schema": 1e999}', "a float can hold"),
        ("[]", "needed a mapping"),
        ("\ud800", "UTF-8"),
    ],
)
def test_malformed_certificates_are_unreadable(content: str, match: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(KernelError, match=match):
        check_certificate(path, path, {})


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_certificate(path, {"digest": object()})
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["certificate.json"]
