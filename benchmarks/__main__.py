"""`python -m benchmarks`: the tables, and the targets; exit status 1 if one is missed."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

from benchmarks import agreement, apart, floor, on_the_fly, ours, start_up, tables
from benchmarks.engines import ENGINES
from benchmarks.measurement import Absent
from benchmarks.measuring import measure
from benchmarks.peers.numpy_ import NUMPY
from benchmarks.results import Results
from benchmarks.targets import targets
from benchmarks.workloads import QUICK, SIZES, Size

app = App(
    name="python -m benchmarks",
    help="Times against the memory's bandwidth and against what one would use otherwise, in one run.",
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
)
TWO_PROCESSES: Size = (8, 9)


@app.default
def main(
    *,
    quick: Annotated[bool, Parameter(help="(4,10), (8,8), (4,12) against the floor and NumPy alone")] = False,
    size: Annotated[
        list[str] | None, Parameter(metavar="V,T", help="only tables of this size; repeatable", consume_multiple=False)
    ] = None,
    engine: Annotated[
        list[str] | None, Parameter(metavar="NAME", help="only this engine; repeatable", consume_multiple=False)
    ] = None,
    runs: Annotated[int, Parameter(metavar="N", help="after the first one, which compiles")] = 7,
    limit: Annotated[float, Parameter(metavar="SECONDS", help="for each engine on each size")] = 120.0,
    output: Annotated[Path | None, Parameter(metavar="FILE", help="write the measurements as JSON")] = None,
) -> int:
    """Measures and prints. Exit status: 0 all targets met, 1 one missed, 2 a wrong call, or an engine that is wrong."""
    problems = []
    sizes = [found for text in size or () if (found := _size(text, problems))] or list(QUICK if quick else SIZES)
    names = engine or ([ours.subject().name, NUMPY.name] if quick else [one.name for one in ENGINES])
    unknown = set(names) - {one.name for one in ENGINES}
    if unknown:
        known = ", ".join(repr(one.name) for one in ENGINES)
        problems.append(f"--engine: no engine is called {', '.join(map(repr, sorted(unknown)))}; there are {known}")
    if runs < 1 or not limit > 0:
        problems.append("--runs and --limit: at least 1, and more than 0 seconds")
    if problems:
        for problem in problems:
            print(f"error: {problem}", file=sys.stderr)
        return 2
    console = Console(width=None if sys.stdout.isatty() else 160)
    chosen = [one for one in ENGINES if one.name in names]
    results = Results(ours.subject().name)
    try:
        with Console(stderr=True).status("the floor") as status:
            _bandwidth(results)
            for number, (vocab, length) in enumerate(sizes):
                for one in chosen:
                    status.update(f"({vocab}, {length}): {one.name}")
                    found = measure(one, vocab, length, runs=runs, limit=limit, check=number == 0)
                    if isinstance(found, Absent):
                        results.absent.append(found)
                    else:
                        results.measurements += found
                agreement.check_at_size(results.measurements, vocab, length)
            if size is None and engine is None:
                status.update("start-up")
                results.start_up = start_up.measure(["factorcomp --help"] if quick else start_up.COMMANDS)
                if not quick:
                    status.update("finite-state models, and functions on the fly")
                    results.finite_state = apart.call("benchmarks.finite_state:measure")
                    results.on_the_fly = [on_the_fly.measure(*one, limit=4 * limit) for one in on_the_fly.SIZES]
                    results.processes = on_the_fly.by_processes(*TWO_PROCESSES, limit=limit)
            status.update("the floor again")
            _bandwidth(results)
    except agreement.DisagreementError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    wanted = targets(results)
    tables.show(results, wanted, console)
    if output is not None:
        results.write(output)
    console.print(tables.one_line(results, wanted), highlight=False, soft_wrap=True)
    return 0 if all(target.met for target in wanted) else 1


def _bandwidth(results: Results) -> None:
    results.faster(apart.call("benchmarks.floor:bandwidth", environment=floor.ENVIRONMENT))


def _size(text: str, problems: list[str]) -> Size | None:
    vocab, comma, length = text.partition(",")
    if comma and vocab.strip().isdecimal() and length.strip().isdecimal() and int(vocab) > 0 and int(length) > 0:
        return int(vocab), int(length)
    problems.append(f"--size: found {text!r}; needed V,T, as 4,10")
    return None


if __name__ == "__main__":
    sys.exit(app())
