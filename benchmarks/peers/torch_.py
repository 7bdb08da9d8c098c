"""PyTorch on the CPU, in float64, on all cores: the definitions as tensors."""

from typing import Any, NamedTuple

from benchmarks.engine import TOLERANCE, Answer, Engine
from benchmarks.workloads import Case


class Tensors(NamedTuple):
    """The case without its arrays, and the tables as tensors that share their memory."""

    case: Case
    background: list[Any]
    experts: list[list[Any]]


def prepare(case: Case) -> Tensors:
    """The arrays as tensors, nothing copied."""
    import torch

    background, *experts = ([torch.from_numpy(rows) for rows in table] for table in (case.background, *case.experts))
    return Tensors(case, background, experts)


def reaches(table: list[Any]) -> list[Any]:
    """The probabilities of the prefixes of every length."""
    reach = [table[0].new_ones(1)]
    for rows in table:
        reach.append((reach[-1][:, None] * rows).reshape(-1))
    return reach


def joint(table: list[Any]) -> Any:
    """The probability of every sequence."""
    law = table[0].new_ones(1)
    for rows in table:
        law = (law[:, None] * rows).reshape(-1)
    return law


def marginal(law: Any, positions: tuple[int, ...], case: Case, *, keep: bool = False) -> Any:
    """The law of the tokens at `positions`."""
    law, outside = law.reshape((case.vocab,) * case.length), case.outside(positions)
    return law.sum(dim=outside, keepdim=keep) if outside else law  # over no axis PyTorch sums over all


def tv(one: Any, other: Any) -> float:
    """`1/2 sum |p - q|`."""
    return float(0.5 * (one - other).abs().sum())


def active(expert: list[Any], background: list[Any], vocab: int) -> list[Any]:
    """Deviated at the prefix or before, and will at it or later."""
    deviates = [(own != base).any(dim=1) for own, base in zip(expert, background, strict=True)]
    began, ahead = [deviates[0]], [deviates[-1]]
    for flags in deviates[1:]:
        began.append(began[-1].repeat_interleave(vocab) | flags)
    for flags in reversed(deviates[:-1]):
        ahead.append(flags | ahead[-1].reshape(-1, vocab).any(dim=1))
    return [b & a for b, a in zip(began, reversed(ahead), strict=True)]


def survey(tensors: Tensors) -> Answer:
    """One pass after another over whole levels."""
    case, background, experts = tensors
    composed = []
    for base, one, other in zip(background, *experts, strict=True):
        rows = one * other / base
        composed.append(rows / rows.sum(dim=1, keepdim=True))
    reach = reaches(composed)
    projective = [
        tv(marginal(reach[-1], mask, case), marginal(joint(expert), mask, case))
        for expert, mask in zip(experts, case.masks, strict=True)
    ]
    intervals = [active(expert, background, case.vocab) for expert in experts]
    met, probability, first = reach[0] < 0, 0.0, None
    for length, (law, one, other) in enumerate(zip(reach, *intervals, strict=False)):
        both = one & other
        if first is None and bool(both.any()):
            first = [length, int(both.to(dtype=law.dtype).argmax())]
        probability += float((law * (both & ~met)).sum())
        met = (met | both).repeat_interleave(case.vocab)
    return {
        "projective": projective,
        "active": [int(sum(flags.sum() for flags in levels)) for levels in intervals],
        "conflict": probability,
        "first": first,
    }


def check_masks(tensors: Tensors) -> Answer:
    """`P_b` against the product of its blocks, `P_i` against `P_i^{M_i} x P_b^{rest}`, as joints."""
    case, background, experts = tensors
    base = joint(background)
    product = base.new_ones(())
    for block in case.blocks:
        product = product * marginal(base, block, case, keep=True)
    largest = tv(base.reshape(product.shape), product)
    for expert, mask in zip(experts, case.masks, strict=True):
        law = joint(expert)
        product = marginal(law, mask, case, keep=True) * marginal(base, case.outside(mask), case, keep=True)
        largest = max(largest, tv(law.reshape(product.shape), product))
    return {"factorized": largest <= TOLERANCE}


TORCH = Engine(
    "PyTorch",
    ("torch",),
    ("torch",),
    prepare,
    {"survey": survey, "masks": check_masks},
    "the same as NumPy, in tensors on all cores",
)
