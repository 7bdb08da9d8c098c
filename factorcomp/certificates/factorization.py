"""The claims about masks, one judge each (theory.md 2)."""

import itertools
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from operator import sub

from factorcomp.certificates.claims import MarginalWitness, PairWitness, PositionWitness, Tokens, Verdict
from factorcomp.certificates.enclosure import Value, excess, largest, least, positive, surely_less, total
from factorcomp.certificates.judgement import UNSETTLED, Judgement, Places, after, at, beyond, listed, number
from factorcomp.certificates.rows import Row, same, variation
from factorcomp.certificates.step import Step
from factorcomp.certificates.tree import Tree

BACKGROUND = "background"
NEAR = 1e-9
MOST_WORK = 10**7
LAWLESS = "weighted, {} reaches a prefix where it shares no token with the background, and has no law"
FACTORIZED = "the background's blocks are independent, and each expert changes its own block alone"
Masks = Mapping[str, tuple[int, ...]]
Groups = dict[tuple[int, ...], dict[Row, int]]


def deviating_positions(tree: Tree) -> dict[str, dict[int, int]]:
    """For each expert the positions at which it deviates in scope, each with the index of the first such prefix."""
    found: dict[str, dict[int, int]] = {name: {} for name in tree.experts}
    for t, level in enumerate(tree.deviating):
        for h, bits in enumerate(level):
            for name in tree.names(bits):
                found[name].setdefault(t, h)
    return found


def conflict(tree: Tree, found: Mapping[str, Mapping[int, int]]) -> Judgement | None:
    """The first position at which two experts deviate: then no masks own the deviations; `None` if there is none."""
    for t in range(tree.length):
        owners = [name for name in tree.experts if t in found[name]][:2]
        if len(owners) == 2:
            first, second = (tree.tokens(t, found[name][t]) for name in owners)
            why = f"there are no disjoint masks: {listed(owners)} both deviate{beyond(tree)} at position {t}"
            return Judgement(Verdict.REFUTED, why, None, PositionWitness(t, (owners[0], owners[1]), (first, second)))
    return None


def mask_agreement(places: Places, masks: Mapping[str, Container[int]]) -> Judgement:
    """Off its mask no expert deviates (2.6)."""
    gaps: dict[tuple[Step, int], Value] = {}
    first: tuple[int, int, int] | None = None
    for t, h, step in places.prefixes():
        for i in (i for i, name in enumerate(places.experts) if t not in masks.get(name, ())):
            if (step, i) not in gaps:
                background, expert = step.rows[0], step.rows[i + 1]
                gaps[step, i] = variation(expert, background, places.zero)
            if places.at_fault(t, h) >> i & 1:
                first = first or (t, h, i)
    residual = largest(gaps.values(), places.zero)
    if first is None:
        return Judgement(Verdict.HOLDS, f"off its mask no expert deviates{beyond(places)}", residual)
    t, h, i = first
    why = f"{after(places.tokens(t, h))} {places.experts[i]} deviates{beyond(places)}, and position {t} is not its own"
    return Judgement(Verdict.REFUTED, why, residual, at(places, t, h, 1 << i))


def factorized_conditionals(tree: Tree, masks: Masks, measured: bool = True) -> Judgement:
    """Theorem 2.3, prefix by prefix: (c), (B), (I1) and (I2), about the laws, whatever scope and threshold.

    Rows that must agree lie in one group: the prefixes of one length that are equal on a block. Of each group only the
    first prefix with each distinct row matters: the first pair that disagrees is such a pair.
    """
    members = range(len(tree.experts) + 1)
    reach = [tree.reachable(lambda step, m=m: step.rows[m].support) for m in members]
    for m, name in enumerate(tree.experts, start=1):
        if _lost(tree, reach[m], m):
            return Judgement(Verdict.UNDECIDED, LAWLESS.format(name))
    residual: Value | None
    residual, unknown = tree.zero, False
    failure: tuple[int, tuple] | None = None
    for t in range(tree.length):
        owner = next((name for name in tree.experts if t in masks.get(name, ())), None)
        owned = {position for mask in masks.values() for position in mask}
        block = [s for s in range(t) if (s in masks[owner] if owner else s not in owned)]
        groups = [_groups(tree, reach[m][t], t, m, block) for m in members]
        own = [m for m in members[1:] if tree.experts[m - 1] == owner]
        pairs: list[tuple[Groups, Groups, int, int]] = [(groups[0], groups[0], 1, 0)]
        for m in members[1:]:
            pairs.append((groups[m], groups[m if m in own else 0], 2 if m in own else 3, m))
        failures = [(h, h, 0, m) for m in own for h in _opened(groups[m], groups[0])]
        for left, right, condition, m in pairs:
            for key in left.keys() & right.keys():
                first, unsure = _disagreement(left[key], right[key], left is right)
                unknown = unknown or unsure
                failures += [(*first, condition, m)] if first else []
                distance = spread(left[key], right[key], tree.zero) if measured else None
                residual = None if residual is None or distance is None else largest([residual, distance], tree.zero)
        failure = failure or ((t, min(failures)) if failures else None)
    if failure is None:
        if unknown:
            why = "rows tilted by such weights cannot be told apart"
            return Judgement(Verdict.UNDECIDED, why, residual)
        return Judgement(Verdict.HOLDS, FACTORIZED, tree.zero)
    return _refuted(tree, *failure, residual)


def _refuted(tree: Tree, t: int, failure: tuple[int, int, int, int], residual: Value | None) -> Judgement:
    h, other, condition, m = failure
    return refuted(
        (tree.tokens(t, h), tree.tokens(t, other)), tree.experts[m - 1] if m else BACKGROUND, condition, residual
    )


def refuted(prefixes: tuple[Tokens, Tokens], name: str, condition: int, residual: Value | None) -> Judgement:
    """That the rows of a model fail a condition (0: c, 1: B, 2: I1, 3: I2) after two prefixes."""
    models = (name, name if condition in (1, 2) else BACKGROUND)
    first, second = map(after, prefixes)
    why = f"{name} differs {first} and {second.removeprefix('after ')}, which agree on the block of the position"
    if condition == 0:
        why = f"{first} {name} makes possible on its mask what the background excludes"
    elif condition == 3:
        why = f"off its mask {name} {first} is not the background {second}"
    return Judgement(Verdict.REFUTED, why, residual, PairWitness(prefixes, models, ("c", "B", "I1", "I2")[condition]))


def _lost(tree: Tree, reach: list[list[bool]], member: int) -> tuple[int, int] | None:
    """The first prefix that a tilted expert reaches and where it has no next token (1.9 (a) fails), if any."""
    for t, steps in enumerate(tree.steps):
        for h, step in enumerate(steps):
            if reach[t][h] and not any(step.rows[member].support):
                return t, h
    return None


def _groups(tree: Tree, reach: list[bool], t: int, member: int, block: list[int]) -> Groups:
    """By the tokens on the block: the distinct rows of one model, in the order of the first prefix that has each."""
    groups: Groups = {}
    for h, prefix in enumerate(product(range(tree.size), repeat=t)):
        if reach[h]:
            group = groups.setdefault(tuple(prefix[s] for s in block), {})
            group.setdefault(tree.steps[t][h].rows[member], h)
    return groups


def _opened(mine: Groups, base: Groups) -> Iterable[int]:
    """The prefixes at which an expert admits a token that no background row of the group admits."""
    for key, rows in mine.items():
        admitted = {y for row in base.get(key, {}) for y, possible in enumerate(row.support) if possible}
        yield from (h for row, h in rows.items() if any(r and y not in admitted for y, r in enumerate(row.support)))


def _disagreement(left: dict[Row, int], right: dict[Row, int], one: bool) -> tuple[tuple[int, int] | None, bool]:
    """The first pair of prefixes whose rows differ, and whether some pair before it could not be told."""
    pairs = itertools.combinations(left.items(), 2) if one else itertools.product(left.items(), right.items())
    unsure = False
    for (row, h), (other, g) in pairs:
        agree = same(row, other)
        if agree is False:
            return (h, g), unsure
        unsure = unsure or agree is None
    return None, unsure


def spread(left: Collection[Row], right: Collection[Row], zero: Value) -> Value | None:
    """The largest total variation between a row of `left` and one of `right`; `None` if that is too much work.

    It is the largest `p(A) - q(A)` over both rows and all sets of tokens A. The pairs of rows, or the sets if these are
    less work, are gone through in floating point, and exactly where they come near the largest.
    """
    rough = {row: [float(p) for p in row.probabilities] for row in (*left, *right)}
    size = len(next(iter(rough.values())))
    if min(len(left) * len(right), 2**size * (len(left) + len(right))) * size > MOST_WORK:
        return None
    if len(left) * len(right) <= 2**size * (len(left) + len(right)):
        options = list(product(left, right))
        guesses = [sum(map(abs, map(sub, rough[row], rough[other]))) / 2 for row, other in options]
        exactly = [partial(variation, row, other, zero) for row, other in options]
    else:
        sets = list(product((False, True), repeat=size))
        masses = [[[sum(itertools.compress(rough[row], a)) for row in rows] for rows in (left, right)] for a in sets]
        guesses = [max(highs) - min(lows) for highs, lows in masses]
        exactly = [partial(_widest, left, right, a, zero) for a in sets]
    near = max(guesses) - NEAR
    return largest((option() for option, guess in zip(exactly, guesses, strict=True) if guess >= near), zero)


def _widest(left: Collection[Row], right: Collection[Row], chosen: Sequence[bool], zero: Value) -> Value:
    high = largest((total(itertools.compress(row.probabilities, chosen), zero) for row in left), zero)
    return excess(high, least([total(itertools.compress(row.probabilities, chosen), zero) for row in right]))


def projective(tree: Tree, masks: Masks, name: str) -> Judgement:
    """On the mask of an expert the composition has that expert's marginal (2.2, 2.9)."""
    member, positions = tree.experts.index(name) + 1, masks[name]
    reach = tree.reachable(lambda step: step.rows[member].support)
    if _lost(tree, reach, member):
        return Judgement(Verdict.UNDECIDED, LAWLESS.format(name))
    holds = f"on its mask the composition has the law of {name}"
    if not tree.exact and _settled(tree, masks, member):
        return Judgement(Verdict.HOLDS, holds, tree.zero)
    marginals = [_marginal(tree, law[-1], positions) for law in (tree.composition, tree.component(member))]
    gaps = [abs(p - q) for p, q in zip(*marginals, strict=True)]
    residual = total((excess(p, q) for p, q in zip(*marginals, strict=True)), tree.zero)
    failing = positive(residual)
    if failing is None:
        return Judgement(Verdict.UNDECIDED, UNSETTLED, residual)
    if not failing:
        return Judgement(Verdict.HOLDS, holds, residual)
    most = largest(gaps, tree.zero)
    cell = next(cell for cell, gap in enumerate(gaps) if not surely_less(gap, most))
    tokens = tuple(next(itertools.islice(product(tree.vocabulary, repeat=len(positions)), cell, None)))
    sides = [number(marginal[cell]) for marginal in marginals]
    why = (
        f"the mask reads {' '.join(tokens)!r} with probability {float(sides[0]):.4g} under the composition, "
        f"{float(sides[1]):.4g} under {name}"
    )
    return Judgement(Verdict.REFUTED, why, residual, MarginalWitness(positions, tokens, *sides))


def _settled(tree: Tree, masks: Masks, member: int) -> bool:
    """Whether the marginals agree without numbers: P^ = P_i as every row agrees, or Theorem 2.2."""
    if all(step.composition is step.rows[member] for step in tree.reached):
        return True
    return factorized_conditionals(tree, masks, measured=False).verdict is Verdict.HOLDS


def _marginal(tree: Tree, leaves: Sequence[Value], positions: Sequence[int]) -> list[Value]:
    """The sums of a law over all positions but these, in index order."""
    cells: dict[tuple[int, ...], list[Value]] = {key: [] for key in product(range(tree.size), repeat=len(positions))}
    for path, p in zip(product(range(tree.size), repeat=tree.length), leaves, strict=True):
        if p:
            cells[tuple(path[s] for s in positions)].append(p)
    return [total(cell, tree.zero) for cell in cells.values()]
