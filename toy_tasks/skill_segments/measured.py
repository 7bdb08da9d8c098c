"""Trained networks on texts: how often each skill is right, and how far each network is from its ideal model."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from factorcomp import FiniteStateModel
from factorcomp.composition.operator import log_normalize
from toy_tasks.composing import Composition, composed, generate, logits_after
from toy_tasks.skill_segments.grammar import SKILLS
from toy_tasks.skill_segments.reading import Reading, read
from toy_tasks.skill_segments.task import Segments, no_prompts
from toy_tasks.skill_segments.texts import Texts, draw, log_rows, prefixes_to_draw, spelled, states_along

Logs = Float[np.ndarray, "models texts prefixes vocab"]


class Sample(NamedTuple):
    """Texts of one model, and what stands in them."""

    texts: Texts
    readings: list[Reading]


def sampled(model: Composition, task: Segments, count: int, length: int, *, key: PRNGKeyArray) -> Sample:
    """Texts drawn from networks, cut at a length."""
    texts = np.asarray(generate(model, no_prompts(count, task), length, sampled=True, key=key))
    return Sample(texts, [read(text, task.grammar) for text in spelled(texts, task.vocabulary)])


def success(sample: Sample, eos: int) -> dict[str, Any]:
    """By kind, how many segments were opened and came to an end, and how many of them are right.

    A segment that is open where a text leaves the format is wrong; one that is open where the text is cut is not
    counted. `broken`: the texts that leave the format; `unended`: those that are cut.
    """
    found = [segment for reading in sample.readings for segment in reading.segments]
    done = [segment for segment in found if segment.closed is not None or not segment.right]
    kinds = {skill: [segment.right for segment in done if segment.kind == skill] for skill in SKILLS}
    return {
        **{skill: {"segments": len(right), "right": sum(right)} for skill, right in kinds.items()},
        "texts": len(sample.readings),
        "broken": sum(reading.broken is not None for reading in sample.readings),
        "unended": int((~(sample.texts == eos).any(axis=1)).sum()),
    }


def logs_along(model: Composition, task: Segments, texts: Texts) -> Logs:
    """`log p(.|h)` of every network after each prefix of the texts but the whole ones."""
    logits = logits_after(model, no_prompts(len(texts), task), texts[:, :-1])
    return log_normalize(logits)[0]


def drawn_from(texts: Texts, eos: int) -> Float[np.ndarray, "texts prefixes"]:
    """1 at the prefixes after which something is drawn, 0 after EOS."""
    return np.float64(np.arange(texts.shape[1]) < prefixes_to_draw(texts, eos)[:, None])


class Divergence(NamedTuple):
    """`KL(P || P_net) = E_P sum_t KL(p(.|h) || p_net(.|h))`, `P` the ideal model: per text, and per token of it."""

    text: float
    token: float


def divergence(
    ideal: FiniteStateModel, model: Composition, task: Segments, *, count: int, length: int, seed: int
) -> Divergence:
    """The divergence of networks (composed) from an ideal model, by texts drawn from the ideal one.

    At each of their prefixes the divergence of the rows is exact; what is sampled is the prefixes.
    """
    texts = draw(ideal, count, length, np.random.default_rng(seed))
    counted = drawn_from(texts, task.eos)
    logs = composed(logits_after(model, no_prompts(count, task), texts[:, :-1]))
    here = row_divergence(log_rows(ideal)[states_along(ideal, texts)[:, :-1]], logs) * counted
    return Divergence(float(here.sum() / count), float(here.sum() / counted.sum()))


def row_divergence(
    ideal: Float[np.ndarray, "*prefixes vocab"], other: Float[np.ndarray, "*prefixes vocab"]
) -> Float[np.ndarray, "*prefixes"]:
    """`sum_y p(y) log p(y)/q(y)`."""
    possible = ideal > -np.inf
    ratio = np.where(possible, ideal, 0.0) - np.where(possible, other, 0.0)
    return (np.exp(ideal) * ratio).sum(axis=-1)


class Prefixes(NamedTuple):
    """The prefixes of one length that an ideal model can reach, EOS not in them: tokens, probabilities, states."""

    tokens: Int[np.ndarray, "prefixes length"]
    mass: Float[np.ndarray, " prefixes"]
    states: Int[np.ndarray, " prefixes"]


def possible_prefixes(ideal: FiniteStateModel, length: int) -> list[Prefixes]:
    """Every prefix shorter than a length that an ideal model can reach, by length."""
    rows, eos = np.exp(log_rows(ideal)), ideal.eos_index
    level = Prefixes(np.zeros((1, 0), dtype=np.int64), np.ones(1), np.array([ideal.initial]))
    levels = []
    for _ in range(length):
        levels.append(level)
        shares = rows[level.states]
        shares[:, eos] = 0
        parent, token = np.nonzero(shares)
        level = Prefixes(
            np.concatenate([level.tokens[parent], token[:, None]], axis=1),
            level.mass[parent] * shares[parent, token],
            ideal.next[level.states[parent], token],
        )
    return levels


def exact_divergence(ideal: FiniteStateModel, model: Composition, task: Segments, length: int) -> float:
    """The divergence for texts of at most `length` tokens: the expectation over every prefix."""
    rows, total = log_rows(ideal), 0.0
    for level in possible_prefixes(ideal, length):
        padded = np.zeros((len(level.tokens), length - 1), dtype=np.int64)
        padded[:, : level.tokens.shape[1]] = level.tokens
        logits = logits_after(model, no_prompts(len(padded), task), padded)[:, :, level.tokens.shape[1]]
        total += float(level.mass @ row_divergence(rows[level.states], composed(logits)))
    return total


def entries_that_are_right(sample: Sample) -> dict[str, int]:
    """Of the square segments that stand after a round one, how many follow one that is right: what feeds them."""
    fed = [reading.segments for reading in sample.readings if len(reading.segments) > 1]
    return {"entries": len(fed), "right": sum(first.right and first.closed is not None for first, *_ in fed)}


def keys(seed: int, names: Mapping[str, Any] | list[str]) -> dict[str, PRNGKeyArray]:
    """A key to draw with for each name."""
    return dict(zip(names, jax.random.split(jax.random.key(seed), len(names)), strict=True))
