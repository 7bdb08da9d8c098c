"""CE 11.3 (mixture background): subtracting the mean of the experts suppresses what an expert likes most."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import row
from proofs_checks.definitions.operator import compose
from proofs_checks.statement import Control, Relation, Statement, at_most, equal, fact


@dataclass(frozen=True)
class Mixed:
    """One prefix: the true background, the deviator's row, and the number of experts; the others do not deviate."""

    true: Row
    expert: Row
    experts: int

    @property
    def family(self) -> Family:
        """With the mean of the experts as background."""
        rows = (self.expert, *((self.true,) * (self.experts - 1)))
        mean = tuple(sum(cells, Fraction(0)) / self.experts for cells in zip(*rows, strict=True))
        return Family(len(self.true), 1, {(): mean}, tuple({(): one} for one in rows))


def mixed(draw: Draw) -> Mixed:
    """A background of full support."""
    size = draw.integer(1, 3)
    return Mixed(draw.row(size), draw.row(size, zeros=True), draw.integer(1, 6))


def response(ratio: Fraction, k: int) -> Fraction:
    """`r (k/(k-1+r))^{k-1}`, 0 for `r = 0` (also for `k = 1`, where the mean vanishes too)."""
    return ratio and ratio * (k / (k - 1 + ratio)) ** (k - 1)


def check(instance: Mixed) -> Iterator[Relation]:
    """Token by token."""
    weights = compose(instance.family).weights[()]
    expected = tuple(p * response(q / p, instance.experts) for p, q in zip(instance.true, instance.expert, strict=True))
    yield equal("w = p_0 r (k/(k-1+r))^{k-1}", weights, expected)
    off = Mixed(instance.true, instance.true, instance.experts)
    yield equal("off the intervals p^ = p_0", compose(off.family).kernel[()], instance.true)


def check_expert(instance: Mixed) -> Iterator[Relation]:
    """False: the mixture keeps the deviator."""
    yield equal("p^ = p_1", compose(instance.family).kernel[()], instance.expert)


@dataclass(frozen=True)
class Ratios:
    """Two ratios, and the number of experts."""

    k: int
    lower: Fraction
    upper: Fraction


def ratios(draw: Draw) -> Ratios:
    """`0 < lower < upper`."""
    lower = draw.fraction(1, 9)
    return Ratios(draw.integer(2, 7), lower, lower + draw.fraction(1, 9))


def check_shape(instance: Ratios) -> Iterator[Relation]:
    """For two experts it saturates; for more it falls beyond `(k-1)/(k-2)`."""
    k, lower, upper = instance.k, instance.lower, instance.upper
    low, high = response(lower, k), response(upper, k)
    if k == 2:
        yield fact("k = 2: increasing, below 2", low < high < 2)
        far = 10**6 * upper
        yield at_most("k = 2: saturates at 2", 2 - response(far, k), Fraction(4) / far)
        return
    top = Fraction(k - 1, k - 2)
    if upper <= top:
        yield fact("k >= 3: increasing up to r = (k-1)/(k-2)", low < high)
    elif lower >= top:
        yield fact("k >= 3: decreasing from there on", low > high)
    else:
        yield fact("k >= 3: the maximum is at r = (k-1)/(k-2)", max(low, high) < response(top, k))


def check_monotone(instance: Ratios) -> Iterator[Relation]:
    """False: the more the expert likes a token, the more the composition does."""
    yield fact("increasing", response(instance.lower, instance.k) < response(instance.upper, instance.k))


def check_numbers(rows: tuple[Row, Row]) -> Iterator[Relation]:
    """Where the expert has .9."""
    true, expert = rows
    for k, stated in ((2, "0.500"), (3, "0.249"), (5, "0.083")):
        composed = compose(Mixed(true, expert, k).family).kernel[()]
        yield equal(f"k = {k}: {stated}", f"{float(composed[0]):.3f}", stated)


STATEMENTS = (
    Statement(
        number="11.3",
        kind="counterexample",
        sentence="with the mean of the experts as background, a deviator's weight is bent",
        equation="w = p_0 r (k/(k-1+r))^{k-1}; off the intervals p^ = p_0",
        hypotheses=("p_b = mean p_i", "one expert deviates from p_0"),
        draw=mixed,
        check=check,
        controls=(Control("that the deviator is not kept", mixed, check_expert),),
    ),
    Statement(
        number="11.3 (shape)",
        kind="counterexample",
        sentence="the bent weight saturates at 2 for two experts, and for more is largest at r = (k-1)/(k-2)",
        equation="f(r) = r (k/(k-1+r))^{k-1}:   k = 2: f < 2;   k >= 3: argmax f = (k-1)/(k-2)",
        draw=ratios,
        check=check_shape,
        controls=(Control("that it falls again", ratios, check_monotone),),
    ),
    Statement(
        number="11.3 (numbers)",
        kind="counterexample",
        sentence="a token on which the expert puts .9 gets .50, .249, .083 with 2, 3, 5 experts",
        equation="p_0 = (1/10, 9/10), p_1 = (9/10, 1/10)",
        cases=lambda: ((row("1/10 9/10"), row("9/10 1/10")),),
        check=check_numbers,
        controls=(Control("p_0 = (1/10, 9/10)", lambda draw: (row("1/5 4/5"), row("9/10 1/10"))),),
    ),
)
