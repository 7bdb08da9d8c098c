"""The whole run: ideal models are verified, networks trained, composed, measured and verified."""

import time
from typing import Any

from rich.progress import Progress

from toy_tasks.composing import Composition
from toy_tasks.skill_segments import ideal
from toy_tasks.skill_segments.configuration import PROMPTS, Configuration
from toy_tasks.skill_segments.grammar import SKILLS, Grammar, Variant
from toy_tasks.skill_segments.measured import divergences, entries_that_are_right, logs_along, sampled, success
from toy_tasks.skill_segments.proofs import exhaustive
from toy_tasks.skill_segments.stopping import stopping_times
from toy_tasks.skill_segments.task import Segments
from toy_tasks.training import Family, named_key, train_family


def story(configuration: Configuration, seed: int, progress: Progress | None = None) -> dict[str, Any]:
    """All numbers of a run."""
    return {
        "ideal": ideal.verdicts(),
        "drift": ideal.drift(),
        "trained": {variant: trained(variant, configuration, seed, progress) for variant in configuration.variants},
    }


def trained(
    variant: Variant, configuration: Configuration, seed: int, progress: Progress | None = None
) -> dict[str, Any]:
    """The networks of one variant: trained, then measured."""
    began = time.perf_counter()
    task = Segments(Grammar(variant))
    family = train_family(
        task, configuration.shape(task.grammar), configuration.training, SKILLS, seed=seed, progress=progress
    )
    learned = {"background": family.background, **family.experts}
    middle = time.perf_counter()
    numbers = measured(family, task, configuration, seed)
    seconds = {"training": middle - began, "measuring": time.perf_counter() - middle}
    return {"losses": {name: one.losses for name, one in learned.items()}, **numbers, "seconds": seconds}


def measured(family: Family, task: Segments, configuration: Configuration, seed: int) -> dict[str, Any]:
    """Success, divergence from the ideal models, stopping times, what feeds what, and the exhaustive verdicts."""
    count, length, variant = configuration.texts, configuration.length, task.grammar.variant
    networks = family.networks()
    together = Composition.of(networks)
    subjects = {
        "background": Composition.of(networks[:1]),
        **{skill: Composition.of([network]) for skill, network in zip(SKILLS, networks[1:], strict=True)},
        "composition": together,
    }
    samples = {
        name: sampled(model, task, count, length, key=named_key(seed, variant, name))
        for name, model in subjects.items()
    }
    own = samples["composition"]
    fed = {"fed": {name: entries_that_are_right(sample) for name, sample in samples.items()}}
    return {
        "success": {name: success(sample, task.eos) for name, sample in samples.items()},
        "divergence": divergences(together, task, count=count, length=length, seed=seed),
        "stopping": stopping_times(own, logs_along(together, task, own.texts), task.eos),
        **(fed if variant == "feeding" else {}),
        "verified": [exhaustive(networks, task, prompt, configuration.horizon) for prompt in ((), PROMPTS[variant])],
    }
