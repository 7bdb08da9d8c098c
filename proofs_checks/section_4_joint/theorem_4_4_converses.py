"""Theorem 4.4 (3) to (5): for one support exactness is joint factorizability by prefix, and takes no intervals."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import (
    Family,
    Kernel,
    Shape,
    common_support,
    free,
    palette,
    shape,
)
from proofs_checks.definitions.laws import law_of, row
from proofs_checks.definitions.one_step import one_step
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, deviating, switching
from proofs_checks.definitions.skills import pointwise_joint as disjoint
from proofs_checks.library import report
from proofs_checks.section_4_joint.theorem_4_4 import Case, check_joint, inverse
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact


def two_experts(draw: Draw) -> Family:
    """One support at every prefix; experts agree with the background often, and with each other at times."""
    family = draw.pick((common_support, pointwise_joint_inside))(draw, shape(draw, sizes=(1, 3), experts=(2, 2)))
    if draw.one_in(4):
        family = replace(family, experts=(family.experts[0],) * 2)
    return family


def pointwise_joint_inside(draw: Draw, of: Shape) -> Family:
    """JF-pt, and one support."""
    row = palette(draw, of)
    background = {h: row() for h in of.prefixes}
    owners = {h: draw.integer(0, of.experts) for h in of.prefixes}
    experts = tuple(
        {h: draw.row_inside(base) if owners[h] == i else base for h, base in background.items()}
        for i in range(1, of.experts + 1)
    )
    return Family(of.size, of.length, background, experts)


def check_two(family: Family) -> Iterator[Relation]:
    """On every scope that holds a prefix, hence prefix by prefix; and on `R^`."""
    composed = compose(family)

    def exact(h: tuple[int, ...]) -> bool:
        return composed.kernel[h] in [expert[h] for expert in family.experts]

    def joint(h: tuple[int, ...]) -> bool:
        return sum(expert[h] != family.background[h] for expert in family.experts) <= 1

    for h in family.prefixes:
        yield equal("p^(.|h) in {p_1, p_2}(.|h) iff at most one deviates at h", exact(h), joint(h))
    reached = composed.reachable
    yield equal("on R^: p^ in {p_1, p_2} iff JF-pt", all(map(exact, reached)), all(map(joint, reached)))


BACKGROUND_BACK = one_step([row("1/2 1/2"), row("1/3 2/3"), row("2/3 1/3")])


def check_background(family: Family) -> Iterator[Relation]:
    """Both deviate, and the composition is the background."""
    composed = compose(family)
    yield equal("p^ = p_b", composed.kernel[()], family.background[()])
    yield equal("Z = 8/9", composed.normalizer[()], Fraction(8, 9))
    yield fact("both deviate", all(expert[()] != family.background[()] for expert in family.experts))
    claims = {claim.claim: claim.verdict for claim in report(family).claims}
    says = [claims[claim] for claim in ("exact_switching", "unit_normalizer", "pointwise_joint")]
    yield equal("verify(): exact_switching, no unit normalizer, not joint", says, ["HOLDS", "REFUTED", "REFUTED"])


def undoing(draw: Draw) -> Family:
    """Two experts with one support: any, one deviator, or ratios that undo each other."""
    if draw.one_in(3):
        step = inverse(draw, draw.row(draw.integer(2, 4)), "strict")
        return one_step([step.background, *step.experts])
    return two_experts(draw)


def check_unit(family: Family, *, unit: bool = True) -> Iterator[Relation]:
    """The background admitted, with `Z = 1`."""
    composed = compose(family)
    for h in family.prefixes:
        component = composed.kernel[h] in [family.background[h], *(expert[h] for expert in family.experts)]
        exact = component and (composed.normalizer[h] == 1 or not unit)
        joint = sum(expert[h] != family.background[h] for expert in family.experts) <= 1
        yield equal("at most one deviates iff p^ in {p_b, p_1, p_2} and Z = 1", joint, exact)


def interleaving(draw: Draw) -> Case:
    """JF-pt, and expert 1 acts before and after expert 2 on a path."""
    of = Shape(2, 3, 2, zeros=draw.one_in(2))
    family = pointwise_joint_inside(draw, of)
    path = tuple(draw.integer(0, 1) for _ in range(2))
    base = dict(family.background)
    experts = [dict(expert) for expert in family.experts]
    for step, acting in enumerate((0, 1, 0)):
        h = path[:step]
        base[h] = row("1/2 1/2")
        for i, expert in enumerate(experts):
            expert[h] = draw.pick((row("1/4 3/4"), row("2/3 1/3"))) if i == acting else base[h]
    return Family(2, 3, base, tuple(experts)), draw.pick(("strict", "cancel", "drop"))


def check_no_intervals(case: Case) -> Iterator[Relation]:
    """Intervals overlap; all is exact."""
    family, null = case
    reached = compose(family, null).reachable
    activities = [active(deviating(e, family.background, reached), 2, 3) for e in family.experts]
    yield fact("JF-int fails", not disjoint(activities))
    yield from check_joint(case)


def check_needs_intervals(case: Case) -> Iterator[Relation]:
    """False: exactness needs disjoint intervals."""
    family, null = case
    composed = compose(family, null)
    activities = [active(deviating(e, family.background, composed.reachable), 2, 3) for e in family.experts]
    exact = composed.local == law_of(switching(family, composed.reachable), 2, 3)
    yield equal("P^ = S iff JF-int", exact, disjoint(activities))


def several(draw: Draw) -> Family:
    """One step, one support, two to four experts; often background, at times alike."""
    of = Shape(draw.integer(1, 4), 1, draw.integer(2, 4), draw.one_in(2))
    return draw.pick((common_support, pointwise_joint_inside))(draw, of)


def check_pairs(family: Family) -> Iterator[Relation]:
    """Pair by pair."""
    joint = sum(expert[()] != family.background[()] for expert in family.experts) <= 1
    pairs = [
        compose(replace(family, experts=pair)).kernel.get(()) in [expert[()] for expert in pair]
        for pair in combinations(family.experts, 2)
    ]
    yield equal("JF-pt iff every pair composes to one of its two", joint, all(pairs))


def check_all_at_once(family: Family) -> Iterator[Relation]:
    """False: the composition of all is enough."""
    joint = sum(expert[()] != family.background[()] for expert in family.experts) <= 1
    yield equal("JF-pt iff p^ is one of the experts", joint, is_expert(family, compose(family).kernel))


def is_expert(family: Family, composed: Kernel) -> bool:
    return composed.get(()) in [expert[()] for expert in family.experts]


THREE_EXPERTS = one_step([row("1/3 1/3 1/3"), row("1/2 1/4 1/4"), row("1/12 1/12 10/12"), row("10/21 10/21 1/21")])
"""`r_2 r_3` is constant: they undo each other."""


STATEMENTS = (
    Statement(
        number="4.4 (3)",
        kind="theorem",
        sentence="two experts of the background's support: the composition is one of them exactly where one deviates",
        equation="p^(.|h) in {p_1, p_2}(.|h) for all h in R iff JF-pt on R",
        hypotheses=("supp p_b = supp p_1 = supp p_2 on R", "k = 2"),
        draw=two_experts,
        check=check_two,
        controls=(Control("one support", lambda draw: free(draw, Shape(2, 1, 2, zeros=True), dominated=True)),),
    ),
    Statement(
        number="4.4 (3')",
        kind="theorem",
        sentence="with the background as a component it takes the normalizer too",
        equation="at most one deviates at h iff p^(.|h) in {p_b, p_1, p_2}(.|h) and Z(h) = 1",
        hypotheses=("supp p_b = supp p_1 = supp p_2 on R", "k = 2"),
        draw=undoing,
        check=check_unit,
        controls=(Control("Z = 1", undoing, lambda family: check_unit(family, unit=False)),),
    ),
    Statement(
        number="4.4 (3') background",
        kind="counterexample",
        sentence="two experts that undo each other leave the background",
        equation="p_b = (1/2,1/2), p_1 = (1/3,2/3), p_2 = (2/3,1/3): p^ = p_b, Z = 8/9",
        cases=constant(BACKGROUND_BACK),
        check=check_background,
        controls=(Control("both deviate", lambda draw: pointwise_joint_inside(draw, Shape(2, 1, 2, zeros=False))),),
    ),
    Statement(
        number="4.4 (4)",
        kind="theorem",
        sentence="no interval structure enters: interleaving experts compose exactly",
        equation="Act_1 ∩ Act_2 != ∅, Dev_1 ∩ Dev_2 = ∅: P^ = S",
        hypotheses=("JF-pt on R^",),
        draw=interleaving,
        check=check_no_intervals,
        controls=(Control("prefixes: intervals instead", interleaving, check_needs_intervals),),
    ),
    Statement(
        number="4.4 (5)",
        kind="theorem",
        sentence="any number of experts of one support: joint exactly where every pair composes to one of its two",
        equation="JF-pt at h iff p^_{ij}(.|h) in {p_i, p_j}(.|h) for all i < j",
        hypotheses=("one support at h",),
        draw=several,
        check=check_pairs,
        controls=(
            Control("pairs: all at once", lambda _: THREE_EXPERTS, check_all_at_once),
            Control("one support", lambda draw: free(draw, Shape(2, 1, 2, zeros=True), dominated=True)),
        ),
    ),
)
