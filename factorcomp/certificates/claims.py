"""What is asked, and what an answer looks like: the words that every engine and the kernel share.

A `Question` fixes what is asked of a background and its experts. Whatever decides it answers with `Findings`: one
`ClaimResult` per claim, the `Measures`, and the prefixes at which each expert deviates and is active. Numbers are
`Fraction` where they are exact and `float` where they are not. Source: theory.md, sections 1 to 4 and 10.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from factorcomp.certificates.measures import ExpertMeasures as ExpertMeasures
from factorcomp.certificates.measures import Measures as Measures
from factorcomp.certificates.measures import Number as Number
from factorcomp.certificates.measures import Termination as Termination
from factorcomp.certificates.positions import Positions as Positions

Scope = Literal["reachable", "all"]
NullTokens = Literal["strict", "drop", "cancel"]
Tokens = tuple[str, ...]
Length = int | Literal["every"]
"""A horizon in tokens, or every length at once (theory.md, section 7)."""
Spans = tuple[tuple[int, int], ...]
"""Prefix indices of one length as half-open ranges `(start, stop)`, increasing and not touching."""

JOINT_CLAIMS = ("pointwise_joint", "interval_joint")
COMPOSITION_CLAIMS = ("exact_switching", "unit_normalizer", "local_equals_global")
MASK_CLAIMS = ("mask_agreement", "factorized_conditionals", "projective")
FEATURE_CLAIMS = ("feature_projective", "feature_commutes")
CLAIMS = ("well_defined", *JOINT_CLAIMS, *COMPOSITION_CLAIMS, *MASK_CLAIMS, *FEATURE_CLAIMS, "terminates")
"""Every claim, in the order of a report."""


Mask = tuple[int, ...] | Positions
"""The positions that an expert owns: within a length, or for every length."""


class Verdict(enum.StrEnum):
    """`HOLDS` in the stated scope; `REFUTED` with a witness; `BOUNDED` by a number; `UNDECIDED`, with the reason."""

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    BOUNDED = "BOUNDED"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Question:
    """What is asked of a background and its experts.

    **Fields:** `length`: the horizon T, in tokens, or `"every"`. `masks`: expert name -> its positions (from 0,
    increasing; `Positions` for every length), or `"auto"`: each expert owns those at which it deviates, or `None`.
    `threshold`: nats; an expert deviates at a prefix if the oscillation of its log-ratio to the background exceeds it.
    `scope`: the prefixes that the composition can reach, or all. `null_tokens`: theory.md, Definition 1.3. `weights`:
    expert name -> the factor of its log-ratio (theory.md 1.9), 1 where absent. `feature_masks`: with a feature map,
    expert name -> its coordinates (from 0, increasing), `{}` where no expert has any; `None` without a feature map.
    """

    length: Length
    masks: Mapping[str, Mask] | Literal["auto"] | None = None
    threshold: Fraction = Fraction(0)
    scope: Scope = "reachable"
    null_tokens: NullTokens = "cancel"
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    feature_masks: Mapping[str, Mask] | None = None

    @property
    def horizon(self) -> int:
        """The length, where one is asked about; raises `ValueError` for every length."""
        if self.length == "every":
            raise ValueError("a question about every length has no horizon")
        return self.length

    @property
    def given_masks(self) -> Mapping[str, tuple[int, ...]] | None:
        """The masks within the horizon; `None` where there are none, or they are to be found."""
        if self.masks is None or self.masks == "auto":
            return None
        return {n: m.below(self.horizon) if isinstance(m, Positions) else m for n, m in self.masks.items()}

    def weight(self, name: str) -> Fraction:
        """The weight of the expert `name`."""
        return self.weights.get(name, Fraction(1))


@dataclass(frozen=True)
class PrefixWitness:
    """A prefix at which a claim fails, its probability under the composition, and the experts at fault there."""

    prefix: Tokens
    probability: Number
    experts: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairWitness:
    """Two rows that must agree and do not: row `prefixes[0]` of `models[0]` and row `prefixes[1]` of `models[1]`.

    `condition` is `"B"`, `"I1"` or `"I2"` (theory.md 2.3), or `"c"` (Definition 2.1: the expert makes possible on its
    mask what the background's law of the mask excludes; the prefix is given twice), or `"Z"`: after two prefixes of one
    length the composition (of which both rows are) has different normalizers (Theorem 1.5 (2)).
    """

    prefixes: tuple[Tokens, Tokens]
    models: tuple[str, str]
    condition: Literal["c", "B", "I1", "I2", "Z"]


@dataclass(frozen=True)
class MarginalWitness:
    """Where two marginals differ most: `tokens` at `positions`, with the probability under composition and expert."""

    positions: tuple[int, ...]
    tokens: Tokens
    composition: Number
    expert: Number


@dataclass(frozen=True)
class PositionWitness:
    """A position at which two experts deviate, with a prefix of that length for each: there are no disjoint masks."""

    position: int
    experts: tuple[str, str]
    prefixes: tuple[Tokens, Tokens]


@dataclass(frozen=True)
class FeatureWitness:
    """Where two marginals differ most: feature `tokens` at `coordinates`, and their probability under both laws."""

    coordinates: tuple[int, ...]
    tokens: Tokens
    composition: Number
    expert: Number


@dataclass(frozen=True)
class SequenceWitness:
    """The first sequence whose features `D(y)` differ most in probability: composed in tokens, and in features."""

    sequence: Tokens
    features: Tokens
    in_tokens: Number
    in_features: Number


Witness = PrefixWitness | PairWitness | MarginalWitness | PositionWitness | FeatureWitness | SequenceWitness


@dataclass(frozen=True)
class ClaimResult:
    """One claim, decided or not: verdict, method, residual, witness, and one line that a person understands.

    **Fields:** `residual`: the number that interface.md defines for the claim (`None` where it has none); `mask`: the
    expert whose mask a claim is about (`projective`, `feature_projective`); `length`: the horizon, or `"every"`; `why`:
    the line.
    """

    claim: str
    verdict: Verdict
    method: str
    length: Length
    why: str
    residual: Number | None = None
    witness: Witness | None = None
    mask: str | None = None

    @property
    def name(self) -> str:
        """`projective:up` for the mask of `up`, otherwise the claim itself."""
        return self.claim if self.mask is None else f"{self.claim}:{self.mask}"


Phase = Literal["before", "active", "after"]


@dataclass(frozen=True)
class Invariant:
    """The states of the product of background and experts that can be reached in scope: closed under every step.

    **Fields:** `states[n]`: the names of the models' states, the background's first; `None`: the sequence has ended.
    State 0 is the initial one; they come in the order of the shortest prefixes that lead to them. `next[n][y]`: the
    state after token `y`, `None` where it does not follow. `phases[n]`: what the experts' phases can be there, each in
    the order of the experts: before the first deviation, active, or after it, when none can be reached any more;
    `None` where two experts can be active at once.

    Source: theory.md 7.3, 7.4.
    """

    states: tuple[tuple[str, ...] | None, ...]
    next: tuple[tuple[int | None, ...], ...]
    phases: tuple[tuple[tuple[Phase, ...], ...], ...] | None


@dataclass(frozen=True)
class Findings:
    """All that an engine found: `claims` in the order of `CLAIMS`, `measures` (`None` if the composition is undefined).

    `deviating` and `active` hold, for each expert and each length 0..T-1, the indices of its deviating and its active
    prefixes in scope (theory.md 3.3); a prefix's index is its place in the order of the background's vocabulary,
    first token most significant. `masks`: those given, or found; `None` without masks, or where `"auto"` finds none.
    `prefixes`: how many are in scope. `unsettled`: names of claims that floating point left open, in the verdict or
    only in the question whether the witness is the first one. For every length `deviating` and `active` are empty, and
    `invariant` takes their place. `states`: how many states the product of finite-state models has in scope.
    """

    claims: tuple[ClaimResult, ...]
    measures: Measures | None
    deviating: Mapping[str, tuple[Spans, ...]]
    active: Mapping[str, tuple[Spans, ...]]
    masks: Mapping[str, Mask] | None = None
    prefixes: int | None = None
    states: int | None = None
    invariant: Invariant | None = None
    unsettled: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> ClaimResult:
        for result in self.claims:
            if result.name == name:
                return result
        raise KeyError(name)


def overall(claims: tuple[ClaimResult, ...], required: tuple[str, ...]) -> Verdict:
    """The verdict over the `required` claims: REFUTED if one is, HOLDS if all do, else UNDECIDED or BOUNDED.

    `projective` requires it of every mask. A required claim that is not among `claims` makes the verdict UNDECIDED.
    """
    verdicts = []
    for name in required:
        found = [result.verdict for result in claims if name in (result.name, result.claim)]
        verdicts += found or [Verdict.UNDECIDED]
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.BOUNDED):
        if verdict in verdicts:
            return verdict
    return Verdict.HOLDS
