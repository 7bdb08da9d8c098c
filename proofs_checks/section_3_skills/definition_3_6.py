"""Definition 3.6 (gap-free, re-entrant): runs of deviating prefixes, and the mass of the gaps."""

from collections.abc import Iterator
from itertools import product

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import NAMES, Family, common_support, shape
from proofs_checks.definitions.laws import Prefix, expectation, mass_of, sequences, total
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, canonical_times, deviating, runs
from proofs_checks.definitions.stopping import Times, is_stopping_time, marks, sets_of_prefixes, window
from proofs_checks.library import report
from proofs_checks.statement import Control, Relation, Statement, at_most, equal, fact

Tree = tuple[int, int, frozenset[Prefix]]
TREES = ((2, 3), (3, 2), (2, 2), (1, 4), (2, 1))


def every_tree() -> list[Tree]:
    """All sets of prefixes of small trees."""
    return [(*tree, found) for tree in TREES for found in sets_of_prefixes(*tree)]


def check_gap_free(tree: Tree) -> Iterator[Relation]:
    """`Act = Dev` against the runs, and the exit of the run."""
    size, length, found = tree
    gap_free = active(found, size, length) == found
    yield equal("Act_i = Dev_i iff every path meets Dev_i in one run at most", gap_free, runs(found, size, length) <= 1)
    if gap_free:
        for path, (start, stop) in canonical_times(found, size, length).items():
            left = next((step for step in range(start, length) if path[:step] not in found), length)
            yield equal("σ_2* is the exit of the run", stop, left)


def check_hereditary(tree: Tree) -> Iterator[Relation]:
    """False: gap-free is that a deviation is followed by deviations only."""
    size, length, found = tree
    followed = all((*h, y) in found for h in found for y in range(size) if len(h) + 1 < length)
    yield equal("Act_i = Dev_i iff every child deviates too", active(found, size, length) == found, followed)


def alternating_debuts(tree: Tree) -> list[tuple[Times, Times]]:
    """The debut of `Dev`, then of its complement, then of `Dev`, …; `T` where there is none."""
    size, length, found = tree
    paths = sequences(size, length)

    def debut(after: Times, inside: bool) -> Times:
        return {
            path: next((t for t in range(after[path], length) if (path[:t] in found) == inside), length)
            for path in paths
        }

    pairs, after = [], dict.fromkeys(paths, 0)
    for _ in range((length + 1) // 2):
        start = debut(after, inside=True)
        after = debut(start, inside=False)
        pairs.append((start, after))
    return pairs


def check_runs(tree: Tree) -> Iterator[Relation]:
    """The intervals between debuts: stopping times, disjoint, and together exactly `Dev`."""
    size, length, found = tree
    pairs = alternating_debuts(tree)
    yield fact("the debuts are stopping times", all(is_stopping_time(time) for pair in pairs for time in pair))
    parts = [window(*pair) for pair in pairs]
    union = frozenset[tuple[Prefix, int]]().union(*parts)
    yield equal("the intervals are disjoint", sum(map(len, parts)), len(union))
    yield equal("together they are Dev_i, the smallest that certifies", union, marks(found, size, length))
    most = max(sum(pair[0][path] < pair[1][path] for pair in pairs) for path in sequences(size, length))
    yield equal("m-re-entrant: the most intervals on a path", most, runs(found, size, length))
    yield at_most("at most ⌈T/2⌉ runs", runs(found, size, length), -(-length // 2))


def check_one_interval(tree: Tree) -> Iterator[Relation]:
    """False: one interval is as small as several."""
    size, length, found = tree
    yield equal("Act_i = Dev_i", active(found, size, length), set(found))


def check_numbers(length: int) -> Iterator[Relation]:
    """How many sets of prefixes are gap-free, and that ⌈T/2⌉ runs occur."""
    sets = sets_of_prefixes(2, length)
    if length == 3:
        yield equal("89 of 128 are gap-free", sum(active(found, 2, 3) == found for found in sets), 89)
    every_second = {h for step in range(0, length, 2) for h in product(range(2), repeat=step)}
    yield equal("every second step: ⌈T/2⌉ runs", runs(every_second, 2, length), -(-length // 2))


def with_gaps(draw: Draw) -> Family:
    """Experts that are often the background; one support."""
    return common_support(draw, shape(draw))


def check_gap_mass(family: Family) -> Iterator[Relation]:
    """`sum_t P^(y_<t in Act_i - Dev_i)`, prefix by prefix, against the expected count; the library's runs."""
    composed = compose(family)
    measures = report(family).measures
    for name, expert in zip(NAMES, family.experts, strict=False):
        found = deviating(expert, family.background, composed.reachable)
        gaps = active(found, family.size, family.length) - found
        mass = total(mass_of(composed.local, h) for h in gaps)
        counted = expectation(composed.local, lambda y, gaps=gaps: sum(y[:t] in gaps for t in range(family.length)))
        yield equal("gap mass = expected number of steps in gaps", mass, counted)
        claimed = None if measures is None else measures.experts[name].runs
        yield equal("verify() counts the runs", claimed, runs(found, family.size, family.length))


def check_gap_probability(family: Family) -> Iterator[Relation]:
    """False: the gap mass is the probability of a gap."""
    composed = compose(family)
    for expert in family.experts:
        found = deviating(expert, family.background, composed.reachable)
        gaps = active(found, family.size, family.length) - found
        met = total(mass for y, mass in composed.local.items() if any(y[:t] in gaps for t in range(family.length)))
        yield equal("gap mass = P^(some gap)", total(mass_of(composed.local, h) for h in gaps), met)


def some_tree(draw: Draw) -> Tree:
    """A set of prefixes of the binary tree with three steps."""
    return 2, 3, draw.pick(sets_of_prefixes(2, 3))


STATEMENTS = (
    Statement(
        number="3.6",
        kind="definition",
        sentence="a model is gap-free iff every path meets its deviations in one run",
        equation="Act_i = Dev_i iff one run per path; then σ_2* is the exit of the run",
        cases=every_tree,
        check=check_gap_free,
        controls=(Control("one run per path: children of deviations deviate", some_tree, check_hereditary),),
    ),
    Statement(
        number="3.6 runs",
        kind="definition",
        sentence="alternating debuts certify with several intervals, and no several intervals are smaller",
        equation="⋃_j [σ_j, σ_j') = Dev_i on every path;  at most ⌈T/2⌉ runs",
        cases=every_tree,
        check=check_runs,
        controls=(Control("several intervals: one instead", some_tree, check_one_interval),),
    ),
    Statement(
        number="3.6 count",
        kind="remark",
        sentence="89 of the 128 deviation sets of three binary steps are gap-free; ⌈T/2⌉ runs occur",
        equation="89 of 128;  Dev_i = every second step: ⌈T/2⌉ runs",
        cases=lambda: (1, 2, 3),
        check=check_numbers,
        controls=(Control("gap-free", some_tree, check_one_interval),),
    ),
    Statement(
        number="3.6 gap mass",
        kind="definition",
        sentence="the gap mass is the expected number of steps at which an expert is active and does not deviate",
        equation="sum_t P^(y_<t in Act_i - Dev_i) = E #{t: y_<t in Act_i - Dev_i}",
        draw=with_gaps,
        check=check_gap_mass,
        controls=(
            Control(
                "the count: the probability instead",
                lambda draw: common_support(draw, shape(draw)),
                check_gap_probability,
            ),
        ),
        weight=6,
    ),
)
