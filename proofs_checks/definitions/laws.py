"""Kernels and their laws: theory.md 0.1."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Prefix = tuple[int, ...]
Row = tuple[Fraction, ...]
Kernel = Mapping[Prefix, Row]
Law = Mapping[Any, Fraction]

ZERO, ONE = Fraction(0), Fraction(1)


def row(text: str) -> Row:
    """A row as theory.md writes it: `row("1/4 3/4")`."""
    return tuple(Fraction(word) for word in text.split())


def kernel(rows: Mapping[str, str]) -> dict[Prefix, Row]:
    """A kernel by its prefixes: `kernel({"": "1/4 3/4", "0": "1/4 3/4", "1": "1/2 1/2"})`."""
    return {tuple(map(int, prefix)): row(text) for prefix, text in rows.items()}


def law(text: str) -> Law:
    """A law by its sequences: `law("00: 1/4  11: 3/4")`."""
    words = text.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {tuple(map(int, sequence.rstrip(":"))): Fraction(mass) for sequence, mass in pairs}


def sequences(size: int, length: int) -> list[Prefix]:
    """`V^length`, in vocabulary order."""
    return list(product(range(size), repeat=length))


def prefixes(size: int, length: int) -> list[Prefix]:
    """Every prefix shorter than `length`, shorter first."""
    return [prefix for step in range(length) for prefix in product(range(size), repeat=step)]


def law_of(kernel: Kernel, size: int, length: int) -> Law:
    """The product of the kernels along every sequence of `V^T`, up to its first zero factor (0.1, 1.2)."""
    masses = {(): ONE}
    for _ in range(length):
        masses = {
            (*prefix, token): mass * factor
            for prefix, mass in masses.items()
            for token, factor in enumerate(kernel[prefix])
            if factor
        }
    return masses


def total(masses: Iterable[Fraction]) -> Fraction:
    """Their sum."""
    return sum(masses, ZERO)


def normalised_law(masses: Mapping[Any, Fraction]) -> Law:
    """The law proportional to the masses."""
    mass = total(masses.values())
    return {outcome: one / mass for outcome, one in masses.items() if one}


def mass_of(law: Law, prefix: Prefix) -> Fraction:
    """The probability that a sequence starts with `prefix`."""
    return total(mass for sequence, mass in law.items() if sequence[: len(prefix)] == prefix)


def conditionals(law: Law, size: int, length: int, elsewhere: Kernel | None = None) -> Kernel:
    """The kernels of a law: its conditionals on reach; `elsewhere`'s (by default uniform) where it does not reach."""
    masses: dict[Prefix, Fraction] = {}
    for sequence, mass in law.items():
        for step in range(length + 1):
            masses[sequence[:step]] = masses.get(sequence[:step], ZERO) + mass
    kernel = {}
    for prefix in prefixes(size, length):
        if mass := masses.get(prefix):
            kernel[prefix] = tuple(masses.get((*prefix, token), ZERO) / mass for token in range(size))
        else:
            kernel[prefix] = (Fraction(1, size),) * size if elsewhere is None else elsewhere[prefix]
    return kernel


def probability_that(law: Law, event: Callable[[Any], bool]) -> Fraction:
    """The probability of the outcomes for which `event` is true."""
    return total(mass for outcome, mass in law.items() if event(outcome))


def expectation(law: Law, value: Callable[[Any], Any]) -> Any:
    """`E value`, over the outcomes of positive probability."""
    return sum((mass * value(outcome) for outcome, mass in law.items()), ZERO)


def reach(law: Law, length: int) -> set[Prefix]:
    """`Reach`: the prefixes of length `< length` and positive probability."""
    return {sequence[:step] for sequence in law for step in range(length)}


def pushforward(law: Law, image: Callable[[Any], Any]) -> Law:
    """The law of `image(outcome)`."""
    result: dict[Any, Fraction] = {}
    for outcome, mass in law.items():
        cell = image(outcome)
        result[cell] = result.get(cell, ZERO) + mass
    return result


def marginal(law: Law, positions: Iterable[int]) -> Law:
    """The law of the tokens at `positions`, in increasing order."""
    places = tuple(sorted(positions))
    return pushforward(law, lambda sequence: tuple(sequence[position] for position in places))


def product_law(marginals: Mapping[tuple[int, ...], Law], length: int) -> Law:
    """The law under which blocks of positions are independent with these marginals; the blocks cover `0..length-1`."""
    joint: dict[tuple[tuple[int, int], ...], Fraction] = {(): ONE}
    for positions, law in marginals.items():
        cells = [(tuple(zip(sorted(positions), tokens, strict=True)), mass) for tokens, mass in law.items()]
        joint = {(*known, *cell): mass * more for known, mass in joint.items() for cell, more in cells}
    return {tuple(dict(cell)[position] for position in range(length)): mass for cell, mass in joint.items()}


def support(row: Row) -> set[int]:
    """The tokens of positive probability."""
    return {token for token, probability in enumerate(row) if probability > 0}


def given(row: Row, tokens: set[int]) -> Row:
    """`p(.|A)`, where `p(A) > 0`."""
    mass = total(row[token] for token in tokens)
    return tuple(probability / mass if token in tokens else ZERO for token, probability in enumerate(row))


def row_tv(first: Row, second: Row) -> Fraction:
    """`½ sum_y |first(y) - second(y)|`."""
    if first == second:
        return ZERO
    return total(abs(a - b) for a, b in zip(first, second, strict=True)) / 2


def law_tv(first: Law, second: Law) -> Fraction:
    """`½ sum_y |first(y) - second(y)|` for laws of total mass 1."""
    return total(abs(first.get(y, ZERO) - second.get(y, ZERO)) for y in {*first, *second}) / 2


def log(ratio: Fraction) -> float:
    """The natural logarithm of a rational, -inf at 0."""
    if ratio == 0:
        return -math.inf
    if abs(ratio - 1) < Fraction(1, 2):
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def divergence(first: Law | Row, second: Law | Row) -> float:
    """`KL(first||second) = sum first log(first/second)`, infinite where `second` vanishes alone."""
    one, other = (dict(enumerate(p)) if isinstance(p, tuple) else p for p in (first, second))
    if any(mass and not other.get(y) for y, mass in one.items()):
        return math.inf
    return math.fsum(float(mass) * log(mass / other[y]) for y, mass in one.items() if mass)


def log_ratio_range(expert: Row, background: Row) -> Fraction | None:
    """`max r / min r` of `r = p_i/p_b`, the exponential of the oscillation; `None` (infinite) where supports differ."""
    if support(expert) != support(background):
        return None
    ratios = [expert[token] / background[token] for token in support(background)]
    return max(ratios) / min(ratios)


def own_history(prefix: Sequence[int], block: Iterable[int]) -> Prefix:
    """`h_B`: the tokens of the prefix at the positions of the block."""
    return tuple(prefix[position] for position in sorted(block) if position < len(prefix))
