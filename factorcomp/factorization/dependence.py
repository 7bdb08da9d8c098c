"""How much the blocks depend on each other, and what that does to projectivity. Source: theory.md 2.9, 2.10, 2.11.

Blocks are the masks and the rest; `P^M` is the law of the tokens on the block `M`.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int

from factorcomp.bounds.per_prefix import divergence
from factorcomp.bounds.sequences import exponential, pinsker, tilted_tv
from factorcomp.enumeration.summary import Summary
from factorcomp.enumeration.tree import digits, log_sum
from factorcomp.factorization.reference import certain
from factorcomp.inequalities import Bound, Comparison

Block = tuple[int, ...]
Masks = Mapping[int, Block]
"""The positions of each expert, by its place."""


def projective(seen: Summary, expert: int, name: str, positions: Block, *, holds: bool) -> Comparison:
    """The composition's marginal on a mask against the expert's (2.9), and the directed information into it (2.10).

    `KL(P^^M || P_i^M) <= D_i = sum_{t in M} E_{P^} KL(p_i(.|y_<t) || P_i(y_t = . | y_{M, <t}))` where the composition
    is the expert at the positions of its mask. `holds`: the marginals are known to be the same.
    """
    words = f"the mask of {name}"
    if holds or not positions:
        return Comparison(f"projective:{name}", words, True, 0.0, 0.0, 0.0)
    length = positions[-1] + 1
    laws, cells = seen.laws[length], digits(length, positions, seen.vocab)
    count = seen.vocab ** len(positions)
    mine = np.bincount(cells, weights=laws.probability, minlength=count)
    own = np.bincount(cells, weights=np.exp(laws.log_models[expert + 1]), minlength=count)
    with np.errstate(divide="ignore"):
        log_mine, log_own = np.log(mine), np.log(own)
    tv = 0.5 * float(np.abs(mine - own).sum())
    kl, reverse = (float(divergence(p, q)) for p, q in ((log_mine, log_own), (log_own, log_mine)))
    information, why = directed_information(seen, expert, positions), ""
    if not all(follows(seen, expert, t) for t in positions):
        information, why = None, "the composition is not the expert at every position of its mask"
    elif kl == math.inf:
        information, why = None, "the composition's tokens on the mask are not all possible under the expert"
    halved, bounded = (None if information is None else to_tv(information) for to_tv in (pinsker, exponential))
    bounds = (
        Bound("directed_information", "directed information D", "2.10", "kl", kl, information, why),
        Bound("pinsker", "sqrt(D/2)", "2.10", "tv", tv, halved, why),
        Bound("exponential", "sqrt(1 - exp(-D))", "2.10", "tv", tv, bounded, why),
    )
    return Comparison(f"projective:{name}", words, False, tv, kl, reverse, bounds)


def follows(seen: Summary, expert: int, position: int) -> bool:
    """Whether the composition's row is the expert's at every prefix of this length that it reaches."""
    step, reached = seen.steps[position], seen.laws[position].reachable
    assert step.rows is not None
    others = np.delete(step.differs, expert, axis=0)[:, reached].any()
    same = ((step.log_probs == step.rows.components[expert + 1]).all(axis=1) & certain(step))[reached].all()
    return bool(same) or (bool(step.settled[reached].all()) and not others)


def directed_information(seen: Summary, expert: int, positions: Block) -> float:
    """`D_i`, the expectation under the composition; inf where it meets a history that the expert excludes."""
    total = 0.0
    for t in positions:
        step, law = seen.steps[t], seen.laws[t]
        assert step.rows is not None
        conditional = block_rows(seen, expert + 1, t, positions)
        mass = law.probability
        counted = mass > 0
        kl = divergence(step.rows.components[expert + 1][counted], conditional[counted])
        total += float((mass[counted] * kl).sum())
    return total


def block_rows(seen: Summary, model: int, position: int, block: Block) -> Float[np.ndarray, "prefixes vocab"]:
    """The logs of `P(y_t = . | y_{B, <t})` at every prefix of `position` tokens; all -inf after impossible histories.

    `model`: 0 the background, then the experts.
    """
    vocab = seen.vocab
    before = [t for t in block if t < position]
    cells = digits(position + 1, [*before, position], vocab)
    joint = np.bincount(cells, weights=np.exp(seen.laws[position + 1].log_models[model]))
    joint = joint.reshape(-1, vocab)
    mass = joint.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        rows = np.log(joint / np.where(mass > 0, mass, 1.0))
    return rows[digits(position, before, vocab)]


def target_rows(seen: Summary, masks: Masks) -> list[Float[np.ndarray, "_ vocab"]]:
    """The kernels of the target `P_b^{M_0} ⊗ ⊗_i P_i^{M_i}` of Theorem 2.2, wherever it goes."""
    rows = []
    for t in range(len(seen.steps)):
        owner, block = owner_of(t, masks, len(seen.steps))
        rows.append(block_rows(seen, owner, t, block))
    return rows


def owner_of(position: int, masks: Masks, length: int) -> tuple[int, Block]:
    """The component that owns a position, 0 the background, and its block."""
    for expert, positions in masks.items():
        if position in positions:
            return expert + 1, positions
    owned = {t for positions in masks.values() for t in positions}
    return 0, tuple(t for t in range(length) if t not in owned)


def lawful(seen: Summary) -> bool:
    """Whether every component has a law: a weighted expert may share no token with the background where it goes."""
    mass = np.exp(seen.laws[-1].log_models).sum(axis=1)
    return bool((np.abs(mass - 1) <= LAW).all())


LAW = 1e-6
"""How far from 1 the mass of a law may be, by rounding alone: rows are normalised within far less."""


def robust_factorization(seen: Summary, masks: Masks) -> Comparison:
    """Theorem 2.11: `TV(P_G, target) <= tanh(osc(sum g_i - (k-1) g_b)/4)`, `P_b = Π_b e^{g_b}`, `P_i = Π_i e^{g_i}`.

    `Π_b = ⊗_j P_b^{M_j}`, `Π_i = P_i^{M_i} ⊗ ⊗_{j != i} P_b^{M_j}`; osc over the support of the target. An expert
    without a mask owns nothing: its `Π_i` is `Π_b`.
    """
    leaves, length = seen.laws[-1], len(seen.steps)
    experts = len(leaves.log_models) - 1
    masks = {i: masks.get(i, ()) for i in range(experts)}
    owned = {t for positions in masks.values() for t in positions}
    rest = tuple(t for t in range(length) if t not in owned)
    of_background = {i: _block_law(seen, 0, positions) for i, positions in masks.items()}
    of_expert = {i: _block_law(seen, i + 1, positions) for i, positions in masks.items()}
    free = _block_law(seen, 0, rest)
    product_b = free + sum(of_background.values())
    target = free + sum(of_expert.values())
    products = [product_b]
    for i in range(experts):
        others = [of_background[j] for j in range(experts) if j != i]
        products.append(free + of_expert[i] + sum(others))
    why = ""
    for i, (law, product) in enumerate(zip(leaves.log_models, products, strict=True)):
        if ((law > -np.inf) != (product > -np.inf)).any():
            who = "the background" if i == 0 else "an expert"
            why = f"{who} excludes sequences that the product of its blocks makes possible"
    if not why and any(((of_expert[i] > -np.inf) & (of_background[i] == -np.inf)).any() for i in range(experts)):
        why = "an expert makes possible on its mask what the background excludes"
    path = np.where(leaves.reachable, leaves.log_composition + leaves.path_log_normalizer, -np.inf)
    log_global, log_target = path - log_sum(path), target - log_sum(target)
    tv = 0.5 * float(np.abs(np.exp(log_global) - np.exp(log_target)).sum())
    value = None
    if not why:
        on = target > -np.inf
        leaks = [(law[on] - product[on]) for law, product in zip(leaves.log_models, products, strict=True)]
        exponent = sum(leaks[1:]) - (experts - 1) * leaks[0]
        value = tilted_tv(float(exponent.max() - exponent.min()))
    words = "sequence-level composition and the product of the blocks"
    bound = Bound("robust_factorization", "tanh(osc/4), osc of the leaks", "2.11", "tv", tv, value, why)
    return Comparison("global_target", words, False, tv, bounds=(bound,))


def _block_law(seen: Summary, model: int, positions: Sequence[int]) -> Float[np.ndarray, " sequences"]:
    """At every sequence the log of the law of its tokens at `positions`."""
    length, vocab = len(seen.steps), seen.vocab
    cells: Int[np.ndarray, " sequences"] = digits(length, positions, vocab)
    mass = np.bincount(cells, weights=np.exp(seen.laws[-1].log_models[model]), minlength=vocab ** len(positions))
    with np.errstate(divide="ignore"):
        return np.log(mass)[cells]
