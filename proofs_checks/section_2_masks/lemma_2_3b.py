"""Lemma 2.3b (EOS against FC): random length and independent blocks exclude each other across a block boundary."""

from collections.abc import Iterator
from dataclasses import replace

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Prefix, Row, law_of, prefixes
from proofs_checks.definitions.masks import background_factorizes
from proofs_checks.statement import Control, Relation, Statement, fact


def random_length(draw: Draw, *, boundary: bool = True, ends: bool = True) -> Family:
    """A background that can end or go on at some `h` of length `t - 1` and then go on, `t + 1` in another block.

    `boundary`: without it, `t` and `t + 1` are in one block, and so is everything; `ends`: without it, EOS has
    probability 0.
    """
    size, length = draw.pick(((2, 2), (2, 3), (2, 4), (3, 2), (3, 3)))
    eos, place = size - 1, draw.integer(0, length - 2)
    path = tuple(draw.integer(0, eos - 1) for _ in range(length))
    background: dict[Prefix, Row] = {}
    for h in prefixes(size, length):
        weights = [draw.integer(0, 3) for _ in range(size)]
        on_the_way = h == path[: len(h)]
        weights[path[len(h)]] += on_the_way or not any(weights)
        weights[eos] += on_the_way and len(h) == place
        if not ends:
            weights[eos] = 0
            weights[path[len(h)]] += 1
        background[h] = normalised([int(token == eos) for token in range(size)] if eos in h else weights)
    owners = [draw.integer(0, 2) for _ in range(length)]
    owners[place + 1] = (owners[place] + draw.integer(1, 2)) % 3
    if not boundary:
        owners = [owners[0]] * length
    masks = tuple(tuple(t for t, owner in enumerate(owners) if owner == i) for i in (1, 2))
    return Family(size, length, background, (background, background), masks)


def check_random_length(family: Family) -> Iterator[Relation]:
    """(a), by the laws."""
    law = law_of(family.background, family.size, family.length)
    yield fact("FC (a) fails", not background_factorizes(family, law))


def never_ending(draw: Draw) -> Family:
    """EOS has probability 0, and every position is a block's own coin."""
    family = random_length(draw, ends=False)
    coins = [normalised([*(draw.integer(1, 3) for _ in range(family.size - 1)), 0]) for _ in range(family.length)]
    background = {h: coins[len(h)] for h in family.prefixes}
    return replace(family, background=background, experts=(background, background))


STATEMENTS = (
    Statement(
        number="2.3b",
        kind="lemma",
        sentence="random length and factorized conditionals exclude each other across a block boundary",
        equation="0 < p_b(EOS|h) < 1, p_b(EOS|hy) < 1, hy EOS-free, |h| = t - 1, B(t) != B(t+1): FC (a) fails",
        draw=random_length,
        check=check_random_length,
        controls=(
            Control("B(t) != B(t+1)", lambda draw: random_length(draw, boundary=False)),
            Control("0 < p_b(EOS|h)", never_ending),
        ),
    ),
)
