"""Definition 3.1 (certificate), its time convention, and Remark 3.2 (vacuity)."""

from collections.abc import Iterator
from dataclasses import dataclass

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.laws import Prefix, prefixes, sequences
from proofs_checks.definitions.stopping import (
    Times,
    marks,
    sets_of_prefixes,
    stopping_times,
    window,
    windows,
)
from proofs_checks.statement import Control, Relation, Statement, equal, fact

TREES = ((2, 3), (2, 2), (3, 2), (1, 3), (2, 1))
"""`|V|` and `T`."""


@dataclass(frozen=True)
class Interval:
    """Two times and a set of deviating prefixes."""

    size: int
    length: int
    first: Times
    last: Times
    deviations: frozenset[Prefix]


def interval(draw: Draw) -> Interval:
    """Stopping times `σ_1 <= σ_2`: the greater of two stopping times is one."""
    size, length = draw.pick(TREES)
    first, other = (draw.pick(stopping_times(size, length)) for _ in range(2))
    last = {path: max(start, other[path]) for path, start in first.items()}
    return Interval(size, length, first, last, deviations(draw, first, last))


def deviations(draw: Draw, first: Times, last: Times) -> frozenset[Prefix]:
    """Prefixes of the interval, all but at times."""
    inside = sorted({path[:step] for path, step in window(first, last)})
    return frozenset(draw.subset(inside)) | (frozenset({()}) if draw.one_in(4) else frozenset())


def optional(draw: Draw) -> Interval:
    """`σ_1` is decided by the token after it: the skill starts while the token is drawn that triggers it."""
    size, length, trigger = 2, 3, draw.integer(0, 1)
    first = {path: next((t for t in range(length) if path[t] == trigger), length) for path in sequences(size, length)}
    last = dict.fromkeys(first, length)
    return Interval(size, length, first, last, deviations(draw, first, last))


def check_convention(instance: Interval) -> Iterator[Relation]:
    """Whether a skill is active at a prefix does not depend on how the path goes on."""
    active = window(instance.first, instance.last)
    for h in prefixes(instance.size, instance.length):
        answers = {(path, len(h)) in active for path in instance.first if path[: len(h)] == h}
        yield fact("σ_1 <= |h| < σ_2 on one path through h iff on all", len(answers) == 1)


def certified_by_prefix(instance: Interval) -> bool:
    """Every `h in Dev_i` has `σ_1 <= |h| < σ_2` on the paths through `h`."""
    for h in instance.deviations:
        through = [path for path in instance.first if path[: len(h)] == h]
        if not all(instance.first[path] <= len(h) < instance.last[path] for path in through):
            return False
    return True


def check_certificate(instance: Interval) -> Iterator[Relation]:
    """Prefix by prefix against path by path, and against one path through each prefix."""
    inside = marks(instance.deviations, instance.size, instance.length) <= window(instance.first, instance.last)
    certified = certified_by_prefix(instance)
    yield equal("every deviating prefix inside iff every deviating step of a path inside", certified, inside)
    some = {path[:step] for path, step in window(instance.first, instance.last)}
    yield equal("one path through each deviating prefix is enough", instance.deviations <= some, certified)


def check_vacuous(case: tuple[int, int, frozenset[Prefix]], cut: int = 0) -> Iterator[Relation]:
    """`(0, T)` certifies; `cut`: up to `T - cut` alone."""
    size, length, found = case
    paths = sequences(size, length)
    whole = window(dict.fromkeys(paths, 0), dict.fromkeys(paths, max(0, length - cut)))
    yield fact("(0, T) is a pair of stopping times", whole in windows(size, length))
    yield fact("(0, T) certifies", marks(found, size, length) <= whole)


def any_set(draw: Draw) -> tuple[int, int, frozenset[Prefix]]:
    """A set of prefixes of a small tree."""
    size, length = draw.pick(TREES)
    return size, length, draw.pick(sets_of_prefixes(size, length))


STATEMENTS = (
    Statement(
        number="3.1 time convention",
        kind="definition",
        sentence="stopping times of the prefix filtration make activity a property of prefixes",
        equation="σ_1(y) <= |h| < σ_2(y) on one path through h iff on all",
        hypotheses=("{σ = l} is decided by y_{<=l}",),
        draw=interval,
        check=check_convention,
        controls=(Control("decided by y_{<=l}: by y_{<=l+1} instead", optional),),
    ),
    Statement(
        number="3.1",
        kind="definition",
        sentence="a certificate is an interval that contains every deviating prefix, on every path",
        equation="(σ_1, σ_2) certifies p_i iff σ_1 <= |h| < σ_2 for h in Dev_i",
        hypotheses=("σ_1 <= σ_2 are stopping times",),
        draw=interval,
        check=check_certificate,
        controls=(Control("stopping times", optional),),
    ),
    Statement(
        number="3.2",
        kind="remark",
        sentence="the whole horizon certifies every model",
        equation="(0, T) certifies every Dev_i",
        cases=lambda: [(2, 3, found) for found in sets_of_prefixes(2, 3)],
        draw=any_set,
        check=check_vacuous,
        controls=(Control("the whole: (0, T-1)", any_set, lambda case: check_vacuous(case, cut=1)),),
    ),
)
