"""Section 8, prefix sampling: one prefix per rollout bounds the overlap probability only up to the factor `T`."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Shape, palette, shape
from proofs_checks.definitions.laws import Law, Prefix, law_of, probability_that, total
from proofs_checks.definitions.references import hit
from proofs_checks.statement import Control, Relation, Statement, at_most, equal


@dataclass(frozen=True)
class Overlap:
    """The law of a rollout, and a set of prefixes."""

    law: Law
    length: int
    overlap: frozenset[Prefix]

    @property
    def q(self) -> Fraction:
        """The probability of a rollout that meets the overlap."""
        return total(hit(self.overlap, self.law).values())

    @property
    def sampled(self) -> Fraction:
        """`ō`: a step is chosen uniformly, and independently of the rollout; its prefix lies in the overlap."""
        pairs = [(y[:step], mass) for y, mass in self.law.items() for step in range(self.length)]
        return total(mass / self.length for prefix, mass in pairs if prefix in self.overlap)


def rollouts(draw: Draw, of: Shape) -> tuple[Law, int]:
    """Any model."""
    row = palette(draw, of)
    return law_of({h: row() for h in of.prefixes}, of.size, of.length), of.length


def any_overlap(draw: Draw) -> Overlap:
    """Any set of prefixes."""
    of = shape(draw)
    return Overlap(*rollouts(draw, of), frozenset(draw.subset(of.prefixes)))


def met_once(draw: Draw) -> Overlap:
    """No prefix of the overlap goes before another."""
    of, overlap = shape(draw), set()
    for h in of.prefixes:
        if draw.one_in(2) and not any(h[:step] in overlap for step in range(len(h))):
            overlap.add(h)
    return Overlap(*rollouts(draw, of), frozenset(overlap))


def check(instance: Overlap) -> Iterator[Relation]:
    """`ō <= q <= T ō`."""
    by_step = [probability_that(instance.law, lambda y, t=t: y[:t] in instance.overlap) for t in range(instance.length)]
    yield equal("ō = T^-1 sum_t P(y_<t in O)", instance.sampled, total(by_step) / instance.length)
    yield at_most("q <= T ō", instance.q, instance.length * instance.sampled)
    yield at_most("ō <= q", instance.sampled, instance.q)


def check_attained(instance: Overlap) -> Iterator[Relation]:
    """`q = T ō`."""
    yield equal("q = T ō", instance.q, instance.length * instance.sampled)


def check_without_factor(instance: Overlap) -> Iterator[Relation]:
    """False: `ō` itself as a bound."""
    yield at_most("q <= ō", instance.q, instance.sampled)


STATEMENTS = (
    Statement(
        number="8 (prefix sampling)",
        kind="proposition",
        sentence="one uniformly chosen step per rollout bounds the overlap probability by T times what it estimates",
        equation="ō = T^-1 sum_t P^(y_<t in O):   q <= T ō",
        draw=any_overlap,
        check=check,
        controls=(Control("the factor T", any_overlap, check_without_factor),),
    ),
    Statement(
        number="8 (prefix sampling, attained)",
        kind="proposition",
        sentence="the factor T is needed wherever no rollout meets the overlap twice",
        equation="O an antichain:   q = T ō",
        draw=met_once,
        check=check_attained,
        controls=(Control("no rollout meets the overlap twice", any_overlap),),
    ),
)
