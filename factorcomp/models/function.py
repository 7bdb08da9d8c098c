"""A model as a function from prefixes to log-probabilities, such as a neural network; and its table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from factorcomp.models import memory
from factorcomp.models.errors import InputError, Problems, shown
from factorcomp.models.float_tables import check_rows
from factorcomp.models.notes import renormalised
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import Source, TabularModel
from factorcomp.models.vocabulary import check_vocabulary

BATCH = 4096
"""Prefixes that the function is given together."""


@dataclass(frozen=True)
class FunctionModel:
    """A model by its function: from prefixes `[batch, length]`, as indices of tokens, to `log p(· | prefix)`.

    Rows must sum to 1 within 1e-6 in probabilities. Prefixes that contain EOS are never asked for.

    >>> import jax.numpy as jnp
    >>> coin = FunctionModel(lambda prefixes: jnp.full((len(prefixes), 2), jnp.log(0.5)), ("h", "t"))
    >>> coin.tabulate(3).horizon
    3

    **Fields:** `log_probs`: the function. `vocabulary`, `eos`: as in `TabularModel`.
    """

    log_probs: Callable[[Int[Any, "batch length"]], Float[Any, "batch vocab"]]
    vocabulary: tuple[str, ...]
    eos: str | None = None
    source: Source = field(default_factory=lambda: Source("in memory"))

    def __post_init__(self):
        problems = Problems(self.source.name)
        check_vocabulary(self.vocabulary, self.eos, problems)
        problems.raise_any()
        object.__setattr__(self, "vocabulary", tuple(self.vocabulary))

    def aligned(self, vocabulary: Sequence[str]) -> "FunctionModel":
        """The same model with its tokens in the order of `vocabulary`, which must hold the same tokens."""
        if tuple(vocabulary) == self.vocabulary:
            return self
        places = {token: place for place, token in enumerate(self.vocabulary)}
        own = np.array([places[token] for token in vocabulary], dtype=np.int32)

        def log_probs(prefixes: Int[Any, "batch length"]) -> Any:  # an array of JAX or NumPy, as the function's
            import jax.numpy as jnp

            return self.log_probs(jnp.asarray(own)[prefixes])[:, own]

        return replace(self, log_probs=log_probs, vocabulary=tuple(vocabulary))

    def tabulate(self, length: int, progress: Callable[[int, int], None] | None = None) -> TabularModel:
        """The table of the rows after every prefix shorter than `length`, in float64.

        **Arguments:** `progress`: told how many prefixes are done, and of how many.

        **Raises:** `InputError` if the table does not fit into memory, before anything is computed; if the function
        raises, or returns another shape, NaN, +inf or rows that do not sum to 1, with the prefixes.
        """
        vocab, name = len(self.vocabulary), self.source.name
        if not length >= 0:
            raise InputError(f"{name}: found the length {length}; needed at least 0")
        memory.require(table_size(vocab, length), name, f"a table of {length} steps for {vocab} tokens")
        going_on = np.array([token for token, text in enumerate(self.vocabulary) if text != self.eos], dtype=np.int64)
        total, done = sum(len(going_on) ** t for t in range(length)), 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if progress is not None:
                progress(done, total)

        prefixes = np.zeros(1, dtype=np.int64)
        steps: list[FloatRows] = []
        notes: list[str] = []
        for t in range(length):
            values, noted = self._step(prefixes, t, advance)
            steps.append(FloatRows(values, "log_probs"))
            notes += noted
            prefixes = (prefixes[:, None] * vocab + going_on).reshape(-1)
        source = replace(self.source, notes=(*self.source.notes, *notes))
        return TabularModel(self.vocabulary, tuple(steps), self.eos, source)

    def _step(
        self, prefixes: Int[np.ndarray, " alive"], length: int, advance: Callable[[int], None]
    ) -> tuple[Float[np.ndarray, "prefixes vocab"], tuple[str, ...]]:
        """The rows after all prefixes of a length, of which `prefixes` have not ended, and the notes on them."""
        vocab, problems = len(self.vocabulary), Problems(self.source.name)
        values = np.full((vocab**length, vocab), -np.inf)
        if self.eos is not None:
            values[:, self.vocabulary.index(self.eos)] = 0.0
        count, largest = 0, 0.0
        for start in range(0, len(prefixes), BATCH):
            batch = prefixes[start : start + BATCH]
            tokens = tokens_of_prefixes(batch, length, vocab)
            values[batch], found, off = self.rows_after(tokens, problems)
            count, largest = count + found, max(largest, off)
            advance(len(batch))
        problems.raise_any()
        return values, renormalised(self.source.name, length, count, largest)

    def rows_after(
        self, tokens: Int[np.ndarray, "batch length"], problems: Problems
    ) -> tuple[Float[np.ndarray, "batch vocab"], int, float]:
        """The log-probabilities after some prefixes of one length, which have not ended, in float64.

        **Arguments:** `problems`: collects what is wrong with the rows.

        **Returns:** also how many rows sum to 1 only within 1e-6, and how far from 1 (`float_tables.check_rows`).

        **Raises:** `InputError` if the function raises, or returns another shape.
        """
        rows = self._evaluate(tokens)

        def report(row: int, token: int | None, message: str) -> None:
            place = "" if token is None else f", token {shown(self.vocabulary[token])}"
            problems.add(self.after(tokens[row]) + place, message)

        found, off = check_rows(rows, "log_probs", None, np.zeros(len(rows), dtype=bool), report)
        return rows.astype(np.float64), found, off

    def row(self, tokens: Sequence[int]) -> Float[np.ndarray, " vocab"]:
        """The log-probabilities after one prefix; after EOS, EOS.

        >>> import jax.numpy as jnp
        >>> coin = FunctionModel(lambda prefixes: jnp.full((len(prefixes), 2), jnp.log(0.5)), ("h", "t"), eos="t")
        >>> coin.row([0, 1]).tolist()
        [-inf, 0.0]
        """
        if self.eos is not None and (eos := self.vocabulary.index(self.eos)) in tokens:
            return np.where(np.arange(len(self.vocabulary)) == eos, 0.0, -np.inf)
        problems = Problems(self.source.name)
        rows, _, _ = self.rows_after(np.array([tokens], dtype=np.int64), problems)
        problems.raise_any()
        return rows[0]

    def _evaluate(self, tokens: Int[np.ndarray, "batch length"]) -> Float[np.ndarray, "batch vocab"]:
        import jax.numpy as jnp  # loaded where a function is asked: tables are verified without it

        place = f"{self.source.name}: {self.after(tokens[0])}"
        try:
            rows = np.asarray(self.log_probs(jnp.asarray(tokens, dtype=jnp.int32)))
            rows = rows if rows.dtype in (np.float16, np.float32) else rows.astype(np.float64, casting="same_kind")
        except (Exception, SystemExit) as error:  # whatever the user's function raises
            raise InputError(f"{place}: the function raised {type(error).__name__}: {error}") from error
        if rows.shape != (len(tokens), len(self.vocabulary)):
            needed = f"{(len(tokens), len(self.vocabulary))}, one row for each prefix and one column for each token"
            raise InputError(f"{place}: the function returned the shape {rows.shape}; needed {needed}")
        return rows

    def after(self, tokens: Int[np.ndarray, " length"]) -> str:
        """A place in messages: after which prefix."""
        return "after " + (" ".join(shown(self.vocabulary[token]) for token in tokens) or "the empty prefix")


def tokens_of_prefixes(prefixes: Int[np.ndarray, " batch"], length: int, vocab: int) -> Int[np.ndarray, "batch length"]:
    """The tokens of the prefixes of `length` tokens with these indices."""
    return prefixes[:, None] // vocab ** np.arange(length - 1, -1, -1, dtype=np.int64) % vocab


def table_size(vocab: int, length: int) -> int:
    """The bytes of a table in float64: `8 (|V| + … + |V|^length)`, and what each step takes by itself."""
    if vocab > 1 and length * vocab.bit_length() > 900:
        return 10**300
    numbers = length if vocab == 1 else (vocab ** (length + 1) - vocab) // (vocab - 1)
    return 8 * numbers + 1000 * length
