"""`python -m benchmarks`: the tables, and the targets; exit status 1 if one is missed."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

from benchmarks import ours, tables
from benchmarks.agreement import DisagreementError
from benchmarks.apart import ApartError
from benchmarks.engine import TASKS, Engine, Task
from benchmarks.engines import ENGINES
from benchmarks.peers.numpy_ import NUMPY
from benchmarks.running import run
from benchmarks.targets import targets
from benchmarks.workloads import QUICK, SIZES, Size

app = App(
    name="python -m benchmarks",
    help="Times against the memory's bandwidth and against what one would use otherwise, in one run.",
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
)


@app.default
def main(
    *,
    quick: Annotated[bool, Parameter(help="(4,10), (8,8), (4,12) against the floor and NumPy alone")] = False,
    size: Annotated[list[str] | None, Parameter(metavar="V,T", help="only tables of this size; repeatable")] = None,
    engine: Annotated[list[str] | None, Parameter(metavar="NAME", help="only this engine; repeatable")] = None,
    runs: Annotated[int | None, Parameter(metavar="N", help="after the first [7; with --quick 3]")] = None,
    limit: Annotated[float, Parameter(metavar="SECONDS", help="for each engine on each size")] = 120.0,
    output: Annotated[Path | None, Parameter(metavar="FILE", help="write the measurements as JSON")] = None,
) -> int:
    """Measures and prints. Exit status: 0 all targets met, 1 one missed, 2 a wrong call, or an engine that is wrong."""
    runs = (3 if quick else 7) if runs is None else runs
    sizes, problems = _sizes(size or (), QUICK if quick else SIZES)
    problems += _problems(engine or (), runs, limit, output)
    if problems:
        return _failed(problems)
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        with Console(stderr=True).status("") as status:
            chosen = _chosen(engine, quick=quick)
            everything = not (quick or size or engine)
            results = run(sizes, chosen, everything=everything, runs=runs, limit=limit, tell=status.update)
    except (DisagreementError, ApartError) as error:
        return _failed([str(error)])
    wanted = targets(results)
    tables.show(results, wanted, console)
    if output is not None:
        results.write(output)
    console.print(tables.one_line(results, wanted), highlight=False, soft_wrap=True)
    return 0 if all(target.met for target in wanted) else 1


def _chosen(names: Sequence[str] | None, *, quick: bool) -> list[tuple[Engine, Sequence[Task]]]:
    """The engines and what each is asked; a quick run times the mask check against the floor alone."""
    if quick and not names:
        return [(ours.subject(), TASKS), (NUMPY, ["survey"])]
    return [(engine, TASKS) for engine in ENGINES if not names or engine.name in names]


def _sizes(given: Sequence[str], default: Sequence[Size]) -> tuple[Sequence[Size], list[str]]:
    """The sizes, and what is wrong with those given."""
    found, problems = [], []
    for text in given:
        vocab, comma, length = (part.strip() for part in text.partition(","))
        if comma and vocab.isdecimal() and length.isdecimal() and int(vocab) > 0 and int(length) > 0:
            found.append((int(vocab), int(length)))
        else:
            problems.append(f"--size: found {text!r}; needed V,T, as 4,10")
    return found or default, problems


def _problems(names: Sequence[str], runs: int, limit: float, output: Path | None) -> list[str]:
    problems = []
    known = [engine.name for engine in ENGINES]
    for name in names:
        if name not in known:
            listed = ", ".join(map(repr, known))
            problems.append(f"--engine: no engine is called {name!r}; there are {listed}")
    if runs < 1:
        problems.append(f"--runs: found {runs}; needed at least 1")
    if not limit > 0:
        problems.append(f"--limit: found {limit:g}; needed more than 0 seconds")
    if output is not None and (output.is_dir() or not output.resolve().parent.is_dir()):
        problems.append(f"--output: {output} cannot be written; give a file in a folder that is there")
    return problems


def _failed(problems: Sequence[str]) -> int:
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(app())
