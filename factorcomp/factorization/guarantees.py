"""What is promised of an expert while it is active, and what comes of it in the composition (theory.md 5 and 7.1)."""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool

from factorcomp.bounds.sequences import from_kl
from factorcomp.certificates.claims import Findings, Number, Question, Tokens
from factorcomp.enumeration.summary import Summary
from factorcomp.enumeration.tree import first_met, spelled
from factorcomp.factorization.segments import Ends, Entries, Flags, Law, at, flags, law, walk
from factorcomp.factorization.setting import Setting, setting_of
from factorcomp.inequalities import Guarantee, Guarantees, JointBound
from factorcomp.models.errors import InputError
from factorcomp.models.tabular import TabularModel

Predicate = Callable[[Tokens, Tokens], bool]
"""Of the entry prefix and the segment: whether the expert succeeds."""
SEGMENTS = 1 << 20
"""The most segments of an expert that are looked at."""


def guaranteed(
    promised: Mapping[str, str | Predicate],
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    seen: Summary,
    findings: Findings,
    question: Question,
) -> Guarantees:
    """The guarantees in a well-defined composition.

    `promised`: expert name -> what its successful segments are: a regular expression that matches their tokens, joined
    by single blanks, as a whole; or a predicate of the entry prefix and the segment. `seen`: the levels, with rows.

    Raises `InputError` where a predicate fails, or there are too many segments to look at.
    """
    setting = setting_of(background, experts, seen, question)
    vocabulary = background.vocabulary
    composed, switched = law(setting.composition, setting.one), law(setting.switching, setting.one)
    found, failures, joint = [], [], []
    for name, pattern in promised.items():
        i = setting.names.index(name)
        expert = _Expert(
            setting,
            i,
            composed,
            flags(findings.deviating[name], len(vocabulary)),
            flags(findings.active[name], len(vocabulary)),
        )
        fails = expert.failing(name, pattern, vocabulary)
        found.append(expert.guarantee(name, pattern, fails, vocabulary))
        failures.append((expert, fails))
    failed = _failing_prefixes(failures, composed)
    lost = sum(
        (_total(mass[flag]) for mass, flag in zip(composed.mass, first_met(failed, len(vocabulary)), strict=True)),
        0 * setting.one,
    )
    joint.append(_by_the_composition(found, setting.one))
    if not all(guarantee.exact_segments for guarantee in found):
        joint += _by_the_switching_model(failures, setting, composed, switched)
    return Guarantees(tuple(found), setting.one - lost, tuple(joint))


class _Expert:
    """One expert's entries and segments."""

    def __init__(self, setting: Setting, i: int, composed: Law, deviates: list[Flags], active: list[Flags]):
        self.setting, self.i, self.composed, self.active = setting, i, composed, active
        self.entries, self.ends = walk(deviates, active, setting.own[i], setting.one)
        self.law = law(setting.own[i], setting.one)

    def failing(self, name: str, pattern: str | Predicate, vocabulary: Sequence[str]) -> Bool[np.ndarray, " ends"]:
        """The ends of the segments that are no success; of those that have no probability, nothing is asked."""
        ends, entries = self.ends, self.entries
        asked = ends.possible | at(self.composed.possible, ends.length, ends.index)
        if int(asked.sum()) > SEGMENTS:
            raise InputError(
                f"the guarantee of {name}: {int(asked.sum()):,} segments; at most {SEGMENTS:,} are looked at"
            )
        succeeds, known = _success(name, pattern), {}
        fails = np.zeros(len(ends.length), dtype=bool)
        for n in np.flatnonzero(asked).tolist():
            length, entry = int(ends.length[n]), int(ends.entry[n])
            start = int(entries.length[entry])
            tokens = spelled(int(ends.index[n]), length, vocabulary)
            key = tokens[start:] if isinstance(pattern, str) else (tokens[:start], tokens[start:])
            if key not in known:
                known[key] = not succeeds(tokens[:start], tokens[start:])
            fails[n] = known[key]
        return fails

    def fails_after_entry(self, fails: Bool[np.ndarray, " ends"]) -> Any:
        """`P_i(not G | g)` of each entry `g`."""
        sums = np.full(len(self.entries.length), 0 * self.setting.one)
        np.add.at(sums, self.ends.entry[fails], self.ends.run[fails])
        return sums

    def worst(
        self, fails: Bool[np.ndarray, " ends"], reached: Bool[np.ndarray, " entries"]
    ) -> tuple[Number | None, int]:
        """δ over the entries `reached`, and the first entry that has it."""
        if not reached.any():
            return None, -1
        places = np.flatnonzero(reached)
        sums = self.fails_after_entry(fails)[places]
        at_most = max(sums.tolist())
        return min(at_most, self.setting.one), int(places[sums.tolist().index(at_most)])

    def reached(self, who: Law) -> Bool[np.ndarray, " entries"]:
        """The entries that a law reaches."""
        return at(who.possible, self.entries.length, self.entries.index)

    def mass(self, who: Law, places: Entries | Ends) -> Any:
        """The probabilities of prefixes under a law."""
        return at(who.mass, places.length, places.index)

    def segments_of(self, follows: Sequence[Sequence[Flags]], who: Law) -> bool:
        """Theorem 4.5: wherever the law goes while the expert is active, the row is the expert's."""
        levels = zip(self.active, follows[self.i], who.possible, strict=False)
        return not any((active & possible & ~same).any() for active, same, possible in levels)

    def guarantee(
        self, name: str, pattern: str | Predicate, fails: Bool[np.ndarray, " ends"], vocabulary: Sequence[str]
    ) -> Guarantee:
        """Theorem 5.1 (1), (2) and (4)."""
        one, ends = self.setting.one, self.ends
        entered, own_entered = self.mass(self.composed, self.entries), self.mass(self.law, self.entries)
        ended, own_ended = self.mass(self.composed, ends), self.mass(self.law, ends)
        reached = self.reached(self.composed)
        failure, worst = self.worst(fails, reached)
        exact = self.segments_of(self.setting.follows, self.composed)
        off = np.abs(ended - entered[ends.entry] * ends.run)
        apart = _total(np.abs(entered - own_entered)) + abs(_total(entered) - _total(own_entered))
        prefix = (
            None if worst < 0 else spelled(int(self.entries.index[worst]), int(self.entries.length[worst]), vocabulary)
        )
        return Guarantee(
            expert=name,
            pattern=pattern if isinstance(pattern, str) else _called(pattern),
            entries_reached=int(reached.sum()),
            entered=_total(entered),
            own_entered=_total(own_entered),
            succeeds=_total(ended[~fails]),
            own_succeeds=_total(own_ended[~fails]),
            fails=_total(ended[fails]),
            own_fails=_total(own_ended[fails]),
            failure=failure,
            worst=prefix,
            segment_drift=self._segment_drift(ended, own_ended),
            drift=apart / 2,
            ratio=self._ratio(entered, own_entered, reached),
            exact_segments=exact,
            segment_tv=0 * one if exact else _total(off) / 2,
        )

    def _segment_drift(self, ended: Any, own: Any) -> Number:
        """TV of the laws of the segment alone, no entry counted as one (5.1 (5))."""
        vocab, ends = len(self.composed.mass[1]) if len(self.composed.mass) > 1 else 1, self.ends
        lengths = ends.length - self.entries.length[ends.entry]
        segments = lengths * vocab ** (len(self.composed.mass) - 1) + ends.index % vocab**lengths
        distinct, which = np.unique(segments, return_inverse=True)
        sums = np.full(len(distinct), 0 * self.setting.one)
        np.add.at(sums, which, ended - own)
        return (_total(np.abs(sums)) + abs(_total(sums))) / 2

    def _ratio(self, entered: Any, own: Any, reached: Bool[np.ndarray, " entries"]) -> Number | None:
        """`sup_g P^(g)/P_i(g)` over the entries that the composition reaches."""
        if not reached.any():
            return None
        with np.errstate(divide="ignore", over="ignore"):
            return max(
                p / q if q else float("inf")
                for p, q in zip(entered[reached].tolist(), own[reached].tolist(), strict=True)
            )


def _success(name: str, pattern: str | Predicate) -> Predicate:
    """The predicate of a pattern; a user's own, whose answers and failures are looked at."""
    if isinstance(pattern, str):
        compiled = re.compile(pattern)
        return lambda _, segment: compiled.fullmatch(" ".join(segment)) is not None

    def checked(entry: Tokens, segment: Tokens) -> bool:
        where = (
            f"the guarantee of {name}: after {' '.join(entry)!r}, of the segment {' '.join(segment)!r}, the predicate"
        )
        try:
            answer: Any = pattern(entry, segment)
        except (Exception, SystemExit) as error:  # whatever the user's code raises
            raise InputError(f"{where} raised {type(error).__name__}: {error}") from error
        if not isinstance(answer, bool | np.bool_):
            raise InputError(f"{where} said {answer!r}; it must say True or False")
        return bool(answer)

    return checked


def _called(predicate: Predicate) -> str:
    return getattr(predicate, "source", None) or getattr(predicate, "__qualname__", None) or type(predicate).__name__


def _failing_prefixes(failures: Sequence[tuple[_Expert, Any]], composed: Law) -> list[Flags]:
    """The prefixes at which some expert's segment ends in a failure."""
    levels = [np.zeros(len(mass), dtype=bool) for mass in composed.mass]
    for expert, fails in failures:
        for length, index in zip(expert.ends.length[fails].tolist(), expert.ends.index[fails].tolist(), strict=True):
            levels[length][index] = True
    return levels


def _by_the_composition(found: Sequence[Guarantee], one: Any) -> JointBound:
    """Theorem 5.1 (3), with what the segments are off where they are not the experts' own."""
    value = one - sum(guarantee.failure_bound for guarantee in found)
    if all(guarantee.exact_segments for guarantee in found):
        return JointBound("union", "1 - sum δ P̂(entered)", "5.1 (3)", value)
    return JointBound("union", "1 - sum (δ P̂(entered) + segment TV)", "5.1 (3)", value)


def _by_the_switching_model(
    failures: Sequence[tuple[_Expert, Any]], setting: Setting, composed: Law, switched: Law
) -> list[JointBound]:
    """Theorems 5.1 (3) and 7.1: by a switching model that leaves every segment as it is."""
    words, names = "1 - sum δ S(entered) - TV(P̂, S)", []
    for expert, _ in failures:
        if not expert.segments_of(setting.switching_follows, switched):
            names.append(setting.names[expert.i])
    if names:
        why = f"the switching model does not follow {names[0]} wherever it is active"
        return [JointBound("switching", words, "5.1 (3)", None, why), JointBound("budget", words, "7.1", None, why)]
    kept = setting.one
    for expert, fails in failures:
        failure, _ = expert.worst(fails, expert.reached(switched))
        kept = kept - (failure or 0) * _total(expert.mass(switched, expert.entries))
    excess = np.maximum(composed.mass[-1] - switched.mass[-1], 0 * setting.one)
    p, s = (np.array(who.mass[-1], dtype=float) for who in (composed, switched))
    outside = (switched.possible[-1] & ~composed.possible[-1]).any()
    on = s > 0
    kl = float("inf") if outside or (on & ~(p > 0)).any() else max(0.0, float((s[on] * np.log(s[on] / p[on])).sum()))
    return [
        JointBound("switching", words, "5.1 (3)", kept - _total(excess)),
        JointBound("budget", "the same, TV from κ = KL(S || P̂)", "7.1", float(kept) - from_kl(kl)),
    ]


def _total(numbers: Any) -> Any:
    """The sum; a fraction of fractions."""
    return numbers.sum() if len(numbers) or numbers.dtype != object else Fraction(0)
