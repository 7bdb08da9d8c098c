"""A measurement, and the want of one."""

from dataclasses import dataclass

from benchmarks.engine import Answer, Task

Seconds = float


@dataclass(frozen=True)
class Measurement:
    """One task of one engine on one size.

    **Fields:** `import_s`: loading the engine. `prepare_s`: bringing the case into the engine's own form. `first_s`:
    the first run, compilation included. `later_s`: each run after it; none if the first took all the time.
    `first_peak_mb`, `peak_mb`: memory beyond the inputs in the engine's own form, during the first run and later ones.
    """

    engine: str
    task: Task
    vocab: int
    length: int
    import_s: Seconds
    prepare_s: Seconds
    first_s: Seconds
    later_s: list[Seconds]
    first_peak_mb: float | None
    peak_mb: float | None
    answer: Answer

    @property
    def best_s(self) -> Seconds:
        """The best run: ratios compare best with best."""
        return min([self.first_s, *self.later_s])

    @property
    def ran_once(self) -> bool:
        """Whether the best run is the first, with whatever is compiled in it, for want of another."""
        return not self.later_s

    @property
    def compile_s(self) -> Seconds | None:
        """By how much the first run is longer; not known of one run."""
        return None if self.ran_once else self.first_s - self.best_s


@dataclass(frozen=True)
class Absent:
    """Why there is no measurement; `asked`: it was tried, and failed."""

    engine: str
    vocab: int
    length: int
    why: str
    asked: bool
