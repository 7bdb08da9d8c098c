"""Definition 5.2 (component guarantees): a uniform bound over entry prefixes, and an event of the segment.

The bound is uniform for a reason: an earlier expert can force any entry prefix, and then the composition fails as often
as expert `i` fails from there. So the least uniform `δ` is the largest failure rate of a composition. And the event is
of `F_{σ_2}` for a reason: what comes after the segment is another expert's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Prefix, Shape, shape
from proofs_checks.definitions.laws import ONE, ZERO, probability_that, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.segmented_families import segmented
from proofs_checks.definitions.segments import Segmented, entries, entry, past, run_from
from proofs_checks.statement import Control, Relation, Statement, equal


@dataclass(frozen=True)
class Judged:
    """Two experts, of which one has a segment, and the failures `{not G}`, a set of paths."""

    case: Segmented
    failures: frozenset[Prefix]


def forced(case: Segmented, prefix: Prefix) -> Family:
    """The family with the other expert going to `prefix` and nowhere else; after that it does what it did."""
    family = case.family
    other = dict(family.experts[1 - case.expert])
    for step, token in enumerate(prefix):
        other[prefix[:step]] = tuple(ONE if y == token else ZERO for y in range(family.size))
    return replace(family, experts=(case.kernel, other))


def check(judged: Judged) -> Iterator[Relation]:
    """The two readings: over entry prefixes, and over earlier experts."""
    case, uniform, rates = judged.case, [ZERO], [ZERO]
    for g in entries(case.times):
        composed = compose(forced(case, g)).local
        enters = probability_that(composed, lambda path, g=g: entry(case.times, path) == g)
        yield equal("an earlier expert forces the entry at g", enters, ONE)
        rates.append(probability_that(composed, lambda path: path in judged.failures))
        run = run_from(case.kernel, g, case.family.size, case.family.length)
        uniform.append(probability_that(run, lambda path: path in judged.failures))
    yield equal("the least uniform δ is the largest failure rate of a composition", max(uniform), max(rates))


def in_the_segment(draw: Draw) -> Judged:
    """`G in F_{σ_2}`; before the entry every row has full support, so that every entry prefix can be forced."""
    case = segmented(draw, dominated=True, of=shape(draw, experts=(2, 2), zeros=False))
    return Judged(case, frozenset(path for path in case.times if past(case.times, path) not in case.event))


def beyond_the_segment(draw: Draw) -> Judged:
    """`G` needs tokens after `σ_2`."""
    case = segmented(draw, dominated=True, of=Shape(2, 2, 2, zeros=False))
    return Judged(case, frozenset(draw.subset(sequences(2, 2))))


STATEMENTS = (
    Statement(
        number="5.2",
        kind="definition",
        sentence="the least uniform guarantee is the worst that an earlier expert can do to the composition",
        equation="max_g P_i(not G | g) = max over earlier experts of P^(not G)",
        hypotheses=("G in F_{σ_2}", "p^ = p_i in the segment", "every entry prefix can be forced"),
        draw=in_the_segment,
        check=check,
        controls=(Control("G in F_{σ_2}", beyond_the_segment),),
        not_checked="the entry specification: it is a demand, not a consequence (5.3)",
    ),
)
