"""Which weights make a composition exact: at every prefix one of the experts or the background. Source: theory.md 11.4.

`p^_λ(.|h) = p_a(.|h)` iff `sum_j λ_j log r_j(.|h) - log r_a(.|h)` is constant on the common support: `λ - e_a` lies in
the kernel of `L(h)`, whose columns are the `log r_j(.|h)` up to constants (`e_b = 0`). At one prefix the exact weights
are thus a union of affine subspaces, one for the background and one for each expert that deviates; those of a set of
models are the intersection over all prefixes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Bool

from factorcomp.bounds.oscillation import exceeds
from factorcomp.certificates.claims import Scope, Tokens
from factorcomp.enumeration.size import require_room
from factorcomp.enumeration.tree import spelled
from factorcomp.factorization.affine import Subspace
from factorcomp.factorization.logarithms import Equation, Log
from factorcomp.factorization.wording import listed, quoted
from factorcomp.models.alignment import Model, aligned, as_table
from factorcomp.models.errors import InputError
from factorcomp.models.rows import ExactRow
from factorcomp.models.tabular import TabularModel
from factorcomp.questions import Numeric, ask

MOST_PARTS = 5000
"""Of a union, beyond which it is not written out."""
MOST_IRRATIONAL_PARTS = 150
"""Of these, those that no rational equations describe: each takes many digits."""


@dataclass(frozen=True)
class ExactWeights:
    """The weights, positive or not, for which the composition is one of the given components at every prefix in scope.

    **Fields:** `parts`: affine subspaces whose union they are. `witness`: the first prefix up to which no positive
    weights are exact; `None` if some are, or that is open. `alone`: at the witness by itself none are.
    """

    names: tuple[str, ...]
    parts: tuple[Subspace, ...]
    witness: Tokens | None
    alone: bool = False

    def contains(self, weights: Mapping[str, Numeric] | None = None) -> bool:
        """Whether these weights are exact, decided exactly; those not given are 1."""
        given = weights or {}
        if unknown := [name for name in given if name not in self.names]:
            raise InputError(f"a weight names {unknown[0]!r}, which is no expert; the experts are {listed(self.names)}")
        point = [_fraction(name, given.get(name, 1)) for name in self.names]
        return any(part.contains(point) for part in self.parts)

    @property
    def positive(self) -> bool | None:
        """Whether some positive weights are exact: only these can be composed. `None` if that is open."""
        found = [part.positive for part in self.parts]
        return True if True in found else None if None in found else False

    @property
    def example(self) -> dict[str, Fraction] | None:
        """Rational positive weights that are exact, all 1 where these are; `None` if none were found."""
        points = [part.positive_point for part in self.parts if part.positive_point is not None]
        ones = (Fraction(1),) * len(self.names)
        best = ones if any(part.contains(ones) for part in self.parts) else min(points, default=None)
        return None if best is None else dict(zip(self.names, best, strict=True))

    def __str__(self) -> str:
        """The positive part in words, for a person."""
        if not self.parts:
            return f"no weights at all are exact: none is left {_after(self.witness)}"
        if self.positive is False:
            there = f"{_after(self.witness)}{'' if self.alone else ' and before'}"
            return f"no positive weights are exact: {there} there are none"
        shown = [part for part in self.parts if part.positive is not False]
        lines = [describe(part, self.names) + (" (open)" if part.positive is None else "") for part in shown[:4]]
        more = f"; or in {len(shown) - 4} more ways" if len(shown) > 4 else ""
        return f"exact with positive weights where {'; or '.join(lines)}{more}"


def exact_weights(
    background: Model,
    experts: Mapping[str, Model],
    *,
    length: int | None = None,
    scope: Scope = "reachable",
) -> ExactWeights:
    """The weights `λ` with which `p^_λ ∝ p_b prod_i (p_i/p_b)^λ_i` is a given component at every prefix in scope.

    The models share their support at every prefix in scope; then what the composition can reach is what the background
    can, whatever the weights. Rows of probabilities are rational, rows of logs rational up to a constant, and all is
    exact, but for sets of weights that no rational equations describe: whether these are empty, or have positive
    points, is decided by digits, and left open where these do not tell.

    **Raises** `InputError` where models do not fit together, or do not share their support, with the first prefix.

    >>> from factorcomp import TabularModel
    >>> base = TabularModel.from_probabilities([["1/3", "1/3", "1/3"]], ["a", "b", "c"])
    >>> up = TabularModel.from_probabilities([["1/7", "2/7", "4/7"]], ["a", "b", "c"])
    >>> down = TabularModel.from_probabilities([["1/21", "4/21", "16/21"]], ["a", "b", "c"])
    >>> found = exact_weights(base, {"up": up, "down": down})
    >>> print(found)
    exact with positive weights where up = 1 - 2·down; or up = 2 - 2·down
    >>> found.contains({"up": "1/2", "down": "1/4"}), found.contains()
    (True, False)
    """
    background, own = aligned(background, experts)
    question = ask(background, own, length=length, scope=scope)
    require_room(len(background.vocabulary), question.horizon, len(own))
    base = as_table(background, question.horizon)
    tables = [as_table(expert, question.horizon) for expert in own.values()]
    in_scope = _scope(base, dict(zip(own, tables, strict=True)), scope, question.horizon)
    found = _Intersection(len(tables))
    for length_, flags in enumerate(in_scope):
        rows, others = base.steps[length_], [table.steps[length_] for table in tables]
        places = np.arange(rows.shape[0])
        deviates = np.stack([exceeds(other, places, rows, places) for other in others]) & flags
        for index in np.flatnonzero(deviates.any(axis=0)).tolist():
            who = tuple(np.flatnonzero(deviates[:, index]).tolist())
            if found.settles(who):
                continue
            found.add(pieces(rows.exact(index), [other.exact(index) for other in others], who), (length_, index))
    tokens = None
    if found.witness is not None:
        tokens = spelled(found.witness[1], found.witness[0], base.vocabulary)
    return ExactWeights(tuple(own), tuple(found.parts), tokens, found.alone)


def pieces(background: ExactRow, experts: Sequence[ExactRow], deviating: Sequence[int]) -> list[Subspace]:
    """The exact weights at one prefix: `e_a + ker L(h)` for the background and each deviating expert `a`."""
    count = len(experts)
    tokens = [y for y, factor in enumerate(background.factors) if factor]
    logs = [
        [_log(row, y) - _log(background, y) for y in tokens] if i in deviating else [Log()] * len(tokens)
        for i, row in enumerate(experts)
    ]
    columns = [[log - column[0] for log in column[1:]] for column in logs]
    found: list[Subspace] = []
    for target in [None, *deviating]:
        right = [Log()] * (len(tokens) - 1) if target is None else columns[target]
        equations: list[Equation] = [(*(column[n] for column in columns), right[n]) for n in range(len(tokens) - 1)]
        piece = Subspace.of(count, [], equations)
        if piece is not None and piece not in found:
            found.append(piece)
    return found


def _log(row: ExactRow, token: int) -> Log:
    return Log(row.factors[token], row.shifts[token])


class _Intersection:
    """The weights exact at all prefixes added so far, as a union without a part that lies in another."""

    def __init__(self, experts: int):
        self.parts = [Subspace(experts)]
        self.witness: tuple[int, int] | None = None
        self.alone = False
        self._experts = experts
        self._settled: set[tuple[int, ...]] = set()

    def settles(self, deviating: tuple[int, ...]) -> bool:
        """Whether every part is exact wherever just these experts deviate, whatever their rows.

        So it is if on them it is constant, all 0 or 1 at one of them and 0 at the others.
        """
        if deviating not in self._settled and all(self._constant(part, deviating) for part in self.parts):
            self._settled.add(deviating)  # and stays so: parts only shrink
        return deviating in self._settled

    def _constant(self, part: Subspace, deviating: tuple[int, ...]) -> bool:
        one, zero = Fraction(1), Fraction(0)
        for target in (None, *deviating):
            rows = [
                (*(one if j == i else zero for j in range(self._experts)), one if i == target else zero)
                for i in deviating
            ]
            if part.within(Subspace(self._experts, tuple(rows))):
                return True
        return False

    def add(self, pieces: Sequence[Subspace], place: tuple[int, int]) -> None:
        """Go on to the weights that are exact at one more prefix."""
        parts: list[Subspace] = []
        for part in self.parts:
            if any(part.within(piece) for piece in pieces):
                parts.append(part)
                continue
            parts += [met for piece in pieces if (met := part.meet(piece)) is not None]
            _require_few(parts)
        self.parts = _minimal(parts)
        if self.witness is None and all(part.positive is False for part in self.parts):
            self.witness = place
            self.alone = all(piece.positive is False for piece in pieces)


def _require_few(parts: Sequence[Subspace]) -> None:
    irrational = sum(bool(part.logs) for part in parts)
    for count, most, which in ((len(parts), MOST_PARTS, ""), (irrational, MOST_IRRATIONAL_PARTS, "irrational ")):
        if count > most:
            raise InputError(f"the exact weights are a union of more than {most} {which}parts, too many to be found")


def _minimal(parts: Sequence[Subspace]) -> list[Subspace]:
    """Without parts that lie in another: all are translates of one kernel, so that such a part is that one."""
    kept: list[Subspace] = []
    for part in dict.fromkeys(parts):
        if not any(part.within(other) for other in kept):
            kept.append(part)
    return kept


def _scope(
    background: TabularModel, experts: Mapping[str, TabularModel], scope: Scope, length: int
) -> list[Bool[np.ndarray, "_"]]:
    """The prefixes in scope; raises `InputError` at the first at which supports differ."""
    reached, found = np.ones(1, dtype=bool), []
    for t in range(length):
        support = background.steps[t].support()
        flags = np.ones(len(support), dtype=bool) if scope == "all" else reached
        for name, expert in experts.items():
            differ = (expert.steps[t].support() != support).any(axis=1) & flags
            for model in (background, expert):
                differ |= False if model.gaps is None else model.gaps[t] & flags
            if differ.any():
                after = _after(spelled(int(differ.argmax()), t, background.vocabulary))
                raise InputError(
                    f"{name}: {after} it does not make possible the same tokens as the background; exact weights are "
                    "known for models with a common support"
                )
        found.append(flags)
        reached = (reached[:, None] & support).reshape(-1)
    return found


def describe(part: Subspace, names: Sequence[str]) -> str:
    """A subspace in words: what each weight is, in terms of those that are free.

    >>> describe(Subspace(2, ((Fraction(1), Fraction(0), Fraction(1)),)), ["up", "down"])
    'up = 1, down any'
    """
    mentioned: set[int] = set()
    lines = []
    for row in part.rational:
        place = next(n for n, value in enumerate(row) if value)
        others = {n: -value for n, value in enumerate(row[:-1]) if value and n != place}
        mentioned |= {place, *others}
        lines.append(f"{names[place]} = {_sum(row[-1], others, names)}")
    for equation in part.logs:
        terms = [f"({log})·{name}" for log, name in zip(equation, names, strict=False) if log.sign]
        mentioned |= {n for n, log in enumerate(equation[:-1]) if log.sign}
        lines.append(f"{' + '.join(terms)} = {equation[-1]}")
    lines += [f"{name} any" for n, name in enumerate(names) if n not in mentioned]
    return ", ".join(lines)


def _sum(constant: Fraction, terms: Mapping[int, Fraction], names: Sequence[str]) -> str:
    text = str(constant) if constant or not terms else ""
    for n, factor in terms.items():
        sign = " + " if factor > 0 else " - "
        text += (sign if text else sign.strip(" +")) + ("" if abs(factor) == 1 else f"{abs(factor)}·") + names[n]
    return text


def _after(prefix: Tokens | None) -> str:
    return f"after {quoted(prefix)}" if prefix else "at the start"


def _fraction(name: str, value: Any) -> Fraction:
    try:
        return Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, TypeError, ZeroDivisionError):
        raise InputError(f"the weight of {name} is {value!r}; it must be a finite decimal or fraction") from None
