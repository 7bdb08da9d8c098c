"""Theorem 5.1 (inherited guarantees): what an expert guarantees from every entry prefix, its composition keeps.

Under 4.5 the composition is expert `i` from `σ_1` until before `σ_2`; how it comes to the entry prefix is its own
affair. `G` is an event of `F_{σ_2}`: a set of prefixes `y_{<=σ_2}`.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Shape
from proofs_checks.definitions.laws import (
    ONE,
    ZERO,
    Law,
    Prefix,
    law_of,
    law_tv,
    mass_of,
    probability_that,
    pushforward,
    reach,
    total,
)
from proofs_checks.definitions.operator import compose
from proofs_checks.definitions.segmented_families import own_history, segmented, skills
from proofs_checks.definitions.segments import (
    Segmented,
    Skills,
    entered,
    entries,
    entry,
    least_guarantee,
    past,
    pasts,
    run_from,
    segment,
)
from proofs_checks.statement import Control, Relation, Statement, at_most, equal

EXACT = ("p^(.|h) = p_i(.|h) for h in R^ with σ_1 <= |h| < σ_2", "no prefix of R^ is dead", "G in F_{σ_2}")


def laws(case: Segmented) -> tuple[Law, Law]:
    """`P^` and `P_i`."""
    family = case.family
    return compose(family).local, law_of(case.kernel, family.size, family.length)


def succeeds(case: Segmented, path: Prefix) -> bool:
    """`G` and entered."""
    return entered(case.times, path) and past(case.times, path) in case.event


def fails(case: Segmented, path: Prefix) -> bool:
    """Entered, and not `G`."""
    return entered(case.times, path) and past(case.times, path) not in case.event


def chance_from(case: Segmented, prefix: Prefix) -> Fraction:
    """`P_i(G|g)`."""
    run = run_from(case.kernel, prefix, case.family.size, case.family.length)
    return probability_that(run, lambda path: past(case.times, path) in case.event)


def check_total_probability(case: Segmented) -> Iterator[Relation]:
    """The formula before (1)."""
    for name, law in zip(("P^", "P_i"), laws(case), strict=True):
        whole = total(mass_of(law, g) * chance_from(case, g) for g in entries(case.times))
        mine = probability_that(law, lambda path: succeeds(case, path))
        yield equal(f"{name}(G, σ_1 < T) = sum_g {name}(g) P_i(G|g)", mine, whole)


def check_drift(case: Segmented) -> Iterator[Relation]:
    """(1)"""
    composed, alone = laws(case)
    here, there = (pushforward(law, lambda path: entry(case.times, path)) for law in (composed, alone))
    drift = law_tv(here, there)

    def difference(event) -> Fraction:
        one, other = (probability_that(law, lambda path: past(case.times, path) in event) for law in (composed, alone))
        return abs(one - other)

    yield at_most("|P^(G) - P_i(G)| <= TV(entry)", difference(case.event), drift)
    gained = {g for g in {*here, *there} if here.get(g, ZERO) > there.get(g, ZERO)}
    worst = {past(case.times, path) for path in case.times if entry(case.times, path) in gained}
    yield equal("attained where G = {P^(g) > P_i(g)}", difference(worst), drift)


def check_no_drift(case: Segmented) -> Iterator[Relation]:
    """(1), the last clause."""
    composed, alone = laws(case)
    here, there = (pushforward(law, lambda path: entry(case.times, path)) for law in (composed, alone))
    yield equal("the entry prefix has one law", here, there)
    one, other = (probability_that(law, lambda path: past(case.times, path) in case.event) for law in (composed, alone))
    yield equal("P^(G) = P_i(G)", one, other)


def check_dropping(case: Segmented) -> Iterator[Relation]:
    """False: no drift under `drop` either, where the expert opens tokens before `σ_1`."""
    composed, alone = compose(case.family, "drop"), laws(case)[1]
    if composed.well_defined:
        here, there = (pushforward(law, lambda path: entry(case.times, path)) for law in (composed.local, alone))
        yield equal("the entry prefix has one law", here, there)


def check_uniform(case: Segmented) -> Iterator[Relation]:
    """(2)"""
    family, composed = case.family, laws(case)[0]
    reached = [g for g in entries(case.times) if mass_of(composed, g)]
    guarantee = least_guarantee(case.kernel, case.times, case.event, reached, family.size, family.length)
    enters = probability_that(composed, lambda path: entered(case.times, path))
    failing = probability_that(composed, lambda path: fails(case, path))
    yield at_most("P^(entered, not G) <= δ P^(entered)", failing, guarantee * enters)
    if len(reached) == 1:
        yield equal("attained with one entry prefix", failing, guarantee * enters)


def check_average_guarantee(case: Segmented) -> Iterator[Relation]:
    """False: (2) with the expert's average failure rate for `δ`."""
    composed, alone = laws(case)
    rates = [probability_that(law, lambda path: fails(case, path)) for law in (composed, alone)]
    enters = [probability_that(law, lambda path: entered(case.times, path)) for law in (composed, alone)]
    if enters[1]:
        yield at_most("P^(entered, not G) <= δ P^(entered)", rates[0], rates[1] / enters[1] * enters[0])


def check_all(case: Skills) -> Iterator[Relation]:
    """(3), exact."""
    family, composed = case.family, compose(case.family).local
    yield from union_bound(case, composed, composed, reach(composed, family.length), ZERO)


def check_near(case: Skills) -> Iterator[Relation]:
    """(3), near a switching law."""
    family, composed = case.family, compose(case.family).local
    switching = law_of(case.switching, family.size, family.length)
    yield from union_bound(case, composed, switching, reach(switching, family.length), law_tv(composed, switching))


def union_bound(case: Skills, composed: Law, entering: Law, reached: set[Prefix], gap: Fraction) -> Iterator[Relation]:
    """`P^(all entered skills succeed) >= 1 - sum_i δ_i P(enter_i) - gap`."""
    budget = total(
        delta * probability_that(entering, lambda path, times=times: entered(times, path))
        for delta, times in zip(case.guarantees(reached), case.times, strict=True)
    )
    succeed = probability_that(composed, case.all_succeed)
    yield at_most("1 - sum_i δ_i P(enter_i) - TV <= P^(all entered skills succeed)", ONE - budget - gap, succeed)


def check_without_gap(case: Skills) -> Iterator[Relation]:
    """False: (3) near a switching law, without the TV."""
    family, composed = case.family, compose(case.family).local
    switching = law_of(case.switching, family.size, family.length)
    yield from union_bound(case, composed, switching, reach(switching, family.length), ZERO)


def check_average(case: Segmented) -> Iterator[Relation]:
    """(4)"""
    composed, alone = laws(case)
    reached = [g for g in entries(case.times) if mass_of(composed, g)]
    if not reached:
        return
    if any(not mass_of(alone, g) for g in reached):
        yield at_most("P^(entered, not G) <= ∞", probability_that(composed, lambda path: fails(case, path)), ONE)
        return
    factor, worst = max((mass_of(composed, g) / mass_of(alone, g), g) for g in reached)

    def failing(law: Law, one: Segmented) -> Fraction:
        return probability_that(law, lambda path: fails(one, path))

    yield at_most("P^(entered, not G) <= δ sup_g P^(g)/P_i(g)", failing(composed, case), failing(alone, case) * factor)
    elsewhere = {p for p in pasts(case.times, of_entered=True) if p[: len(worst)] != worst}
    only = replace(case, event=elsewhere)
    yield equal(
        "attained where G fails from the worst entry alone", failing(composed, only), failing(alone, only) * factor
    )


def check_average_unweighted(case: Segmented) -> Iterator[Relation]:
    """False: (4) without the factor."""
    composed, alone = laws(case)
    rates = [probability_that(law, lambda path: fails(case, path)) for law in (composed, alone)]
    yield at_most("P^(entered, not G) <= δ", *rates)


def check_segment_law(case: Segmented) -> Iterator[Relation]:
    """(5)"""
    composed, alone = laws(case)
    here, there = (pushforward(law, lambda path: segment(case.times, path)) for law in (composed, alone))
    entry_here, entry_there = (pushforward(law, lambda path: entry(case.times, path)) for law in (composed, alone))
    joint = pushforward(alone, lambda path: (entry(case.times, path), segment(case.times, path)))
    mean: dict[Prefix | None, Fraction] = {}
    for (g, cell), mass in joint.items():
        mean[cell] = mean.get(cell, ZERO) + mass / there[cell] * entry_here.get(g, ZERO) / entry_there[g]
    constant = all(value == 1 for value in mean.values())
    yield equal("equal for all segment events iff E_i[P^(g)/P_i(g)|segment] = 1", here == there, constant)
    distance = total(there[cell] * abs(value - 1) for cell, value in mean.items()) / 2
    yield equal("TV of the segments = ½ E_i|E_i[P^(g)/P_i(g)|segment] - 1|", law_tv(here, there), distance)


def small(draw: Draw) -> Shape:
    """Two experts, two steps and two tokens: where the controls look."""
    return Shape(2, 2, 2, zeros=draw.one_in(2))


def with_event_across(draw: Draw) -> Segmented:
    """An event that holds of some runs that never enter, not of all, and not only of these."""
    case = segmented(draw, of=small(draw))
    return replace(case, event=frozenset(draw.subset(pasts(case.times, of_entered=False))))


def beyond_reach(draw: Draw) -> Segmented:
    """The expert need not reach what the composition reaches."""
    return segmented(draw, of=Shape(2, draw.integer(2, 3), 2, zeros=True))


def absolutely_continuous(draw: Draw) -> Segmented:
    """What the composition enters the expert enters; at times the drift does not show in the segment."""
    return own_history(draw) if draw.one_in(3) else segmented(draw, dominated=True, drift=not draw.one_in(4))


STATEMENTS = (
    Statement(
        number="5.1",
        kind="theorem",
        sentence="a segment succeeds as often as the expert succeeds from each entry prefix, weighed by the entries",
        equation="P^(G, σ_1<T) = sum_g P^(g) P_i(G|g),   P_i(G, σ_1<T) = sum_g P_i(g) P_i(G|g)",
        hypotheses=EXACT,
        draw=segmented,
        check=check_total_probability,
        controls=(Control(EXACT[0], lambda draw: segmented(draw, acts=False, of=small(draw))),),
    ),
    Statement(
        number="5.1 (1)",
        kind="theorem",
        sentence="success changes by no more than the law of the entry prefix does",
        equation="|P^(G) - P_i(G)| <= TV(entry prefix under P^, under P_i)",
        hypotheses=(*EXACT, "G ⊂ {σ_1<T} or G ⊇ {σ_1=T}", "'not entered' is a value of the entry prefix"),
        draw=segmented,
        check=check_drift,
        controls=(Control("G ⊂ {σ_1<T} or G ⊇ {σ_1=T}", with_event_across),),
    ),
    Statement(
        number="5.1 (1) no drift",
        kind="theorem",
        sentence="where no other expert deviates before the entry, success does not change at all",
        equation="P^(G) = P_i(G)",
        hypotheses=(
            *EXACT,
            "G ⊂ {σ_1<T} or G ⊇ {σ_1=T}",
            "no other expert deviates at h in R^ with |h| < σ_1; cancel, or p_i << p_b",
        ),
        draw=lambda draw: segmented(draw, drift=False),
        check=check_no_drift,
        controls=(
            Control("no other expert deviates before σ_1", lambda draw: segmented(draw, of=small(draw))),
            Control("cancel, or p_i << p_b: drop", lambda draw: segmented(draw, drift=False), check_dropping),
        ),
    ),
    Statement(
        number="5.1 (2)",
        kind="theorem",
        sentence="a guarantee from every entry prefix is inherited",
        equation="P_i(G|g) >= 1 - δ for all entry g in R^  =>  P^(entered, not G) <= δ P^(entered)",
        hypotheses=EXACT,
        draw=segmented,
        check=check_uniform,
        controls=(
            Control(
                "'from every entry prefix': on average",
                lambda draw: segmented(draw, of=small(draw)),
                check_average_guarantee,
            ),
        ),
    ),
    Statement(
        number="5.1 (3)",
        kind="theorem",
        sentence="all skills that are entered succeed, but for the sum of the guarantees",
        equation="P^(all entered skills succeed) >= 1 - sum_i δ_i P^(enter_i)",
        hypotheses=(
            "each expert's composition is exact in its interval",
            "P_i(G_i|g) >= 1 - δ_i for all entry g in R^",
        ),
        draw=skills,
        check=check_all,
        controls=(Control("exact in the intervals", lambda draw: skills(draw, exact=False)),),
    ),
    Statement(
        number="5.1 (3) near",
        kind="theorem",
        sentence="near a switching law the total variation to it is added",
        equation="P^(all entered skills succeed) >= 1 - sum_i δ_i S(enter_i) - TV(P^, S)",
        hypotheses=("S switches between the experts, one interval each", "P_i(G_i|g) >= 1 - δ_i for all entry g of S"),
        draw=lambda draw: skills(draw, exact=False),
        check=check_near,
        controls=(Control("the term TV(P^, S)", lambda draw: skills(draw, exact=False), check_without_gap),),
    ),
    Statement(
        number="5.1 (4)",
        kind="theorem",
        sentence="an average guarantee is inherited up to the largest ratio of entry probabilities",
        equation="P^(entered, not G) <= δ sup_g P^(g)/P_i(g)",
        hypotheses=(
            *EXACT,
            "P_i(entered, not G) <= δ",
            "the sup over entry prefixes with P^(g) > 0, ∞ if some P_i(g) = 0",
        ),
        draw=segmented,
        check=check_average,
        controls=(Control("the factor sup_g P^(g)/P_i(g)", beyond_reach, check_average_unweighted),),
    ),
    Statement(
        number="5.1 (5)",
        kind="theorem",
        sentence="segment events keep their probabilities iff the entry ratio has mean 1 given the segment",
        equation="P^(E) = P_i(E) for all segment events E iff E_i[P^(g)/P_i(g) | segment] = 1",
        hypotheses=(*EXACT[:2], "P^(g) > 0 => P_i(g) > 0", "'not entered' is a value of the segment and of g"),
        draw=absolutely_continuous,
        check=check_segment_law,
        controls=(Control("P^(g) > 0 => P_i(g) > 0", beyond_reach),),
    ),
)
