"""Reports in plain words: tokens, paths, numbers, and one sentence per claim.

Tokens, names and paths come from files that anybody may have written. What is not printable (control characters, line
breaks, bidirectional overrides, lone surrogates) is shown as its escape, and what reads from right to left is isolated,
so that nothing in a file can move the cursor, colour the terminal or reorder a line.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction

from factorcomp.certificates.claims import (
    ClaimResult,
    FeatureWitness,
    MarginalWitness,
    Number,
    PairWitness,
    PositionWitness,
    PrefixWitness,
    SequenceWitness,
    Tokens,
    Verdict,
)
from factorcomp.verdicts import Report

UNITS = {
    "well_defined": "violated with probability",
    "pointwise_joint": "violated with probability",
    "interval_joint": "violated with probability",
    "exact_switching": "largest TV",
    "unit_normalizer": "largest |log Z|",
    "local_equals_global": "TV",
    "mask_agreement": "largest TV",
    "factorized_conditionals": "largest TV",
    "projective": "TV",
    "feature_projective": "TV",
    "feature_commutes": "TV",
    "terminates": "mass",
}
"""What the residual of a claim is, over the whole scope."""
GAP = tuple(f"no next state: what {said} there is undefined" for said in ("it says", "they say"))
"""So the reason ends where a model says nothing of a prefix, which the witness alone does not tell."""
DUST = 1e-15
"""A float below it is the rounding of a float."""


def printable(text: str, width: int | None = None) -> str:
    """`text` in at most `width` characters, what is not printable escaped, right-to-left text isolated.

    >>> print(printable("a\\tb"), printable("abcdefghijkl", 8))
    a\\tb abcde…kl
    """
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    if width is not None and len(shown) > width:
        tail = (width - 1) // 3
        shown = f"{shown[: width - 1 - tail]}…{shown[len(shown) - tail :]}"
    if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in shown):
        return f"\u2068{shown}\u2069"
    return shown


def token(text: str, width: int = 24) -> str:
    """A token in quotes, never longer than `width` characters.

    >>> print(token("a"), token("it's"), token("\\n"), token("[red]"))
    'a' 'it's' '\\n' '[red]'
    """
    return f"'{printable(text, width - 2)}'"


def path(tokens: Sequence[str], most: int = 8) -> str:
    """Tokens one after another; of a long path the first and the last.

    >>> print(path(("a", "b")))
    'a' 'b'
    """
    if len(tokens) <= most:
        return " ".join(token(t) for t in tokens)
    first, last = 2, most - 2
    middle = f"… {len(tokens) - most} tokens …"
    return " ".join([*(token(t) for t in tokens[:first]), middle, *(token(t) for t in tokens[len(tokens) - last :])])


def after(prefix: Tokens) -> str:
    """Where a prefix is: `after 'a b'`, or `at the start`."""
    return f"after {spoken(prefix)}" if prefix else "at the start"


def spoken(tokens: Sequence[str], most: int = 8) -> str:
    """Tokens in a sentence, in one pair of quotes; of many the first and the last.

    >>> print(spoken(("a", "b")))
    'a b'
    """
    shown = [printable(t, 22) for t in tokens]
    if len(shown) > most:
        shown = [*shown[:2], f"… {len(shown) - most} tokens …", *shown[len(shown) - most + 2 :]]
    return f"'{' '.join(shown)}'"


def names(experts: Iterable[str], word: str = "and") -> str:
    """`up`, `up and down`, `up, down and left`; of many the first few.

    >>> names(["up", "down", "left"])
    'up, down and left'
    """
    shown = [printable(name, 24) for name in experts]
    if len(shown) > 6:
        shown = [*shown[:5], f"{len(shown) - 5} more"]
    return " ".join([", ".join(shown[:-1]), word, shown[-1]]) if len(shown) > 1 else "".join(shown)


def number(value: Number | int | None) -> str:
    """A number for a person: small fractions as they are, otherwise four digits, never rounded to 0, 1 or infinity.

    A float within 1e-12 of 1 is 1: so much is the rounding of sums.

    >>> number(Fraction(1, 4)), number(0.25), number(1 - 1e-9), number(1e-17), number(Fraction(1, 123456))
    ('1/4', '0.25', '1-1e-09', '1e-17', '8.1e-06')
    """
    if value is None:
        return "–"
    if isinstance(value, Fraction) and value.denominator < 10_000 and abs(value.numerator) < 10_000:
        return str(value)
    if value == 0:
        return "0"
    if isinstance(value, float) and abs(1 - value) < 1e-12:
        return "1"
    try:
        value, gap = float(value), float(1 - value)
    except OverflowError:
        return "huge"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if gap and abs(gap) < 5e-5:
        return f"1{'-' if gap > 0 else '+'}{abs(gap):.2g}"
    return f"{value:.2g}" if abs(value) < 1e-3 else f"{value:.4g}"


def settled(value: Number | None, holds: bool) -> str:
    """A number that is 0 where a claim `holds`: there a float below 1e-15 is 0.

    >>> settled(-1e-17, True), settled(-1e-17, False), settled(Fraction(1, 10**17), True)
    ('0', '-1e-17', '1e-17')
    """
    return "0" if holds and isinstance(value, float) and abs(value) < DUST else number(value)


def residual(report: Report, result: ClaimResult) -> str:
    """The residual of a claim with its name: no bare 0 where it is not known to be 0, or known not to be."""
    value, name = result.residual, UNITS.get(result.claim, "residual")
    if value is None:
        return ""
    dust = isinstance(value, float) and abs(value) < DUST
    if result.verdict is Verdict.UNDECIDED:
        return f"{name} ≈ {'0' if dust else number(value)}"
    if result.verdict is Verdict.REFUTED and dust and not _may_be_zero(report, result):
        return f"{name} below 1e-15"
    return f"{name} {settled(value, result.verdict is Verdict.HOLDS)}"


def _may_be_zero(report: Report, result: ClaimResult) -> bool:
    """Whether a refuted claim may have the residual 0: by a support alone, or where the composition never goes."""
    if isinstance(result.witness, PairWitness):
        return result.witness.condition == "c"
    return UNITS[result.claim] == "violated with probability" and report.question.scope == "all"


def count(noun: str, number_of: int) -> str:
    """`1 token`, `2 tokens`, `3 prefixes`.

    >>> count("prefix", 1), count("prefix", 3)
    ('1 prefix', '3 prefixes')
    """
    plural = f"{noun}es" if noun.endswith("x") else f"{noun}s"
    return f"{number_of:,} {noun if number_of == 1 else plural}"


def headline(report: Report) -> str:
    """The verdict's sentence, without the verdict."""
    deciding = report.decisive
    if not deciding:
        return f"no answer to {', '.join(report.required)}"
    sentences = [sentence(report, result) for result in deciding]
    if report.verdict is Verdict.UNDECIDED:
        first = deciding[0]
        if first.verdict is Verdict.REFUTED:
            asked = ", ".join(report.required)
            return f"{sentences[0]}, so that nothing can be said about {asked}."
        return f"{sentences[0]}: {printable(first.why)}"
    if len(sentences) == 1:
        return f"{sentences[0]}."
    if report.verdict is Verdict.HOLDS:
        all_of = "both" if len(sentences) == 2 else f"all {len(sentences)}"
        return f"{all_of} required claims hold: {'; '.join(sentences)}."
    return f"{sentences[0]} (and {count('more required claim', len(sentences) - 1)}, below)."


def sentence(report: Report, result: ClaimResult) -> str:
    """What `result` says of these models, as a sentence without its full stop."""
    if result.verdict is Verdict.UNDECIDED:
        return f"it is not decided whether {_holds(report, result)}"
    if result.verdict is Verdict.BOUNDED:
        if result.claim == "terminates":
            tokens = count("token", report.question.horizon)
            return f"with probability {number(result.residual)} the composition has not ended within {tokens}"
        return f"{_holds(report, result)}, up to: {residual(report, result)}"
    return _fails(report, result) if result.verdict is Verdict.REFUTED else _holds(report, result)


def at_length(report: Report, word: str = "at length") -> str:
    """`at length 3`, or `at every length`."""
    if report.question.length == "every":
        return word.replace("length", "every length")
    return f"{word} {report.question.length}"


def _ended(report: Report) -> str:
    """That a sequence has ended by the horizon, or ends at all."""
    if report.question.length == "every":
        return "ends with probability 1"
    return f"has ended within {count('token', report.question.length)}"


def _beyond(report: Report) -> str:
    """How far a deviation must go."""
    threshold = report.question.threshold
    return f" by more than {number(threshold)} nats" if threshold else ""


def _counting(report: Report) -> str:
    """What counts as a deviation, where that is not any difference."""
    return f", counting deviations{_beyond(report)}" if report.question.threshold else ""


def _everywhere(report: Report) -> str:
    """The scope."""
    return "at every prefix" if report.question.scope == "all" else "wherever the composition goes"


def _holds(report: Report, result: ClaimResult) -> str:
    experts, everywhere = names(report.experts), _everywhere(report)
    are = "is" if len(report.experts) == 1 else "are"
    match result.claim:
        case "well_defined":
            return f"the composition of {experts} is well defined {at_length(report)}"
        case "pointwise_joint":
            return f"at most one of {experts} deviates{_beyond(report)} {everywhere}, {at_length(report)}"
        case "interval_joint":
            return f"{experts} {are} jointly factorizable {at_length(report)}{_counting(report)}"
        case "exact_switching":
            return f"the composition of {experts} is one of its components {everywhere}"
        case "unit_normalizer":
            return f"the composition of {experts} has Z = 1 {everywhere}"
        case "local_equals_global":
            return f"stepwise and sequence-level composition of {experts} are one distribution"
        case "mask_agreement":
            if report.question.threshold:
                none = "does not deviate" if are == "is" else "deviates"
                subject = experts if are == "is" else f"none of {experts}"
                return f"off its mask {subject} {none}{_beyond(report)} {everywhere}"
            return f"off its mask {'' if are == 'is' else 'each of '}{experts} equals the background {everywhere}"
        case "factorized_conditionals":
            return f"{experts} {'has' if are == 'is' else 'have'} factorized conditionals for these masks"
        case "projective":
            owner = names([result.mask or ""])
            return f"on the mask of {owner} the composition has {owner}'s marginal"
        case "feature_projective":
            owner = names([result.mask or ""])
            return f"on the feature coordinates of {owner} the composition has {owner}'s marginal"
        case "feature_commutes":
            return f"composing {experts} in tokens is composing their features in the order of the features"
        case "terminates":
            return f"the composition of {experts} {_ended(report)}"
    return f"{result.claim} holds"


def _fails(report: Report, result: ClaimResult) -> str:
    experts, witness = names(report.experts), result.witness
    place = after(witness.prefix) if isinstance(witness, PrefixWitness) else ""
    guilty = witness.experts if isinstance(witness, PrefixWitness | PositionWitness) else ()
    both = "both" if len(guilty) == len(report.experts) == 2 else names(guilty)
    if isinstance(witness, PositionWitness):
        return (
            f"there are no disjoint masks, and so no {result.claim.replace('_', ' ')}: {names(guilty)} both deviate"
            f"{_beyond(report)} at position {witness.position}"
        )
    match result.claim, witness:
        case "well_defined", PrefixWitness() if result.why.endswith(GAP):
            silent = f"{names(guilty)} {'has' if len(guilty) == 1 else 'have'}" if guilty else "the background has"
            return f"the composition of {experts} is not well defined: {place} {silent} no next state"
        case "well_defined", PrefixWitness(experts=()):
            return f"the composition of {experts} is not well defined: {place} no token is left possible"
        case "well_defined", PrefixWitness():
            verb = "makes" if len(guilty) == 1 else "make"
            return (
                f"the composition of {experts} is not well defined: {place} {names(guilty)} {verb} possible what the "
                "background excludes"
            )
        case "pointwise_joint", PrefixWitness():
            return f"{place} {names(guilty)} deviate{_beyond(report)} at once"
        case "interval_joint", PrefixWitness():
            return (
                f"{experts} are not jointly factorizable {at_length(report)}{_counting(report)}: "
                f"{place} {both} are active"
            )
        case "exact_switching", PrefixWitness():
            return f"{place} the composition of {experts} is none of its components"
        case "unit_normalizer", PrefixWitness():
            return f"the composition of {experts} does not have Z = 1 {place}"
        case "local_equals_global", PairWitness():
            return f"stepwise and sequence-level composition of {experts} are two distributions: {broken(witness)}"
        case "terminates", PrefixWitness():
            return f"the composition of {experts} need not end: {place} EOS cannot be reached"
        case "local_equals_global", PrefixWitness():
            return f"stepwise and sequence-level composition of {experts} are two distributions: they part {place}"
        case "mask_agreement", PrefixWitness():
            verb = "deviates" if len(guilty) == 1 else "deviate"
            return f"{names(guilty)} {verb}{_beyond(report)} off its mask {place}"
        case "factorized_conditionals", PairWitness():
            do = "does" if len(report.experts) == 1 else "do"
            return f"{experts} {do} not have factorized conditionals for these masks: {broken(witness)}"
        case "feature_projective", FeatureWitness():
            owner = names([result.mask or ""])
            return (
                f"on the feature coordinates of {owner} the composition does not have {owner}'s marginal: "
                f"{spoken(witness.tokens)} has probability {number(witness.composition)}, not {number(witness.expert)}"
            )
        case "feature_commutes", SequenceWitness():
            return (
                f"composing {experts} in tokens and in the order of the features are two distributions: "
                f"{spoken(witness.features)} has probability {number(witness.in_tokens)} and "
                f"{number(witness.in_features)}"
            )
        case "projective", MarginalWitness():
            owner = names([result.mask or ""])
            return (
                f"on the mask of {owner} the composition does not have {owner}'s marginal: {spoken(witness.tokens)} "
                f"has probability {number(witness.composition)}, not {number(witness.expert)}"
            )
    return f"not true that {_holds(report, result)}"


def broken(witness: PairWitness) -> str:
    """Which condition of theory.md 2.1 and 2.3 a pair of rows breaks, in words."""
    first, second = (after(prefix) for prefix in witness.prefixes)
    mine, theirs = (names([model]) for model in witness.models)
    match witness.condition:
        case "c":
            return f"{first} {mine} makes possible on its mask what the {theirs} excludes there"
        case "B":
            return f"the background reads another block: its rows {first} and {second} differ"
        case "I1":
            return f"on its mask {mine} reads what is off it: its rows {first} and {second} differ"
        case "Z":
            return f"Z is not the same {first} and {second}"
    return f"off its mask, {mine} {first} is not the {theirs} {second}"
