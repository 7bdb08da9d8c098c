"""When composing in tokens is right for features: theory.md 6.4, 6.4' (iv), and Definition 2.1 of the pushforwards."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from factorcomp.factorization.masses import Ids, Masses, bounded, compare, differ
from factorcomp.models.feature_structure import cells, firsts
from factorcomp.models.rows import EPS

Flags = Bool[np.ndarray, " groups"]


def dependent(law: Masses, blocks: Sequence[Ids], given: Ids, groups: int) -> tuple[Flags, Flags]:
    """Given its group of sequences: where the blocks are certainly dependent, and where that is not known.

    They are independent iff all combinations of possible cells are possible, and the mass of each is the product of the
    blocks' masses (each over that of the group). `blocks`: of each sequence its cell in each block.
    """
    possible = law.values > 0
    keys, total = given[possible], Masses(law.values[possible], law.relative)
    mass = total.summed(keys, groups)
    joint, products, relative = cells(keys), None, 0.0
    combinations, varying = np.ones(groups), np.zeros(groups, dtype=int)
    for block in blocks:
        size = int(block.max(initial=0)) + 1
        own = cells(keys * size + block[possible])
        joint = cells(joint * size + block[possible])
        sums = total.summed(own)
        part = sums.values[own] / mass.values[keys]
        products = part if products is None else products * part
        relative += sums.relative + mass.relative + 2 * EPS
        count = np.bincount(keys[firsts(own)], minlength=groups)
        combinations, varying = combinations * np.maximum(count, 1), varying + (count > 1)
    at = firsts(joint)
    sums = total.summed(joint)
    missing = (np.bincount(keys[at], minlength=groups) != combinations) & (np.bincount(keys, minlength=groups) > 0)
    if products is None or not len(at):
        return np.zeros(groups, dtype=bool), np.zeros(groups, dtype=bool)
    bound = 0.0 if law.exact else bounded(relative + sums.relative + mass.relative + 2 * EPS)
    unlike = differ(sums.values / mass.values[keys[at]], products[at], bound)
    wrong = (missing & np.isfinite(bound)) | _met(keys[at], unlike, groups)
    wrong &= varying > 1
    return wrong, ~wrong & (varying > 1) & (not law.exact)


def informative(law: Masses, block: Ids, prefixes: Ids, longer: Ids, groups: int) -> tuple[Flags, Flags]:
    """At which prefixes the next token certainly informs about a block, and where that is not known.

    It does iff after some token the law of the block is another: `pi_{ha} != pi_h`. `prefixes`, `longer`: of each
    sequence its prefix, and the prefix one token longer.
    """
    possible = law.values > 0
    total, size = Masses(law.values[possible], law.relative), int(block.max(initial=0)) + 1
    here, there, block = prefixes[possible], longer[possible], block[possible]
    at_prefix, at_longer = (total.summed(ids, int(ids.max(initial=-1)) + 1) for ids in (here, there))
    own, later = cells(here * size + block), cells(there * size + block)
    before, after = total.summed(own), total.summed(later)
    at = firsts(later)
    left = after.values[later[at]] / at_longer.values[there[at]]
    right = before.values[own[at]] / at_prefix.values[here[at]]
    bound = after.relative + before.relative + at_longer.relative + at_prefix.relative + 4 * EPS
    unlike = differ(left, right, 0.0 if law.exact else bounded(bound))
    # a cell that is possible at the prefix and not after a token
    kept, had = np.bincount(there[at]), np.bincount(here[firsts(own)], minlength=groups)
    of = firsts(there)
    lost = kept[there[of]] != had[here[of]]
    wrong = _met(here[at], unlike, groups) | (_met(here[of], lost, groups) & np.isfinite(bounded(bound)))
    varying = (had > 1) & (np.bincount(here[of], minlength=groups) > 1)
    return wrong & varying, ~wrong & varying & (not law.exact)


class Factorization(NamedTuple):
    """Which condition of Definition 2.1 certainly fails, `"a"`, `"b"` or `"c"`, and of which model (0: the background).

    `unsure`: whether floats leave one open.
    """

    broken: tuple[str, int] | None
    unsure: bool


def factorized(models: Sequence[Masses], masks: Sequence[Ids], others: Sequence[Ids], rest: Ids) -> Factorization:
    """Factorized conditionals of the pushforwards, Definition 2.1, on their laws.

    (a) the blocks are independent under the background; (b) under expert i its block is independent of the other
    coordinates, which have the background's law; (c) it makes no cell of its block possible that the background does
    not.

    **Arguments:** `masks`, `others`: of each sequence its cell on the coordinates of each expert, and on all others.
    `rest`: on those of no expert.
    """
    base, *own = models
    one = np.zeros(len(rest), dtype=np.int64)
    wrong, unsure = dependent(base, [*masks, rest], one, 1)
    if wrong.any():
        return Factorization(("a", 0), False)
    open_ = bool(unsure.any())
    for m, (law, mine, other) in enumerate(zip(own, masks, others, strict=True), start=1):
        wrong, unsure = dependent(law, [mine, other], one, 1)
        same = compare(law.summed(other), base.summed(other))
        if wrong.any() or same.differ:
            return Factorization(("b", m), False)
        if law.sound and base.sound and ((law.summed(mine).values > 0) & ~(base.summed(mine).values > 0)).any():
            return Factorization(("c", m), False)
        open_ |= bool(unsure.any()) or same.differ is None
    return Factorization(None, open_)


def _met(groups_of: Ids, flags: Bool[np.ndarray, " _"], groups: int) -> Bool[np.ndarray, " _"]:
    """The groups that hold a flag which is up."""
    return np.bincount(groups_of[flags], minlength=groups) > 0
