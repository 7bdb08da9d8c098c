"""Task arithmetic against composition of logits: the same experts, added up as weights or as logits.

The merged network has the weights `θ_b + sum_i τ_i`, `τ_i = θ_i - θ_b`. Its logits differ from the composed ones by
`E`, of order `s²` as `τ -> sτ` (theory.md, 9.2), and not at all where the network is linearised at `θ_b` (9.1).

The order needs logits that are twice differentiable between `θ_b` and the merged weights. Where a ReLU changes its sign
on the way, `E` is of order `s`: at a prefix the order is seen once `s` is too small for that. So scales go far down,
and the order is told for the mean over prefixes, for their maximum, and for how many it is 2.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from factorcomp.composition.task_arithmetic import Comparison, TaskArithmetic, merge
from toy_tasks.composing import composed, failures_of
from toy_tasks.letter_substitution.configuration import Configuration
from toy_tasks.letter_substitution.letters import Letters
from toy_tasks.letter_substitution.prefixes import rows_of
from toy_tasks.networks import Transformer
from toy_tasks.task import held_out_prompts
from toy_tasks.training import Family, named_key

SCALES = tuple(2.0**-n for n in (0, 1, 2, 3, 4, 6, 8, 10, 12))
SAMPLE = 24
"""Prompts at whose prefixes everything is computed in float64."""


def merged(family: Family, configuration: Configuration, seed: int) -> dict[str, Any]:
    """Success of both for the first `k` experts, and the error of the first two at every prefix of right answers."""
    task, longest = Letters(), configuration.training.longest
    prompts = held_out_prompts(task, configuration.prompts // 4, 1, longest, key=named_key(seed, "arithmetic"))
    names = list(family.experts)
    pair = {name: family.experts[name].network for name in names[:2]}
    right = np.asarray(task.answers(task.skill(names[:2]), jnp.asarray(prompts[:SAMPLE])))
    places, tokens = prefixes(prompts[:SAMPLE], right, task.eos)
    arithmetic = TaskArithmetic.of(logits_of(prompts.shape[1]), family.background.network, pair)
    return {
        "prompts": len(prompts),
        "success": [success(family, names[:k], prompts) for k in range(1, len(names) + 1)],
        "prefixes": len(places),
        **errors(arithmetic, places, tokens),
    }


def success(family: Family, names: list[str], prompts: Int[np.ndarray, "batch prompt"]) -> dict[str, Any]:
    """How often whole answers are right, of the merged network and of the composition; of the first experts."""
    task, experts = Letters(), {name: family.experts[name].network for name in names}
    right = np.asarray(task.answers(task.skill(names), jnp.asarray(prompts)))
    added = merge(family.background.network, experts)
    rows = rows_of([*family.networks(), added], prompts, right)
    found: dict[str, Any] = {"k": len(names)}
    for name, logs in (("merged", rows[-1]), ("composed", composed(rows[: len(names) + 1]))):
        failure, greedy = failures_of(logs, right, task.eos)
        found |= {f"{name}_greedy": float(greedy.mean()), f"{name}_failure": float(failure.mean())}
    return found


def errors(arithmetic: TaskArithmetic, places: Int[np.ndarray, "batch _"], tokens: Any) -> dict[str, Any]:
    """`TV`, `E` and its oscillation at each scale, the slopes, and the same for the linearised network.

    `tokens`: the right ones; `right`: how often they are the likeliest. `of_second_order`: for how many of the prefixes
    the slope of the oscillation between the two smallest scales is 2, to 0.05.
    """
    found = [arithmetic.scaled(scale).compare(places) for scale in SCALES]
    scales = [{"scale": s, **_measured(one, tokens, full=s == 1)} for s, one in zip(SCALES, found, strict=True)]
    own = np.diff(np.log([one.oscillation for one in found[-2:]]), axis=0)[0] / np.diff(np.log(SCALES[-2:]))
    linear = arithmetic.linearized()
    largest = np.abs(linear.logits_at(np.ones(len(arithmetic.names)), places)).max()
    return {
        "scales": scales,
        "slope": {name: slope(scales, name) for name in ("oscillation_mean", "oscillation_max")},
        "of_second_order": float((np.abs(own - 2) < 0.05).mean()),
        "linearized": {**_measured(linear.compare(places), tokens, full=True), "largest_logit": float(largest)},
    }


def _measured(found: Comparison, tokens: Int[np.ndarray, " batch"], full: bool) -> dict[str, float]:
    numbers = {
        "error_max": np.abs(found.error).max(),
        "oscillation_mean": found.oscillation.mean(),
        "oscillation_max": found.oscillation.max(),
        "tv_mean": found.tv.mean(),
        "tv_max": found.tv.max(),
        "bound_max": found.bound.max(),
    }
    if full:  # what the experts are for shows at the whole of their vectors
        numbers |= {
            "merged_right": (found.merged.argmax(axis=1) == tokens).mean(),
            "composed_right": (found.composed.argmax(axis=1) == tokens).mean(),
        }
    return {name: float(number) for name, number in numbers.items()}


def slope(rows: list[dict[str, float]], name: str, last: int = 3) -> float:
    """`d log(number) / d log(scale)`, fitted to the smallest scales.

    >>> slope([{"scale": s, "error_max": 3 * s**2} for s in (1.0, 0.5, 0.25)], "error_max")
    2.0
    """
    chosen = rows[-last:]
    logs = np.log([row["scale"] for row in chosen]), np.log([row[name] for row in chosen])
    return float(round(np.polyfit(*logs, 1)[0], 6))


def prefixes(
    prompts: Int[np.ndarray, "batch prompt"], answers: Int[np.ndarray, "batch answer"], eos: int
) -> tuple[Int[np.ndarray, "prefixes _"], Int[np.ndarray, " prefixes"]]:
    """Every prefix of the answers up to their EOS, as rows of prompt, answer and length, and the token after each.

    >>> prefixes(np.array([[0, 2]]), np.array([[1, 2]]), 2)[0].tolist()
    [[0, 2, 1, 2, 0], [0, 2, 1, 2, 1]]
    """
    lengths = (answers == eos).argmax(axis=1)
    rows = [[*p, *y, t] for p, y, n in zip(prompts, answers, lengths, strict=True) for t in range(n + 1)]
    right = [y[t] for y, n in zip(answers, lengths, strict=True) for t in range(n + 1)]
    return np.array(rows), np.array(right)


def logits_of(width: int) -> Any:
    """The logits of a network at rows of `prefixes`, of prompts so wide; of any network of this structure."""

    @eqx.filter_jit
    def logits(network: Transformer, rows: Int[Array, "batch _"]) -> Float[Array, "batch vocab"]:
        return jax.vmap(lambda row: network(row[:width], row[width:-2])[row[-1]])(rows)

    return logits
