"""One run: the floor, every engine on every size, what is not about tables, and the floor again."""

from collections.abc import Callable, Sequence

from benchmarks import agreement, apart, floor, on_the_fly, ours, start_up
from benchmarks.engine import Engine, Task
from benchmarks.measurement import Absent
from benchmarks.measuring import measure
from benchmarks.results import Results
from benchmarks.workloads import Size

Tell = Callable[[str], None]
TWO_PROCESSES: Size = (8, 9)


def bandwidth(results: Results) -> None:
    """Measured before and after: the best counts."""
    results.faster(apart.call("benchmarks.floor:bandwidth", environment=floor.ENVIRONMENT))


def time_tables(
    results: Results,
    sizes: Sequence[Size],
    engines: Sequence[tuple[Engine, Sequence[Task]]],
    *,
    runs: int,
    limit: float,
    tell: Tell,
) -> None:
    """Each engine's tasks on each size; before its first, an engine must agree with ours, and on each with the others.

    **Raises:** `agreement.DisagreementError`.
    """
    for number, (vocab, length) in enumerate(sizes):
        for engine, tasks in engines:
            tell(f"({vocab}, {length}): {engine.name}")
            found = measure(engine, vocab, length, runs=runs, limit=limit, check=number == 0, tasks=tasks)
            if isinstance(found, Absent):
                results.absent.append(found)
            else:
                results.measurements += found
        agreement.check_at_size(results.measurements, vocab, length)


def time_the_rest(results: Results, *, limit: float, tell: Tell) -> None:
    """Start-up, finite-state models, functions on the fly, two processes."""
    tell("start-up")
    results.start_up = start_up.measure()
    tell("finite-state models")
    results.finite_state = apart.call("benchmarks.finite_state:measure")
    for size in on_the_fly.SIZES:
        tell(f"{size[0]}^{size[1]} sequences on the fly")
        results.on_the_fly.append(on_the_fly.measure(*size, limit=4 * limit))
    tell("two processes")
    results.processes = on_the_fly.by_processes(*TWO_PROCESSES, limit=limit)


def run(
    sizes: Sequence[Size],
    engines: Sequence[tuple[Engine, Sequence[Task]]],
    *,
    everything: bool,
    runs: int,
    limit: float,
    tell: Tell,
) -> Results:
    """The measurements. `everything`: also what is not about tables; otherwise only whether `--help` answers at once.

    **Raises:** `agreement.DisagreementError`; `apart.ApartError` where the bandwidth or a chain cannot be measured.
    """
    results = Results(ours.subject().name)
    tell("the memory's bandwidth")
    bandwidth(results)
    time_tables(results, sizes, engines, runs=runs, limit=limit, tell=tell)
    if everything:
        time_the_rest(results, limit=limit, tell=tell)
    else:
        results.start_up = start_up.measure([start_up.HELP])
    tell("the memory's bandwidth again")
    bandwidth(results)
    return results
