"""The third truth about feature maps: theory.md, section 6, by brute force in fractions, from the definitions.

A *map* `D` is a dict from every sequence of `V^T` (token numbers) to its tuple of feature tokens. Laws on features are
dicts from such tuples to probabilities, without the zeros. Shares no code with the engine or the kernel.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from factorcomp.certificates.claims import ClaimResult, FeatureWitness, SequenceWitness, Verdict
from proofs_checks.definitions.laws import law_of, law_tv, marginal, mass_of, support
from proofs_checks.definitions.operator import weight_of
from tests.oracle import Case, global_law, in_error

ZERO, ONE = Fraction(0), Fraction(1)
Map = Mapping[tuple[int, ...], tuple[str, ...]]
FeatureLaw = dict[tuple[str, ...], Fraction]
Masks = Mapping[str, tuple[int, ...]]


def map_of(file: Mapping, vocabulary: Sequence[str], length: int) -> Map:
    """The map that a features file describes, for the sequences of `length` tokens."""
    own = file["vocabulary"]
    found = {}
    for tokens in product(range(len(vocabulary)), repeat=length):
        names = [vocabulary[token] for token in tokens]
        places = [own.index(name) for name in names]
        found[tokens] = tuple(_apply(file, names, places))
    return found


def _apply(file: Mapping, names: list[str], places: list[int]) -> Sequence[str]:
    size = len(file["vocabulary"])
    if file["kind"] == "table":
        return file["table"][sum(place * size**power for power, place in enumerate(reversed(places)))]
    if file["kind"] == "position_wise":
        return [file["positions"][t][name] for t, name in enumerate(names)]
    if file["kind"] == "prefix_dependent":
        index, said = 0, []
        for t, place in enumerate(places):
            said.append(file["steps"][t][index][place])
            index = index * size + place
        return said
    state, said = file["initial"], []
    for name in names:
        said.append(file["states"][state]["output"][name])
        state = file["states"][state]["next"][name]
    return said


def carried(law: Mapping[tuple[int, ...], Fraction], mapping: Map) -> FeatureLaw:
    """`D#P`."""
    result: FeatureLaw = {}
    for sequence, mass in law.items():
        result[mapping[sequence]] = result.get(mapping[sequence], ZERO) + mass
    return result


def is_tree_isomorphism(case_length: int, mapping: Map) -> bool:
    """Theorem 6.2: `z_{1:t}` and `y_{1:t}` determine each other for every t, and there are T coordinates."""
    if any(len(features) != case_length for features in mapping.values()):
        return False
    for first, second in product(mapping, repeat=2):
        for t in range(case_length + 1):
            if (first[:t] == second[:t]) != (mapping[first][:t] == mapping[second][:t]):
                return False
    return True


def kernel_at(law: FeatureLaw, prefix: tuple[str, ...], order: Sequence[str]) -> tuple[Fraction, ...] | None:
    """The conditional law of the next feature token; `None` where the law never goes."""
    mass = mass_of(law, prefix)
    return tuple(mass_of(law, (*prefix, token)) / mass for token in order) if mass else None


def stepwise(case: Case, laws: Sequence[FeatureLaw], order: Sequence[str], coordinates: int) -> FeatureLaw | None:
    """Definition 1.1 in the order of the features; `None` where it reaches an undefined prefix."""
    level: FeatureLaw = {(): ONE}
    for _ in range(coordinates):
        longer: FeatureLaw = {}
        for prefix, mass in level.items():
            rows = [kernel_at(law, prefix, order) for law in laws]
            if None in rows:
                return None
            base, *own = rows
            ones, null = [ONE] * len(own), case.question.null_tokens
            if any(in_error(token, base, own, ones, null) for token in range(len(order))):
                return None
            weights = [weight_of(token, base, own, null) for token in range(len(order))]
            for token, weight in zip(order, weights, strict=True):
                if weight > 0:
                    longer[*prefix, token] = mass * weight / sum(weights)
        level = longer
    return level


def relabelled_stepwise(case: Case, mapping: Map) -> FeatureLaw:
    """The same for a tree isomorphism, whose pushforwards have kernels everywhere: those of the tokens, relabelled."""
    ahead = {y[:t]: z[:t] for y, z in mapping.items() for t in range(case.length + 1)}
    law = {}
    for sequence, features in mapping.items():
        mass = ONE
        for t in range(case.length):
            prefix = sequence[:t]
            if prefix not in case.weights or mass == 0:
                mass = ZERO
                break
            rows = [{ahead[*prefix, y]: row[y] for y in range(case.size)} for row in _rows(case, prefix)]
            names = list(rows[0])
            base, own = tuple(rows[0][z] for z in names), [tuple(row[z] for z in names) for row in rows[1:]]
            weights = [weight_of(i, base, own, case.question.null_tokens) for i in range(len(names))]
            mass *= weights[names.index(features[: t + 1])] / sum(weights)
        if mass:
            law[features] = mass
    return law


def _rows(case: Case, prefix: tuple[int, ...]) -> list[tuple[Fraction, ...]]:
    return [case.background[prefix], *(case.experts[name][prefix] for name in case.names)]


def lawless(case: Case) -> bool:
    """Whether a tilted expert reaches a prefix where it shares no token with the background (1.9)."""
    for name in case.names:
        reached = [()]
        while reached:
            prefix = reached.pop()
            if len(prefix) < case.length:
                if not any(case.experts[name][prefix]):
                    return True
                reached += [(*prefix, token) for token in support(case.experts[name][prefix])]
    return False


def laws_of(case: Case, mapping: Map) -> list[FeatureLaw]:
    """The pushforwards of the background and of the experts."""
    kernels = [case.background, *(case.experts[name] for name in case.names)]
    return [carried(law_of(kernel, case.size, case.length), mapping) for kernel in kernels]


def feature_claims(case: Case, mapping: Map, order: Sequence[str], masks: Masks) -> list[ClaimResult]:
    """The claims about features, where the composition is well defined and every expert has a law."""

    def result(claim: str, gap: Fraction | None, witness: object, mask: str | None = None) -> ClaimResult:
        verdict = Verdict.UNDECIDED if gap is None else Verdict.REFUTED if gap else Verdict.HOLDS
        return ClaimResult(claim, verdict, "oracle", case.length, "", gap, witness, mask)

    composed, laws = carried(case.local, mapping), laws_of(case, mapping)
    claims = []
    for place, name in enumerate(case.names, start=1):
        if name not in masks:
            continue
        here, there = marginal(composed, masks[name]), marginal(laws[place], masks[name])
        gap, witness = law_tv(here, there), None
        if gap:
            cells = list(product(order, repeat=len(masks[name])))
            gaps = [abs(here.get(cell, ZERO) - there.get(cell, ZERO)) for cell in cells]
            cell = cells[gaps.index(max(gaps))]
            witness = FeatureWitness(masks[name], cell, here.get(cell, ZERO), there.get(cell, ZERO))
        claims.append(result("feature_projective", gap, witness, name))
    coordinates = len(next(iter(mapping.values())))
    if is_tree_isomorphism(case.length, mapping):
        other = relabelled_stepwise(case, mapping)
    else:
        other = stepwise(case, laws, order, coordinates)
    gap, witness = None, None
    if other is not None:
        gap = sum((max(p - other.get(z, ZERO), ZERO) for z, p in composed.items()), ZERO)
        if gap:
            gaps = {y: abs(composed.get(z, ZERO) - other.get(z, ZERO)) for y, z in mapping.items()}
            sequence = next(y for y in gaps if gaps[y] == max(gaps.values()))
            z = mapping[sequence]
            witness = SequenceWitness(case.tokens(sequence), z, composed.get(z, ZERO), other.get(z, ZERO))
    claims.append(result("feature_commutes", gap, witness))
    return claims


# The conditions of 6.4 and 6.4'


def product_law(parts: Sequence[Mapping]) -> dict:
    """The law of independent tuples: from a tuple of tuples to the product of their probabilities."""
    law = {(): ONE}
    for part in parts:
        law = {(*key, cell): p * q for key, p in law.items() for cell, q in part.items()}
    return law


def joint(law: FeatureLaw, blocks: Sequence[tuple[int, ...]]) -> dict:
    """The law of the blocks, as tuples of tuples."""
    found: dict = {}
    for z, p in law.items():
        key = tuple(tuple(z[c] for c in block) for block in blocks)
        found[key] = found.get(key, ZERO) + p
    return found


def posterior(case: Case, mapping: Map, prefix: tuple[int, ...]) -> FeatureLaw | None:
    """The law of the features under the background, given a prefix of tokens."""
    law = law_of(case.background, case.size, case.length)
    through = {y: p for y, p in law.items() if y[: len(prefix)] == prefix}
    mass = sum(through.values(), ZERO)
    return carried({y: p / mass for y, p in through.items()}, mapping) if mass else None


def dependent_prefix(case: Case, mapping: Map, masks: Masks) -> tuple[int, ...] | None:
    """6.4' (iv): the first prefix of `Reach(p_b)` at which the expert blocks are not independent."""
    blocks = list(masks.values())
    for prefix in case.prefixes():
        law = posterior(case, mapping, prefix)
        if law is not None and joint(law, blocks) != product_law([marginal(law, block) for block in blocks]):
            return prefix
    return None


def informative_prefix(case: Case, mapping: Map, masks: Masks) -> tuple[int, ...] | None:
    """6.4: the first prefix of `R^` (and of `Reach(p_b)`) where the next token informs about two expert blocks."""
    for prefix in case.reachable:
        law = posterior(case, mapping, prefix)
        if law is None:
            continue
        after = [posterior(case, mapping, (*prefix, y)) for y in range(case.size)]
        told = [
            name
            for name, block in masks.items()
            if any(later is not None and marginal(later, block) != marginal(law, block) for later in after)
        ]
        if len(told) > 1:
            return prefix
    return None


def factorized(case: Case, mapping: Map, masks: Masks) -> bool:
    """Definition 2.1 of the pushforwards."""
    base, *own = laws_of(case, mapping)
    coordinates = range(len(next(iter(mapping.values()))))
    owned = {c for mask in masks.values() for c in mask}
    rest = tuple(c for c in coordinates if c not in owned)
    blocks = [*masks.values(), rest]
    holds = joint(base, blocks) == product_law([marginal(base, block) for block in blocks])
    for name, law in zip(case.names, own, strict=True):
        mine = tuple(masks.get(name, ()))
        others = tuple(c for c in coordinates if c not in mine)
        parts = [marginal(law, mine), marginal(base, others)]
        holds &= joint(law, [mine, others]) == product_law(parts)
        holds &= marginal(law, mine).keys() <= marginal(base, mine).keys()
    return holds


def path_oscillation(case: Case) -> float:
    """`max S - min S` over the support of `P_L`, in nats (1.5)."""
    products = []
    for sequence in case.local:
        z = ONE
        for t in range(case.length):
            z *= case.normalizer[sequence[:t]]
        products.append(z)
    ratio = max(products) / min(products)
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def gaps(case: Case, mapping: Map, masks: Masks) -> dict[str, tuple[Fraction, Fraction]]:
    """Per mask: the TV of the marginals of the local, and of the global, composition to the expert's."""
    local, whole, laws = carried(case.local, mapping), carried(global_law(case), mapping), laws_of(case, mapping)
    found = {}
    for place, name in enumerate(case.names, start=1):
        if name in masks:
            there = marginal(laws[place], masks[name])
            found[name] = tuple(law_tv(marginal(law, masks[name]), there) for law in (local, whole))
    return found
