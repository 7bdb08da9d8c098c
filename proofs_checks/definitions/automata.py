"""Finite-state models, prefix by prefix and as a product automaton: theory.md section 7."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import Prefix, Row, prefixes, total
from proofs_checks.definitions.operator import NullTokens, is_error, weight_of

Scope = Literal["reachable", "all"]
Node = TypeVar("Node", bound=Hashable)
Place = tuple[int | None, ...]
"""The states of the background and the experts; `None` where a model has no next state."""


@dataclass(frozen=True)
class Automaton:
    """A row for every state and the state after every token, or `None`; it starts in state 0."""

    rows: tuple[Row, ...]
    next: tuple[tuple[int | None, ...], ...]

    def state(self, prefix: Prefix) -> int | None:
        """The state after a prefix."""
        state: int | None = 0
        for token in prefix:
            state = None if state is None else self.next[state][token]
        return state

    def row(self, prefix: Prefix) -> Row | None:
        """The kernel at a prefix."""
        state = self.state(prefix)
        return None if state is None else self.rows[state]


@dataclass(frozen=True)
class Machines:
    """A background (the first) and experts, with the null-token convention and the scope."""

    models: tuple[Automaton, ...]
    null: NullTokens = "cancel"
    scope: Scope = "reachable"

    @property
    def size(self) -> int:
        """The number of tokens."""
        return len(self.models[0].next[0])

    def family(self, length: int, masks: tuple[tuple[int, ...], ...] = ()) -> Family:
        """The tables up to a horizon; every model has a next state everywhere."""
        background, *experts = (_table(model, self.size, length) for model in self.models)
        return Family(self.size, length, background, tuple(experts), masks)

    def weights(self, rows: Iterable[Row | None]) -> Row | None:
        """`w`, or `None`: a model has no row, a cell is an error, or `Z = 0`."""
        found = [row for row in rows if row is not None]
        if len(found) < len(self.models):
            return None
        base, *experts = found
        if any(is_error(token, base, experts, self.null) for token in range(self.size)):
            return None
        weights = tuple(weight_of(token, base, experts, self.null) for token in range(self.size))
        return weights if total(weights) else None

    def followed(self, weights: Row | None) -> list[int]:
        """The tokens along which the scope goes on."""
        if weights is None:
            return []
        return [token for token, weight in enumerate(weights) if weight or self.scope == "all"]

    # prefix by prefix

    def prefixes(self, length: int) -> dict[Prefix, Row | None]:
        """The prefixes in scope shorter than `length`, with `w`."""
        found: dict[Prefix, Row | None] = {}
        level: list[Prefix] = [()] if length else []
        while level:
            for h in level:
                found[h] = self.weights(model.row(h) for model in self.models)
            level = [(*h, token) for h in level if len(h) + 1 < length for token in self.followed(found[h])]
        return found

    def deviators(self, prefix: Prefix) -> list[int]:
        """The experts (from 0) whose row at the prefix is not the background's."""
        base, *experts = (model.row(prefix) for model in self.models)
        return [i for i, row in enumerate(experts) if row != base]

    # the product automaton

    def at(self, place: Place) -> tuple[Row | None, ...]:
        """Every model's row at a place."""
        pairs = zip(self.models, place, strict=True)
        return tuple(None if state is None else model.rows[state] for model, state in pairs)

    def step(self, place: Place, token: int) -> Place:
        """The place after a token."""
        pairs = zip(self.models, place, strict=True)
        return tuple(None if state is None else model.next[state][token] for model, state in pairs)

    def after(self, place: Place) -> list[tuple[int, Place]]:
        """The tokens along which the scope goes on, with the next places."""
        return [(token, self.step(place, token)) for token in self.followed(self.weights(self.at(place)))]

    @property
    def start(self) -> Place:
        """Every model's first state."""
        return (0,) * len(self.models)

    def deviating_at(self, place: Place) -> list[int]:
        """`{i: place in D_i}`."""
        base, *experts = self.at(place)
        return [i for i, row in enumerate(experts) if row != base]


def _table(model: Automaton, size: int, length: int) -> dict[Prefix, Row]:
    """A row for every prefix."""
    table = {}
    for h in prefixes(size, length):
        row = model.row(h)
        if row is None:
            raise ValueError(f"no row at {h}: give every state a next state for every token")
        table[h] = row
    return table


def shortest_words(start: Node, after: Callable[[Node], Iterable[tuple[Any, Node]]]) -> dict[Node, tuple[Any, ...]]:
    """Breadth first: every node that can be reached, with a shortest word that leads there."""
    words: dict[Node, tuple[Any, ...]] = {start: ()}
    queue = [start]
    for node in queue:
        for label, child in after(node):
            if child not in words:
                words[child] = (*words[node], label)
                queue.append(child)
    return words


def shortest(words: Mapping[Node, tuple[Any, ...]], bad: Callable[[Node], bool]) -> int | None:
    """The length of a shortest word to a node that is bad; `None` if there is none."""
    return min((len(word) for node, word in words.items() if bad(node)), default=None)


@dataclass(frozen=True)
class Clock:
    """The owner of every position, eventually periodic: `owners`, then again from `lead` on; 0 is the background."""

    owners: tuple[int, ...]
    lead: int

    def phase(self, position: int) -> int:
        """The phase of a position."""
        return position if position < len(self.owners) else self.lead + (position - self.lead) % self.period

    @property
    def period(self) -> int:
        """The length of what repeats."""
        return len(self.owners) - self.lead

    def after(self, phase: int) -> int:
        """The next phase."""
        return phase + 1 if phase + 1 < len(self.owners) else self.lead

    def masks(self, experts: int, length: int) -> tuple[tuple[int, ...], ...]:
        """Each expert's positions below a horizon."""
        owners = [self.owners[self.phase(t)] for t in range(length)]
        return tuple(tuple(t for t, owner in enumerate(owners) if owner == i) for i in range(1, experts + 1))

    def blocks(self) -> Iterator[int]:
        """The owners that own a position."""
        yield from sorted(set(self.owners))
