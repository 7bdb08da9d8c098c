"""Theorem 2.10 (directed-information bound): how far mask agreement is from projective."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Shape, mask_agreeing, shape
from proofs_checks.definitions.laws import Law, Prefix, Row, divergence, law_of, log, marginal, mass_of, own_history
from proofs_checks.definitions.operator import NullTokens, compose
from proofs_checks.definitions.recipes import other_rows_off
from proofs_checks.section_2_masks.theorem_2_3 import HIDDEN
from proofs_checks.statement import Control, Relation, Statement, at_most, close, constant, fact


@dataclass(frozen=True)
class Agreeing:
    """A family with MA on `R^`, and a convention."""

    family: Family
    null: NullTokens


def agreeing(draw: Draw) -> Agreeing:
    """Opened tokens under `cancel`, `p_i << p_b` otherwise; rows off `R^` are anything."""
    null: NullTokens = draw.pick(("strict", "drop", "cancel"))
    family = mask_agreeing(draw, shape(draw, experts=(1, 3), shortest=2), dominated=null != "cancel")
    return Agreeing(other_rows_off(draw, family, compose(family, null).reachable), null)


def own_conditionals(law: Law, mask: tuple[int, ...], size: int) -> Mapping[tuple[int, Prefix], Row]:
    """`P_i(y_t = .|y_{M_i,<t})`, by position in the mask and own history."""
    result = {}
    for place in range(len(mask)):
        shorter, longer = marginal(law, mask[:place]), marginal(law, mask[: place + 1])
        for history, mass in shorter.items():
            result[place, history] = tuple(longer.get((*history, y), 0) / mass for y in range(size))
    return result


def drifted_information(family: Family, expert: int, under: Law) -> float:
    """`sum_{t in M_i} E KL(p_i(.|y_<t) || P_i(y_t = .|y_{M_i,<t}))`, the expectation under the given law."""
    mask, kernel = family.masks[expert], family.experts[expert]
    own = own_conditionals(law_of(kernel, family.size, family.length), mask, family.size)
    terms = []
    for h in {y[:t] for y in under for t in mask}:
        history = own_history(h, mask)
        reference = own.get((len(history), history))
        terms.append(math.inf if reference is None else float(mass_of(under, h)) * divergence(kernel[h], reference))
    return math.fsum(terms)


def entropy(law: Law) -> float:
    """Shannon's, in nats."""
    return -math.fsum(float(mass) * log(mass) for mass in law.values())


def directed_information(law: Law, mask: tuple[int, ...]) -> float:
    """`sum_{t in M} I(y_<t; y_t | y_{M,<t})`, from entropies."""
    parts = []
    for place, t in enumerate(mask):
        own, before = mask[:place], tuple(range(t))
        parts += [entropy(marginal(law, (*own, t))), -entropy(marginal(law, own))]
        parts += [-entropy(marginal(law, (*before, t))), entropy(marginal(law, before))]
    return math.fsum(parts)


def check(instance: Agreeing, share: float = 1) -> Iterator[Relation]:
    """The divergence on every mask against `share` of `D_i`; `D_i` under `P_i` is a directed information."""
    family = instance.family
    composed = compose(family, instance.null).local
    for i, (kernel, mask) in enumerate(zip(family.experts, family.masks, strict=True)):
        law = law_of(kernel, family.size, family.length)
        distance = divergence(marginal(composed, mask), marginal(law, mask))
        if instance.null != "cancel":
            yield fact("strict and drop: P^^{M_i} << P_i^{M_i}", not math.isinf(distance))
        if not math.isinf(distance):
            bound = drifted_information(family, i, composed)
            yield at_most("KL(P^^{M_i}||P_i^{M_i}) <= D_i", distance, share * bound)
        information = directed_information(law, mask)
        yield close("under P_i: the directed information", drifted_information(family, i, law), information)


def agreeing_and_soft(draw: Draw) -> Agreeing:
    """Two experts of full support, each with a position."""
    family = replace(mask_agreeing(draw, Shape(2, 2, 2, zeros=False)), masks=((1,), (0,)))
    experts = ({**family.background, (0,): draw.row(2), (1,): draw.row(2)}, {**family.background, (): draw.row(2)})
    return Agreeing(replace(family, experts=experts), "strict")


def check_undrifted(instance: Agreeing) -> Iterator[Relation]:
    """False: the expectation may be taken under `P_i`."""
    family = instance.family
    composed = compose(family, instance.null).local
    for i, (kernel, mask) in enumerate(zip(family.experts, family.masks, strict=True)):
        law = law_of(kernel, family.size, family.length)
        distance = divergence(marginal(composed, mask), marginal(law, mask))
        yield at_most("KL <= the directed information under P_i", distance, drifted_information(family, i, law))


def check_attained(instance: Agreeing) -> Iterator[Relation]:
    """Expert 2 makes position 1 certain, and expert 1 reads it: nothing is averaged, all has drifted."""
    family = instance.family
    composed = compose(family, instance.null).local
    mask = family.masks[0]
    law = law_of(family.experts[0], family.size, family.length)
    distance = divergence(marginal(composed, mask), marginal(law, mask))
    yield fact("KL > 0", distance > 0)
    yield close("KL(P^^{M_1}||P_1^{M_1}) = D_1", distance, drifted_information(family, 0, composed))


STATEMENTS = (
    Statement(
        number="2.10",
        kind="theorem",
        sentence="on its mask the composition is as far from the expert as the expert looks elsewhere, where P^ goes",
        equation="KL(P^^{M_i}||P_i^{M_i}) <= D_i = sum_{t in M_i} E_{P^} KL(p_i(.|y_<t) || P_i(y_t = .|y_{M_i,<t}))",
        hypotheses=("MA on R^", "P^^{M_i} << P_i^{M_i} (automatic under strict and drop)"),
        draw=agreeing,
        check=check,
        controls=(
            Control("E_{P^}: E_{P_i} instead", agreeing, check_undrifted),
            Control("the constant: 0.7 D_i", agreeing, lambda instance: check(instance, share=0.7)),
        ),
        weight=2,
    ),
    Statement(
        number="2.10 attained",
        kind="remark",
        sentence="the bound is attained",
        equation="the example of 2.3: KL(P^^{M_1}||P_1^{M_1}) = D_1 > 0",
        cases=constant(Agreeing(HIDDEN, "strict")),
        check=check_attained,
        controls=(Control("position 1 certain", agreeing_and_soft),),
    ),
)
