"""The claims about a feature map, and what else is said of it. Source: theory.md, section 6.

| symbol | here |
|---|---|
| `D` | a `FeatureTable`, one to one |
| `D#P` | the masses of `P`, by cells of features |
| `M_i` | `question.feature_masks[name]`, coordinates |
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from factorcomp.certificates.claims import (
    CLAIMS,
    ClaimResult,
    FeatureWitness,
    Findings,
    Number,
    Positions,
    Question,
    SequenceWitness,
    Verdict,
)
from factorcomp.factorization.exactness import UNSETTLED
from factorcomp.factorization.feature_conditions import Factorization, dependent, factorized, informative
from factorcomp.factorization.feature_laws import Undefined, stepwise_in_features
from factorcomp.factorization.masses import Comparison, Ids, Masses, compare
from factorcomp.factorization.sequence_laws import SequenceLaws, sequence_laws
from factorcomp.factorization.wording import quoted
from factorcomp.models.errors import InputError
from factorcomp.models.feature_maps import FeatureTable
from factorcomp.models.feature_structure import Parting, block_cells, collision, is_causal, onto, parting
from factorcomp.models.tabular import TabularModel
from factorcomp.verdicts import Condition, FeatureMeasures, ModelName

METHOD = "enumeration"
HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
RELABELS = "the map is a prefix-tree isomorphism: it relabels every next token (Theorem 6.2)"
OPEN = "floating point cannot tell"


def check_features(table: FeatureTable) -> None:
    """Raises `InputError`, with two sequences, unless the map is one to one."""
    pair = collision(table)
    if pair is not None:
        first, second = (quoted(table.sequence(index)) for index in pair)
        raise InputError(
            f"{table.source.name}: {first} and {second} have the same features, {quoted(table.spelled(pair[0]))}; "
            "needed a map that is one to one"
        )


def with_features(
    findings: Findings,
    table: FeatureTable,
    background: TabularModel,
    experts: Mapping[str, TabularModel],
    question: Question,
) -> tuple[Findings, FeatureMeasures]:
    """The findings with the claims about features, in the order of a report, and what else is said of the map."""
    about = FeatureClaims(table, background, experts, question)
    if findings.measures is None:
        why = "the composition is not well defined"
        claims = [about.result(claim, UNDECIDED, why, mask=mask) for claim, mask in about.names]
        return placed(findings, claims, frozenset()), about.measures(defined=False)
    claims, unsettled = about.decided()
    return placed(findings, claims, unsettled), about.measures(defined=True)


def placed(findings: Findings, claims: Sequence[ClaimResult], unsettled: frozenset[str]) -> Findings:
    """The findings with more claims, in the order of a report."""
    everything = sorted([*findings.claims, *claims], key=lambda result: CLAIMS.index(result.claim))
    return replace(findings, claims=tuple(everything), unsettled=findings.unsettled | unsettled)


class FeatureClaims:
    """What background, (tilted) experts and compositions say of the features of their sequences."""

    def __init__(
        self,
        table: FeatureTable,
        background: TabularModel,
        experts: Mapping[str, TabularModel],
        question: Question,
    ):
        self.table, self.question, self.experts = table, question, tuple(experts)
        self.models = (background, experts)
        given = question.feature_masks or {}
        self.masks = {name: mask for name, mask in given.items() if not isinstance(mask, Positions)}
        self.owners = [name for name in experts if name in self.masks]
        self.names = [("feature_projective", name) for name in self.owners] + [("feature_commutes", None)]
        self.causal = is_causal(table)
        self._laws: SequenceLaws | None = None

    @property
    def laws(self) -> SequenceLaws:
        """The laws of sequences."""
        if self._laws is None:
            self._laws = sequence_laws(*self.models, self.question)
        return self._laws

    def result(self, claim: str, verdict: Verdict, why: str, **fields: Any) -> ClaimResult:
        """The result of a claim about the length asked for."""
        return ClaimResult(claim, verdict, METHOD, self.question.length, why, **fields)

    def decided(self) -> tuple[list[ClaimResult], frozenset[str]]:
        """The claims, and the names of those that floats leave open, in the verdict or in the witness."""
        found = [self.projective(name) for name in self.owners] + [self.commutes()]
        return [result for result, _ in found], frozenset(result.name for result, open_ in found if open_)

    def block(self, name: str) -> Ids:
        """Of each sequence, its cell on the coordinates of an expert."""
        return block_cells(self.table, self.masks.get(name, ()))

    def law(self, name: str) -> Masses:
        """The law of an expert."""
        return self.laws.models[self.experts.index(name) + 1]

    def projective(self, name: str) -> tuple[ClaimResult, bool]:
        """On the coordinates of its mask the composition has the law of the expert (6.1, 2.9)."""
        claim, coordinates = "feature_projective", self.masks[name]
        if self.laws.lawless is not None:
            return self.result(claim, UNDECIDED, self._lawless(), mask=name), False
        holds = f"on its coordinates the features of the composition have the law of {name}"
        if not coordinates:
            return self.result(claim, HOLDS, holds, residual=0.0, mask=name), False
        block = self.block(name)
        mine, other = self.laws.local.summed(block), self.law(name).summed(block)
        found = compare(mine, other)
        if found.differ is None:
            return self.result(claim, UNDECIDED, UNSETTLED, residual=found.tv, mask=name), True
        if not found.differ:
            return self.result(claim, HOLDS, holds, residual=found.tv, mask=name), False
        tokens = tuple(self.table.spelled(int((block == found.cell).argmax()))[c] for c in coordinates)
        here, there = _sides(mine, other, found)
        why = (
            f"the coordinates read {quoted(tokens)} with probability {float(here):.4g} under the composition, "
            f"{float(there):.4g} under {name}"
        )
        witness = FeatureWitness(coordinates, tokens, here, there)
        return self.result(claim, REFUTED, why, residual=found.tv, witness=witness, mask=name), found.tied

    def commutes(self) -> tuple[ClaimResult, bool]:
        """Composing in tokens, then mapping, is mapping, then composing in the order of the features (6.2)."""
        claim, table = "feature_commutes", self.table
        if self.causal:
            return self.result(claim, HOLDS, RELABELS, residual=0.0), False
        if self.laws.lawless is not None:
            return self.result(claim, UNDECIDED, self._lawless()), False
        if not all(law.sound for law in (self.laws.local, *self.laws.models)):
            return self.result(claim, UNDECIDED, UNSETTLED), True
        other = stepwise_in_features(table, self.laws.models, self.question.null_tokens)
        if isinstance(other, Undefined):
            why = f"the pushforwards cannot be composed in the order of features: {self._undefined(other)}"
            return self.result(claim, UNDECIDED, why), False
        found = compare(self.laws.local, other)
        if found.differ is None:
            return self.result(claim, UNDECIDED, UNSETTLED, residual=found.tv), True
        if not found.differ:
            why = "composing step by step in the order of features is the same"
            return self.result(claim, HOLDS, why, residual=found.tv), False
        here, there = _sides(self.laws.local, other, found)
        tokens, features = table.sequence(found.cell), table.spelled(found.cell)
        why = (
            f"{quoted(features)}, the features of {quoted(tokens)}, has probability {float(here):.4g}; composed in the "
            f"order of features {float(there):.4g}"
        )
        witness = SequenceWitness(tokens, features, here, there)
        return self.result(claim, REFUTED, why, residual=found.tv, witness=witness), found.tied

    def _lawless(self) -> str:
        assert self.laws.lawless is not None
        who = self.experts[self.laws.lawless]
        return f"weighted, {who} reaches a prefix where it shares no token with the background, and has no law"

    def _undefined(self, at: Undefined) -> str:
        prefix = self.table.spelled(at.sequence)[: at.coordinate]
        where = f"after {quoted(prefix)}" if prefix else "at the start"
        if at.silent is None:
            return f"{where} a ratio is undefined"
        return f"{where} {self.experts[at.silent - 1] if at.silent else 'the background'} never goes"

    def measures(self, *, defined: bool) -> FeatureMeasures:
        """What is said of the map apart from the claims."""
        table, oscillation, gaps = self.table, None, None
        conditions = {"bijective": self._bijective(), "causal": self._causal()}
        if defined and self.laws.lawless is None:
            if self.owners:
                conditions |= self._conditions()
            oscillation = self._path_oscillation()
            gaps = {name: self._gaps(name) for name in self.owners}
        source = ModelName(table.source.name, table.source.sha256)
        masks = {name: self.masks[name] for name in self.owners}
        return FeatureMeasures(
            source, table.kind, table.coordinates, table.features, masks, conditions, oscillation, gaps
        )

    def _bijective(self) -> Condition:
        if onto(self.table):
            return Condition(HOLDS, "one to one, and onto all tuples of feature tokens")
        return Condition(HOLDS, f"one to one, onto {len(self.table.values)} of all tuples of feature tokens")

    def _causal(self) -> Condition:
        table = self.table
        if self.causal:
            return Condition(HOLDS, "the first t features say as much as the first t tokens, for every t")
        found = parting(table)
        if table.coordinates != table.length or found is None:
            return Condition(REFUTED, f"{table.coordinates} features are said of {table.length} tokens")
        pair = (table.sequence(found.first), table.sequence(found.second))
        return Condition(REFUTED, _parted(table, found), pair)

    def _conditions(self) -> dict[str, Condition]:
        """FC of the pushforwards (2.1), the condition of 6.4, and (iv) of 6.4'."""
        blocks = [self.block(name) for name in self.owners]
        size, length, base = len(self.table.vocabulary), self.table.length, self.laws.models[0]
        numbers = np.arange(size**length)
        dependence: tuple[int, int] | None = None
        telling: tuple[int, int] | None = None
        open_ = [False, False]
        for t in range(length):
            here, there = numbers // size ** (length - t), numbers // size ** (length - t - 1)
            wrong, unsure = dependent(base, blocks, here, size**t)
            if dependence is None and wrong.any():
                dependence = (t, int(wrong.argmax()))
            told = [informative(base, block, here, there, size**t) for block in blocks]
            many = np.sum([certain for certain, _ in told], axis=0)
            maybe = many + np.sum([unknown for _, unknown in told], axis=0)
            reached = self.laws.reached[t]
            if telling is None and (reached & (many > 1)).any():
                telling = (t, int((reached & (many > 1)).argmax()))
            open_[0] |= bool(unsure.any())
            open_[1] |= bool((reached & (maybe > 1)).any())
        independence = self._at(
            dependence,
            open_[0],
            "the features of different experts stay independent given every prefix of the background",
            "the features of different experts depend on one another under the background",
        )
        telling_one = self._at(
            telling,
            open_[1],
            "every next token informs about the features of one expert at most",
            "the next token informs about the features of two experts",
        )
        return {
            "factorized_conditionals": self._factorized(),
            "informs_about_one": telling_one,
            "independent_given_prefix": independence,
        }

    def _at(self, first: tuple[int, int] | None, unsure: bool, holds: str, fails: str) -> Condition:
        if first is None:
            return Condition(UNDECIDED, OPEN) if unsure else Condition(HOLDS, holds)
        length, index = first
        size = len(self.table.vocabulary)
        prefix = tuple(self.table.vocabulary[index // size**t % size] for t in reversed(range(length)))
        where = f"after {quoted(prefix)}" if prefix else "at the start"
        return Condition(REFUTED, f"{where} {fails}", (prefix,))

    def _factorized(self) -> Condition:
        every = range(self.table.coordinates)
        owned = {c for name in self.owners for c in self.masks[name]}
        mine = [self.masks.get(name, ()) for name in self.experts]
        others = [block_cells(self.table, tuple(c for c in every if c not in mask)) for mask in mine]
        rest = block_cells(self.table, tuple(c for c in every if c not in owned))
        found: Factorization = factorized(
            self.laws.models, [block_cells(self.table, mask) for mask in mine], others, rest
        )
        if found.broken is None:
            if found.unsure:
                return Condition(UNDECIDED, OPEN)
            return Condition(HOLDS, "the pushforwards have factorized conditionals: whole sequences compose exactly")
        letter, m = found.broken
        who = self.experts[m - 1] if m else "the background"
        said = {
            "a": "under the background the blocks of features depend on one another",
            "b": f"{who} changes more than the law of its own features",
            "c": f"{who} makes features possible that the background excludes",
        }
        return Condition(REFUTED, f"({letter}) {said[letter]}")

    def _path_oscillation(self) -> float | None:
        values = self.laws.normalizers.values[self.laws.reached[-1]]
        if not len(values):  # floats too small to tell what can be reached
            return None
        low, high = values.min(), values.max()
        if isinstance(low, Fraction):
            ratio = high / low
            return math.log(ratio.numerator) - math.log(ratio.denominator)
        return float(np.log(high) - np.log(low)) if self.laws.normalizers.sound else None

    def _gaps(self, name: str) -> tuple[Number | None, Number | None]:
        block, law = self.block(name), self.law(name)
        local, whole = (compare(of.summed(block), law.summed(block)).tv for of in (self.laws.local, self.laws.whole))
        return local, whole


def _sides(left: Masses, right: Masses, found: Comparison) -> tuple[Number, Number]:
    pair = (left.values[found.cell], right.values[found.cell])
    return pair if left.exact else (float(pair[0]), float(pair[1]))


def _parted(table: FeatureTable, found: Parting) -> str:
    first, second = quoted(table.sequence(found.first)), quoted(table.sequence(found.second))
    count = f"{found.length} token" + "s" * (found.length != 1)
    if found.shared == "tokens":
        return f"{first} and {second} share {count}, and not as many features"
    return f"{first} and {second} share {found.length} of their features, and not as many tokens"
