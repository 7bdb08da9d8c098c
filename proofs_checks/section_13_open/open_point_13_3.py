"""Open point 13.3: "smallest" means that small grids, and the trivial cases, have nothing smaller.

Each search goes through everything below the size that the theory states, on rows with `p(1)` in {0, 1/4, 1/2, 1}, or
on all sets of deviations; the negative control lets the same search find the counterexample at the stated size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product

from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Prefix, conditionals, law_of, marginal, prefixes, pushforward, sequences
from proofs_checks.definitions.masks import mask_agreement
from proofs_checks.definitions.operator import Composition, compose
from proofs_checks.definitions.skills import active, pointwise_joint
from proofs_checks.statement import Control, Relation, Statement, fact

SHARES = (Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(1))


@dataclass(frozen=True)
class Search:
    """What is looked for, where; `finds` says of one candidate after the other whether it is such."""

    claim: str
    where: str
    finds: Callable[[], Iterator[bool]]


def families(length: int, experts: int) -> Iterator[Family]:
    """All families over two tokens with rows of the grid; without 1/2 for one expert, of which there are many."""
    known = prefixes(2, length)
    grid = [(1 - share, share) for share in SHARES[experts == 1 :]]
    for rows in product(grid, repeat=len(known) * (experts + 1)):
        background, *others = (
            dict(zip(known, rows[start : start + len(known)], strict=True)) for start in range(0, len(rows), len(known))
        )
        yield Family(2, length, background, tuple(others))


def valid(composed: Composition) -> bool:
    """No error on `R^`."""
    return not any(h in composed.undefined for h in composed.reachable)


def dies_locally(family: Family) -> bool:
    """1.4: a dead prefix, and a global law."""
    composed = compose(family, "strict")
    return valid(composed) and bool(composed.dead) and composed.global_normalizer > 0


def local_is_not_global(family: Family) -> bool:
    """1.6: two laws."""
    composed = compose(family, "strict")
    return valid(composed) and composed.well_defined and composed.local != composed.global_


def agrees_and_drifts(family: Family) -> bool:
    """2.8: mask agreement, and a marginal on a mask that is not the expert's."""
    composed = compose(family, "cancel")
    if not composed.well_defined:
        return False
    laws = [law_of(expert, 2, family.length) for expert in family.experts]
    for owners in product(range(len(family.experts) + 1), repeat=family.length):
        masks = tuple(
            tuple(t for t, owner in enumerate(owners) if owner == i) for i in range(1, len(family.experts) + 1)
        )
        masked = replace(family, masks=masks)
        if mask_agreement(masked, family.prefixes):
            for mask, law in zip(masks, laws, strict=True):
                if marginal(composed.local, mask) != marginal(law, mask):
                    return True
    return False


def does_not_commute(family: Family) -> bool:
    """6.3: a bijection of the sequences with which local composition does not commute."""
    if len(family.experts) == 2 and family.background in family.experts:
        return False  # It changes nothing, and one expert composes to itself.
    composed = compose(family, "strict")
    if not valid(composed) or not composed.well_defined:
        return False
    outcomes = sequences(2, family.length)
    return any(moves(family, composed, dict(zip(outcomes, images, strict=True))) for images in permutations(outcomes))


def moves(family: Family, composed: Composition, image: dict[Prefix, Prefix]) -> bool:
    """Whether composing the images differs from the image of the composition; conditionals off reach are uniform."""
    laws = [law_of(model, 2, family.length) for model in (family.background, *family.experts)]
    pushed = [conditionals(pushforward(law, lambda y: image[y]), 2, family.length) for law in laws]
    other = compose(Family(2, family.length, pushed[0], tuple(pushed[1:])), "strict")
    return other.well_defined and other.local != pushforward(composed.local, lambda y: image[y])


def subsets(length: int, largest: int) -> Iterator[frozenset[Prefix]]:
    """Sets of prefixes over two tokens, of at most so many."""
    known = prefixes(2, length)
    for marks in product((False, True), repeat=len(known)):
        if sum(marks) <= largest:
            yield frozenset(h for h, mark in zip(known, marks, strict=True) if mark)


def last_exit_peeks(deviations: frozenset[Prefix], length: int) -> bool:
    """3.5: "last deviation + 1" is not a stopping time."""
    times = {
        y: max((step + 1 for step in range(length) if y[:step] in deviations), default=length)
        for y in sequences(2, length)
    }
    return any(times[y] != times[z] and y[: times[y]] == z[: times[y]] for y in times for z in times)


def interleaves(first: frozenset[Prefix], second: frozenset[Prefix], length: int) -> bool:
    """4.3: JF-pt, not JF-int."""
    acting = (active(one, 2, length) for one in (first, second))
    return pointwise_joint((first, second)) and not pointwise_joint(acting)


def over_families(claim: str, finds: Callable[[Family], bool], length: int, experts: int) -> Search:
    """All families of a shape."""
    where = f"|V| = 2, T = {length}, k = {experts}"
    return Search(claim, where, lambda: map(finds, families(length, experts)))


def over_sets(length: int, largest: int) -> Search:
    """3.5 on all sets of deviations."""
    where = f"T = {length}, at most {largest} deviations"
    return Search("3.5", where, lambda: (last_exit_peeks(one, length) for one in subsets(length, largest)))


def over_pairs(length: int, largest: int) -> Search:
    """4.3 on all pairs of sets with at most so many deviations together."""

    def finds() -> Iterator[bool]:
        for first in subsets(length, largest):
            for second in subsets(length, largest - len(first)):
                yield interleaves(first, second, length)

    return Search("4.3", f"T = {length}, at most {largest} deviations together", finds)


FAMILIES: dict[str, Callable[[Family], bool]] = {
    "1.4": dies_locally,
    "1.6": local_is_not_global,
    "2.8": agrees_and_drifts,
    "6.3": does_not_commute,
}


def smaller() -> Iterator[Search]:
    """Every search below the stated size."""
    for claim, finds in FAMILIES.items():
        yield over_families(claim, finds, 1, 2)
        if claim != "6.3":
            yield over_families(claim, finds, 2, 1)
    yield from (over_sets(2, 3), over_sets(3, 1), over_pairs(2, 6), over_pairs(3, 2))


def stated(claim: str) -> Search:
    """The same search at the stated size."""
    if claim == "3.5":
        return over_sets(3, 2)
    return over_pairs(3, 3) if claim == "4.3" else over_families(claim, FAMILIES[claim], 2, 2)


def check(search: Search) -> Iterator[Relation]:
    """Nothing there."""
    yield fact(f"{search.claim}: nothing at {search.where}", not any(search.finds()))


STATEMENTS = (
    Statement(
        number="13.3",
        kind="open point",
        sentence="on small grids and in the trivial cases nothing is smaller than the counterexamples called smallest",
        equation="1.4, 1.6, 2.8, 6.3: |V| = T = k = 2;   3.5: T = 3, two deviations;   4.3: T = 3, three deviations",
        cases=smaller,
        check=check,
        controls=tuple(
            Control(f"smaller: at its own size {claim} is found", lambda draw, claim=claim: stated(claim))
            for claim in ("1.4", "1.6", "2.8", "3.5", "4.3", "6.3")
        ),
        not_checked="rows off the grid, where 'smallest' stays open; |V| = 1 (one law); k = 1 for 6.3 (p^ = p_1); 2.5",
    ),
)
