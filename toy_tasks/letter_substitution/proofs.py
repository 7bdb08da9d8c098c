"""What can be proved of networks with a window, for prompts and answers of every length.

That a trained network *equals* another anywhere cannot be proved, for it is not so: with the threshold 0 every expert
deviates nearly everywhere, and joint factorizability is refuted. With a threshold between what an expert changes where
it ought to copy (`off`) and where it ought to substitute (`on`), that no two experts deviate at once is proved for
every length. What follows from a threshold alone (the bounds by oscillations, theory.md 8.2) says little, for a ratio
of two tiny probabilities may be far from 1. What follows from the largest total variation `d` between the composition
and its nearest component over all states, which the same exploration finds, says much (8.2 (2)): after an answer of `n`
tokens the composition is within `n d` of the model that follows the one expert whose letter it is.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import factorcomp
from factorcomp import FiniteStateModel, Report
from factorcomp.certificates import certificate, write_certificate
from toy_tasks.letter_substitution.interleaved import ideal_row, interleaved, network_row
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.training import Family

CLAIMS = ("well_defined", "pointwise_joint", "interval_joint", "exact_switching", "unit_normalizer", "terminates")


def as_models(task: Letters, family: Family) -> dict[str, FiniteStateModel]:
    """The background (under that name) and the experts as finite-state models of the interleaved text."""
    networks = {"background": family.background, **family.experts}
    return {name: interleaved(task, network_row(task, trained.network), name) for name, trained in networks.items()}


def ideals(task: Letters, names: tuple[str, ...], noise: float) -> dict[str, FiniteStateModel]:
    """Perfect models of the same skills, in exact fractions."""
    exact = Fraction(str(noise))
    skills = {"background": (), **{name: (name,) for name in names}}
    return {name: interleaved(task, ideal_row(task, known, exact), name) for name, known in skills.items()}


def proved(task: Letters, family: Family, noise: float, folder: Path | None = None) -> dict[str, Any]:
    """Every length: the trained networks at the threshold 0 and at one that separates, and the ideal models at 0.

    With `folder` the models and the certificate of the second are written there, and the certificate is derived again
    from the files alone.
    """
    models, names = as_models(task, family), tuple(family.experts)
    off, on = oscillations(task, models)
    numbers: dict[str, Any] = {"off": off, "on": on, "ideal": _told(verified(ideals(task, names, noise), 0))}
    numbers["threshold 0"] = _told(verified(models, 0))
    if off < on:
        threshold = Fraction(math.ceil(10 * off), 10)
        report = verified(models, threshold if threshold < on else Fraction((off + on) / 2))
        numbers["threshold"] = _told(report)
        distance = report["exact_switching"].residual
        numbers["largest_distance"] = None if distance is None else float(distance)
        if folder is not None:
            numbers["certificate"] = certified(models, float(report.question.threshold), folder)
    return numbers


def verified(models: Mapping[str, FiniteStateModel], threshold: Any) -> Report:
    """Every length: pointwise joint factorizability at a threshold, which decides; the other claims beside it."""
    experts = {name: model for name, model in models.items() if name != "background"}
    return factorcomp.verify(
        models["background"], experts, length="every", threshold=threshold, require="pointwise_joint"
    )


def oscillations(task: Letters, models: Mapping[str, FiniteStateModel]) -> tuple[float, float]:
    """The oscillations of an expert's log-ratio: the largest where it ought to copy, the least where it ought not."""
    base = models["background"]
    logs = {name: model.rows.log_probs(0, len(base.states)) for name, model in models.items()}
    answers = np.array([token in task.vocabulary for token in base.vocabulary])
    off, on = [0.0], [math.inf]
    for name in models:
        letter = name.partition("->")[0].lower()
        for place, state in enumerate(base.states):
            if name != "background" and " " in state and "," not in state:
                ratio = logs[name][place, answers] - logs["background"][place, answers]
                (on if state.split()[1] == letter else off).append(float(np.ptp(ratio)))
    return max(off), min(on)


def certified(models: Mapping[str, FiniteStateModel], threshold: float, folder: Path) -> dict[str, Any]:
    """Writes the models and the certificate, and derives the certificate again from the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name.replace('->', '_to_')}.json" for name in models}
    for name, model in models.items():
        factorcomp.save(model, files[name])
    report = verified({name: factorcomp.load(file) for name, file in files.items()}, threshold)
    data = certificate(
        report.findings,
        report.question,
        required=report.required,
        vocabulary=report.vocabulary,
        eos=report.eos,
        background=(report.background.name, report.background.sha256),
        experts={name: (model.name, model.sha256) for name, model in report.experts.items()},
    )
    path = folder / "certificate.json"
    write_certificate(path, data)
    experts = {name: file for name, file in files.items() if name != "background"}
    result = factorcomp.check(path, files["background"], experts)
    return {
        "verdict": str(report.verdict),
        "accepted": result.accepted,
        "reasons": list(result.reasons),
        "bytes": path.stat().st_size,
        "states": report.findings.states,
    }


def _told(report: Report) -> dict[str, Any]:
    """Verdict, claims, threshold and the numbers that have a meaning for every length."""
    measures = report.measures
    termination = measures.termination if measures else None
    claims = {
        claim: {"verdict": str(report[claim].verdict), "residual": _number(report[claim].residual)} for claim in CLAIMS
    }
    return {
        "verdict": str(report.verdict),
        "threshold": float(report.question.threshold),
        "states": report.findings.states,
        "claims": claims,
        "expected_length": _number(termination.composition if termination else None),
    }


def _number(value: Any) -> float | str | None:
    if value is None:
        return None
    return float(value) if math.isfinite(value) else str(float(value))
