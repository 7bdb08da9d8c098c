"""Lemma 8.1: how far a kernel moves when its logits move by `f`.

`e^f` is drawn, so that everything but the divergences is exact: `TV <= tanh(o/4)` is `((1+TV)/(1-TV))² <= e^o`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row, normalised
from proofs_checks.definitions.laws import divergence, log, row_tv, support
from proofs_checks.definitions.references import within_tanh
from proofs_checks.statement import Control, Relation, Statement, at_most, close, equal


@dataclass(frozen=True)
class Tilt:
    """`q ∝ p e^f`; `factors`: `e^f` by token."""

    p: Row
    factors: Row

    @property
    def q(self) -> Row:
        """The tilted kernel."""
        return normalised([mass * factor for mass, factor in zip(self.p, self.factors, strict=True)])

    @property
    def ratio(self) -> Fraction:
        """`e^o`, `o = osc f` over `supp p`, where `f` is finite."""
        values = [self.factors[token] for token in support(self.p) if self.factors[token]]
        return max(values) / min(values)

    def mean(self, values: Row) -> Fraction:
        """`E_p`."""
        return sum((mass * value for mass, value in zip(self.p, values, strict=True)), Fraction(0))


def tilt(draw: Draw) -> Tilt:
    """A row of 1 to 4 tokens, with zeros at times; factors up to 16 times apart."""
    p = draw.row(draw.integer(1, 4), zeros=draw.one_in(2))
    return Tilt(p, tuple(draw.fraction() for _ in p))


def with_an_excluded_token(draw: Draw) -> Tilt:
    """`f = -inf` at a token of `supp p`."""
    p = draw.row(3)
    return Tilt(p, (Fraction(0), *(draw.fraction() for _ in p[1:])))


def check(tilted: Tilt) -> Iterator[Relation]:
    """The lemma."""
    p, q, ratio = tilted.p, tilted.q, tilted.ratio
    tv, squared = row_tv(p, q), log(ratio) ** 2
    yield within_tanh("TV(p, q) <= tanh(o/4)", tv, ratio)
    yield at_most("KL(p||q) <= o²/8", divergence(p, q), squared / 8)
    yield at_most("KL(q||p) <= o²/8", divergence(q, p), squared / 8)
    ratios = [b / a for a, b in zip(p, q, strict=True) if a]
    yield at_most("log q/p <= o", max(ratios), ratio)
    yield at_most("-o <= log q/p", 1, min(ratios) * ratio)
    distance = tilted.mean(tuple(abs(factor - 1) for factor in tilted.factors))
    mean = tilted.mean(tilted.factors)
    yield at_most("TV <= E_p|e^f - 1| / max(1, E_p e^f)", tv, distance / max(Fraction(1), mean))
    logs = math.fsum(float(a) * log(f) for a, f in zip(p, tilted.factors, strict=True) if a)
    yield close("KL(p||q) = log E_p e^f - E_p f", divergence(p, q), log(mean) - logs)


def check_tighter_tv(tilted: Tilt) -> Iterator[Relation]:
    """False: a smaller oscillation would do."""
    yield at_most("TV <= tanh(o/4.5)", float(row_tv(tilted.p, tilted.q)), math.tanh(log(tilted.ratio) / 4.5))


def check_tighter_divergence(tilted: Tilt) -> Iterator[Relation]:
    """False: a smaller constant would do."""
    yield at_most("KL(p||q) <= o²/9", divergence(tilted.p, tilted.q), log(tilted.ratio) ** 2 / 9)


def check_larger_denominator(tilted: Tilt) -> Iterator[Relation]:
    """False: `1 + E_p e^f` for the larger of the two."""
    distance = tilted.mean(tuple(abs(factor - 1) for factor in tilted.factors))
    yield at_most(
        "TV <= E_p|e^f - 1| / (1 + E_p e^f)", row_tv(tilted.p, tilted.q), distance / (1 + tilted.mean(tilted.factors))
    )


def two_points(draw: Draw) -> Tilt:
    """`f = (2 log u, 0)`, and `p = (1, u)/(1 + u)`: the extreme case, `q = (u, 1)/(1 + u)`."""
    u = Fraction(draw.integer(1, 40), draw.integer(1, 40))
    return Tilt(normalised([Fraction(1), u]), (u * u, Fraction(1)))


def half_and_half(draw: Draw) -> Tilt:
    """Two tokens as likely under `p`."""
    return Tilt(normalised([1, 1]), (1 + draw.fraction(), Fraction(1)))


def check_attained(tilted: Tilt) -> Iterator[Relation]:
    """`(1 + TV)² = e^o (1 - TV)²`."""
    tv = row_tv(tilted.p, tilted.q)
    yield equal("TV = tanh(o/4)", (1 + tv) ** 2, tilted.ratio * (1 - tv) ** 2)


def narrow(draw: Draw) -> Tilt:
    """Two tokens, one as likely as the other, `o` between 1/10 and 1; `p` uniform, or `q`."""
    factor = 1 + Fraction(1, draw.integer(1, 10))
    return Tilt(normalised([1, 1] if draw.one_in(2) else [1, factor]), (factor, Fraction(1)))


def check_sharp(tilted: Tilt) -> Iterator[Relation]:
    """From the uniform row `KL = log cosh(o/2) >= o²/8 (1 - o²/24)`."""
    square = log(tilted.ratio) ** 2
    uniform, other = (tilted.p, tilted.q) if tilted.p[0] == tilted.p[1] else (tilted.q, tilted.p)
    yield at_most("o²/8 (1 - o²/24) <= KL", square / 8 * (1 - square / 24), divergence(uniform, other))


def off_centre(draw: Draw) -> Tilt:
    """`q` uniform would be extreme; here `p` and `q` lie on one side."""
    return Tilt(normalised([1, 9]), (1 + Fraction(1, draw.integer(1, 10)), Fraction(1)))


STATEMENTS = (
    Statement(
        number="8.1",
        kind="lemma",
        sentence="a kernel moves by no more than the oscillation of the change of its logits allows",
        equation="q ∝ p e^f, o = osc f:   TV <= tanh(o/4),   KL <= o²/8,   sup|log q/p| <= o",
        hypotheses=("f finite on supp p",),
        draw=tilt,
        check=check,
        controls=(
            Control("f finite on supp p", with_an_excluded_token),
            Control("the constant: tanh(o/4.5)", tilt, check_tighter_tv),
            Control("the constant: o²/9", tilt, check_tighter_divergence),
            Control("the constant: max(1, E_p e^f)", tilt, check_larger_denominator),
        ),
    ),
    Statement(
        number="8.1 (attained)",
        kind="lemma",
        sentence="two tokens attain the bound on TV",
        equation="p = (1, u)/(1 + u), f = (2 log u, 0):   TV = tanh(o/4)",
        draw=two_points,
        check=check_attained,
        controls=(Control("the masses of p", half_and_half),),
    ),
    Statement(
        number="8.1 (sharp)",
        kind="lemma",
        sentence="the constant 1/8 of both divergences is the smallest as o goes to 0",
        equation="p or q uniform on two tokens:   KL >= o²/8 (1 - o²/24)",
        draw=narrow,
        check=check_sharp,
        controls=(Control("p or q uniform", off_centre),),
    ),
)
