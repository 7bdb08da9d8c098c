"""The composition against a reference model, sequence by sequence. Source: theory.md 7.2 and 8.2.

Symbols: `P^` the composition, `S` the reference with kernels `s`, `f_h = log w(.|h) - log s(.|h)` on the support of
`s`, `o(h) = osc f_h`, `d(h) = TV(p^(.|h), s(.|h))`. At prefixes outside `R^` the KL counts as infinite and `d` as 0;
where `S` leaves `R^`, the KL is infinite one step before, so that only `R^` needs to be visited.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.bounds.per_prefix import (
    cross_deviation,
    divergence,
    kl_bound,
    log_ratio,
    oscillation_of,
    total_variation,
    tv_bound,
)
from factorcomp.bounds.ratio_caps import capped_deviation
from factorcomp.bounds.sequences import exponential, floor, pinsker, small_deviations
from factorcomp.enumeration.levels import Step
from factorcomp.enumeration.summary import Summary
from factorcomp.enumeration.tree import first_met
from factorcomp.inequalities import Bound, Comparison, Quantity

Logs = Float[np.ndarray, "_ vocab"]
LEAVES = "the composition goes where the reference cannot"
DROPPED = "a token that only the assigned expert makes possible is dropped"


@dataclass
class Budget:
    """Sums over the prefixes of `R^`, by name: what a path is expected to collect."""

    sums: dict[str, float]

    def add(self, name: str, probability: Float[np.ndarray, " prefixes"], term: Float[np.ndarray, " prefixes"]) -> None:
        """Add `E term`, where 0 times infinity is 0."""
        counted = probability > 0
        self.sums[name] = self.sums.get(name, 0.0) + float((probability[counted] * term[counted]).sum())

    def __getitem__(self, name: str) -> float:
        return self.sums.get(name, 0.0)


@dataclass(frozen=True)
class Against:
    """One pass over the levels: the budgets, and what the hypotheses of the bounds ask.

    `overlap`: `P^` meets a prefix at which `p^ != s`. `covered`: `P^ << S`. `dropped`: the convention excludes a token
    that the assigned expert opens: then 8.2 (4) fails, for experts off duty have no part in it. `agreement`:
    `sum_y prod_t min(p^, s)`.
    `smallest`: the smallest `d` at a prefix that both reach. `deviation`: ε of 8.2 (4), and `unassigned`: of how many
    experts at most. `tv`, `kl`, `reverse_kl`: of the laws, from the sequences.
    """

    same: bool
    covered: bool
    dropped: bool
    overlap: float
    agreement: float
    smallest: float
    deviation: float
    unassigned: int
    tv: float
    kl: float
    reverse_kl: float
    budget: Budget


def certain(step: Step) -> Bool[np.ndarray, " prefixes"]:
    """Where the composition's row is no result of rounding: at most one expert differs, or one token is possible."""
    return step.settled | ((step.log_probs > -np.inf).sum(axis=1) == 1)


def against(
    seen: Summary, reference: Sequence[Logs], assigned: Sequence[Int[np.ndarray, "_"]] | None = None
) -> Against:
    """Compares the composition with the kernels `reference`, level by level.

    `assigned`: of a switching model the component at each prefix, 0 the background.
    """
    budget, differing = Budget({}), []
    log_s, log_min = np.zeros(1), np.zeros(1)
    covered, inside, smallest, deviation, unassigned, sure = True, True, math.inf, 0.0, 0, True
    dropped = False
    for length, (law, step, rows) in enumerate(zip(seen.laws, seen.steps, reference, strict=False)):
        on = np.flatnonzero(law.reachable)
        p, s = step.log_probs[on], rows[on]
        mine, theirs = law.probability[on], np.exp(log_s[on])
        f = log_ratio(p + step.log_normalizer[on, None], s)
        o, d = oscillation_of(f, s), total_variation(p, s)
        differ = (p != s).any(axis=1)
        sure &= bool(certain(step)[on].all())
        d = np.where(differ, d, 0.0)
        forward = np.where(differ, divergence(s, p), 0.0)
        budget.add("d", theirs, d)
        budget.add("d_composition", mine, d)
        budget.add("kl", theirs, forward)
        budget.add("tanh", theirs, np.where(differ, tv_bound(o), 0.0))
        budget.add("oscillation", theirs, np.where(differ, kl_bound(o), 0.0))
        budget.add("cross", theirs, np.where(differ, cross_deviation(s, f), 0.0))
        both = log_s[on] > -np.inf
        covered &= not ((p > -np.inf) & (s == -np.inf))[both].any()
        inside &= not ((s > -np.inf) & (p == -np.inf))[both].any()
        smallest = min(smallest, float(d[both].min(initial=math.inf)))
        if assigned is not None and step.rows is not None:
            who = assigned[length][on]
            components = step.rows.components[:, on]
            caps = np.where(differ, capped_deviation(components, who), 0.0)
            budget.add("caps", theirs, caps)
            dropped |= bool(((s > -np.inf) & (components[0] == -np.inf) & (p == -np.inf)).any())
            other = np.arange(1, len(components))[:, None] != who
            deviation = max(deviation, float(np.where(other, step.oscillation[:, on], 0.0).max(initial=0.0)))
            unassigned = max(unassigned, int(other.sum(axis=0).max(initial=0)))
        flags = np.zeros(len(law.reachable), dtype=bool)
        flags[on[differ]] = True
        differing.append(flags)
        extended = np.full((len(log_min), rows.shape[1]), -np.inf)
        extended[on] = log_min[on, None] + np.minimum(p, s)
        log_min, log_s = extended.reshape(-1), (log_s[:, None] + rows).reshape(-1)
    leaves = seen.laws[-1]
    same = sure and not any(flags.any() for flags in differing)
    log_p, log_s = leaves.log_composition[leaves.reachable], log_s[leaves.reachable]
    tv = 0.0 if same else _excess(log_p, log_s)
    return Against(
        same=same,
        covered=covered,
        dropped=dropped,
        overlap=min(1.0, seen.mass(first_met(differing, seen.vocab))),
        agreement=float(np.exp(log_min).sum()),
        smallest=0.0 if smallest == math.inf else smallest,
        deviation=deviation,
        unassigned=unassigned,
        tv=tv,
        kl=0.0 if same else _law_kl(log_s, log_p) if inside else math.inf,
        reverse_kl=0.0 if same else _law_kl(log_p, log_s) if covered else math.inf,
        budget=budget,
    )


def _excess(log_p: Float[np.ndarray, " sequences"], log_q: Float[np.ndarray, " sequences"]) -> float:
    """`TV = sum (P(y) - Q(y))_+` over the support of `P`."""
    return float((np.exp(log_p) * -np.expm1(np.minimum(log_q - log_p, 0.0))).sum())


def _law_kl(log_p: Float[np.ndarray, " sequences"], log_q: Float[np.ndarray, " sequences"]) -> float:
    """`KL(P || Q)` of laws over the same sequences, those of `P` possible under `Q`; others have mass 0 under both."""
    possible = log_p > -np.inf
    return max(0.0, float((np.exp(log_p[possible]) * (log_p - log_q)[possible]).sum()))


def comparison(name: str, words: str, found: Against, length: int) -> Comparison:
    """Theorem 8.2 with its truths beside it; nothing but the fact where both are one distribution."""
    if found.same:
        return Comparison(name, words, True, 0.0, 0.0, 0.0)
    budget, kl = found.budget, found.budget["kl"]
    switching = name in ("switching", "nearest")
    bounds = [
        _bound(found, "kl", "oscillation", "expected o²/8, summed", "8.2 (1)", budget["oscillation"], covered=True),
        _bound(found, "tv", "overlap", "a prefix is met where they differ", "8.2 (3)", found.overlap),
        _bound(found, "tv", "minimum", "1 - E prod min(1, p̂/s)", "8.2 (2)", max(0.0, 1 - found.agreement)),
        _bound(found, "tv", "distances", "expected TV per step, summed", "8.2 (2)", budget["d"]),
        _bound(found, "tv", "distances_met", "the same under the composition", "8.2 (2)", budget["d_composition"]),
        _bound(found, "tv", "tanh", "expected tanh(o/4), summed", "8.1", budget["tanh"], covered=True),
        _bound(found, "tv", "cross", "expected E_s|w/s - 1|, summed", "8.1", budget["cross"], covered=True),
        _bound(found, "tv", "pinsker", "sqrt(KL/2)", "8.2 (1)", pinsker(kl)),
        _bound(found, "tv", "exponential", "sqrt(1 - exp(-KL))", "8.2 (1)", exponential(kl)),
        _bound(
            found,
            "tv",
            "pinsker_oscillation",
            "sqrt(KL/2), KL by o²/8",
            "8.2 (1)",
            pinsker(budget["oscillation"]),
            covered=True,
        ),
    ]
    if switching:
        small = small_deviations(length, found.unassigned, found.deviation)
        bounds += [
            _bound(found, "tv", "small_deviations", "largest osc off duty", "8.2 (4)", small, covered=True, whole=True),
            _bound(found, "tv", "ratio_caps", "ratio caps, summed", "8.4", budget["caps"]),
        ]
    if found.smallest > 0:
        below = floor(length, found.smallest)
        bounds.append(Bound("floor", "at least: TV per step", "7.2", "tv", found.tv, below, below=True))
    return Comparison(name, words, False, found.tv, found.kl, found.reverse_kl, tuple(bounds))


def _bound(
    found: Against,
    quantity: Quantity,
    name: str,
    words: str,
    source: str,
    value: float,
    *,
    covered: bool = False,
    whole: bool = False,
) -> Bound:
    """A bound; `covered`: it needs `P^ << S`; `whole`: it needs that nothing is dropped."""
    truth = found.tv if quantity == "tv" else found.kl
    why = LEAVES if covered and not found.covered else DROPPED if whole and found.dropped else ""
    return Bound(name, words, source, quantity, truth, None if why else value, why)


def nearest(seen: Summary) -> tuple[list[Int[np.ndarray, "_"]], list[Logs]]:
    """`S*`: at each prefix the component nearest to the composition, the first one of those as near within rounding."""
    who, rows = [], []
    for step in seen.steps:
        assert step.rows is not None
        components = step.rows.components
        first = np.where(step.differs.any(axis=0), step.differs.argmax(axis=0) + 1, 0)
        unsettled = np.flatnonzero(~step.settled)
        some = components[:, unsettled]
        tv = total_variation(some, np.broadcast_to(step.log_probs[unsettled], some.shape))
        first[unsettled] = (tv <= tv.min(axis=0) + 2 * step.error[unsettled]).argmax(axis=0)
        who.append(first)
        rows.append(np.take_along_axis(components, first[None, :, None], axis=0)[0])
    return who, rows


def assigned_to(seen: Summary, rows: Sequence[Logs]) -> list[Int[np.ndarray, "_"]]:
    """The first component whose row each row is."""
    return [
        (step.rows.components == row).all(axis=2).argmax(axis=0)
        for step, row in zip(seen.steps, rows, strict=True)
        if step.rows is not None
    ]
