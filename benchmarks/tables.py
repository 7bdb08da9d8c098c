"""What a reader sees: a table for each size, then everything else, then the targets."""

from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.engine import TASKS
from benchmarks.engines import ENGINES
from benchmarks.measurement import Measurement
from benchmarks.peers.numpy_ import NUMPY
from benchmarks.results import Results, tables_bytes
from benchmarks.targets import Target
from benchmarks.workloads import Size


def of_size(results: Results, size: Size) -> Table:
    """Every engine on one size."""
    floor = results.floor_s(size)
    title = (
        f"|V| = {size[0]}, T = {size[1]}: {tables_bytes(*size) / 1e6:,.1f} MB in three tables, floor {_ms(floor)} ms"
    )
    table = _table(
        title, ("task", "engine"), ("best, ms", "× floor", "× ours", "peak, MB", "first, ms", "prepared, ms")
    )
    for task in TASKS:
        ours = results.of(results.subject, task, size)
        for measured in (m for m in results.measurements if (m.task, m.vocab, m.length) == (task, *size)):
            over_ours = "" if ours is None else f"{measured.best_s / ours.best_s:.2f}"
            table.add_row(
                task,
                measured.engine,
                _ms(measured.best_s) + " (once)" * measured.ran_once,
                f"{measured.best_s / floor:.1f}",
                over_ours,
                _peak(measured),
                _ms(measured.first_s),
                _ms(measured.prepare_s),
            )
    for absent in (a for a in results.absent if (a.vocab, a.length) == size):
        table.add_row("", Text(f"{absent.engine}: {absent.why}", "dim"))
    return table


def of_engines(results: Results) -> Table:
    """What each engine computes, of those measured."""
    table = _table("What each computes", ("engine", "computes"), ())
    measured = {one.engine for one in results.measurements}
    for engine in (engine for engine in ENGINES if engine.name in measured):
        table.add_row(engine.name, engine.how)
    return table


def of_the_rest(results: Results) -> Sequence[RenderableType]:
    """Start-up, finite-state models, functions; those that were measured."""
    shown = []
    if results.start_up:
        table = _table("Start-up, processes of their own", ("what",), ("best, s",))
        for what, seconds in results.start_up.items():
            table.add_row(what, f"{seconds:.3f}")
        for what, seconds in import_times(results).items():
            table.add_row(what, f"{seconds:.3f}")
        shown.append(table)
    if results.finite_state:
        table = _table("Finite-state models", ("chain", "what"), ("product states", "median, s"))
        for row in results.finite_state:
            table.add_row(row["chain"], row["what"], f"{row['states']:,}", f"{row['seconds']:.4g}")
        shown.append(table)
    if results.on_the_fly or results.processes:
        table = _table("Functions, on the fly", ("sequences", "processes"), ("s", "million sequences a second"))
        for row in (*results.on_the_fly, *results.processes):
            count = row["vocab"] ** row["length"]
            sequences = f"{row['vocab']}^{row['length']} = {count:,}"
            who = str(row.get("processes", "1, all cores"))
            if "seconds" in row:
                rate = f"{count / row['seconds'] / 1e6:,.0f}"
                table.add_row(sequences, who, f"{row['seconds']:.2f}", rate)
            else:
                table.add_row(sequences, Text(f"{who}: {row['why']}", "dim"))
        shown.append(table)
    return shown


def import_times(results: Results) -> dict[str, float]:
    """How long each engine took to load, inside its process, where NumPy was loaded already: the shortest."""
    found: dict[str, float] = {}
    for one in (one for one in results.measurements if one.engine != NUMPY.name):
        name = f"load {one.engine}, beyond NumPy"
        found[name] = min(one.import_s, found.get(name, one.import_s))
    return found


def of_targets(targets: Sequence[Target]) -> Table:
    """The promises."""
    table = _table("Targets (two cores, float64, three models)", ("target",), ("found", "promised", ""))
    for target in targets:
        found = "nothing" if target.found is None else f"{target.found:.3g} {target.unit}"
        promised = f"{target.bound} {target.limit:g} {target.unit}"
        table.add_row(target.what, found, promised, Text("met", "green") if target.met else Text("missed", "bold red"))
    return table


def one_line(results: Results, targets: Sequence[Target]) -> str:
    """The ratios of this run: of ours to the floor, of NumPy to ours; and what was missed."""
    parts = []
    for size in results.sizes:
        ours, numpy = (results.of(name, "survey", size) for name in (results.subject, "NumPy"))
        said = [f"{ours.best_s / results.floor_s(size):.1f}× floor"] if ours else ["no pass"]
        said += [f"NumPy {numpy.best_s / ours.best_s:.1f}×"] if ours and numpy else []
        if masks := results.of(results.subject, "masks", size):
            said.append(f"masks {masks.best_s / results.floor_s(size):.1f}× floor")
        parts.append(f"({size[0]},{size[1]}) {', '.join(said)}")
    missed = sum(not target.met for target in targets)
    kept = f"{missed} of {len(targets)} targets missed" if missed else f"all {len(targets)} targets met"
    return " · ".join([*parts, kept])


def show(results: Results, targets: Sequence[Target], console: Console) -> None:
    """All of it."""
    ways = ", ".join(f"{way} {found / 1e9:.1f}" for way, found in results.bandwidth.items())
    console.print(
        f"{results.machine['processor']}, {results.machine['cores']} cores, {results.machine['memory_gb']} GB; "
        f"triad, GB/s: {ways}; ours is {results.subject}"
    )
    for size in results.sizes:
        console.print(of_size(results, size))
    for shown in (of_engines(results), *of_the_rest(results), of_targets(targets)):
        console.print(shown)


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for column in left:
        table.add_column(column)
    for column in right:
        table.add_column(column, justify="right")
    return table


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.4g}" if seconds < 10 else f"{seconds * 1e3:,.0f}"


def _peak(measured: Measurement) -> str:
    peak = measured.first_peak_mb if measured.peak_mb is None else measured.peak_mb
    return "" if peak is None else f"{peak:,.1f}"
