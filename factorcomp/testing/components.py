"""What a composer is: a function of a background and experts; and what it is given as background and experts."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from factorcomp.testing.families import Kernel, Prefix

if TYPE_CHECKING:
    from factorcomp.models.alignment import Model
    from factorcomp.models.tabular import TabularModel

RowsFunction = Callable[[Int[np.ndarray, "batch length"]], Any]
"""From prefixes, as places of tokens, to `log p(. | prefix)`, `[batch, vocab]`."""


@runtime_checkable
class Composer(Protocol):
    """Composes by logits: `p^(y|h) ∝ p_b prod_i (p_i/p_b)^λ_i`.

    It is given the background, the experts, and their weights `λ_i` (unless it declares that it takes none); it answers
    with a function from prefixes to log-probabilities, or with a model of factorcomp.
    """

    def __call__(
        self, background: "Component", experts: "Sequence[Component]", weights: Sequence[float], /
    ) -> "RowsFunction | Model": ...


class Cache(NamedTuple):
    """What a component remembers of the prefixes that it has read. It means something to that component alone."""

    reader: int
    tokens: Int[np.ndarray, "batch length"]


class Component:
    """A background or an expert as a composer is given it: a small table that behaves as a network does.

    Called with prefixes `[batch, length]` it answers with their next-token logits `[batch, vocab]`, of the declared
    type; they are log-probabilities (-inf for what is impossible), except where the law at hand shifts them.
    `extend` reads on from a cache, as a decoder with a key-value cache does; `table` is the same component as a
    `TabularModel`.

    **Fields:** `vocabulary`, `eos`: its tokens. `horizon`: it can be asked after prefixes shorter than that.
    """

    def __init__(
        self,
        logits: Mapping[Prefix, Float[np.ndarray, " vocab"]],
        vocabulary: Sequence[str],
        eos: str | None = None,
        *,
        dtype: str = "float64",
        reader: int = 0,
    ):
        self.vocabulary = tuple(vocabulary)
        self.eos = eos
        self.horizon = 1 + max((len(prefix) for prefix in logits), default=-1)
        self._type = as_type(dtype)
        self._logits = {prefix: np.asarray(row, dtype=self._type) for prefix, row in logits.items()}
        self._reader = reader

    def __call__(self, prefixes: Any) -> Any:
        """The logits after the prefixes, `[batch, length]`."""
        return self.extend(prefixes)[0]

    def extend(self, tokens: Any, cache: Cache | None = None) -> tuple[Any, Cache]:
        """The logits after what the cache has read and these tokens `[batch, new]`, and a cache that has read both.

        A cache is never changed. That of another component is read without complaint, and wrongly, as a network would
        read another network's keys.

        **Raises:** `ValueError` for more tokens than the horizon allows.
        """
        read = np.asarray(tokens, dtype=np.int64)
        if cache is not None:
            before = cache.tokens if cache.reader == self._reader else len(self.vocabulary) - 1 - cache.tokens
            read = np.concatenate([before, read], axis=1)
        if read.shape[1] >= self.horizon:
            raise ValueError(f"asked after {read.shape[1]} tokens; this component has a horizon of {self.horizon}")
        rows = [self._logits[tuple(prefix)] for prefix in read.tolist()]
        logits = np.array(rows, dtype=self._type).reshape(len(rows), len(self.vocabulary))
        return logits, Cache(self._reader, read)

    @cached_property
    def table(self) -> "TabularModel":
        """The component as a table of its logits."""
        from factorcomp.models.rows import FloatRows
        from factorcomp.models.tabular import TabularModel

        vocab = len(self.vocabulary)
        steps = [
            FloatRows(np.array([self._logits[h] for h in product(range(vocab), repeat=t)], dtype=self._type), "logits")
            for t in range(self.horizon)
        ]
        return TabularModel(self.vocabulary, tuple(steps), self.eos)


def as_type(dtype: str) -> np.dtype:
    """A floating-point type by its name, bfloat16 included."""
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def logs(kernel: Kernel) -> dict[Prefix, Float[np.ndarray, " vocab"]]:
    """The logarithms of a kernel of fractions, -inf for 0."""
    with np.errstate(divide="ignore"):
        return {h: np.log(np.array([float(cell) for cell in row])) for h, row in kernel.items()}
