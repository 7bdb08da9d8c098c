"""Features at every length: by the pushforwards of finite-state models, and what short lengths say by enumeration."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

from factorcomp import load, load_features, verify
from factorcomp.certificates import KernelError, certificate, check_certificate, fingerprint, write_certificate
from factorcomp.certificates.claims import FeatureWitness, Positions, Verdict
from factorcomp.models.errors import InputError
from tests.automata import random_automata
from tests.feature_maps import transducer, written

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
HEAD = {"format": "factorcomp-features/1", "kind": "transducer"}
MODEL = {"format": "factorcomp-model/1", "kind": "finite_state", "vocabulary": ["0", "1"], "eos": None}


def increments(folder: Path) -> Path:
    """`z_t = y_t - y_{t-1} mod 2`."""
    states = {
        f"at {y}": {
            "output": {str(x): str((x - y) % 2) for x in range(2)},
            "next": {str(x): f"at {x}" for x in range(2)},
        }
        for y in range(2)
    }
    file = HEAD | {"vocabulary": ["0", "1"], "features": ["0", "1"], "initial": "at 0", "states": states}
    return written(file, folder)


def stays(even: str, odd: str, folder: Path, name: str) -> Path:
    """A model that keeps its token with probability `even` at even positions, `odd` at odd ones."""
    states = {}
    for parity, p in (("even", even), ("odd", odd)):
        for y in "01":
            row = {y: p, "10"[int(y)]: str(1 - Fraction(p))}
            other = "odd" if parity == "even" else "even"
            states[f"{parity} {y}"] = {"probabilities": row, "next": {x: f"{other} {x}" for x in "01"}}
    return written(MODEL | {"initial": "even 0", "states": states}, folder, f"{name}.json")


@pytest.fixture
def turns(tmp_path):
    """Background and two experts that own the increments at even and at odd positions; their files and the map's."""
    paths = {"background": stays("1/2", "1/2", tmp_path, "background")}
    paths |= {"up": stays("3/4", "1/2", tmp_path, "up"), "down": stays("1/2", "1/3", tmp_path, "down")}
    return paths, increments(tmp_path)


MASKS = {"up": "0::2", "down": "1::2"}


def asked(turns, **options):
    paths, features = turns
    models = {name: load(path) for name, path in paths.items()}
    given = {"length": "every", "features": load_features(features), "feature_masks": MASKS} | options
    return verify(models.pop("background"), models, **given)


@pytest.mark.parametrize("exact", [False, True])
def test_increments_of_turns_are_projective_at_every_length(turns, exact):
    """6, example: factorized in increments, and so projective on them; on tokens the masks do not factorize."""
    report = asked(turns, exact=exact, masks=MASKS, require=["feature_projective", "feature_commutes"])
    assert report.verdict is HOLDS
    assert report["projective:up"].verdict is not HOLDS
    assert report.features.conditions["factorized_conditionals"].verdict is HOLDS
    data = report.to_json()
    assert data["features"]["masks"] == MASKS
    assert data["features"]["gaps"] is None
    json.dumps(data, allow_nan=False)
    assert "Features" in str(report)


def test_exchanged_coordinates_are_refuted_at_the_shortest_length(turns):
    """Negative control: the first increment is not that of `down`."""
    report = asked(turns, feature_masks={"up": "1::2", "down": "0::2"}, require="feature_projective")
    assert report.verdict is REFUTED
    found = report["feature_projective:down"]
    assert found.length == 1
    assert found.witness == FeatureWitness((0,), ("0",), Fraction(3, 4), Fraction(1, 2))


@pytest.mark.parametrize("seed", range(12))
def test_short_lengths_agree(seed, tmp_path):
    """What holds at every length holds at short ones, what is refuted first fails there; so says the kernel."""
    draw = random.Random(seed)
    instance = random_automata(draw)
    tokens = draw.sample(instance.vocabulary, len(instance.vocabulary))
    features = load_features(written(HEAD | {"vocabulary": tokens} | transducer(draw, tokens), tmp_path))
    base, *own = (load(written(contents, tmp_path, f"{name}.json")) for name, contents in files_of(instance))
    experts = dict(zip(instance.experts, own, strict=True))
    masks = {name: f"{place}::{len(own)}" for place, name in enumerate(experts)}
    options = {"null_tokens": instance.question.null_tokens, "weights": instance.question.weights}
    every = verify(base, experts, length="every", features=features, feature_masks=masks, **options)
    names = [f"feature_projective:{name}" for name in experts]
    exact = verify(base, experts, length="every", features=features, feature_masks=masks, exact=True, **options)
    for mine, kernel in ((every[name], exact[name]) for name in (*names, "feature_commutes")):
        if UNDECIDED not in (mine.verdict, kernel.verdict):
            assert (mine.verdict, mine.length) == (kernel.verdict, kernel.length)
            assert mine.witness is None or mine.witness.tokens == kernel.witness.tokens
    if every["well_defined"].verdict is REFUTED:
        assert {every[name].verdict for name in (*names, "feature_commutes")} == {UNDECIDED}
        return
    assert every["feature_commutes"].verdict is HOLDS
    longest = 3 if len(base.vocabulary) > 3 else 4
    for length in range(1, longest + 1):
        short = verify(base, experts, length=length, features=features, feature_masks=masks, **options)
        assert short["feature_commutes"].verdict is HOLDS
        for name in names:
            if every[name].verdict is HOLDS or (every[name].verdict is REFUTED and length < every[name].length):
                assert short[name].verdict in (HOLDS, UNDECIDED)
            elif every[name].verdict is REFUTED and length == every[name].length:
                assert short[name].verdict in (REFUTED, UNDECIDED)


def files_of(instance):
    yield "background", instance.background
    yield from instance.experts.items()


def certified(turns, report) -> dict:
    return certificate(
        report.findings,
        report.question,
        required=report.required,
        vocabulary=report.vocabulary,
        eos=report.eos,
        background=(report.background.name, report.background.sha256),
        experts={name: (model.name, model.sha256) for name, model in report.experts.items()},
        features=(report.features.map.name, report.features.map.sha256),
    )


@pytest.mark.parametrize("masks", [MASKS, {"up": "1::2", "down": "0::2"}], ids=["holds", "refuted"])
def test_what_is_found_is_certified_and_nothing_else(turns, masks, tmp_path):
    """The kernel pushes the models forward itself; a verdict turned, or other masks, are rejected by derivation."""
    paths, features = turns
    report = asked(turns, feature_masks=masks, require=["feature_projective", "feature_commutes"])
    data, path = certified(turns, report), tmp_path / "proof.json"
    experts = {name: file for name, file in paths.items() if name != "background"}

    def reasons(data: dict) -> tuple[str, ...]:
        write_certificate(path, data | {"digest": fingerprint(data)})
        return check_certificate(path, paths["background"], experts, features=features).reasons

    assert reasons(data) == ()
    assert data["features"]["masks"] == masks
    for number, claim in enumerate(data["claims"]):
        if claim["claim"].startswith("feature"):
            turned = json.loads(json.dumps(data))
            turned["claims"][number]["verdict"] = "HOLDS" if claim["verdict"] == "REFUTED" else "REFUTED"
            assert any(f"claims[{number}].verdict" in reason for reason in reasons(turned))
    other = json.loads(json.dumps(data))
    other["features"]["masks"] = {"up": "0::2"} if masks != MASKS else {"up": "1::2", "down": "0::2"}
    assert any("claims[" in reason for reason in reasons(other))


@pytest.mark.parametrize("masks", [{"up": "0::2", "down": "0::3"}, {"up": "1,0"}])
def test_impossible_masks_are_rejected_whatever_is_claimed(turns, masks, tmp_path):
    """Masks that overlap, or do not increase, where only `feature_commutes` is certified."""
    paths, features = turns
    data, path = certified(turns, asked(turns, require="feature_commutes")), tmp_path / "proof.json"
    data["claims"] = [claim for claim in data["claims"] if claim["claim"] != "feature_projective"]
    experts = {name: file for name, file in paths.items() if name != "background"}
    write_certificate(path, data | {"digest": fingerprint(data)})
    assert check_certificate(path, paths["background"], experts, features=features).accepted
    data["features"]["masks"] = masks
    write_certificate(path, data | {"digest": fingerprint(data)})
    try:
        accepted = check_certificate(path, paths["background"], experts, features=features).accepted
    except KernelError:
        accepted = False
    assert not accepted


def test_a_length_beyond_enumeration(turns):
    """A transducer goes with the states: 1,000 tokens."""
    report = asked(turns, length=1000, require=["feature_projective", "feature_commutes"])
    assert report.verdict is HOLDS
    assert report.question.feature_masks["up"][:3] == (0, 2, 4)


def test_masks_without_an_end_of_the_question(turns):
    assert asked(turns).question.feature_masks == {"up": Positions((), ((0, 2),)), "down": Positions((), ((1, 2),))}


@pytest.mark.parametrize("length", [1000, "every"])
def test_other_maps_are_of_one_length(turns, length):
    with pytest.raises(InputError, match=r"got a map of one length and the question for .*; needed a transducer"):
        asked(turns, length=length, features=lambda y: y)
