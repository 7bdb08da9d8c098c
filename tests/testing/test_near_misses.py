"""Each near miss breaks the clause that it names, and no other: by the definitions, prefix by prefix, and by verify."""

from itertools import combinations

import pytest
from hypothesis import given, settings

import factorcomp
from factorcomp.testing import families_of, near_misses_of
from factorcomp.testing.drawing import seeded
from factorcomp.testing.families import hard_constraints, shape
from factorcomp.testing.near_misses import NEAR_MISSES
from factorcomp.testing.strategies import FAMILIES
from proofs_checks.definitions.laws import law_of, support
from proofs_checks.definitions.masks import background_factorizes, factorized_conditionals, mask_agreement
from proofs_checks.definitions.masks import dominated as mask_dominated
from proofs_checks.definitions.skills import active, deviating, pointwise_joint


def law(kernel, family):
    return law_of(kernel, family.size, family.length)


def reached(kernel, family):
    return [h for h in family.prefixes if all(kernel[h[:t]][y] for t, y in enumerate(h))]


def own(h, positions):
    return tuple(h[p] for p in positions if p < len(h))


def is_function_of_block(rows, blocks):
    """Rows `(prefix, row)`: one row for each position and history on its block."""
    known = {}
    return all(known.setdefault((len(h), own(h, blocks[len(h)])), row) == row for h, row in rows)


def clauses(family):
    """Which clauses hold, literally (2.3): (I2) of some function of the block, the background's where it is one."""
    base, sets = family.background, [deviating(e, family.background, family.prefixes) for e in family.experts]
    found = {
        "pointwise_joint": pointwise_joint(sets),
        "interval_joint": pointwise_joint([active(s, family.size, family.length) for s in sets]),
        "absolute_continuity": all(support(e[h]) <= support(base[h]) for e in family.experts for h in family.prefixes),
    }
    if not family.masks:
        return found
    blocks = [family.block(t) for t in range(family.length)]
    background = [(h, base[h]) for h in reached(base, family)]
    off = [
        (h, e[h])
        for e, m in zip(family.experts, family.masks, strict=True)
        for h in reached(e, family)
        if len(h) not in m
    ]
    found["(B)"] = is_function_of_block(background, blocks)
    found["(I1)"] = all(
        is_function_of_block([(h, e[h]) for h in reached(e, family) if len(h) in m], blocks)
        for e, m in zip(family.experts, family.masks, strict=True)
    )
    found["(I2)"] = (
        is_function_of_block(off, blocks) if not found["(B)"] else is_function_of_block(background + off, blocks)
    )
    laws = [law(e, family) for e in family.experts]
    found["(c)"] = all(mask_dominated(family, i, law(base, family), one) for i, one in enumerate(laws))
    found["mask_agreement"] = mask_agreement(family, family.prefixes)
    assert found["(B)"] == background_factorizes(family, law(base, family))
    assert factorized_conditionals(family) == all(found[name] for name in ("(B)", "(I1)", "(I2)", "(c)"))
    return found


ALSO = {"pointwise_joint": {"interval_joint"}}
"""What cannot hold without the clause."""
SCOPE = {
    "pointwise_joint": {"pointwise_joint", "interval_joint", "absolute_continuity"},
    "interval_joint": {"pointwise_joint", "interval_joint", "absolute_continuity"},
    "absolute_continuity": {"pointwise_joint", "absolute_continuity"},
    "mask_agreement": {"mask_agreement", "absolute_continuity"},
    **{clause: {"(B)", "(I1)", "(I2)", "(c)"} for clause in ("(B)", "(I1)", "(I2)", "(c)")},
}
"""The clauses among which exactly one is broken."""


@pytest.mark.parametrize("clause", NEAR_MISSES)
def test_a_near_miss_breaks_its_clause_alone(clause):
    draw = seeded(clause)
    for _ in range(60):
        family = NEAR_MISSES[clause](draw)
        found = clauses(family)
        broken = {name for name in SCOPE[clause] if not found[name]}
        assert broken == {clause} | ALSO.get(clause, set()), family


CLAIM = {
    "pointwise_joint": "pointwise_joint",
    "interval_joint": "interval_joint",
    "mask_agreement": "mask_agreement",
    **dict.fromkeys(["(B)", "(I1)", "(I2)", "(c)"], "factorized_conditionals"),
}


@pytest.mark.parametrize("clause", CLAIM)
def test_verify_refutes_it(clause):
    draw = seeded(clause)
    for _ in range(8):
        family = NEAR_MISSES[clause](draw)
        background, experts = family.models()
        masks = family.named_masks() or None
        report = factorcomp.verify(background, experts, masks=masks, scope="all", require=[CLAIM[clause]])
        assert report.verdict is factorcomp.Verdict.REFUTED, family


HOLDS = {
    "pointwise_joint": ["pointwise_joint"],
    "interval_joint": ["pointwise_joint", "interval_joint"],
    "mask_agreement": ["mask_agreement"],
    "factorized_conditionals": ["(B)", "(I1)", "(I2)", "(c)"],
    "composable": ["absolute_continuity"],
    "hard_constraints": ["absolute_continuity"],
}


@pytest.mark.parametrize("kind", HOLDS)
def test_what_a_family_is_named_after_holds(kind):
    draw = seeded(kind)
    for _ in range(60):
        family = FAMILIES[kind](draw, shape(draw, sizes=(1, 3)))
        found = clauses(family)
        assert all(found[name] for name in HOLDS[kind]), family


def test_experts_of_hard_constraints_share_a_token():
    draw = seeded(0)
    for _ in range(60):
        family = hard_constraints(draw, shape(draw))
        for h in family.prefixes:
            assert set.intersection(*(support(expert[h]) for expert in family.experts))
            for one, other in combinations(support(family.background[h]), 2):
                base = family.background[h]
                for expert in family.experts:
                    if expert[h][one] and expert[h][other]:
                        assert expert[h][one] / expert[h][other] == base[one] / base[other]


@settings(max_examples=5)
@given(near_misses_of("(I1)"), families_of("factorized_conditionals"))
def test_both_are_strategies(near, right):
    assert not factorized_conditionals(near)
    assert factorized_conditionals(right)


@pytest.mark.parametrize(
    ("make", "message"), [(families_of, "kind: got 'x'; needed one of"), (near_misses_of, "clause: got")]
)
def test_an_unknown_name_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make("x")
