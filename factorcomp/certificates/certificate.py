"""Certificates: what was decided, with its evidence, in a file that `check_certificate` derives again from models."""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from factorcomp.certificates.claims import (
    CLAIMS,
    ClaimResult,
    Findings,
    Mask,
    NullTokens,
    Positions,
    Question,
    Scope,
    Verdict,
    overall,
)
from factorcomp.certificates.documents import KernelError, brief, conform, parse
from factorcomp.certificates.positions import read_positions
from factorcomp.certificates.reading import fraction, read_bytes

SCHEMA = "factorcomp-certificate/1"
_NUMBER = (str, float)
_NAMED = {"name": str, "sha256": str}
_SPANS = {"*": [[[int]]]}
_SHAPE = {
    "schema": str,
    "verdict": str,
    "required": [str],
    "models": {"background": _NAMED, "experts": {"*": _NAMED}},
    "vocabulary": [str],
    "eos": (str, None),
    "length": (int, str),
    "scope": str,
    "null_tokens": str,
    "threshold": str,
    "weights": {"*": str},
    "masks": ({"*": ([int], str)}, str, None),
    "claims": [{"claim": str, "mask": (str, None), "verdict": str, "witness": (dict, None), "bound": (*_NUMBER, None)}],
    "evidence": {"deviating": _SPANS, "active": _SPANS, "masks": ({"*": [int]}, None)},
    "digest": str,
}
_FEATURES = _NAMED | {"masks": {"*": ([int], str)}}
_INVARIANT = {"states": [([str], None)], "next": [[(int, None)]], "phases": ([[[str]]], None)}
_EVERY_LENGTH = _SHAPE | {"evidence": {"invariant": (_INVARIANT, None), "masks": ({"*": str}, None)}}
_WITNESSES = (
    {"prefix": [str], "probability": _NUMBER, "experts": [str]},
    {"prefixes": [[str]], "models": [str], "condition": str},
    {"positions": [int], "tokens": [str], "composition": _NUMBER, "expert": _NUMBER},
    {"position": int, "experts": [str], "prefixes": [[str]]},
    {"coordinates": [int], "tokens": [str], "composition": _NUMBER, "expert": _NUMBER},
    {"sequence": [str], "features": [str], "in_tokens": _NUMBER, "in_features": _NUMBER},
)


def certificate(
    findings: Findings,
    question: Question,
    *,
    required: tuple[str, ...],
    vocabulary: tuple[str, ...],
    eos: str | None,
    background: tuple[str, str | None],
    experts: Mapping[str, tuple[str, str | None]],
    features: tuple[str, str | None] | None = None,
) -> dict[str, Any]:
    """Every claim that was decided, with its witness or bound, and the evidence, as a JSON object.

    A claim that is not required is left out if its witness may not be the first (`Findings.unsettled`).

    **Arguments:** `background`, `experts`, `features`: file name and SHA-256 of each model, and of the feature map.

    **Raises** `KernelError` for a model without a digest: only what lies in a file can be certified.
    """
    for name, digest in (background, *experts.values(), *([features] if features else [])):
        if digest is None:
            raise KernelError(f"{name}: got a model that is not a file, needed one: a certificate states its digest")
    settled = {c.name for c in findings.claims} - findings.unsettled | {*required}
    decided = (c for c in findings.claims if c.verdict is not Verdict.UNDECIDED)
    claims = tuple(c for c in decided if c.name in settled or c.claim in settled)
    data = {
        "schema": SCHEMA,
        "verdict": str(overall(claims, required)),
        "required": required,
        "models": {
            "background": dict(zip(_NAMED, background, strict=True)),
            "experts": {name: dict(zip(_NAMED, expert, strict=True)) for name, expert in experts.items()},
        },
        "vocabulary": vocabulary,
        "eos": eos,
        "length": question.length,
        "scope": question.scope,
        "null_tokens": question.null_tokens,
        "threshold": question.threshold,
        "weights": question.weights,
        "masks": question.masks,
        "claims": [statement(result) for result in claims],
        "evidence": evidence(findings, question.length == "every"),
    }
    if features is not None:
        data["features"] = dict(zip(_NAMED, features, strict=True)) | {"masks": question.feature_masks}
    data = _plain(data)
    return data | {"digest": fingerprint(data)}


def statement(result: ClaimResult) -> dict[str, Any]:
    """One claim as a certificate states it."""
    bound = result.residual if result.verdict is Verdict.BOUNDED else None
    said = {"claim": result.claim, "mask": result.mask, "verdict": str(result.verdict), "witness": result.witness}
    return said | {"bound": bound}


def evidence(findings: Findings, every_length: bool) -> dict[str, Any]:
    """What the claims rest on, and the masks that were found.

    At a length: who deviates and who is active where. For every length: the product's states, closed under every step,
    with the phases of the experts (`None` where the composition is not well defined).
    """
    if every_length:
        return {"invariant": findings.invariant, "masks": findings.masks}
    return {"deviating": findings.deviating, "active": findings.active, "masks": findings.masks}


def _plain(value: object) -> Any:
    """The value in the types of JSON; a fraction as `"p/q"` (as a float if it has too many digits to be printed)."""
    if isinstance(value, Positions):
        return str(value)
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        try:
            return str(value)
        except ValueError:
            return float(value)
    return value


def fingerprint(data: Mapping[str, Any]) -> str:
    """The SHA-256 of everything but the digest, as JSON with sorted keys and without spaces."""
    rest = {key: value for key, value in data.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def write_certificate(path: str | os.PathLike[str], data: Mapping[str, Any]) -> None:
    """Writes a certificate, or leaves what was there."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def read_certificate(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The certificate in a file; `KernelError` unless it has exactly the keys and the types of a certificate."""
    data = parse(read_bytes(path), str(path), _finite)
    every_length = type(data) is dict and type(data.get("length")) is str
    shape = _EVERY_LENGTH if every_length else _SHAPE
    about_features = type(data) is dict and "features" in data
    conform(data, shape | {"features": _FEATURES} if about_features else shape, str(path))
    if every_length:
        _among(data["length"], ("every",), f"{path}: length")
    known = {"schema": (SCHEMA,), "verdict": Verdict, "scope": get_args(Scope), "null_tokens": get_args(NullTokens)}
    for key, allowed in known.items():
        _among(data[key], tuple(allowed), f"{path}: {key}")
    if data["masks"] is not None and not isinstance(data["masks"], dict):
        _among(data["masks"], ("auto",), f"{path}: masks")
    if not data["required"]:
        raise KernelError(f"{path}: required: got no claim, needed at least one")
    for number, claim in enumerate(data["claims"]):
        place = f"{path}: claims[{number}]"
        _among(claim["claim"], CLAIMS, f"{place}.claim")
        _among(claim["verdict"], tuple(Verdict)[:3], f"{place}.verdict")
        if claim["witness"] is not None:
            shapes = [shape for shape in _WITNESSES if shape.keys() == claim["witness"].keys()]
            conform(claim["witness"], shapes[0] if shapes else _WITNESSES[0], f"{place}.witness")
    return data


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise KernelError(f"got {brief(text)}, needed a number that a float can hold")
    return float(text)


def _among(value: str, allowed: tuple[str, ...], place: str) -> None:
    if value not in allowed:
        raise KernelError(f"{place}: got {brief(value)}, needed {', '.join(allowed)}")


def stated_question(data: Mapping[str, Any], path: str) -> Question:
    """What a certificate says was asked."""
    masks = data["masks"]
    if isinstance(masks, dict):
        masks = {name: _mask(mask, f"{path}: masks.{name}") for name, mask in masks.items()}
    return Question(
        length=data["length"],
        masks=masks,
        threshold=fraction(data["threshold"], f"{path}: threshold"),
        scope=data["scope"],
        null_tokens=data["null_tokens"],
        weights={name: fraction(weight, f"{path}: weights.{name}") for name, weight in data["weights"].items()},
        feature_masks=_feature_masks(data, path),
    )


def _feature_masks(data: Mapping[str, Any], path: str) -> dict[str, Mask] | None:
    if "features" not in data:
        return None
    return {name: _mask(mask, f"{path}: features.{name}") for name, mask in data["features"]["masks"].items()}


def _mask(mask: str | list[int], place: str) -> Mask:
    return read_positions(mask, place) if isinstance(mask, str) else tuple(mask)


def differences(stated: object, derived: object, place: str) -> Iterator[str]:
    """Where a certificate states something else than what is derived; a float may differ by one part in 10^9."""
    derived = _plain(derived)
    if isinstance(stated, float) and isinstance(derived, str | float):
        exact = float(Fraction(derived))
        if not abs(stated - exact) <= 1e-9 * abs(exact):
            yield f"{place}: states {stated}, derived is {derived}"
    elif isinstance(stated, dict) and isinstance(derived, dict) and stated.keys() == derived.keys():
        for key in stated:
            yield from differences(stated[key], derived[key], f"{place}.{key}")
    elif isinstance(stated, list) and isinstance(derived, list) and len(stated) == len(derived):
        for number, (mine, other) in enumerate(zip(stated, derived, strict=True)):
            yield from differences(mine, other, f"{place}[{number}]")
    elif stated != derived:
        yield f"{place}: states {brief(stated)}, derived is {brief(derived)}"
