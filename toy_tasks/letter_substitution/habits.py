"""Letters with habits: answers are drawn, and may end early or go on, as a skill says.

What is drawn at a place depends on the letter of the prompt there and on the last letter of the answer. Where nothing
is trained badly by itself, a habit is what goes wrong on purpose: a slightly wrong habit of ending, say.

| habit | what it does |
|---|---|
| `A->B` | A is answered by B |
| `A->B@0.6` | so with probability 0.6, otherwise as before |
| `stops@0.02` | before each letter of the prompt, the answer ends with probability 0.02 |
| `goes on@0.5` | after the prompt it goes on, with probability 0.5 each time, by the letter after its last one |
| `even`, `odd` | it may end, where it can go on, after A, C, E … or after B, D, F … alone |

Several make one skill: `A->B, stops@0.04`. They are taken in order, and later ones change what earlier ones said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray
from rich.progress import Progress

from toy_tasks.letter_substitution.configuration import Configuration
from toy_tasks.letter_substitution.letters import EIGHT, Letters
from toy_tasks.networks import Transformer
from toy_tasks.task import Texts, held_out, up_to_eos
from toy_tasks.training import Family, train, train_family

Table = Float[np.ndarray, "last given answered"]


@dataclass(frozen=True)
class Habits(Letters):
    """Letters, with habits that all have: the background and every expert, but for what its own habits change.

    >>> task = Habits(always=("stops@0.25",))
    >>> task.table(("A->B@0.5",))[0, 0, [0, 1, 16]].tolist()
    [0.375, 0.375, 0.25]
    """

    always: tuple[str, ...] = ()

    def table(self, names: Sequence[str], noise: float = 0.0) -> Table:
        """The probabilities of what comes after the last letter (or START), where the prompt has this letter (or EOS).

        With noise: equal parts of it for all other tokens, as training aims at.
        """
        size = len(self.vocabulary)
        table = np.tile(np.eye(size), (size + 1, 1, 1))
        for habit in ", ".join((*self.always, *names)).split(", "):
            if habit:
                self._acquire(table, habit)
        return table * (1 - noise) + (1 - table) * noise / (size - 1)

    def _acquire(self, table: Table, habit: str) -> None:
        what, _, share = habit.partition("@")
        given, arrow, answered = what.partition("->")
        probability, certain = float(share or 1), np.eye(len(self.vocabulary))
        after = np.array([*range(1, self.eos), 0, 0, 0])  # P, EOS and START are followed by A
        letters = np.arange(self.eos)
        if arrow:
            rows, end = table[:, self.vocabulary.index(given)], self.eos
            ends = rows[:, end, None].copy()
            content = rows * (np.arange(end + 1) != end) / (1 - ends)
            aim = certain[self.vocabulary.index(answered)]
            rows[:] = (1 - ends) * (probability * aim + (1 - probability) * content) + ends * certain[end]
        elif what == "stops":
            rows = table[:, :-1]
            rows[..., self.eos] = 0
            rows *= (1 - probability) / rows.sum(axis=-1, keepdims=True)
            rows[..., self.eos] = probability
        elif what == "goes on":
            table[:, self.eos] = probability * certain[after] + (1 - probability) * certain[self.eos]
        elif what in ("even", "odd"):
            others = letters[letters % 2 == (what == "even")]
            table[others, self.eos] = certain[after[others]]
        else:
            raise ValueError(f"no such habit: {habit!r}; needed 'A->B', 'stops', 'goes on', 'even' or 'odd'")

    def skill(self, names: Sequence[str]) -> Float[Array, "last given answered"]:
        """The table."""
        return jnp.asarray(self.table(names), dtype=jnp.float32)

    def answers(self, skill: Float[Array, "last given answered"], prompts: Int[Array, "batch _"]) -> Array:
        """The likeliest token each time; as wide as the prompts, whether it has ended or not."""
        return self._drawn(skill, prompts, jnp.zeros((*prompts.shape, len(self.vocabulary))))

    def texts(
        self, skill: Float[Array, "last given answered"], size: int, shortest: int, longest: int, *, key: PRNGKeyArray
    ) -> Texts:
        """Drawn answers, with what they are drawn from."""
        first, second = jax.random.split(key)
        prompts = self.prompts(size, shortest, longest, key=first)
        noise = jax.random.gumbel(second, (*prompts.shape, len(self.vocabulary)))
        answers = self._drawn(skill, prompts, noise)
        counted = up_to_eos(answers, self.eos) & ~held_out(prompts, self.eos)[:, None]
        return Texts(prompts, answers, counted, skill[self.last(answers), prompts])

    def last(self, answers: Int[Array, "batch answer"]) -> Int[Array, "batch answer"]:
        """The token before each one; START before the first."""
        return jnp.concatenate([jnp.full((len(answers), 1), self.eos + 1), answers[:, :-1]], axis=1)

    def rows(
        self, table: Table, prompts: Int[np.ndarray, "batch _"], answers: Int[np.ndarray, "batch answer"]
    ) -> Array:
        """The logs of a perfect model after each prefix of the answers. The prompts are filled up to their width."""
        filled = np.pad(prompts, ((0, 0), (0, max(0, answers.shape[1] - prompts.shape[1]))), constant_values=self.eos)
        with np.errstate(divide="ignore"):
            return np.log(table[np.asarray(self.last(jnp.asarray(answers))), filled[:, : answers.shape[1]]])

    def _drawn(self, skill: Array, prompts: Array, noise: Array) -> Array:
        def step(last: Array, given: tuple[Array, Array]) -> tuple[Array, Array]:
            letter, noise = given
            drawn = (jnp.log(skill[last, letter]) + noise).argmax(axis=-1)
            drawn = jnp.where(last == self.eos, self.eos, drawn)
            return drawn, drawn

        start = jnp.full(len(prompts), self.eos + 1)
        return jax.lax.scan(step, start, (prompts.T, noise.swapaxes(0, 1)))[1].T


BASE = Habits(always=("stops@0.02", "P->A@0.5"))
"""What the background of most experiments does: it ends early at times, and answers P by P or by A."""
TAIL = Habits(always=("goes on@0.5",))
SHIFT = "stops@0.04, P->P, P->A@0.6"
"""What the common ancestor of some experts does instead."""
EARLY, LATE = (tuple(f"{name}, stops@{share}" for name in EIGHT[:4]) for share in (0.04, 0.01))
SHIFTED = tuple(f"{SHIFT}, {name}" for name in EIGHT[:4])
CONFLICT = ("P->P", "P->A")
PARITY = ("even", "odd")


class Habitual(NamedTuple):
    """Networks with habits: a family of `BASE`, experts made from its expert with `SHIFT`, and a family of `TAIL`."""

    base: Family
    shifted: dict[str, Transformer]
    tail: Family


def train_habits(
    configuration: Configuration, *, seed: int, progress: Progress | None = None, cache: Path | None = None
) -> Habitual:
    """Two backgrounds from scratch; all else is fine-tuned."""
    shape, training = configuration.shape, configuration.training
    names = (*EARLY, *LATE, *CONFLICT, SHIFT)
    base = train_family(BASE, shape, training, names, seed=seed, progress=progress, cache=cache)
    tail = train_family(TAIL, shape, training, PARITY, seed=seed, progress=progress, cache=cache)
    ancestor = base.experts[SHIFT].network
    shifted = {
        name: train(BASE, shape, training, (name,), seed=seed, start=ancestor, progress=progress).network
        for name in SHIFTED
    }
    return Habitual(base, shifted, tail)
