"""Proposition 1.9 (d): truncation and repetition penalties do not commute with composition."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, Kernel, Shape, common_support
from proofs_checks.definitions.laws import Row, given
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, equal, fact

Filter = Callable[[Row], Row]


def top_k(row: Row) -> Row:
    """The two likeliest tokens; of equals the first."""
    kept = sorted(range(len(row)), key=lambda token: -row[token])[:2]
    return given(row, set(kept))


def top_p(row: Row) -> Row:
    """The likeliest tokens that hold 3/4 together; of equals the first."""
    kept, mass = set(), Fraction(0)
    for token in sorted(range(len(row)), key=lambda token: -row[token]):
        if mass < Fraction(3, 4):
            kept.add(token)
            mass += row[token]
    return given(row, kept)


def repetition_penalty(row: Row) -> Row:
    """Token 0 was there: its log-probability is doubled."""
    return normalised([mass**2 if token == 0 else mass for token, mass in enumerate(row)])


def presence_penalty(row: Row) -> Row:
    """Token 0 was there: its logit is lowered by log 2."""
    return normalised([mass / 2 if token == 0 else mass for token, mass in enumerate(row)])


@dataclass(frozen=True)
class Filtered:
    """One step, and what is done to every row."""

    family: Family
    filter: Filter


UNIFORM = (Fraction(1, 3),) * 3
TRUNCATED = [
    Filtered(Family(3, 1, {(): UNIFORM}, ({(): normalised((3, 2, 1))}, {(): normalised((1, 2, 3))})), top_k),
    Filtered(Family(3, 1, {(): UNIFORM}, ({(): normalised((3, 2, 1))}, {(): normalised((1, 2, 3))})), top_p),
    Filtered(Family(2, 1, {(): UNIFORM[:2]}, ({(): normalised((1, 3))}, {(): normalised((1, 3))})), repetition_penalty),
]


def before_and_after(instance: Filtered) -> tuple[Kernel, Kernel]:
    """Filtered and composed (under `drop`); composed and filtered."""
    family = instance.family

    def each(rows: Kernel) -> Kernel:
        return {h: instance.filter(row) for h, row in rows.items()}

    filtered = replace(family, background=each(family.background), experts=tuple(map(each, family.experts)))
    return compose(filtered, "drop").kernel, each(compose(family, "drop").kernel)


def check_truncated(instance: Filtered) -> Iterator[Relation]:
    """The order matters."""
    before, after = before_and_after(instance)
    yield fact("filtered, then composed differs from composed, then filtered", before != after)


def check_presence(family: Family, penalty: Filter = presence_penalty) -> Iterator[Relation]:
    """A penalty that is subtracted from the logit is the same before and after."""
    before, after = before_and_after(Filtered(family, penalty))
    yield equal("penalised, then composed = composed, then penalised", before, after)


def one_step(draw: Draw) -> Family:
    """Two tokens, one support, one or two experts."""
    return common_support(draw, Shape(2, 1, draw.integer(1, 2), zeros=False))


STATEMENTS = (
    Statement(
        number="1.9 (d)",
        kind="counterexample",
        sentence="top-k, top-p and repetition penalties do not commute with composition",
        equation="filtered, then composed != composed, then filtered",
        cases=lambda: TRUNCATED,
        check=check_truncated,
        controls=(
            Control(
                "a penalty that divides: one that is subtracted",
                lambda draw: Filtered(one_step(draw), presence_penalty),
            ),
        ),
    ),
    Statement(
        number="1.9 (d) subtracted penalty",
        kind="remark",
        sentence="a penalty that every model subtracts from a logit does commute",
        equation="w -> w e^-α",
        draw=one_step,
        check=check_presence,
        controls=(
            Control(
                "subtracted: one that multiplies the log-probability",
                one_step,
                lambda family: check_presence(family, repetition_penalty),
            ),
        ),
    ),
)
