"""Feature maps, composition in features, and what a token tells about feature blocks: theory.md section 6."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations, product
from operator import itemgetter

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import (
    ONE,
    ZERO,
    Law,
    Prefix,
    conditionals,
    law_of,
    marginal,
    prefixes,
    product_law,
    pushforward,
    sequences,
    total,
)

Map = Mapping[Prefix, Prefix]
"""`D`: from token sequences to feature sequences."""
Masks = tuple[tuple[int, ...], ...]


def family_of(laws: Sequence[Law], size: int, length: int) -> Family:
    """The background and experts with these laws; off reach their kernels are uniform."""
    background, *experts = (conditionals(law, size, length) for law in laws)
    return Family(size, length, background, tuple(experts))


def laws_of(family: Family) -> list[Law]:
    """The laws of the background and the experts."""
    return [law_of(kernel, family.size, family.length) for kernel in (family.background, *family.experts)]


def in_features(family: Family, features: Map, size: int | None = None, length: int | None = None) -> Family:
    """The pushforwards of all models, as kernels in the order of the features (by default of `V^T` again)."""
    laws = [pushforward(law, features.__getitem__) for law in laws_of(family)]
    return family_of(laws, size or family.size, family.length if length is None else length)


# Maps


def any_map(draw: Draw, size: int, length: int) -> Map:
    """Any bijection of `V^T`."""
    domain = sequences(size, length)
    return dict(zip(domain, draw.shuffled(domain), strict=True))


def tree_isomorphism(draw: Draw, size: int, length: int) -> Map:
    """A relabelling of each token that depends on the prefix alone."""
    labels = {h: draw.shuffled(range(size)) for h in prefixes(size, length)}
    return relabelling(labels, size, length)


def relabelling(labels: Mapping[Prefix, Sequence[int]], size: int, length: int) -> Map:
    """`z_t = labels[y_<t][y_t]`."""
    return {y: tuple(labels[y[:t]][y[t]] for t in range(length)) for y in sequences(size, length)}


def tree_isomorphisms(size: int, length: int) -> Iterator[Map]:
    """All of them."""
    inner = prefixes(size, length)
    for labels in product(permutations(range(size)), repeat=len(inner)):
        yield relabelling(dict(zip(inner, labels, strict=True)), size, length)


def is_tree_isomorphism(features: Map, length: int) -> bool:
    """Whether for each `t` the first `t` features are a function of the first `t` tokens, bijectively."""
    for step in range(1, length + 1):
        pairs = {(y[:step], z[:step]) for y, z in features.items()}
        if len({y for y, _ in pairs}) < len(pairs) or len({z for _, z in pairs}) < len(pairs):
            return False
    return True


def maps_up_to_tree(size: int, length: int) -> Iterator[Map]:
    """One bijection of each class `{D∘A: A a tree isomorphism}`: the ways to hang `V^T` into an unordered tree."""
    leaves = sequences(size, length)
    for hung in _hung(tuple(leaves), size):
        yield dict(zip(leaves, hung, strict=True))


def _hung(things: tuple[Prefix, ...], size: int) -> Iterator[tuple[Prefix, ...]]:
    """The leaves of the unordered `size`-ary trees over the things, from left to right."""
    if len(things) == 1:
        yield things
        return
    for parts in _equal_parts(things, size):
        for children in product(*(list(_hung(part, size)) for part in parts)):
            yield tuple(leaf for child in children for leaf in child)


def _equal_parts(things: tuple[Prefix, ...], count: int) -> Iterator[tuple[tuple[Prefix, ...], ...]]:
    """The partitions of the things into `count` parts of one size."""
    if count == 1:
        yield (things,)
        return
    first, *others = things
    for chosen in combinations(others, len(things) // count - 1):
        rest = tuple(thing for thing in others if thing not in chosen)
        for parts in _equal_parts(rest, count - 1):
            yield ((first, *chosen), *parts)


# Models that factorize in features


@dataclass(frozen=True)
class Featured:
    """A map to `V^T`, masks of feature positions, and the laws of the background and the experts in features."""

    size: int
    length: int
    features: Map
    masks: Masks
    laws: tuple[Law, ...]

    @property
    def blocks(self) -> Masks:
        """The masks and, last, `M_b`."""
        return (*self.masks, tuple(t for t in range(self.length) if not any(t in mask for mask in self.masks)))

    @cached_property
    def token_laws(self) -> tuple[Law, ...]:
        """The laws of the token sequences."""
        back = {z: y for y, z in self.features.items()}
        return tuple(pushforward(law, back.__getitem__) for law in self.laws)

    @cached_property
    def tokens(self) -> Family:
        """The models as kernels of tokens."""
        return family_of(self.token_laws, self.size, self.length)

    @cached_property
    def target(self) -> Law:
        """`P_b^{M_b} ⊗ ⊗_i P_i^{M_i}`, in features."""
        *masks, rest = self.blocks
        owners = [*zip(masks, self.laws[1:], strict=True), (rest, self.laws[0])]
        return product_law({block: marginal(law, block) for block, law in owners if block}, self.length)

    def pushed(self, law: Law) -> Law:
        """`D#P`."""
        return pushforward(law, self.features.__getitem__)

    @cached_property
    def reachable(self) -> tuple[Prefix, ...]:
        """`Reach(p_b)` and the full sequences, shorter first."""
        return tuple(sorted(self._joint, key=len))

    @cached_property
    def _joint(self) -> Mapping[Prefix, Law]:
        """By token prefix, full sequences included: `π_h`, the law of the experts' features given `h` under `P_b`."""
        masses: dict[Prefix, dict[tuple[Prefix, ...], Fraction]] = {}
        for y, mass in self.token_laws[0].items():
            z = self.features[y]
            cells = tuple(tuple(z[t] for t in mask) for mask in self.masks)
            for step in range(self.length + 1):
                below = masses.setdefault(y[:step], {})
                below[cells] = below.get(cells, ZERO) + mass
        wholes = {h: total(below.values()) for h, below in masses.items()}
        return {h: {cells: mass / wholes[h] for cells, mass in below.items()} for h, below in masses.items()}

    @cached_property
    def _single(self) -> Mapping[Prefix, tuple[Law, ...]]:
        """By token prefix: `π^i_h` of every expert."""
        blocks = range(len(self.masks))
        return {h: tuple(pushforward(law, itemgetter(i)) for i in blocks) for h, law in self._joint.items()}

    def joint(self, prefix: Prefix) -> Law:
        """`π_h`."""
        return self._joint[prefix]

    def independent(self, prefix: Prefix) -> Law:
        """`⊗_i π^i_h`."""
        return tensor(self._single[prefix])

    def informed(self, prefix: Prefix) -> list[int]:
        """The expert blocks about which the token after `prefix` is informative under `P_b`."""
        here = self._single[prefix]
        below = [self._single[child] for y in range(self.size) if (child := (*prefix, y)) in self._single]
        return [block for block, law in enumerate(here) if any(child[block] != law for child in below)]


def tensor(laws: Sequence[Law]) -> Law:
    """The law of independent cells, one of each law."""
    joint: dict[tuple[Prefix, ...], Fraction] = {(): ONE}
    for law in laws:
        joint = {(*known, cell): mass * more for known, mass in joint.items() for cell, more in law.items()}
    return joint


def mixture(parts: Sequence[tuple[Fraction, Law]]) -> Law:
    """`sum_a weight_a law_a`."""
    mixed: dict[tuple[Prefix, ...], Fraction] = {}
    for weight, law in parts:
        for cell, mass in law.items():
            mixed[cell] = mixed.get(cell, ZERO) + weight * mass
    return {cell: mass for cell, mass in mixed.items() if mass}


def feature_masks(draw: Draw, length: int, experts: int) -> Masks:
    """Each feature position goes to one of the experts or to the background."""
    owners = [draw.integer(0, experts) for _ in range(length)]
    return tuple(tuple(t for t, owner in enumerate(owners) if owner == i) for i in range(1, experts + 1))


def block_law(draw: Draw, size: int, width: int, *, zeros: bool, within: Law | None = None) -> Law:
    """A law of the features of a block, within the support of another one."""
    cells = sequences(size, width) if within is None else sorted(within)
    row = draw.row(len(cells), zeros=zeros)
    return {cell: mass for cell, mass in zip(cells, row, strict=True) if mass}


def factorized_in_features(draw: Draw, size: int, features: Map, masks: Masks, *, zeros: bool) -> Featured:
    """FC for the pushforwards (2.1), with any law of each block."""
    length = len(next(iter(features)))
    rest = tuple(t for t in range(length) if not any(t in mask for mask in masks))
    base = {block: block_law(draw, size, len(block), zeros=zeros) for block in (*masks, rest) if block}
    laws = [product_law(base, length)]
    for mask in masks:
        own = {mask: block_law(draw, size, len(mask), zeros=zeros, within=base[mask])} if mask else {}
        laws.append(product_law(base | own, length))
    return Featured(size, length, features, masks, tuple(laws))


def tilted_in_features(draw: Draw, case: Featured) -> Featured:
    """The experts `P_i ∝ P_b f_i(z_{M_i})`, with generic `f_i > 0`: no two factors are equal, and each has 6 digits."""
    laws = [case.laws[0]]
    for mask in case.masks:
        cells = sequences(case.size, len(mask))
        factors = {cell: place + 1 + len(cells) * draw.integer(0, 10**6) for place, cell in enumerate(cells)}
        tilted = {z: m * factors[tuple(z[t] for t in mask)] for z, m in case.laws[0].items()}
        whole = total(tilted.values())
        laws.append({z: mass / whole for z, mass in tilted.items()})
    return replace(case, laws=tuple(laws))


# Maps whose tokens tell about one block at a time


def rectangle_protocol(draw: Draw, size: int, length: int, masks: Masks) -> Map:
    """Each prefix leaves a product of sets of block values, and each token splits one of them into equal parts.

    At times the background's block and one expert's are one factor.
    """
    rest = tuple(t for t in range(length) if not any(t in mask for mask in masks))
    groups: list[tuple[int, ...]] = [*masks, rest]
    if masks and draw.one_in(3):
        joined = draw.integer(0, len(masks) - 1)
        groups = [g for i, g in enumerate(masks) if i != joined] + [tuple(sorted((*masks[joined], *rest)))]
    groups = [group for group in groups if group]
    features: dict[Prefix, Prefix] = {}

    def descend(prefix: Prefix, sets: list[Sequence[Prefix]]) -> None:
        if len(prefix) == length:
            z = {t: cell[0][place] for group, cell in zip(groups, sets, strict=True) for place, t in enumerate(group)}
            features[prefix] = tuple(z[t] for t in range(length))
            return
        split = draw.pick([place for place, cell in enumerate(sets) if len(cell) > 1])
        values = draw.shuffled(sets[split])
        width = len(values) // size
        for token in range(size):
            part = values[token * width : (token + 1) * width]
            descend((*prefix, token), [part if place == split else cell for place, cell in enumerate(sets)])

    descend((), [sequences(size, len(group)) for group in groups])
    return features


def separate_blocks(draw: Draw, size: int, length: int, masks: Masks) -> Map:
    """Blocks of token positions, each mapped to a block of features by any bijection."""
    rest = tuple(t for t in range(length) if not any(t in mask for mask in masks))
    positions, pairs = list(draw.shuffled(range(length))), []
    for block in (*masks, rest):
        own, positions = sorted(positions[: len(block)]), positions[len(block) :]
        pairs.append((own, block, any_map(draw, size, len(block))))
    features = {}
    for y in sequences(size, length):
        z = {t: cell for own, block, f in pairs for t, cell in zip(block, f[tuple(y[s] for s in own)], strict=True)}
        features[y] = tuple(z[t] for t in range(length))
    return features


def reordered(draw: Draw, features: Map, length: int) -> Map:
    """The features in another order."""
    order = draw.shuffled(range(length))
    return {y: tuple(z[t] for t in order) for y, z in features.items()}


def swapped(draw: Draw, features: Map) -> Map:
    """The map with the images of two sequences exchanged."""
    one, other = draw.shuffled(sorted(features))[:2]
    return dict(features) | {one: features[other], other: features[one]}
