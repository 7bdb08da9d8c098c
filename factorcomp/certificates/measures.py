"""The numbers of a report (interface.md, "The report as data")."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Number = Fraction | float


@dataclass(frozen=True)
class ExpertMeasures:
    """One expert in one composition: counts over the scope, probabilities under the composition, nats.

    Counts of prefixes are `None` where no enumeration has counted them. `runs` may be `math.inf` for every length.
    """

    deviating_prefixes: int | None
    active_prefixes: int | None
    activity_probability: Number | None
    expected_active_steps: Number | None
    max_oscillation: float
    runs: int | float


@dataclass(frozen=True)
class Termination:
    """The mass not ended at the horizon, and the expected length in tokens, up to and with EOS, cut at the horizon.

    For every length: the mass that never ends, and expected lengths without a cut, `math.inf` where they diverge.
    """

    unended: Number | None
    background: Number | None
    composition: Number | None
    experts: Mapping[str, Number | None]


@dataclass(frozen=True)
class Measures:
    """The numbers of a report; `None` where a number has no meaning (no prefix in scope, no EOS, every length), or
    where no method found it.

    `bounds`: from below and above, what is not known itself: `tv_to_switching` and `tv_local_global` of a length beyond
    enumeration.
    """

    tv_to_switching: Number | None
    tv_local_global: Number | None
    log_normalizer_min: float | None
    log_normalizer_max: float | None
    experts: Mapping[str, ExpertMeasures]
    overlap_probability: Number | None
    termination: Termination | None
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
