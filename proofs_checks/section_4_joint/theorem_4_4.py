"""Theorem 4.4 (1) and (2) (exactness): when the composition is one of its models, and the switching model."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import (
    Family,
    Shape,
    common_support,
    free,
    pointwise_joint,
    shape,
)
from proofs_checks.definitions.laws import ONE, Row, law_of, support, total
from proofs_checks.definitions.one_step import one_step
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import one_opening, other_rows_off
from proofs_checks.definitions.skills import deviating, switching
from proofs_checks.definitions.skills import pointwise_joint as disjoint
from proofs_checks.library import report
from proofs_checks.statement import Control, Relation, Statement, equal, fact

Case = tuple[Family, NullTokens]


def joint_without_errors(draw: Draw) -> Case:
    """JF-pt on `R^`, anything off it; opened tokens under `cancel`, `p_i << p_b` otherwise."""
    null: NullTokens = draw.pick(("cancel", "strict", "drop"))
    of = shape(draw, sizes=(1, 3), experts=(1, 4))
    family = pointwise_joint(draw, of, dominated=null != "cancel")
    return other_rows_off(draw, family, compose(family, null).reachable), null


def overlapping(draw: Draw) -> Case:
    """Nothing is arranged; one support."""
    return common_support(draw, Shape(2, 2, 2, zeros=False)), "strict"


def check_switching(family: Family) -> Iterator[Relation]:
    """The sole deviator's row against the sum of all differences; the library's distance to it."""
    composed = compose(family)
    kernel = switching(family, composed.reachable)
    for h in composed.reachable:
        base = family.background[h]
        summed = tuple(mass + total(expert[h][y] - mass for expert in family.experts) for y, mass in enumerate(base))
        yield equal("s(.|h) = p_b + sum_i (p_i - p_b)", kernel[h], summed)
    measures = report(family).measures
    distance = None if measures is None else measures.tv_to_switching
    yield equal("verify(): TV(P^, S) = 0", distance, 0)


@dataclass(frozen=True)
class Step:
    """The rows of one step, and a convention."""

    background: Row
    experts: tuple[Row, ...]
    null: NullTokens


def defined_step(draw: Draw) -> Step:
    """No error; at times the other experts' ratios are constant where the first expert goes, or everywhere."""
    null: NullTokens = draw.pick(("strict", "drop", "cancel"))
    of = Shape(draw.integer(1, 4), 1, draw.integer(1, 3), zeros=True)
    recipe = one_opening(draw, of) if null == "cancel" else free(draw, of, dominated=null == "strict")
    background, experts = recipe.background[()], [expert[()] for expert in recipe.experts]
    kind = draw.integer(0, 2)
    if kind and null != "cancel":
        where = support(background) if kind == 2 else support(experts[0])
        experts = [experts[0] if kind == 1 else background, *(flat_on(draw, where, background) for _ in experts[1:])]
        if kind == 2 and draw.one_in(2) and all(background):
            return inverse(draw, background, null)
    return Step(background, tuple(experts), null)


def flat_on(draw: Draw, where: set[int], background: Row) -> Row:
    """A row within the background's support whose ratio is constant on `where`."""
    share = Fraction(draw.integer(1, 4), 4)
    weights = [mass * (share if y in where else draw.integer(0, 2)) for y, mass in enumerate(background)]
    return normalised(weights) if any(weights) else background


def inverse(draw: Draw, background: Row, null: NullTokens) -> Step:
    """Two experts whose ratios undo each other: `r_1 r_2` is constant."""
    one = draw.row_inside(background)
    other = normalised([mass * mass / tilt for mass, tilt in zip(background, one, strict=True)])
    return Step(background, (one, other), null)


def check_rows(step: Step, *, ac: bool = True) -> Iterator[Relation]:
    """When the composition is the `i`-th expert, and when it is the background."""
    family = one_step([step.background, *step.experts])
    composed = compose(family, step.null)
    weights, result = composed.weights[()], composed.kernel.get(())
    for expert in step.experts:
        others = {weights[y] / expert[y] for y in support(expert)}
        vanishes = not any(weights[y] for y in range(family.size) if y not in support(expert))
        yield equal(
            "p^ = p_i iff w = 0 off supp p_i and r_{-i} is constant and positive on it",
            result == expert,
            vanishes and len(others) == 1 and min(others) > 0,
        )
        if step.null != "cancel":
            yield fact("w = 0 off supp p_i is automatic under strict and drop", vanishes)
    if all(support(expert) <= support(step.background) for expert in step.experts) or not ac:
        products = {weights[y] / step.background[y] for y in support(step.background)}
        constant_product = len(products) == 1 and min(products) > 0
        yield equal("p^ = p_b iff prod_j r_j is constant and positive", result == step.background, constant_product)


def check_without_vanishing(step: Step) -> Iterator[Relation]:
    """False: `r_{-i}` constant and positive on `supp p_i` is enough."""
    family = one_step([step.background, *step.experts])
    composed = compose(family, step.null)
    for expert in step.experts:
        others = {composed.weights[()][y] / expert[y] for y in support(expert)}
        exact = composed.kernel.get(()) == expert
        yield equal("p^ = p_i iff r_{-i} is constant and positive", exact, len(others) == 1 and min(others) > 0)


def under_cancel(draw: Draw) -> Step:
    """Tokens are opened."""
    family = one_opening(draw, Shape(2, 1, draw.integer(1, 2), zeros=True))
    return Step(family.background[()], tuple(expert[()] for expert in family.experts), "cancel")


def check_joint(case: Case) -> Iterator[Relation]:
    """JF-pt on `R^`: everything is exact."""
    family, null = case
    composed = compose(family, null)
    yield fact("JF-pt on R^", disjoint([deviating(e, family.background, composed.reachable) for e in family.experts]))
    yield from check_exact(case)


def check_exact(case: Case) -> Iterator[Relation]:
    """No error, no dead prefix, `P^ = S`, `Z = 1`, `P_L = P_G`."""
    family, null = case
    composed = compose(family, null)
    yield fact("no error and no dead prefix", composed.well_defined)
    yield equal("Z = 1 on R^", {composed.normalizer.get(h) for h in composed.reachable}, {ONE})
    target = law_of(switching(family, composed.reachable), family.size, family.length)
    yield equal("P^ = S", composed.local, target)
    yield equal("P_L = P_G", composed.local, composed.global_)


def opened_and_dropped(draw: Draw) -> Case:
    """One expert opens tokens under `drop`."""
    return pointwise_joint(draw, Shape(2, 2, 1, zeros=True)), "drop"


def opened_and_strict(draw: Draw) -> Case:
    """One expert opens tokens under `strict`: an error."""
    return pointwise_joint(draw, Shape(2, 2, 1, zeros=True)), "strict"


STATEMENTS = (
    Statement(
        number="4.4 switching model",
        kind="definition",
        sentence="under JF-pt the switching model is the sole deviator, or the background",
        equation="s(.|h) = p_i(.|h) if h in Dev_i, else p_b(.|h);  = p_b + sum_i (p_i - p_b)",
        hypotheses=("JF-pt on R^",),
        draw=lambda draw: pointwise_joint(draw, shape(draw)),
        check=check_switching,
        controls=(Control("JF-pt", lambda draw: common_support(draw, Shape(2, 2, 2, zeros=False))),),
        weight=6,
    ),
    Statement(
        number="4.4 (1)",
        kind="theorem",
        sentence="the composition is an expert where the others' ratio is constant, or the background",
        equation="p^ = p_i iff w = 0 off supp p_i, r_{-i} constant > 0 on it;  p^ = p_b iff prod_j r_j constant > 0",
        hypotheses=("no error at h", "for p_b: p_i << p_b"),
        draw=defined_step,
        check=check_rows,
        controls=(
            Control("w = 0 off supp p_i", under_cancel, check_without_vanishing),
            Control("p_i << p_b", under_cancel, lambda step: check_rows(step, ac=False)),
        ),
    ),
    Statement(
        number="4.4 (2)",
        kind="theorem",
        sentence="where at most one expert deviates the composition is the switching model",
        equation="JF-pt on R^: no error, no dead prefix, P^ = S, Z = 1, P_L = P_G",
        hypotheses=("JF-pt on R^", "cancel; strict without error; drop with p_i << p_b"),
        draw=joint_without_errors,
        check=check_joint,
        controls=(
            Control("JF-pt", overlapping, check_exact),
            Control("p_i << p_b under drop", opened_and_dropped),
            Control("no error under strict", opened_and_strict),
        ),
    ),
)
