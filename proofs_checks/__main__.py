"""`python -m proofs_checks`: the table of statements; exit status 1 if anything is off."""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from os import cpu_count
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from proofs_checks.running import Outcome, chosen, find_statements, run, run_numbered
from proofs_checks.statement import Statement
from proofs_checks.table import details, table

app = App(
    name="python -m proofs_checks",
    help="The theory, tested: every statement on random instances in exact arithmetic, with its negative controls.",
    help_format="plaintext",
    default_parameter=Parameter(negative=()),
)


@app.default
def main(
    *,
    statement: Annotated[
        list[str] | None,
        Parameter(metavar="NUMBER", help="only this one, as 4.5, '4.4 (3)' or a section, 4; repeatable"),
    ] = None,
    examples: Annotated[int, Parameter(metavar="N", help="instances drawn of a statement")] = 200,
    seed: Annotated[int, Parameter(metavar="N", help="the same seed draws the same instances")] = 0,
    processes: Annotated[int | None, Parameter(metavar="N", help="statements tried at once [all cores]")] = None,
) -> int:
    """Tries the statements and prints a table. Exit status: 0 all stand, 1 something is off, 2 a wrong call."""
    known = find_statements()
    statements = chosen(known, statement or ())
    missing = [number for number in statement or () if not chosen(known, [number])]
    if missing or examples < 1:
        wrong = (
            f"--statement: no statement has the number {', '.join(missing)}" if missing else "--examples: at least 1"
        )
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    outcomes = run_all(statements, examples, seed, processes or cpu_count() or 1)
    console = Console(width=None if sys.stdout.isatty() else 160)
    if statement:
        for one, outcome in zip(statements, outcomes, strict=True):
            console.print(details(one, outcome))
    console.print(table(statements, outcomes))
    for outcome in outcomes:
        for fault in outcome.faults:
            console.print(f"{outcome.number}: {fault}", markup=False)
    off = sum(bool(outcome.faults) for outcome in outcomes)
    tried = sum(outcome.instances for outcome in outcomes)
    console.print(f"{len(outcomes)} statements, {tried:,} instances: {f'{off} off' if off else 'all stand'}")
    return 1 if off else 0


def run_all(statements: Sequence[Statement], examples: int, seed: int, processes: int) -> list[Outcome]:
    """What came of each, in the order given, with a progress bar on a terminal."""
    columns = (TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    outcomes: dict[str, Outcome] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(statements))

        def done(outcome: Outcome) -> None:
            outcomes[outcome.number] = outcome
            progress.update(task, advance=1, description=outcome.number)

        if processes == 1 or len(statements) == 1:
            for statement in statements:
                done(run(statement, examples, seed))
        else:
            with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
                for future in as_completed([pool.submit(run_numbered, s.number, examples, seed) for s in statements]):
                    done(future.result())
    return [outcomes[statement.number] for statement in statements]


if __name__ == "__main__":
    sys.exit(app(result_action="return_value"))
