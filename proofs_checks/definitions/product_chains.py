"""Finite-state models that stop, and the chain of their product states: theory.md 7, 10."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from factorcomp.testing.drawing import Draw, Row
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import ONE, ZERO, Kernel, Prefix, prefixes
from proofs_checks.definitions.one_step import one_step
from proofs_checks.definitions.operator import compose

State = tuple[int, ...]


@dataclass(frozen=True)
class Machine:
    """A row and a next state for every token, by state; it starts in state 0. The last token is EOS."""

    rows: tuple[Row, ...]
    following: tuple[tuple[int, ...], ...]

    def kernel(self, length: int) -> Kernel:
        """Its kernel; after EOS, EOS."""
        size, result = len(self.rows[0]), {}
        for h in prefixes(size, length):
            state = 0
            for token in h:
                state = self.following[state][token]
            result[h] = (
                tuple(ONE if y == size - 1 else ZERO for y in range(size)) if size - 1 in h else self.rows[state]
            )
        return result


def machine(draw: Draw, size: int, states: int, *, zeros: bool) -> Machine:
    """Any rows and moves."""
    rows = tuple(draw.row(size, zeros=zeros) for _ in range(states))
    return Machine(rows, tuple(tuple(draw.integer(0, states - 1) for _ in range(size)) for _ in range(states)))


@dataclass(frozen=True)
class Product:
    """The composition of machines, background first, as a chain on the product states."""

    machines: tuple[Machine, ...]

    @property
    def size(self) -> int:
        """Of the vocabulary; EOS is its last token."""
        return len(self.machines[0].rows[0])

    def family(self, length: int) -> Family:
        """As kernels up to a horizon."""
        background, *experts = (one.kernel(length) for one in self.machines)
        return Family(self.size, length, background, tuple(experts))

    def row(self, state: State) -> Row | None:
        """`p^` at a product state; `None` where it is dead."""
        return compose(one_step([one.rows[q] for one, q in zip(self.machines, state, strict=True)])).kernel.get(())

    def step(self, state: State, token: int) -> State:
        """The next product state."""
        return tuple(one.following[q][token] for one, q in zip(self.machines, state, strict=True))

    @property
    def start(self) -> State:
        """Every machine in its state 0."""
        return (0,) * len(self.machines)

    def at(self, prefix: Prefix) -> State:
        """The product state after a prefix."""
        state = self.start
        for token in prefix:
            state = self.step(state, token)
        return state

    @cached_property
    def reachable(self) -> dict[State, Row | None]:
        """The product states that words without EOS reach with positive weight, and their rows."""
        found: dict[State, Row | None] = {}
        queue = [self.start]
        while queue:
            state = queue.pop()
            if state in found:
                continue
            row = found[state] = self.row(state)
            queue += [self.step(state, y) for y in range(self.size - 1) if row and row[y]]
        return found

    def ends(self, state: State) -> bool:
        """Whether EOS is reachable from the state."""
        seen, queue = set(), [state]
        while queue:
            at = queue.pop()
            row = self.reachable[at]
            if row and row[-1]:
                return True
            seen.add(at)
            following = [self.step(at, y) for y in range(self.size - 1) if row and row[y]]
            queue += [later for later in following if later not in seen]
        return False

    def alive(self, steps: int) -> dict[State, Fraction]:
        """`P(no EOS within the steps)` from every reachable state; a dead state stays."""
        alive = dict.fromkeys(self.reachable, ONE)
        for _ in range(steps):
            alive = {
                state: ONE
                if row is None
                else sum((row[y] * alive[self.step(state, y)] for y in range(self.size - 1) if row[y]), ZERO)
                for state, row in self.reachable.items()
            }
        return alive

    def mean_lengths(self) -> dict[State, Fraction]:
        """`(I - Q)^{-1} 1`."""
        states = list(self.reachable)
        matrix = [[Fraction(one == other) for other in states] for one in states]
        for i, state in enumerate(states):
            row = self.reachable[state]
            assert row is not None
            for y in range(self.size - 1):
                if row[y]:
                    matrix[i][states.index(self.step(state, y))] -= row[y]
        return dict(zip(states, solve(matrix, [ONE] * len(states)), strict=True))


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """The solution of a regular linear system, by elimination."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(j for j in range(i, len(rows)) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [cell / rows[i][i] for cell in rows[i]]
        for j, line in enumerate(rows):
            if j != i and line[i]:
                rows[j] = [cell - line[i] * known for cell, known in zip(line, rows[i], strict=True)]
    return [line[-1] for line in rows]
