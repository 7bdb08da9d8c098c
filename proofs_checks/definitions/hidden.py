"""Weighted automata with a clock, their block marginals and products: theory.md 7.6."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from proofs_checks.definitions.automata import Clock
from proofs_checks.definitions.laws import ONE, ZERO, Law, Prefix, total

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]


@dataclass(frozen=True)
class Hidden:
    """`P(w) = α A_{w_1} .. A_{w_T} 1`, with matrices by phase and token."""

    start: Vector
    matrices: tuple[tuple[Matrix, ...], ...]
    clock: Clock

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.matrices[0])

    def probability(self, word: Prefix) -> Fraction:
        """`α A_w 1`."""
        vector = self.start
        for position, token in enumerate(word):
            vector = times(vector, self.matrices[self.clock.phase(position)][token])
        return total(vector)

    def law(self, length: int) -> Law:
        """The law of the first tokens, path by path: every hidden state and every token in turn."""
        masses: dict[tuple[Prefix, int], Fraction] = {((), s): mass for s, mass in enumerate(self.start) if mass}
        for position in range(length):
            after: dict[tuple[Prefix, int], Fraction] = {}
            for (word, state), mass in masses.items():
                for token, matrix in enumerate(self.matrices[self.clock.phase(position)]):
                    for target, chance in enumerate(matrix[state]):
                        if chance:
                            key = ((*word, token), target)
                            after[key] = after.get(key, ZERO) + mass * chance
            masses = after
        law: dict[Prefix, Fraction] = {}
        for (word, _), mass in masses.items():
            law[word] = law.get(word, ZERO) + mass
        return law

    def on(self, owned: Callable[[int], bool]) -> "Hidden":
        """The marginal on the positions whose owner is `owned`: elsewhere `A_a` becomes `sum_a A_a`."""
        matrices = tuple(
            of if owned(owner) else (_sum(of),) * self.size
            for owner, of in zip(self.clock.owners, self.matrices, strict=True)
        )
        return replace(self, matrices=matrices)


def times(vector: Vector, matrix: Matrix) -> Vector:
    """The product of a row and a matrix."""
    columns = range(len(matrix[0]))
    return tuple(total(v * line[c] for v, line in zip(vector, matrix, strict=True) if v) for c in columns)


def tensor(machines: Sequence[Hidden]) -> Hidden:
    """The machine of the product of the series: Kronecker products."""
    first, *others = machines
    for other in others:
        start = tuple(a * b for a in first.start for b in other.start)
        matrices = tuple(
            tuple(_kronecker(a, b) for a, b in zip(one, two, strict=True))
            for one, two in zip(first.matrices, other.matrices, strict=True)
        )
        first = Hidden(start, matrices, first.clock)
    return first


def difference_at(one: Hidden, other: Hidden) -> tuple[int | None, int, int]:
    """By the forward span: the length of a shortest word on which two series differ, or `None`; the length of the
    longest word in the basis; the dimension of the span, summed over the phases."""
    width = len(one.start)
    bases: dict[int, list[Vector]] = {}
    queue: list[tuple[int, int, Vector]] = [(0, 0, (*one.start, *other.start))]
    longest = 0
    for length, phase, vector in queue:
        reduced = _reduced(vector, bases.setdefault(phase, []))
        if reduced is None:
            continue
        if total(vector[:width]) != total(vector[width:]):
            return length, longest, sum(map(len, bases.values()))
        bases[phase].append(reduced)
        longest = length
        for a, b in zip(one.matrices[phase], other.matrices[phase], strict=True):
            queue.append((length + 1, one.clock.after(phase), (*times(vector[:width], a), *times(vector[width:], b))))
    return None, longest, sum(map(len, bases.values()))


def _reduced(vector: Vector, basis: list[Vector]) -> Vector | None:
    """The vector minus its part in the span, scaled to a leading 1; `None` if it lies in the span."""
    for known in basis:
        lead = next(place for place, entry in enumerate(known) if entry)
        if factor := vector[lead]:
            vector = tuple(v - factor * k for v, k in zip(vector, known, strict=True))
    head = next((entry for entry in vector if entry), None)
    return None if head is None else tuple(v / head for v in vector)


def _sum(matrices: Sequence[Matrix]) -> Matrix:
    """The sum over tokens."""
    return tuple(tuple(total(entries) for entries in zip(*lines, strict=True)) for lines in zip(*matrices, strict=True))


def _kronecker(one: Matrix, other: Matrix) -> Matrix:
    """`A ⊗ B`."""
    return tuple(tuple(a * b for a in line for b in second) for line in one for second in other)


def unit(size: int, place: int) -> Vector:
    """A row with a 1."""
    return tuple(ONE if i == place else ZERO for i in range(size))
