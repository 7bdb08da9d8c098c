"""Definition 3.3 (canonical times): alive prefixes, active prefixes, and CE 3.5 (the last exit peeks)."""

from collections.abc import Collection, Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import NAMES, Family, common_support, interval_joint, shape
from proofs_checks.definitions.laws import Prefix, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, canonical_times, deviating
from proofs_checks.definitions.stopping import Times, is_stopping_time, sets_of_prefixes
from proofs_checks.library import report
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact


def few_deviations(draw: Draw) -> Family:
    """Experts that are often the background; one support."""
    return draw.pick((common_support, interval_joint))(draw, shape(draw, zeros=False))


def active_by_prefix(deviations: Collection[Prefix], scope: Collection[Prefix]) -> set[Prefix]:
    """`{h in R: some h' ⊒ h in Dev_i, some prefix of h in Dev_i}`."""
    return {
        h
        for h in scope
        if any(other[: len(h)] == h for other in deviations)
        and any(h[:step] in deviations for step in range(len(h) + 1))
    }


def check_active(family: Family) -> Iterator[Relation]:
    """By prefixes, by times, and the library's count, on both scopes."""
    for everywhere, scope in ((False, compose(family).reachable), (True, tuple(family.prefixes))):
        measures = report(family, everywhere=everywhere).measures
        for name, expert in zip(NAMES, family.experts, strict=False):
            found = deviating(expert, family.background, scope)
            by_prefix = active_by_prefix(found, scope)
            by_times = active(found, family.size, family.length)
            yield equal("Act_i by prefixes = {h: σ_1* <= |h| < σ_2*}", by_prefix, by_times)
            counted = None if measures is None else measures.experts[name].active_prefixes
            yield equal("verify() counts |Act_i|", counted, len(by_prefix))


def check_hindsight(family: Family) -> Iterator[Relation]:
    """False: a skill is active up to the last deviation of its path."""
    for expert in family.experts:
        found = deviating(expert, family.background, family.prefixes)
        exits = last_exits(found, family.size, family.length)
        starts = {path: start for path, (start, _) in canonical_times(found, family.size, family.length).items()}
        seen = {path[:step] for path, start in starts.items() for step in range(start, exits[path])}
        yield equal("Act_i = from the first to the last deviation", active(found, family.size, family.length), seen)
        yield fact("the last exit is a stopping time", is_stopping_time(exits))


def last_exits(deviations: Collection[Prefix], size: int, length: int) -> Times:
    """ "Last deviation + 1", `T` where there is none."""
    return {
        path: max((step + 1 for step in range(length) if path[:step] in deviations), default=length)
        for path in sequences(size, length)
    }


Tree = tuple[int, int, frozenset[Prefix]]
PEEKING: Tree = (2, 3, frozenset({(), (0, 0)}))


def check_last_exit(tree: Tree) -> Iterator[Relation]:
    """The last exit peeks; the canonical exit is where no deviation can be reached."""
    size, length, found = tree
    yield fact("last deviation + 1 is not a stopping time", not is_stopping_time(last_exits(found, size, length)))
    exits = {path: stop for path, (_, stop) in canonical_times(found, size, length).items()}
    yield fact("σ_2* is a stopping time", is_stopping_time(exits))
    for path, stop in exits.items():
        ahead = [h for h in found if h[:stop] == path[:stop] and len(h) >= stop]
        before = [h for h in found if h[: max(0, stop - 1)] == path[: max(0, stop - 1)] and len(h) >= stop - 1]
        yield fact("at σ_2* no deviation can be reached, one step earlier one can", not ahead and bool(before))


def check_smaller(tree: Tree) -> Iterator[Relation]:
    """Nothing peeks."""
    yield fact("last deviation + 1 is a stopping time", is_stopping_time(last_exits(tree[2], *tree[:2])))


SMALLER = ((1, 4), (2, 1), (2, 2), (3, 1), (3, 2))

STATEMENTS = (
    Statement(
        number="3.3",
        kind="definition",
        sentence="an expert is active from its first deviation until none can be reached",
        equation="h in Act_i iff h is alive and has a deviating prefix iff σ_1* <= |h| < σ_2*",
        draw=few_deviations,
        check=check_active,
        controls=(Control("reached: the last deviation of the path instead", few_deviations, check_hindsight),),
        weight=12,
    ),
    Statement(
        number="3.5",
        kind="counterexample",
        sentence="the last exit is not a stopping time",
        equation="|V| = 2, T = 3, Dev = {∅, 00}: after token 0 the last exit is 1 or 3, as the next token says",
        cases=constant(PEEKING),
        check=check_last_exit,
        controls=(Control("a gap", lambda draw: (2, 3, frozenset({(), (0,), (0, 0)}))),),
    ),
    Statement(
        number="3.5 smallest",
        kind="remark",
        sentence="with two steps, or with one token, the last exit is a stopping time",
        equation="T <= 2 or |V| = 1: last deviation + 1 is a stopping time",
        cases=lambda: [(*tree, found) for tree in SMALLER for found in sets_of_prefixes(*tree)],
        check=check_smaller,
        controls=(Control("T <= 2", lambda draw: (2, 3, draw.pick(sets_of_prefixes(2, 3)))),),
    ),
)
