"""Section 8: what may be claimed over a distribution of prompts, and the composite bound."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Shape, shape
from proofs_checks.definitions.confidence import binomial, clopper_pearson
from proofs_checks.definitions.laws import ONE, ZERO, Law, Prefix, law_tv, probability_that, total
from proofs_checks.definitions.references import Compared, any_reference, hit
from proofs_checks.section_8_bounds.theorem_8_2 import departures
from proofs_checks.statement import Control, Relation, Statement, at_most, equal


@dataclass(frozen=True)
class Prompts:
    """Compositions and references by prompt, and the prompts' probabilities."""

    chances: tuple[Fraction, ...]
    compared: tuple[Compared, ...]

    @property
    def overlaps(self) -> list[Fraction]:
        """The overlap probability of every prompt."""
        return [total(hit(departures(one), one.composed.local).values()) for one in self.compared]

    def joint(self, laws: list[Law]) -> Law:
        """The law of prompt and rollout."""
        return {
            (x, y): chance * mass
            for x, (chance, law) in enumerate(zip(self.chances, laws, strict=True))
            for y, mass in law.items()
        }


def prompts(draw: Draw) -> Prompts:
    """Two or three."""
    of = Shape(2, draw.integer(1, 2), draw.integer(1, 2), draw.one_in(2))
    count = draw.integer(2, 3)
    return Prompts(draw.row(count), tuple(any_reference(draw, of) for _ in range(count)))


def check_prompts(instance: Prompts) -> Iterator[Relation]:
    """The claim is about prompt and rollout together."""
    composed = instance.joint([one.composed.local for one in instance.compared])
    reference = instance.joint([one.law for one in instance.compared])
    q = total(chance * overlap for chance, overlap in zip(instance.chances, instance.overlaps, strict=True))
    yield at_most("TV <= q over prompts and rollouts", law_tv(composed, reference), q)
    each = [law_tv(one.composed.local, one.law) for one in instance.compared]
    average = total(chance * tv for chance, tv in zip(instance.chances, each, strict=True))
    yield equal("TV of prompt and rollout = the average of TV by prompt", law_tv(composed, reference), average)


def check_each_prompt(instance: Prompts) -> Iterator[Relation]:
    """False: the same bound for every prompt."""
    q = total(chance * overlap for chance, overlap in zip(instance.chances, instance.overlaps, strict=True))
    for one in instance.compared:
        yield at_most("TV(P^, S | prompt) <= q", law_tv(one.composed.local, one.law), q)


@dataclass(frozen=True)
class Skills:
    """A composition, a reference, and by skill the prefixes where it is entered and the sequences where it succeeds."""

    compared: Compared
    entries: tuple[frozenset[Prefix], ...]
    successes: tuple[frozenset[Prefix], ...]

    def entry(self, skill: int, y: Prefix) -> Prefix | None:
        """The first entry prefix of the sequence."""
        return next((y[:step] for step in range(len(y)) if y[:step] in self.entries[skill]), None)

    def failed(self, skill: int, y: Prefix) -> bool:
        """Entered, and without success."""
        return self.entry(skill, y) is not None and y not in self.successes[skill]

    def guarantee(self, skill: int) -> Fraction:
        """`δ_i`: the largest probability of failure under `S` given an entry prefix."""
        law, failures = self.compared.law, [ZERO]
        for g in {self.entry(skill, y) for y in law} - {None}:
            through = {y: mass for y, mass in law.items() if self.entry(skill, y) == g}
            failed = total(mass for y, mass in through.items() if self.failed(skill, y))
            failures.append(failed / total(through.values()))
        return max(failures)


def skills(draw: Draw) -> Skills:
    """Two or three skills; success most of the time."""
    compared = any_reference(draw, shape(draw, shortest=2))
    family, outcomes = compared.family, sorted({*compared.law, *compared.composed.local})
    count = draw.integer(2, 3)
    entries = tuple(frozenset(h for h in family.prefixes if draw.one_in(2)) for _ in range(count))
    successes = tuple(frozenset(y for y in outcomes if not draw.one_in(4)) for _ in range(count))
    return Skills(compared, entries, successes)


def check_composite(instance: Skills, *, with_distance: bool = True, with_all: bool = True) -> Iterator[Relation]:
    """With the very constants; a larger `δ^U` or `TV^U` says less."""
    local, law = instance.compared.composed.local, instance.compared.law
    count = len(instance.entries)
    tv = law_tv(local, law) if with_distance else ZERO
    succeeded = probability_that(local, lambda y: not any(instance.failed(i, y) for i in range(count)))
    counted = range(count if with_all else 1)
    guarantees = [instance.guarantee(i) for i in counted]
    entered = [probability_that(law, lambda y, i=i: instance.entry(i, y) is not None) for i in counted]
    finer = 1 - total(delta * chance for delta, chance in zip(guarantees, entered, strict=True)) - tv
    yield at_most("1 - sum_i δ_i - TV <= 1 - sum_i δ_i S(enter_i) - TV", 1 - total(guarantees) - tv, finer)
    yield at_most("1 - sum_i δ_i S(enter_i) - TV <= P^(all entered skills succeed)", finer, succeeded)


def check_skills(instance: Skills) -> Iterator[Relation]:
    """The composite bound."""
    yield from check_composite(instance)


def without_distance(instance: Skills) -> Iterator[Relation]:
    """False: without TV."""
    yield from check_composite(instance, with_distance=False)


def with_one_skill(instance: Skills) -> Iterator[Relation]:
    """False: with the failures of one skill."""
    yield from check_composite(instance, with_all=False)


@dataclass(frozen=True)
class Several:
    """Independent counts, each of `n` trials, of events with probabilities `q`; `α` in all."""

    n: int
    q: tuple[Fraction, ...]
    alpha: Fraction


def several(draw: Draw) -> Several:
    """`k + 1` of them."""
    count = draw.integer(2, 4)
    q = tuple(Fraction(draw.integer(1, 9), draw.pick((10, 40))) for _ in range(count))
    return Several(draw.integer(1, 30), q, draw.pick((Fraction(1, 20), Fraction(1, 5))))


def all_hold(instance: Several, level: Fraction) -> Fraction:
    """The probability that all bounds at `1 - level` hold."""
    each = [
        total(
            mass
            for failures, mass in enumerate(binomial(instance.n, q))
            if clopper_pearson(failures, instance.n, level) >= q
        )
        for q in instance.q
    ]
    return math.prod(each, start=ONE)


def check_split(instance: Several) -> Iterator[Relation]:
    """α is split over the bounds."""
    level = instance.alpha / len(instance.q)
    yield at_most("1 - α <= P(all bounds hold)", 1 - instance.alpha, all_hold(instance, level))


def check_unsplit(instance: Several) -> Iterator[Relation]:
    """False: every bound at α."""
    yield at_most("1 - α <= P(all bounds hold)", 1 - instance.alpha, all_hold(instance, instance.alpha))


STATEMENTS = (
    Statement(
        number="8 (may claim)",
        kind="proposition",
        sentence="an overlap bound over prompts and rollouts bounds TV over prompts and rollouts",
        equation="q = sum_x π(x) q_x:   TV(π P^, π S) = sum_x π(x) TV_x <= q",
        hypotheses=("p^ = s outside the overlap",),
        draw=prompts,
        check=check_prompts,
        controls=(Control("the average over prompts: a bound for each", prompts, check_each_prompt),),
        not_checked="other prompts, temperatures, lengths: it says nothing of them; rollouts of experts: 5.5",
    ),
    Statement(
        number="8 (composite)",
        kind="proposition",
        sentence="all entered skills succeed unless one fails under S or S is left",
        equation="P^(all succeed) >= 1 - sum_i δ_i S(enter_i) - TV >= 1 - sum_i δ_i^U - TV^U",
        hypotheses=("S(not G_i|g) <= δ_i^U at every entry prefix g", "TV(P^, S) <= TV^U"),
        draw=skills,
        check=check_skills,
        controls=(
            Control("the term TV", skills, without_distance),
            Control("the sum over the skills", skills, with_one_skill),
        ),
    ),
    Statement(
        number="8 (composite, confidence)",
        kind="proposition",
        sentence="k+1 bounds at confidence 1-α/(k+1) hold together at confidence 1-α",
        equation="P(all δ_i <= δ_i^U, TV <= TV^U) >= 1-α",
        draw=several,
        check=check_split,
        controls=(Control("α is split", several, check_unsplit),),
        not_checked="bounds from the same rollouts; the check sums over independent ones",
        weight=2,
    ),
)
