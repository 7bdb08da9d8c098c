"""What bounds and guarantees look like: numbers next to what they bound. Source: theory.md, sections 2, 5, 7, 8, 10.

A `Bound` stands beside the truth that it bounds, or says which hypothesis fails. `entries()` is what a report holds as
data. Numbers are `Fraction` where they are exact and `float` where they are not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from factorcomp.certificates.claims import Number, Tokens

Quantity = Literal["tv", "kl", "reverse_kl"]


@dataclass(frozen=True)
class Bound:
    """One inequality about a comparison: `quantity` is at most `value` (at least, with `below`).

    **Fields:** `name`: stable, for programs. `words`: for people. `source`: its number in theory.md. `truth`: what the
    quantity is. `value`: `None` where a hypothesis fails, and `why` says which.
    """

    name: str
    words: str
    source: str
    quantity: Quantity
    truth: Number
    value: Number | None
    why: str = ""
    below: bool = False

    def entries(self) -> dict[str, Any]:
        """As data."""
        side = "at_least" if self.below else "at_most"
        data = {"bound": self.name, "source": self.source, "quantity": self.quantity, side: self.value}
        return {**data, "truth": self.truth, "why": self.why or None}


@dataclass(frozen=True)
class Comparison:
    """Two laws of sequences, and what bounds their distance.

    **Fields:** `name`: `switching`, `nearest`, `local_global`, `target`, or `projective:NAME`. `words`: what is
    compared. `same`: proved to be one distribution; then there are no bounds. `tv`, `kl`, `reverse_kl`: the truths.
    """

    name: str
    words: str
    same: bool
    tv: Number
    kl: Number | None = None
    reverse_kl: Number | None = None
    bounds: tuple[Bound, ...] = ()

    def entries(self) -> dict[str, Any]:
        """As data."""
        return {
            "same": self.same,
            "tv": self.tv,
            "kl": self.kl,
            "reverse_kl": self.reverse_kl,
            "bounds": [bound.entries() for bound in self.bounds],
        }


@dataclass(frozen=True)
class Effect:
    """A distance at each prefix that the composition reaches: the largest, where, and the sum expected on a path."""

    largest: Number
    prefix: Tokens | None
    expected: Number

    def entries(self) -> dict[str, Any]:
        """As data."""
        prefix = None if self.prefix is None else list(self.prefix)
        return {"largest": self.largest, "prefix": prefix, "expected": self.expected}


@dataclass(frozen=True)
class Ending:
    """Theorem 10.1 at the prefix where the composition's log-odds of EOS are farthest from the nearest component's.

    `composition = background + sum(shifts) - log_content`; `component`: the log-odds of the nearest component.
    """

    prefix: Tokens
    composition: float
    component: float
    background: float
    shifts: Mapping[str, float]
    log_content: float

    def entries(self) -> dict[str, Any]:
        """As data."""
        return {**vars(self), "prefix": list(self.prefix), "shifts": dict(self.shifts)}


@dataclass(frozen=True)
class Robust:
    """How far a composition is from what it ought to be, with every bound beside the truth (theory.md, section 8).

    **Fields:** `comparisons`. `switching_defect`: the TV to the nearest component. `leave_one_out`: by expert, the TV
    to the composition without it. `ending`: with EOS, unless the composition ends as its components do. `skipped`: why
    nothing was computed.
    """

    comparisons: tuple[Comparison, ...] = ()
    switching_defect: Effect | None = None
    leave_one_out: Mapping[str, Effect] = field(default_factory=dict)
    ending: Ending | None = None
    skipped: str = ""

    def __getitem__(self, name: str) -> Comparison:
        for comparison in self.comparisons:
            if comparison.name == name:
                return comparison
        raise KeyError(name)

    def entries(self) -> dict[str, Any]:
        """As data."""
        return {
            "comparisons": {comparison.name: comparison.entries() for comparison in self.comparisons},
            "switching_defect": self.switching_defect and self.switching_defect.entries(),
            "leave_one_out": {name: effect.entries() for name, effect in self.leave_one_out.items()},
            "ending": self.ending and self.ending.entries(),
            "skipped": self.skipped or None,
        }


@dataclass(frozen=True)
class Guarantee:
    """What is promised of an expert's active interval, and what becomes of it in the composition (theory.md 5.1).

    `own` is the expert's law, `composition` the composition's; an *entry* is the prefix of a path at which the expert
    first deviates.

    **Fields:** `pattern`: the successful segments, as given. `entered`, `own_entered`: the probability of an entry.
    `succeeds`, `own_succeeds`, `fails`, `own_fails`: of an entry and a success, of an entry and a failure. `failure`:
    δ, the expert's largest probability of failing after an entry that the composition reaches, and `worst`, the first
    such entry; `None` if there is none. `drift`: TV of the entry laws, no entry counted as one; `segment_drift`: of the
    segments' laws, likewise. `ratio`: the largest `P^(g)/P_i(g)` of an entry `g`. `segment_tv`: the TV between the
    composition's law of entry and segment and that of the expert's own segments after the same entries: 0 where
    `exact_segments` (Theorem 4.5).
    """

    expert: str
    pattern: str
    entries_reached: int
    entered: Number
    own_entered: Number
    succeeds: Number
    own_succeeds: Number
    fails: Number
    own_fails: Number
    failure: Number | None
    worst: Tokens | None
    drift: Number
    segment_drift: Number
    ratio: Number | None
    exact_segments: bool
    segment_tv: Number

    @property
    def failure_bound(self) -> Number:
        """`P^(entered, not G) <= δ P^(entered)` (5.1 (2)), and what the segments are off; at most `P^(entered)`."""
        return min((self.failure or 0) * self.entered + self.segment_tv, self.entered)

    @property
    def average_bound(self) -> Number:
        """`P^(entered, not G) <= δ' sup_g P^(g)/P_i(g)` (5.1 (4)), and what segments are off; inf if a P_i(g) is 0."""
        if self.ratio is None:
            return self.segment_tv
        infinite = self.ratio == float("inf")  # times 0, too
        return self.ratio if infinite else self.own_fails * self.ratio + self.segment_tv

    def as_data(self) -> dict[str, Any]:
        """As data."""
        return {
            "pattern": self.pattern,
            "entry_prefixes": self.entries_reached,
            "entered": self.entered,
            "entered_alone": self.own_entered,
            "succeeds": self.succeeds,
            "succeeds_alone": self.own_succeeds,
            "fails": self.fails,
            "fails_alone": self.own_fails,
            "failure_after_entry": self.failure,
            "worst_entry": None if self.worst is None else list(self.worst),
            "fails_at_most": self.failure_bound,
            "drift": self.drift,
            "segment_drift": self.segment_drift,
            "largest_ratio": self.ratio,
            "fails_at_most_on_average": self.average_bound,
            "exact_segments": self.exact_segments,
            "segment_tv": self.segment_tv,
        }


@dataclass(frozen=True)
class JointBound:
    """A lower bound on the probability that every entered skill succeeds; `value` is `None` where `why` says."""

    name: str
    words: str
    source: str
    value: Number | None
    why: str = ""

    def entries(self) -> dict[str, Any]:
        """As data."""
        return {"source": self.source, "at_least": self.value, "why": self.why or None}


@dataclass(frozen=True)
class Guarantees:
    """The guarantees of the experts, and of all of them together.

    **Fields:** `succeed`: the probability that every entered skill succeeds; `bounds`: it is at least. `skipped`: why
    nothing is known.
    """

    experts: tuple[Guarantee, ...] = ()
    succeed: Number | None = None
    bounds: tuple[JointBound, ...] = ()
    skipped: str = ""

    def __getitem__(self, name: str) -> Guarantee:
        for guarantee in self.experts:
            if guarantee.expert == name:
                return guarantee
        raise KeyError(name)

    def entries(self) -> dict[str, Any]:
        """As data."""
        return {
            "experts": {guarantee.expert: guarantee.as_data() for guarantee in self.experts},
            "all_succeed": self.succeed,
            "bounds": {bound.name: bound.entries() for bound in self.bounds},
            "skipped": self.skipped or None,
        }
