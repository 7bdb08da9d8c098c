"""Trained networks on texts: how often each skill is right, and how far each network is from its ideal model."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, PRNGKeyArray

from factorcomp import FiniteStateModel, compose
from factorcomp.composition.operator import log_normalize
from toy_tasks.composing import BATCH, Composition, composed, generate, logits_after
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
    whole = np.full((-(-len(texts) // BATCH) * BATCH, texts.shape[1]), task.eos)  # always full batches: one program
    whole[: len(texts)] = texts
    return log_normalize(logits_after(model, no_prompts(len(whole), task), whole[:, :-1])[:, : len(texts)])[0]


def drawn_from(texts: Texts, eos: int) -> Float[np.ndarray, "texts prefixes"]:
    """1 at the prefixes after which something is drawn, 0 after EOS."""
    return np.float64(np.arange(texts.shape[1]) < prefixes_to_draw(texts, eos)[:, None])


def restricted(
    logs: Float[np.ndarray, "models *prefixes vocab"], cutoff: float
) -> Float[np.ndarray, "models *prefixes vocab"]:
    """The rows on the tokens to which the background, which comes first, gives at least `cutoff`; normalised again.

    >>> logs = np.log([[[0.6, 0.3, 0.1]], [[0.2, 0.2, 0.6]]])
    >>> np.exp(restricted(logs, 0.2)).round(3).tolist()
    [[[0.667, 0.333, 0.0]], [[0.5, 0.5, 0.0]]]
    """
    return log_normalize(np.where(logs[:1] >= np.log(cutoff), logs, -np.inf))[0]


def divergences(model: Composition, task: Segments, *, count: int, length: int, seed: int) -> dict[str, Any]:
    """`KL(P || P_net) = E_P sum_t KL(p(.|h) || p_net(.|h))` of each network, and of the composition: `P` is ideal.

    `text` and `token`: by texts drawn from `P`; at each of their prefixes the divergence of the rows is exact, what is
    sampled is the prefixes. `exact`: for texts of at most `EXACT` tokens, the expectation over every prefix.
    """
    background, experts = task.models["background"], {skill: task.models[skill] for skill in SKILLS}
    subjects = {"background": background, **experts, "composition": compose(background, experts)}
    return {
        name: _divergence(ideal, model, place if place < len(subjects) - 1 else None, task, count, length, seed)
        for place, (name, ideal) in enumerate(subjects.items())
    }


EXACT = 6
"""Up to this length divergences are computed exactly."""


def _divergence(
    ideal: FiniteStateModel, model: Composition, place: int | None, task: Segments, count: int, length: int, seed: int
) -> dict[str, float]:
    def off(texts: Texts, states: Int[np.ndarray, "texts prefixes"]) -> Float[np.ndarray, "texts prefixes"]:
        logs = logs_along(model, task, texts)
        return row_divergence(log_rows(ideal)[states], composed(logs) if place is None else logs[place])

    texts = draw(ideal, count, length, np.random.default_rng(seed))
    counted = drawn_from(texts, task.eos)
    here = off(texts, states_along(ideal, texts)[:, :-1]) * counted
    found = possible_prefixes(ideal, EXACT)
    every, mass = np.full((sum(len(level.mass) for level in found), length), task.eos), np.zeros((0, length))
    states, start = np.zeros(every.shape, dtype=np.int64), 0
    for level in found:
        rows, size = slice(start, start + len(level.mass)), level.tokens.shape[1]
        every[rows, :size], states[rows, size] = level.tokens, level.states
        share = np.zeros((len(level.mass), length))
        share[:, size], start = level.mass, rows.stop
        mass = np.concatenate([mass, share])
    exact = np.where(mass > 0, mass * off(every, states), 0.0).sum()
    return {"text": here.sum() / count, "token": here.sum() / counted.sum(), "exact": exact}


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
    rows = np.exp(log_rows(ideal))
    rows[:, ideal.eos_index] = 0
    level, levels = Prefixes(np.zeros((1, 0), dtype=np.int64), np.ones(1), np.array([ideal.initial])), []
    for _ in range(length):
        levels.append(level)
        parent, token = np.nonzero(rows[level.states])
        level = Prefixes(
            np.concatenate([level.tokens[parent], token[:, None]], axis=1),
            level.mass[parent] * rows[level.states[parent], token],
            ideal.next[level.states[parent], token],
        )
    return levels


def entries_that_are_right(sample: Sample) -> dict[str, int]:
    """Of the square segments that stand after a round one, how many follow one that is right: what feeds them."""
    fed = [reading.segments for reading in sample.readings if len(reading.segments) > 1]
    return {"entries": len(fed), "right": sum(first.right and first.closed is not None for first, *_ in fed)}
