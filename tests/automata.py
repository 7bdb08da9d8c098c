"""Random finite-state models by construction, in the JSON form of interface.md: small integer weights, normalised.

Each structure is a recipe that hits one region of the theory (section 7). They are written over a source of integers
of which the lowest is the simplest, so that Hypothesis (`automata`) and a seeded generator (`random_automata`) share
them. Every instance is inside the contract: rows sum to 1, masks are disjoint; a weight other than 1 is given only to
an expert that opens no token of the background (theory.md 1.9).
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from factorcomp.certificates.claims import Positions, Question
from factorcomp.models.finite_state import NOWHERE, FiniteStateModel
from factorcomp.models.rows import RationalRows
from factorcomp.models.tabular import Source
from tests.strategies import EOS, Integer, Row, normalised

NAMES = ("up", "down", "left")
TOKENS = ("a", "b", "c")
LARGEST_PRODUCT = 60
"""The most states of the product of background and experts, all combinations counted that any tokens reach."""
ENDED = "ended"
"""The name of the state after EOS, which no file names."""


@dataclass(frozen=True)
class AutomataInstance:
    """A background, its experts, and a question about every length; models as files of kind `finite_state`."""

    vocabulary: tuple[str, ...]
    eos: str | None
    background: Mapping
    experts: Mapping[str, Mapping]
    question: Question
    structure: str = field(default="", compare=False)

    def model_json(self, name: str) -> Mapping:
        """The background (`"background"`) or an expert."""
        return self.background if name == "background" else self.experts[name]

    def model(self, name: str) -> FiniteStateModel:
        """The same as a model."""
        return build(self.model_json(name), name)

    def models(self) -> tuple[FiniteStateModel, dict[str, FiniteStateModel]]:
        """Background and experts."""
        return self.model("background"), {name: self.model(name) for name in self.experts}

    def options(self) -> dict:
        """What `verify --every-length` is asked, as JSON; only what differs from the defaults."""
        question, masks = self.question, self.question.masks
        given = {
            "masks": {name: str(positions) for name, positions in masks.items()}
            if isinstance(masks, Mapping)
            else masks,
            "threshold": str(question.threshold) if question.threshold else None,
            "scope": question.scope if question.scope != "reachable" else None,
            "null_tokens": question.null_tokens if question.null_tokens != "cancel" else None,
            "weights": {name: str(weight) for name, weight in question.weights.items()} or None,
        }
        return {option: value for option, value in given.items() if value is not None}


def build(contents: Mapping, name: str = "in memory") -> FiniteStateModel:
    """The model of a file's contents with fractions in strings; no reader is involved."""
    vocabulary, eos, states = contents["vocabulary"], contents["eos"], contents["states"]
    places = {state: place for place, state in enumerate(states)}
    rows = [[Fraction(state["probabilities"].get(token, 0)) for token in vocabulary] for state in states.values()]
    successors = [
        [places[state["next"][token]] if token in state["next"] else NOWHERE for token in vocabulary]
        for state in states.values()
    ]
    if eos is not None:
        ended = len(states)
        for successor in successors:
            successor[vocabulary.index(eos)] = ended
        rows.append([Fraction(int(token == eos)) for token in vocabulary])
        successors.append([ended] * len(vocabulary))
    return FiniteStateModel(
        vocabulary=tuple(vocabulary),
        states=tuple(states),
        initial=places[contents["initial"]],
        rows=RationalRows(
            np.array([[cell.numerator for cell in row] for row in rows], dtype=np.int64),
            np.array([[cell.denominator for cell in row] for row in rows], dtype=np.int64),
        ),
        next=np.array(successors, dtype=np.int64),
        eos=eos,
        source=Source(name),
    )


# Models in the making


@dataclass
class Draft:
    """A model by numbers: `rows[q]`, and `next[q][y]`, `None` for no next state; the first state is the initial one."""

    rows: list[Row]
    next: list[list[int | None]]

    def copy(self) -> "Draft":
        return Draft(list(self.rows), [list(line) for line in self.next])

    def contents(self, vocabulary: Sequence[str], eos: str | None) -> dict:
        """The file's contents, with zeros left out and the next states of EOS left out."""
        return {
            "format": "factorcomp-model/1",
            "kind": "finite_state",
            "vocabulary": list(vocabulary),
            "eos": eos,
            "initial": "q0",
            "states": {
                f"q{place}": {
                    "probabilities": {t: str(cell) for t, cell in zip(vocabulary, row, strict=True) if cell},
                    "next": {
                        t: f"q{target}"
                        for t, target in zip(vocabulary, line, strict=True)
                        if target is not None and t != eos
                    },
                }
                for place, (row, line) in enumerate(zip(self.rows, self.next, strict=True))
            },
        }


Drafts = tuple[Draft, dict[str, Draft]]


class Recipe:
    """One instance in the making: the shape is drawn first, then a structure fills in rows and next states."""

    def __init__(self, integer: Integer):
        self.integer = integer
        self.size = integer(1, 3) if self.one_in(4) else 2
        self.eos = False
        self.names = NAMES[: integer(1, 3) if self.one_in(3) else 2]
        self.positive = self.one_in(2)
        self.masks: dict[str, Positions] | None = None
        self.null_tokens: str | None = None
        self.scope: str | None = None
        self.palette = [self.fresh_row() for _ in range(integer(1, 3))]

    # draws

    def one_in(self, chances: int) -> bool:
        """True with probability one in `chances`; false is the simplest."""
        return self.integer(0, chances - 1) == chances - 1

    def pick(self, things: Sequence):
        return things[self.integer(0, len(things) - 1)]

    def fresh_row(self) -> Row:
        """Small weights, with zeros unless the instance is positive."""
        weights = [self.integer(1 if self.positive else 0, 3) for _ in range(self.size)]
        if not any(weights):
            weights[self.integer(0, self.size - 1)] = 1
        return normalised(weights)

    def row(self) -> Row:
        """A row of the palette (so that rows agree often), now and then a new one."""
        return self.fresh_row() if self.one_in(6) else self.pick(self.palette)

    def other(self, row: Row) -> Row:
        """A row that differs from `row`, within its support where that has two tokens."""
        inside = [token for token, cell in enumerate(row) if cell > 0]
        if len(inside) < 2:
            return row
        heavy = self.pick(inside)
        cells = [cell * (1 + self.integer(1, 3) * (token == heavy)) for token, cell in enumerate(row)]
        return tuple(cell / sum(cells) for cell in cells)

    def hard(self, row: Row) -> Row:
        """`row` given one or more of its tokens."""
        sole = self.integer(0, self.size - 1) if self.one_in(2) else None
        kept = [cell if token == sole or (sole is None and self.one_in(2)) else 0 for token, cell in enumerate(row)]
        return tuple(Fraction(cell) / sum(kept) for cell in kept) if any(kept) else row

    def opened(self, row: Row) -> Row:
        """A row that has one token more at times."""
        token = self.integer(0, self.size - 1)
        return normalised([int(cell > 0) + int(place == token) for place, cell in enumerate(row)])

    def structure(self, states: int) -> list[list[int | None]]:
        """Any transition structure."""
        return [[self.integer(0, states - 1) for _ in range(self.size)] for _ in range(states)]

    def forward(self, states: int) -> list[list[int | None]]:
        """States in a line: each token stays or goes on, the last state stays."""
        return [[min(state + self.integer(0, 1), states - 1) for _ in range(self.size)] for state in range(states)]

    def cycle(self, states: int) -> list[list[int | None]]:
        """A clock."""
        return [[(state + 1) % states] * self.size for state in range(states)]

    # structures: each returns the background and the experts

    def free(self) -> Drafts:
        """Nothing is arranged: every model on its own structure."""
        self.eos = self.one_in(3)
        background = Draft([self.row() for _ in range(self.integer(1, 4))], [])
        background.next = self.structure(len(background.rows))
        experts = {}
        for name in self.names:
            states = self.integer(1, 3)
            experts[name] = Draft([self.row() for _ in range(states)], self.structure(states))
        return background, experts

    def shared(self, loose: int = 5) -> Drafts:
        """One transition structure, each state changed by at most one expert; now and then by two."""
        states = self.integer(1, 4)
        background = Draft([self.row() for _ in range(states)], self.pick([self.forward, self.structure])(states))
        experts = {name: background.copy() for name in self.names}
        for state in range(states):
            owner = self.integer(0, len(self.names))
            for place, name in enumerate(self.names, start=1):
                if place == owner or self.one_in(2 * loose):
                    experts[name].rows[state] = self.other(background.rows[state])
        return background, experts

    def spread(self) -> Drafts:
        """Every token permutes every model's states, each on its own: large products, in which few states deviate."""
        self.size, self.positive = max(self.size, 2), not self.one_in(4)
        self.palette = [self.fresh_row()]
        background = self.permuting(self.integer(1, 2), deviant=False)
        return background, {name: self.permuting(self.integer(2, 4), deviant=not self.one_in(6)) for name in self.names}

    def permuting(self, states: int, deviant: bool) -> Draft:
        """Each token a permutation of the states; one state with a row of its own, if `deviant`."""
        columns = []
        for _ in range(self.size):
            left = list(range(states))
            columns.append([left.pop(self.integer(0, len(left) - 1)) for _ in range(states)])
        draft = Draft([self.palette[0]] * states, [list(line) for line in zip(*columns, strict=True)])
        if deviant:
            draft.rows[self.integer(0, states - 1)] = self.other(self.palette[0])
        return draft

    def staged(self) -> Drafts:
        """States in a line, each expert changes a stretch of its own: intervals by construction."""
        states = 4
        background = Draft([self.row() for _ in range(states)], self.forward(states))
        experts = {name: background.copy() for name in self.names}
        place = self.integer(0, 1)
        for name in self.names:
            for _ in range(self.integer(1, 2)):
                if place < states:
                    experts[name].rows[place] = self.other(background.rows[place])
                    place += 1
        if self.one_in(4):
            self.break_one(background, experts)
        return background, experts

    def interleaving(self) -> Drafts:
        """A cycle on which the experts take turns: one deviation at a prefix, and intervals that overlap."""
        self.positive, self.size = True, max(self.size, 2)
        self.palette = [self.fresh_row()]
        lead, turns = self.integer(0, 1), self.integer(2, 3)
        background = Draft([self.fresh_row() for _ in range(lead + turns)], [])
        background.next = [[min(state + 1, lead)] * self.size for state in range(lead)]
        background.next += [[lead + (state + 1) % turns] * self.size for state in range(turns)]
        if self.one_in(2):
            background.next[-1][0] = len(background.rows) - 1
        experts = {name: background.copy() for name in self.names}
        for state in range(turns):
            name = self.names[state % len(self.names)]
            experts[name].rows[lead + state] = self.other(background.rows[lead + state])
        return background, experts

    def clocked(self) -> Drafts:
        """Rows are functions of a clock and of one bit of the history of one block: factorized conditionals.

        State `(phase, bit)`; a lead-in of one position at times; one row or one next state broken at times.
        """
        self.positive = self.positive or self.one_in(2)
        period, lead = self.integer(1, 3), self.integer(0, 1)
        bits = 2 if period < 3 and self.one_in(2) else 1
        phases = lead + period
        owners = [self.integer(0, len(self.names)) for _ in range(phases)]
        remembered = owners[lead + self.integer(0, period - 1)]
        if bits == 1:
            remembered = -1
        triggers = [self.integer(0, self.size - 1) for _ in range(phases)]
        states = [(phase, bit) for phase in range(phases) for bit in range(bits)]
        lines: list[list[int | None]] = []
        for phase, bit in states:
            after = phase + 1 if phase + 1 < phases else lead
            writes = owners[phase] == remembered
            line = [int(token == triggers[phase]) if writes else bit for token in range(self.size)]
            lines.append([after * bits + (mark if bits == 2 else 0) for mark in line])
        rows = {}

        def row(owner: int, phase: int, bit: int) -> Row:
            key = (owner if owner == owners[phase] else 0, phase, bit if owners[phase] == remembered else 0)
            if key not in rows:
                same = row(0, phase, bit) if key[0] else self.row()
                rows[key] = same if not key[0] else self.opened(same) if self.one_in(8) else self.other(same)
            return rows[key]

        background = Draft([row(0, phase, bit) for phase, bit in states], lines)
        experts = {
            name: Draft([row(place, phase, bit) for phase, bit in states], [list(line) for line in lines])
            for place, name in enumerate(self.names, start=1)
        }
        self.masks = self.masks_of(owners, lead)
        if self.one_in(3):
            self.break_one(background, experts)
        return background, experts

    def agreeing(self) -> Drafts:
        """Off its mask an expert equals the background; nothing is independent. State `(phase, bit)`."""
        period, lead = self.integer(1, 2), self.integer(0, 1)
        phases = lead + period
        owners = [self.integer(0, len(self.names)) for _ in range(phases)]
        states = [(phase, bit) for phase in range(phases) for bit in range(2)]
        background = Draft([self.row() for _ in states], [])
        for phase, _ in states:
            after = phase + 1 if phase + 1 < phases else lead
            background.next.append([2 * after + self.integer(0, 1) for _ in range(self.size)])
        experts = {name: background.copy() for name in self.names}
        for state, (phase, _) in enumerate(states):
            for place, name in enumerate(self.names, start=1):
                if owners[phase] == place:
                    experts[name].rows[state] = self.other(background.rows[state])
        self.masks = self.masks_of(owners, lead)
        if self.one_in(4):
            self.break_one(background, experts)
        return background, experts

    def break_one(self, background: Draft, experts: Mapping[str, Draft]) -> None:
        """One row, or one next state, of one model is another."""
        victim = self.pick([background, *experts.values()])
        state = self.integer(0, len(victim.rows) - 1)
        if self.one_in(2):
            victim.next[state][self.integer(0, self.size - 1)] = self.integer(0, len(victim.rows) - 1)
        else:
            victim.rows[state] = self.other(victim.rows[state])

    def ending(self) -> Drafts:
        """With EOS, which some states exclude: the composition may or may not end; a trap at times."""
        self.eos, self.size = True, max(self.size, 2)
        self.positive = self.one_in(3)
        self.palette = [self.fresh_row() for _ in range(2)]
        background, experts = self.shared(loose=2)
        for draft in (*experts.values(), background):
            if self.one_in(2):
                state = self.integer(0, len(draft.rows) - 1)
                kept = [*draft.rows[state][:-1], Fraction(0)]
                if any(kept):
                    draft.rows[state] = tuple(cell / sum(kept) for cell in kept)
        if self.one_in(3):
            for draft in (*experts.values(), background):
                draft.rows[-1] = normalised([1] * (self.size - 1) + [0])
                draft.next[-1] = [len(draft.rows) - 1] * self.size
        return background, experts

    def alternating(self) -> Drafts:
        """Experts that may end at different phases of a clock (theory.md 10, M4): alone they end, together not."""
        self.eos, self.size = True, 2
        period = self.integer(2, 3)
        background = Draft([normalised([1, 1])] * period, self.cycle(period))
        experts = {}
        for name in self.names:
            silent = {self.integer(0, period - 1)} if self.one_in(4) else set(range(period)) - {self.integer(0, 1)}
            rows = [normalised([1, 0]) if phase in silent else normalised([1, 1]) for phase in range(period)]
            experts[name] = Draft(rows, self.cycle(period))
        return background, experts

    def opening(self) -> Drafts:
        """Experts open tokens that the background excludes; where they lead there may be no next state."""
        self.positive, self.size = False, max(self.size, 2)
        self.eos = self.one_in(4)
        self.palette = [normalised([1, *(self.integer(0, 1) for _ in range(self.size - 2)), 0])]
        background, experts = self.shared()
        for draft in experts.values():
            state = self.integer(0, len(draft.rows) - 1)
            if not self.one_in(3):
                draft.rows[state] = self.opened(background.rows[state])
        if self.one_in(2):
            self.forget(background)
            for draft in experts.values():
                self.forget(draft)
        self.null_tokens = self.pick(["cancel", "cancel", "cancel", "drop", "strict"])
        return background, experts

    def forget(self, draft: Draft) -> None:
        """Now and then no next state after a token of probability 0."""
        for row, line in zip(draft.rows, draft.next, strict=True):
            for token, cell in enumerate(row):
                if cell == 0 and self.one_in(2):
                    line[token] = None

    def far(self) -> Drafts:
        """All experts deviate in one state, to which only tokens of probability 0 lead."""
        self.positive, self.size = False, max(self.size, 2)
        self.palette = [normalised([1, *([1] * (self.size - 2)), 0])]
        states = self.integer(2, 4)
        background = Draft([], [])
        for state in range(states):
            line = [self.integer(0, states - 2) for _ in range(self.size)]
            line[-1] = states - 1
            background.next.append(line)
            background.rows.append(self.palette[0] if state < states - 1 else normalised([1] * self.size))
        experts = {name: background.copy() for name in self.names}
        for name in self.names:
            experts[name].rows[-1] = self.other(background.rows[-1])
            if self.one_in(4):
                state = self.integer(0, states - 2)
                experts[name].rows[state] = self.opened(background.rows[state])
        self.scope = self.pick(["reachable", "reachable", "all"])
        return background, experts

    def constrained(self) -> Drafts:
        """Hard constraints (theory.md 1.9b), which may leave no token at all: dead states."""
        self.positive = True
        self.eos = self.one_in(4)
        states = self.integer(1, 3)
        background = Draft([self.fresh_row() for _ in range(states)], self.structure(states))
        experts = {name: background.copy() for name in self.names}
        for draft in experts.values():
            for state in range(states):
                if self.one_in(2):
                    draft.rows[state] = self.hard(background.rows[state])
        return background, experts

    def reciprocal(self) -> Drafts:
        """Now and then the first two experts cancel: the composition is the background (theory.md 4.4 (3'))."""
        self.positive, self.size = True, max(self.size, 2)
        self.names = NAMES[: max(len(self.names), 2)]
        states = self.integer(1, 3)
        background = Draft([self.fresh_row() for _ in range(states)], self.structure(states))
        experts = {name: background.copy() for name in self.names}
        for state, row in enumerate(background.rows):
            ratios = [self.integer(1, 3) for _ in range(self.size)]
            if self.one_in(2):
                for name, power in zip(self.names, (1, -1), strict=False):
                    cells = [cell * Fraction(ratio) ** power for cell, ratio in zip(row, ratios, strict=True)]
                    experts[name].rows[state] = tuple(cell / sum(cells) for cell in cells)
        return background, experts

    # the instance

    def masks_of(self, owners: Sequence[int], lead: int) -> dict[str, Positions]:
        """Position `t` has owner `owners[t]`, 0 for the background; from `lead` on the owners repeat."""
        period = len(owners) - lead
        return {
            name: Positions(
                tuple(position for position in range(lead) if owners[position] == place),
                tuple((position, period) for position in range(lead, len(owners)) if owners[position] == place),
            )
            for place, name in enumerate(self.names, start=1)
        }

    def random_masks(self) -> dict[str, Positions]:
        """Disjoint masks with a pre-period and a period of their own."""
        lead, period = self.integer(0, 2), self.integer(1, 3)
        return self.masks_of([self.integer(0, len(self.names)) for _ in range(lead + period)], lead)

    def question(self, weighable: set[str]) -> Question:
        """Options that may be asked; masks mostly those of the construction where there are some."""
        kind = self.integer(0, 5)
        masks: Mapping[str, Positions] | str | None = None
        if kind == 5 or (self.masks is not None and kind < 4):
            given = self.masks if self.masks is not None else self.random_masks()
            masks = {name: given[name] for name in self.names if given[name] or self.one_in(2)} or None
        elif kind == 4:
            masks = "auto"
        threshold = self.pick([Fraction(1, 2), Fraction(1), Fraction(1, 10)]) if self.one_in(5) else Fraction(0)
        weighted = self.one_in(5)
        weights = {
            name: Fraction(self.integer(2, 3))
            for name in self.names
            if weighted and name in weighable and self.one_in(2)
        }
        scope = self.scope or ("all" if self.one_in(5) else "reachable")
        null_tokens = self.null_tokens or self.pick(["cancel", "cancel", "drop", "strict"])
        return Question("every", masks, threshold, scope, null_tokens, weights)

    def instance(self, structure: str) -> AutomataInstance:
        background, experts = getattr(self, structure)()
        while len(experts) > 1 and len(joint_states(self.size, [background, *experts.values()])) > LARGEST_PRODUCT:
            experts.popitem()
        self.names = tuple(experts)
        weighable = {name for name, draft in experts.items() if not opens(self.size, background, draft)}
        vocabulary = (*TOKENS[: self.size - 1], EOS) if self.eos else TOKENS[: self.size]
        eos = EOS if self.eos else None
        return AutomataInstance(
            vocabulary,
            eos,
            background.contents(vocabulary, eos),
            {name: draft.contents(vocabulary, eos) for name, draft in experts.items()},
            self.question(weighable),
            structure,
        )


def joint_states(size: int, drafts: Sequence[Draft]) -> set[tuple[int, ...]]:
    """The combinations of states that any tokens reach, as far as every model has a next state."""
    seen = {(0,) * len(drafts)}
    waiting = list(seen)
    while waiting:
        states = waiting.pop()
        for token in range(size):
            after = tuple(draft.next[state][token] for draft, state in zip(drafts, states, strict=True))
            if None not in after and after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def opens(size: int, background: Draft, expert: Draft) -> bool:
    """Whether the expert makes a token possible somewhere that the background excludes there."""
    pairs = joint_states(size, [background, expert])
    return any(
        expert.rows[own][token] > 0 and background.rows[base][token] == 0
        for (base, own), token in product(pairs, range(size))
    )


STRUCTURES = (
    "free",
    "shared",
    "spread",
    "staged",
    "interleaving",
    "clocked",
    "agreeing",
    "ending",
    "alternating",
    "opening",
    "far",
    "constrained",
    "reciprocal",
)


@st.composite
def automata(draw: st.DrawFn, structures: Sequence[str] = STRUCTURES) -> AutomataInstance:
    """Instances of the given structures, which shrink towards few states and the background's own rows."""

    def integer(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    # See strategies.instances: beartype samples with the global generator.
    state = random.getstate()
    instance = Recipe(integer).instance(draw(st.sampled_from(structures)))
    random.setstate(state)
    return instance


def random_automata(rng: random.Random, structures: Sequence[str] = STRUCTURES) -> AutomataInstance:
    """The same from a seeded generator: `random_automata(random.Random(seed))` is the same instance every time."""
    return Recipe(rng.randint).instance(rng.choice(structures))


# Automata read literally


def unroll(instance: AutomataInstance, name: str, length: int) -> list[list[Row | None]]:
    """The table of a model for one length: `None` after a prefix of which the model says nothing."""
    contents, size = instance.model_json(name), len(instance.vocabulary)
    states, steps = [contents["initial"]], []
    for _ in range(length):
        steps.append([None if state is None else row_of(contents, state) for state in states])
        states = [next_of(contents, state, contents["vocabulary"][y]) for state in states for y in range(size)]
    return steps


def row_of(contents: Mapping, state: str) -> Row:
    """The probabilities in a state."""
    if state == ENDED:
        return tuple(Fraction(int(token == contents["eos"])) for token in contents["vocabulary"])
    given = contents["states"][state]["probabilities"]
    return tuple(Fraction(given.get(token, 0)) for token in contents["vocabulary"])


def next_of(contents: Mapping, state: str | None, token: str) -> str | None:
    """The state after `token`; `None` where there is none."""
    if state is None:
        return None
    if state == ENDED or token == contents["eos"]:
        return ENDED
    return contents["states"][state]["next"].get(token)


def clock_of(masks: Mapping[str, Positions]) -> tuple[int, int]:
    """Pre-period and period: from the pre-period on, owners repeat with the period."""
    start = max([0, *(p + 1 for m in masks.values() for p in m.finite)])
    start = max([start, *(a for m in masks.values() for a, _ in m.progressions)])
    return start, math.lcm(*(d for m in masks.values() for _, d in m.progressions))
