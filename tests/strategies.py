"""Random instances by construction: small integer weights, normalised, so that one draw gives exact Fractions.

One recipe per structure class, written once over a source of integers; Hypothesis (`instances`) and a seeded generator
for long campaigns (`random_instance`) are two such sources. Every instance is inside the contract: rows sum to 1, rows
after EOS are the EOS row, masks are disjoint and within the length.

A weight other than 1 is given only to an expert that opens no null token of the background, or that opens one at the
root (where `well_defined` is then REFUTED): theory.md 1.9 says nothing about the law of a tilted expert elsewhere.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from factorcomp.certificates.claims import Question

Row = tuple[Fraction, ...]
Steps = list[list[Row]]
Integer = Callable[[int, int], int]
"""A source of integers: `integer(low, high)`, both included; `low` is the simplest."""

TOKENS = ("a", "b", "c", "d", "e")
EOS = "<eos>"
NAMES = ("up", "down", "left", "right")
CAP = 700
"""The most sequences of the largest instance."""


def number(value: Fraction) -> str:
    """The number as `"p/q"` in lowest terms, or `"p"`."""
    return str(value)


@dataclass(frozen=True)
class Instance:
    """A background, its experts, and a question about them, as plain data; `structure` names the recipe."""

    vocabulary: tuple[str, ...]
    eos: str | None
    background: Steps
    experts: Mapping[str, Steps]
    question: Question
    structure: str = field(default="", compare=False)

    def model(self, name: str) -> Steps:
        """The steps of the background (`"background"`) or of an expert."""
        return self.background if name == "background" else self.experts[name]

    def model_json(self, name: str) -> dict:
        """The model as a tabular file of interface.md."""
        return {
            "format": "factorcomp-model/1",
            "kind": "tabular",
            "vocabulary": list(self.vocabulary),
            "eos": self.eos,
            "steps": [[[number(cell) for cell in row] for row in step] for step in self.model(name)],
        }

    def options(self) -> dict:
        """What `verify` is asked, as JSON; only what differs from the defaults."""
        question = self.question
        given = {
            "masks": question.masks
            if question.masks is None or question.masks == "auto"
            else {name: list(positions) for name, positions in question.masks.items()},
            "threshold": number(question.threshold) if question.threshold else None,
            "scope": question.scope if question.scope != "reachable" else None,
            "null_tokens": question.null_tokens if question.null_tokens != "cancel" else None,
            "weights": {name: number(weight) for name, weight in question.weights.items()} or None,
        }
        return {option: value for option, value in given.items() if value is not None}


def normalised(weights: Sequence[int]) -> Row:
    """The row proportional to the weights."""
    total = sum(weights)
    return tuple(Fraction(weight, total) for weight in weights)


class Recipe:
    """One instance in the making: the shape is drawn first, then a structure fills in the rows."""

    def __init__(self, integer: Integer, cap: int):
        self.integer = integer
        self.size = integer(1, 5) if self.one_in(3) else integer(2, 3)
        longest = next(length for length in range(6, -1, -1) if self.size**length <= cap)
        self.length = integer(0, longest) if self.one_in(6) else integer(min(1, longest), longest)
        self.eos = self.one_in(3)
        self.names = NAMES[: integer(1, 4) if self.one_in(3) else 2]
        self.positive = self.one_in(2)
        self.palette = [self.fresh_row() for _ in range(integer(2, 4))]
        self.masks: dict[str, tuple[int, ...]] = self.disjoint_masks()
        self.suggest_masks = False
        self.opens = False

    # draws

    def one_in(self, chances: int) -> bool:
        """True with probability one in `chances`; false is the simplest."""
        return self.integer(0, chances - 1) == chances - 1

    def pick(self, things: Sequence):
        return things[self.integer(0, len(things) - 1)]

    def fresh_row(self) -> Row:
        """Small weights, with zeros unless the instance is positive."""
        weights = [self.integer(1 if self.positive else 0, 4) for _ in range(self.size)]
        if not any(weights):
            weights[self.integer(0, self.size - 1)] = 1
        return normalised(weights)

    def row(self) -> Row:
        """A row of the palette (so that rows agree often), now and then a new one."""
        return self.fresh_row() if self.one_in(8) else self.pick(self.palette)

    def inside(self, background: Row) -> Row:
        """A row whose support lies within that of `background` (so that it is defined under every convention)."""
        weights = [self.integer(1, 4) if self.positive else self.integer(0, 3) for _ in background]
        kept = [weight if cell > 0 else 0 for weight, cell in zip(weights, background, strict=True)]
        return normalised(kept) if any(kept) else background

    def one_hot(self) -> Row:
        return normalised([int(token == hot) for hot in [self.integer(0, self.size - 1)] for token in range(self.size)])

    def disjoint_masks(self) -> dict[str, tuple[int, ...]]:
        """Each position goes to the background or to an expert."""
        owners = [self.integer(0, len(self.names)) for _ in range(self.length)]
        return {
            name: tuple(position for position, owner in enumerate(owners) if owner == place)
            for place, name in enumerate(self.names, start=1)
        }

    # tables

    def prefixes(self, step: int) -> list[tuple[int, ...]]:
        return list(product(range(self.size), repeat=step))

    def table(self, row: Callable[[tuple[int, ...]], Row]) -> Steps:
        """The model with `row(prefix)`, and the EOS row after EOS (the last token)."""
        stop = normalised([int(token == self.size - 1) for token in range(self.size)])
        return [
            [stop if self.eos and self.size - 1 in prefix else row(prefix) for prefix in self.prefixes(step)]
            for step in range(self.length)
        ]

    def background_of(self, background: Steps, prefix: tuple[int, ...]) -> Row:
        index = 0
        for token in prefix:
            index = index * self.size + token
        return background[len(prefix)][index]

    def block(self, position: int) -> str:
        """The owner of a position; the empty string is the background."""
        return next((name for name in self.names if position in self.masks[name]), "")

    def own_history_table(self, owner: str, rows: dict) -> Steps:
        """Every kernel a function of the position and of the history on its own block; `owner` differs on its mask."""

        def row(prefix: tuple[int, ...]) -> Row:
            position, block = len(prefix), self.block(len(prefix))
            history = tuple(prefix[earlier] for earlier in range(position) if self.block(earlier) == block)
            acting = owner if owner and block == owner else ""
            key = (acting, position, history)
            if key not in rows:
                beyond = not acting or (self.opens and self.one_in(3))
                rows[key] = self.row() if beyond else self.inside(rows[("", position, history)])
            return rows[key]

        return self.table(row)

    # structures: each returns the background and the experts

    def free(self) -> tuple[Steps, dict[str, Steps]]:
        """(a) Nothing is arranged but that experts mostly stay inside the background's support."""
        background = self.table(lambda _: self.row())
        loose = self.one_in(5)

        def expert() -> Steps:
            return self.table(
                lambda prefix: self.row() if loose else self.inside(self.background_of(background, prefix))
            )

        return background, {name: expert() for name in self.names}

    def sparse(self) -> tuple[Steps, dict[str, Steps]]:
        """(b) Each prefix has at most one deviating expert, by prefix or by position; now and then one more."""
        background = self.table(lambda _: self.row())
        by_position = [self.integer(0, len(self.names)) for _ in range(self.length)] if self.one_in(2) else None
        owners, spoiled = {}, self.one_in(3)
        for step in range(self.length):
            for prefix in self.prefixes(step):
                owners[prefix] = by_position[step] if by_position else max(0, self.integer(0, len(self.names) + 2) - 2)

        def expert(place: int) -> Steps:
            def row(prefix: tuple[int, ...]) -> Row:
                same = self.background_of(background, prefix)
                acts = owners[prefix] == place or (spoiled and self.one_in(12))
                return self.inside(same) if acts else same

            return self.table(row)

        return background, {name: expert(place) for place, name in enumerate(self.names, start=1)}

    def factorized(self) -> tuple[Steps, dict[str, Steps]]:
        """(c) Block-own-history kernels, so that FC holds unless (c) fails; one row perturbed at times."""
        self.eos = False
        rows: dict = {}
        self.opens = self.one_in(4)
        background = self.own_history_table("", rows)
        experts = {name: self.own_history_table(name, rows) for name in self.names}
        if self.length and self.one_in(3):
            step = self.integer(0, self.length - 1)
            victim = self.pick([background, *experts.values()])
            index = self.integer(0, self.size**step - 1)
            victim[step][index] = self.inside(background[step][index])
        self.suggest_masks = True
        return background, experts

    def agreeing(self) -> tuple[Steps, dict[str, Steps]]:
        """(d) Off its mask an expert equals the background; nothing is independent."""
        background = self.table(lambda _: self.row())

        def expert(name: str) -> Steps:
            def row(prefix: tuple[int, ...]) -> Row:
                same = self.background_of(background, prefix)
                return self.inside(same) if len(prefix) in self.masks[name] else same

            return self.table(row)

        self.suggest_masks = True
        return background, {name: expert(name) for name in self.names}

    def opening(self) -> tuple[Steps, dict[str, Steps]]:
        """(e) Experts open tokens that the background excludes, mostly one expert at a prefix."""
        self.positive = False
        holed = [self.fresh_row() for _ in range(2)]
        background = self.table(lambda _: self.pick(holed))
        crowded = self.one_in(4)
        owners = {
            prefix: self.integer(0, len(self.names)) for step in range(self.length) for prefix in self.prefixes(step)
        }

        def expert(place: int) -> Steps:
            def row(prefix: tuple[int, ...]) -> Row:
                same = self.background_of(background, prefix)
                acts = owners[prefix] == place or (crowded and self.one_in(6))
                if not acts:
                    return same
                opened = self.integer(0, self.size - 1)
                return normalised([int(cell > 0) + int(token == opened) for token, cell in enumerate(same)])

            return self.table(row)

        return background, {name: expert(place) for place, name in enumerate(self.names, start=1)}

    def deterministic(self) -> tuple[Steps, dict[str, Steps]]:
        """(f) One-hot rows: everywhere, or in the experts alone."""
        everywhere = self.one_in(2)
        background = self.table(lambda _: self.one_hot() if everywhere else self.pick(self.palette))

        def expert(place: int) -> Steps:
            def row(prefix: tuple[int, ...]) -> Row:
                acts = self.integer(0, len(self.names)) == place
                return self.one_hot() if acts else self.background_of(background, prefix)

            return self.table(row)

        return background, {name: expert(place) for place, name in enumerate(self.names, start=1)}

    def constrained(self) -> tuple[Steps, dict[str, Steps]]:
        """(g) Hard constraints `p_b(.|A_i)` (theory.md 1.9b): exact although several act; EOS or token 0 is kept."""
        self.positive = True
        background = self.table(lambda _: self.fresh_row())

        def expert() -> Steps:
            def row(prefix: tuple[int, ...]) -> Row:
                same = self.background_of(background, prefix)
                kept = [cell if token == 0 or not self.one_in(3) else Fraction(0) for token, cell in enumerate(same)]
                return tuple(cell / sum(kept) for cell in kept)

            return self.table(row)

        return background, {name: expert() for name in self.names}

    def memoryless(self) -> tuple[Steps, dict[str, Steps]]:
        """(h) Rows depend on the position only: Z too, so local and global agree although experts overlap."""
        self.eos = False
        rows = [self.row() for _ in range(self.length)]
        background = self.table(lambda prefix: rows[len(prefix)])

        def expert() -> Steps:
            own = [row if self.one_in(2) else self.inside(row) for row in rows]
            return self.table(lambda prefix: own[len(prefix)])

        return background, {name: expert() for name in self.names}

    def reciprocal(self) -> tuple[Steps, dict[str, Steps]]:
        """(i) Now and then the first two experts cancel: the composition is the background (theory.md 4.4 (3'))."""
        self.positive = True
        self.names = self.names if len(self.names) > 1 else NAMES[:2]
        self.masks = self.disjoint_masks()
        background = self.table(lambda _: self.fresh_row())
        ratios = {
            prefix: [self.integer(1, 3) for _ in range(self.size)] if self.one_in(2) else [1] * self.size
            for step in range(self.length)
            for prefix in self.prefixes(step)
        }

        def expert(power: int) -> Steps:
            def row(prefix: tuple[int, ...]) -> Row:
                same = self.background_of(background, prefix)
                cells = [cell * Fraction(ratio) ** power for cell, ratio in zip(same, ratios[prefix], strict=True)]
                return tuple(cell / sum(cells) for cell in cells)

            return self.table(row)

        first, second, *rest = self.names
        return background, {first: expert(1), second: expert(-1), **{name: expert(0) for name in rest}}

    # the instance

    def question(self, background: Steps, experts: Mapping[str, Steps]) -> Question:
        """Options that may be asked of these models; masks mostly those of the construction where there are some."""
        kind = self.integer(0, 5)
        masks: Mapping[str, tuple[int, ...]] | str | None = None
        if kind == 5 or (self.suggest_masks and kind < 4):
            given = self.masks if self.suggest_masks or self.one_in(2) else self.disjoint_masks()
            masks = {name: given[name] for name in self.names if given[name] or self.one_in(2)} or None
        elif kind == 4:
            masks = "auto"
        threshold = self.pick([Fraction(1, 2), Fraction(1), Fraction(1, 10)]) if self.one_in(5) else Fraction(0)
        weights = {
            name: Fraction(self.integer(2, 3))
            for name in (self.names if self.one_in(5) else ())
            if self.one_in(2) and self.may_be_weighted(background, experts[name])
        }
        return Question(
            length=self.length,
            masks=masks,
            threshold=threshold,
            scope="all" if self.one_in(4) else "reachable",
            null_tokens=self.pick(["cancel", "cancel", "drop", "strict"]),
            weights=weights,
        )

    def may_be_weighted(self, background: Steps, expert: Steps) -> bool:
        """Whether the expert opens no token, or opens one at the root: nothing else has an agreed meaning."""
        opens = [
            any(cell > 0 and base == 0 for cell, base in zip(row, same, strict=True))
            for step, base_step in zip(expert, background, strict=True)
            for row, same in zip(step, base_step, strict=True)
        ]
        return not any(opens) or opens[0]

    def instance(self, structure: str) -> Instance:
        background, experts = getattr(self, structure)()
        question = self.question(background, experts)
        tokens = (*TOKENS[: self.size - 1], EOS) if self.eos else TOKENS[: self.size]
        return Instance(tokens, EOS if self.eos else None, background, experts, question, structure)


STRUCTURES = (
    "free",
    "sparse",
    "factorized",
    "agreeing",
    "opening",
    "deterministic",
    "constrained",
    "memoryless",
    "reciprocal",
)


@st.composite
def instances(draw: st.DrawFn, structures: Sequence[str] = STRUCTURES, cap: int = 100) -> Instance:
    """Instances of the given structure classes, with at most `cap` sequences."""

    def integer(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    # beartype, which watches factorcomp's classes in the tests, samples containers with the global generator, and
    # Hypothesis would take that for a strategy that cannot be repeated.
    state = random.getstate()
    instance = Recipe(integer, cap).instance(draw(st.sampled_from(structures)))
    random.setstate(state)
    return instance


def random_instance(rng: random.Random, structures: Sequence[str] = STRUCTURES, cap: int = CAP) -> Instance:
    """The same from a seeded generator: `random_instance(random.Random(seed))` is the same instance every time."""
    return Recipe(rng.randint, cap).instance(rng.choice(structures))
