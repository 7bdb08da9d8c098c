"""Definition 4.1 (JF-pt, JF-int), Theorem 4.2 (how they compare, and how to decide them), CE 4.3 (interleaving)."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, common_support, interval_joint
from factorcomp.testing.families import pointwise_joint as pointwise_joint_family
from proofs_checks.definitions.laws import Prefix, prefixes
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.skills import active, deviating, pointwise_joint, runs, switching
from proofs_checks.definitions.stopping import Window, marks, sets_of_prefixes, windows
from proofs_checks.library import verdicts
from proofs_checks.statement import Control, Relation, Statement, constant, equal, fact

Deviations = frozenset[Prefix]
Sets = tuple[int, int, tuple[Deviations, ...]]
"""`|V|`, `T`, and the deviations of every expert."""


@cache
def certified(size: int, length: int, found: Deviations) -> tuple[Window, ...]:
    """Every interval that certifies."""
    deviations = marks(found, size, length)
    return tuple({one for one in windows(size, length) if deviations <= one})


def disjoint_certificates(sets: Sets) -> bool:
    """JF-int as it is defined: certificates that are pairwise disjoint on every path, looked for among all."""
    size, length, experts = sets

    def choose(left: tuple[Deviations, ...], taken: Window) -> bool:
        if not left:
            return True
        return any(taken.isdisjoint(one) and choose(left[1:], taken | one) for one in certified(size, length, left[0]))

    return choose(experts, frozenset())


def disjoint_activities(sets: Sets) -> bool:
    """`Act_i ∩ Act_j = ∅`."""
    size, length, experts = sets
    return pointwise_joint([active(found, size, length) for found in experts])


def small_sets(draw: Draw) -> Sets:
    """Two or three experts on a small tree."""
    size, length, k = draw.pick(((2, 2, 3), (2, 3, 2), (2, 3, 3), (3, 2, 2), (1, 3, 3)))
    return size, length, tuple(draw.pick(sets_of_prefixes(size, length)) for _ in range(k))


def two_experts(draw: Draw) -> Sets:
    """On the binary tree with three steps."""
    return 2, 3, (draw.pick(sets_of_prefixes(2, 3)), draw.pick(sets_of_prefixes(2, 3)))


def joint_or_not(draw: Draw) -> Family:
    """JF-int, JF-pt, or neither; two experts, so that all certificates can be tried."""
    recipe = draw.pick((interval_joint, pointwise_joint_family, common_support))
    size, length = draw.pick(((2, 2), (2, 3), (3, 2)))
    return recipe(draw, Shape(size, length, 2, draw.one_in(2)))


def check_definition(family: Family) -> Iterator[Relation]:
    """The definitions, certificates tried one by one, against the library on both scopes."""
    for everywhere, scope in ((False, compose(family).reachable), (True, tuple(family.prefixes))):
        found = tuple(frozenset(deviating(expert, family.background, scope)) for expert in family.experts)
        says = verdicts(family, everywhere=everywhere)
        if says["well_defined"]:
            yield equal(
                "verify(): pointwise_joint iff Dev_i ∩ Dev_j = ∅", says["pointwise_joint"], not found[0] & found[1]
            )
            joint = disjoint_certificates((family.size, family.length, found))
            yield equal("verify(): interval_joint iff there are disjoint certificates", says["interval_joint"], joint)


def check_canonical(sets: Sets) -> Iterator[Relation]:
    """Certificates tried one by one against activities; both implications."""
    size, length, experts = sets
    joint = disjoint_activities(sets)
    yield equal("JF-int iff Act_i ∩ Act_j = ∅", disjoint_certificates(sets), joint)
    pointwise = pointwise_joint(experts)
    yield fact("JF-int => JF-pt", pointwise or not joint)
    if pointwise and all(runs(found, size, length) <= 1 for found in experts):
        yield fact("JF-pt, all gap-free => JF-int", joint)


def check_pointwise_enough(sets: Sets) -> Iterator[Relation]:
    """False: JF-pt is JF-int."""
    yield equal("JF-int iff JF-pt", disjoint_activities(sets), pointwise_joint(sets[2]))


def check_gap_free_once(sets: Sets) -> Iterator[Relation]:
    """False: one gap-free expert is enough."""
    size, length, experts = sets
    if pointwise_joint(experts) and any(runs(found, size, length) <= 1 for found in experts):
        yield fact("JF-pt, one gap-free => JF-int", disjoint_activities(sets))


def every_pair(size: int, length: int) -> list[Sets]:
    """All ordered pairs of deviation sets."""
    sets = sets_of_prefixes(size, length)
    return [(size, length, pair) for pair in product(sets, sets)]


def check_numbers(_: None) -> Iterator[Relation]:
    """The ordered pairs of deviation sets of the binary tree with three steps."""
    sets = sets_of_prefixes(2, 3)
    activities = [active(found, 2, 3) for found in sets]
    yield equal("2,187 ordered pairs are JF-pt", sum(not a & b for a in sets for b in sets), 2187)
    yield equal("1,697 are JF-int", sum(not a & b for a in activities for b in activities), 1697)
    by_search = sum(
        any(a.isdisjoint(b) for a in certified(2, 3, one) for b in certified(2, 3, other))
        for one in sets
        for other in sets
    )
    yield equal("1,697 have disjoint certificates", by_search, 1697)


INTERLEAVING: Sets = (2, 3, (frozenset({(), (0, 0)}), frozenset({(0,)})))


def realised(sets: Sets) -> Family:
    """A uniform background, and experts that double the last token's odds where they deviate."""
    size, length, experts = sets
    even = (Fraction(1, size),) * size
    more = tuple(Fraction(1 + (y == size - 1), size + 1) for y in range(size))
    every = prefixes(size, length)
    kernels = tuple({h: more if h in found else even for h in every} for found in experts)
    return Family(size, length, dict.fromkeys(every, even), kernels)


def check_interleaving(sets: Sets) -> Iterator[Relation]:
    """JF-pt without JF-int; the composition is exact."""
    yield fact("JF-pt", pointwise_joint(sets[2]))
    yield fact("no two certificates are disjoint", not disjoint_certificates(sets))
    family = realised(sets)
    yield equal("p^ is the switching model", compose(family).kernel, switching(family, family.prefixes))
    says = verdicts(family)
    claims = says["pointwise_joint"], says["interval_joint"], says["exact_switching"]
    yield equal("verify(): joint by prefix, not by interval, exact", claims, (True, False, True))


def check_smaller(sets: Sets) -> Iterator[Relation]:
    """No interleaving."""
    yield equal("JF-pt iff JF-int", pointwise_joint(sets[2]), disjoint_certificates(sets))


STATEMENTS = (
    Statement(
        number="4.1",
        kind="definition",
        sentence="jointly factorizable by prefix: no two deviate; by interval: disjoint certificates on every path",
        equation="JF-pt: Dev_i ∩ Dev_j = ∅;   JF-int: certificates with disjoint intervals",
        cases=lambda: [realised(INTERLEAVING)],
        draw=joint_or_not,
        check=check_definition,
        controls=(Control("interval: prefix instead", two_experts, check_pointwise_enough),),
        weight=8,
    ),
    Statement(
        number="4.2",
        kind="theorem",
        sentence="intervals are disjoint iff activities are; then prefixes are; without gaps it is all one",
        equation="JF-int iff Act_i ∩ Act_j = ∅;  JF-int => JF-pt;  JF-pt, all gap-free => JF-int",
        cases=lambda: [*every_pair(2, 2), *every_pair(1, 3)],
        draw=small_sets,
        check=check_canonical,
        controls=(
            Control("JF-int: JF-pt instead", two_experts, check_pointwise_enough),
            Control("every expert gap-free: one instead", small_sets, check_gap_free_once),
        ),
    ),
    Statement(
        number="4.2 count",
        kind="remark",
        sentence="on three binary steps 2,187 ordered pairs of deviation sets are JF-pt, 1,697 JF-int",
        equation="2,187 = 3^7;  1,697",
        cases=constant(None),
        check=check_numbers,
        controls=(Control("intervals", two_experts, check_pointwise_enough),),
    ),
    Statement(
        number="4.3",
        kind="counterexample",
        sentence="interleaving experts are joint by prefix, not by interval, and compose exactly",
        equation="Dev_1 = {∅, 00}, Dev_2 = {0}",
        cases=constant(INTERLEAVING),
        check=check_interleaving,
        controls=(Control("interleaving", lambda draw: (2, 3, (frozenset({()}), frozenset({(0,)})))),),
    ),
    Statement(
        number="4.3 smallest",
        kind="remark",
        sentence="with two steps there is no interleaving",
        equation="T = 2: JF-pt iff JF-int",
        cases=lambda: every_pair(2, 2),
        draw=lambda draw: (3, 2, tuple(draw.pick(sets_of_prefixes(3, 2)) for _ in range(draw.integer(2, 3)))),
        check=check_smaller,
        controls=(Control("T = 2", lambda _: INTERLEAVING),),
    ),
)
