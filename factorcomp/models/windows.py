"""Models that look at their last tokens alone, as finite-state models: the states are what they can see.

With the window `n`, `p(· | y_1 … y_t) = p(· | y_{t-n+1} … y_t)` for all `t >= n`: the state is the last `n` tokens, or
all of them while there are fewer. The states are `Σ_{t<=n} |V|^t` many, EOS not counted among the tokens.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.models import memory
from factorcomp.models.errors import InputError, Problems, shown
from factorcomp.models.finite_state import FiniteStateModel
from factorcomp.models.function import BATCH, FunctionModel, table_size, tokens_of_prefixes
from factorcomp.models.notes import renormalised, rounded_up
from factorcomp.models.rows import AbstractRows, ExactRow, FloatRows, RationalRows
from factorcomp.models.tabular import TabularModel

TOLERANCE = 1e-6
"""How much the row of a function after a longer prefix may differ in total variation: float32, in other batches."""
CHECKED = 400
"""Longer prefixes on which a function is asked, about."""
MEMORY = 6
"""A row, its next states, and both once more on the way; the names of the states."""

Progress = Callable[[int, int], None]


def as_finite_state(
    model: FunctionModel | TabularModel, window: int, progress: Progress | None = None
) -> FiniteStateModel:
    """The same model by states, for one that looks at its last `window` tokens alone.

    >>> table = TabularModel.from_probabilities([["1/2", "1/2"], [["1/4", "3/4"], [1, 0]]], ["a", "b"])
    >>> as_finite_state(table, 1).states
    ('', 'a', 'b')

    That it looks no further is checked: on every prefix of a table, exactly; on about 400 longer prefixes of a
    function, of lengths `window + 1` to `3 window + 8`, half of them uniform, half as the model goes on. A note says
    how much the rows differ at most.

    **Arguments:** `progress`: told how many prefixes of a function are done, and of how many.

    **Raises:** `InputError` if the rows do not fit into memory, before anything is computed; if the model looks further
    than it is said to, with the prefixes; if a table ends before the window is full, or has gaps; and what a function's
    `tabulate` raises.
    """
    name, vocab = model.source.name, len(model.vocabulary)
    if not window >= 0:
        raise InputError(f"{name}: found the window {window}; needed at least 0")
    needed = MEMORY * table_size(vocab, window + 1)
    memory.require(needed, name, f"a row after each of {vocab}^{window} windows, and after shorter prefixes,")
    contexts = _Contexts(model, window)
    if isinstance(model, TabularModel):
        return _of_table(model, contexts)
    return _of_function(model, contexts, progress)


class _Contexts:
    """What a model with a window can see: `levels[t]` are the prefixes of `t` tokens other than EOS, by their index."""

    def __init__(self, model: FunctionModel | TabularModel, window: int):
        self.window = window
        self.vocabulary, self.eos = model.vocabulary, model.eos
        self.going_on = np.array([y for y, token in enumerate(model.vocabulary) if token != model.eos], dtype=np.int64)
        self.levels = [np.zeros(1, dtype=np.int64)]
        for _ in range(window):
            self.levels.append(self.longer(self.levels[-1]))

    @property
    def seen(self) -> str:
        """What the model looks at, in words."""
        return {0: "no token", 1: "the last token"}.get(self.window, f"the last {self.window} tokens")

    def longer(self, prefixes: Int[np.ndarray, " prefixes"]) -> Int[np.ndarray, " longer"]:
        """The prefixes with one token more."""
        return (prefixes[:, None] * len(self.vocabulary) + self.going_on).reshape(-1)

    def tokens(self, prefixes: Int[np.ndarray, " prefixes"], length: int) -> Int[np.ndarray, "prefixes length"]:
        """The tokens of prefixes of this length."""
        vocab = len(self.vocabulary)
        return tokens_of_prefixes(prefixes, length, vocab)

    def model(self, rows: AbstractRows, model: FunctionModel | TabularModel) -> FiniteStateModel:
        """The finite-state model with these rows, of the contexts and, with EOS, of the end."""
        sizes = [len(level) for level in self.levels]
        starts, count = np.cumsum([0, *sizes]), sum(sizes)
        following = np.full((count + (self.eos is not None), len(self.vocabulary)), count)
        for length, size in enumerate(sizes):
            places = np.arange(size)[:, None] * len(self.going_on) + np.arange(len(self.going_on))
            target = min(length + 1, self.window)  # the last level leads into itself: its first token is forgotten
            block = slice(starts[length], starts[length] + size)
            following[block, self.going_on] = starts[target] + places % max(1, sizes[target])
        return FiniteStateModel(self.vocabulary, self._names(), 0, rows, following, self.eos, model.source)

    def _names(self) -> tuple[str, ...]:
        for texts in (self.vocabulary, [json.dumps(token, ensure_ascii=False) for token in self.vocabulary]):
            names = tuple(name for length in range(len(self.levels)) for name in self._joined(length, texts))
            if len({*names}) == len(names):
                break  # in quotes they always differ
        return names

    def _joined(self, length: int, texts: Sequence[str]) -> Iterator[str]:
        for tokens in self.tokens(self.levels[length], length).tolist():
            yield " ".join(texts[token] for token in tokens)


def _of_function(model: FunctionModel, contexts: _Contexts, progress: Progress | None) -> FiniteStateModel:
    name, problems = model.source.name, Problems(model.source.name)
    total, done, count, largest = sum(map(len, contexts.levels)), 0, 0, 0.0
    values: list[Float[np.ndarray, "prefixes vocab"]] = []
    for length, level in enumerate(contexts.levels):
        for start in range(0, len(level), BATCH):
            tokens = contexts.tokens(level[start : start + BATCH], length)
            rows, found, off = model.rows_after(tokens, problems)
            values.append(rows)
            count, largest, done = count + found, max(largest, off), done + len(rows)
            if progress is not None:
                progress(done, total)
        problems.raise_any()
    if model.eos is not None:
        values.append(np.where(np.array([model.vocabulary]) == model.eos, 0.0, -np.inf))
    result = contexts.model(FloatRows(np.concatenate(values), "log_probs"), model)
    checked, difference = _check_function(model, contexts, result)
    shown_difference = rounded_up(difference) if difference else "0"
    notes = (
        *renormalised(name, None, count, largest),
        f"{name}: taken to look at {contexts.seen} alone; rows after {checked} longer prefixes differ by at most "
        f"{shown_difference} in total variation",
    )
    return replace(result, source=replace(model.source, notes=(*model.source.notes, *notes)))


def _check_function(model: FunctionModel, contexts: _Contexts, result: FiniteStateModel) -> tuple[int, float]:
    """On how many longer prefixes the rows were compared, and the largest total variation.

    **Raises:** `InputError` if a row differs by more than `TOLERANCE`.
    """
    problems, random = Problems(model.source.name, limit=5), np.random.default_rng(0)
    longest = 3 * contexts.window + 8
    width = -(-CHECKED // (longest - contexts.window))
    if len(contexts.going_on) == 0:  # EOS alone: no prefix is longer
        return 0, 0.0
    tokens, states = _walks(contexts, result, width, longest, random)
    checked, largest = 0, 0.0
    for length in range(contexts.window + 1, longest + 1):
        rows, _, _ = model.rows_after(tokens[:, :length], problems)
        problems.raise_any()
        seen = result.rows.log_probs(0, result.rows.shape[0])[states[:, length]]
        difference = np.abs(np.exp(rows) - np.exp(seen)).sum(1) / 2
        checked, largest = checked + len(rows), max(largest, float(difference.max()))
        for prefix in np.flatnonzero(~(difference <= TOLERANCE)):
            found = f"found a row that differs by {difference[prefix]:.3g} in total variation from the one expected"
            needed = f"needed at most {TOLERANCE:g}, as it is said to look at {contexts.seen} alone"
            problems.add(model.after(tokens[prefix, :length]), f"{found}; {needed}")
        problems.raise_any()
    return checked, largest


def _walks(
    contexts: _Contexts, result: FiniteStateModel, width: int, length: int, random: np.random.Generator
) -> tuple[Int[np.ndarray, "prefixes length"], Int[np.ndarray, "prefixes states"]]:
    """Prefixes without EOS, and the states on their way: half of them uniform, half as the model goes on."""
    going_on = contexts.going_on
    tokens = going_on[random.integers(len(going_on), size=(width, length))]
    states = np.zeros((width, length + 1), dtype=np.int64)
    logs = result.rows.log_probs(0, result.rows.shape[0])
    for place in range(length):
        own = np.arange(0, width, 2)
        scores = logs[states[own, place]][:, going_on] + random.gumbel(size=(len(own), len(going_on)))
        possible = scores.max(axis=1) > -np.inf
        tokens[own[possible], place] = going_on[scores[possible].argmax(1)]
        states[:, place + 1] = result.next[states[:, place], tokens[:, place]]
    return tokens, states


def _of_table(model: TabularModel, contexts: _Contexts) -> FiniteStateModel:
    name, window, vocab = model.source.name, contexts.window, len(model.vocabulary)
    if not model.horizon > window:
        raise InputError(f"{name}: found {model.horizon} steps; needed more than the window, {window}")
    if model.gaps is not None and any(gap.any() for gap in model.gaps):
        raise InputError(f"{name}: found prefixes of which the model says nothing; needed a row for each")
    prefixes = contexts.levels[window]
    for length in range(window + 1, model.horizon):
        prefixes = contexts.longer(prefixes)
        seen = prefixes % vocab**window
        differ = ~_equal(model.steps[length], prefixes, model.steps[window], seen)
        if differ.any():
            first = int(differ.argmax())
            long, short = (
                " ".join(shown(model.vocabulary[y]) for y in contexts.tokens(index[first : first + 1], size)[0])
                for index, size in ((prefixes, length), (seen, window))
            )
            found = f"found another row than after {short or 'the empty prefix'}"
            needed = f"needed the same, as it is said to look at {contexts.seen} alone"
            raise InputError(f"{name}: after {long}: {found}; {needed}")
    levels = [rows.take(level, range(vocab)) for rows, level in zip(model.steps, contexts.levels, strict=False)]
    return contexts.model(_joined(levels, model), model)


def _equal(
    rows: AbstractRows, mine: Int[np.ndarray, " pairs"], other: AbstractRows, theirs: Int[np.ndarray, " pairs"]
) -> Bool[np.ndarray, " pairs"]:
    """Which pairs of rows are the same distribution, up to the first that are not: decided exactly."""
    equal = rows.identical(mine, other, theirs)
    for pair in np.flatnonzero(~equal):
        if not _proportional(rows.exact(int(mine[pair])), other.exact(int(theirs[pair]))):
            break
        equal[pair] = True
    return equal


def _proportional(row: ExactRow, other: ExactRow) -> bool:
    """Whether the rows are equal up to a constant: no log of a rational but 1 is rational, so both are."""
    support = [y for y, factor in enumerate(row.factors) if factor]
    if support != [y for y, factor in enumerate(other.factors) if factor]:
        return False
    ratios = {row.factors[y] ** other.root / other.factors[y] ** row.root for y in support}
    return len(ratios) <= 1 and len({row.shifts[y] - other.shifts[y] for y in support}) <= 1


def _joined(levels: list[AbstractRows], model: TabularModel) -> AbstractRows:
    """The rows of all levels and, with EOS, the EOS row; their numbers stay as they are."""
    end = np.array([[token == model.eos for token in model.vocabulary]])[: model.eos is not None]
    rationals = [rows for rows in levels if isinstance(rows, RationalRows)]
    if len(rationals) == len(levels):
        above, below = [rows.numerators for rows in rationals], [rows.denominators for rows in rationals]
        ones = np.ones_like(end, dtype=np.int64)
        return RationalRows(np.concatenate([*above, end.astype(np.int64)]), np.concatenate([*below, ones]))
    floats = [rows for rows in levels if isinstance(rows, FloatRows)]
    scales = {rows.scale for rows in floats}
    if len(floats) < len(levels) or len(scales) > 1:
        raise InputError(f"{model.source.name}: found steps of different kinds of numbers; needed one")
    certain = (1.0, 0.0) if scales == {"probs"} else (0.0, -np.inf)
    values = [*(rows.values for rows in floats), np.where(end, *certain).astype(floats[0].values.dtype)]
    return FloatRows(np.concatenate(values), scales.pop())
