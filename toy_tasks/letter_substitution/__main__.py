"""Trains, composes, evaluates and verifies: `python -m toy_tasks.letter_substitution [--seed N] [--output FOLDER]`."""

from dataclasses import asdict
from pathlib import Path

from cyclopts import App
from rich.console import Console
from rich.progress import Progress

from toy_tasks.letter_substitution.configuration import SMOKE, Configuration
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.letter_substitution.success import at_lengths, evaluated, subjects
from toy_tasks.letter_substitution.summary import summary
from toy_tasks.results import write_results
from toy_tasks.training import train_family

app = App(name="python -m toy_tasks.letter_substitution", help=__doc__, version_flags=[])


@app.default
def run(*, seed: int = 0, smoke: bool = False, output: Path = Path("toy_tasks/results")) -> None:
    """Background and two experts.

    Parameters
    ----------
    seed
        The same seed gives the same numbers.
    smoke
        A few seconds, with networks that are not good.
    output
        The folder in which results and weights are written.
    """
    console, configuration = Console(), SMOKE if smoke else Configuration()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        training = configuration.training
        family = train_family(
            Letters(), configuration.shape, training, configuration.names, seed=seed, progress=progress
        )
    found = subjects(family)
    numbers = {
        "losses": {"background": family.background.losses, **{n: e.losses for n, e in family.experts.items()}},
        "success": evaluated(found, configuration, seed),
        "by_length": at_lengths(found, configuration, seed),
    }
    name = "letter_substitution_smoke" if smoke else "letter_substitution"
    write_results(output / f"{name}.json", "letter_substitution", seed, asdict(configuration), numbers)
    console.print(summary(numbers))


if __name__ == "__main__":
    app()
