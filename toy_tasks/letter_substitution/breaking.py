"""What breaks: experts of one letter, many experts, a background that is not the experts' own.

All at the prefixes of evaluated answers, with exact probabilities; beside the trained networks the perfect models,
whose rows are those of the task with the noise that training aims at.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from factorcomp.bounds.per_prefix import oscillation_of, total_variation
from factorcomp.composition.operator import compose_rows
from toy_tasks.composing import Composition, composed, generate
from toy_tasks.letter_substitution.configuration import Configuration
from toy_tasks.letter_substitution.habits import BASE, SHIFT, SHIFTED, Habits, Habitual
from toy_tasks.letter_substitution.letters import EIGHT
from toy_tasks.letter_substitution.prefixes import Logs, at_prefixes, compared, likeliest, rows_of
from toy_tasks.networks import Transformer
from toy_tasks.task import held_out_prompts, up_to_eos
from toy_tasks.training import Family, named_key

Prompts = Int[np.ndarray, "batch prompt"]
OVERLAPPING = ("A->B", "A->D")
NEEDED = (*EIGHT, "A->D")
"""The experts that these questions are about."""


def broken(family: Family, habitual: Habitual, configuration: Configuration, seed: int) -> dict[str, Any]:
    """All of it. `family`: copying, with the experts `NEEDED`."""
    size, longest = configuration.prompts // 4, configuration.training.longest
    prompts = held_out_prompts(Habits(), size, 1, longest, key=named_key(seed, "breaking"))
    noise = configuration.training.noise
    other = habitual.base.background.network
    return {
        "prompts": len(prompts),
        "overlap": overlap(family, prompts, noise, seed),
        "experts": swept(Habits(), family.networks(EIGHT), EIGHT, prompts),
        "wrong_background": swept(Habits(), family.networks(EIGHT), EIGHT, prompts, other),
        "common_shift": shifted(habitual, prompts, noise),
    }


def swept(
    task: Habits,
    networks: Sequence[Transformer],
    names: Sequence[str],
    prompts: Prompts,
    other: Transformer | None = None,
) -> list[Any]:
    """The composition of the first `k` experts against the right component at each prefix, for all `k`.

    With another background, which is subtracted: also the largest `osc log(p^/p^_0)`, `p^_0` the composition with the
    experts' own background `p_0`, against `(k - 1) osc log(p_0/p_b)` (theory.md, 11.1).
    """
    found = []
    for k in range(1, len(names) + 1):
        answers = likeliest(task, names[:k], prompts, prompts.shape[1])
        rows = rows_of(networks if other is None else [*networks, other], prompts, answers)
        evaluated = at_prefixes(task, rows[: k + 1], prompts, answers, names[:k])
        if other is None:
            found.append({"k": k, **compared(evaluated, task.eos)})
            continue
        own, foreign = composed(rows[: k + 1]), composed(np.stack([rows[-1], *rows[1 : k + 1]]))
        moved = oscillation_of(foreign - own, own)[evaluated.counts]
        apart = oscillation_of(rows[0] - rows[-1], rows[0])[evaluated.counts]
        ends = {"moved": float(moved.max()), "predicted": float((k - 1) * apart.max())}
        found.append({"k": k, **compared(evaluated, task.eos, rows[-1]), **ends})
    return found


def overlap(family: Family, prompts: Prompts, noise: float, seed: int) -> dict[str, Any]:
    """Two experts that answer A by different letters: what their composition says, after its own greedy answers."""
    task, networks = Habits(), family.networks(OVERLAPPING)
    answers = np.asarray(
        generate(
            Composition.of(networks),
            jnp.asarray(prompts),
            prompts.shape[1],
            sampled=jnp.array(False),
            key=named_key(seed, "overlap"),
        )
    )
    given = np.where(up_to_eos(answers, task.eos), prompts, -1)
    ideal = np.stack([task.rows(task.table(s, noise), prompts, answers) for s in ((), *((n,) for n in OVERLAPPING))])
    return {
        "trained": _at_letter(task, rows_of(networks, prompts, answers), given),
        "ideal": _at_letter(task, ideal, given),
    }


def _at_letter(task: Habits, components: Logs, given: Int[np.ndarray, "batch next"]) -> dict[str, Any]:
    """At A: the mean of `p^`, how far it goes to each side, `log Z`, `min_a TV(p^, p_a)`; elsewhere how often right."""
    rows = compose_rows(components[0], components[1:], None, "cancel")
    here = given == 0
    answers = np.exp(rows.log_probs[here])
    defect = np.min([total_variation(rows.log_probs, one) for one in components], axis=0)[here]
    copied = {
        name: float(np.exp(rows.log_probs[given == place, place]).mean())
        for place, name in enumerate(task.vocabulary)
        if place != 0 and (given == place).any()
    }
    two = [task.vocabulary.index(name[-1]) for name in OVERLAPPING]
    return {
        "prefixes": int(here.sum()),
        "at_A": {task.vocabulary[n]: float(answers[:, n].mean()) for n in (0, *two)},
        "neither": float(1 - answers[:, two].sum(axis=1).mean()),
        "first_smallest": float(answers[:, two[0]].min()),
        "first_largest": float(answers[:, two[0]].max()),
        "log_normalizer_mean": float(rows.log_normalizer[here].mean()),
        "defect_mean": float(defect.mean()),
        "defect_max": float(defect.max()),
        "other_letters": copied,
    }


def shifted(habitual: Habitual, prompts: Prompts, noise: float) -> list[dict[str, float]]:
    """Experts of an ancestor that answers P by A with 0.6 instead of 0.5: how likely A is, of the two, with `k`.

    `base`: the ancestor's own background is subtracted; the odds grow by 1.5 each time. `ancestor`: the remedy.
    """
    networks = [habitual.base.background.network, habitual.base.experts[SHIFT].network, *habitual.shifted.values()]
    answers = likeliest(BASE, (*SHIFTED, "stops@0"), prompts, prompts.shape[1])
    skills = ("", SHIFT, *SHIFTED)
    perfect = np.stack([BASE.rows(BASE.table((skill,), noise), prompts, answers) for skill in skills])
    trained = rows_of(networks, prompts, answers)
    letters = [BASE.vocabulary.index(letter) for letter in "AP"]
    here = prompts == letters[1]

    def answered(rows: Logs, background: int, k: int) -> float:
        logs: Float[np.ndarray, "batch next vocab"] = composed(np.stack([rows[background], *rows[2 : k + 2]]))
        two = np.exp(logs[here][:, letters])
        return float((two[:, 0] / two.sum(axis=1)).mean())

    return [
        {"k": k}
        | {
            f"{name}, {kind}": answered(rows, place, k)
            for name, place in (("base", 0), ("ancestor", 1))
            for kind, rows in (("trained", trained), ("ideal", perfect))
        }
        for k in range(len(SHIFTED) + 1)
    ]
