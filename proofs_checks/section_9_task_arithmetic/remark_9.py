"""Section 9, remark: weight disentanglement is `E` small and JF-pt in logits."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, shape
from proofs_checks.definitions.laws import Prefix, law_of
from proofs_checks.definitions.logits import kernel_of
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import switching
from proofs_checks.statement import Control, Relation, Statement, equal

Table = dict[Prefix, tuple[int, ...]]


@dataclass(frozen=True)
class Disentangled:
    """Logits of the base, of each task alone and of all tasks together."""

    family: Family
    merged: dict[Prefix, tuple[Fraction, ...]]


def drawn(draw: Draw, of: Shape, *, alone: bool = True, additive: bool = True) -> Disentangled:
    """At each prefix one task at most changes the logits by more than a shift (`alone`); changes add (`additive`)."""

    def row() -> tuple[int, ...]:
        return tuple(draw.integer(-2, 2) for _ in range(of.size))

    base: Table = {h: row() for h in of.prefixes}
    experts: list[Table] = [{} for _ in range(of.experts)]
    merged: Table = {}
    for h in of.prefixes:
        owner = draw.integer(-1, of.experts - 1)
        total = base[h]
        for i, expert in enumerate(experts):
            shift = draw.integer(-1, 1)
            change = tuple(cell + shift for cell in (row() if i == owner or not alone else (0,) * of.size))
            expert[h] = tuple(z + c for z, c in zip(base[h], change, strict=True))
            total = tuple(z + c for z, c in zip(total, change, strict=True))
        merged[h] = total if additive else tuple(z + (y == 0) for y, z in enumerate(total))
    family = Family(of.size, of.length, kernel_of(base), tuple(kernel_of(expert) for expert in experts))
    return Disentangled(family, dict(kernel_of(merged)))


def check(instance: Disentangled) -> Iterator[Relation]:
    """Merge, composition and switching model are one."""
    family = instance.family
    merged = law_of(instance.merged, family.size, family.length)
    yield equal("merge = P^", merged, compose(family).local)
    yield equal("merge = S", merged, law_of(switching(family, family.prefixes), family.size, family.length))


STATEMENTS = (
    Statement(
        number="9 (remark)",
        kind="remark",
        sentence="with E = 0 and one task at each prefix, merging switches between the tasks",
        equation="E(h, .) constant and JF-pt:   merge = P^ = S",
        hypotheses=("E = 0 up to a shift", "JF-pt in logits, up to shifts"),
        draw=lambda draw: drawn(draw, shape(draw)),
        check=check,
        controls=(
            Control("E = 0", lambda draw: drawn(draw, Shape(2, 1, 2, zeros=False), additive=False)),
            Control("JF-pt", lambda draw: drawn(draw, Shape(2, 1, 2, zeros=False), alone=False)),
        ),
        not_checked="that networks are disentangled",
    ),
)
