"""Section 10, repair: EOS-decoupled composition takes the hazard from the one that deviates, the content from all."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row
from proofs_checks.definitions.ending import Hazards, content, hazard, joined, odds
from proofs_checks.definitions.laws import ONE, ZERO
from proofs_checks.statement import Control, Relation, Statement, equal


@dataclass(frozen=True)
class Step:
    """One prefix, and the expert that may deviate there, from 1; 0 for none."""

    at: Hazards
    assigned: int


def step(draw: Draw, *, deviators: int = 1, never: bool = True) -> Step:
    """Up to five experts of which `deviators` differ from the background, with new tokens at times; hazards below 1,
    0 included if `never`."""
    size, experts, end = draw.integer(1, 3), draw.integer(max(1, deviators), 5), draw.integer(0, 1)

    def row(zeros: bool) -> Row:
        e = ZERO if never and draw.one_in(4) else hazard(draw)
        return joined(e, draw.row(size, zeros=zeros), end)

    base = row(zeros=deviators == 1)
    rows = [base] * (experts + 1)
    for i in range(1, deviators + 1):
        rows[i] = row(zeros=deviators == 1)
    if deviators == 1 and draw.one_in(3):
        rows[1] = base
    order = draw.shuffled(range(1, experts + 1))
    shuffled = (base, *(rows[i] for i in order))
    return Step(Hazards(shuffled, end), order.index(1) + 1 if rows[1] != base else 0)


def decoupled(instance: Step, stopping: Fraction) -> Row | None:
    """`p^(EOS) = stopping`; the content is the local composition of the contents."""
    at = instance.at
    contents = Hazards(tuple(content(row, at.end) for row in at.rows), at.end).composed()
    return None if contents is None else joined(stopping, contents, at.end)


def check(instance: Step) -> Iterator[Relation]:
    """With the hazard of the assigned component."""
    at = instance.at
    yield equal("the decoupled row is p^", decoupled(instance, at.hazards[instance.assigned]), at.composed())


def shifted(instance: Step, *, deviators_only: bool) -> Row | None:
    """`logit e = logit e_b + mean_i (logit e_i - logit e_b)`: over the experts that deviate, or over all."""
    at, base = instance.at, odds(instance.at.hazards[0])
    factors = [odds(row[at.end]) / base for row in at.rows[1:] if not deviators_only or row != at.rows[0]]
    if len(set(factors)) > 1:
        root = Fraction(math.exp(sum(map(math.log, factors)) / len(factors)))
    else:
        root = factors[0] if factors else ONE
    return decoupled(instance, base * root / (1 + base * root))


def check_mean(instance: Step) -> Iterator[Relation]:
    """The mean over those that deviate."""
    yield equal("the decoupled row is p^", shifted(instance, deviators_only=True), instance.at.composed())


def check_mean_of_all(instance: Step) -> Iterator[Relation]:
    """False: the mean over all experts."""
    yield equal("the decoupled row is p^", shifted(instance, deviators_only=False), instance.at.composed())


def positive(draw: Draw) -> Step:
    """Hazards strictly between 0 and 1."""
    return step(draw, never=False)


STATEMENTS = (
    Statement(
        number="10 (repair)",
        kind="proposition",
        sentence="taking the hazard from the assigned component changes nothing where at most one expert deviates",
        equation="at most one deviator:   p^(EOS) = e_{a(h)}, content q^ by local composition, is p^",
        hypotheses=("JF-pt at h", "e < 1, so that there is a content"),
        draw=step,
        check=check,
        controls=(Control("JF-pt at h", lambda draw: step(draw, deviators=2, never=False)),),
        not_checked="what it does where several deviate: there it is a choice",
    ),
    Statement(
        number="10 (repair, mean shift)",
        kind="proposition",
        sentence="so does the mean of the log-odds shifts, taken over the experts that deviate",
        equation="logit e = logit e_b + mean over the deviators of (logit e_i - logit e_b)",
        hypotheses=("JF-pt at h", "0 < e < 1"),
        draw=positive,
        check=check_mean,
        controls=(Control("over the deviators: over all experts", positive, check_mean_of_all),),
    ),
)
