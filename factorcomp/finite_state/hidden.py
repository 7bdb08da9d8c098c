"""Models with hidden states: a law on sequences of every length as a rational series, and equality of two such laws.

A weighted automaton with `n` states gives the word `w_1 … w_T` the weight `α A_{w_1} ⋯ A_{w_T} β`. A finite-state model
is one, with `A_a[q, next(q, a)] = p(a|q)` and `β = 1`; so is a hidden Markov model, whose state is no function of the
word. Sums over the tokens off a mask and products of laws are automata again, so that factorized conditionals for every
length are equalities of rational series, which the forward span decides (theory.md, Theorem 7.6).

| in code | in theory.md |
|---|---|
| `initial`, `matrices[a]`, `final` | `α`, `A_a`, `β` |
| `marginal(P, M)` | `P^M`, as a function of the whole word |
| `tensor(P, Q)` | `P ⊗ Q` |
| `minimal(P)` | `P`, with as few states as there can be |
| `rest(masks)` | `M_0`, the background's block |
"""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from factorcomp.certificates.claims import Number, Positions, Tokens
from factorcomp.finite_state.exact_numbers import exact_numbers
from factorcomp.models.finite_state import FiniteStateModel

LARGEST = 400
"""The most states of an automaton made here, and the most dimensions of a span.

A span of 150 dimensions without structure takes some ten seconds, of twice as many some minutes.
"""

Row = Mapping[int, Fraction]
"""A row of a matrix, without its zeros: column -> entry."""


class TooManyStatesError(ValueError):
    """An automaton, or a span, beyond `LARGEST`."""


@dataclass(frozen=True)
class WeightedAutomaton:
    """The series `w ↦ α A_{w_1} ⋯ A_{w_T} β` with `n` states.

    **Fields:** `initial`: `α` as `{state: weight}`. `matrices[a][q]`: row `q` of the matrix of token `a`, as
    `{state: weight}`. `final`: `β`, `[n]`. Weights that are left out are 0.

    >>> half = Fraction(1, 2)
    >>> coin = WeightedAutomaton.from_dense("ab", [1], {"a": [[half]], "b": [[half]]}, [1])
    >>> coin("aab")
    Fraction(1, 8)
    """

    vocabulary: Tokens
    initial: Row
    matrices: tuple[tuple[Row, ...], ...]
    final: tuple[Fraction, ...]

    @classmethod
    def from_dense(
        cls,
        vocabulary: Iterable[str],
        initial: Sequence[Number | int],
        matrices: Mapping[str, Sequence[Sequence[Number | int]]],
        final: Sequence[Number | int],
    ) -> "WeightedAutomaton":
        """The same from `α` `[n]`, `A_a` `[n, n]` by token, and `β` `[n]`; floats are the dyadic fractions they are.

        **Raises:** `ValueError` where the shapes do not fit together or a token has no matrix.
        """
        vocabulary, size = tuple(vocabulary), len(initial)
        if set(matrices) != set(vocabulary):
            raise ValueError(f"matrices for the tokens {sorted(matrices)}; needed one for each of {list(vocabulary)}")
        shapes = [len(final), *(len(matrix) for matrix in matrices.values())]
        shapes += [len(row) for matrix in matrices.values() for row in matrix]
        if set(shapes) != {size}:
            raise ValueError(f"initial has {size} weights, other rows and columns {sorted(set(shapes))}; needed {size}")
        return cls(
            vocabulary,
            _sparse(initial),
            tuple(tuple(_sparse(row) for row in matrices[token]) for token in vocabulary),
            tuple(Fraction(weight) for weight in final),
        )

    @classmethod
    def from_finite_state(cls, model: FiniteStateModel) -> "WeightedAutomaton":
        """The law of a finite-state model: the weight of a word is the probability that a sequence starts with it.

        **Raises:** `ValueError` if a row is not rational (logs, or a fractional weight).
        """
        size = model.next.shape[0]
        matrices: list[list[Row]] = [[{} for _ in range(size)] for _ in model.vocabulary]
        for state in range(size):
            row = model.rows.exact(state)
            if row.root != 1 or any(row.shifts):
                raise ValueError(f"row {state} of {model.source.name} is given by logs; needed rational probabilities")
            total = sum(row.factors, Fraction(0))
            for token, factor in enumerate(row.factors):
                if factor > 0:
                    matrices[token][state] = {int(model.next[state, token]): factor / total}
        rows = tuple(tuple(matrix) for matrix in matrices)
        return cls(model.vocabulary, {model.initial: Fraction(1)}, rows, (Fraction(1),) * size)

    def __call__(self, word: Iterable[str]) -> Fraction:
        """The weight of a word."""
        vector = self.initial
        for token in word:
            vector = _times(vector, self.matrices[self.vocabulary.index(token)])
        return sum((weight * self.final[state] for state, weight in vector.items()), Fraction(0))

    def __len__(self) -> int:
        """The number of states."""
        return len(self.final)


# New automata from old ones


def marginal(automaton: WeightedAutomaton, mask: Positions) -> WeightedAutomaton:
    """The marginal on a mask, as a function of the whole word: `P^M(w) = Σ P(w')` over the `w'` with `w'_M = w_M`.

    At positions off the mask every `A_a` is replaced by `Σ_a A_a`. A state is one of the automaton with a phase of the
    clock, which counts to the mask's pre-period and then around its period: at most `(pre-period + period) · n`.

    **Raises:** `TooManyStatesError`.
    """
    lead, period = clock([mask])
    tokens = range(len(automaton.vocabulary))
    sums: list[Row] = []
    for state in range(len(automaton)):
        total: dict[int, Fraction] = {}
        for token in tokens:
            _add(total, automaton.matrices[token][state], Fraction(1))
        sums.append(total)

    def following(state: tuple[int, int], token: int) -> dict[tuple[int, int], Fraction]:
        phase, place = state
        row = automaton.matrices[token][place] if phase in mask else sums[place]
        after = phase + 1 if phase + 1 < lead + period else lead
        return {(after, target): weight for target, weight in row.items()}

    initial = {(0, state): weight for state, weight in automaton.initial.items()}
    return _explored(automaton.vocabulary, initial, following, lambda state: automaton.final[state[1]])


def tensor(first: WeightedAutomaton, *others: WeightedAutomaton) -> WeightedAutomaton:
    """The product of series, `w ↦ Π_j P_j(w)`: `A_a = ⊗_j A_a^{(j)}` on the combinations of states that are reached.

    **Raises:** `TooManyStatesError`; `ValueError` where the vocabularies differ.
    """
    for second in others:
        first = _pair(first, second)
    return first


def _pair(first: WeightedAutomaton, second: WeightedAutomaton) -> WeightedAutomaton:
    _check_alike(first, second)

    def following(state: tuple[int, int], token: int) -> dict[tuple[int, int], Fraction]:
        one, other = first.matrices[token][state[0]], second.matrices[token][state[1]]
        return {(a, b): weight * factor for a, weight in one.items() for b, factor in other.items()}

    initial = {(a, b): x * y for a, x in first.initial.items() for b, y in second.initial.items()}
    return _explored(first.vocabulary, initial, following, lambda state: first.final[state[0]] * second.final[state[1]])


def minimal(automaton: WeightedAutomaton) -> WeightedAutomaton:
    """An automaton of the least number of states with the same series; its weights may be negative.

    The new states are a basis of the span of `α A_w`, then the same backwards, of the span of `A_w β`
    (Schützenberger): `O(|V| n³)` each.

    >>> half = Fraction(1, 2)
    >>> twice = WeightedAutomaton.from_dense("a", [half, half], {"a": [[1, 0], [0, 1]]}, [1, 1])
    >>> len(minimal(twice)), minimal(twice)("aaa")
    (1, Fraction(1, 1))
    """
    return _reversed(_forward(_reversed(_forward(automaton))))


def _forward(automaton: WeightedAutomaton) -> WeightedAutomaton:
    """The same series on a basis of `{α A_w}`."""
    exact = exact_numbers()
    matrices = [[{q: exact(weight) for q, weight in row.items()} for row in matrix] for matrix in automaton.matrices]
    start = {q: exact(weight) for q, weight in automaton.initial.items()}
    span: dict[int, dict[int, Any]] = {}
    waiting = deque([start])
    while waiting:
        vector = waiting.popleft()
        kept = _enlarge(span, vector)
        if kept is not None:
            waiting += [_times(kept, matrix) for matrix in matrices]
    numbers = {pivot: number for number, pivot in enumerate(sorted(span))}

    def coordinates(vector: Mapping[int, Any]) -> Row:
        return {numbers[pivot]: _fraction(weight) for pivot, weight in _reduce(span, vector)[0].items()}

    final = [exact(weight) for weight in automaton.final]
    return WeightedAutomaton(
        automaton.vocabulary,
        coordinates(start),
        tuple(tuple(coordinates(_times(span[pivot], matrix)) for pivot in numbers) for matrix in matrices),
        tuple(_fraction(sum((x * final[q] for q, x in span[p].items()), exact(Fraction(0)))) for p in numbers),
    )


def _reversed(automaton: WeightedAutomaton) -> WeightedAutomaton:
    """The series of the words read backwards: `β` first, transposed matrices, `α` last."""
    matrices = []
    for matrix in automaton.matrices:
        columns: list[dict[int, Fraction]] = [{} for _ in matrix]
        for state, row in enumerate(matrix):
            for target, weight in row.items():
                columns[target][state] = weight
        matrices.append(tuple(columns))
    final = tuple(automaton.initial.get(state, Fraction(0)) for state in range(len(automaton)))
    return WeightedAutomaton(automaton.vocabulary, _sparse(automaton.final), tuple(matrices), final)


def rest(masks: Iterable[Positions]) -> Positions:
    """The positions of none of the masks.

    >>> str(rest([Positions((0,), ((2, 3),)), Positions((), ((3, 3),))]))
    '1,4::3'
    """
    masks = list(masks)
    lead, period = clock(masks)
    free = [t for t in range(lead + period) if not any(t in mask for mask in masks)]
    return Positions(tuple(t for t in free if t < lead), tuple((t, period) for t in free if t >= lead))


def clock(masks: Iterable[Positions]) -> tuple[int, int]:
    """Pre-period and period: beyond the pre-period, position `t + period` is in the same masks as `t`."""
    masks = list(masks)
    starts = [start for mask in masks for start in (*(t + 1 for t in mask.finite), *(a for a, _ in mask.progressions))]
    return max(starts, default=0), math.lcm(*(d for mask in masks for _, d in mask.progressions))


def _explored(
    vocabulary: Tokens,
    initial: Mapping[Any, Fraction],
    following: Callable[[Any, int], Mapping[Any, Fraction]],
    final: Callable[[Any], Fraction],
) -> WeightedAutomaton:
    """The automaton on the states that are reached from the initial ones, numbered as they are found."""
    numbers = {state: number for number, state in enumerate(initial)}
    rows: list[list[Row]] = [[] for _ in vocabulary]
    waiting = deque(initial)
    while waiting:
        state = waiting.popleft()
        for token in range(len(vocabulary)):
            row = following(state, token)
            for target in row:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    waiting.append(target)
            rows[token].append({numbers[target]: weight for target, weight in row.items()})
        if len(numbers) > LARGEST:
            raise TooManyStatesError(
                f"more than {LARGEST} states; needed fewer states, or a shorter period of the masks"
            )
    start = {numbers[state]: weight for state, weight in initial.items()}
    return WeightedAutomaton(vocabulary, start, tuple(map(tuple, rows)), tuple(map(final, numbers)))


# Equality of series


def difference(first: WeightedAutomaton, second: WeightedAutomaton) -> Tokens | None:
    """The shortest word, first in vocabulary order, to which the series give different weights; `None` if none exists.

    Breadth first, the vectors `(α A_w, -α' A'_w)` are kept as long as they are independent of those before. A vector
    that depends on earlier ones says nothing new, of its extensions either: `v_w = Σ c_u v_u` gives
    `v_{wa} = Σ c_u v_{ua}`, and every `ua` comes before `wa`. For the same reason what is left of a vector beside the
    earlier ones stands for it. So at most `N = n + n'` vectors are extended, the witness is shorter than `N`, and the
    work is `O(|V| N³)` operations on rationals, which grow with `N` (Schützenberger; Tzeng 1992).

    **Raises:** `TooManyStatesError` if `N` exceeds `LARGEST`; `ValueError` where the vocabularies differ.

    Source: theory.md, Theorem 7.6.
    """
    _check_alike(first, second)
    offset, size = len(first), len(first) + len(second)
    if size > LARGEST:
        raise TooManyStatesError(f"{size} states in all; needed at most {LARGEST}")
    exact = exact_numbers()
    matrices = [
        [
            *({q: exact(x) for q, x in row.items()} for row in one),
            *({q + offset: exact(x) for q, x in row.items()} for row in other),
        ]
        for one, other in zip(first.matrices, second.matrices, strict=True)
    ]
    final = [exact(weight) for weight in (*first.final, *second.final)]
    start = {q: exact(x) for q, x in first.initial.items()} | {q + offset: exact(-x) for q, x in second.initial.items()}
    span: dict[int, dict[int, Any]] = {}
    waiting: deque[tuple[tuple[int, ...], dict[int, Any]]] = deque([((), start)])
    while waiting:
        word, vector = waiting.popleft()
        if sum((weight * final[state] for state, weight in vector.items()), exact(Fraction(0))) != 0:
            return tuple(first.vocabulary[token] for token in word)
        kept = _enlarge(span, vector)
        if kept is not None:
            waiting += [((*word, token), _times(kept, matrix)) for token, matrix in enumerate(matrices)]
    return None


def excess(first: WeightedAutomaton, second: WeightedAutomaton) -> Tokens | None:
    """The shortest word, first in vocabulary order, of positive weight under `first` and weight 0 under `second`.

    For weights that are not negative: a state of `first` is followed beside the set of all states in which `second`
    can be. There may be exponentially many such sets.

    **Raises:** `TooManyStatesError`; `ValueError` where the vocabularies differ or a weight is negative.

    Source: theory.md, Definition 2.1 (c).
    """
    _check_alike(first, second)
    for automaton in (first, second):
        rows = [automaton.initial, *(row for matrix in automaton.matrices for row in matrix)]
        if min(automaton.final, default=0) < 0 or any(weight < 0 for row in rows for weight in row.values()):
            raise ValueError("a negative weight; needed laws, whose weights are none")

    def positive(row: Row) -> list[int]:
        return [state for state, weight in row.items() if weight > 0]

    shadow = frozenset(positive(second.initial))
    waiting: list[tuple[int, tuple[int, ...], int, frozenset[int]]] = []
    waiting += [(0, (), state, shadow) for state in positive(first.initial)]
    known: set[tuple[int, frozenset[int]]] = set()
    while waiting:
        length, word, state, shadow = heapq.heappop(waiting)
        if (state, shadow) in known:
            continue
        known.add((state, shadow))
        if len(known) > 100 * LARGEST:
            raise TooManyStatesError(f"more than {100 * LARGEST} pairs of a state and a set of states")
        if first.final[state] > 0 and not any(second.final[other] > 0 for other in shadow):
            return tuple(first.vocabulary[token] for token in word)
        for token, (one, other) in enumerate(zip(first.matrices, second.matrices, strict=True)):
            after = frozenset(target for place in shadow for target in positive(other[place]))
            for target in positive(one[state]):
                heapq.heappush(waiting, (length + 1, (*word, token), target, after))
    return None


# Factorized conditionals


def block_independence(model: WeightedAutomaton, masks: Iterable[Positions]) -> Tokens | None:
    """Whether the blocks `M_1 … M_k` and `M_0`, all other positions, are independent under a law, at every length.

    `P = ⊗_{j=0..k} P^{M_j}`: Definition 2.1 (a). The first word at which it fails, or `None`.
    """
    masks = list(masks)
    blocks = [block for block in (rest(masks), *masks) if block]
    return difference(minimal(model), tensor(*(minimal(marginal(model, block)) for block in blocks)))


def mask_independence(expert: WeightedAutomaton, background: WeightedAutomaton, mask: Positions) -> Tokens | None:
    """Whether an expert's law is its own on the mask, independently of the background's law elsewhere.

    `P_i = P_i^{M_i} ⊗ P_b^{M_i^c}` at every length: Definition 2.1 (b). The first word at which it fails, or `None`.
    """
    own, other = marginal(expert, mask), marginal(background, rest([mask]))
    return difference(minimal(expert), tensor(minimal(own), minimal(other)))


def factorized_conditionals(
    background: WeightedAutomaton, experts: Mapping[str, WeightedAutomaton], masks: Mapping[str, Positions]
) -> tuple[Literal["a", "b", "c"], str | None, Tokens] | None:
    """Definition 2.1 for every length, of models whose states may be hidden.

    **Returns:** the condition that fails, the expert of (b) and (c), and the first word at which it fails; conditions
    in the order (a), (b), (c), experts as given. `None` if all hold. An expert without a mask owns nothing.

    **Raises:** `TooManyStatesError`. The product has at most `q (n + n^{k+1})` states, `q` the clock's phases.

    Source: theory.md, Theorem 7.6.
    """
    word = block_independence(background, masks.values())
    if word is not None:
        return "a", None, word
    for name, expert in experts.items():
        word = mask_independence(expert, background, masks.get(name, Positions()))
        if word is not None:
            return "b", name, word
    for name, mask in masks.items():
        word = excess(marginal(experts[name], mask), marginal(background, mask))
        if word is not None:
            return "c", name, word
    return None


# Vectors without their zeros


def _sparse(row: Sequence[Number | int]) -> Row:
    return {place: Fraction(weight) for place, weight in enumerate(row) if weight != 0}


def _add(total: dict[int, Any], row: Mapping[int, Any], factor: Any) -> None:
    """`total += factor · row`, zeros left out."""
    for place, weight in row.items():
        value = total[place] + factor * weight if place in total else factor * weight
        if value == 0:
            total.pop(place, None)
        else:
            total[place] = value


def _times(vector: Mapping[int, Any], matrix: Sequence[Mapping[int, Any]]) -> dict[int, Any]:
    """The row vector `v A`."""
    product: dict[int, Any] = {}
    for place, weight in vector.items():
        _add(product, matrix[place], weight)
    return product


def _enlarge(span: dict[int, dict[int, Any]], vector: Mapping[int, Any]) -> dict[int, Any] | None:
    """What is left of the vector beside the span, which it joins, scaled; `None` if nothing is left.

    `span[p]` has its first entry, 1, at place `p`.
    """
    left = _reduce(span, vector)[1]
    if not left:
        return None
    pivot = min(left)
    head = left[pivot]
    span[pivot] = {place: weight / head for place, weight in left.items()}
    return span[pivot]


def _reduce(span: Mapping[int, Mapping[int, Any]], vector: Mapping[int, Any]) -> tuple[dict[int, Any], dict[int, Any]]:
    """The vector's coordinates in the span, by pivots, and what is left, which starts at a place without a pivot."""
    coordinates, left = {}, dict(vector)
    while left and (pivot := min(left)) in span:
        coordinates[pivot] = left[pivot]
        _add(left, span[pivot], -left[pivot])
    return coordinates, left


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.numerator), int(number.denominator))


def _check_alike(first: WeightedAutomaton, second: WeightedAutomaton) -> None:
    if first.vocabulary != second.vocabulary:
        raise ValueError(f"the vocabularies {first.vocabulary} and {second.vocabulary}; needed the same, in one order")
