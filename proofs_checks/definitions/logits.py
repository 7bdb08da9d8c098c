"""Logits in units of log 2, so that whole numbers have rational softmaxes; and polynomials with exact derivatives."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from factorcomp.testing.drawing import Draw, Row, normalised
from proofs_checks.definitions.laws import ZERO, Kernel, Prefix

Logits = Mapping[Prefix, tuple[int, ...]]
Point = tuple[Fraction, ...]
Polynomial = Mapping[tuple[int, ...], Fraction]
"""Coefficients by exponents: `{(1, 1): 1}` is `uv`."""


def softmax(logits: Sequence[int]) -> Row:
    """`2^z / sum 2^z`."""
    return normalised([Fraction(2) ** z for z in logits])


def kernel_of(logits: Logits) -> Kernel:
    """The softmax at every prefix."""
    return {prefix: softmax(z) for prefix, z in logits.items()}


def value(polynomial: Polynomial, point: Sequence[Fraction | int]) -> Fraction:
    """At a point."""
    result = ZERO
    for exponents, coefficient in polynomial.items():
        term = Fraction(coefficient)
        for coordinate, exponent in zip(point, exponents, strict=True):
            term *= Fraction(coordinate) ** exponent
        result += term
    return result


def derivative(polynomial: Polynomial, direction: Sequence[Fraction | int]) -> Polynomial:
    """The derivative along a direction."""
    result: dict[tuple[int, ...], Fraction] = {}
    for exponents, coefficient in polynomial.items():
        for place, (exponent, slope) in enumerate(zip(exponents, direction, strict=True)):
            if exponent and slope:
                lower = (*exponents[:place], exponent - 1, *exponents[place + 1 :])
                result[lower] = result.get(lower, ZERO) + coefficient * exponent * Fraction(slope)
    return result


def hessian(
    polynomial: Polynomial, at: Sequence[Fraction], one: Sequence[Fraction], other: Sequence[Fraction]
) -> Fraction:
    """`∇²z(at)[one, other]`."""
    return value(derivative(derivative(polynomial, one), other), at)


def polynomial(draw: Draw, parameters: int, degree: int) -> Polynomial:
    """A few monomials with small whole coefficients."""
    result: dict[tuple[int, ...], Fraction] = {}
    for _ in range(draw.integer(1, 5)):
        exponents, left = [0] * parameters, draw.integer(0, degree)
        for _ in range(left):
            exponents[draw.integer(0, parameters - 1)] += 1
        result[tuple(exponents)] = Fraction(draw.integer(-3, 3))
    return result


def plus(*points: Sequence[Fraction | int]) -> Point:
    """Their sum."""
    return tuple(sum((Fraction(x) for x in coordinates), ZERO) for coordinates in zip(*points, strict=True))


def times(factor: Fraction | int, point: Sequence[Fraction | int]) -> Point:
    """The point, scaled."""
    return tuple(Fraction(factor) * x for x in point)
