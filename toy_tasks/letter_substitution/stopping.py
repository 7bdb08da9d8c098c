"""Why compositions end too early or too late: the four mechanisms of theory.md, section 10, on trained networks.

| | experts | what happens |
|---|---|---|
| M1 | each ends early somewhat more, or less, often than the background | the log-odds of ending add up |
| M2 | two want different letters at P, where the background wants either; all end alike | what all agree on is to end |
| M3 | all come from an ancestor that ends more often; the one before it is subtracted | as M1; subtract the ancestor |
| M4 | one ends after A, C, E … alone, the other after B, D, F … alone | never |

Well-trained letters do none of it by themselves: the networks are trained on answers that do (`habits.py`). At every
prefix `logit e^ = logit e_b + sum_i (logit e_i - logit e_b) - log Z_q` (10.1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from factorcomp.bounds.ending import eos_terms
from factorcomp.composition.operator import log_normalize
from toy_tasks.composing import composed
from toy_tasks.letter_substitution.configuration import Configuration
from toy_tasks.letter_substitution.habits import (
    BASE,
    CONFLICT,
    EARLY,
    LATE,
    PARITY,
    SHIFT,
    SHIFTED,
    TAIL,
    Habits,
    Habitual,
)
from toy_tasks.letter_substitution.prefixes import Evaluated, Logs, at_prefixes, likeliest, rows_of
from toy_tasks.networks import Transformer
from toy_tasks.task import held_out_prompts
from toy_tasks.training import named_key

Lengths = Float[np.ndarray, " batch"]
SAMPLE = 64
"""Prompts for each mechanism."""


@dataclass(frozen=True)
class Mechanism:
    """Networks, the background first, and what each of them was trained to do.

    `path`: the habit of the answers at whose prefixes they are looked at, after those of the experts. `where`: the
    letters of the prompt at which the terms are averaged.
    """

    task: Habits
    background: str
    experts: tuple[str, ...]
    networks: tuple[Transformer, ...]
    path: str = "stops@0"
    where: str = "ABCDEFGHIJKLMNOP"


def mechanisms(habitual: Habitual) -> dict[str, Mechanism]:
    """All of them, with remedies and controls."""
    base, shifted = habitual.base, tuple(habitual.shifted.values())

    def of_base(*experts: str, where: str = Mechanism.where) -> Mechanism:
        return Mechanism(BASE, "", experts, tuple(base.networks(experts)), where=where)

    return {
        "M1 log-odds add, earlier": of_base(*EARLY),
        "M1 log-odds add, later": of_base(*LATE),
        "M2 content conflict": of_base(*CONFLICT, where="P"),
        "M2 control: agreement": of_base(CONFLICT[1], CONFLICT[1], where="P"),
        "M3 wrong background": Mechanism(BASE, "", SHIFTED, (base.background.network, *shifted)),
        "M3 remedy: the ancestor": Mechanism(BASE, SHIFT, SHIFTED, (base.experts[SHIFT].network, *shifted)),
        "M4 support": Mechanism(TAIL, "", PARITY, tuple(habitual.tail.networks(PARITY)), "goes on@1", "after"),
    }


def stopped(habitual: Habitual, configuration: Configuration, seed: int) -> dict[str, Any]:
    """Each mechanism on trained networks, and on perfect ones."""
    letters, noise = 2 * configuration.training.longest, configuration.training.noise
    short, long = (
        held_out_prompts(BASE, SAMPLE, n, n, key=named_key(seed, "stopping")) for n in (letters // 2, letters)
    )
    return {
        "letters": letters,
        **{
            name: at_work(m, short, 2 * letters, noise) if m.where == "after" else at_work(m, long, letters + 1, noise)
            for name, m in mechanisms(habitual).items()
        },
    }


def at_work(mechanism: Mechanism, prompts: Int[np.ndarray, "batch prompt"], width: int, noise: float) -> dict[str, Any]:
    """For each `k`: the terms, and the mean number of tokens with EOS, if what is answered is right.

    Answers are followed for `width` tokens.
    """
    task, after = mechanism.task, mechanism.where == "after"
    found: dict[str, Any] = {"trained": [], "ideal": [], "identity": 0.0}
    for k in range(len(mechanism.experts) + 1):
        experts = mechanism.experts[:k]
        answers = likeliest(task, (*experts, mechanism.path), prompts, width)
        skills = [mechanism.background, *mechanism.experts]
        ideal = np.stack([task.rows(task.table((skill,), noise), prompts, answers) for skill in skills])
        for kind, rows in (("trained", rows_of(mechanism.networks, prompts, answers)), ("ideal", ideal)):
            evaluated = at_prefixes(task, rows[: k + 1], prompts, answers, experts)
            here = np.isin(evaluated.given, [task.eos] if after else task.tokens(mechanism.where)[:-1])
            row, error = decomposed(evaluated, here & evaluated.counts, task.eos)
            found[kind].append({"k": k, **row})
            found["identity"] = max(found["identity"], error)
            if k == len(mechanism.experts):
                found[f"alone, {kind}"] = [float(mean_length(logs, answers, task.eos).mean()) for logs in rows]
    return found


def decomposed(found: Evaluated, here: Bool[np.ndarray, "batch next"], eos: int) -> tuple[dict[str, float], float]:
    """The means of the terms at these prefixes, the mean lengths, and the largest error of 10.1 at any that counts."""
    logs = composed(found.components)
    terms = eos_terms(found.components.reshape(len(found.components), -1, eos + 1), eos)
    error = np.abs(terms.composition.reshape(here.shape) - logit(logs, eos))
    applies = terms.applies.reshape(here.shape)
    if not (applies | ~found.counts).all():
        raise ValueError("Theorem 10.1 does not apply at a prefix where EOS is impossible or certain")
    mean = here / here.sum()
    row = {
        "background": float((mean * terms.background.reshape(here.shape)).sum()),
        "shifts": float((mean * terms.shifts.sum(axis=0).reshape(here.shape)).sum()),
        "content": float(-(mean * terms.log_content.reshape(here.shape)).sum()),
        "composition": float((mean * logit(logs, eos)).sum()),
        "length": float(mean_length(logs, found.answers, eos).mean()),
        "repaired": float(mean_length(decoupled(found.components, found.assigned, eos), found.answers, eos).mean()),
    }
    return row, float(error[found.counts].max())


def decoupled(
    components: Logs, assigned: Int[np.ndarray, "batch next"], eos: int
) -> Float[np.ndarray, "batch next vocab"]:
    """The repair: EOS as the assigned component has it, what is answered by composition (theory.md, section 10).

    `log p^(EOS) = log e_a` and `log p^(y) = log(1 - e_a) + log q^(y)`, `q^` the composition's kernel given not EOS.
    Where at most one deviates from the background, and is assigned, it is the composition itself.

    >>> rows = np.log([[[[0.5, 0.25, 0.25]]], [[[0.25, 0.5, 0.25]]]])
    >>> np.exp(decoupled(rows, np.array([[1]]), 2)).round(6).tolist()
    [[[0.25, 0.5, 0.25]]]
    """
    own = np.take_along_axis(components, assigned[None, ..., None], axis=0)[0]
    content, _ = log_normalize(_without(composed(components), eos))
    _, rest = log_normalize(_without(own, eos))
    answered = content + rest[..., None]
    answered[..., eos] = own[..., eos]
    return log_normalize(answered)[0]


def mean_length(
    logs: Float[np.ndarray, "batch next vocab"], answers: Int[np.ndarray, "batch next"], eos: int
) -> Lengths:
    """`sum_t prod_{s<t} (1 - e_s)` over the places of these answers: the mean number of tokens, cut at their width.

    `e_s` is the probability of EOS after the first `s` tokens of the answer: the mean length of answers that, as long
    as they go on, are these.

    >>> rows = np.log(np.full((1, 3, 2), 0.5))
    >>> mean_length(rows, np.array([[0, 0, 0]]), 1).tolist()
    [1.75]
    """
    going_on = np.cumprod(1 - np.exp(logs[:, :-1, eos]), axis=1)
    return 1 + going_on.sum(axis=1)


def logit(logs: Float[np.ndarray, "batch next vocab"], eos: int) -> Float[np.ndarray, "batch next"]:
    """`log e/(1 - e)`, `1 - e` summed over the other tokens."""
    return logs[..., eos] - log_normalize(_without(logs, eos))[1]


def _without(logs: Float[np.ndarray, "batch next vocab"], eos: int) -> Float[np.ndarray, "batch next vocab"]:
    return np.where(np.arange(logs.shape[-1]) == eos, -np.inf, logs)
