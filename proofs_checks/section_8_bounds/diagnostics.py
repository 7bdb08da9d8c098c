"""Section 8, diagnostics per prefix: the switching defect `ι(h) = min_a TV(p^, p_a)`."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, palette, pointwise_joint
from proofs_checks.definitions.laws import Prefix, law_of, row_tv
from proofs_checks.definitions.operator import Composition, compose
from proofs_checks.definitions.references import anchored
from proofs_checks.statement import Control, Relation, Statement, at_most, equal


def defects(family: Family, composed: Composition, prefix: Prefix) -> list[tuple[object, int]]:
    """`TV(p^, p_a)` by component, the background first; the nearest first."""
    models = (family.background, *family.experts)
    return sorted((row_tv(composed.kernel[prefix], model[prefix]), i) for i, model in enumerate(models))


def is_component(family: Family, composed: Composition, prefix: Prefix, index: int) -> bool:
    """4.4 (1): `w` vanishes where `p_a` does and `w/p_a` is constant and positive where `p_a` is not."""
    row = (family.background, *family.experts)[index][prefix]
    weights = composed.weights[prefix]
    inside = {weight / cell for weight, cell in zip(weights, row, strict=True) if cell}
    return len(inside) == 1 and 0 not in inside and not any(w for w, cell in zip(weights, row, strict=True) if not cell)


def check(family: Family) -> Iterator[Relation]:
    """`ι(h) = 0` iff some component's ratio is constant; and `S*` follows the nearest component."""
    composed = compose(family)
    nearest = dict(family.background)
    for h in composed.reachable:
        (smallest, index), *_ = defects(family, composed, h)
        nearest[h] = (family.background, *family.experts)[index][h]
        known = any(is_component(family, composed, h, i) for i in range(len(family.experts) + 1))
        yield equal("ι(h) = 0 iff p^ is a component", smallest == 0, known)
    exact = all(defects(family, composed, h)[0][0] == 0 for h in composed.reachable)
    if exact:
        yield equal("ι = 0 on R^: P^ = S*", composed.local, law_of(nearest, family.size, family.length))


def check_one_deviator(family: Family) -> Iterator[Relation]:
    """False: that at most one expert deviates where `ι` is 0."""
    composed = compose(family)
    for h in composed.reachable:
        deviators = sum(expert[h] != family.background[h] for expert in family.experts)
        if defects(family, composed, h)[0][0] == 0:
            yield at_most("ι(h) = 0: at most one deviates", deviators, 1)


def mixed(draw: Draw) -> Family:
    """One deviator at every prefix, or none arranged; or deterministic experts, or two that cancel each other."""
    of = Shape(2, draw.integer(1, 3), draw.integer(1, 3), draw.one_in(2))
    kind = draw.integer(0, 2)
    if kind == 0:
        return pointwise_joint(draw, of)
    if kind == 1:
        return anchored(draw, of)
    row = palette(draw, Shape(2, 1, 1, zeros=False))
    background = {h: row() for h in of.prefixes}
    swapped = {h: tuple(b * b for b in base) for h, base in background.items()}
    second = {h: tuple(cell / sum(squares) for cell in squares) for h, squares in swapped.items()}
    return Family(2, of.length, background, ({h: row() for h in of.prefixes}, second))


def deterministic(draw: Draw) -> Family:
    """Experts without a choice among their tokens, or with."""
    return anchored(draw, Shape(2, 2, 2, zeros=True))


def check_nearest_is_assigned(family: Family) -> Iterator[Relation]:
    """False: `ι = 0` whatever the family is."""
    composed = compose(family)
    for h in composed.reachable:
        yield equal("ι(h) = 0", defects(family, composed, h)[0][0], 0)


STATEMENTS = (
    Statement(
        number="8 (diagnostics)",
        kind="remark",
        sentence="the switching defect is zero exactly where the composition is one of its components",
        equation="ι(h) = min_a TV(p^, p_a) = 0 iff r_{-a}(.|h) is constant for some a;   ι = 0 on R^: P^ = S*",
        hypotheses=("p^ is defined on R^",),
        draw=mixed,
        check=check,
        controls=(
            Control("that more than one may deviate", deterministic, check_one_deviator),
            Control("that it is zero only there", deterministic, check_nearest_is_assigned),
        ),
        not_checked="o(h), d(h), TV(p^, p^_{-i}) and log Z(h) are definitions: 8.2, 1.8; thresholds are judgement",
    ),
)
