"""Feature maps: each sequence of tokens as a tuple of feature tokens, `D: V^T -> W`. Source: theory.md, section 6.

| kind | `z = D(y)` |
|---|---|
| `table` | one tuple per sequence |
| `position_wise` | `z_t = f_t(y_t)` |
| `prefix_dependent` | `z_t = f_h(y_t)`, `h = y_1 … y_{t-1}` |
| `transducer` | `z_t = f_q(y_t)`, `q` the state that `y_1 … y_{t-1}` leads to |
| `function` | a Python function from a tuple of tokens to a tuple of feature tokens |

Coordinates of `z` are numbered from 0. Each `f` of the three kinds in the middle gives different tokens different
feature tokens, so that these maps are prefix-tree isomorphisms onto their image (Theorem 6.2).
"""

import abc
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Int

from factorcomp.models import memory
from factorcomp.models.errors import InputError, Problems, shown
from factorcomp.models.tabular import Source
from factorcomp.models.vocabulary import check_vocabulary, prefix_count

FeatureMasks = Mapping[str, tuple[int, ...]]
"""Expert name -> the coordinates that it owns, from 0."""
_IN_MEMORY = Source("the feature map")
_LONGEST_TO_COUNT = 62


class AbstractFeatureMap(abc.ABC):
    """A map from sequences of tokens to tuples of feature tokens.

    Each kind has the fields `masks` (which coordinates each expert owns; `None` where nothing is said), `source` (where
    it comes from) and `kind`.
    """

    @abc.abstractmethod
    def tabulate(self, vocabulary: Sequence[str], length: int) -> "FeatureTable":
        """The map of the sequences of `length` tokens over these tokens, in this order.

        **Raises** `InputError` for other tokens, a length that the map does not have, or one too long for memory.
        """


@dataclass(frozen=True)
class FeatureTable(AbstractFeatureMap):
    """A feature map for one length: row `y` of `values` is `D(y)`, by the places of its tokens in `features`.

    Sequences stand in vocabulary order, first token most significant. `kind`: of the map that this is the table of.

    >>> table = FeatureTable.from_tuples([["x"], ["y"]], ["a", "b"], 1)
    >>> table.coordinates, table.values.tolist()
    (1, [[0], [1]])
    """

    vocabulary: tuple[str, ...]
    features: tuple[str, ...]
    length: int
    values: Int[np.ndarray, "sequences coordinates"]
    masks: FeatureMasks | None = None
    source: Source = field(default_factory=lambda: _IN_MEMORY)
    kind: str = "table"

    @classmethod
    def from_tuples(
        cls,
        table: Iterable[Sequence[str]],
        vocabulary: Sequence[str],
        length: int,
        features: Sequence[str] | None = None,
        masks: FeatureMasks | None = None,
        name: str = "the feature map",
    ) -> "FeatureTable":
        """One tuple of feature tokens per sequence, in vocabulary order; `features`: by default those found, sorted.

        **Raises** `InputError`, with every problem.
        """
        rows, problems = [list(row) for row in table], Problems(name)
        check_vocabulary(list(vocabulary), None, problems)
        problems.raise_any()
        if features is None:
            features = sorted({token for row in rows for token in row if isinstance(token, str)})
        values = read_tuples(rows, tuple(vocabulary), tuple(features), length, problems)
        problems.raise_any()
        return cls(tuple(vocabulary), tuple(features), length, values, masks, Source(name))

    @property
    def coordinates(self) -> int:
        """How many feature tokens a sequence has."""
        return self.values.shape[1]

    def sequence(self, index: int) -> tuple[str, ...]:
        """The tokens of the sequence with this index."""
        size = len(self.vocabulary)
        return tuple(self.vocabulary[index // size**t % size] for t in reversed(range(self.length)))

    def spelled(self, index: int) -> tuple[str, ...]:
        """`D(y)` of the sequence `y` with this index, as feature tokens."""
        return tuple(self.features[z] for z in self.values[index].tolist())

    def tabulate(self, vocabulary: Sequence[str], length: int) -> "FeatureTable":
        problems = Problems(self.source.name)
        _check_tokens(self.vocabulary, vocabulary, problems)
        if length != self.length:
            needed = f"needed the length {length} that is asked about (--length {self.length} asks about the map's)"
            problems.add("length", f"its sequences have {self.length} tokens; {needed}")
        problems.raise_any()
        if tuple(vocabulary) == self.vocabulary:
            return self
        order = _reordering(self.vocabulary, vocabulary, length)
        return replace(self, vocabulary=tuple(vocabulary), values=self.values[order])


@dataclass(frozen=True)
class PositionWiseMap(AbstractFeatureMap):
    """`z_t = f_t(y_t)`: `labels[t, y]` is the place of `f_t(y)` in `features`; for lengths up to `len(labels)`.

    >>> flip = PositionWiseMap(("a", "b"), ("x", "y"), np.array([[0, 1], [1, 0]]))
    >>> [flip.tabulate("ab", 2).spelled(index) for index in range(4)]
    [('x', 'y'), ('x', 'x'), ('y', 'y'), ('y', 'x')]
    """

    vocabulary: tuple[str, ...]
    features: tuple[str, ...]
    labels: Int[np.ndarray, "positions vocab"]
    masks: FeatureMasks | None = None
    source: Source = field(default_factory=lambda: _IN_MEMORY)
    kind: ClassVar[str] = "position_wise"

    def tabulate(self, vocabulary: Sequence[str], length: int) -> FeatureTable:
        _check(self, self.vocabulary, vocabulary, length, len(self.labels))
        steps = (np.tile(self.labels[t], (len(self.vocabulary) ** t, 1)) for t in range(length))
        return _table(self, self.vocabulary, self.features, steps, length).tabulate(vocabulary, length)


@dataclass(frozen=True)
class PrefixDependentMap(AbstractFeatureMap):
    """`z_t = f_h(y_t)`: `labels[t][h, y]` is the place of `f_h(y)`, `h` the index of a prefix of `t` tokens.

    >>> copy = PrefixDependentMap(("a", "b"), ("same", "other"), (np.array([[0, 1]]), np.array([[0, 1], [1, 0]])))
    >>> copy.tabulate("ab", 2).spelled(3)
    ('other', 'same')
    """

    vocabulary: tuple[str, ...]
    features: tuple[str, ...]
    labels: tuple[Int[np.ndarray, "_ vocab"], ...]
    masks: FeatureMasks | None = None
    source: Source = field(default_factory=lambda: _IN_MEMORY)
    kind: ClassVar[str] = "prefix_dependent"

    def tabulate(self, vocabulary: Sequence[str], length: int) -> FeatureTable:
        _check(self, self.vocabulary, vocabulary, length, len(self.labels))
        table = _table(self, self.vocabulary, self.features, self.labels[:length], length)
        return table.tabulate(vocabulary, length)


@dataclass(frozen=True)
class Transducer(AbstractFeatureMap):
    """`z_t = f_q(y_t)`, and the next state is `next[q, y_t]`: invertible, letter to letter, for every length.

    **Fields:** `states`: their names. `labels[q, y]`: the place of `f_q(y)` in `features`. `next`: `[states, vocab]`.

    >>> labels, following = np.array([[0, 1], [1, 0]]), np.array([[0, 1], [0, 1]])
    >>> increments = Transducer(("0", "1"), ("0", "1"), ("0", "1"), 0, labels, following)
    >>> increments.tabulate("01", 3).spelled(0b110)
    ('1', '0', '1')
    """

    vocabulary: tuple[str, ...]
    features: tuple[str, ...]
    states: tuple[str, ...]
    initial: int
    labels: Int[np.ndarray, "states vocab"]
    next: Int[np.ndarray, "states vocab"]
    masks: FeatureMasks | None = None
    source: Source = field(default_factory=lambda: _IN_MEMORY)
    kind: ClassVar[str] = "transducer"

    def tabulate(self, vocabulary: Sequence[str], length: int) -> FeatureTable:
        _check(self, self.vocabulary, vocabulary, length, None)
        states, steps = np.array([self.initial]), []
        for _ in range(length):
            steps.append(self.labels[states])
            states = self.next[states].reshape(-1)
        return _table(self, self.vocabulary, self.features, steps, length).tabulate(vocabulary, length)

    def aligned(self, vocabulary: Sequence[str]) -> "Transducer":
        """The same transducer with its tokens in the order of `vocabulary`, which must hold the same tokens."""
        problems = Problems(self.source.name)
        _check_tokens(self.vocabulary, vocabulary, problems)
        problems.raise_any()
        places = [self.vocabulary.index(token) for token in vocabulary]
        return replace(self, vocabulary=tuple(vocabulary), labels=self.labels[:, places], next=self.next[:, places])


@dataclass(frozen=True)
class FeatureFunction(AbstractFeatureMap):
    """A Python function from a tuple of tokens to a tuple of feature tokens, which stand in the order of Python.

    >>> backwards = FeatureFunction(lambda tokens: tokens[::-1])
    >>> backwards.tabulate(("a", "b"), 2).spelled(1)
    ('b', 'a')
    """

    function: Callable[[tuple[str, ...]], Sequence[str]]
    masks: FeatureMasks | None = None
    source: Source = field(default_factory=lambda: _IN_MEMORY)
    kind: ClassVar[str] = "function"

    def tabulate(self, vocabulary: Sequence[str], length: int) -> FeatureTable:
        _require_room(self.source.name, len(vocabulary), length, length)
        rows = []
        for tokens in itertools.product(vocabulary, repeat=length):
            try:
                row = self.function(tokens)
            except (Exception, SystemExit) as error:  # whatever the user's function raises
                raise InputError(f"{self.source.name}: of {tokens!r} the function raised {error!r}") from error
            if not isinstance(row, tuple | list) or not all(isinstance(z, str) for z in row):
                needed = "needed a tuple of strings, the feature tokens"
                raise InputError(f"{self.source.name}: of {tokens!r} the function returned {row!r}; {needed}")
            rows.append(row)
        table = FeatureTable.from_tuples(rows, vocabulary, length, name=self.source.name)
        return replace(table, masks=self.masks, source=self.source)


FeatureMap = FeatureTable | PositionWiseMap | PrefixDependentMap | Transducer | FeatureFunction


def read_tuples(
    rows: Sequence[object], vocabulary: tuple[str, ...], features: tuple[str, ...], length: int, problems: Problems
) -> Int[np.ndarray, "sequences coordinates"]:
    """The values of a table, checked: one tuple per sequence, of equally many feature tokens.

    **Arguments:** `problems`: collects what is wrong; what is returned is then of no use.
    """
    count = prefix_count(len(vocabulary), length)
    if len(rows) != count:
        needed = f"{len(vocabulary)}^{length}" if count is None else count
        problems.add("table", f"found {len(rows)} tuples; needed {needed}, one for each sequence of {length} tokens")
    places = {token: place for place, token in enumerate(features)}
    width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    values = np.zeros((len(rows), width), dtype=np.int64)
    for index, row in enumerate(rows):
        place = f"table[{index}]"
        if not isinstance(row, list):
            problems.add(place, f"found {shown(row)}; needed a list of feature tokens")
        elif len(row) != width:
            problems.add(place, f"found {len(row)} feature tokens; needed {width}, as in the first tuple")
        else:
            for coordinate, token in enumerate(row):
                if isinstance(token, str) and token in places:
                    values[index, coordinate] = places[token]
                else:
                    problems.add(f"{place}[{coordinate}]", f"found {shown(token)}; needed a feature token")
    return values


def _check(of: "FeatureMap", mine: Sequence[str], vocabulary: Sequence[str], length: int, longest: int | None) -> None:
    problems = Problems(of.source.name)
    _check_tokens(mine, vocabulary, problems)
    if longest is not None and length > longest:
        problems.add("", f"says nothing of sequences beyond {longest} tokens; the length is {length}")
    problems.raise_any()
    _require_room(of.source.name, len(vocabulary), length, length)


def _check_tokens(mine: Sequence[str], vocabulary: Sequence[str], problems: Problems) -> None:
    """The first token that one of the two lacks."""
    own, needed = dict.fromkeys(mine), dict.fromkeys(vocabulary)
    more, less = [y for y in own if y not in needed], [y for y in needed if y not in own]
    if more:
        problems.add("vocabulary", f"found the token {shown(more[0])}, which the models lack; needed the same tokens")
    elif less:
        problems.add("vocabulary", f"lacks the token {shown(less[0])} of the models; needed the same tokens")


def _require_room(name: str, vocab: int, length: int, coordinates: int) -> None:
    """Raises `InputError` unless a table of all sequences fits into memory, with its analysis."""
    power = length * max(vocab.bit_length() - 1, 0)
    count = vocab**length if power <= _LONGEST_TO_COUNT else 10**300
    memory.require(8 * count * (coordinates + 8), name, f"the features of all {vocab}^{length} sequences")


def _table(
    of: "FeatureMap",
    vocabulary: tuple[str, ...],
    features: tuple[str, ...],
    steps: Iterable[Int[np.ndarray, "_ vocab"]],
    length: int,
) -> FeatureTable:
    """The table of a map that relabels step by step: `steps[t][h, y]` is `z_t` after the prefix `h`."""
    values = np.zeros((1, 0), dtype=np.int64)
    for labels in steps:
        values = np.concatenate([np.repeat(values, labels.shape[1], axis=0), labels.reshape(-1, 1)], axis=1)
    return FeatureTable(vocabulary, features, length, values, of.masks, of.source)


def _reordering(mine: Sequence[str], vocabulary: Sequence[str], length: int) -> Int[np.ndarray, " sequences"]:
    """Of each sequence, in the order of `vocabulary`, the index in the order of `mine`."""
    places = np.array([mine.index(token) for token in vocabulary], dtype=np.int64)
    order = np.zeros(1, dtype=np.int64)
    for _ in range(length):
        order = (order[:, None] * len(places) + places).reshape(-1)
    return order
