"""Open point 13.1: Theorem 6.4' without independent feature blocks under the background.

Nothing here is claimed as proved: two conjectures with a search that found nothing against them, and what of 6.4' was
never seen to fail without its hypothesis.

That `D#P_L` is the product target for all tilts asks for independent blocks by itself: without any tilt `P_L = P_b`.
That `Z = 1` for all tilts is (iv), it seems, whatever `P_b`. Two questions are left.

*One law.* For which `P_b` and `D` is the token sampler the global composition, for all tilts? Conjecture: split the
experts into the finest groups that are independent of each other under `P_b`. A prefix leaves a group of two or more
untouched (the law of its features is still that at the root) or makes its blocks independent, and siblings do the same;
what is independent stays so; groups and blocks are independent of each other given every prefix. For independent
blocks, groups of one, that is (iv) of 6.4'.

*Projectivity.* Can `P_L` keep the marginal of every block for all tilts though the blocks are dependent? For tokens
2.4' says no. With one expert tilted alone it follows that blocks are independent in pairs; so the search is among laws
that are independent in pairs and not altogether.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from factorcomp.testing.drawing import Draw, normalised
from proofs_checks.definitions.features import (
    Featured,
    any_map,
    feature_masks,
    rectangle_protocol,
    reordered,
    swapped,
    tilted_in_features,
    tree_isomorphism,
)
from proofs_checks.definitions.laws import ONE, Law, Prefix, marginal, product_law, pushforward, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.section_6_features.theorem_6_4_prime import mixes, stay_independent
from proofs_checks.statement import Control, Relation, Statement, equal, fact

Group = tuple[int, ...]


def of_group(joint: Law, group: Group) -> Law:
    """The law of a group's cells."""
    return pushforward(joint, lambda cells: tuple(cells[i] for i in group))


def independent_groups(joint: Law, group: Group) -> list[Group]:
    """The finest partition of the group into parts that are independent of each other."""
    for size in range(1, len(group) // 2 + 1):
        for part in combinations(group, size):
            rest = tuple(i for i in group if i not in part)
            factors = {part: of_group(joint, part), rest: of_group(joint, rest)}
            if group_product(factors) == of_group(joint, group):
                return independent_groups(joint, part) + independent_groups(joint, rest)
    return [group]


def group_product(factors: dict[Group, Law]) -> Law:
    """Independent groups with these laws, the experts in order."""
    joint: dict[tuple[tuple[int, Prefix], ...], Fraction] = {(): ONE}
    for group, law in factors.items():
        joint = {
            (*known, *zip(group, cells, strict=True)): mass * more
            for known, mass in joint.items()
            for cells, more in law.items()
        }
    return {tuple(cell for _, cell in sorted(cells)): mass for cells, mass in joint.items()}


def conjectured(case: Featured) -> bool:
    """Prefixes say nothing about a group, or make it independent for good, siblings alike."""
    root, experts = case.joint(()), range(len(case.masks))
    groups = [group for group in independent_groups(root, tuple(experts)) if len(group) > 1]
    untouched: dict[Prefix, frozenset[Group]] = {}
    for h in case.reachable:
        joint = case.joint(h)
        untouched[h] = frozenset(g for g in groups if of_group(joint, g) == of_group(root, g))
        rest = [i for i in experts if not any(i in group for group in untouched[h])]
        factors = {group: of_group(root, group) for group in untouched[h]} | {(i,): of_group(joint, (i,)) for i in rest}
        if group_product(factors) != joint:
            return False
        if h and not untouched[h] <= untouched[h[:-1]]:
            return False
    siblings: dict[Prefix, set[frozenset[Group]]] = {}
    for h, still in untouched.items():
        if h:
            siblings.setdefault(h[:-1], set()).add(still)
    return all(len(kinds) == 1 for kinds in siblings.values()) and not any(
        still for h, still in untouched.items() if len(h) == case.length
    )


def check_one_law(case: Featured) -> Iterator[Relation]:
    """A generic tilt against the conjecture."""
    composed = compose(case.tokens)
    yield equal("P_L = P_G iff as conjectured", composed.local == composed.global_, conjectured(case))


def check_as_in_6_4_prime(case: Featured) -> Iterator[Relation]:
    """False: the condition of 6.4' without its hypothesis."""
    composed = compose(case.tokens)
    yield equal("P_L = P_G iff (iv)", composed.local == composed.global_, stay_independent(case))


def check_normalizer(case: Featured) -> Iterator[Relation]:
    """(ii) and (iii) against (iv)."""
    composed, independent = compose(case.tokens), stay_independent(case)
    inner = [h for h in case.reachable if len(h) < case.length]
    yield equal("Z = 1 on Reach(p_b) iff (iv)", all(composed.normalizer[h] == 1 for h in inner), independent)
    yield equal("(iii) iff (iv)", all(mixes(case, h) for h in inner), independent)


def check_target(case: Featured) -> Iterator[Relation]:
    """False: (i) against (iv)."""
    local = case.pushed(compose(case.tokens).local)
    yield equal("D#P_L is the target iff (iv)", local == case.target, stay_independent(case))


def any_background(draw: Draw) -> Featured:
    """Any law of the features, or two independent ones; maps as in 6.4'."""
    size, length = draw.pick([(2, 2), (2, 3), (3, 2), (2, 1)])
    masks = feature_masks(draw, length, draw.integer(1, 3))
    kind = draw.integer(0, 3)
    if kind == 0:
        features = reordered(draw, tree_isomorphism(draw, size, length), length)
    elif kind == 1:
        features = rectangle_protocol(draw, size, length, masks)
    else:
        features = any_map(draw, size, length)
    if kind == 3:
        features = swapped(draw, features)
    return tilted_in_features(draw, Featured(size, length, features, masks, (background(draw, size, length),)))


def background(draw: Draw, size: int, length: int) -> Law:
    """A law of two sets of positions, independent of each other."""
    order = draw.shuffled(range(length))
    cut = draw.integer(0, length)
    parts = {}
    for part in (tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))):
        if part:
            cells = sequences(size, len(part))
            row = draw.row(len(cells), zeros=draw.one_in(2))
            parts[part] = {cell: mass for cell, mass in zip(cells, row, strict=True) if mass}
    return product_law(parts, length)


def check_projective(case: Featured) -> Iterator[Relation]:
    """A generic tilt: some block loses its marginal."""
    local = case.pushed(compose(case.tokens).local)
    owners = zip(case.blocks, (*case.laws[1:], case.laws[0]), strict=True)
    kept = all(marginal(local, block) == marginal(law, block) for block, law in owners if block)
    yield fact("some block loses its marginal", not kept)


def independent_in_pairs(draw: Draw, *, altogether: bool = False) -> Featured:
    """Three bits, `P_b = prod of marginals + c (-1)^(z_1+z_2+z_3)`, `c != 0`; any map; three masks, or two."""
    chances = [Fraction(draw.integer(1, 3), 4) for _ in range(3)]
    base = dict.fromkeys(sequences(2, 3), ONE)
    for position, chance in enumerate(chances):
        base = {z: mass * (chance if z[position] else 1 - chance) for z, mass in base.items()}
    strength = min(base.values()) * Fraction(draw.integer(1, 4), 4) * (-1 if draw.one_in(2) else 1)
    law = {z: mass + (0 if altogether else strength) * (-1) ** sum(z) for z, mass in base.items()}
    masks = draw.pick([((0,), (1,), (2,)), ((0,), (1,)), ((0,), (2,)), ((1,), (2,))])
    features = any_map(draw, 2, 3) if draw.one_in(2) else reordered(draw, tree_isomorphism(draw, 2, 3), 3)
    background_law = {z: mass for z, mass in law.items() if mass}
    return tilted_in_features(draw, Featured(2, 3, features, masks, (background_law,)))


def dependent_chain(draw: Draw) -> Featured:
    """Two features read one after the other, dependent under the background."""
    law = dict(zip(sequences(2, 2), normalised([draw.integer(1, 4) for _ in range(4)]), strict=True))
    case = Featured(2, 2, tree_isomorphism(draw, 2, 2), ((0,), (1,)), (law,))
    return tilted_in_features(draw, case)


def one_tilt(draw: Draw) -> Featured:
    """Only the first expert is tilted."""
    case = any_background(draw)
    return replace(case, laws=(*case.laws[:2], *[case.laws[0]] * (len(case.laws) - 2)))


STATEMENTS = (
    Statement(
        number="13.1",
        kind="open point",
        sentence="open: when the sampler is the global composition for all tilts; a conjecture that a search supports",
        equation="P_L = P_G for all tilts iff π_h = ⊗_{g untouched} π^g_∅ ⊗ ⊗_{i not} π^i_h, siblings alike, for good",
        hypotheses=("P_i ∝ P_b f_i(z_{M_i}), f_i > 0", "P_b any law of the features"),
        draw=any_background,
        check=check_one_law,
        controls=(
            Control("groups: (iv) of 6.4' as it stands", dependent_chain, check_as_in_6_4_prime),
            Control("for all tilts", one_tilt),
        ),
        not_checked=(
            "beyond a search that met no exception: every law with weights 0..3 under all 24 maps of |V| = T = 2; "
            "87,570 cases of three bits with weights 0, 1 or 1, 2; 10,721 random ones of (|V|, T) = (2, 3), (3, 2). "
            "No proof is given here"
        ),
    ),
    Statement(
        number="13.1 normalizer",
        kind="open point",
        sentence="open: which parts of 6.4' need independent blocks; (ii), (iii) and (iv) were never seen to differ",
        equation="Z = 1 for all tilts iff sum_a p_b(a|h) ⊗π^i_{ha} = ⊗π^i_h iff π_h = ⊗π^i_h, h in Reach(p_b)",
        hypotheses=("P_i ∝ P_b f_i(z_{M_i}), f_i > 0", "P_b any law of the features"),
        draw=any_background,
        check=check_normalizer,
        controls=(Control("Z = 1: that D#P_L is the target", any_background, check_target),),
        not_checked="all tilts: one with random factors of six digits stands for them. No proof is given here",
    ),
    Statement(
        number="13.1 projective",
        kind="open point",
        sentence="open: whether dependent blocks can all keep their marginals for all tilts; a search found none",
        equation="P_L^{z_M} = P_i^{z_M} on all blocks for all tilts  =>  the blocks are independent under P_b",
        hypotheses=("three bits, independent in pairs and not altogether",),
        draw=independent_in_pairs,
        check=check_projective,
        controls=(Control("not altogether", lambda draw: independent_in_pairs(draw, altogether=True)),),
        not_checked=(
            "beyond 16 laws × 4 layouts × all maps of three bits (by their 315 classes), and 4,000 random cases of "
            "four bits, where there is none. No proof is given here"
        ),
    ),
)
