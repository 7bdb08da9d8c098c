"""What was promised, for two cores, float64 and three models; and whether this run kept it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.engine import Task
from benchmarks.measurement import Measurement
from benchmarks.results import Results
from benchmarks.start_up import HELP
from benchmarks.workloads import Size

LARGE: tuple[Size, ...] = ((8, 8), (4, 12))
ONE_PASS, MASK_CHECK = 4.0, 3.5
"""Times the floor."""
MEGABYTES = 10.0
"""Beyond the inputs, once compiled."""
FASTER_THAN = {"NumPy": 10.0, "PyTorch": 5.0}
COMPILATION_S, HELP_S = 2.5, 0.5
BILLION_S = 15.0
"""For 10^9 sequences on the fly, |V| = 8."""
TWO_PROCESSES = 1.8


@dataclass(frozen=True)
class Target:
    """One promise: `found` must be at most, or at least, `limit`; `None` where it was tried and nothing came out."""

    what: str
    found: float | None
    bound: Literal["at most", "at least"]
    limit: float
    unit: str = ""

    @property
    def met(self) -> bool:
        """Whether it was kept; nothing found, or NaN, is not."""
        if self.found is None:
            return False
        return self.found <= self.limit if self.bound == "at most" else self.found >= self.limit


def targets(results: Results) -> list[Target]:
    """The promises about whatever this run tried to measure."""
    return [*_of_tables(results), *_on_the_fly(results), *_start_up(results)]


def _of_tables(results: Results) -> Iterator[Target]:
    us = results.subject
    for size in results.sizes:
        name, floor = f"({size[0]}, {size[1]})", results.floor_s(size)

        def found(
            task: Task, value: Callable[[Measurement], float | None], engine: str = us, size: Size = size
        ) -> float | None:
            one = results.of(engine, task, size)
            return None if one is None else value(one)

        tried = results.of(us, "survey", size) is not None or results.failed(us, size)
        if size in LARGE and tried:
            pass_s = found("survey", lambda m: m.best_s)
            yield Target(f"{name} one pass", _over(pass_s, floor), "at most", ONE_PASS, "× floor")
            yield Target(f"{name} memory", found("survey", lambda m: m.peak_mb), "at most", MEGABYTES, "MB")
            mask_s = found("masks", lambda m: m.best_s)
            yield Target(f"{name} mask check", _over(mask_s, floor), "at most", MASK_CHECK, "× floor")
            for peer, factor in FASTER_THAN.items():
                if (theirs := found("survey", lambda m: m.best_s, peer)) is not None:
                    yield Target(f"{name} against {peer}", _over(theirs, pass_s), "at least", factor, "×")
        if tried:
            compiled = found("survey", lambda m: m.compile_s)
            yield Target(f"{name} compilation", compiled, "at most", COMPILATION_S, "s")


def _on_the_fly(results: Results) -> Iterator[Target]:
    for row in results.on_the_fly:
        if "seconds" in row or row["asked"]:
            seconds = row["seconds"] * 1e9 / row["sequences"] if "seconds" in row else None
            what = f"{row['sequences']:.2g} sequences on the fly, for 10^9"
            yield Target(what, seconds, "at most", BILLION_S, "s")
    if results.processes and all("seconds" in row or row["asked"] for row in results.processes):
        one, two = (row.get("seconds") for row in results.processes)
        yield Target("two processes against one", _over(one, two), "at least", TWO_PROCESSES, "×")


def _start_up(results: Results) -> Iterator[Target]:
    if (seconds := results.start_up.get(HELP)) is not None:
        yield Target(HELP, seconds, "at most", HELP_S, "s")


def _over(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one / other
