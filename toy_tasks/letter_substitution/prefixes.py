"""What networks say at every prefix of evaluated answers, and what their composition does there."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.bounds.per_prefix import oscillation_of, total_variation
from factorcomp.composition.operator import compose_rows, log_normalize
from toy_tasks.composing import Composition, failures_of, logits_after
from toy_tasks.letter_substitution.habits import Habits
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.networks import Transformer
from toy_tasks.task import up_to_eos

Logs = Float[np.ndarray, "components batch next vocab"]


class Evaluated(NamedTuple):
    """The logs of the components, the background first, after each prefix of answers to prompts.

    `assigned`: the component that is right there: expert `i` of its letter, or the background. `given`: the letter of
    the prompt, or EOS. `counts`: which prefixes come no later than EOS.
    """

    components: Logs
    answers: Int[np.ndarray, "batch next"]
    assigned: Int[np.ndarray, "batch next"]
    given: Int[np.ndarray, "batch next"]
    counts: Bool[np.ndarray, "batch next"]


def rows_of(
    networks: Sequence[Transformer], prompts: Int[np.ndarray, "batch prompt"], answers: Int[np.ndarray, "batch next"]
) -> Logs:
    """The logs of each network, as float64."""
    return log_normalize(logits_after(Composition.of(networks), prompts, answers[:, :-1]))[0]


def at_prefixes(
    task: Letters,
    components: Logs,
    prompts: Int[np.ndarray, "batch prompt"],
    answers: Int[np.ndarray, "batch next"],
    names: Sequence[str],
) -> Evaluated:
    """`names`: the skills of the experts; where two have a letter, the first is right."""
    given = filled(prompts, answers.shape[1], task.eos)
    of_letter = np.zeros(task.eos + 1, dtype=int)
    for place, name in reversed([*enumerate(names, 1)]):
        letter = next((habit.partition("->")[0] for habit in reversed(name.split(", ")) if "->" in habit), None)
        if letter is not None:
            of_letter[task.vocabulary.index(letter)] = place
    return Evaluated(components, answers, of_letter[given], given, up_to_eos(answers, task.eos))


def compared(
    found: Evaluated, eos: int, subtracted: Float[np.ndarray, "batch next vocab"] | None = None
) -> dict[str, Any]:
    """The composition against the component that is right at each prefix (theory.md, Theorem 8.2).

    `failure`: the exact probability that a drawn answer is wrong. `oscillation`: `osc log(p^/p_a)`, `a` the right
    component. `tv`: of the two. `log_normalizer`: `|log Z|`. Means and maxima over all prefixes.

    **Arguments:** `subtracted`: the rows of another background, which is subtracted instead of the components' own.
    """
    base = found.components[0] if subtracted is None else subtracted
    composed = compose_rows(base, found.components[1:], None, "cancel")
    failure, greedy = failures_of(composed.log_probs, found.answers, eos)
    right = np.take_along_axis(found.components, found.assigned[None, ..., None], axis=0)[0]
    oscillation = oscillation_of(composed.log_probs - right, right)[found.counts]
    tv = total_variation(composed.log_probs, right)[found.counts]
    logs = np.abs(composed.log_normalizer)[found.counts]
    measured = {"failure": failure, "oscillation": oscillation, "tv": tv, "log_normalizer": logs}
    ends = {f"{name}_{kind}": float(getattr(np, kind)(x)) for name, x in measured.items() for kind in ("mean", "max")}
    return {"greedy": float(greedy.mean()), **ends}


def likeliest(
    task: Habits, names: Sequence[str], prompts: Int[np.ndarray, "batch prompt"], width: int
) -> Int[np.ndarray, "batch width"]:
    """What a perfect model of these skills answers: the likeliest token each time, EOS after EOS, `width` tokens.

    >>> likeliest(Habits(), ("A->B",), np.array([[0, 2, 16]]), 4).tolist()
    [[1, 2, 16, 16]]
    """
    table, last, found = task.table(names), np.full(len(prompts), task.eos + 1), []
    for given in filled(prompts, width, task.eos).T:
        last = np.where(last == task.eos, task.eos, table[last, given].argmax(axis=-1))
        found.append(last)
    return np.stack(found, axis=1)


def filled(prompts: Int[np.ndarray, "batch prompt"], width: int, eos: int) -> Int[np.ndarray, "batch width"]:
    """The prompts cut, or filled up with EOS, to a width."""
    return np.pad(prompts, ((0, 0), (0, max(0, width - prompts.shape[1]))), constant_values=eos)[:, :width]
