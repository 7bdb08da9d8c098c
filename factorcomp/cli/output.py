"""What leaves the command line: the answer on standard output, everything else on standard error."""

import io
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

    from factorcomp.verdicts import Diagnosis, Report


def prepare() -> None:
    """Let no character be too strange for a stream: what cannot be encoded is written as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def emit(text: str) -> None:
    """Write the answer. A reader that has gone away is not an error; a full disk is (`OSError`)."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError:
        silence(sys.stdout)
        raise


@contextmanager
def writing(path: str) -> Generator[None]:
    """What fails while `path` is written says so, with its name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot be written: {error.strerror or error}", path) from error


def silence(stream: TextIO) -> None:
    """Send what a stream still holds nowhere, so that closing it cannot fail."""
    try:
        descriptor = stream.fileno()
    except OSError:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def complain(problems: Iterable[str]) -> None:
    """Write each problem once, on a line of standard error; the template of a model, where one ends with it, below."""
    for problem in dict.fromkeys(problems):
        lines: Sequence[str] = ()
        if "\n" in problem:
            from factorcomp.formats.python_objects import TEMPLATE

            if problem.endswith(TEMPLATE):
                problem, lines = problem.removesuffix(TEMPLATE), TEMPLATE.splitlines()[1:]
        say(f"error: {problem}")
        for line in lines:
            say(line)


def say(line: str) -> None:
    """Write a line on standard error, harmless whatever is in it."""
    if sys.stderr is None:
        return
    from factorcomp.report.words import printable

    try:
        print(printable(line), file=sys.stderr, flush=True)
    except OSError:
        silence(sys.stderr)


def show(what: "Report | Diagnosis") -> None:
    """Write a report or a diagnosis, with colours if standard output is a terminal that has them."""
    from factorcomp.report import terminal

    print_with(lambda console: terminal.show(what, console))


def print_with(draw: "Callable[[Console], str]") -> None:
    """Write what `draw` makes for the console that standard output is."""
    from rich.console import Console

    emit(draw(Console()))


@contextmanager
def progress(task: str) -> Generator[Callable[[int, int], None] | None]:
    """A function of `done` and `total` that draws a bar on standard error; `None` where that is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Speed(ProgressColumn):
        """What is counted, in a second."""

        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s", style="progress.data.speed")

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Speed(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        number = bar.add_task(task, total=None)
        yield lambda done, total: bar.update(number, completed=done, total=total)
