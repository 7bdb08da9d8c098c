"""Trains, composes, evaluates and verifies: `python -m toy_tasks.letter_substitution [--seed N] [--full]`."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cyclopts import App
from rich.console import Console
from rich.progress import Progress

from toy_tasks.letter_substitution.arithmetic import merged
from toy_tasks.letter_substitution.breaking import NEEDED, broken
from toy_tasks.letter_substitution.configuration import SMOKE, Configuration
from toy_tasks.letter_substitution.exhaustive import exhausted
from toy_tasks.letter_substitution.habits import train_habits
from toy_tasks.letter_substitution.length import curves
from toy_tasks.letter_substitution.letters import EIGHT, Letters
from toy_tasks.letter_substitution.proofs import proved
from toy_tasks.letter_substitution.stopping import stopped
from toy_tasks.letter_substitution.success import at_lengths, evaluated, subjects
from toy_tasks.letter_substitution.summary import summary
from toy_tasks.results import write_results
from toy_tasks.training import Family, train_family

THRESHOLD = 10.0
"""Nats: what an expert changes elsewhere oscillates by less, what it is for by more."""
app = App(name="python -m toy_tasks.letter_substitution", help=__doc__, version_flags=[])


@app.default
def run(
    *, seed: int = 0, smoke: bool = False, full: bool = False, output: Path = Path("toy_tasks/results")
) -> dict[str, Family]:
    """Background and two experts: trained, composed, evaluated on held-out prompts, and proved about.

    Parameters
    ----------
    seed
        The same seed gives the same numbers.
    smoke
        A few seconds, with networks that are not good.
    full
        Also experts from scratch, the curves of all architectures up to 128 letters, and all prompts of two letters;
        what breaks, with up to eight experts; why compositions end wrongly; and task arithmetic.
    output
        The folder in which results, weights and the certificate with its models are written.
    """
    began, task = time.perf_counter(), Letters()
    configuration = SMOKE if smoke else Configuration()
    if full:
        configuration = replace(configuration, lengths=(16, 24, 32, 48, 64, 96, 128))
    noise = configuration.training.noise
    with (
        TemporaryDirectory() as folder,
        Progress(console=Console(stderr=True), transient=True) as progress,
        ThreadPoolExecutor(1) as aside,
    ):
        weights = Path(folder)  # of this run alone: nothing trained before is taken

        def made(run: Configuration, way: str = "finetuned") -> Family:
            return train_family(
                task, run.shape, run.training, run.names, seed=seed, way=way, progress=progress, cache=weights
            )

        def windowed() -> tuple[Family, dict]:
            family = made(configuration.at("window"))
            return family, proved(task, family, noise, output / "letter_substitution_certificate")

        beside = aside.submit(windowed)
        tied = made(configuration)
        found = subjects(tied)
        numbers = {
            "losses": {name: trained.losses for name, trained in tied.trained().items()},
            "success": {"tied": evaluated(found, configuration, seed)},
            "by_length": {"tied": at_lengths(found, configuration, seed)},
            "exhaustive": {"1": exhausted(task, tied, 1, noise, THRESHOLD)},
        }
        window, numbers["every_length"] = beside.result()
        families = {"tied": tied, "window": window}
        if full:
            scratch = made(configuration, "scratch")
            numbers["success"]["window"] = evaluated(subjects(families["window"]), configuration, seed)
            numbers["success"]["tied, from scratch"] = evaluated(subjects(scratch), configuration, seed)
            numbers["exhaustive"]["1, from scratch"] = exhausted(task, scratch, 1, noise, THRESHOLD)
            numbers["by_length"] = curves(
                configuration, {**families, "tied, from scratch": scratch}, seed, progress=progress, cache=weights
            )
            numbers["exhaustive"]["2"] = exhausted(task, tied, 2, noise, THRESHOLD)
            numbers |= further(configuration, seed, progress, weights)
        shutil.copytree(weights, output / "weights", dirs_exist_ok=True)
    name = "letter_substitution_smoke" if smoke else "letter_substitution"
    write_results(output / f"{name}.json", "letter_substitution", seed, asdict(configuration), numbers)
    Console().print(summary(numbers))
    Console().print(f"{output / name}.json, after {time.perf_counter() - began:.0f} s")
    return families


def further(configuration: Configuration, seed: int, progress: Progress | None, weights: Path) -> dict[str, Any]:
    """What breaks, why compositions end wrongly, and task arithmetic: eight experts, and networks with habits."""
    shape, training = configuration.shape, configuration.training
    family = train_family(Letters(), shape, training, NEEDED, seed=seed, progress=progress, cache=weights)
    eight = Family(family.background, {name: family.experts[name] for name in EIGHT})
    habitual = train_habits(configuration, seed=seed, progress=progress, cache=weights)
    return {
        "breaking": broken(family, habitual, configuration, seed),
        "stopping": stopped(habitual, configuration, seed),
        "arithmetic": merged(eight, configuration, seed),
    }


if __name__ == "__main__":
    app(result_action="return_none")
