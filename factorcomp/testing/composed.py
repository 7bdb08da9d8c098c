"""A case for a composer: a family, weights and what a law draws besides; and what the composer makes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from factorcomp.certificates.claims import NullTokens
from factorcomp.composition import compose
from factorcomp.models.tabular import TabularModel
from factorcomp.testing.comparison import Rows, Tolerance, epsilon, of_composition, rows_after, size_of
from factorcomp.testing.components import Component, Composer, logs
from factorcomp.testing.drawing import Draw
from factorcomp.testing.examined import rows_of
from factorcomp.testing.families import NAMES, Family, Kernel, Prefix, Row


@dataclass(frozen=True)
class Declared:
    """What a composer declares of itself, which decides what it is asked and how far it may be off.

    **Fields:** `dtype`: the type of its numbers; components answer in it. `null_tokens`: its convention (1.3).
    `weighted`: it takes weights. `zeros`: it takes tokens of probability 0 (-inf); False for one that composes softmax
    models alone. `logits`: it normalises what it is given; False for one that needs log-probabilities. `tolerance`: in
    nats, instead of the derived one.
    """

    dtype: str = "float64"
    null_tokens: NullTokens = "cancel"
    weighted: bool = True
    zeros: bool = True
    logits: bool = True
    tolerance: float | None = None

    def __post_init__(self):
        epsilon(self.dtype)  # refuses what is no floating-point type
        if self.tolerance is not None and not 0 <= self.tolerance < np.inf:
            raise ValueError(f"tolerance: got {self.tolerance}; needed a number of nats, at least 0")


@dataclass(frozen=True)
class Case:
    """A family, the experts' weights, and what a law draws besides (an order, a temperature, …)."""

    family: Family
    weights: tuple[int, ...]
    choice: Any = None

    def lines(self, prefix: Prefix) -> tuple[str, ...]:
        """Background and experts at a prefix, and the weights that are not 1."""
        names = ("background", *NAMES[: len(self.family.experts)])
        factors = ("", *(f"  weight {weight}" if weight != 1 else "" for weight in self.weights))
        width = max(map(len, names))
        return tuple(
            f"{name:{width}}  {self._cells(kernel[prefix])}{factor}"
            for name, kernel, factor in zip(names, self.family.kernels, factors, strict=True)
            if prefix in kernel
        )

    def _cells(self, row: Row) -> str:
        return "  ".join(f"{token} {cell}" for token, cell in zip(self.family.vocabulary, row, strict=True))

    def exact(self, null_tokens: NullTokens) -> "Exact":
        """What the composition is, by `factorcomp.compose` in rational numbers."""
        background, experts = self.family.models()
        weights = dict(zip(experts, self.weights, strict=True))
        table = compose(background, experts, null_tokens=null_tokens, weights=weights)
        assert isinstance(table, TabularModel)
        rows: dict[Prefix, Row] = {}
        reached: list[tuple[Prefix, int]] = [((), 0)]
        for step in table.steps:
            rows |= {h: step.exact(index).factors for h, index in reached}
            reached = [
                ((*h, y), index * self.family.size + y)
                for h, index in reached
                for y, cell in enumerate(rows[h])
                if cell
            ]
        return Exact(rows)


@dataclass(frozen=True)
class Exact:
    """The composition's rows after the prefixes that it reaches, in fractions."""

    kernel: Kernel

    @cached_property
    def logs(self) -> Rows:
        """Their logarithms."""
        return logs(self.kernel)

    @property
    def prefixes(self) -> list[Prefix]:
        """`R^`, shorter first."""
        return list(self.kernel)


@dataclass(frozen=True)
class Examination:
    """A composer and what it declares: from a case to composed rows."""

    composer: Composer
    declared: Declared = field(default_factory=Declared)

    def component(self, rows: Rows, vocabulary: Sequence[str], eos: int | None, reader: int) -> Component:
        """One component with these logits."""
        stop = None if eos is None else vocabulary[eos]
        return Component(rows, vocabulary, stop, dtype=self.declared.dtype, reader=reader)

    def components(self, case: Case, change: Callable[[int, Rows], Rows] | None = None) -> list[Component]:
        """Background and experts; `change` gives each (by its number, the background's is 0) other logits."""
        family = case.family
        return [
            self.component(rows if change is None else change(i, rows), family.vocabulary, family.eos, i)
            for i, rows in enumerate(map(logs, family.kernels))
        ]

    def compose(self, components: Sequence[Component], weights: Sequence[int]) -> Callable[[Any], Any]:
        """A composition, newly made: a function from prefixes to rows."""
        background, *experts = components
        factors = [float(weight) for weight in weights]
        if self.declared.weighted:
            return rows_of(self.composer(background, experts, factors))
        return rows_of(self.composer(background, experts))  # type: ignore  # a composer that takes no weights

    def rows(
        self, case: Case, prefixes: Sequence[Prefix], change: Callable[[int, Rows], Rows] | None = None
    ) -> dict[Prefix, Float[np.ndarray, " vocab"]]:
        """The composed rows after the prefixes."""
        ask = self.compose(self.components(case, change), case.weights)
        return rows_after(ask, prefixes, case.family.size)

    def rounding(self, case: Case, scale: float = 1.0, shift: float = 0.0) -> Tolerance:
        """How far rounding can put composed rows off; `scale` and `shift`: by which the law changes logits."""
        if self.declared.tolerance is not None:
            return Tolerance(self.declared.tolerance, "so much was declared")
        size = scale * max(size_of(logs(kernel)) for kernel in case.family.kernels) + shift
        one = of_composition(self.declared.dtype, case.family.size, case.weights, size)
        return replace(one, value=max(1.0, scale) * one.value)


def fresh(case: Case, experts: Sequence[Kernel], weights: Sequence[int]) -> Case:
    """The case with other experts."""
    return replace(case, family=replace(case.family, experts=tuple(experts)), weights=tuple(weights))


def weights_of(draw: Draw, declared: Declared, family: Family) -> tuple[int, ...]:
    """A weight from 1 to 3 for every expert; 1 where the composer takes none, or an expert opens a token (1.9 (a))."""
    opens = any(
        cell and not base
        for expert in family.experts
        for h, row in expert.items()
        for cell, base in zip(row, family.background[h], strict=True)
    )
    plain = opens or not declared.weighted
    return tuple(1 if plain else draw.integer(1, 3) for _ in family.experts)
