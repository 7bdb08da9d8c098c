"""Texts as arrays of token numbers: drawn from finite-state models, and spelled out."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from factorcomp import FiniteStateModel

Texts = Int[np.ndarray, "texts length"]


def draw(model: FiniteStateModel, count: int, length: int, random: np.random.Generator) -> Texts:
    """Texts of a model, cut at a length; after EOS, EOS.

    >>> from toy_tasks.skill_segments.grammar import Grammar, ideal
    >>> draw(ideal(Grammar("plain")), 3, 5, np.random.default_rng(0)).shape
    (3, 5)
    """
    upto = np.exp(log_rows(model)).cumsum(axis=1)
    texts = np.zeros((count, length), dtype=np.int64)
    states = np.full(count, model.initial)
    for place in range(length):
        shares = upto[states]
        drawn = (shares > random.random(count)[:, None] * shares[:, -1:]).argmax(axis=1)
        texts[:, place] = drawn
        states = model.next[states, drawn]
    return texts


def log_rows(model: FiniteStateModel) -> Float[np.ndarray, "states vocab"]:
    """The log-probabilities of every state."""
    return model.rows.log_probs(0, model.rows.shape[0])


def states_along(model: FiniteStateModel, texts: Texts) -> Int[np.ndarray, "texts prefixes"]:
    """The states after no, one, … all tokens of each text, all of which the model must know."""
    states = np.full((len(texts), texts.shape[1] + 1), model.initial)
    for place in range(texts.shape[1]):
        states[:, place + 1] = model.next[states[:, place], texts[:, place]]
    return states


def prefixes_to_draw(texts: Texts, eos: int) -> Int[np.ndarray, " texts"]:
    """After how many prefixes of each text something is drawn: all that do not hold EOS, the whole text not counted."""
    ended = (texts == eos).any(axis=1)
    return np.where(ended, (texts == eos).argmax(axis=1) + 1, texts.shape[1])


def spelled(texts: Texts, vocabulary: Sequence[str]) -> list[list[str]]:
    """The texts as lists of tokens."""
    return [[vocabulary[token] for token in text] for text in texts.tolist()]
