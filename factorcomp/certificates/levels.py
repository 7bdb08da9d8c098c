"""What words of one length lead to: for claims about the length alone (theory.md 1.5), and masks that are found."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from factorcomp.certificates.claims import PairWitness, Positions, PositionWitness, Verdict
from factorcomp.certificates.composition import differ, reweighted, several
from factorcomp.certificates.enclosure import total
from factorcomp.certificates.judgement import Judgement, after, beyond, listed
from factorcomp.certificates.positions import repeating
from factorcomp.certificates.product import Product

MOST_LEVELS = 10_000
MOST_VISITS = 2_000_000
Link = Any
"""A word, as its last letter and the word before; `None` is the empty one."""


def levels(successors: Sequence[Sequence[int | None]]) -> Iterator[dict[int, Link]]:
    """The states to which words of length 0, 1, 2, ... lead, in the order of the first such word, which they map to.

    It ends after `MOST_LEVELS` lengths, or `MOST_VISITS` states.
    """
    level: dict[int, Link] = {0: None}
    visits = 0
    for _ in range(MOST_LEVELS):
        yield level
        visits += len(level)
        if visits > MOST_VISITS:
            return
        longer: dict[int, Link] = {}
        for n, link in level.items():
            for letter, m in enumerate(successors[n]):
                if m is not None and m not in longer:
                    longer[m] = (link, letter)
        level = longer


def word(link: Link) -> tuple[int, ...]:
    """The letters of a word."""
    letters = []
    while link:
        link, letter = link
        letters.append(letter)
    return tuple(reversed(letters))


def together(successors: Sequence[Sequence[int | None]], forced: Callable[[int], bool] = lambda n: False) -> list[int]:
    """A number for each state: the same for two states if words of one length lead to both, and as far as follows.

    Where the letter is `forced` (for both states of a pair or for none), these words must agree. It is the least
    equivalence that joins the successors of joined states, and those of one state unless forced. Rows are equal for all
    such pairs of words iff they are equal within the classes: pairs with equal rows, hence the same possible letters,
    generate an equivalence that is closed in this way, if every state has a successor.
    """
    parent = list(range(len(successors)))
    after, pairs = [], []
    for n, row in enumerate(successors):
        one = next((m for m in row if m is not None), None)
        after.append(list(row) if forced(n) else [one])
        pairs += [] if forced(n) or one is None else [(one, m) for m in {*row} if m is not None]

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = n = parent[parent[n]]
        return n

    while pairs:
        left, right = map(root, pairs.pop())
        if left != right:
            parent[right] = left
            for letter, (mine, other) in enumerate(zip(after[left], after[right], strict=True)):
                if mine is None:
                    after[left][letter] = other
                elif other is not None:
                    pairs.append((mine, other))
    return [root(n) for n in range(len(successors))]


def local_equals_global(product: Product) -> Judgement:
    """Theorem 1.5 (2): the two laws are one at every horizon iff `Z` depends on the length alone on R^."""
    values = [product.one if step.settled else step.normalizer for step in product.steps]  # Lemma 1.8
    firsts: dict[int, int] = {}
    pairs = {(firsts.setdefault(root, n), n) for n, root in enumerate(together(product.next))}
    answers = {differ([values[n], values[m]]) for n, m in pairs}
    if True not in answers:
        if None in answers:
            return Judgement(Verdict.UNDECIDED, "normalizers of prefixes of one length cannot be told apart")
        why = "stepwise and sequence-level composition are one distribution at every length"
        return Judgement(Verdict.HOLDS, why, product.zero)
    for t, level in enumerate(levels(product.next)):
        first, *others = level
        other = next((n for n in others if differ([values[first], values[n]])), None)
        if other is not None:
            prefixes = tuple(tuple(product.vocabulary[y] for y in word(level[n])) for n in (first, other))
            left, right = map(after, prefixes)
            why = f"Z differs {left} and {right.removeprefix('after ')}: the two compositions differ at length {t + 1}"
            names = ("composition", "composition")
            witness = PairWitness((prefixes[0], prefixes[1]), names, "Z")
            return Judgement(Verdict.REFUTED, why, _distance(product, t), witness, t + 1)
    why = "Z differs after prefixes of one length, and that is too long to be found"
    return Judgement(Verdict.UNDECIDED, why)


def _distance(product: Product, t: int) -> Any:
    """The distance of the two laws at length t + 1, where `Z` depends on the length alone for shorter prefixes."""
    masses = {0: product.one}
    for _ in range(t):
        longer: dict[int, list[Any]] = {}
        for n, mass in masses.items():
            for p, m in zip(product.steps[n].composition.probabilities, product.next[n], strict=True):
                if m is not None:
                    longer.setdefault(m, []).append(mass * p)
        masses = {m: total(parts, product.zero) for m, parts in longer.items()}
    return reweighted([(mass, product.steps[n].normalizer) for n, mass in masses.items()], product.zero)


def deviating_positions(product: Product) -> dict[str, Positions] | Judgement:
    """The positions at which each expert deviates in scope, or why there are no such masks.

    The states that words of one length lead to determine those of the next length: once they repeat, all does.
    """
    seen: dict[frozenset[int], int] = {}
    flags: list[int] = []
    for t, level in enumerate(levels(product.next)):
        here = frozenset(level)
        if here in seen:
            return {
                name: mask
                for i, name in enumerate(product.experts)
                if (mask := repeating([bits >> i & 1 == 1 for bits in flags], seen[here]))
            }
        seen[here] = t
        flags.append(0)
        for n in level:
            flags[t] |= product.steps[n].deviating
        if several(flags[t]):
            return _clash(product, t, level, flags[t])
    return Judgement(Verdict.UNDECIDED, f"the positions at which experts deviate do not repeat within {t} lengths")


def _clash(product: Product, t: int, level: dict[int, Link], bits: int) -> Judgement:
    owners = product.names(bits)[:2]
    prefixes = []
    for i in (product.experts.index(name) for name in owners):
        link = next(link for n, link in level.items() if product.steps[n].deviating >> i & 1)
        prefixes.append(tuple(product.vocabulary[y] for y in word(link)))
    why = f"there are no disjoint masks: {listed(owners)} both deviate{beyond(product)} at position {t}"
    witness = PositionWitness(t, (owners[0], owners[1]), (prefixes[0], prefixes[1]))
    return Judgement(Verdict.REFUTED, why, None, witness)
