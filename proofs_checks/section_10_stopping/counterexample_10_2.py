"""CE 10.2: composing whole sequences of any length can have an infinite normalizer where every step is harmless."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.ending import same_at_every_step
from proofs_checks.definitions.laws import total
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, at_most, equal

HORIZONS = range(1, 7)


@dataclass(frozen=True)
class Geometric:
    """The probabilities to go on; two tokens, the second one EOS."""

    background: Fraction
    experts: tuple[Fraction, ...]

    def family(self, length: int) -> Family:
        """Up to a horizon."""
        background, *experts = (
            same_at_every_step((going_on, 1 - going_on), 1, length) for going_on in (self.background, *self.experts)
        )
        return Family(2, length, background, tuple(experts))


STATED = Geometric(Fraction(1, 2), (Fraction(3, 4), Fraction(3, 4)))


def check(instance: Geometric) -> Iterator[Relation]:
    """Horizon by horizon."""
    one, other = instance.experts
    growth = one * other / instance.background
    yield equal("c_1 c_2 / c_b = 9/8", growth, Fraction(9, 8))
    for length in HORIZONS:
        composed = compose(instance.family(length))
        whole = composed.path_products
        finished = total(mass for y, mass in whole.items() if y[-1] == 1)
        yield equal("the weight of the sequences that end by T is (9/8)^T - 1", finished, growth**length - 1)
        yield equal("the local hazard is 1/10", composed.kernel[()][1], Fraction(1, 10))
        unfinished = composed.global_[(0,) * length]
        yield at_most("under the global law more than half of the mass piles up at T", Fraction(1, 2), unfinished)
        yield equal("under the local law (9/10)^T is left", composed.local[(0,) * length], Fraction(9, 10) ** length)


def milder(draw: Draw) -> Geometric:
    """`c_1 c_2 / c_b < 1`."""
    return Geometric(Fraction(1, 2), (Fraction(1, 2), Fraction(draw.integer(1, 3), 4)))


STATEMENTS = (
    Statement(
        number="10.2",
        kind="counterexample",
        sentence="the global composition of geometric lengths has no finite normalizer, the local one stops",
        equation="c_b = 1/2, c_1 = c_2 = 3/4:   c_1 c_2/c_b = 9/8 > 1, Z_G = ∞, local hazard 1/10",
        cases=lambda: (STATED,),
        check=check,
        controls=(Control("c_1 c_2 / c_b > 1", milder),),
        not_checked="horizons beyond 6: the weight (9/8)^T - 1 grows without bound",
    ),
)
