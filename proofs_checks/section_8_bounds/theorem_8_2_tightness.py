"""Theorem 8.2, tightness: where its bounds are attained, and that the square root of `T` is the true order."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw, normalised
from factorcomp.testing.families import shape
from proofs_checks.definitions.laws import law_tv, log, support, total
from proofs_checks.definitions.one_step import one_step
from proofs_checks.definitions.references import Compared, any_reference, hit, within_tanh
from proofs_checks.section_8_bounds.theorem_8_2 import departures, of_any, unassigned_range
from proofs_checks.statement import Control, Relation, Statement, at_most, close, constant, equal


def disjoint_on_overlap(draw: Draw) -> Compared:
    """The reference is `p^`, but at some prefixes it has a row on the tokens that `p^` excludes."""
    compared = any_reference(draw, shape(draw, zeros=True))
    composed = compared.composed
    reference = {h: composed.kernel.get(h, compared.reference[h]) for h in compared.family.prefixes}
    for h, known in composed.kernel.items():
        excluded = set(range(compared.family.size)) - support(known)
        if excluded and draw.one_in(2):
            reference[h] = normalised([draw.integer(1, 4) if y in excluded else 0 for y in range(len(known))])
    return replace(compared, reference=reference, assigned={})


def check_overlap_attained(compared: Compared) -> Iterator[Relation]:
    """`TV = q`."""
    law = compared.law
    q = total(hit(departures(compared), law).values())
    yield equal("TV = q", law_tv(compared.composed.local, law), q)


def identical_experts(root: Fraction, k: int, background: Fraction) -> Compared:
    """`k` identical experts, one step, two tokens: `r ∝ (root², 1)`, `p_b = (background, 1 - background)`."""
    base = (background, 1 - background)
    family = one_step([base, *[normalised([root**2 * base[0], base[1]])] * k])
    return Compared(family, family.background, {(): 0})


def extreme_experts(draw: Draw) -> Compared:
    """`p_b = (1, u)/(1 + u)` with `u² = e^{kε}`."""
    root, k = Fraction(draw.integer(2, 9), draw.integer(1, 9)), draw.integer(1, 6)
    return identical_experts(root, k, 1 / (1 + root**k))


def uniform_background(draw: Draw) -> Compared:
    """Two tokens as likely in the background."""
    return identical_experts(Fraction(draw.integer(3, 9), 2), draw.integer(1, 6), Fraction(1, 2))


def check_first_term_attained(compared: Compared) -> Iterator[Relation]:
    """`(1 + TV)² = e^{kε} (1 - TV)²`."""
    tv, k = law_tv(compared.composed.local, compared.law), len(compared.family.experts)
    ratio = unassigned_range(compared)
    yield equal("TV = tanh(kε/4)", (1 + tv) ** 2, ratio**k * (1 - tv) ** 2)
    yield within_tanh("TV <= tanh(kε/4)", tv, ratio**k)


def check_first_term_numbers(ratio: Fraction) -> Iterator[Relation]:
    """`k = 5`, `e^ε = 11/10`, a uniform background: near the bound."""
    family = one_step([normalised([1, 1]), *[normalised([ratio, Fraction(1)])] * 5])
    compared = Compared(family, family.background, {(): 0})
    yield equal("TV = .1169", f"{float(law_tv(compared.composed.local, compared.law)):.4f}", "0.1169")
    yield equal("the bound is .1186", f"{math.tanh(5 * log(ratio) / 4):.4f}", "0.1186")


def check_square_root(oscillation: float) -> Iterator[Relation]:
    """`T = 10⁴` steps from `(1/2, 1/2)` to logits `o` apart: the number of first tokens is a sufficient statistic."""
    from scipy.special import bdtr

    steps = 10_000
    tilted = 1 / (1 + math.exp(-oscillation))
    # The likelihood ratio grows with the count, so TV is the largest gap of the two distribution functions.
    tv = max(float(bdtr(count, steps, 0.5) - bdtr(count, steps, tilted)) for count in range(4_500, 5_600))
    pinsker, summed = math.sqrt(steps) * oscillation / 4, steps * math.tanh(oscillation / 4)
    yield close("sqrt(T) o/4 = 0.5", pinsker, 0.5)
    yield at_most("the sum bound is vacuous", 1.0, summed)
    yield at_most("TV <= sqrt(T) o/4", tv, pinsker)
    yield at_most("3/4 sqrt(T) o/4 <= TV", 0.75 * pinsker, tv)


STATEMENTS = (
    Statement(
        number="8.2 (3, attained)",
        kind="theorem",
        sentence="the overlap bound is attained where the two kernels on O exclude each other",
        equation="supp p^ ∩ supp s = ∅ on O:   TV = q",
        draw=disjoint_on_overlap,
        check=check_overlap_attained,
        controls=(Control("disjoint supports on O", of_any),),
    ),
    Statement(
        number="8.2 (4, attained)",
        kind="theorem",
        sentence="k identical experts on two tokens attain the first term for one step",
        equation="p_b = (1, e^{kε/2})/(1 + e^{kε/2}):   TV = tanh(kε/4)",
        draw=extreme_experts,
        check=check_first_term_attained,
        controls=(Control("the background's masses", uniform_background),),
    ),
    Statement(
        number="8.2 (4, numbers)",
        kind="theorem",
        sentence="five identical experts on a uniform background come near the first term",
        equation="k = 5, e^ε = 11/10:   TV = .1169, tanh(5ε/4) = .1186",
        cases=constant(Fraction(11, 10)),
        check=check_first_term_numbers,
        controls=(Control("e^ε = 11/10", lambda draw: Fraction(6, 5)),),
    ),
    Statement(
        number="8.2 (4, order)",
        kind="theorem",
        sentence="sqrt(T) is the true order for steps that are alike",
        equation="T = 10⁴, o = .02:   TV >= 3/4 · sqrt(T) o/4, where sqrt(T) o/4 = 0.5 and T tanh(o/4) > 1",
        cases=constant(0.02),
        check=check_square_root,
        controls=(Control("o = .02", lambda draw: 0.05),),
        not_checked="other lengths",
    ),
)
