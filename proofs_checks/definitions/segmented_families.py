"""Families whose composition follows one expert through a segment, by construction: the hypotheses of 4.5, 5.1, 7.1."""

from dataclasses import replace

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family, Prefix, Row, Shape, interval_owners, shape
from proofs_checks.definitions.segments import (
    Event,
    Segmented,
    Skills,
    Times,
    before,
    inside,
    owned_times,
    pasts,
    stopping_times,
)


def event_of(draw: Draw, times: Times) -> Event:
    """An event of `F_{σ_2}`: any of the entered runs, and either all runs that never enter or none."""
    never = pasts(times, of_entered=False) if draw.one_in(2) else ()
    return frozenset((*draw.subset(pasts(times, of_entered=True)), *never))


def rows(draw: Draw, of: Shape, base: Row, deviator: int | None, acts: bool) -> tuple[Row, ...]:
    """The experts' rows at a prefix: one deviator, which may open tokens, the rest the background; or common support.

    `acts`: the composition must be the deviator: where the others deviate too, it is deterministic (4.4, i).
    """
    sole = acts or draw.one_in(2)
    if not sole:
        return tuple(draw.row_inside(base) for _ in range(of.experts))
    rows = [base] * of.experts
    if deviator is not None:
        rows[deviator] = draw.row(of.size, zeros=of.zeros)
        if acts and draw.one_in(5):
            token = draw.pick([token for token, mass in enumerate(base) if mass])
            rows = [draw.row_inside(base) for _ in rows]
            rows[deviator] = tuple(type(mass)(place == token) for place, mass in enumerate(base))
    return tuple(rows)


def segmented(
    draw: Draw, *, acts: bool = True, drift: bool = True, dominated: bool = False, of: Shape | None = None
) -> Segmented:
    """`p^ = p_i` from `σ_1` until before `σ_2`, whatever happens elsewhere; no prefix is dead.

    `acts`: that is so. `drift`: other experts may deviate before `σ_1`. `dominated`: outside of the segment all models
    have one support, so that the expert reaches what the composition reaches.
    """
    of = of or shape(draw)
    times, expert = stopping_times(draw, of.size, of.length), draw.integer(0, of.experts - 1)
    within, earlier = inside(times), before(times)
    background: dict[Prefix, Row] = {}
    experts: list[dict[Prefix, Row]] = [{} for _ in range(of.experts)]
    for h in of.prefixes:
        background[h] = draw.row(of.size, zeros=of.zeros)
        if h in within and acts:
            found = rows(draw, of, background[h], expert, acts=True)
        elif h in earlier and not drift:
            mine = draw.row_inside(background[h]) if dominated else draw.row(of.size, zeros=of.zeros)
            found = tuple(mine if i == expert else background[h] for i in range(of.experts))
        elif dominated:
            found = tuple(draw.row_inside(background[h]) for _ in range(of.experts))
        else:
            found = rows(draw, of, background[h], draw.integer(0, of.experts - 1), acts=False)
        for kernel, row in zip(experts, found, strict=True):
            kernel[h] = row
    family = Family(of.size, of.length, background, tuple(experts))
    return Segmented(family, expert, times, event_of(draw, times))


def own_history(draw: Draw) -> Segmented:
    """As `segmented`, from a fixed time to the horizon, with an expert that sees its own segment alone."""
    drawn = segmented(draw, dominated=True)
    family, expert = drawn.family, drawn.expert
    start = draw.integer(0, family.length)
    times = dict.fromkeys(drawn.times, (start, family.length))
    rows: dict[Prefix, Row] = {}
    kernels = [dict(family.background), *(dict(one) for one in family.experts)]
    for h in family.prefixes:
        if len(h) >= start:
            rows.setdefault(h[start:], draw.row(family.size, zeros=True))
            for number, kernel in enumerate(kernels, start=-1):
                kernel[h] = rows[h[start:]] if number == expert else kernels[0][h]
        else:
            for kernel in kernels[1:]:
                kernel[h] = draw.row_inside(kernels[0][h])
    family = replace(family, background=kernels[0], experts=tuple(kernels[1:]))
    return Segmented(family, expert, times, event_of(draw, times))


def skills(draw: Draw, *, exact: bool = True, zeros: bool | None = None) -> Skills:
    """Experts with one interval each on every path (JF-int), and events of their segments.

    `exact`: nobody but the owner deviates at a prefix. Otherwise everybody does, a little, on the background's support.
    """
    of = shape(draw, zeros=zeros)
    owners = interval_owners(draw, of)
    background = {h: draw.row(of.size, zeros=of.zeros) for h in of.prefixes}

    def row(expert: int, h: Prefix) -> Row:
        if exact:
            return draw.row(of.size, zeros=of.zeros) if owners[h] == expert else background[h]
        strength = 3 if owners[h] == expert else 30
        weights = [mass * (strength + draw.integer(0, 4)) for mass in background[h]]
        return tuple(weight / sum(weights) for weight in weights)

    experts = tuple({h: row(expert, h) for h in of.prefixes} for expert in range(1, of.experts + 1))
    times = [owned_times(owners, expert, of.size, of.length) for expert in range(1, of.experts + 1)]
    return Skills(Family(of.size, of.length, background, experts), owners, tuple(event_of(draw, one) for one in times))
