"""What every check returns: the report of `verify`, the diagnosis of `doctor`; as data, and as text in a notebook.

A `Report` holds what was asked and what was found. `to_json` is the report as data of interface.md, schema
`factorcomp-report/1`; printing a report, or ending a notebook cell with it, shows it as the command line does.
"""

import json
import math
import os
import stat
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from factorcomp.certificates.claims import (
    ClaimResult,
    ExpertMeasures,
    FeatureWitness,
    Findings,
    MarginalWitness,
    Mask,
    Measures,
    Number,
    PairWitness,
    Positions,
    PositionWitness,
    PrefixWitness,
    Question,
    SequenceWitness,
    Spans,
    Termination,
    Tokens,
    Verdict,
    Witness,
    overall,
)
from factorcomp.inequalities import Guarantees, Robust

SCHEMA = "factorcomp-report/1"
_LARGEST_COUNT = 2**53
"""Beyond it a reader of JSON that knows floats only would round a count."""

Severity = Literal["blocks", "matters", "fine"]


@dataclass(frozen=True)
class ModelName:
    """How a model was named, and the digest of its file (`None` for a model that is not a file)."""

    name: str
    sha256: str | None = None


@dataclass(frozen=True)
class Step:
    """What every model says about the next token after `prefix`: one probability per token of the vocabulary.

    `experts` are the tilted ones where an expert has a weight. `composition` is `None` where it is undefined or dead.
    """

    prefix: Tokens
    background: tuple[Number, ...]
    experts: Mapping[str, tuple[Number, ...]]
    composition: tuple[Number, ...] | None


@dataclass(frozen=True)
class Marks:
    """The experts that deviate at a prefix, and those of which it is known that they are active there."""

    deviating: tuple[str, ...]
    active: tuple[str, ...]


def prefixes_of(witness: Witness | None) -> tuple[Tokens, ...]:
    """The prefixes at which a reader wants to see the models' rows, in the order in which they are shown.

    For a prefix, the last step of its path; for pairs and positions, both prefixes (once if they are the same).

    >>> prefixes_of(PairWitness((("a",), ("b",)), ("up", "background"), "I2"))
    (('a',), ('b',))
    """
    match witness:
        case PrefixWitness(prefix=prefix):
            return (prefix,)
        case PairWitness(prefixes=prefixes) | PositionWitness(prefixes=prefixes):
            return tuple(dict.fromkeys(prefixes))
    return ()


@dataclass(frozen=True)
class Condition:
    """A question about a feature map, decided or not: the line that says why, sequences or prefixes that show it."""

    verdict: Verdict
    why: str
    witness: tuple[Tokens, ...] = ()


@dataclass(frozen=True)
class FeatureMeasures:
    """What is said of a feature map apart from the claims (theory.md, section 6).

    **Fields:** `map`: its name and digest. `coordinates`, `tokens`: how many features, and the feature tokens.
    `conditions`: name -> what was found; those about masks only where there are masks. `path_oscillation`: `max S - min
    S` (1.5), in nats; `gaps`: expert -> the total variation of the marginals on its coordinates to that expert's,
    of the stepwise and of the sequence-level composition; both `None` where the composition is undefined.
    """

    map: ModelName
    kind: str
    coordinates: int | None
    tokens: tuple[str, ...]
    masks: Mapping[str, Mask]
    conditions: Mapping[str, Condition]
    path_oscillation: float | None = None
    gaps: Mapping[str, tuple[Number | None, Number | None]] | None = None


@dataclass(frozen=True, repr=False)
class Report:
    """The verdict over the required claims, every claim, the measures, and all that is needed to repeat them.

    **Fields:** `background`, `experts`: names and digests. `vocabulary`, `eos`: the background's. `question`: what was
    asked. `required`: the claims that decide the verdict. `findings`: what was found. `notes`: what a reader must know
    about the input (rows renormalised, vocabularies aligned). `steps`: claim name -> the models' rows at the prefixes
    of its witness (`prefixes_of`), for those claims that a reader is shown. `prefixes`: how many are in scope. `marks`:
    on the paths to witnesses who deviates and who is active, for questions about every length, whose findings list no
    prefixes. `robust`: bounds beside their truths. `guarantees`: what becomes of those that were asked about.
    `features`: what is said of the feature map, if there is one.
    """

    background: ModelName
    experts: Mapping[str, ModelName]
    vocabulary: tuple[str, ...]
    eos: str | None
    question: Question
    required: tuple[str, ...]
    findings: Findings
    notes: tuple[str, ...] = ()
    steps: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    prefixes: int | None = None
    marks: Mapping[Tokens, "Marks"] = field(default_factory=dict)
    robust: Robust | None = None
    guarantees: Guarantees | None = None
    features: FeatureMeasures | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict over the required claims."""
        return overall(self.findings.claims, self.required)

    @property
    def claims(self) -> tuple[ClaimResult, ...]:
        """Every claim, in the order of the report."""
        return self.findings.claims

    @property
    def measures(self) -> Measures | None:
        """The measures; `None` where the composition is undefined."""
        return self.findings.measures

    @property
    def decisive(self) -> tuple[ClaimResult, ...]:
        """The claims that made the verdict: those required that have it; an undefined composition where that is why."""
        verdict = self.verdict
        undefined = [c for c in self.claims if c.claim == "well_defined" and c.verdict is Verdict.REFUTED]
        if verdict is Verdict.UNDECIDED and undefined:
            return tuple(undefined)
        required = set(self.required)
        return tuple(c for c in self.claims if c.verdict is verdict and required & {c.claim, c.name})

    def deviating(self, prefix: Iterable[str]) -> tuple[str, ...]:
        """The experts that deviate at `prefix`, in the order given; none at a prefix out of scope."""
        if (marks := self.marks.get(tuple(prefix))) is not None:
            return marks.deviating
        return self._at(self.findings.deviating, tuple(prefix))

    def active(self, prefix: Iterable[str]) -> tuple[str, ...]:
        """The experts that are active at `prefix` (theory.md 3.3), in the order given; none out of scope."""
        if (marks := self.marks.get(tuple(prefix))) is not None:
            return marks.active
        return self._at(self.findings.active, tuple(prefix))

    def _at(self, spans: Mapping[str, tuple[Spans, ...]], prefix: Tokens) -> tuple[str, ...]:
        index = 0
        for token in prefix:
            index = index * len(self.vocabulary) + self.vocabulary.index(token)

        def holds(name: str) -> bool:
            lengths = spans.get(name, ())
            return len(prefix) < len(lengths) and any(start <= index < stop for start, stop in lengths[len(prefix)])

        return tuple(name for name in self.experts if holds(name))

    def __getitem__(self, name: str) -> ClaimResult:
        """The result of a claim: by its name, `projective:up` for the mask of `up`."""
        for result in self.claims:
            if result.name == name:
                return result
        raise KeyError(f"no claim {name!r}; the claims are {', '.join(result.name for result in self.claims)}")

    def to_json(self) -> dict[str, Any]:
        """The report as data, by the contract of interface.md; raises `ValueError` on NaN, which no report holds."""
        question, masks = self.question, self.findings.masks
        return {
            "schema": SCHEMA,
            "verdict": str(self.verdict),
            "required": list(self.required),
            "models": {
                "background": _model_json(self.background),
                "experts": {name: _model_json(model) for name, model in self.experts.items()},
            },
            "vocabulary": list(self.vocabulary),
            "length": question.length,
            "scope": question.scope,
            "null_tokens": question.null_tokens,
            "threshold": _number(question.threshold),
            "weights": {name: _number(weight) for name, weight in question.weights.items()},
            "masks": None if masks is None else {name: _mask_json(mask) for name, mask in masks.items()},
            "claims": [_claim_json(result) for result in self.claims],
            "measures": {} if self.measures is None else _measures_json(self.measures),
            "robust": None if self.robust is None else _plain(self.robust.entries()),
            "guarantees": None if self.guarantees is None else _plain(self.guarantees.entries()),
            "exact": _exact_json(self.findings, self.guarantees),
            "notes": list(self.notes),
            **({} if self.features is None else {"features": _features_json(self.features)}),
        }

    def to_json_text(self) -> str:
        """`to_json()` as the text of a file, in ASCII."""
        return json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n"

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to `path`, the whole of it or nothing; `"-"` is standard output."""
        text = self.to_json_text()
        if os.fspath(path) == "-":
            sys.stdout.write(text)
            return
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        # The one import upwards: a report in a notebook shows itself, and only then is rich needed.
        from factorcomp.report.terminal import text

        return text(self)

    __repr__ = __str__


@dataclass(frozen=True)
class Finding:
    """One thing that `doctor` looked at.

    **Fields:** `severity`: `"blocks"` (no composition, or no verdict but UNDECIDED), `"matters"` (changes what verdicts
    mean) or `"fine"`. `subject`: what was looked at. `found`: what it is. `consequence`: what follows when the models
    are composed. `cure`: what to do (empty where nothing is needed).
    """

    severity: Severity
    subject: str
    found: str
    consequence: str = ""
    cure: str = ""


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Whether models can be composed at all, and what to know before they are: `findings`, the gravest first."""

    background: str
    experts: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def blocked(self) -> bool:
        """Whether something is in the way."""
        return any(finding.severity == "blocks" for finding in self.findings)

    def __str__(self) -> str:
        from factorcomp.report.terminal import text

        return text(self)

    __repr__ = __str__


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Generator[Path]:
    """A temporary file beside `path`, with its ending, that takes its place at the end; removed if anything fails.

    What is not a regular file (a pipe, `/dev/stdout`) cannot be replaced and is written to directly.
    """
    target = Path(path).resolve()
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        yield Path(path)
        return
    temporary = target.with_name(f".{target.stem[:100]}.{os.getpid()}{target.suffix}")
    try:
        yield temporary
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _number(value: Number | None) -> float | str | None:
    """A JSON number; the strings `"inf"` and `"-inf"`; `None` as it is."""
    if value is None:
        return None
    try:
        value = float(value)
    except OverflowError:
        raise ValueError(f"{value} is too large for a floating-point number") from None
    if math.isnan(value):
        raise ValueError("a report holds no NaN")
    return value if math.isfinite(value) else str(value)


def _count(value: int | None) -> int | str | None:
    return value if value is None or value <= _LARGEST_COUNT else str(value)


def _mask_json(mask: Mask) -> list[int] | str:
    """The positions; for every length as they are written, `"0,5,7::3"`."""
    return str(mask) if isinstance(mask, Positions) else list(mask)


def _model_json(model: ModelName) -> dict[str, Any]:
    return {"name": model.name, "sha256": model.sha256}


def _claim_json(result: ClaimResult) -> dict[str, Any]:
    return {
        "claim": result.claim,
        **({} if result.mask is None else {"mask": result.mask}),
        "verdict": str(result.verdict),
        "method": result.method,
        "length": result.length,
        "residual": _number(result.residual),
        "witness": _witness_json(result.witness),
        "why": result.why,
    }


def _witness_json(witness: Witness | None) -> dict[str, Any] | None:
    match witness:
        case PrefixWitness():
            return {
                "prefix": list(witness.prefix),
                "experts": list(witness.experts),
                "probability": _number(witness.probability),
            }
        case PairWitness():
            return {
                "prefixes": [list(prefix) for prefix in witness.prefixes],
                "models": list(witness.models),
                "condition": witness.condition,
            }
        case MarginalWitness():
            return {
                "positions": list(witness.positions),
                "tokens": list(witness.tokens),
                "composition": _number(witness.composition),
                "expert": _number(witness.expert),
            }
        case PositionWitness():
            return {
                "position": witness.position,
                "experts": list(witness.experts),
                "prefixes": [list(prefix) for prefix in witness.prefixes],
            }
        case FeatureWitness():
            return {
                "coordinates": list(witness.coordinates),
                "tokens": list(witness.tokens),
                "composition": _number(witness.composition),
                "expert": _number(witness.expert),
            }
        case SequenceWitness():
            return {
                "sequence": list(witness.sequence),
                "features": list(witness.features),
                "in_tokens": _number(witness.in_tokens),
                "in_features": _number(witness.in_features),
            }
    return None


def _features_json(features: FeatureMeasures) -> dict[str, Any]:
    gaps = features.gaps
    return {
        **_model_json(features.map),
        "kind": features.kind,
        "coordinates": features.coordinates,
        "tokens": list(features.tokens),
        "masks": {name: _mask_json(mask) for name, mask in features.masks.items()},
        "conditions": {
            name: {"verdict": str(c.verdict), "why": c.why, "witness": [list(tokens) for tokens in c.witness] or None}
            for name, c in features.conditions.items()
        },
        "path_oscillation": _number(features.path_oscillation),
        "gaps": None
        if gaps is None
        else {name: {"local": _number(local), "global": _number(whole)} for name, (local, whole) in gaps.items()},
    }


def _measures_json(measures: Measures) -> dict[str, Any]:
    termination = measures.termination
    return {
        "tv_to_switching": _number(measures.tv_to_switching),
        "tv_local_global": _number(measures.tv_local_global),
        "log_normalizer_min": _number(measures.log_normalizer_min),
        "log_normalizer_max": _number(measures.log_normalizer_max),
        "experts": {name: _expert_json(expert) for name, expert in measures.experts.items()},
        "overlap_probability": _number(measures.overlap_probability),
        **_bounds_json(measures),
        "termination": None
        if termination is None
        else {
            "unended": _number(termination.unended),
            "expected_length": {
                "background": _number(termination.background),
                "composition": _number(termination.composition),
                "experts": {name: _number(length) for name, length in termination.experts.items()},
            },
        },
    }


def _bounds_json(measures: Measures) -> dict[str, Any]:
    found = {name: [_number(bound) for bound in pair] for name, pair in measures.bounds.items()}
    return {"bounds": found} if found else {}


def _expert_json(expert: ExpertMeasures) -> dict[str, Any]:
    return {
        "deviating_prefixes": _count(expert.deviating_prefixes),
        "active_prefixes": _count(expert.active_prefixes),
        "activity_probability": _number(expert.activity_probability),
        "expected_active_steps": _number(expert.expected_active_steps),
        "max_oscillation": _number(expert.max_oscillation),
        "runs": "inf" if expert.runs == math.inf else int(expert.runs),
    }


def _fractions(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The `Fraction`s among `entries` as `"p/q"`, and what is left of the mappings in it; nothing else."""
    kept: dict[str, Any] = {}
    for key, value in entries.items():
        if isinstance(value, Fraction):
            kept[key] = _ratio(value)
        elif isinstance(value, Mapping) and (inner := _fractions(value)):
            kept[key] = inner
    return kept


def _ratio(value: Fraction) -> str:
    """`"p/q"` in lowest terms, of any length: Python's `str` refuses integers beyond 4300 digits."""
    sign = "-" if value < 0 else ""
    numerator = f"{sign}{_digits(abs(value.numerator))}"
    return numerator if value.denominator == 1 else f"{numerator}/{_digits(value.denominator)}"


def _digits(value: int) -> str:
    if value.bit_length() < 4096:
        return str(value)
    half = value.bit_length() * 3 // 20
    high, low = divmod(value, 10**half)
    return _digits(high) + _digits(low).zfill(half)


def _plain(value: Any) -> Any:
    """Data with its numbers as JSON holds them."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _number(value) if isinstance(value, Fraction | float) else value


def _exact_json(findings: Findings, guarantees: Guarantees | None) -> dict[str, Any]:
    measures = findings.measures
    residuals: dict[str, Any] = {result.name: result.residual for result in findings.claims}
    if guarantees is not None:
        residuals["guarantees"] = guarantees.entries()
    if measures is None:
        return _fractions(residuals)
    experts = {
        name: {
            "activity_probability": expert.activity_probability,
            "expected_active_steps": expert.expected_active_steps,
        }
        for name, expert in measures.experts.items()
    }
    return _fractions(
        {
            "tv_to_switching": measures.tv_to_switching,
            "tv_local_global": measures.tv_local_global,
            "overlap_probability": measures.overlap_probability,
            **residuals,
            "experts": experts,
            "termination": _termination_entries(measures.termination),
        }
    )


def _termination_entries(termination: Termination | None) -> dict[str, Any]:
    if termination is None:
        return {}
    lengths = {
        "background": termination.background,
        "composition": termination.composition,
        "experts": termination.experts,
    }
    return {"unended": termination.unended, "expected_length": lengths}
