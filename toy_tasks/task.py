"""What a task is: prompts, the answers that a skill gives to them, and the exact distribution of the answers.

A task says what the tokens are, what each skill does, and draws texts for training. Everything else is common to all
tasks: networks, training, composition and sampling. A worked example, a task of one letter that is answered `n` times:

>>> import jax, jax.numpy as jnp
>>> class Repeat(AbstractTask):
...     '''The answer to a letter is the letter, repeated; the skill `twice` repeats it twice.'''
...     vocabulary = ("A", "B", "EOS")
...     def skill(self, names):
...         return jnp.array(2 if "twice" in names else 1)
...     def prompts(self, size, shortest, longest, *, key):
...         letters = jax.random.randint(key, (size, 1), 0, 2)
...         return jnp.concatenate([letters, jnp.full((size, 1), self.eos)], 1)
...     def answers(self, skill, prompts):
...         return jnp.where(jnp.arange(3) < skill, prompts[:, :1], self.eos)
>>> task = Repeat()
>>> texts = task.texts(task.skill(("twice",)), 2, 1, 1, key=jax.random.key(0))
>>> (texts.answers[:, 0] == texts.answers[:, 1]).tolist(), texts.counted.tolist()[0]
([True, True], [True, True, True])

`train` in `training.py` then makes networks of it (`train_family` all that belong together), `Composition` in
`composing.py` composes them.
"""

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

HELD_OUT = 8
"""One prompt in so many is never trained on."""


class Texts(NamedTuple):
    """Texts for training: prompts and answers, filled up with EOS, and which tokens of the answers count.

    `aims`: where answers are random, the distribution that each token was drawn from.
    """

    prompts: Int[Array, "batch prompt"]
    answers: Int[Array, "batch answer"]
    counted: Bool[Array, "batch answer"]
    aims: Float[Array, "batch answer vocab"] | None = None


class AbstractTask(abc.ABC):
    """A task. EOS is the last token of `vocabulary`; prompts and answers are filled up with it.

    All methods are traced by JAX: they compute with arrays alone.
    """

    vocabulary: tuple[str, ...]

    @property
    def eos(self) -> int:
        """The number of EOS."""
        return len(self.vocabulary) - 1

    @abc.abstractmethod
    def skill(self, names: Sequence[str]) -> Array:
        """What one who has these skills does, as numbers; with no names, what the background does.

        An array of one shape and type for all, so that what is compiled for one skill serves every other.
        """

    @abc.abstractmethod
    def prompts(self, size: int, shortest: int, longest: int, *, key: PRNGKeyArray) -> Int[Array, "size prompt"]:
        """Random prompts, of lengths from `shortest` to `longest`, and EOS after each."""

    @abc.abstractmethod
    def answers(self, skill: Array, prompts: Int[Array, "batch prompt"]) -> Int[Array, "batch answer"]:
        """The answers of this skill, which end with EOS. If answers are random, `texts` is overridden too."""

    def texts(self, skill: Array, size: int, shortest: int, longest: int, *, key: PRNGKeyArray) -> Texts:
        """Texts to train on: answers count up to and with EOS, and not at all if the prompt is held out."""
        prompts = self.prompts(size, shortest, longest, key=key)
        answers = self.answers(skill, prompts)
        return Texts(prompts, answers, up_to_eos(answers, self.eos) & ~held_out(prompts, self.eos)[:, None])


def up_to_eos(answers: Int[Any, "batch answer"], eos: int) -> Bool[Any, "batch answer"]:
    """Which tokens come no later than the first EOS; arrays of NumPy or of JAX.

    >>> up_to_eos(np.array([[0, 2, 2]]), 2).tolist()
    [[True, True, False]]
    """
    ends = answers == eos
    return ends.cumsum(axis=1) - ends == 0


def held_out(prompts: Int[Array, "batch prompt"], eos: int) -> Bool[Array, " batch"]:
    """Whether a prompt is held out: by a hash of its tokens, so that what fills it up does not matter.

    >>> bool((held_out(jnp.array([[0, 1, 3]]), 3) == held_out(jnp.array([[0, 1, 3, 3, 3]]), 3)).all())
    True
    """

    places = jnp.arange(1, prompts.shape[1] + 1, dtype=jnp.uint32)
    terms = (prompts + 1).astype(jnp.uint32) * jnp.uint32(0x9E3779B1) ** places
    hashed = jnp.where(prompts == eos, jnp.uint32(0), terms).sum(axis=1, dtype=jnp.uint32)
    hashed = (hashed ^ (hashed >> 15)) * jnp.uint32(0x85EBCA6B)
    return (hashed ^ (hashed >> 13)) % HELD_OUT == 0


def held_out_prompts(
    task: AbstractTask, size: int, shortest: int, longest: int, *, key: PRNGKeyArray
) -> Int[np.ndarray, "size prompt"]:
    """Different random prompts that are held out, in the order drawn: `size`, or fewer where there are too few.

    Four times as many are drawn as hold so many on average.
    """

    @jax.jit
    def draw(key: PRNGKeyArray) -> tuple[Array, Array]:
        prompts = task.prompts(4 * HELD_OUT * size, shortest, longest, key=key)
        return prompts, held_out(prompts, task.eos)

    drawn, kept = map(np.asarray, draw(key))
    _, first = np.unique(drawn[kept], axis=0, return_index=True)
    return drawn[kept][np.sort(first)][:size]
