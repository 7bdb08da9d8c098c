"""The claims about a feature map: projective on features, and whether composing commutes with the map (theory.md 6)."""

from collections.abc import Mapping, Sequence
from itertools import product

from factorcomp.certificates.claims import FeatureWitness, Mask, Positions, SequenceWitness, Tokens, Verdict
from factorcomp.certificates.documents import KernelError
from factorcomp.certificates.enclosure import Value, excess, largest, positive, surely_less, total
from factorcomp.certificates.feature_maps import RELABELS, FeatureMap
from factorcomp.certificates.judgement import UNSETTLED, Judgement, number
from factorcomp.certificates.tree import Tree

LAWLESS = "weighted, {} reaches a prefix where it shares no token with the background, and has no law"
Law = dict[Tokens, Value]
"""The probabilities of tuples of feature tokens, without the zeros."""


class Features:
    """What the models of a tree say of the features of their sequences.

    **Fields:** `image`: the features of each sequence. `laws`: those of the background and the (tilted) experts,
    carried over. `composed`: that of the composition in tokens, carried over. `lawless`: the expert that has no law.
    """

    def __init__(self, tree: Tree, features: FeatureMap, masks: Mapping[str, Mask]) -> None:
        self.tree, self.order = tree, features.features
        self.image = features.image(tree.vocabulary, tree.length)
        self.coordinates = len(self.image[0])
        self.masks = check_masks(masks, self.coordinates)
        self.lawless = next((name for m, name in enumerate(tree.experts, 1) if _lost(tree, m)), None)
        if self.lawless is None:
            self.composed = self._carried(tree.composition[-1])
            self.laws = [self._carried(tree.component(m)[-1]) for m in range(len(tree.experts) + 1)]

    def _carried(self, leaves: Sequence[Value]) -> Law:
        """The law of the features: each sequence has its own."""
        return {z: p for z, p in zip(self.image, leaves, strict=True) if p}

    def causal(self) -> bool:
        """Whether the first t features say as much as the first t tokens, for each t (Theorem 6.2)."""
        tree = self.tree
        if self.coordinates != tree.length:
            return False
        for t in range(tree.length):
            pairs = {
                (y[:t], z[:t]) for y, z in zip(product(tree.vocabulary, repeat=tree.length), self.image, strict=True)
            }
            if len(pairs) != len({y for y, _ in pairs}) or len(pairs) != len({z for _, z in pairs}):
                return False
        return True

    def copies(self, member: int) -> bool:
        """Whether the composition is this model at every prefix that it reaches."""
        return all(step.composition is step.rows[member] for step in self.tree.reached)

    def projective(self, name: str) -> Judgement:
        """On the coordinates of an expert the features of the composition have the law of that expert's."""
        member, coordinates, tree = self.tree.experts.index(name) + 1, self.masks[name], self.tree
        if self.lawless is not None:
            return Judgement(Verdict.UNDECIDED, LAWLESS.format(self.lawless))
        holds = f"on its coordinates the features of the composition have the law of {name}"
        if not coordinates or self.copies(member):
            return Judgement(Verdict.HOLDS, holds, tree.zero)
        mine, other = (_marginal(law, coordinates, tree.zero) for law in (self.composed, self.laws[member]))
        cells = sorted({*mine, *other}, key=lambda cell: [self.order.index(z) for z in cell])
        sides = [(mine.get(cell, tree.zero), other.get(cell, tree.zero)) for cell in cells]
        residual = total((excess(p, q) for p, q in sides), tree.zero)
        failing = positive(residual)
        if not failing:
            verdict, why = (Verdict.UNDECIDED, UNSETTLED) if failing is None else (Verdict.HOLDS, holds)
            return Judgement(verdict, why, residual)
        at = _first_largest(sides, tree.zero)
        here, there = map(number, sides[at])
        why = (
            f"the coordinates read {' '.join(cells[at])!r} with probability {float(here):.4g} under the composition, "
            f"{float(there):.4g} under {name}"
        )
        return Judgement(Verdict.REFUTED, why, residual, FeatureWitness(coordinates, cells[at], here, there))

    def commutes(self) -> Judgement:
        """Composing in tokens, then mapping, is mapping, then composing in the order of the features."""
        tree = self.tree
        if self.causal():
            return Judgement(Verdict.HOLDS, RELABELS, tree.zero)
        if self.lawless is not None:
            return Judgement(Verdict.UNDECIDED, LAWLESS.format(self.lawless))
        if len(tree.experts) == 1 and {*self.laws[1]} <= {*self.laws[0]} and self.copies(1):
            why = f"alone, {tree.experts[0]} is the composition in both orders"
            return Judgement(Verdict.HOLDS, why, tree.zero)
        found = self._stepwise()
        if isinstance(found, str):
            return Judgement(
                Verdict.UNDECIDED, f"the pushforwards cannot be composed in the order of features: {found}"
            )
        sides = [(self.composed.get(z, tree.zero), found.get(z, tree.zero)) for z in self.image]
        residual = total((excess(p, q) for p, q in sides), tree.zero)
        failing = positive(residual)
        if not failing:
            why = "composing step by step in the order of features is the same"
            verdict = Verdict.UNDECIDED if failing is None else Verdict.HOLDS
            return Judgement(verdict, UNSETTLED if failing is None else why, residual)
        at = _first_largest(sides, tree.zero)
        here, there = map(number, sides[at])
        size = tree.size
        tokens = tuple(tree.vocabulary[at // size**t % size] for t in reversed(range(tree.length)))
        why = (
            f"{' '.join(self.image[at])!r}, the features of {' '.join(tokens)!r}, has probability {float(here):.4g}; "
            f"composed in the order of features {float(there):.4g}"
        )
        return Judgement(Verdict.REFUTED, why, residual, SequenceWitness(tokens, self.image[at], here, there))

    def _stepwise(self) -> Law | str:
        """The law of the stepwise composition of the pushforwards, or where it is undefined.

        Its kernels are quotients of masses of prefixes, and exist where a model goes; mass that dies is lost.
        """
        masses = [_prefix_masses(law, self.coordinates, self.tree.zero) for law in self.laws]
        level: Law = {(): self.tree.one}
        for t in range(self.coordinates):
            following: dict[Tokens, dict[str, None]] = {}
            for mass in masses:
                for prefix in mass[t + 1]:
                    following.setdefault(prefix[:t], {})[prefix[t]] = None
            longer: Law = {}
            for prefix, probability in level.items():
                where = f"after {' '.join(prefix)!r}" if prefix else "at the start"
                silent = [m for m, mass in enumerate(masses) if prefix not in mass[t]]
                if silent:
                    who = self.tree.experts[silent[0] - 1] if silent[0] else "the background"
                    return f"{where} {who} never goes"
                rows = [
                    {
                        x: mass[t + 1][(*prefix, x)] / mass[t][prefix]
                        for x in following[prefix]
                        if (*prefix, x) in mass[t + 1]
                    }
                    for mass in masses
                ]
                weights = self._weights(rows, [*following[prefix]])
                if weights is None:
                    return f"{where} a ratio is undefined"
                normalizer = total(weights.values(), self.tree.zero)
                longer |= {(*prefix, x): probability * (w / normalizer) for x, w in weights.items()}
            level = longer
        return level

    def _weights(self, rows: Sequence[Mapping[str, Value]], tokens: Sequence[str]) -> dict[str, Value] | None:
        """`w(x|g)` of Definitions 1.1 and 1.3 where it is positive; `None` where it is undefined."""
        base, *own = rows
        weights: dict[str, Value] = {}
        for token in tokens:
            admitting = [row[token] for row in own if token in row]
            if token in base:
                if len(admitting) == len(own):
                    weight = base[token]
                    for p in admitting:
                        weight = weight * (p / base[token])
                    weights[token] = weight
            elif len(admitting) > {"strict": 0, "cancel": 1, "drop": len(own)}[self.tree.question.null_tokens]:
                return None
            elif admitting and self.tree.question.null_tokens == "cancel":
                weights[token] = admitting[0]
        return weights


def check_masks(given: Mapping[str, Mask], coordinates: int) -> dict[str, tuple[int, ...]]:
    """The masks; raises `KernelError` unless they are increasing and disjoint coordinates."""
    masks = {name: mask for name, mask in given.items() if not isinstance(mask, Positions)}
    if len(masks) < len(given):
        raise KernelError("got a feature mask without an end, needed coordinates")
    owned = sorted(coordinate for mask in masks.values() for coordinate in mask)
    if len({*owned}) < len(owned) or any([*mask] != sorted(mask) for mask in masks.values()):
        raise KernelError("got feature masks that overlap or do not increase, needed disjoint increasing coordinates")
    if owned and not 0 <= owned[0] <= owned[-1] < coordinates:
        raise KernelError(f"got feature masks at {owned[0]} to {owned[-1]}, needed coordinates below {coordinates}")
    return masks


def _lost(tree: Tree, member: int) -> bool:
    """Whether a tilted expert reaches a prefix where it has no next token (1.9 (a) fails)."""
    reach = tree.reachable(lambda step: step.rows[member].support)
    levels = zip(reach[: tree.length], tree.steps, strict=True)
    pairs = ((inside, step) for level in levels for inside, step in zip(*level, strict=True))
    return any(inside and not any(step.rows[member].support) for inside, step in pairs)


def _marginal(law: Law, coordinates: Sequence[int], zero: Value) -> Law:
    cells: dict[Tokens, list[Value]] = {}
    for z, p in law.items():
        cells.setdefault(tuple(z[c] for c in coordinates), []).append(p)
    return {cell: total(parts, zero) for cell, parts in cells.items()}


def _prefix_masses(law: Law, coordinates: int, zero: Value) -> list[Law]:
    """The probabilities of the first 0, 1, … features."""
    return [_marginal(law, range(t), zero) for t in range(coordinates + 1)]


def _first_largest(sides: Sequence[tuple[Value, Value]], zero: Value) -> int:
    """The first pair that differs most."""
    gaps = [abs(p - q) for p, q in sides]
    most = largest(gaps, zero)
    return next(at for at, gap in enumerate(gaps) if not surely_less(gap, most))
