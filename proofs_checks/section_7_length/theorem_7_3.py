"""Theorem 7.3 (JF-pt for all T) and the product automaton: prefixes one by one against reachable states."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.automata import Automaton, Machines, Place, shortest, shortest_words
from proofs_checks.definitions.laws import row
from proofs_checks.definitions.random_automata import machines
from proofs_checks.statement import Control, Relation, Statement, at_most, equal, fact

UNIFORM, OTHER = row("1/2 1/2"), row("1/4 3/4")


def check_product(given: Machines) -> Iterator[Relation]:
    """A place is reachable iff a prefix in scope leads to it; it is faulty iff that prefix is."""
    places = shortest_words(given.start, given.after)
    tree = given.prefixes(len(places))
    led_to: dict[Place, set[bool]] = {}
    for h, weights in tree.items():
        led_to.setdefault(tuple(model.state(h) for model in given.models), set()).add(weights is None)
    yield equal("the reachable states are those of the prefixes shorter than |R|", led_to.keys(), places.keys())
    faulty = {place: {given.weights(given.at(place)) is None} for place in places}
    yield equal("a state is faulty iff its prefixes are", led_to, faulty)
    longer = given.prefixes(len(places) + 1)
    broken, more = (any(weights is None for weights in one.values()) for one in (tree, longer))
    yield equal("well_defined at |R| + 1 iff at |R|", more, broken)


def overlap(given: Machines, length: int) -> bool:
    """Whether two experts deviate at some prefix in scope, shorter than the horizon."""
    return any(len(given.deviators(h)) > 1 for h in given.prefixes(length))


def check(given: Machines) -> Iterator[Relation]:
    """By the reachable states, and by all prefixes up to a horizon."""
    places = shortest_words(given.start, given.after)
    witness = shortest(places, lambda place: len(given.deviating_at(place)) > 1)
    for length in range(len(places) + 2):
        fails = witness is not None and witness < length
        yield equal("JF-pt at T iff no word shorter than T leads to two D_i", not overlap(given, length), not fails)
    yield equal("T = |R| decides", overlap(given, len(places)), witness is not None)
    if witness is not None:
        yield at_most("the witness is shorter than |R|", witness, len(places) - 1)


def check_too_short(given: Machines) -> Iterator[Relation]:
    """False: T = |R| - 1 decides."""
    places = shortest_words(given.start, given.after)
    witness = shortest(places, lambda place: len(given.deviating_at(place)) > 1)
    yield equal("T = |R| - 1 decides", overlap(given, len(places) - 1), witness is not None)


def chain(count: int) -> Machines:
    """Two experts that count to `count` and deviate in the last state alone."""
    rows = (*[UNIFORM] * (count - 1), OTHER)
    expert = Automaton(rows, tuple((min(state + 1, count - 1),) * 2 for state in range(count)))
    return Machines((Automaton((UNIFORM,), ((0, 0),)), expert, expert))


def check_attained(given: Machines) -> Iterator[Relation]:
    """A chain needs them all."""
    places = shortest_words(given.start, given.after)
    witness = shortest(places, lambda place: len(given.deviating_at(place)) > 1)
    yield equal("the witness has length |R| - 1", witness, len(places) - 1)
    yield fact("JF-pt at T = |R| - 1, not at |R|", not overlap(given, len(places) - 1) and overlap(given, len(places)))


def looping(draw: Draw) -> Machines:
    """A chain that may start again."""
    given = chain(3)
    moves = ((draw.integer(0, 2),) * 2, (draw.integer(0, 2),) * 2, (0, 0))
    expert = Automaton(given.models[1].rows[: draw.integer(1, 2)] + given.models[1].rows[2:] * 2, moves)
    return Machines((given.models[0], expert, expert))


STATEMENTS = (
    Statement(
        number="7.3 product",
        kind="definition",
        sentence="the product automaton stands for the prefixes in scope, faults included",
        equation="R = {states of h: h in scope}, all by |h| < |R|",
        hypotheses=("kernels and next states by state", "faulty states have no successors"),
        draw=lambda draw: machines(draw, gaps=True),
        check=check_product,
        controls=(Control("all of |R|: T = |R| - 1", lambda draw: chain(draw.integer(2, 4)), check_too_short),),
    ),
    Statement(
        number="7.3",
        kind="theorem",
        sentence="one expert at a time at every length iff no reachable state lies in two deviation sets",
        equation="JF-pt for every T iff no state of R in D_i ∩ D_j; T = |R| decides",
        hypotheses=("every model has a next state everywhere",),
        draw=machines,
        check=check,
        controls=(Control("T = |R|: T = |R| - 1", machines, check_too_short),),
        not_checked="beyond T = |R| + 1",
    ),
    Statement(
        number="7.3 attained",
        kind="theorem",
        sentence="no shorter horizon decides",
        equation="a witness of length |R| - 1",
        cases=lambda: [chain(count) for count in range(1, 8)],
        check=check_attained,
        controls=(Control("a chain that deviates in its last state alone", looping),),
    ),
)
