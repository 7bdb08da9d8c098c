"""The report: what `verify` returns, what `--json` writes, what a notebook shows."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from factorcomp.certificates.claims import ClaimResult, Findings, Measures, Question, Verdict, overall


@dataclass(frozen=True)
class ModelName:
    """How a model was named, and the digest of its file (`None` for a model that is not a file)."""

    name: str
    sha256: str | None = None


@dataclass(frozen=True)
class Report:
    """The verdict over the required claims, every claim, the measures, and all that is needed to repeat them.

    **Fields:** `background`, `experts`: names and digests. `vocabulary`, `eos`: the background's. `question`: what was
    asked. `required`: the claims that decide the verdict. `findings`: what was found. `notes`: what a reader must know
    about the input (rows renormalised, vocabularies aligned).
    """

    background: ModelName
    experts: Mapping[str, ModelName]
    vocabulary: tuple[str, ...]
    eos: str | None
    question: Question
    required: tuple[str, ...]
    findings: Findings
    notes: tuple[str, ...] = ()

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

    def __getitem__(self, name: str) -> ClaimResult:
        return self.findings[name]
