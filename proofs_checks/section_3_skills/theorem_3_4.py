"""Theorem 3.4 (existence, minimality, uniqueness) of the canonical interval."""

from collections.abc import Callable, Iterator

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.laws import Prefix, sequences
from proofs_checks.definitions.skills import canonical_times
from proofs_checks.definitions.stopping import (
    Times,
    is_stopping_time,
    marks,
    sets_of_prefixes,
    stopping_times,
    window,
    windows,
)
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

Tree = tuple[int, int, frozenset[Prefix]]
Pair = tuple[Times, Times]


def canonical(tree: Tree) -> Pair:
    """`σ_1*, σ_2*`."""
    size, length, found = tree
    times = canonical_times(found, size, length)
    return {path: start for path, (start, _) in times.items()}, {path: stop for path, (_, stop) in times.items()}


def hindsight(tree: Tree) -> Pair:
    """From the first deviation to the last one of the path."""
    size, length, found = tree
    stops = {
        path: max((step + 1 for step in range(length) if path[:step] in found), default=length)
        for path in sequences(size, length)
    }
    return canonical(tree)[0], stops


def to_the_end(tree: Tree) -> Pair:
    """From the first deviation to the horizon."""
    starts = canonical(tree)[0]
    return starts, dict.fromkeys(starts, tree[1])


def check(tree: Tree, times: Callable[[Tree], Pair] = canonical) -> Iterator[Relation]:
    """Against every pair of stopping times that certifies."""
    size, length, found = tree
    first, last = times(tree)
    yield fact("σ_1* and σ_2* are stopping times", is_stopping_time(first) and is_stopping_time(last))
    smallest, deviating = window(first, last), marks(found, size, length)
    yield fact("σ_1* and σ_2* certify", deviating <= smallest)
    certified = [one for one in windows(size, length) if deviating <= one]
    for one in certified:
        yield fact("[σ_1*, σ_2*) ⊂ [σ_1, σ_2) on every path", smallest <= one)
    yield equal(
        "[σ_1*, σ_2*) is the intersection of all certified intervals", frozenset.intersection(*certified), smallest
    )


def check_numbers(_: None) -> Iterator[Relation]:
    """How many cases that are, on the binary tree with three steps."""
    sets = sets_of_prefixes(2, 3)
    certified = sum(marks(found, 2, 3) <= one for found in sets for one in windows(2, 3))
    counts = len(sets), len(stopping_times(2, 3)), certified
    yield equal("128 sets, 26 stopping times, 1,948 certified intervals in all", counts, (128, 26, 1948))
    yield fact("each of them is a stopping time", all(map(is_stopping_time, stopping_times(2, 3))))
    every = {tuple(times.values()) for times in stopping_times(2, 2)}
    slowly = {values for values in _maps(4, 3) if is_stopping_time(dict(zip(sequences(2, 2), values, strict=True)))}
    yield equal("T = 2: the 5 stopping times are those of all 81 maps", every, slowly)


def _maps(inputs: int, outputs: int) -> list[tuple[int, ...]]:
    return sequences(outputs, inputs)


def some_tree(draw: Draw) -> Tree:
    """A set of prefixes of the binary tree with three steps, or of a ternary one with two."""
    size, length = draw.pick(((2, 3), (3, 2)))
    return size, length, draw.pick(sets_of_prefixes(size, length))


STATEMENTS = (
    Statement(
        number="3.4",
        kind="theorem",
        sentence="the canonical interval is certified by stopping times, and is the smallest such interval",
        equation="[σ_1*, σ_2*) = ⋂ [σ_1, σ_2) over all certifying pairs, on every path",
        cases=lambda: [
            (*tree, found) for tree in ((2, 3), (3, 2), (2, 2), (1, 3)) for found in sets_of_prefixes(*tree)
        ],
        check=check,
        controls=(
            Control("the last deviation of the path", some_tree, lambda tree: check(tree, hindsight)),
            Control("the exit: T instead", some_tree, lambda tree: check(tree, to_the_end)),
        ),
    ),
    Statement(
        number="3.4 count",
        kind="remark",
        sentence="these are all deviation sets and all stopping times of the binary tree with three steps",
        equation="128 deviation sets, 26 stopping times, 1,948 certified intervals",
        cases=constant(None),
        check=check_numbers,
        controls=(
            Control(
                "decided by y_{<=l}: all maps instead",
                lambda draw: {y: draw.integer(0, 2) for y in sequences(2, 2)},
                lambda times: [fact("it is a stopping time", is_stopping_time(times))],
            ),
        ),
    ),
)
