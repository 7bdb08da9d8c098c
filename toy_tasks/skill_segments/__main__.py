"""Trains, composes, evaluates and verifies: `python -m toy_tasks.skill_segments [--seed N] [--full]`."""

from dataclasses import asdict
from pathlib import Path

from cyclopts import App
from rich.console import Console
from rich.progress import Progress

from toy_tasks.results import write_results
from toy_tasks.skill_segments.configuration import FULL, SMOKE, Configuration
from toy_tasks.skill_segments.story import story
from toy_tasks.skill_segments.summary import summary

app = App(name="python -m toy_tasks.skill_segments", help=__doc__, version_flags=[])


@app.default
def run(*, seed: int = 0, smoke: bool = False, full: bool = False, output: Path = Path("toy_tasks/results")) -> None:
    """Ideal models of every variant, and trained networks of the plain one.

    Parameters
    ----------
    seed
        The same seed gives the same numbers.
    smoke
        A few seconds, with networks that are not good.
    full
        Networks of every variant.
    output
        The folder in which results are written.
    """
    if smoke and full:
        raise SystemExit("--smoke and --full: got both, needed one of them at most")
    console = Console()
    configuration = SMOKE if smoke else FULL if full else Configuration()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        numbers = story(configuration, seed, progress)
    name = "skill_segments" if full else "skill_segments_smoke" if smoke else "skill_segments_plain"
    write_results(output / f"{name}.json", "skill_segments", seed, asdict(configuration), numbers)
    console.print(summary(numbers))


if __name__ == "__main__":
    app()
