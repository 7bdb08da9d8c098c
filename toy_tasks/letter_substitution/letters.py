"""The task: a prompt of letters is answered letter by letter, then comes EOS.

The background copies; the expert `A->B` answers A by B and copies the other letters. Experts of different
letters compose to the model that substitutes all of them, in any order (theory.md, Remark 4.7).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from toy_tasks.task import AbstractTask

LETTERS = tuple("ABCDEFGHIJKLMNOP")
EIGHT = ("A->B", "C->D", "E->F", "G->H", "I->J", "K->L", "M->N", "O->P")
"""Eight experts, no letter in two of them."""


@dataclass(frozen=True)
class Letters(AbstractTask):
    """The task over these letters.

    >>> task = Letters()
    >>> prompt = jnp.array([task.tokens("ACA")])
    >>> task.spell(task.answers(task.skill(("A->B", "C->D")), prompt)[0])
    'BDB'
    """

    vocabulary: tuple[str, ...] = (*LETTERS, "EOS")

    def skill(self, names: Sequence[str]) -> Int[Array, " vocab"]:
        """What each letter is answered by. If two names give the same letter, the later one counts."""
        table = list(range(len(self.vocabulary)))
        for name in names:
            given, _, answered = name.partition("->")
            table[self.vocabulary.index(given)] = self.vocabulary.index(answered)
        return jnp.array(table)

    def prompts(self, size: int, shortest: int, longest: int, *, key: PRNGKeyArray) -> Int[Array, "size prompt"]:
        """Lengths and letters are uniform; `longest + 1` tokens wide."""
        first, second = jax.random.split(key)
        lengths = jax.random.randint(first, (size, 1), shortest, longest + 1)
        letters = jax.random.randint(second, (size, longest + 1), 0, self.eos)
        return jnp.where(jnp.arange(longest + 1) < lengths, letters, self.eos)

    def answers(self, skill: Int[Array, " vocab"], prompts: Int[Array, "batch prompt"]) -> Int[Array, "batch answer"]:
        """Letter by letter."""
        return skill[prompts]

    def tokens(self, letters: str) -> list[int]:
        """The prompt of these letters, with EOS."""
        return [*(self.vocabulary.index(letter) for letter in letters), self.eos]

    def spell(self, tokens: Int[Array, " _"]) -> str:
        """The letters up to EOS."""
        return "".join(self.vocabulary[token] for token in tokens.tolist()).partition("EOS")[0]
