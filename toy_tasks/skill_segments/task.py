"""The task for training: texts drawn from the ideal models."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from factorcomp import FiniteStateModel
from toy_tasks.skill_segments.grammar import Grammar, ideals
from toy_tasks.skill_segments.texts import log_rows
from toy_tasks.task import AbstractTask, Texts, up_to_eos


@dataclass(frozen=True)
class Segments(AbstractTask):
    """Texts of one grammar: there is no prompt, and an answer is a text, which ends with EOS or is cut.

    A skill is the log-probabilities of the ideal model in each state `[states, vocab]`; the states are common to all.
    """

    grammar: Grammar

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return self.grammar.vocabulary

    @cached_property
    def models(self) -> dict[str, FiniteStateModel]:
        """The ideal background and experts."""
        background, experts = ideals(self.grammar)
        return {"background": background, **experts}

    def skill(self, names: Sequence[str]) -> Array:
        (name,) = names or ("background",)
        return jnp.asarray(log_rows(self.models[name]), dtype=jnp.float32)

    def prompts(self, size: int, shortest: int, longest: int, *, key: PRNGKeyArray) -> Int[Array, "size prompt"]:
        return jnp.full((size, 1), self.eos)

    def answers(self, skill: Array, prompts: Int[Array, "batch prompt"]) -> Int[Array, "batch answer"]:
        raise NotImplementedError("texts are random: `texts` draws them")

    def texts(self, skill: Array, size: int, shortest: int, longest: int, *, key: PRNGKeyArray) -> Texts:
        following, start = jnp.asarray(self.models["background"].next), self.models["background"].initial

        def step(states: Array, key: PRNGKeyArray) -> tuple[Array, Array]:
            drawn = jax.random.categorical(key, skill[states])
            return following[states, drawn], drawn

        _, drawn = jax.lax.scan(step, jnp.full(size, start), jax.random.split(key, longest))
        texts = drawn.T
        counted = up_to_eos(texts, self.eos)
        return Texts(self.prompts(size, 0, 0, key=key), texts, counted)


def no_prompts(count: int, task: Segments) -> Int[np.ndarray, "count 1"]:
    """The prompt that says nothing, so many times."""
    return np.full((count, 1), task.eos)
