"""Theorem 6.1 (global): composing whole sequences commutes with every bijection of the sequences.

Laws are drawn on sequences; the models are their conditionals in the order of the tokens, or of the features, and the
composition multiplies these along paths (1.2): the orders differ, the result does not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import Family, shape
from proofs_checks.definitions.features import (
    Featured,
    Map,
    any_map,
    factorized_in_features,
    family_of,
    feature_masks,
    in_features,
)
from proofs_checks.definitions.laws import Law, Prefix, marginal, product_law, pushforward, sequences
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, equal, fact


@dataclass(frozen=True)
class Mapped:
    """A family, and a map of its sequences into `W ⊂ {0..size-1}^length`."""

    family: Family
    features: Map
    size: int
    length: int


SPACES = {
    2: ((2, 1), (2, 2), (3, 1)),
    3: ((3, 1), (2, 2)),
    4: ((2, 2), (4, 1), (2, 3), (3, 2)),
    8: ((2, 3), (8, 1), (3, 2)),
    9: ((3, 2), (9, 1), (2, 4)),
}
"""Spaces with room for so many sequences: `(|W's alphabet|, length)`."""


def mapped(draw: Draw) -> Mapped:
    """Laws that share a sequence, the experts' within the background's support; any map into a space with room."""
    size, length = draw.pick([(2, 2), (2, 3), (3, 2), (2, 1), (3, 1)])
    domain = sequences(size, length)
    shared, zeros = draw.integer(0, len(domain) - 1), draw.one_in(2)
    background = [draw.integer(0 if zeros and place != shared else 1, 4) for place in range(len(domain))]

    def expert() -> list[int]:
        weights = [draw.integer(0 if zeros and place != shared else 1, 4) for place in range(len(domain))]
        return [weight if base else 0 for weight, base in zip(weights, background, strict=True)]

    rows = [normalised(weights) for weights in (background, *(expert() for _ in range(draw.integer(1, 3))))]
    laws = [{y: mass for y, mass in zip(domain, row, strict=True) if mass} for row in rows]
    across, steps = draw.pick(SPACES[len(domain)])
    features = dict(zip(domain, draw.shuffled(sequences(across, steps)), strict=False))
    return Mapped(family_of(laws, size, length), features, across, steps)


def check(case: Mapped) -> Iterator[Relation]:
    """Composed here and mapped, or mapped and composed there."""
    here = compose(case.family)
    there = compose(in_features(case.family, case.features, case.size, case.length))
    yield equal("C_G[D#P] = D#C_G[P]", there.global_, pushforward(here.global_, case.features.__getitem__))
    yield equal("the same Z_G", there.global_normalizer, here.global_normalizer)


def check_local(case: Mapped) -> Iterator[Relation]:
    """False: the same of local composition."""
    here, there = compose(case.family), compose(in_features(case.family, case.features, case.size, case.length))
    yield equal("C_L[D#P] = D#C_L[P]", there.local, pushforward(here.local, case.features.__getitem__))


def factorized(draw: Draw) -> Featured:
    """FC in features, any bijection."""
    of = shape(draw)
    masks = feature_masks(draw, of.length, of.experts)
    return factorized_in_features(draw, of.size, any_map(draw, of.size, of.length), masks, zeros=of.zeros)


def check_projective(case: Featured) -> Iterator[Relation]:
    """The consequence: FC for the pushforwards."""
    whole = case.pushed(compose(case.tokens).global_)
    yield equal("D#P_G = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}", whole, case.target)
    for mask, law in zip(case.masks, case.laws[1:], strict=True):
        yield equal("projective on each block of features", marginal(whole, mask), marginal(law, mask))


def check_projective_locally(case: Featured) -> Iterator[Relation]:
    """False: the same of local composition."""
    yield equal("D#P_L = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}", case.pushed(compose(case.tokens).local), case.target)


@dataclass(frozen=True)
class Image:
    """The image of a map into `{0,1,2}^2`, and laws of two features by block: the background's and each expert's."""

    image: frozenset[Prefix]
    laws: tuple[Law, ...]


def within_image(draw: Draw, *, continuous: bool = True) -> Image:
    """FC on the image of 4 or 8 sequences in a space of 9; with `continuous`, (c)."""
    supports = [[0, 1, 2][: draw.integer(1, 2)] for _ in range(2)]
    wider = supports if continuous else [[0, 1, 2], [0, 1, 2]]
    base = [_feature(draw, values) for values in supports]
    own = [_feature(draw, values) for values in wider]
    needed = {*product(wider[0], supports[1]), *product(supports[0], wider[1])}
    others = [cell for cell in draw.shuffled(sequences(3, 2)) if cell not in needed]
    room = 4 if len(needed) <= 4 and draw.one_in(2) else 8
    image = frozenset((*needed, *others[: room - len(needed)]))
    return Image(image, (_pair(*base), _pair(own[0], base[1]), _pair(base[0], own[1])))


def _feature(draw: Draw, values: list[int]) -> Mapping[int, Fraction]:
    """A law of a feature with these values."""
    return dict(zip(values, draw.row(len(values)), strict=True))


def _pair(one: Mapping[int, Fraction], other: Mapping[int, Fraction]) -> Law:
    """Independent features."""
    return {(a, b): p * q for a, p in one.items() for b, q in other.items()}


def check_image(case: Image) -> Iterator[Relation]:
    """The target stays in the image, and the composition of the sequences is the target."""
    for law in case.laws:
        yield fact("the models live on the image", law.keys() <= case.image)
    target = product_law({(t,): marginal(law, (t,)) for t, law in enumerate(case.laws[1:])}, 2)
    yield fact("the target lies in the image", target.keys() <= case.image)
    yield equal("C_G = target", compose(family_of(case.laws, 3, 2), "drop").global_, target)


STATEMENTS = (
    Statement(
        number="6.1",
        kind="theorem",
        sentence="composing whole sequences commutes with every bijection",
        equation="C_G[D#P_b, D#P_i] = D#C_G[P_b, P_i],   the same Z_G",
        hypotheses=("D a bijection from V^T onto W", "P_i << P_b, and Z_G > 0"),
        draw=mapped,
        check=check,
        controls=(Control("whole sequences: step by step", mapped, check_local),),
    ),
    Statement(
        number="6.1 FC",
        kind="theorem",
        sentence="with factorized conditionals in features the global composition is the target, whatever the map",
        equation="D#P_G = P_b^{M_b} ⊗ ⊗_i P_i^{M_i}",
        hypotheses=("FC for D#P_b, D#P_i",),
        draw=factorized,
        check=check_projective,
        controls=(Control("whole sequences: step by step", factorized, check_projective_locally),),
    ),
    Statement(
        number="6.1 image",
        kind="theorem",
        sentence="where a map fills a part of a product space, the target stays in that part",
        equation="supp P_b^{M_b} ⊗ ⊗_i P_i^{M_i} ⊂ D(V^T)",
        hypotheses=("FC for D#P_b, D#P_i", "AC: P_i^{M_i} << P_b^{M_i}", "D into a product space, not onto"),
        draw=within_image,
        check=check_image,
        controls=(Control("AC", lambda draw: within_image(draw, continuous=False)),),
    ),
)
