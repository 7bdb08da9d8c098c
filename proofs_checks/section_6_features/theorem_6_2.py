"""Theorem 6.2 (local): composing step by step commutes with a map of the sequences iff it relabels token by token."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, seeded
from factorcomp.testing.families import Family, Shape, common_support, free
from proofs_checks.definitions.features import (
    Map,
    any_map,
    family_of,
    in_features,
    is_tree_isomorphism,
    maps_up_to_tree,
    swapped,
    tree_isomorphism,
    tree_isomorphisms,
)
from proofs_checks.definitions.laws import Prefix, prefixes, pushforward, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, equal

SHAPES = [(2, 2), (2, 3), (3, 2), (2, 1), (3, 1), (1, 2)]


@dataclass(frozen=True)
class Mapped:
    """A family and a map of its sequences."""

    family: Family
    features: Map


@dataclass(frozen=True)
class Bijection:
    """A map of `V^T`, to be judged for `experts` experts."""

    size: int
    length: int
    features: Map
    experts: int = 2


def commutes(family: Family, features: Map) -> bool:
    """`C_L[D#P] = D#C_L[P]`."""
    there = compose(in_features(family, features)).local
    return there == pushforward(compose(family).local, features.__getitem__)


def relabelled(draw: Draw) -> Mapped:
    """A tree isomorphism and models of one support at every prefix, zeros included."""
    size, length = draw.pick(SHAPES)
    family = common_support(draw, Shape(size, length, draw.integer(2, 3), zeros=draw.one_in(2)))
    return Mapped(family, tree_isomorphism(draw, size, length))


def check_commutes(case: Mapped) -> Iterator[Relation]:
    """(<=) Kernels are relabelled, `Z` is the same."""
    family, features = case.family, case.features
    here, mapped = compose(family), in_features(family, features)
    there = compose(mapped)
    yield equal("C_L[D#P] = D#C_L[P]", there.local, pushforward(here.local, features.__getitem__))
    images = {y[:step]: z[:step] for y, z in features.items() for step in range(family.length + 1)}
    for h in here.reachable:
        yield equal("Z is the same", there.normalizer[images[h]], here.normalizer[h])
        row = tuple(mapped.background[images[h]][images[*h, y][-1]] for y in range(family.size))
        yield equal("kernels are relabelled", row, family.background[h])


def without_relabelling(draw: Draw) -> Mapped:
    """Any map."""
    return Mapped(common_support(draw, Shape(2, 2, 2, zeros=False)), any_map(draw, 2, 2))


def witness(size: int, length: int, prefix: Prefix, one: int, other: int, experts: int) -> Family:
    """The proof's models: a uniform background, experts raised below one child, lowered below another."""
    leaves = sequences(size, length)
    uniform = Fraction(1, len(leaves))
    sign = {(*prefix, one): Fraction(1, 2), (*prefix, other): Fraction(-1, 2)}
    raised = {y: uniform * (1 + sign.get(y[: len(prefix) + 1], 0)) for y in leaves}
    return family_of([dict.fromkeys(leaves, uniform), *[raised] * experts], size, length)


def check_only(case: Bijection) -> Iterator[Relation]:
    """(=>) The proof's models find every map that is no tree isomorphism."""
    found = all(
        commutes(witness(case.size, case.length, h, 0, other, case.experts), case.features)
        for h in reversed(prefixes(case.size, case.length))
        for other in range(1, case.size)
    )
    isomorphism = is_tree_isomorphism(case.features, case.length)
    yield equal("commutes for the proof's models iff D is a tree isomorphism", found, isomorphism)


def bijection(draw: Draw) -> Bijection:
    """A tree isomorphism, one with two images exchanged, or any map; `k = 2` or 3."""
    size, length = draw.pick(SHAPES)
    features = tree_isomorphism(draw, size, length)
    if size**length > 1 and draw.one_in(2):
        features = swapped(draw, features) if draw.one_in(2) else any_map(draw, size, length)
    return Bijection(size, length, features, draw.integer(2, 3))


def one_expert(draw: Draw) -> Bijection:
    """`k = 1`: the composition is the expert, and every map commutes."""
    return Bijection(2, 2, any_map(draw, 2, 2), experts=1)


COUNTS = {(2, 2): (8, 24), (2, 3): (128, 40_320), (3, 2): (1_296, 362_880)}


def check_count(of: tuple[int, int]) -> Iterator[Relation]:
    """All bijections, one of each class `D∘A`: to commute is a property of the class, for (<=) holds of `A`."""
    size, length = of
    isomorphisms = {tuple(features.values()) for features in tree_isomorphisms(size, length)}
    formula = math.prod(math.factorial(size) ** size**step for step in range(length))
    yield equal("prod_t (|V|!)^(|V|^(t-1)) tree isomorphisms", len(isomorphisms), formula)
    classes = list(maps_up_to_tree(size, length))
    generic = free(seeded("generic"), Shape(size, length, 2, zeros=False))
    commuting = [features for features in classes if commutes(generic, features)]
    yield equal("those that commute are tree isomorphisms", [is_tree_isomorphism(f, length) for f in commuting], [True])
    counted = (len(commuting) * len(isomorphisms), len(classes) * len(isomorphisms))
    yield equal(f"{COUNTS[of][0]:,} of {COUNTS[of][1]:,} bijections", counted, COUNTS[of])


def check_every_map(of: tuple[int, int]) -> Iterator[Relation]:
    """False: every bijection commutes."""
    generic = free(seeded("generic"), Shape(*of, 2, zeros=False))
    for features in maps_up_to_tree(*of):
        yield equal("C_L[D#P] = D#C_L[P]", commutes(generic, features), True)


STATEMENTS = (
    Statement(
        number="6.2 (<=)",
        kind="theorem",
        sentence="composing step by step commutes with prefix-dependent relabellings",
        equation="C_L[D#P_b, D#P_i] = D#C_L[P_b, P_i]",
        hypotheses=("D a prefix-tree isomorphism", "one support at every prefix"),
        draw=relabelled,
        check=check_commutes,
        controls=(Control("D a prefix-tree isomorphism", without_relabelling),),
    ),
    Statement(
        number="6.2 (=>)",
        kind="theorem",
        sentence="and with nothing else: two models that differ at siblings find every other map",
        equation="C_L[D#P_b, D#P_i] = D#C_L[P_b, P_i] for all full-support models  =>  D a prefix-tree isomorphism",
        hypotheses=("W = V^T", "k >= 2"),
        draw=bijection,
        check=check_only,
        controls=(Control("k >= 2", one_expert),),
    ),
    Statement(
        number="6.2 counts",
        kind="theorem",
        sentence="of all bijections exactly the tree isomorphisms commute",
        equation="8 of 24 (|V|=2, T=2), 128 of 40,320 (2, 3), 1,296 of 362,880 (3, 2)",
        cases=lambda: COUNTS,
        check=check_count,
        controls=(Control("tree isomorphisms", lambda draw: draw.pick([(2, 2)]), check_every_map),),
        not_checked="one map of each class {D∘A: A a tree isomorphism} is tried, on one generic pair of experts",
    ),
)
