"""Corollary 2.7 (ancestral projectivity): experts that read their own history are projective."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, disjoint_masks, shape
from proofs_checks.definitions.laws import Law, Prefix, Row, law_of, marginal, own_history, reach
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import other_rows_off
from proofs_checks.section_2_masks.theorem_2_3 import HIDDEN
from proofs_checks.statement import Control, Relation, Statement, constant, equal

Structure = Literal["own histories", "background's own history", "any"]


@dataclass(frozen=True)
class Ancestral:
    """A family with MA, a convention, and `par(t)`: what the row of the owner of `t` is a function of."""

    family: Family
    null: NullTokens
    parents: tuple[tuple[int, ...], ...]

    def ancestors(self, positions: tuple[int, ...]) -> set[int]:
        """`An(M)`: closed under `par`."""
        closed = set(positions)
        while more := {s for t in closed for s in self.parents[t]} - closed:
            closed |= more
        return closed


def ancestral(draw: Draw, structure: Structure | None = None, *, only_composition: bool = False) -> Ancestral:
    """Rows of owners are functions of `h_{par(t)}`; the background is anything at the positions of masks.

    "own histories": `par(t) ⊂ M_i` for `t in M_i`, `M_b` reads anything. "background's own history": `par(t) ⊂ M_b`
    for `t in M_b`, and `M_i` reads itself and `M_b`. Rows off `R^ ∪ Reach(p_i) ∪ Reach(p_b)` are anything; off `R^`
    with `only_composition`.
    """
    structure = structure or draw.pick(("own histories", "background's own history", "any"))
    null: NullTokens = draw.pick(("cancel", "strict"))
    of = shape(draw, sizes=(2, 3), experts=(1, 3), shortest=2)
    masks = disjoint_masks(draw, of)
    shell = Family(of.size, of.length, {}, (), masks)
    parents = []
    for t in range(of.length):
        free = shell.background_positions
        if shell.owner(t) is not None:
            readable = {"own histories": shell.block(t), "background's own history": (*shell.block(t), *free)}
        else:
            readable = {"own histories": range(of.length), "background's own history": free}
        allowed = sorted(s for s in readable.get(structure, range(of.length)) if s < t)
        parents.append(draw.subset(allowed))
    rows: dict[tuple[int, Prefix], Row] = {}
    opens = of.zeros and null == "cancel"

    def owned(h: Prefix) -> Row:
        key = (len(h), own_history(h, parents[len(h)]))
        if key not in rows:
            rows[key] = draw.row(of.size, zeros=of.zeros)
        return rows[key]

    def behind(h: Prefix) -> Row:
        """The background's row: the owner's, or one that nothing is asked of but to allow what the owner does."""
        if shell.owner(len(h)) is None:
            return owned(h)
        return draw.row(of.size, zeros=opens)

    background = {h: behind(h) for h in of.prefixes}
    experts = tuple(
        {h: owned(h) if shell.owner(len(h)) == i else background[h] for h in of.prefixes} for i in range(of.experts)
    )
    family = Family(of.size, of.length, background, experts, masks)
    scope = set(compose(family, null).reachable)
    if not only_composition:
        scope |= {h for model in (background, *experts) for h in reach(law_of(model, of.size, of.length), of.length)}
    return Ancestral(other_rows_off(draw, family, scope), null, tuple(parents))


def check(instance: Ancestral) -> Iterator[Relation]:
    """Marginals on ancestrally closed sets, and independence given the background's positions."""
    family = instance.family
    composed = compose(family, instance.null).local
    closed = [instance.ancestors(mask) for mask in family.masks]
    apart = [
        all(not ancestors & {*other} for j, other in enumerate(family.masks) if j != i)
        for i, ancestors in enumerate(closed)
    ]
    for kernel, ancestors, alone in zip(family.experts, closed, apart, strict=True):
        if alone:
            law = law_of(kernel, family.size, family.length)
            yield equal("P^ = P_i on An(M_i)", marginal(composed, ancestors), marginal(law, ancestors))
    free = family.background_positions
    if instance.ancestors(free) <= {*free}:
        background = law_of(family.background, family.size, family.length)
        yield equal("P^ = P_b on M_b", marginal(composed, free), marginal(background, free))
        if all(apart):
            yield equal("P^ = P^^{M_b} prod_i P^(y_{M_i}|y_{M_b})", composed, split(family, composed))


def split(family: Family, law: Law) -> Law:
    """The law with the blocks independent given `M_b`, and the same conditionals."""
    free = family.background_positions
    given = marginal(law, free)
    joint: dict[tuple[tuple[int, int], ...], Fraction] = {
        tuple(zip(free, tokens, strict=True)): mass for tokens, mass in given.items()
    }
    for mask in family.masks:
        both = marginal(law, (*free, *mask))
        places = tuple(sorted((*free, *mask)))
        cells = [(dict(zip(places, tokens, strict=True)), mass) for tokens, mass in both.items()]
        joint = {
            (*known, *((t, cell[t]) for t in mask)): mass * more / given[tuple(cell[t] for t in free)]
            for known, mass in joint.items()
            for cell, more in cells
            if all(dict(known)[t] == cell[t] for t in free)
        }
    return {tuple(dict(cell)[t] for t in range(family.length)): mass for cell, mass in joint.items()}


def check_all(instance: Ancestral) -> Iterator[Relation]:
    """False: also where the ancestors of one mask meet another."""
    family = instance.family
    composed = compose(family, instance.null).local
    for kernel, mask in zip(family.experts, family.masks, strict=True):
        law = law_of(kernel, family.size, family.length)
        yield equal("P^ = P_i on M_i", marginal(composed, mask), marginal(law, mask))


def check_independent(instance: Ancestral) -> Iterator[Relation]:
    """False: independent given `M_b` whatever `M_b` reads."""
    composed = compose(instance.family, instance.null).local
    yield equal("P^ = P^^{M_b} prod_i P^(y_{M_i}|y_{M_b})", composed, split(instance.family, composed))


def check_hidden(family: Family) -> Iterator[Relation]:
    """The example of 2.3: MA and own histories on `R^`, and no projectivity."""
    composed = compose(family, "strict")
    instance = Ancestral(family, "strict", ((), ()))
    for h in composed.reachable:
        owner = family.owner(len(h))
        others = [expert[h] for i, expert in enumerate(family.experts) if i != owner]
        yield equal("MA on R^", {*others}, {family.background[h]})
    steps = [h for h in composed.reachable if len(h) == 1]
    yield equal("one row at step 2 on R^: it reads nothing there", len({family.experts[0][h] for h in steps}), 1)
    yield equal("An(M_1) = M_1", instance.ancestors(family.masks[0]), {1})
    second = marginal(composed.local, (1,))[0,], marginal(law_of(family.experts[0], 2, 2), (1,))[0,]
    yield equal("P^(y_2 = 0) = 1/4 against P_1(y_2 = 0) = 1/2", second, (Fraction(1, 4), Fraction(1, 2)))


STATEMENTS = (
    Statement(
        number="2.7",
        kind="corollary",
        sentence="an expert is projective on its ancestors where they meet no other mask",
        equation="An(M_i) ∩ M_j = ∅ for j != i: P^ = P_i on An(M_i);  An(M_b) ⊂ M_b: P^ = P_b on M_b",
        hypotheses=(
            "MA on R^ ∪ Reach(p_i), with Reach(p_b) for M_b",
            "p_i << p_b, or cancel",
            "on R the row of p_{B(t)} is a function of h_{par(t)}",
        ),
        draw=ancestral,
        check=check,
        controls=(
            Control("An(M_i) ∩ M_j = ∅", lambda draw: ancestral(draw, "any"), check_all),
            Control("An(M_b) ⊂ M_b", lambda draw: ancestral(draw, "own histories"), check_independent),
            Control("Reach(p_i) in the scope: R^ alone", lambda draw: ancestral(draw, only_composition=True)),
        ),
        weight=2,
    ),
    Statement(
        number="2.7 own histories",
        kind="corollary",
        sentence="experts that read their own history are projective, whatever the background does elsewhere",
        equation="An(M_i) = M_i: P^^{M_i} = P_i^{M_i}",
        hypotheses=("MA on R^ ∪ Reach(p_i)", "p_i << p_b, or cancel", "on M_i the row of p_i reads h_{M_i}"),
        draw=lambda draw: ancestral(draw, "own histories"),
        check=check_all,
        controls=(Control("own histories", lambda draw: ancestral(draw, "any")),),
        weight=2,
    ),
    Statement(
        number="2.7 reach of the composition",
        kind="counterexample",
        sentence="mask agreement and own histories on R^ alone are not enough",
        equation="the example of 2.3: P^(y_2 = 0) = 1/4, P_1(y_2 = 0) = 1/2",
        cases=constant(HIDDEN),
        check=check_hidden,
        controls=(Control("Reach(p_1) outside R^", lambda draw: replace(HIDDEN, experts=(HIDDEN.background,) * 2)),),
    ),
)
