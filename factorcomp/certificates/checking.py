"""The checker: every claim of a certificate, derived again from the model files alone."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from factorcomp.certificates.automata import Automaton
from factorcomp.certificates.certificate import (
    differences,
    evidence,
    fingerprint,
    read_certificate,
    stated_question,
    statement,
)
from factorcomp.certificates.claims import CLAIMS, Findings, Verdict, overall
from factorcomp.certificates.documents import KernelError, brief
from factorcomp.certificates.feature_maps import FeatureMap, read_feature_map
from factorcomp.certificates.kernel import decide
from factorcomp.certificates.models import Model
from factorcomp.certificates.reading import read_model
from factorcomp.certificates.tree import Progress

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class CheckResult:
    """Whether a certificate says the truth about these models, every reason against it, and the verdict it states."""

    accepted: bool
    reasons: tuple[str, ...]
    verdict: Verdict


def check_certificate(
    path: Path,
    background: Path,
    experts: Mapping[str, Path],
    progress: Progress | None = None,
    features: Path | None = None,
) -> CheckResult:
    """Reads the models, derives every claim and all evidence of the certificate with the kernel, and compares.

    A false statement is rejected because the derivation says otherwise, whatever the digest says; any other alteration
    because of the digests. A claim that the kernel cannot decide is rejected with that reason. `features`: the file of
    the feature map, if the certificate is about one.

    **Raises** `KernelError` for a file that cannot be read or is no certificate, and where it needs a feature map.
    """
    data = read_certificate(path)
    question = stated_question(data, str(path))
    base, own = read_model(background), {name: read_model(expert) for name, expert in experts.items()}
    if "features" in data and features is None:
        named = brief(data["features"]["name"])
        raise KernelError(f"{path}: is about features by {named}; give that map (--features FILE)")
    mapped = None if features is None else read_feature_map(features)
    reasons = [*_other_models(data, base, own), *_other_features(data, mapped)]
    if not reasons:
        names = {claim["claim"] + (f":{claim['mask']}" if claim["mask"] else "") for claim in data["claims"]}
        try:
            ordered = {name: own[name] for name in data["models"]["experts"]}
            findings = decide(base, ordered, question, progress, {*names, *data["required"]}, False, mapped)
        except KernelError as error:
            reasons.append(f"what was asked cannot be asked of these models: {error}")
        else:
            reasons += _falsehoods(data, findings)
    if fingerprint(data) != data["digest"]:
        reasons.append(f"digest: states {data['digest'][:16]}..., the content has {fingerprint(data)[:16]}...")
    return CheckResult(not reasons, tuple(reasons), Verdict(data["verdict"]))


def _other_models(
    data: Mapping[str, Any], background: Model | Automaton, experts: Mapping[str, Model | Automaton]
) -> Iterator[str]:
    """What the certificate says of the models themselves, against the files given."""
    stated = data["models"]
    yield from differences(sorted(stated["experts"]), sorted(experts), "models.experts")
    yield from differences(stated["background"]["sha256"], background.sha256, "models.background.sha256")
    for name in stated["experts"].keys() & experts.keys():
        yield from differences(stated["experts"][name]["sha256"], experts[name].sha256, f"models.experts.{name}.sha256")
    yield from differences(data["vocabulary"], background.vocabulary, "vocabulary")
    yield from differences(data["eos"], background.eos, "eos")


def _other_features(data: Mapping[str, Any], features: FeatureMap | None) -> Iterator[str]:
    """What the certificate says of the feature map itself, against the file given."""
    if features is None:
        return
    if "features" in data:
        yield from differences(data["features"]["sha256"], features.sha256, "features.sha256")
    else:
        yield "features: states none, and a feature map was given"


def _falsehoods(data: Mapping[str, Any], findings: Findings) -> Iterator[str]:
    """What the certificate says of the composition, against what was derived."""
    derived = {(result.claim, result.mask): result for result in findings.claims}
    stated = [(claim["claim"], claim["mask"]) for claim in data["claims"]]
    for number, key in enumerate(stated):
        place = f"claims[{number}]"
        if key in stated[:number]:
            yield f"{place}: states {key[0]} again"
        elif key not in derived:
            yield f"{place}: states {key[0]} of {key[1]}, which is no claim about these models"
        elif derived[key].verdict is Verdict.UNDECIDED:
            yield f"{place}.verdict: the kernel cannot decide {derived[key].name}: {derived[key].why}"
        else:
            yield from differences(data["claims"][number], statement(derived[key]), place)
    yield from differences(data["evidence"], evidence(findings, data["length"] == "every"), "evidence")
    for name in data["required"]:
        if name.partition(":")[0] not in CLAIMS:
            yield f"required: states {brief(name)}, which is no claim"
    required = [result for result in findings.claims if {result.claim, result.name} & set(data["required"])]
    unstated = [result.name for result in required if result.verdict is not Verdict.UNDECIDED]
    unstated = [name for name in unstated if name not in {f"{c}:{mask}" if mask else c for c, mask in stated}]
    verdict = overall(findings.claims, tuple(data["required"]))
    if unstated and data["verdict"] != Verdict.UNDECIDED:
        yield f"claims: state nothing of {unstated[0]}, which is required"
    if data["verdict"] != verdict and not (unstated and data["verdict"] == Verdict.UNDECIDED):
        yield f"verdict: states {data['verdict']}, derived is {verdict}"
