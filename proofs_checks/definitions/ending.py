"""EOS hazard and content of a row: theory.md 10. And models that stop: EOS is absorbing."""

import math
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import ONE, ZERO, Kernel, Prefix, prefixes, total
from proofs_checks.definitions.one_step import one_step
from proofs_checks.definitions.operator import NullTokens, compose


def joined(hazard: Fraction, content: Row, end: int) -> Row:
    """The row with `p(EOS) = hazard` at place `end`, and the rest as `content`."""
    rest = [(1 - hazard) * cell for cell in content]
    return (*rest[:end], hazard, *rest[end:])


def content(row: Row, end: int) -> Row:
    """`q`: the row given that it is not EOS; needs `e < 1`."""
    return normalised([*row[:end], *row[end + 1 :]])


def odds(hazard: Fraction) -> Fraction:
    """`e / (1 - e)`."""
    return hazard / (1 - hazard)


@dataclass(frozen=True)
class Hazards:
    """One step: the rows of background and experts, and the place of EOS."""

    rows: tuple[Row, ...]
    end: int

    @property
    def family(self) -> Family:
        """As a family of one step."""
        return one_step(self.rows)

    def composed(self, null: NullTokens = "cancel") -> Row | None:
        """`p^`, `None` where the prefix is dead."""
        return compose(self.family, null).kernel.get(())

    @property
    def hazards(self) -> list[Fraction]:
        """`e_b, e_1, ..., e_k`."""
        return [row[self.end] for row in self.rows]

    @property
    def content_normalizer(self) -> Fraction:
        """`Z_q = sum_{y != EOS} q_b prod_i q_i/q_b`, over the support of `q_b`."""
        base, *experts = (content(row, self.end) for row in self.rows)
        return total(b * math.prod((q[y] / b for q in experts), start=ONE) for y, b in enumerate(base) if b)


def hazard(draw: Draw) -> Fraction:
    """Strictly between 0 and 1."""
    return Fraction(draw.integer(1, 4), draw.integer(5, 9))


def absorbing(kernel: Kernel, end: int, size: int) -> Kernel:
    """The kernel with EOS after EOS."""
    stopped = tuple(ONE if token == end else ZERO for token in range(size))
    return {h: stopped if end in h else row for h, row in kernel.items()}


def stopping_family(draw: Draw, family: Family) -> Family:
    """The same family, where the last token is EOS and absorbing in all models."""
    end = family.size - 1
    background, *experts = (absorbing(model, end, family.size) for model in (family.background, *family.experts))
    return Family(family.size, family.length, background, tuple(experts), family.masks)


def unfinished(prefix: Prefix, end: int) -> bool:
    """Whether the prefix has no EOS."""
    return end not in prefix


def same_at_every_step(row: Row, end: int, length: int) -> Kernel:
    """The same row until EOS."""
    return absorbing(dict.fromkeys(prefixes(len(row), length), row), end, len(row))
