"""Short prompts, all of them, and after each all beginnings of an answer: decided by enumeration.

Prompt and answer are one sequence `x_1 … x_n y_1 … y_{n+1}`; the letters of the prompt are uniform in all models, so
that a probability of the composition is an average over all prompts of `n` letters.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

import factorcomp
from factorcomp import FunctionModel, TabularModel
from toy_tasks.composing import Composition, composed, logits_after
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.networks import Transformer
from toy_tasks.training import Family

THRESHOLDS = (0, 1, 2, 4, 8, 16, 32, 64)
"""Nats."""
Answering = Callable[[Int[np.ndarray, "batch prompt"], Int[np.ndarray, "batch answer"]], Float[np.ndarray, "batch _ _"]]


def table(task: Letters, length: int, answering: Answering) -> TabularModel:
    """The table of prompts of `length` letters with their answers; `answering` gives the rows after each prefix."""
    uniform = np.append(np.full(task.eos, -math.log(task.eos)), -np.inf)

    def log_probs(prefixes: Any) -> Float[np.ndarray, "batch vocab"]:
        tokens = np.asarray(prefixes)
        place = tokens.shape[1] - length
        if place < 0:
            return np.tile(uniform, (len(tokens), 1))
        prompts = np.pad(tokens[:, :length], ((0, 0), (0, 1)), constant_values=task.eos)
        answers = np.pad(tokens[:, length:], ((0, 0), (0, length - place)), constant_values=task.eos)
        return answering(prompts, answers)[:, place]

    return FunctionModel(log_probs, task.vocabulary, task.vocabulary[-1]).tabulate(2 * length + 1)


def of_network(network: Transformer) -> Answering:
    """The rows of a trained network."""
    model = Composition.of([network])
    return lambda prompts, answers: composed(logits_after(model, prompts, answers))


def of_ideal(task: Letters, skills: Sequence[str], noise: float) -> Answering:
    """The rows of a perfect model: the right token has probability `1 - noise`."""
    wrong = math.log(noise / task.eos) if noise else -math.inf

    def answering(prompts: Int[np.ndarray, "batch prompt"], answers: Any) -> Float[np.ndarray, "batch _ vocab"]:
        right = np.asarray(task.answers(task.skill(skills), prompts))
        return np.where(np.arange(task.eos + 1) == right[..., None], math.log1p(-noise), wrong)

    return answering


def exhausted(task: Letters, family: Family, length: int, noise: float, threshold: float) -> dict[str, Any]:
    """Verdicts on the trained networks at all thresholds and on the ideal models, bounds against truth, and KL."""
    skills = {"background": (), **{name: (name,) for name in family.experts}}
    networks = {"background": family.background.network, **{name: e.network for name, e in family.experts.items()}}
    trained = {name: table(task, length, of_network(network)) for name, network in networks.items()}
    ideal = {name: table(task, length, of_ideal(task, known, noise)) for name, known in skills.items()}
    at = _verified(trained, threshold, bounds=True)
    return {
        "prompts": task.eos**length,
        "kl_ideal_to_trained": {name: divergence(ideal[name], trained[name], task.eos) for name in trained},
        "ideal": _told(_verified(ideal, 0)),
        "thresholds": [_told(_verified(trained, value)) for value in THRESHOLDS],
        "at": {**_told(at), "robust": at.to_json().get("robust")},
    }


def divergence(model: TabularModel, other: TabularModel, eos: int) -> float:
    """`KL` of the laws of two tables: the sum over prefixes of `P(h) KL(p(.|h) || q(.|h))`, up to EOS."""
    total, reach = 0.0, np.ones(1)
    for mine, theirs in zip(model.steps, other.steps, strict=True):
        p, q = mine.log_probs(0, mine.shape[0]), theirs.log_probs(0, theirs.shape[0])
        masses = np.exp(p)
        with np.errstate(invalid="ignore"):
            total += float(reach @ np.where(masses > 0, masses * (p - q), 0.0).sum(axis=1))
        masses[:, eos] = 0.0  # after EOS both are the EOS row
        reach = (reach[:, None] * masses).reshape(-1)
    return total


def _verified(models: Mapping[str, TabularModel], threshold: float, bounds: bool = False) -> factorcomp.Report:
    experts = {name: model for name, model in models.items() if name != "background"}
    return factorcomp.verify(
        models["background"], experts, threshold=threshold, require="pointwise_joint", bounds=bounds
    )


def _told(report: factorcomp.Report) -> dict[str, Any]:
    measures = report.measures
    return {
        "threshold": float(report.question.threshold),
        "pointwise_joint": str(report["pointwise_joint"].verdict),
        "interval_joint": str(report["interval_joint"].verdict),
        "overlap_probability": None if measures is None else float(measures.overlap_probability or 0),
        "tv_to_switching": None if measures is None else float(measures.tv_to_switching or 0),
        "deviating_prefixes": {
            name: expert.deviating_prefixes for name, expert in (measures.experts.items() if measures else ())
        },
    }
