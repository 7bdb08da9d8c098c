"""Random small automata, by construction: products of a few states, rows that often agree, masks on a clock."""

from dataclasses import replace

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.automata import Automaton, Clock, Machines
from proofs_checks.definitions.laws import Row

SIZES = ((1, 1), (1, 2, 1), (1, 2, 2), (2, 2, 2), (1, 3, 2), (1, 2, 4), (2, 1, 3), (1, 1, 2, 2), (1, 2, 2, 2))
"""The numbers of states of the background and the experts: products of at most 8."""


def machines(
    draw: Draw, sizes: tuple[tuple[int, ...], ...] = SIZES, *, gaps: bool = False, zeros: bool | None = None
) -> Machines:
    """Two tokens; an expert may move as the background does; with `gaps` a state may lack a next state."""
    counts = draw.pick(sizes)
    with_zeros = draw.one_in(2) if zeros is None else zeros
    pool = [draw.row(2, zeros=with_zeros) for _ in range(2)]
    models: list[Automaton] = []
    for count in counts:
        rows = tuple(draw.pick(pool) for _ in range(count))
        moves = tuple(tuple(_state(draw, count, gaps) for _ in range(2)) for _ in range(count))
        if models and count == counts[0] and draw.one_in(2):
            moves = models[0].next
        if models and draw.one_in(2):
            rows = tuple(models[0].rows[state % counts[0]] if draw.one_in(2) else row for state, row in enumerate(rows))
        models.append(Automaton(rows, moves))
    return Machines(tuple(models), draw.pick(("cancel", "strict", "drop")), draw.pick(("reachable", "all")))


def _state(draw: Draw, count: int, gaps: bool) -> int | None:
    """A next state, at times none."""
    return None if gaps and draw.one_in(8) else draw.integer(0, count - 1)


def clock(draw: Draw, experts: int, phases: int = 2) -> Clock:
    """Owners of up to so many phases."""
    length = draw.integer(1, phases)
    return Clock(tuple(draw.integer(0, experts) for _ in range(length)), draw.integer(0, length - 1))


def remembering(draw: Draw, ticks: Clock, experts: int, *, zeros: bool) -> Machines:
    """FC for every length: one bit, kept from the tokens of one block and used at its positions alone.

    A state is `2 phase + bit`. An expert's rows are its own at its positions and the background's elsewhere.
    """
    remembered = draw.pick(ticks.owners)
    phases = range(len(ticks.owners))
    bits = {(phase, bit, token): draw.integer(0, 1) for phase in phases for bit in range(2) for token in range(2)}

    def after(phase: int, bit: int, token: int) -> int:
        kept = bits[phase, bit, token] if ticks.owners[phase] == remembered else bit
        return 2 * ticks.after(phase) + kept

    def rows(base: Automaton | None, owner: int) -> tuple[Row, ...]:
        found: list[Row] = []
        for phase in phases:
            for bit in range(2):
                state, own = 2 * phase + bit, base is None or ticks.owners[phase] == owner
                if base is not None and not own:
                    found.append(base.rows[state])
                elif bit and ticks.owners[phase] != remembered:
                    found.append(found[-1])
                elif base is None:
                    found.append(draw.row(2, zeros=zeros))
                else:
                    found.append(draw.row_inside(base.rows[state], zeros=zeros))
        return tuple(found)

    moves = tuple(tuple(after(phase, bit, token) for token in range(2)) for phase in phases for bit in range(2))
    background = Automaton(rows(None, 0), moves)
    return Machines((background, *(Automaton(rows(background, i), moves) for i in range(1, experts + 1))))


def perturbed(draw: Draw, given: Machines) -> Machines:
    """One row or one next state of one model changed, within the same phase."""
    models = list(given.models)
    which = draw.integer(0, len(models) - 1)
    model = models[which]
    state, token = draw.integer(0, len(model.rows) - 1), draw.integer(0, 1)
    rows, moves = list(model.rows), [list(line) for line in model.next]
    if draw.one_in(2):
        rows[state] = draw.row(2)
    else:
        moves[state][token] = (moves[state][token] or 0) ^ 1
    models[which] = Automaton(tuple(rows), tuple(map(tuple, moves)))
    return replace(given, models=tuple(models))
