"""Proposition 11.6: what deciding costs: pairs of experts under a common support, DFA intersection without."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product

from factorcomp.testing.drawing import Draw, Row, normalised
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import ONE, ZERO
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.product_chains import Machine, Product, machine
from proofs_checks.definitions.skills import active, deviating, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, equal

HORIZON = 3


def deviators(machines: Product, state: tuple[int, ...]) -> list[int]:
    """Whose rows differ from the background's at a product state; from 0."""
    base, *rows = (one.rows[q] for one, q in zip(machines.machines, state, strict=True))
    return [i for i, row in enumerate(rows) if row != base]


def overlaps(machines: Product) -> bool:
    """A reachable product state with two deviators: JF-pt fails at some length (7.3)."""
    return any(len(deviators(machines, state)) > 1 for state in machines.reachable)


def pair(machines: Product, i: int, j: int) -> Product:
    """`(b, i, j)`."""
    background, *experts = machines.machines
    return Product((background, experts[i], experts[j]))


def common_support(draw: Draw) -> Product:
    """Two tokens, a background of up to two states, up to three experts whose state knows the background's."""
    size, states = 3, draw.integer(1, 2)
    background = machine(draw, size, states, zeros=True)

    def expert() -> Machine:
        own = machine(draw, size, 2, zeros=False)
        rows = tuple(
            background.rows[q] if draw.one_in(2) else draw.row_inside(background.rows[q])
            for q, _ in product(range(states), range(2))
        )
        following = tuple(
            tuple(background.following[q][y] * 2 + own.following[r][y] for y in range(size))
            for q, r in product(range(states), range(2))
        )
        return Machine(rows, following)

    return Product((background, *(expert() for _ in range(draw.integer(2, 3)))))


def blocked(draw: Draw) -> Product:
    """Experts 1 and 2 deviate after token 0; expert 3 excludes token 0."""
    base = draw.row(3)
    onward = ((1, 0, 0), (1, 1, 1))
    experts = [Machine((base, draw.row(3)), onward) for _ in range(2)]
    last = Machine((normalised([0, draw.integer(1, 3), draw.integer(1, 3)]),), ((0, 0, 0),))
    return Product((Machine((base,), ((0, 0, 0),)), *experts, last))


def check_pairs(machines: Product) -> Iterator[Relation]:
    """By all experts together, and by each pair alone; for JF-int up to a horizon."""
    count = len(machines.machines) - 1
    pairs = [pair(machines, i, j) for i, j in combinations(range(count), 2)]
    yield equal("JF-pt for all k iff for every pair", overlaps(machines), any(map(overlaps, pairs)))
    together = interval_joint(machines.family(HORIZON))
    yield equal(
        "JF-int for all k iff for every pair", together, all(interval_joint(one.family(HORIZON)) for one in pairs)
    )


def interval_joint(family: Family) -> bool:
    """JF-int on `R^`."""
    scope = compose(family).reachable
    found = [deviating(expert, family.background, scope) for expert in family.experts]
    return pointwise_joint(active(one, family.size, family.length) for one in found)


@dataclass(frozen=True)
class Acceptor:
    """A DFA over two letters, from state 0."""

    following: tuple[tuple[int, int], ...]
    accepting: frozenset[int]

    def accepts(self, word: tuple[int, ...]) -> bool:
        """Whether the word is in its language."""
        state = 0
        for letter in word:
            state = self.following[state][letter]
        return state in self.accepting


@dataclass(frozen=True)
class Reduction:
    """Acceptors, one for each expert; `marked`: whether a mark ends the word before the first end symbol."""

    acceptors: tuple[Acceptor, ...]
    marked: bool = True

    @property
    def product(self) -> Product:
        """Tokens: the letters 0 and 1, the mark, the end symbol, trash (absorbing, so nothing after it is followed)."""
        return Product((self.machine(None), *(self.machine(j) for j in range(len(self.acceptors)))))

    def machine(self, expert: int | None) -> Machine:
        """States: reading, per state of the acceptor; then before the 1st, ..., k-th end symbol; then the last."""
        k = len(self.acceptors)
        acceptor = self.acceptors[expert or 0]
        inner = len(acceptor.following)
        # Phase 0 reads; phase j is before the j-th end symbol; phase k + 1 is after the last.
        rows: list[Row] = []
        following: list[tuple[int, ...]] = []
        for phase, q in product(range(k + 2), range(inner)):
            rows.append(self.row(expert, phase, q in acceptor.accepting))
            letters = [phase * inner + acceptor.following[q][y] for y in (0, 1)]
            mark, end = inner + q, min(phase + 1 if phase or self.marked else 2, k + 1) * inner + q
            following.append((*letters, mark, end, phase * inner + q))
        return Machine(tuple(rows), tuple(following))

    def row(self, expert: int | None, phase: int, accepted: bool) -> Row:
        """The background's row, but for an expert that rejects at its end symbol, and for experts 1 and 2 at last."""
        third, half, trash = Fraction(1, 3), Fraction(1, 2), (ZERO, ZERO, ZERO, ZERO, ONE)
        reads = (Fraction(1, 4), Fraction(1, 4), ZERO, Fraction(1, 4), Fraction(1, 4))
        mine = phase == (expert + 1 if expert is not None and (self.marked or expert) else 0)
        if expert is not None and mine and not accepted:
            return trash
        if phase == 0:
            return (third, third, third, ZERO, ZERO) if self.marked else reads
        if phase <= len(self.acceptors):
            return (ZERO, ZERO, ZERO, half, half)
        return (ZERO, ZERO, ZERO, third, 1 - third) if expert in (0, 1) else (ZERO, ZERO, ZERO, half, half)

    @property
    def common_word(self) -> bool:
        """Whether some word is accepted by all, up to the product of the numbers of states."""
        longest = math.prod(len(one.following) for one in self.acceptors)
        return any(
            all(one.accepts(word) for one in self.acceptors)
            for length in range(longest)
            for word in product((0, 1), repeat=length)
        )


def reduction(draw: Draw) -> Reduction:
    """Two or three DFAs of two or three states."""
    count = draw.integer(2, 3)

    def acceptor() -> Acceptor:
        states = draw.integer(1, 2 if count == 3 else 3)
        following = tuple((draw.integer(0, states - 1), draw.integer(0, states - 1)) for _ in range(states))
        return Acceptor(following, frozenset(draw.subset(range(states))))

    return Reduction(tuple(acceptor() for _ in range(count)))


def unmarked(draw: Draw) -> Reduction:
    """The first end symbol competes with the letters: expert 1 blocks the words that begin with a rejected one."""
    return replace(reduction(draw), marked=False)


def check_reduction(instance: Reduction) -> Iterator[Relation]:
    """The two experts meet iff the languages do."""
    yield equal(
        "two experts deviate at a prefix of R^ iff a common word exists",
        overlaps(instance.product),
        instance.common_word,
    )


def check_first_two(instance: Reduction) -> Iterator[Relation]:
    """False: a word common to the first two languages."""
    known = replace(instance, acceptors=instance.acceptors[:2]).common_word
    yield equal(
        "two experts deviate at a prefix of R^ iff the first two share a word", overlaps(instance.product), known
    )


STATEMENTS = (
    Statement(
        number="11.6 (common support)",
        kind="proposition",
        sentence="under a common support joint factorizability is decided pair by pair",
        equation="JF-pt, JF-int on R^ iff for every triple (b, i, j)",
        hypotheses=("common support at every reachable state",),
        draw=common_support,
        check=check_pairs,
        controls=(Control("common support", blocked),),
        not_checked="the cost O(k²|Q|³|V|); JF-int beyond length 3",
        weight=4,
    ),
    Statement(
        number="11.6 (reduction)",
        kind="proposition",
        sentence="without a common support joint factorizability decides whether DFAs accept a common word",
        equation="some h in R^ lies in Dev_1 ∩ Dev_2 iff ∩_j L(A_j) != ∅",
        hypotheses=("a mark ends the word before the first of the k end symbols",),
        draw=reduction,
        check=check_reduction,
        controls=(
            Control("the mark at the end of the word", unmarked),
            Control("all languages: the first two", reduction, check_first_two),
        ),
        not_checked="PSPACE-completeness: membership, and that DFA intersection is hard",
        weight=4,
    ),
)
