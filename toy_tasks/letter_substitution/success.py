"""Do background, experts and composition answer prompts that they were not trained on?

Success is the whole answer, EOS included. It is measured in three ways: the likeliest token each time (greedy), drawn
answers (sampled), and the exact probability that a drawn answer fails, which needs no drawing.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from toy_tasks.composing import Composition, failures, generate
from toy_tasks.letter_substitution.configuration import Configuration
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.task import held_out_prompts
from toy_tasks.training import Family, named_key

Prompts = Int[np.ndarray, "batch prompt"]


class Subject(NamedTuple):
    """A model, and the skills that it ought to have."""

    model: Composition
    skills: tuple[str, ...]


def subjects(family: Family) -> dict[str, Subject]:
    """The background, each expert, and the composition of all."""
    alone = {name: Subject(Composition.of([expert.network]), (name,)) for name, expert in family.experts.items()}
    background = Subject(Composition.of([family.background.network]), ())
    return {"background": background, **alone, "composition": Subject(Composition.of(family.networks()), (*alone,))}


def evaluated(found: Mapping[str, Subject], configuration: Configuration, seed: int) -> dict[str, Any]:
    """The success of each subject on held-out prompts of the trained lengths, greedy, sampled and exact."""
    task, longest = Letters(), configuration.training.longest
    prompts = held_out_prompts(task, configuration.prompts, 1, longest, key=named_key(seed, "prompts"))
    key = named_key(seed, "sampling")
    return {
        "prompts": len(prompts),
        "lengths": [1, longest],
        **{name: _success(task, subject, prompts, key) for name, subject in found.items()},
    }


def _success(task: Letters, subject: Subject, prompts: Prompts, key: jax.Array) -> dict[str, float]:
    answers = right_answers(task, subject, prompts)
    failure, _ = failures(subject.model, prompts, answers, task.eos)
    drawn = {
        name: np.asarray(generate(subject.model, prompts, answers.shape[1], sampled=jnp.array(sampled), key=key))
        for name, sampled in (("greedy", False), ("sampled", True))
    }
    right = {name: float((found == answers).all(axis=1).mean()) for name, found in drawn.items()}
    return {**right, "failure_mean": float(failure.mean()), "failure_max": float(failure.max())}


def at_lengths(found: Mapping[str, Subject], configuration: Configuration, seed: int) -> dict[str, Any]:
    """For each longer length: greedy success, and the mean probability that a drawn answer is right, by forcing.

    An answer is the greedy one exactly if each of its tokens is the likeliest after those before it.
    """
    task, curves = Letters(), {name: {} for name in found}
    for length in configuration.lengths:
        prompts = held_out_prompts(
            task, configuration.long_prompts, length, length, key=named_key(seed, "prompts", str(length))
        )
        for name, subject in found.items():
            failure, greedy = failures(subject.model, prompts, right_answers(task, subject, prompts), task.eos)
            curves[name][length] = {"greedy": float(greedy.mean()), "sampled": float((1 - failure).mean())}
    return curves


def right_answers(task: Letters, subject: Subject, prompts: Prompts) -> Int[np.ndarray, "batch answer"]:
    """What one who has the subject's skills answers."""
    return np.asarray(task.answers(task.skill(subject.skills), jnp.asarray(prompts)))
