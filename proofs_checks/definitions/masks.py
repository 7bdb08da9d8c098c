"""Factorized conditionals and mask agreement: theory.md 2.1, 2.6."""

from collections.abc import Iterable

from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Kernel, Law, Prefix, law_of, law_tv, marginal, product_law


def background_factorizes(family: Family, law: Law) -> bool:
    """(a) `P_b` is the product of its marginals on the masks and on `M_b`."""
    blocks = [block for block in (*family.masks, family.background_positions) if block]
    return law_tv(law, product_law({block: marginal(law, block) for block in blocks}, family.length)) == 0


def expert_factorizes(family: Family, expert: int, background: Law, law: Law) -> bool:
    """(b) `P_i = P_i^{M_i} ⊗ P_b^{M_i^c}`."""
    mask = family.masks[expert]
    rest = tuple(position for position in range(family.length) if position not in mask)
    factors = {block: marginal(one, block) for block, one in ((mask, law), (rest, background)) if block}
    return law_tv(law, product_law(factors, family.length)) == 0


def dominated(family: Family, expert: int, background: Law, law: Law) -> bool:
    """(c) `P_i^{M_i} << P_b^{M_i}`."""
    return marginal(law, family.masks[expert]).keys() <= marginal(background, family.masks[expert]).keys()


def factorized_conditionals(family: Family) -> bool:
    """FC, by the laws (2.1): (a), and (b) and (c) for each expert."""
    background = law_of(family.background, family.size, family.length)
    laws = [law_of(expert, family.size, family.length) for expert in family.experts]
    return background_factorizes(family, background) and all(
        expert_factorizes(family, i, background, law) and dominated(family, i, background, law)
        for i, law in enumerate(laws)
    )


def mask_agreement(family: Family, scope: Iterable[Prefix]) -> bool:
    """MA (2.6a): off its mask an expert's kernel is the background's, on the scope."""
    prefixes = list(scope)

    def agrees(expert: Kernel, mask: tuple[int, ...]) -> bool:
        return all(expert[h] == family.background[h] for h in prefixes if len(h) not in mask)

    return all(agrees(expert, mask) for expert, mask in zip(family.experts, family.masks, strict=True))
