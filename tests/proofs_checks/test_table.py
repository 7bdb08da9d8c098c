"""Instances are shown in the notation of theory.md."""

from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.families import Family
from proofs_checks.table import described, plain

HALF = (Fraction(1, 2), Fraction(1, 2))
FAMILY = Family(2, 1, {(): HALF}, ({(): (Fraction(1), Fraction(0))},))


@dataclass(frozen=True)
class Record:
    """A family with something beside it."""

    family: Family
    event: frozenset[tuple[int, ...]]


def test_fractions_and_prefixes():
    assert plain((Fraction(1, 3), (0, 1), ())) == "(1/3, 01, ∅)"
    assert plain((0, -1)) == "(0, -1)"
    assert plain((True, False)) == "(True, False)"


def test_a_family_by_its_rows():
    assert described(FAMILY) == ["|V| = 2, T = 1", "p_b  ∅: (1/2, 1/2)", "p_1  ∅: (1, 0)"]


def test_a_record_by_its_fields():
    lines = described(Record(FAMILY, frozenset({(1,), (0,)})))
    assert lines == ["family:", *(f"  {line}" for line in described(FAMILY)), "event: {0, 1}"]


def test_a_tuple_with_a_family_by_its_parts():
    assert described((FAMILY, "strict")) == [*described(FAMILY), "strict"]
