"""Affine subspaces of weights, given by equations with logs of rational numbers. Source: theory.md 11.4."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from factorcomp.factorization.logarithms import (
    Echelon,
    Equation,
    Log,
    Row,
    independent,
    over_the_rationals,
    sign_of_determinant,
)

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Subspace:
    """The real `λ` that solve the equations.

    **Fields:** `rational`: equations with rational numbers, in reduced echelon form. `logs`: those with logs that no
    rational equations stand for; empty where the subspace is given by rational equations alone.
    """

    unknowns: int
    rational: tuple[Row, ...] = ()
    logs: tuple[Equation, ...] = ()

    @classmethod
    def of(cls, unknowns: int, rational: Sequence[Row], logs: Sequence[Equation]) -> "Subspace | None":
        """The subspace in its simplest form; `None` if it certainly is empty."""
        exact = Echelon(unknowns, rational)
        if not exact.consistent:
            return None
        logs = tuple(dict.fromkeys(equation for equation in logs if any(log.sign for log in equation)))
        if not logs:
            return cls(unknowns, exact.key)
        over = Echelon(unknowns, [*exact.key, *over_the_rationals(logs)])
        known = [tuple(Log(shift=value) for value in row) for row in exact.key]
        together = [*known, *logs]
        most = min(over.rank, len(together))
        if len(independent(together, unknowns)[0]) == most:  # the rank is known
            if over.consistent and over.rank == most:
                return cls(unknowns, over.key)
            if len(independent(together, unknowns + 1)[0]) > most:
                return None
        return cls(unknowns, exact.key, logs)

    @cached_property
    def over_the_rationals(self) -> Echelon:
        """The equations of its rational points."""
        return Echelon(self.unknowns, [*self.rational, *over_the_rationals(self.logs)])

    @cached_property
    def dimension(self) -> int | None:
        """Its dimension over the reals; `None` where the rank is open, or it may be empty."""
        if not self.logs:
            return self.unknowns - len(self.rational)
        together = [*(tuple(Log(shift=value) for value in row) for row in self.rational), *self.logs]
        least = len(independent(together, self.unknowns)[0])
        most = min(self.over_the_rationals.rank, len(together), self.unknowns)
        some = self.over_the_rationals.consistent or least == len(together)
        return self.unknowns - least if least == most and some else None

    def contains(self, point: Sequence[Fraction]) -> bool:
        """Whether a rational point lies in it, exactly."""
        rows = self.over_the_rationals
        return rows.consistent and all(
            sum((a * x for a, x in zip(row, point, strict=False)), Fraction(0)) == row[-1] for row in rows.key
        )

    def within(self, other: "Subspace") -> bool:
        """Whether it certainly lies in the other; exact where it is rational."""
        mine = Echelon(self.unknowns, self.rational)
        if not self.logs:
            return other.over_the_rationals.consistent and all(map(mine.follows, other.over_the_rationals.key))
        return all(map(mine.follows, other.rational)) and set(other.logs) <= set(self.logs)

    def meet(self, other: "Subspace") -> "Subspace | None":
        """The intersection; `None` if it certainly is empty."""
        return Subspace.of(self.unknowns, [*self.rational, *other.rational], [*self.logs, *other.logs])

    @cached_property
    def positive_point(self) -> Point | None:
        """A rational point in it with all coordinates above 0, with coordinates 1 where that can be."""
        rows = self.over_the_rationals
        return positive_solution(rows) if rows.consistent else None

    @cached_property
    def positive(self) -> bool | None:
        """Whether it has a real point with all coordinates above 0; `None` if that is open."""
        if self.positive_point is not None:
            return True
        if not self.logs:
            return False
        equations = [*(tuple(Log(shift=value) for value in row) for row in self.rational), *self.logs]
        signs = [[log.sign for log in equation] for equation in equations]
        for *left, right in signs:
            for sign in (1, -1):
                if all(sign * s >= 0 for s in left) and (sign * right < 0 or (right == 0 and any(left))):
                    return False
        if len(equations) == 1:
            *left, right = signs[0]
            return {1, -1} <= set(left) or right in set(left) - {0}
        return self._corner_positive(equations)

    def _corner_positive(self, equations: Sequence[Equation]) -> bool | None:
        """Where as many equations as unknowns determine a point: the signs of its coordinates, by Cramer's rule."""
        rows, columns = independent(equations, self.unknowns)
        if len(rows) < self.unknowns:
            return None
        chosen = [equations[n] for n in rows]
        whole = sign_of_determinant([[equation[c] for c in columns] for equation in chosen])
        found = [
            sign_of_determinant([[equation[-1] if c == place else equation[c] for c in columns] for equation in chosen])
            for place in columns
        ]
        if any(sign is not None and sign != whole for sign in found):
            return False
        certain = all(sign == whole for sign in found) and len(equations) == self.unknowns
        return True if certain else None


def positive_solution(equations: Echelon) -> Point | None:
    """A rational solution with all unknowns above 0, `None` if there is none: by Fourier-Motzkin elimination."""
    count = equations.unknowns
    free = [n for n in range(count) if n not in equations.rows]
    conditions: list[Row] = [(*(Fraction(int(m == n)) for m in free), Fraction(0)) for n in free]
    for place in range(count):
        if place in equations.rows:
            row = equations.rows[place]
            conditions.append((*(-row[n] for n in free), row[-1]))
    values = _above_zero(conditions, len(free))
    if values is None:
        return None
    chosen = dict(zip(free, values, strict=True))
    for place, row in equations.rows.items():
        chosen[place] = row[-1] - sum((row[n] * chosen[n] for n in free), Fraction(0))
    return tuple(chosen[n] for n in range(count))


def _above_zero(conditions: Sequence[Row], unknowns: int) -> list[Fraction] | None:
    """Numbers `x` with `sum_j c[j] x_j + c[-1] > 0` for all conditions, `x_j > 0` among them; 1 is preferred."""
    if unknowns == 0:
        return [] if all(condition[-1] > 0 for condition in conditions) else None
    last = unknowns - 1
    lower = [c for c in conditions if c[last] > 0]
    upper = [c for c in conditions if c[last] < 0]
    shorter: set[Row] = {(*c[:last], c[-1]) for c in conditions if c[last] == 0}
    for low in lower:
        for high in upper:
            pairs = zip((*low[:last], low[-1]), (*high[:last], high[-1]), strict=True)
            shorter.add(tuple(a / low[last] - b / high[last] for a, b in pairs))
    values = _above_zero(list(shorter), last)
    if values is None:
        return None

    def bound(c: Row) -> Fraction:
        return -(sum((a * x for a, x in zip(c, values, strict=False)), Fraction(0)) + c[-1]) / c[last]

    low, high = max(map(bound, lower)), min(map(bound, upper), default=None)
    if low < 1 and (high is None or high > 1):
        return [*values, Fraction(1)]
    return [*values, low + 1 if high is None else (low + high) / 2]
