"""What a statement is: a sentence of theory.md, instances that satisfy its hypotheses, a check, and what refutes it."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from factorcomp.testing.drawing import Draw

Kind = Literal["definition", "lemma", "theorem", "proposition", "corollary", "counterexample", "remark", "open point"]
Number = Fraction | int | float

ROUNDING = 1e-11
"""What a comparison of logarithms in float64 forgives, relative to 1 and the numbers compared; fractions forgive
nothing. Sums here have at most a few hundred terms of a few units, each with an error of some 1e-16."""


@dataclass(frozen=True)
class Relation:
    """What a statement says of one instance: an equation, an inequality or a fact, and whether it is so.

    `slack`: of an inequality, by how much it holds; negative where it does not.
    """

    says: str
    holds: bool
    slack: float | None = None


def equal(says: str, left: Any, right: Any) -> Relation:
    """`left = right`, exactly: fractions, rows, laws (mappings without zeros), sets."""
    return Relation(says, bool(left == right))


def close(says: str, left: float, right: float) -> Relation:
    """`left = right` of logarithms, up to `ROUNDING`; infinities are equal to themselves alone, NaN to nothing."""
    if math.isinf(left) or math.isinf(right):
        return Relation(says, left == right)
    return Relation(says, abs(left - right) <= ROUNDING * (1 + abs(left) + abs(right)))


def at_most(says: str, left: Number, right: Number) -> Relation:
    """`left <= right`: exactly for fractions, up to `ROUNDING` where one side is a logarithm. NaN is not at most."""
    if isinstance(left, Fraction | int) and isinstance(right, Fraction | int):
        return Relation(says, left <= right, float(right - left))
    one, other = float(left), float(right)
    if math.isinf(one) or math.isinf(other):
        return Relation(says, one <= other, math.inf if one < other else 0.0 if one == other else -math.inf)
    slack = other - one
    return Relation(says, slack >= -ROUNDING * (1 + abs(one) + abs(other)), slack)


def fact(says: str, holds: bool) -> Relation:
    """A fact that is so, or is not."""
    return Relation(says, bool(holds))


Check = Callable[[Any], Iterable[Relation]]
Recipe = Callable[[Draw], Any]


@dataclass(frozen=True)
class Control:
    """A negative control: instances from which one hypothesis is dropped, and of which the check must fail.

    `drops`: the hypothesis. `draw`: instances without it, one of which must be refuted. `check`: what must fail where
    it is not the statement's own check (for a counterexample: that what it refutes holds).
    """

    drops: str
    draw: Recipe
    check: Check | None = None


@dataclass(frozen=True)
class Statement:
    """A numbered sentence of theory.md, tested.

    **Fields:** `number`: as in theory.md, with the part in parentheses where a statement has several: `"1.5 (4)"`.
    `sentence`: what it says, in words. `equation`: in symbols. `hypotheses`: under which. `draw`: instances that
    satisfy them by construction. `cases`: instances that are all tried, whatever the number of examples (a finite
    domain, or the one instance of a counterexample). `check`: the relations that must hold of each. `controls`: what
    must be refuted. `not_checked`: what the check leaves out.
    `weight`: how many times fewer instances are drawn than of others, where one is slow.
    """

    number: str
    kind: Kind
    sentence: str
    equation: str
    check: Check
    controls: tuple[Control, ...]
    hypotheses: tuple[str, ...] = ()
    draw: Recipe | None = None
    cases: Callable[[], Iterable[Any]] | None = None
    not_checked: str = ""
    weight: int = 1

    @property
    def section(self) -> int:
        """The section of theory.md; of what has no number of its own, as `"8 direct TV"`, too."""
        return int(self.number.partition(" ")[0].partition(".")[0])


def constant(instance: Any) -> Callable[[], Iterable[Any]]:
    """The one instance of a counterexample, as `cases`."""
    return lambda: (instance,)


def failures(check: Check, instance: Any) -> list[Relation]:
    """The relations of the check that do not hold of the instance."""
    return [relation for relation in check(instance) if not relation.holds]
