"""Theorem 7.4 (JF-int for all T): phases on the product automaton against intervals on every path."""

from collections.abc import Iterator

from factorcomp.testing.drawing import Draw
from proofs_checks.definitions.automata import Automaton, Machines, Place, shortest_words
from proofs_checks.definitions.laws import Prefix
from proofs_checks.definitions.random_automata import machines
from proofs_checks.definitions.skills import active, pointwise_joint
from proofs_checks.section_7_length.theorem_7_3 import OTHER, UNIFORM
from proofs_checks.statement import Control, Relation, Statement, at_most, equal, fact

SIZES = ((1, 1, 1), (1, 2, 1), (1, 2, 2), (2, 2, 2), (1, 1, 2, 2), (1, 3, 2), (2, 1, 3))
LONGEST = 8
Extended = tuple[Place, tuple[str, ...]]


def can_reach(given: Machines) -> list[set[Place]]:
    """For each expert the places from which a deviation can be reached, at once or later."""
    beyond = {place: shortest_words(place, given.after) for place in shortest_words(given.start, given.after)}
    return [
        {place for place, others in beyond.items() if any(i in given.deviating_at(other) for other in others)}
        for i in range(len(given.models) - 1)
    ]


def extended(given: Machines) -> dict[Extended, tuple]:
    """Places with a phase for each expert, by a shortest word."""
    alive = can_reach(given)

    def enter(place: Place, phases: tuple[str, ...]) -> Extended:
        deviating = given.deviating_at(place)
        started = ["act" if phase == "pre" and i in deviating else phase for i, phase in enumerate(phases)]
        ended = ["post" if phase == "act" and place not in alive[i] else phase for i, phase in enumerate(started)]
        return place, tuple(ended)

    def after(node: Extended):
        return [(token, enter(child, node[1])) for token, child in given.after(node[0])]

    return shortest_words(enter(given.start, ("pre",) * (len(given.models) - 1)), after)


def disjoint_intervals(given: Machines, length: int) -> bool:
    """JF-int at a horizon: the canonical intervals (3.3), path by path."""
    scope = given.prefixes(length)
    deviating = {h: given.deviators(h) for h in scope}
    sets = [{h for h, experts in deviating.items() if i in experts} for i in range(len(given.models) - 1)]
    return pointwise_joint([active(one, given.size, length) & scope.keys() for one in sets])


def check(given: Machines) -> Iterator[Relation]:
    """Phases against paths, as far as paths go; beyond that, every refutation is a pair of words."""
    nodes = extended(given)
    crowded = [node for node in nodes if node[1].count("act") > 1]
    horizon = len(nodes) + len({place for place, _ in nodes}) - 1
    by_length = [disjoint_intervals(given, length) for length in range(min(horizon + 1, LONGEST) + 1)]
    yield equal("a failure at T persists", sorted(by_length, reverse=True), by_length)
    if horizon <= LONGEST:
        yield equal("T = |X| + |R| - 1 decides", by_length[horizon], not crowded)
    yield fact("JF-int for every T: at these T too", bool(crowded) or all(by_length))
    if crowded:
        yield from check_witness(given, min(crowded, key=lambda node: len(nodes[node])), horizon, nodes)


def check_witness(given: Machines, node: Extended, horizon: int, nodes: dict[Extended, tuple]) -> Iterator[Relation]:
    """A prefix, and of each of two experts a deviation at or before it and one at or after it, in scope."""
    prefix: Prefix = nodes[node]
    for expert in [i for i, phase in enumerate(node[1]) if phase == "act"][:2]:
        ahead = shortest_words(node[0], given.after)
        word = min((word for place, word in ahead.items() if expert in given.deviating_at(place)), key=len)
        whole = (*prefix, *word)
        rows = [given.weights(model.row(whole[:step]) for model in given.models) for step in range(len(whole))]
        in_scope = all(whole[step] in given.followed(weights) for step, weights in enumerate(rows))
        earlier = any(expert in given.deviators(prefix[:step]) for step in range(len(prefix) + 1))
        yield fact("both are active at the witness", in_scope and earlier and expert in given.deviators(whole))
        yield at_most("seen at T = |X| + |R| - 1", len(whole) + 1, horizon)


def check_pointwise(given: Machines) -> Iterator[Relation]:
    """False: JF-pt (7.3) decides JF-int."""
    alone = all(len(given.deviating_at(place)) <= 1 for place in shortest_words(given.start, given.after))
    yield equal("JF-int iff no state in two D_i", disjoint_intervals(given, LONGEST - 1), alone)


def reentrant(draw: Draw) -> Machines:
    """Machines whose experts come back."""
    return machines(draw, ((1, 2, 2),), zeros=False)


INTERLEAVING = Machines(
    (
        Automaton((UNIFORM,), ((0, 0),)),
        Automaton((OTHER, UNIFORM), ((1, 1), (0, 0))),
        Automaton((UNIFORM, OTHER), ((1, 1), (0, 0))),
    )
)
"""The experts take turns for ever: JF-pt, not JF-int."""


def check_interleaving(given: Machines) -> Iterator[Relation]:
    """JF-pt at every length; JF-int up to T = 2 alone."""
    places = shortest_words(given.start, given.after)
    yield fact("JF-pt for every T", all(len(given.deviating_at(place)) <= 1 for place in places))
    yield fact("JF-int fails for every T >= 3", any(node[1].count("act") > 1 for node in extended(given)))
    by_length = [disjoint_intervals(given, length) for length in range(6)]
    yield equal("JF-int at T = 0, .., 5", by_length, [True, True, True, False, False, False])


def one_after_the_other(draw: Draw) -> Machines:
    """The first expert acts at the first step alone."""
    first = Automaton((OTHER, UNIFORM), ((1, 1), (1, 1)))
    return Machines((INTERLEAVING.models[0], first, INTERLEAVING.models[2]))


STATEMENTS = (
    Statement(
        number="7.4",
        kind="theorem",
        sentence="disjoint intervals at every length iff no reachable extended state has two active experts",
        equation="JF-int for every T iff no state of X with two `act`; it is monotone; T = |X| + |R| - 1 decides",
        hypotheses=("pre -> act at the first D_i, act -> post on leaving CanReach(D_i)",),
        draw=lambda draw: machines(draw, SIZES),
        check=check,
        controls=(Control("the phases: JF-pt decides", reentrant, check_pointwise),),
        not_checked=(
            f"paths longer than {LONGEST}: where |X| + |R| - 1 is more, refutations are checked by their words; "
            "that no shorter horizon decides"
        ),
        weight=2,
    ),
    Statement(
        number="7.4 re-entrant",
        kind="theorem",
        sentence="two experts that take turns for ever: one at a time, and no disjoint intervals from T = 3 on",
        equation="JF-pt for every T, JF-int for T <= 2",
        cases=lambda: (INTERLEAVING,),
        check=check_interleaving,
        controls=(Control("for ever", one_after_the_other),),
    ),
)
