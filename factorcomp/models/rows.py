"""Rows of next-token distributions, as given: floats for speed, exact numbers for decisions.

Row `h` of step `t` is the distribution after the prefix with index `h` among the `|V|^t` prefixes of length `t`. Every
kind of rows answers the same four questions: the normalised log-probabilities in float64, one row in exact numbers,
which pairs of rows are certainly the same, and the rows after a relabelling of the vocabulary.
"""

import abc
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

Scale = Literal["probs", "log_probs", "logits"]
LARGEST_POWER = 1000
"""The largest numerator or denominator of a weight with which rational rows are raised to powers exactly."""
Indices = Int[np.ndarray, " pairs"]


class PowerTooLargeError(ArithmeticError):
    """An exact row would need powers beyond `LARGEST_POWER`."""


@dataclass(frozen=True)
class ExactRow:
    """One row in exact numbers: token `y` has `log p(y) = log(factors[y]) / root + shifts[y]`, up to a constant.

    A row of probabilities has no shifts, a row of logs has factors 1; `root > 1` comes from a fractional weight. A
    token of probability 0 has factor 0.
    """

    factors: tuple[Fraction, ...]
    shifts: tuple[Fraction, ...]
    root: int = 1


class AbstractRows(abc.ABC):
    """The rows of one step of one model, `[prefixes, vocab]`."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """The number of prefixes and of tokens."""

    @abc.abstractmethod
    def log_probs(self, start: int, stop: int) -> Float[np.ndarray, "prefixes vocab"]:
        """The normalised log-probabilities of rows `start` to `stop`; -inf exactly where the probability is 0."""

    @abc.abstractmethod
    def support(self) -> Bool[np.ndarray, "prefixes vocab"]:
        """The tokens of positive probability."""

    def error(self, start: int, stop: int) -> Float[np.ndarray, " prefixes"]:
        """A bound on the rounding error of each of the rows `log_probs(start, stop)`: `2 eps (V + 8 + 4 max|l|)`.

        Reading a rational costs a division and a log; normalising V logs a subtraction, an exponential, a sum of V
        terms and a log. Each rounds by at most eps of a quantity of size `max|l|`, or of 1 inside the log.
        """
        return 2 * EPS * (self.shape[1] + 8 + 4 * _size(self.log_probs(start, stop)))

    @abc.abstractmethod
    def exact(self, index: int) -> ExactRow:
        """Row `index` in exact numbers; raises `PowerTooLargeError` where they would be too long."""

    @abc.abstractmethod
    def identical(self, mine: Indices, other: "AbstractRows", theirs: Indices) -> Bool[np.ndarray, " pairs"]:
        """Whether rows `mine` and rows `theirs` of `other` are certainly equal as distributions.

        True is a proof; False means only that the numbers given are not the same.
        """

    @abc.abstractmethod
    def take(self, prefixes: Indices, tokens: Sequence[int]) -> "AbstractRows":
        """The rows `prefixes`, with the columns `tokens`, in these orders."""

    @abc.abstractmethod
    def with_certain(self, token: int) -> "AbstractRows":
        """These rows and one more, in which `token` is certain."""


EPS = float(np.finfo(np.float64).eps)


def _size(logs: Float[np.ndarray, "prefixes vocab"]) -> Float[np.ndarray, " prefixes"]:
    """The largest `|l|` of each row among its possible tokens."""
    return np.where(logs > -np.inf, np.abs(logs), 0.0).max(axis=1, initial=0.0)


def _normalised(logs: Float[np.ndarray, "prefixes vocab"]) -> Float[np.ndarray, "prefixes vocab"]:
    """`l - logsumexp(l)` by rows; a row of -inf alone stays as it is. The answer lies in memory token by token.

    Rows are short: token by token a reduction over a row is a few passes over long stretches of memory.
    """
    logs = np.asfortranarray(logs)
    top = logs.max(axis=1, keepdims=True)
    shifted = logs - np.where(top > -np.inf, top, 0.0)
    total = np.exp(shifted).sum(axis=1, keepdims=True)
    return shifted - np.log(np.where(total > 0, total, 1.0))


class RationalRows(AbstractRows):
    """Rows of rational probabilities in lowest terms; each row sums to 1 exactly.

    Equal distributions have equal numbers, so that `identical` decides equality.
    """

    def __init__(
        self, numerators: Shaped[np.ndarray, "prefixes vocab"], denominators: Shaped[np.ndarray, "prefixes vocab"]
    ):
        """Integers, int64 where they fit and Python integers (dtype object) where not."""
        self.numerators = numerators
        self.denominators = denominators

    @property
    def shape(self) -> tuple[int, int]:
        prefixes, vocab = self.numerators.shape
        return prefixes, vocab

    @cached_property
    def _logs(self) -> Float[np.ndarray, "prefixes vocab"]:
        if self.numerators.dtype != object and self.denominators.dtype != object:
            with np.errstate(divide="ignore"):
                return np.asfortranarray(np.log(self.numerators / self.denominators))
        pairs = zip(self.numerators.flat, self.denominators.flat, strict=True)
        logs = [_log(int(n), int(d)) for n, d in pairs]
        return np.asfortranarray(np.array(logs, dtype=np.float64).reshape(self.numerators.shape))

    def log_probs(self, start: int, stop: int) -> Float[np.ndarray, "prefixes vocab"]:
        return self._logs[start:stop]

    def support(self) -> Bool[np.ndarray, "prefixes vocab"]:
        return np.greater(self.numerators, 0).astype(bool)

    def exact(self, index: int) -> ExactRow:
        pairs = zip(self.numerators[index], self.denominators[index], strict=True)
        factors = tuple(Fraction(int(n), int(d)) for n, d in pairs)
        return ExactRow(factors, (Fraction(0),) * len(factors))

    def identical(self, mine: Indices, other: AbstractRows, theirs: Indices) -> Bool[np.ndarray, " pairs"]:
        if not isinstance(other, RationalRows):
            return np.zeros(len(mine), dtype=bool)
        same = self.numerators[mine] == other.numerators[theirs]
        same &= self.denominators[mine] == other.denominators[theirs]
        return same.astype(bool).all(1)

    def take(self, prefixes: Indices, tokens: Sequence[int]) -> "RationalRows":
        return RationalRows(self.numerators[prefixes][:, tokens], self.denominators[prefixes][:, tokens])

    def with_certain(self, token: int) -> "RationalRows":
        row = [[int(y == token) for y in range(self.shape[1])]]
        numerators = np.concatenate([self.numerators, np.array(row, dtype=self.numerators.dtype)])
        denominators = np.concatenate([self.denominators, np.ones_like(row, dtype=self.denominators.dtype)])
        return RationalRows(numerators, denominators)


def _log(numerator: int, denominator: int) -> float:
    """The log of a rational of any size, -inf for 0."""
    quotient = numerator / denominator
    if quotient > sys.float_info.min:
        return math.log(quotient)
    return math.log(numerator) - math.log(denominator) if numerator else -math.inf


class FloatRows(AbstractRows):
    """Rows of floating-point numbers, which are dyadic rationals: probabilities, log-probabilities or logits.

    Probabilities define a distribution by their proportions, logs up to a constant (interface.md, "Exactness").
    """

    def __init__(self, values: Float[np.ndarray, "prefixes vocab"], scale: Scale):
        self.values = values
        self.scale: Scale = scale

    @property
    def shape(self) -> tuple[int, int]:
        prefixes, vocab = self.values.shape
        return prefixes, vocab

    @cached_property
    def _logs(self) -> Float[np.ndarray, "prefixes vocab"]:
        values = self.values.astype(np.float64)
        if self.scale == "probs":
            with np.errstate(divide="ignore"):
                values = np.log(values)
        return _normalised(values)

    @property
    def has_logs(self) -> bool:
        """Whether the log-probabilities of all rows have been worked out already, and are kept."""
        return "_logs" in vars(self)

    def log_probs(self, start: int, stop: int) -> Float[np.ndarray, "prefixes vocab"]:
        return self._logs[start:stop]

    def support(self) -> Bool[np.ndarray, "prefixes vocab"]:
        return np.greater(self.values, 0.0 if self.scale == "probs" else -np.inf)

    def exact(self, index: int) -> ExactRow:
        row = [float(x) for x in self.values[index]]
        if self.scale == "probs":
            return ExactRow(tuple(Fraction(x) for x in row), (Fraction(0),) * len(row))
        factors = tuple(Fraction(0 if x == -math.inf else 1) for x in row)
        return ExactRow(factors, tuple(Fraction(0) if x == -math.inf else Fraction(x) for x in row))

    def is_like(self, other: "FloatRows") -> bool:
        """Whether both hold probabilities, or both hold logs."""
        return (self.scale == "probs") == (other.scale == "probs")

    def identical(self, mine: Indices, other: AbstractRows, theirs: Indices) -> Bool[np.ndarray, " pairs"]:
        if not isinstance(other, FloatRows) or not self.is_like(other):
            return np.zeros(len(mine), dtype=bool)
        return (self.values[mine] == other.values[theirs]).all(axis=1)

    def take(self, prefixes: Indices, tokens: Sequence[int]) -> "FloatRows":
        return FloatRows(self.values[prefixes][:, tokens], self.scale)

    def with_certain(self, token: int) -> "FloatRows":
        possible, not_ = (1.0, 0.0) if self.scale == "probs" else (0.0, -np.inf)
        row = np.where(np.arange(self.shape[1]) == token, possible, not_).astype(self.values.dtype)
        return FloatRows(np.concatenate([self.values, row[None]]), self.scale)


class TiltedRows(AbstractRows):
    """The tilted expert of theory.md 1.9: `p^(λ) ∝ p_b (p/p_b)^λ` on the common support of `p` and `p_b`.

    Where expert and background share no token the row is empty: -inf everywhere.
    """

    def __init__(self, background: AbstractRows, expert: AbstractRows, weight: Fraction):
        self.background = background
        self.expert = expert
        self.weight = weight

    @property
    def shape(self) -> tuple[int, int]:
        return self.expert.shape

    @cached_property
    def _logs(self) -> Float[np.ndarray, "prefixes vocab"]:
        base, own = (rows.log_probs(0, rows.shape[0]) for rows in (self.background, self.expert))
        common = (base > -np.inf) & (own > -np.inf)
        with np.errstate(invalid="ignore"):
            logs = np.where(common, base + float(self.weight) * (own - base), -np.inf)
        return _normalised(logs)

    def log_probs(self, start: int, stop: int) -> Float[np.ndarray, "prefixes vocab"]:
        return self._logs[start:stop]

    def support(self) -> Bool[np.ndarray, "prefixes vocab"]:
        return self.background.support() & self.expert.support()

    def error(self, start: int, stop: int) -> Float[np.ndarray, " prefixes"]:
        """The errors of both rows as `(1-λ) l_b + λ l` scales them, the rounding of that sum, and its normalising."""
        weight = float(self.weight)
        base, own = self.background.log_probs(start, stop), self.expert.log_probs(start, stop)
        given = (1 + weight) * self.background.error(start, stop) + weight * self.expert.error(start, stop)
        own_rounding = EPS * (self.shape[1] + 8 + 4 * (1 + weight) * (_size(base) + _size(own)))
        return 2 * (given + own_rounding)

    def exact(self, index: int) -> ExactRow:
        base, own = self.background.exact(index), self.expert.exact(index)
        n, d = self.weight.numerator, self.weight.denominator
        if max(n, d) > LARGEST_POWER and {*base.factors, *own.factors} - {0, 1}:
            raise PowerTooLargeError(f"the weight {self.weight} needs powers beyond {LARGEST_POWER}")
        factors = tuple(
            b ** (d - n) * p**n if b and p else Fraction(0) for b, p in zip(base.factors, own.factors, strict=True)
        )
        shifts = tuple(b + self.weight * (p - b) for b, p in zip(base.shifts, own.shifts, strict=True))
        return ExactRow(factors, shifts, root=d)

    def identical(self, mine: Indices, other: AbstractRows, theirs: Indices) -> Bool[np.ndarray, " pairs"]:
        if isinstance(other, TiltedRows):
            same = self.weight == other.weight
            same &= self.expert.identical(mine, other.expert, theirs)
            return same & self.background.identical(mine, other.background, theirs)
        unchanged = self.expert.identical(mine, self.background, mine)
        return unchanged & self.background.identical(mine, other, theirs)

    def take(self, prefixes: Indices, tokens: Sequence[int]) -> "TiltedRows":
        return TiltedRows(self.background.take(prefixes, tokens), self.expert.take(prefixes, tokens), self.weight)

    def with_certain(self, token: int) -> "TiltedRows":
        return TiltedRows(self.background.with_certain(token), self.expert.with_certain(token), self.weight)


def gather(
    rows: AbstractRows, indices: Indices
) -> tuple[Float[np.ndarray, "pairs vocab"], Float[np.ndarray, " pairs"]]:
    """The log-probabilities of the rows `indices`, with their errors.

    Of floats whose logs are not there these alone are worked out; of other rows only the range they span is read.
    """
    if isinstance(rows, FloatRows) and not rows.has_logs:
        rows, indices = rows.take(indices, range(rows.shape[1])), np.arange(len(indices))
    if len(indices) == 0:
        return np.zeros((0, rows.shape[1])), np.zeros(0)
    start, stop = int(indices.min()), int(indices.max()) + 1
    return rows.log_probs(start, stop)[indices - start], rows.error(start, stop)[indices - start]


def probabilities(rows: AbstractRows, indices: Indices) -> Float[np.ndarray, "pairs vocab"]:
    """The probabilities in the rows `indices`, of which each has some."""
    if not isinstance(rows, FloatRows):
        return np.exp(gather(rows, indices)[0])
    values = np.asfortranarray(rows.values[indices], dtype=np.float64)
    if rows.scale != "probs":
        values = np.exp(values - values.max(axis=1, keepdims=True))
    return values / values.sum(axis=1, keepdims=True)
