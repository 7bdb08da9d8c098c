"""The composition operator, local and global, with its conventions: theory.md 1.1, 1.2, 1.3, 1.9."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import ONE, ZERO, Kernel, Law, Prefix, Row, law_of, prefixes, support, total

NullTokens = Literal["strict", "drop", "cancel"]


@dataclass(frozen=True)
class Composition:
    """`w`, `Z` and `p^` where they are defined, the undefined prefixes, and `R^` (1.1)."""

    size: int
    length: int
    weights: Kernel
    normalizer: Mapping[Prefix, Fraction]
    kernel: Kernel
    undefined: frozenset[Prefix]
    reachable: tuple[Prefix, ...]

    @property
    def dead(self) -> tuple[Prefix, ...]:
        """The reachable prefixes with `Z(h) = 0`."""
        return tuple(h for h in self.reachable if h not in self.undefined and h not in self.kernel)

    @property
    def well_defined(self) -> bool:
        """No error and no dead prefix on `R^`."""
        return all(h in self.kernel for h in self.reachable)

    @cached_property
    def local(self) -> Law:
        """`P_L` (1.1): short of mass 1 by the probability of a dead prefix."""
        return law_of(_total(self.kernel, self.size, self.length), self.size, self.length)

    @cached_property
    def path_products(self) -> Law:
        """`W(y) = prod_t w(y_t|y_<t)`, up to its first zero factor (1.2)."""
        return law_of(_total(self.weights, self.size, self.length), self.size, self.length)

    @cached_property
    def global_normalizer(self) -> Fraction:
        """`Z_G`."""
        return total(self.path_products.values())

    @cached_property
    def global_(self) -> Law:
        """`P_G = W / Z_G` (1.2)."""
        return {sequence: weight / self.global_normalizer for sequence, weight in self.path_products.items()}


def tilted(expert: Row, background: Row, weight: Fraction) -> Row:
    """`p_b (p_i/p_b)^weight` on the common support, normalised; the expert itself for weight 1 (1.9)."""
    if weight == 1:
        return expert
    if weight.denominator != 1:
        raise ValueError(f"fractions have rational powers only of whole exponents; got the weight {weight}")
    cells = [b * (e / b) ** weight.numerator if b and e else ZERO for e, b in zip(expert, background, strict=True)]
    mass = total(cells)
    return tuple(cell / mass for cell in cells) if mass else tuple(cells)


def is_error(token: int, background: Row, experts: Sequence[Row], null: NullTokens) -> bool:
    """Whether the cell of `token` is an error of Definition 1.3."""
    if background[token] > 0:
        return False
    opening = sum(row[token] > 0 for row in experts)
    return (null == "strict" and opening >= 1) or (null == "cancel" and opening >= 2)


def weight_of(token: int, background: Row, experts: Sequence[Row], null: NullTokens) -> Fraction:
    """`w(y|h)`, where it is defined: `p_b prod_i p_i/p_b`, and by Definition 1.3 where `p_b(y|h) = 0`."""
    if background[token] > 0:
        weight = background[token]
        for row in experts:
            weight *= row[token] / background[token]
        return weight
    opening = [row[token] for row in experts if row[token] > 0]
    return opening[0] if null == "cancel" and len(opening) == 1 else ZERO


def compose(family: Family, null: NullTokens = "cancel", weights: Sequence[Fraction] | None = None) -> Composition:
    """The composition of the family at every prefix, also those that it does not reach."""
    weighed: dict[Prefix, Row] = {}
    normalizer: dict[Prefix, Fraction] = {}
    kernel: dict[Prefix, Row] = {}
    undefined = set()
    for prefix in family.prefixes:
        base = family.background[prefix]
        rows = [expert[prefix] for expert in family.experts]
        if weights is not None:
            if any(
                weight != 1 and not support(row) <= support(base) for row, weight in zip(rows, weights, strict=True)
            ):
                undefined.add(prefix)
                continue
            rows = [tilted(row, base, weight) for row, weight in zip(rows, weights, strict=True)]
        if any(is_error(token, base, rows, null) for token in range(family.size)):
            undefined.add(prefix)
            continue
        row = tuple(weight_of(token, base, rows, null) for token in range(family.size))
        weighed[prefix], normalizer[prefix] = row, total(row)
        if mass := normalizer[prefix]:
            kernel[prefix] = tuple(weight / mass for weight in row)
    reachable, last = [], [()] if family.length else []
    for _ in range(family.length):
        reachable += last
        last = [(*h, y) for h in last if h in weighed for y, weight in enumerate(weighed[h]) if weight]
    return Composition(family.size, family.length, weighed, normalizer, kernel, frozenset(undefined), tuple(reachable))


def probability_of(kernel: Kernel, prefix: Prefix) -> Fraction:
    """The product of the kernels along the prefix; 0 below a prefix without a row."""
    mass = ONE
    for step, token in enumerate(prefix):
        if prefix[:step] not in kernel:
            return ZERO
        mass *= kernel[prefix[:step]][token]
    return mass


def _total(partial: Kernel, size: int, length: int) -> Kernel:
    """The kernel with a row of zeros where it has none: no path of positive weight comes there."""
    return {prefix: partial.get(prefix, (ZERO,) * size) for prefix in prefixes(size, length)}
