"""An engine on one size, in a process of its own: checked, prepared, then each task timed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any

from benchmarks import agreement, apart
from benchmarks.engine import TASKS, Engine, Task
from benchmarks.engines import named
from benchmarks.measurement import Absent, Measurement, Seconds
from benchmarks.memory import Peak
from benchmarks.workloads import factorized

ENVIRONMENT = {"JAX_ENABLE_COMPILATION_CACHE": "false", "JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"}
"""Everything on the processor, and compiled in each process anew, so that the first run says what that costs."""


def measure(
    engine: Engine,
    vocab: int,
    length: int,
    *,
    runs: int,
    limit: Seconds,
    check: bool,
    tasks: Sequence[Task] = TASKS,
) -> list[Measurement] | Absent:
    """The tasks that an engine has of `tasks`, in a process of its own, which ends after `limit` seconds.

    **Arguments:** `check`: it must first agree with ours on small cases.

    **Raises:** `agreement.DisagreementError`.
    """
    if why := engine.missing() or engine.declines(vocab, length):
        return Absent(engine.name, vocab, length, why, asked=False)
    arguments = {"vocab": vocab, "length": length, "runs": runs, "budget": limit / 4, "check": check, "tasks": tasks}
    try:
        found = apart.call(
            "benchmarks.measuring:in_this_process",
            {"engine": engine.name, **arguments},
            environment=ENVIRONMENT,
            limit=limit,
        )
    except apart.ApartError as error:
        if error.kind == agreement.DisagreementError.__name__:
            raise agreement.DisagreementError(str(error)) from error
        return Absent(engine.name, vocab, length, str(error), asked=True)
    return [Measurement(**one) for one in found]


def in_this_process(
    engine: str, vocab: int, length: int, runs: int, budget: Seconds, tasks: Sequence[Task], *, check: bool
) -> list[dict[str, Any]]:
    """The measurements, as data. `budget`: a task gets no further run that would not end within so many seconds."""
    chosen = named(engine)
    import_s, _ = timed(lambda: [import_module(name) for name in chosen.imports])
    if check:
        agreement.check(chosen, agreement.few_cases())
    case = factorized(vocab, length)
    prepare_s, given = timed(lambda: chosen.prepare(case))
    del case
    measured = []
    for task, work in ((task, chosen.tasks[task]) for task in tasks if task in chosen.tasks):
        peak = Peak()
        first_s, answer = timed(lambda work=work: work(given))
        peaks, peak, later, left = [peak.megabytes()], Peak(), [], budget - first_s
        while len(later) < runs and left > min(later, default=0.0):
            later.append(timed(lambda work=work: work(given))[0])
            left -= later[-1]
        peaks.append(peak.megabytes() if later else None)
        found = Measurement(engine, task, vocab, length, import_s, prepare_s, first_s, later, *peaks, answer)
        measured.append(asdict(found))
    return measured


def timed(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """How long it took, and what came out."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer
