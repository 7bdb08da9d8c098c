"""What an engine sees, before anything is claimed: the one interface of those that enumerate prefixes or states.

A survey speaks of prefixes by length and index, of experts by their place in the order given (0-based), and holds
floats together with bounds on their errors. `factorcomp.factorization` turns it into claims. Source: theory.md,
sections 1-4, 10.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from factorcomp.certificates.claims import Number, Spans

Progress = Callable[[int, int], None]
"""Called with the number of prefixes done and their total."""


@dataclass(frozen=True)
class Sighting:
    """A prefix, its probability under the composition, and the experts that deviate (are active) there."""

    length: int
    index: int
    probability: float
    experts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Meeting:
    """A set of prefixes that a path may meet: the first one, if there is one, and the probability of meeting any.

    The probability is `None` where no method converges.
    """

    first: Sighting | None
    probability: Number | None


@dataclass(frozen=True)
class Vanishing:
    """A quantity of each prefix that ought to be 0.

    `first`: the first prefix at which it certainly is not. `unsettled`: the first at which a float could not tell, and
    nothing exact did. `largest`: its largest absolute value.
    """

    first: Sighting | None
    unsettled: Sighting | None
    largest: float

    @property
    def any(self) -> bool:
        """Whether it may be anything but 0 somewhere."""
        return self.first is not None or self.unsettled is not None

    @property
    def doubtful(self) -> bool:
        """Whether floating point could not tell a prefix before the first certain one, or any if there is none."""
        if self.first is None or self.unsettled is None:
            return self.unsettled is not None
        return (self.unsettled.length, self.unsettled.index) < (self.first.length, self.first.index)


@dataclass(frozen=True)
class Pair:
    """Two prefixes of one length, by their indices."""

    length: int
    first: int
    second: int


@dataclass(frozen=True)
class Marginal:
    """On the mask of an expert: the total variation of both marginals, and the cell of tokens where they differ most.

    `differ`: some cell's probabilities certainly differ. `tied`: another cell's may differ as much. `composition`,
    `own`: those of the cell.
    """

    expert: int
    positions: tuple[int, ...]
    tv: float
    differ: bool
    tied: bool
    cell: tuple[int, ...]
    composition: float
    own: float


@dataclass(frozen=True)
class ExpertSurvey:
    """One expert: at how many prefixes it deviates and is active; the positions at which it deviates somewhere; by
    position, its first deviation and largest TV."""

    deviating: int
    active: int
    activity_probability: Number | None
    expected_active_steps: float
    max_oscillation: float
    runs: int
    deviates_at: tuple[int, ...]
    first_deviation: Sequence[Sighting | None]
    largest_tv: tuple[float, ...]


@dataclass(frozen=True)
class TerminationSurvey:
    """The mass not ended, whether any is, the first prefix from which EOS is out of reach, and expected lengths."""

    unended: float
    ends: bool
    endless: Sighting | None
    composition: float
    background: float
    experts: tuple[float, ...]


@dataclass(frozen=True)
class Survey:
    """All that the claims about one length need. Only `undefined` and `prefixes`, the number of prefixes in scope,
    are there if the composition is undefined in scope.

    `overlap`: two experts deviate. `conflict`: two are active. `normalizer`: of `log Z`; `switching`: of the distance
    to the nearest component; `following`: of what the next token's conditional under the sequence-level composition
    differs from the stepwise one's by. `masks`: given or found, by expert; `None` without masks, or where two experts
    own one position. `marginal`: on the mask of an expert, computed when asked for. `deviating`, `active`: of each
    expert, by length, the prefixes themselves, where they were kept; `who`: the experts that deviate, and are active,
    at a prefix, where they were not.
    """

    undefined: Meeting
    prefixes: int
    overlap: Meeting | None = None
    conflict: Meeting | None = None
    normalizer: Vanishing | None = None
    log_normalizer_range: tuple[float, float] | None = None
    switching: Vanishing | None = None
    tv_to_switching: float = 0.0
    tv_local_global: float = 0.0
    following: Vanishing | None = None
    experts: tuple[ExpertSurvey, ...] = ()
    masks: Mapping[int, tuple[int, ...]] | None = None
    marginal: Callable[[int], Marginal] | None = None
    deviating: tuple[tuple[Spans, ...], ...] = ()
    active: tuple[tuple[Spans, ...], ...] = ()
    who: Callable[[int, int], tuple[tuple[int, ...], tuple[int, ...]]] | None = None
    termination: TerminationSurvey | None = None
