"""Random tables of floats, and what two surveys of them differ in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from factorcomp.certificates.claims import Question
from factorcomp.enumeration import levelwise
from factorcomp.models.rows import FloatRows, Scale
from factorcomp.models.tabular import TabularModel
from factorcomp.surveys import Survey

CLOSE = 1e-9


def shifted(values: np.ndarray, by: int) -> np.ndarray:
    """A copy that starts so many numbers after a multiple of 64 bytes."""
    room = np.zeros(values.nbytes + 128 + by * values.itemsize, dtype=np.uint8)
    start = -room.ctypes.data % 64 + by * values.itemsize
    copy = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[:] = values
    return copy


@dataclass(frozen=True)
class Tables:
    """A background, its experts, and a question about them."""

    background: TabularModel
    experts: Mapping[str, TabularModel]
    question: Question

    def laid_out(self, layout: Callable[[np.ndarray], np.ndarray]) -> "Tables":
        """The same numbers, elsewhere in memory."""

        def moved(model: TabularModel) -> TabularModel:
            assert all(isinstance(rows, FloatRows) for rows in model.steps)
            return replace(model, steps=tuple(FloatRows(layout(rows.values), rows.scale) for rows in model.steps))

        return Tables(moved(self.background), {n: moved(m) for n, m in self.experts.items()}, self.question)

    def by_level(self) -> Survey:
        return levelwise.survey(self.background, self.experts, self.question)


@dataclass(frozen=True)
class Recipe:
    """`own`: how often an expert's row is its own."""

    vocab: int
    horizon: int
    experts: int
    scale: Scale = "probs"
    eos: int | None = None
    own: float = 0.2
    zeros: bool = True
    dtype: type = np.float64

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"e{i}" for i in range(self.experts))

    def models(self, rng: np.random.Generator) -> tuple[TabularModel, dict[str, TabularModel]]:
        """Small integers over their sum, or their logs, so that rows agree often and zeros are real."""
        base = [self._rows(rng, self.vocab**t) for t in range(self.horizon)]
        tables = [base]
        for _ in range(self.experts):
            own = [rng.random(len(rows)) < self.own for rows in base]
            tables.append(
                [np.where(w[:, None], self._rows(rng, len(w)), rows) for w, rows in zip(own, base, strict=True)]
            )
        vocabulary = tuple("abcdefgh"[: self.vocab])
        models = []
        for steps in tables:
            if self.eos is not None:
                steps = [
                    np.where(e[:, None], np.eye(self.vocab)[self.eos], s)
                    for e, s in zip(self._ended(), steps, strict=True)
                ]
            shift = 0.0 if self.scale != "logits" else rng.integers(-3, 4)
            rows = tuple(FloatRows(self._scaled(step, shift), self.scale) for step in steps)
            models.append(TabularModel(vocabulary, rows, None if self.eos is None else vocabulary[self.eos]))
        return models[0], dict(zip(self.names, models[1:], strict=True))

    def _rows(self, rng: np.random.Generator, count: int) -> np.ndarray:
        weights = rng.integers(0 if self.zeros else 1, 5, (count, self.vocab)).astype(float)
        weights[weights.sum(axis=1) == 0] = 1.0
        return weights / weights.sum(axis=1, keepdims=True)

    def _ended(self) -> Iterator[np.ndarray]:
        ended = np.zeros(1, dtype=bool)
        for _ in range(self.horizon):
            yield ended
            ended = (ended[:, None] | (np.arange(self.vocab) == self.eos)).reshape(-1)

    def _scaled(self, probs: np.ndarray, shift: float) -> np.ndarray:
        if self.scale == "probs":
            return probs.astype(self.dtype)
        with np.errstate(divide="ignore"):
            return (np.log(probs) + shift).astype(self.dtype)


def random_tables(seed: int) -> Tables:
    """Every option of a question about one length, and every kind of table; `seed` names the case."""
    rng = np.random.default_rng(seed)

    def pick(things: Sequence[Any]) -> Any:
        return things[int(rng.integers(len(things)))]

    vocab = pick([2, 2, 3, 3, 4, 5])
    recipe = Recipe(
        vocab=vocab,
        horizon=int(rng.integers(1, {2: 7, 3: 6, 4: 5, 5: 4}[vocab])),
        experts=pick([1, 2, 2, 3, 4]),
        scale=pick(["probs", "log_probs", "logits"]),
        eos=int(rng.integers(vocab)) if rng.random() < 0.3 else None,
        own=pick([0.02, 0.1, 0.3]),
        zeros=rng.random() < 0.5,
        dtype=pick([np.float64, np.float64, np.float32]),
    )
    owners = rng.integers(-1, recipe.experts, recipe.horizon)
    masks = {name: tuple(np.flatnonzero(owners == i).tolist()) for i, name in enumerate(recipe.names)}
    question = Question(
        recipe.horizon,
        masks=pick([None, None, "auto", masks]),
        threshold=pick([Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1)]),
        scope=pick(["reachable", "all"]),
        null_tokens=pick(["strict", "drop", "cancel"]),
        weights={n: Fraction(int(rng.integers(1, 5)), 2) for n in recipe.names} if rng.random() < 0.25 else {},
    )
    return Tables(*recipe.models(rng), question)


ONLY_ONE_HAS = {"deviating", "active", "who", "marginal"}
"""Fields of a survey that one engine has, or that are functions."""


def differences(found: Survey, expected: Survey, question: Question) -> list[str]:
    """What differs, one line each; floats within 1e-9. Distances from the background only where they are asked for."""
    lines = list(_differences("survey", found, expected))
    for i, (mine, theirs) in enumerate(zip(found.experts, expected.experts, strict=True)):
        for t in _asked(question, f"e{i}"):
            lines += _differences(f"survey.experts[{i}].largest_tv[{t}]", mine.largest_tv[t], theirs.largest_tv[t])
    for i in expected.masks or {}:
        assert found.marginal is not None
        assert expected.marginal is not None
        lines += _differences(f"marginal {i}", found.marginal(i), expected.marginal(i))
    return lines


def _asked(question: Question, name: str) -> set[int]:
    """The positions at which the claims about masks ask how far an expert is from the background."""
    if question.masks is None or (question.masks == "auto" and not question.threshold):
        return set()
    return set(range(question.horizon)) - set((question.given_masks or {}).get(name, ()))


def _differences(place: str, found: Any, expected: Any) -> Iterator[str]:
    if isinstance(expected, float) or isinstance(found, float):
        if not (found == expected or abs(found - expected) <= CLOSE * max(1.0, abs(expected))):
            yield f"{place}: found {found}, expected {expected}"
    elif is_dataclass(expected) and type(found) is type(expected):
        apart = ONLY_ONE_HAS if place == "survey" else {"largest_tv"}
        for name in (field.name for field in fields(expected) if field.name not in apart):
            yield from _differences(f"{place}.{name}", getattr(found, name), getattr(expected, name))
    elif isinstance(expected, Sequence) and isinstance(found, Sequence):
        if len(found) != len(expected):
            yield f"{place}: found {len(found)}, expected {len(expected)} parts"
        for n, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from _differences(f"{place}[{n}]", one, other)
    elif found != expected:
        yield f"{place}: found {found}, expected {expected}"
