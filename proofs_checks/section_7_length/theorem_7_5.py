"""Theorem 7.5 (FC for all T): two copies of a model, equal tokens forced on a block, must have equal kernels there."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.automata import Automaton, Clock, Machines, shortest_words
from proofs_checks.definitions.laws import law_of, support
from proofs_checks.definitions.masks import background_factorizes, dominated, expert_factorizes
from proofs_checks.definitions.random_automata import clock, perturbed, remembering
from proofs_checks.statement import Control, Relation, Statement, equal

LONGEST = 8


@dataclass(frozen=True)
class Timed:
    """Machines whose masks follow a clock, and a horizon for the comparison with laws."""

    machines: Machines
    clock: Clock
    length: int


def twins(model: Automaton, ticks: Clock, block: int, *, forced: bool = True) -> dict:
    """The twin automaton: phase and two states, by a shortest pair of words; equal tokens at positions of the block."""

    def after(node: tuple[int, int, int]):
        phase, one, other = node
        for a in support(model.rows[one]):
            for b in support(model.rows[other]):
                if a == b or not forced or ticks.owners[phase] != block:
                    yield (a, b), (ticks.after(phase), model.next[one][a], model.next[other][b])

    return shortest_words((0, 0, 0), after)


def beside(expert: Automaton, background: Automaton, ticks: Clock) -> dict:
    """The product of an expert and the background along the expert's support, with the phase."""

    def after(node: tuple[int, int, int]):
        phase, one, other = node
        for token in support(expert.rows[one]):
            yield token, (ticks.after(phase), expert.next[one][token], background.next[other][token])

    return shortest_words((0, 0, 0), after)


@dataclass(frozen=True)
class Against:
    """The lengths of the shortest words against (i), (ii) and (c), infinite where there are none; how many states."""

    twin: float
    agreement: float
    domination: float
    states: int


def decide(case: Timed, *, forced: bool = True) -> Against:
    """(i), (ii) and the condition for (c)."""
    background, *experts = case.machines.models
    owners, ticks = case.clock.owners, case.clock
    judged = [*((background, block) for block in ticks.blocks()), *((e, i) for i, e in enumerate(experts, start=1))]
    twin, agreement, domination, states = [], [], [], []
    for model, block in judged:
        for (phase, one, other), words in (nodes := twins(model, ticks, block, forced=forced)).items():
            if owners[phase] == block and model.rows[one] != model.rows[other]:
                twin.append(len(words))
        states.append(len(nodes))
    for number, expert in enumerate(experts, start=1):
        for (phase, one, other), word in (nodes := beside(expert, background, ticks)).items():
            mine, base = expert.rows[one], background.rows[other]
            if owners[phase] != number and mine != base:
                agreement.append(len(word))
            if not support(mine) <= support(base):
                domination.append(len(word))
        states.append(len(nodes))
    least = [min(lengths, default=math.inf) for lengths in (twin, agreement, domination)]
    return Against(*least, max(states))


def by_laws(case: Timed, length: int) -> tuple[bool, bool]:
    """(a) and (b), and (c), of the laws at a horizon (2.1)."""
    masks = case.clock.masks(len(case.machines.models) - 1, length)
    family = case.machines.family(length, masks)
    background = law_of(family.background, family.size, length)
    laws = [law_of(expert, family.size, length) for expert in family.experts]
    products = background_factorizes(family, background) and all(
        expert_factorizes(family, i, background, law) for i, law in enumerate(laws)
    )
    return products, all(dominated(family, i, background, law) for i, law in enumerate(laws))


def check(case: Timed) -> Iterator[Relation]:
    """At a horizon, and at the one that decides."""
    against = decide(case)
    decides = against.states
    for length in {case.length, decides} if decides <= LONGEST else {case.length}:
        products, continuous = by_laws(case, length)
        conditions, within = length <= min(against.twin, against.agreement), length <= against.domination
        both = conditions and within
        yield equal("FC at T iff no word shorter than T is against (i), (ii), (c)", products and continuous, both)
        if continuous:
            yield equal("given (c): (a) and (b) at T iff (i) and (ii)", products, conditions)
        if conditions:
            yield equal("given (i) and (ii): (c) iff supp p_i ⊂ supp p_b", continuous, within)
    if decides <= LONGEST:
        never = min(against.twin, against.agreement, against.domination) == math.inf
        yield equal("FC for every T iff at T = the number of twin states", all(by_laws(case, decides)), never)


def check_unforced(case: Timed) -> Iterator[Relation]:
    """False: the twins' tokens are independent at positions of the block too."""
    against = decide(case, forced=False)
    conditions = case.length <= min(against.twin, against.agreement, against.domination)
    yield equal("FC at T iff no word shorter than T is against it", all(by_laws(case, case.length)), conditions)


def check_domination_forgotten(case: Timed) -> Iterator[Relation]:
    """False: (i) and (ii) alone are FC."""
    against = decide(case)
    conditions = case.length <= min(against.twin, against.agreement)
    yield equal("FC at T iff (i) and (ii)", all(by_laws(case, case.length)), conditions)


def timed(draw: Draw, *, changed: bool | None = None) -> Timed:
    """FC by construction, and then often one row or one next state changed, or two."""
    experts = draw.integer(1, 2)
    ticks = clock(draw, experts, phases=2 if draw.one_in(2) else 3)
    machines = remembering(draw, ticks, experts, zeros=draw.one_in(2))
    for _ in range(draw.integer(0, 2) if changed is None else int(changed)):
        machines = perturbed(draw, machines)
    return Timed(machines, ticks, draw.integer(0, 6))


def opening(draw: Draw) -> Timed:
    """An expert with tokens that the background excludes."""
    case = timed(draw, changed=False)
    background, *experts = case.machines.models
    rows = tuple(draw.row(2, zeros=True) for _ in background.rows)
    return Timed(Machines((Automaton(rows, background.next), *experts)), Clock((1,), 0), 2)


STATEMENTS = (
    Statement(
        number="7.5",
        kind="theorem",
        sentence="factorized conditionals at every length, by pairs of states that share the history of a block",
        equation="FC for every T iff (i) twins have equal kernels on their block, (ii) p_i = p_b off M_i, and (c)",
        hypotheses=("masks on a clock", "the state is a function of the prefix"),
        draw=timed,
        check=check,
        controls=(
            Control("equal tokens forced on the block", lambda draw: timed(draw, changed=False), check_unforced),
            Control("(c)", opening, check_domination_forgotten),
        ),
        not_checked=f"T > {LONGEST}; the cost",
        weight=2,
    ),
)
