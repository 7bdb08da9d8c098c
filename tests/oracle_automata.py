"""The truth about every length, by brute force in fractions, from the definitions of theory.md (sections 7, 2.3, 1.5).

It shares no code with the engines or the kernel, only the words of `factorcomp.certificates.claims` and, for one
prefix, those of `tests/oracle.py`. The product of the models is explored as dicts and sets of *places*: a place is the
tuple of the models' states, the background's first; `None` in it is a gap, `ended` in all of it the end. Whatever is
periodic is walked until it repeats; probabilities solve small dense linear systems.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from factorcomp.certificates.claims import (
    ClaimResult,
    ExpertMeasures,
    Findings,
    Invariant,
    Length,
    MarginalWitness,
    Mask,
    Measures,
    Number,
    PairWitness,
    Positions,
    PositionWitness,
    PrefixWitness,
    Termination,
    Verdict,
    Witness,
)
from proofs_checks.definitions.laws import ONE, ZERO, Prefix, Row, law_tv, log, log_ratio_range, row_tv, support
from proofs_checks.definitions.operator import tilted, weight_of
from tests.automata import ENDED, AutomataInstance, clock_of, next_of, row_of
from tests.oracle import BACKGROUND, exceeds_in_nats, in_error

Place = tuple[str | None, ...]
Chain = Mapping[Hashable, Mapping[Hashable, Fraction]]
Masks = Mapping[str, Positions]
CELLS = 729
"""Marginals on a mask are compared for lengths with at most so many cells."""
LONGEST = 12
"""Marginals on a mask are compared up to this length."""


# Linear systems


def solve(matrix: list[list[Fraction]], vector: list[Fraction]) -> list[Fraction]:
    """The solution of a regular linear system, by Gaussian elimination."""
    size = len(matrix)
    rows = [[*line, entry] for line, entry in zip(matrix, vector, strict=True)]
    for column in range(size):
        pivot = next(place for place in range(column, size) if rows[place][column] != 0)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [entry / head for entry in rows[column]]
        for place in range(size):
            factor = rows[place][column]
            if place != column and factor != 0:
                rows[place] = [a - factor * b for a, b in zip(rows[place], rows[column], strict=True)]
    return [line[-1] for line in rows]


def closure(starts: Iterable[Hashable], after: Callable[[Hashable], Iterable[Hashable]]) -> list[Hashable]:
    """Everything that can be reached, in breadth-first order."""
    seen = list(dict.fromkeys(starts))
    known = set(seen)
    for node in seen:
        for child in after(node):
            if child not in known:
                known.add(child)
                seen.append(child)
    return seen


def chances_to_meet(chain: Chain, start: Hashable, goal: set) -> Fraction:
    """The probability that a path from `start` ever meets `goal`: the smallest solution of `h = P h`, 1 on the goal."""
    if start in goal:
        return ONE
    hopeful = {node for node in chain if any(other in goal for other in closure([node], lambda n: chain[n]))}
    if start not in hopeful:
        return ZERO
    reached = closure([start], lambda node: () if node in goal else chain[node])
    unknown = [node for node in reached if node in hopeful and node not in goal]
    matrix = [[(node == other) - chain[node].get(other, ZERO) for other in unknown] for node in unknown]
    vector = [sum((mass for other, mass in chain[node].items() if other in goal), ZERO) for node in unknown]
    return solve(matrix, vector)[unknown.index(start)]


def expected_visits(chain: Chain, start: Hashable, counted: set) -> Number:
    """How often a path from `start` is expected to be in `counted`; infinite if it may return there for ever."""
    reached = closure([start], lambda node: chain[node])
    beyond = {node: set(closure([node], lambda n: chain[n])) for node in reached}
    recurrent = {node for node in reached if all(node in beyond[other] for other in beyond[node])}
    if recurrent & counted:
        return math.inf
    unknown = [node for node in reached if node not in recurrent]
    if start not in unknown:
        return ZERO
    matrix = [[(node == other) - chain[node].get(other, ZERO) for other in unknown] for node in unknown]
    return solve(matrix, [ONE if node in counted else ZERO for node in unknown])[unknown.index(start)]


# The product


@dataclass(frozen=True)
class Here:
    """One place: who is at a gap or in error; the (tilted) rows, `Z`, and the composition's row where it has one."""

    faulty: tuple[str, ...]
    background: Row | None
    experts: tuple[Row, ...]
    normalizer: Fraction
    weights: Row
    composition: Row | None


class Product:
    """The product automaton of an instance."""

    def __init__(self, instance: AutomataInstance):
        self.instance = instance
        self.question = instance.question
        self.vocabulary = instance.vocabulary
        self.size = len(instance.vocabulary)
        self.names = tuple(instance.experts)
        self.contents = [instance.background, *instance.experts.values()]
        self.start: Place = tuple(contents["initial"] for contents in self.contents)
        self._here: dict[Place, Here] = {}

    def here(self, place: Place) -> Here:
        """Definitions 1.1 and 1.3 at a place."""
        if place not in self._here:
            self._here[place] = self._look(place)
        return self._here[place]

    def _look(self, place: Place) -> Here:
        question, nothing = self.question, (ZERO,) * self.size
        if None in place:
            lost = tuple(name for name, state in zip(self.names, place[1:], strict=True) if state is None)
            return Here(lost, None, (), ZERO, nothing, None)
        base, *given = (row_of(contents, state) for contents, state in zip(self.contents, place, strict=True))
        factors = [question.weights.get(name, ONE) for name in self.names]
        wrong = [y for y in range(self.size) if in_error(y, base, given, factors, question.null_tokens)]
        if wrong:
            opening = tuple(name for name, row in zip(self.names, given, strict=True) if row[wrong[0]] > 0)
            return Here(opening, base, (), ZERO, nothing, None)
        rows = tuple(tilted(row, base, factor) for row, factor in zip(given, factors, strict=True))
        weights = tuple(weight_of(y, base, rows, question.null_tokens) for y in range(self.size))
        total = sum(weights, ZERO)
        composition = tuple(weight / total for weight in weights) if total > 0 else None
        return Here((), base, rows, total, weights, composition)

    def step(self, place: Place, token: int) -> Place:
        """The place after a token."""
        return tuple(
            next_of(contents, state, self.vocabulary[token])
            for contents, state in zip(self.contents, place, strict=True)
        )

    def followers(self, place: Place, scope: str) -> dict[int, Place]:
        """Token -> next place, within the scope; none after a broken place."""
        here = self.here(place)
        if here.composition is None:
            return {}
        tokens = range(self.size) if scope == "all" else sorted(support(here.composition))
        return {token: self.step(place, token) for token in tokens}

    def places(self, scope: str) -> list[Place]:
        """Every place in scope, breadth first."""
        return closure([self.start], lambda place: self.followers(place, scope).values())

    @cached_property
    def scope(self) -> list[Place]:
        return self.places(self.question.scope)

    @cached_property
    def reachable(self) -> list[Place]:
        return self.places("reachable")

    def first_prefix(self, start: Hashable, after: Callable[[Hashable], Mapping[int, Hashable]], bad: Callable):
        """The first node that is `bad`, with the shortest prefix, first in order, that leads to it; or `None`.

        Breadth first, tokens in order: nodes are met in the order of their first prefixes.
        """
        queue, known = [(start, ())], {start}
        for node, prefix in queue:
            if bad(node):
                return node, prefix
            for token, child in after(node).items():
                if child not in known:
                    known.add(child)
                    queue.append((child, (*prefix, token)))
        return None

    def probability(self, prefix: Prefix) -> Fraction:
        """`P^(prefix)`."""
        mass, place = ONE, self.start
        for token in prefix:
            row = self.here(place).composition
            if row is None or row[token] == 0:
                return ZERO
            mass, place = mass * row[token], self.step(place, token)
        return mass

    def tokens(self, prefix: Prefix) -> tuple[str, ...]:
        return tuple(self.vocabulary[token] for token in prefix)

    def witness(self, prefix: Prefix, experts: Iterable[str] = ()) -> PrefixWitness:
        return PrefixWitness(self.tokens(prefix), self.probability(prefix), tuple(experts))

    def levels(self, scope: str) -> Iterator[dict[Place, Prefix]]:
        """For each length the places, each with its first prefix of that length, in the order of these prefixes."""
        level: dict[Place, Prefix] = {self.start: ()}
        while True:
            yield level
            following: dict[Place, Prefix] = {}
            for place, prefix in level.items():
                for token, child in self.followers(place, scope).items():
                    following.setdefault(child, (*prefix, token))
            level = following

    def chain(self) -> Chain:
        """The composition as a Markov chain on the places that it reaches; broken places have no successors."""
        return {place: self.moves(place) for place in self.reachable}

    def moves(self, place: Place) -> dict[Place, Fraction]:
        moves: dict[Place, Fraction] = {}
        for token, child in self.followers(place, "reachable").items():
            moves[child] = moves.get(child, ZERO) + self.here(place).composition[token]
        return moves

    # deviation and activity

    def deviants(self, place: Place) -> tuple[str, ...]:
        """The experts whose log-ratio oscillates by more than the threshold."""
        here, found = self.here(place), []
        for name, row in zip(self.names, here.experts, strict=True):
            ratio = log_ratio_range(row, here.background)
            if ratio is None or exceeds_in_nats(ratio, self.question.threshold):
                found.append(name)
        return tuple(found)

    @cached_property
    def alive(self) -> Mapping[str, set[Place]]:
        """Where a deviation can still be reached within the scope, at once or later."""
        beyond = {
            place: closure([place], lambda p: self.followers(p, self.question.scope).values()) for place in self.scope
        }
        return {
            name: {place for place in self.scope if any(name in self.deviants(other) for other in beyond[place])}
            for name in self.names
        }

    def enter(self, place: Place, active: Iterable[str]) -> tuple[Place, frozenset[str]]:
        """The place with those experts that have deviated at or before it and may deviate at or after it."""
        started = {*active, *self.deviants(place)}
        return place, frozenset(name for name in started if place in self.alive[name])

    def followers_active(self, node: tuple[Place, frozenset[str]], scope: str):
        """Token -> next place with its active experts."""
        place, active = node
        return {token: self.enter(child, active) for token, child in self.followers(place, scope).items()}

    def phases(self, place: Place, active: frozenset[str]) -> tuple[str, ...]:
        return tuple(
            "active" if name in active else "before" if place in self.alive[name] else "after" for name in self.names
        )


# Laws of single models


@dataclass(frozen=True)
class Law:
    """A model's own law as an automaton: the background's, or an expert's, tilted if it has a weight."""

    product: Product
    place: int
    weight: Fraction = ONE

    @property
    def start(self) -> Hashable:
        return self._of(self.product.start)

    def _of(self, place: Place) -> Hashable:
        return place[self.place] if self.weight == 1 else (place[0], place[self.place])

    def row(self, state: Hashable) -> Row:
        contents = self.product.contents
        if self.weight == 1:
            return row_of(contents[self.place], state)
        base, own = row_of(contents[0], state[0]), row_of(contents[self.place], state[1])
        return tilted(own, base, self.weight)

    def step(self, state: Hashable, token: int) -> Hashable:
        contents, word = self.product.contents, self.product.vocabulary[token]
        if self.weight == 1:
            return next_of(contents[self.place], state, word)
        return next_of(contents[0], state[0], word), next_of(contents[self.place], state[1], word)

    def followers(self, state: Hashable) -> dict[int, Hashable]:
        return {token: self.step(state, token) for token in sorted(support(self.row(state)))}

    def expected_length(self) -> Number:
        """The expected number of tokens up to and with EOS."""
        chain = {}
        for state in closure([self.start], lambda s: self.followers(s).values()):
            moves: dict = {}
            for token, child in self.followers(state).items():
                moves[child] = moves.get(child, ZERO) + self.row(state)[token]
            chain[state] = moves
        return expected_visits(chain, self.start, {state for state in chain if state not in (ENDED, (ENDED, ENDED))})


def law_of(product: Product, name: str) -> Law:
    """The law of the background or of an expert."""
    if name == BACKGROUND:
        return Law(product, 0)
    return Law(product, 1 + product.names.index(name), product.question.weights.get(name, ONE))


# Masks


def canonical(marks: list[bool], lead: int, period: int) -> Positions:
    """The set of the positions marked, which repeat with `period` from `lead` on: the least period, the least lead."""
    for shorter in range(1, period + 1):
        if period % shorter == 0 and all(
            marks[t] == marks[lead + (t - lead) % shorter] for t in range(lead, lead + period)
        ):
            period = shorter
            break
    while lead > 0 and marks[lead - 1] == marks[lead - 1 + period]:
        lead -= 1
    finite = tuple(t for t in range(lead) if marks[t])
    return Positions(finite, tuple((t, period) for t in range(lead, lead + period) if marks[t]))


def found_masks(product: Product) -> Masks | PositionWitness:
    """`"auto"`: each expert owns the positions at which it deviates in scope; a witness if two own one."""
    history: list[dict[Place, Prefix]] = []
    for level in product.levels(product.question.scope):
        if any(set(level) == set(other) for other in history):
            break
        history.append(level)
    lead = next(t for t, other in enumerate(history) if set(other) == set(level))
    period = len(history) - lead
    for position, places in enumerate(history):
        first = {
            name: next((prefix for place, prefix in places.items() if name in product.deviants(place)), None)
            for name in product.names
        }
        owners = [name for name in product.names if first[name] is not None]
        if len(owners) > 1:
            one, other = owners[:2]
            return PositionWitness(position, (one, other), (product.tokens(first[one]), product.tokens(first[other])))
    found = {}
    for name in product.names:
        marks = [any(name in product.deviants(place) for place in places) for places in history]
        found[name] = canonical(marks, lead, period)
    return {name: positions for name, positions in found.items() if positions}


class Clock:
    """The owner of each position by a phase that repeats."""

    def __init__(self, masks: Masks):
        self.masks = masks
        self.lead, self.period = clock_of(masks)

    def after(self, phase: int) -> int:
        return phase + 1 if phase + 1 < self.lead + self.period else self.lead

    def owner(self, phase: int) -> str:
        """The owner of the positions of a phase; the empty string is the background."""
        return next((name for name, positions in self.masks.items() if phase in positions), "")


def mask_agreement(product: Product, masks: Masks) -> tuple[Fraction, Witness | None]:
    """Definition 2.6a: off its mask no expert deviates; the largest TV there."""
    clock, scope = Clock(masks), product.question.scope

    def after(node: tuple[Place, int]) -> dict[int, tuple[Place, int]]:
        place, phase = node
        return {token: (child, clock.after(phase)) for token, child in product.followers(place, scope).items()}

    def off(phase: int) -> list[str]:
        return [name for name in product.names if name != clock.owner(phase)]

    def at_fault(node: tuple[Place, int]) -> list[str]:
        place, phase = node
        return [name for name in off(phase) if name in product.deviants(place)]

    start = (product.start, 0)
    gaps = [ZERO]
    for place, phase in closure([start], lambda node: after(node).values()):
        here = product.here(place)
        gaps += [row_tv(here.experts[product.names.index(name)], here.background) for name in off(phase)]
    first = product.first_prefix(start, after, at_fault)
    return max(gaps), None if first is None else product.witness(first[1], at_fault(first[0])[:1])


def factorized_conditionals(product: Product, masks: Masks) -> tuple[int, Fraction, PairWitness] | None:
    """Theorem 7.5 read literally: the smallest length at which it fails, the residual and the first pair; or `None`.

    Two copies read words that agree on one block and are possible under both laws: these are the pairs of prefixes of
    Theorem 2.3. For (c) an expert runs beside the set of all states in which the background may be.
    """
    clock = Clock(masks)
    base = law_of(product, BACKGROUND)
    twins = [("B", "", base, base, block) for block in ("", *masks)]
    for name in product.names:
        law = law_of(product, name)
        twins += [("I1", name, law, law, name)] if name in masks else []
        twins += [("I2", name, law, base, block) for block in ("", *masks) if block != name]
    frontiers: list[dict] = [{(one.start, other.start): ((), ())} for _, _, one, other, _ in twins]
    owned = [name for name in product.names if name in masks]
    shadows: list[dict] = [{(law_of(product, name).start, frozenset({base.start})): ()} for name in owned]
    known: list[set] = [set() for _ in (*twins, *owned)]
    ranks = {"c": 0, "B": 1, "I1": 2, "I2": 3}
    length, phase = 0, 0
    while any(frontiers) or any(shadows):
        owner = clock.owner(phase)
        failures, gaps = [], [ZERO]

        def fail(first: Prefix, second: Prefix, condition: str, name: str, models: tuple[str, str], failures=failures):
            place = product.names.index(name) if name else 0
            pair = PairWitness((product.tokens(first), product.tokens(second)), models, condition)
            failures.append(((first, second, ranks[condition], place), pair))

        for (condition, name, one, other, block), frontier in zip(twins, frontiers, strict=True):
            if block != owner:
                continue
            models = {"B": (BACKGROUND, BACKGROUND), "I1": (name, name), "I2": (name, BACKGROUND)}[condition]
            for (first, second), prefixes in frontier.items():
                gap = row_tv(one.row(first), other.row(second))
                gaps.append(gap)
                if gap > 0:
                    fail(*prefixes, condition, name, models)
        for name, frontier in zip(owned, shadows, strict=True):
            if name != owner:
                continue
            for (state, shadow), prefix in frontier.items():
                possible = set().union(*(support(base.row(other)) for other in shadow))
                if not support(law_of(product, name).row(state)) <= possible:
                    fail(prefix, prefix, "c", name, (name, BACKGROUND))
        if failures:
            return length + 1, max(gaps), min(failures, key=lambda failure: failure[0])[1]

        following: list[dict] = []
        for place, ((_, _, one, other, block), frontier) in enumerate(zip(twins, frontiers, strict=True)):
            children: dict = {}
            for (first, second), prefixes in frontier.items():
                for token, child in one.followers(first).items():
                    for token2, child2 in other.followers(second).items():
                        if block == owner and token != token2:
                            continue
                        pair = ((*prefixes[0], token), (*prefixes[1], token2))
                        children[child, child2] = min(children.get((child, child2), pair), pair)
            following.append(_unseen(children, clock.after(phase), known[place]))
        frontiers = following
        following = []
        for place, (name, frontier) in enumerate(zip(owned, shadows, strict=True), start=len(twins)):
            children, law = {}, law_of(product, name)
            for (state, shadow), prefix in frontier.items():
                for token, child in law.followers(state).items():
                    moves = [(other, base.followers(other)) for other in shadow]
                    kept = {target for _, move in moves for y, target in move.items() if owner != name or y == token}
                    key, longer = (child, frozenset(kept)), (*prefix, token)
                    children[key] = min(children.get(key, longer), longer)
            following.append(_unseen(children, clock.after(phase), known[place]))
        shadows = following
        length, phase = length + 1, clock.after(phase)
    return None


def _unseen(children: dict, phase: int, known: set) -> dict:
    """The children that were not met at this phase before, which are remembered."""
    fresh = {child: prefixes for child, prefixes in children.items() if (child, phase) not in known}
    known |= {(child, phase) for child in fresh}
    return fresh


def projective(product: Product, name: str, mask: Positions) -> tuple[int, Fraction, MarginalWitness] | None:
    """The smallest length, up to a limit, at which the marginals on the mask differ, their TV, and the first cell."""
    law = law_of(product, name)

    def composed(place: Hashable) -> list[tuple[int, Fraction, Hashable]]:
        return [(y, product.here(place).composition[y], q) for y, q in product.followers(place, "reachable").items()]

    def alone(state: Hashable) -> list[tuple[int, Fraction, Hashable]]:
        return [(y, law.row(state)[y], q) for y, q in law.followers(state).items()]

    def advance(masses: dict, moves: Callable, owned: bool) -> dict:
        after: dict = {}
        for (cell, state), mass in masses.items():
            for token, chance, child in moves(state):
                key = ((*cell, token) if owned else cell, child)
                after[key] = after.get(key, ZERO) + mass * chance
        return after

    def marginal(masses: dict) -> dict[Prefix, Fraction]:
        cells: dict[Prefix, Fraction] = {}
        for (cell, _), mass in masses.items():
            cells[cell] = cells.get(cell, ZERO) + mass
        return cells

    here, there = {((), product.start): ONE}, {((), law.start): ONE}
    for length in range(1, LONGEST + 1):
        owned = length - 1 in mask
        here, there = advance(here, composed, owned), advance(there, alone, owned)
        ours, theirs = marginal(here), marginal(there)
        gap = law_tv(ours, theirs)
        if gap > 0:
            differences = {cell: abs(ours.get(cell, ZERO) - theirs.get(cell, ZERO)) for cell in {*ours, *theirs}}
            largest = max(differences.values())
            cell = min(cell for cell, difference in differences.items() if difference == largest)
            witness = MarginalWitness(
                mask.below(length), product.tokens(cell), ours.get(cell, ZERO), theirs.get(cell, ZERO)
            )
            return length, gap, witness
        if max(len(ours), len(theirs)) > CELLS:
            break
    return None


# The composition against the sequence level


def local_equals_global(product: Product) -> tuple[int, Fraction, PairWitness] | None:
    """Theorem 1.5 (2): the first length with two normalizers, the TV of the laws one token later, and the pair."""
    seen: list[set[Place]] = []
    masses = {product.start: ONE}
    for length, level in enumerate(product.levels("reachable")):
        if set(level) in seen:
            return None
        seen.append(set(level))
        factors = {place: product.here(place).normalizer for place in level}
        first = next(iter(level))
        second = next((place for place in level if factors[place] != factors[first]), None)
        if second is not None:
            # Up to here Z depends on the length alone: both laws give prefixes of this length the same probability, and
            # one token later the global law weighs them with Z / E[Z].
            mean = sum((mass * factors[place] for place, mass in masses.items()), ZERO)
            gap = sum((mass * abs(factors[place] / mean - 1) for place, mass in masses.items()), ZERO) / 2
            prefixes = (product.tokens(level[first]), product.tokens(level[second]))
            return length + 1, gap, PairWitness(prefixes, ("composition", "composition"), "Z")
        after: dict[Place, Fraction] = {}
        for place, mass in masses.items():
            for child, chance in product.moves(place).items():
                after[child] = after.get(child, ZERO) + mass * chance
        masses = after
    raise AssertionError("levels never end")


def nearest(product: Product, place: Place) -> Fraction:
    """The TV from the composition to the component nearest to it."""
    here = product.here(place)
    return min(row_tv(here.composition, row) for row in (here.background, *here.experts))


def follows_switching(product: Product, place: Place) -> bool:
    """Whether the composition is the sole deviator, the background where none deviates, one of them where more do."""
    here, deviants = product.here(place), product.deviants(place)
    if len(deviants) > 1:
        return nearest(product, place) == 0
    return here.composition == (here.experts[product.names.index(deviants[0])] if deviants else here.background)


def most_runs(product: Product, name: str) -> int | float:
    """The most maximal runs of deviation on a path in scope."""
    scope = product.question.scope
    marks = {place: name in product.deviants(place) for place in product.scope}
    edges = [(p, q) for p in product.scope for q in product.followers(p, scope).values()]
    for place, child in edges:
        if (
            marks[child]
            and not marks[place]
            and place in closure([child], lambda p: product.followers(p, scope).values())
        ):
            return math.inf
    best = {product.start: int(marks[product.start])}
    changed = True
    while changed:
        changed = False
        for place, child in edges:
            if place in best:
                value = best[place] + (marks[child] and not marks[place])
                if value > best.get(child, -1):
                    best[child], changed = value, True
    return max(best.values())


# The answer


def decide(instance: AutomataInstance) -> Findings:
    """Every claim and measure for every length that the question asks for, in exact fractions."""
    product, question, names = Product(instance), instance.question, tuple(instance.experts)
    masks = question.masks

    def result(
        claim: str,
        verdict: Verdict,
        residual: Number | None = None,
        witness: Witness | None = None,
        mask: str | None = None,
        length: Length = "every",
    ) -> ClaimResult:
        return ClaimResult(claim, verdict, "oracle", length, "", residual, witness, mask)

    def settled(claim: str, residual: Number, witness: Witness | None, mask: str | None = None) -> ClaimResult:
        return result(claim, Verdict.HOLDS if witness is None else Verdict.REFUTED, residual, witness, mask)

    def refuted_at(claim: str, found: tuple[int, Number, Witness] | None, mask: str | None = None) -> ClaimResult:
        if found is None:
            return settled(claim, ZERO, None, mask)
        length, residual, witness = found
        return result(claim, Verdict.REFUTED, residual, witness, mask, length)

    def first_place(bad: Callable[[Place], object]) -> tuple[Place, Prefix] | None:
        return product.first_prefix(product.start, lambda p: product.followers(p, question.scope), bad)

    # well_defined
    chain = product.chain()
    broken = first_place(lambda place: product.here(place).composition is None)
    if broken is not None:
        place, prefix = broken
        met = chances_to_meet(chain, product.start, {p for p in chain if product.here(p).composition is None})
        claims = [
            result("well_defined", Verdict.REFUTED, met, product.witness(prefix, product.here(place).faulty)),
            *(
                result(claim, Verdict.UNDECIDED)
                for claim in (
                    *("pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer"),
                    "local_equals_global",
                    *(("mask_agreement", "factorized_conditionals") if masks is not None else ()),
                )
            ),
        ]
        given = dict(masks) if isinstance(masks, Mapping) else None
        claims += [result("projective", Verdict.UNDECIDED, mask=name) for name in names if name in (given or {})]
        claims += [result("terminates", Verdict.UNDECIDED)] if instance.eos is not None else []
        return Findings(tuple(claims), None, {}, {}, given, states=len(product.scope))
    claims = [settled("well_defined", ZERO, None)]

    # pointwise_joint, interval_joint
    crowded = {place for place in product.scope if len(product.deviants(place)) > 1}
    overlap = chances_to_meet(chain, product.start, crowded & set(chain))
    first = first_place(crowded.__contains__)
    claims.append(settled("pointwise_joint", overlap, first and product.witness(first[1], product.deviants(first[0]))))
    root = product.enter(product.start, ())
    extended = closure([root], lambda node: product.followers_active(node, question.scope).values())
    on_reach: dict = {}
    for node in closure([root], lambda node: product.followers_active(node, "reachable").values()):
        moves: dict = {}
        for token, child in product.followers_active(node, "reachable").items():
            moves[child] = moves.get(child, ZERO) + product.here(node[0]).composition[token]
        on_reach[node] = moves
    together = {node for node in (*extended, *on_reach) if len(node[1]) > 1}
    first = product.first_prefix(
        root, lambda node: product.followers_active(node, question.scope), together.__contains__
    )
    claims.append(
        settled(
            "interval_joint",
            chances_to_meet(on_reach, root, together & set(on_reach)),
            first and product.witness(first[1], [name for name in names if name in first[0][1]]),
        )
    )

    # exact_switching, unit_normalizer, local_equals_global
    def gap_to_component(place: Place) -> Fraction:
        return nearest(product, place)

    def everywhere(claim: str, residual: Callable[[Place], Number], fails: Callable[[Place], bool]) -> ClaimResult:
        found = first_place(fails)
        worst = max(residual(place) for place in product.scope)
        return settled(claim, worst, found and product.witness(found[1], product.deviants(found[0])))

    logs = {place: log(product.here(place).normalizer) for place in product.scope}
    claims.append(everywhere("exact_switching", gap_to_component, lambda place: gap_to_component(place) > 0))
    claims.append(
        everywhere("unit_normalizer", lambda p: abs(logs[p]), lambda place: product.here(place).normalizer != 1)
    )
    differs_globally = local_equals_global(product)
    claims.append(refuted_at("local_equals_global", differs_globally))

    # The claims about masks
    found: Mapping[str, Mask] | None = None
    if masks is not None:
        own = found_masks(product) if masks == "auto" else dict(masks)
        if isinstance(own, PositionWitness):
            deviating = {name for place in product.scope for name in product.deviants(place)}
            claims += [
                result(claim, Verdict.REFUTED, None, own) for claim in ("mask_agreement", "factorized_conditionals")
            ]
            claims += [result("projective", Verdict.REFUTED, None, own, name) for name in names if name in deviating]
        else:
            found = own
            claims.append(settled("mask_agreement", *mask_agreement(product, own)))
            factorized = factorized_conditionals(product, own)
            claims.append(refuted_at("factorized_conditionals", factorized))
            for name in names:
                if name not in own:
                    continue
                differs = None if factorized is None else projective(product, name, own[name])
                open_ = factorized is not None and bool(own[name]) and differs is None
                claims.append(
                    result("projective", Verdict.UNDECIDED, mask=name)
                    if open_
                    else refuted_at("projective", differs, name)
                )

    # terminates
    termination = None
    ended: Place = (ENDED,) * len(product.start)
    if instance.eos is not None:
        unended = 1 - chances_to_meet(chain, product.start, {ended} & set(chain))
        hopeless = product.first_prefix(
            product.start,
            lambda place: product.followers(place, "reachable"),
            lambda place: ended not in closure([place], lambda p: product.followers(p, "reachable").values()),
        )
        claims.append(settled("terminates", unended, hopeless and product.witness(hopeless[1])))
        termination = Termination(
            unended=unended,
            background=law_of(product, BACKGROUND).expected_length(),
            composition=expected_visits(chain, product.start, set(chain) - {ended}),
            experts={name: law_of(product, name).expected_length() for name in names},
        )

    def largest_oscillation(name: str) -> float:
        here = [product.here(place) for place in product.scope]
        ratios = [log_ratio_range(h.experts[names.index(name)], h.background) for h in here]
        return max(math.inf if ratio is None else log(ratio) for ratio in ratios)

    measures = Measures(
        # At every length at once these are known where they are 0.
        tv_to_switching=ZERO if all(follows_switching(product, place) for place in product.reachable) else None,
        tv_local_global=ZERO if differs_globally is None else None,
        log_normalizer_min=min(logs.values()),
        log_normalizer_max=max(logs.values()),
        experts={
            name: ExpertMeasures(
                deviating_prefixes=None,
                active_prefixes=None,
                activity_probability=chances_to_meet(
                    chain, product.start, {place for place in chain if name in product.deviants(place)}
                ),
                expected_active_steps=expected_visits(on_reach, root, {node for node in on_reach if name in node[1]}),
                max_oscillation=largest_oscillation(name),
                runs=most_runs(product, name),
            )
            for name in names
        },
        overlap_probability=overlap,
        termination=termination,
    )
    return Findings(
        claims=tuple(claims),
        measures=measures,
        deviating={},
        active={},
        masks=found,
        states=len(product.scope),
        invariant=invariant(product, extended, disjoint=not together & set(extended)),
    )


def invariant(product: Product, extended: list, disjoint: bool) -> Invariant:
    """The places in scope with the phase vectors that occur there."""
    numbers = {place: number for number, place in enumerate(product.scope)}
    phases: dict[Place, list] = {place: [] for place in product.scope}
    for place, active in extended:
        vector = product.phases(place, active)
        if vector not in phases[place]:
            phases[place].append(vector)
    followers = [product.followers(place, product.question.scope) for place in product.scope]
    return Invariant(
        states=tuple(None if place == (ENDED,) * len(place) else place for place in product.scope),
        next=tuple(
            tuple(numbers[line[token]] if token in line else None for token in range(product.size))
            for line in followers
        ),
        phases=tuple(tuple(phases[place]) for place in product.scope) if disjoint else None,
    )


def decisive_length(instance: AutomataInstance) -> int:
    """`|X| + |R| - 1` of Theorem 7.4: extended states and product states in scope; a horizon that decides JF-int."""
    product = Product(instance)
    if any(product.here(place).composition is None for place in product.scope):
        return len(product.scope)
    root = product.enter(product.start, ())
    extended = closure([root], lambda node: product.followers_active(node, instance.question.scope).values())
    return len(extended) + len(product.scope) - 1
