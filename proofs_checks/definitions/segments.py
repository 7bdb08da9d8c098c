"""Stopping times, entry prefixes, segments and guarantees: theory.md section 3 (time convention), 4.5, 5.1, 5.2."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from factorcomp.testing.drawing import Draw
from factorcomp.testing.families import Family
from proofs_checks.definitions.laws import ONE, ZERO, Kernel, Law, Prefix, prefixes, sequences, total

Times = Mapping[Prefix, tuple[int, int]]
"""`(σ_1(y), σ_2(y))` of every path `y`, `T` being never."""
Event = Collection[Prefix]
"""An event of `F_{σ_2}`: the prefixes `y_{<=σ_2}` for which it is true."""


def stopping_times(draw: Draw, size: int, length: int) -> Times:
    """Two stopping times `σ_1 <= σ_2`: the debut of a set of prefixes, and the debut of another one from then on."""
    opening, closing = (set(draw.subset(prefixes(size, length))) for _ in range(2))
    times = {}
    for path in sequences(size, length):
        start = next((step for step in range(length) if path[:step] in opening), length)
        stop = next((step for step in range(start, length) if path[:step] in closing), length)
        times[path] = (start, stop)
    return times


def owned_times(owners: Mapping[Prefix, int], expert: int, size: int, length: int) -> Times:
    """The interval in which `expert` (from 1) owns the prefixes of a path."""
    times = {}
    for path in sequences(size, length):
        start = next((step for step in range(length) if owners[path[:step]] == expert), length)
        stop = next((step for step in range(start, length) if owners[path[:step]] != expert), length)
        times[path] = (start, stop)
    return times


def inside(times: Times) -> set[Prefix]:
    """The prefixes with `σ_1 <= |h| < σ_2`."""
    return {path[:step] for path, (start, stop) in times.items() for step in range(start, stop)}


def before(times: Times) -> set[Prefix]:
    """The prefixes with `|h| < σ_1`."""
    return {path[:step] for path, (start, _) in times.items() for step in range(start)}


def entered(times: Times, path: Prefix) -> bool:
    """Whether `σ_1 < T`."""
    return times[path][0] < len(path)


def entry(times: Times, path: Prefix) -> Prefix | None:
    """The entry prefix `y_{<=σ_1}`; `None` for "not entered"."""
    return path[: times[path][0]] if entered(times, path) else None


def segment(times: Times, path: Prefix) -> Prefix | None:
    """The segment `y_{σ_1+1:σ_2}`; `None` for "not entered"."""
    start, stop = times[path]
    return path[start:stop] if entered(times, path) else None


def past(times: Times, path: Prefix) -> Prefix:
    """`y_{<=σ_2}`: what `F_{σ_2}` knows."""
    return path[: times[path][1]]


def entries(times: Times) -> list[Prefix]:
    """Every entry prefix."""
    return list(dict.fromkeys(path[:start] for path, (start, _) in times.items() if start < len(path)))


def pasts(times: Times, *, of_entered: bool) -> list[Prefix]:
    """Every `y_{<=σ_2}` of the paths that enter, or of those that do not."""
    return list(dict.fromkeys(past(times, path) for path in times if entered(times, path) == of_entered))


def run_from(kernel: Kernel, prefix: Prefix, size: int, length: int) -> Law:
    """`P(.|g)`: the run of the kernels from `prefix`, which the model itself need not reach."""
    masses = {prefix: ONE}
    for _ in range(length - len(prefix)):
        masses = {
            (*h, token): mass * factor for h, mass in masses.items() for token, factor in enumerate(kernel[h]) if factor
        }
    return masses


def least_guarantee(
    kernel: Kernel, times: Times, event: Event, class_: Iterable[Prefix], size: int, length: int
) -> Fraction:
    """The least `δ` with `P_i(G|g) >= 1 - δ` for all the entry prefixes given; 0 if there are none."""
    failures = (
        total(m for y, m in run_from(kernel, g, size, length).items() if past(times, y) not in event) for g in class_
    )
    return max(failures, default=ZERO)


@dataclass(frozen=True)
class Segmented:
    """A family whose composition is expert `expert` from `σ_1` until before `σ_2`, and an event of `F_{σ_2}`."""

    family: Family
    expert: int
    times: Times
    event: Event

    @property
    def kernel(self) -> Kernel:
        """The expert's kernel."""
        return self.family.experts[self.expert]


@dataclass(frozen=True)
class Skills:
    """Experts, who owns each prefix (0 the background), and for each expert an event of its segment: success."""

    family: Family
    owners: Mapping[Prefix, int]
    events: tuple[Event, ...]

    @cached_property
    def times(self) -> tuple[Times, ...]:
        """Each expert's interval."""
        size, length = self.family.size, self.family.length
        return tuple(owned_times(self.owners, expert, size, length) for expert in range(1, len(self.events) + 1))

    @property
    def switching(self) -> Kernel:
        """`s(.|h) = p_{a(h)}(.|h)`."""
        models = (self.family.background, *self.family.experts)
        return {h: models[self.owners[h]][h] for h in self.family.prefixes}

    def all_succeed(self, path: Prefix) -> bool:
        """Whether every skill that is entered succeeds."""
        pairs = zip(self.times, self.events, strict=True)
        return all(not entered(times, path) or past(times, path) in event for times, event in pairs)

    def guarantees(self, reached: Collection[Prefix]) -> list[Fraction]:
        """Each expert's least `δ_i` over its entry prefixes that are reached (5.1 (2))."""
        found = []
        for expert, times, event in zip(self.family.experts, self.times, self.events, strict=True):
            class_ = [g for g in entries(times) if g in reached]
            found.append(least_guarantee(expert, times, event, class_, self.family.size, self.family.length))
        return found
