"""Remark 3.7 (scope): activity grows with the scope; what matters is what the composition reaches."""

from collections.abc import Iterator
from dataclasses import dataclass

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support, free, shape
from proofs_checks.definitions.laws import Prefix, kernel, law_of, reach
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import one_opening
from proofs_checks.definitions.skills import active, canonical_times, deviating, pointwise_joint
from proofs_checks.definitions.stopping import marks, window
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact


@dataclass(frozen=True)
class Scopes:
    """A family and two scopes, the first inside the second."""

    family: Family
    inner: frozenset[Prefix]
    outer: frozenset[Prefix]


def nested(draw: Draw) -> Scopes:
    """Prefix-closed scopes: what two families of subtrees leave."""
    family = common_support(draw, shape(draw))

    def pruned(scope: list[Prefix]) -> list[Prefix]:
        cut = {h for h in scope if h and draw.one_in(4)}
        return [h for h in scope if not any(h[:step] in cut for step in range(len(h) + 1))]

    outer = pruned(family.prefixes)
    return Scopes(family, frozenset(pruned(outer)), frozenset(outer))


def two_scopes(draw: Draw) -> Scopes:
    """Neither contains the other."""
    one, other = nested(draw), nested(draw)
    return Scopes(one.family, one.outer, other.inner & frozenset(one.family.prefixes))


def check_grows(instance: Scopes) -> Iterator[Relation]:
    """`Act_i` on both scopes."""
    family = instance.family
    for expert in family.experts:
        inner, outer = (
            active(deviating(expert, family.background, scope), family.size, family.length)
            for scope in (instance.inner, instance.outer)
        )
        yield fact("R ⊂ R': Act_i on R ⊂ Act_i on R'", inner <= outer)


Case = tuple[Family, NullTokens]


def strict_or_drop(draw: Draw) -> Case:
    """Any family under `drop`, `p_i << p_b` under `strict`."""
    null: NullTokens = draw.pick(("strict", "drop"))
    return free(draw, shape(draw, zeros=True), dominated=null == "strict"), null


def opening(draw: Draw) -> Case:
    """Tokens are opened under `cancel`."""
    return one_opening(draw, Shape(2, 3, 2, zeros=True)), "cancel"


def check_own_reach(case: Case) -> Iterator[Relation]:
    """The canonical certificate on `Reach(p_i)`, on `R^`."""
    family, null = case
    reached = compose(family, null).reachable
    for expert in family.experts:
        own = reach(law_of(expert, family.size, family.length), family.length)
        yield fact("R^ ⊂ Reach(p_i)", set(reached) <= own)
        times = canonical_times(deviating(expert, family.background, own), family.size, family.length)
        first, last = ({path: pair[i] for path, pair in times.items()} for i in range(2))
        found = marks(deviating(expert, family.background, reached), family.size, family.length)
        yield fact("what certifies on Reach(p_i) certifies on R^", found <= window(first, last))


ALIKE = kernel({"": "1 0", "0": "1/2 1/2", "1": "1/2 1/2"})
OUT_OF_REACH = Family(2, 2, ALIKE, (ALIKE | kernel({"1": "1/4 3/4"}), ALIKE | kernel({"1": "3/4 1/4"})))


def check_out_of_reach(family: Family) -> Iterator[Relation]:
    """Both experts deviate at a prefix that the composition does not reach, and nowhere else."""
    scopes = {"R^": compose(family, "strict").reachable, "V^{<T}": family.prefixes}
    found = {name: [deviating(e, family.background, scope) for e in family.experts] for name, scope in scopes.items()}
    yield fact("disjoint on R^", pointwise_joint(found["R^"]))
    yield fact("not disjoint on V^{<T}", not pointwise_joint(found["V^{<T}"]))
    claims = ("pointwise_joint", "interval_joint")
    says = [tuple(verdicts(family, everywhere=everywhere)[claim] for claim in claims) for everywhere in (False, True)]
    yield equal("verify() says so", says, [(True, True), (False, False)])


STATEMENTS = (
    Statement(
        number="3.7",
        kind="remark",
        sentence="activity grows with the scope",
        equation="R ⊂ R': Act_i(R) ⊂ Act_i(R')",
        hypotheses=("R ⊂ R', prefix-closed",),
        draw=nested,
        check=check_grows,
        controls=(Control("R ⊂ R'", two_scopes),),
    ),
    Statement(
        number="3.7 own reach",
        kind="remark",
        sentence="under strict and drop a certificate on the expert's own reach is valid for the composition",
        equation="R^ ⊂ Reach(p_i): what certifies on Reach(p_i) certifies on R^",
        hypotheses=("strict (no error) or drop",),
        draw=strict_or_drop,
        check=check_own_reach,
        controls=(Control("strict or drop: cancel instead", opening),),
    ),
    Statement(
        number="3.7 out of reach",
        kind="counterexample",
        sentence="experts that meet where the composition does not go are joint on its reach, and not everywhere",
        equation="p_b(.|∅) = (1,0), p_1(.|1) = (1/4,3/4), p_2(.|1) = (3/4,1/4)",
        cases=constant(OUT_OF_REACH),
        check=check_out_of_reach,
        controls=(Control("out of reach", lambda draw: common_support(draw, Shape(2, 2, 2, zeros=False))),),
    ),
)
