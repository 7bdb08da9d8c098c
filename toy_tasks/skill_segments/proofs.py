"""What the library proves of the trained networks: every prefix at small lengths, at thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from factorcomp import FunctionModel, Report, TabularModel, compose, verify
from factorcomp.models.rows import FloatRows
from factorcomp.models.tabular import Source
from toy_tasks.networks import Transformer
from toy_tasks.skill_segments.grammar import EOS, SKILLS, ideals
from toy_tasks.skill_segments.measured import restricted
from toy_tasks.skill_segments.stopping import CUTOFF
from toy_tasks.skill_segments.task import Segments

BATCH = 1024
"""Prefixes that a network is given together: always as many, so that one program serves all."""
THRESHOLDS = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
BOUNDED_AT = 1.0
"""The threshold at which bounds are computed."""


@eqx.filter_jit
def _rows(
    network: Transformer, texts: Int[Array, "batch length"], place: Int[Array, ""]
) -> Float[Array, "batch vocab"]:
    logits = jax.vmap(network, (None, 0))(jnp.array([network.shape.eos]), texts)
    return jax.nn.log_softmax(logits[:, place])


def after_prompt(network: Transformer, task: Segments, prompt: Sequence[str], length: int, name: str) -> FunctionModel:
    """A network as a model of the library: what follows a prompt, up to a length."""
    begun = np.array([task.vocabulary.index(token) for token in prompt], dtype=np.int64)
    width = len(begun) + length - 1

    def log_probs(prefixes: Int[Any, "batch length"]) -> Float[np.ndarray, "batch vocab"]:
        count, size = prefixes.shape
        texts = np.full((-(-count // BATCH) * BATCH, width), task.eos)
        texts[:count, : len(begun)] = begun
        texts[:count, len(begun) : len(begun) + size] = prefixes
        place = jnp.array(len(begun) + size)
        parts = [_rows(network, jnp.asarray(texts[i : i + BATCH]), place) for i in range(0, len(texts), BATCH)]
        return np.concatenate([np.asarray(part) for part in parts])[:count]

    return FunctionModel(log_probs, task.vocabulary, EOS, Source(name))


def tables(
    networks: Sequence[Transformer], task: Segments, prompt: Sequence[str], length: int
) -> tuple[TabularModel, dict[str, TabularModel]]:
    """Background and experts after every prefix shorter than `length` that follows the prompt."""
    names = ("background", *SKILLS)
    first, *rest = (
        after_prompt(network, task, prompt, length, name).tabulate(length)
        for network, name in zip(networks, names, strict=True)
    )
    return first, dict(zip(SKILLS, rest, strict=True))


def within_format(
    background: TabularModel, experts: Mapping[str, TabularModel], cutoff: float
) -> tuple[TabularModel, dict[str, TabularModel]]:
    """The same models on the tokens to which the background gives at least `cutoff`, at every prefix."""
    models = (background, *experts.values())
    steps = []
    for length in range(background.horizon):
        count = background.steps[length].shape[0]
        logs = restricted(np.stack([model.steps[length].log_probs(0, count) for model in models]), cutoff)
        steps.append([FloatRows(rows, "log_probs") for rows in logs])
    first, *rest = (replace(model, steps=own) for model, own in zip(models, zip(*steps, strict=True), strict=True))
    return first, dict(zip(experts, rest, strict=True))


def exhaustive(networks: Sequence[Transformer], task: Segments, prompt: Sequence[str], length: int) -> dict[str, Any]:
    """The verdicts after one prompt on every prefix, at each threshold, next to those on the ideal models.

    Of the networks as they are, and of the networks within the format; and how far the two compositions are apart.
    """
    whole = tables(networks, task, prompt, length)
    inside = within_format(*whole, CUTOFF)
    return {
        "prompt": " ".join(prompt),
        "length": length,
        "ideal": occupancy(verify(*ideals(task.grammar, prompt), length=length, bounds=False)),
        "as_they_are": curve(*whole),
        "within_the_format": {"cutoff": CUTOFF, "tv": apart(compose(*whole), compose(*inside)), **curve(*inside)},
    }


def curve(background: TabularModel, experts: Mapping[str, TabularModel]) -> dict[str, Any]:
    """The verdicts at each threshold, and at one of them the bounds beside the truth."""
    reports = [verify(background, experts, threshold=x, bounds=x == BOUNDED_AT) for x in THRESHOLDS]
    (bounded,) = (report for report in reports if report.question.threshold == BOUNDED_AT)
    return {
        "prefixes": reports[0].prefixes,
        "curve": [{"threshold": x, **occupancy(report)} for x, report in zip(THRESHOLDS, reports, strict=True)],
        "bounds": bounds(bounded),
    }


def apart(first: TabularModel, second: TabularModel) -> float:
    """The total variation between two laws of sequences."""
    laws = []
    for model in (first, second):
        mass = np.ones(1)
        for rows in model.steps:
            mass = (mass[:, None] * np.exp(rows.log_probs(0, rows.shape[0]))).reshape(-1)
        laws.append(mass)
    return float(np.abs(laws[0] - laws[1]).sum() / 2)


def occupancy(report: Report) -> dict[str, Any]:
    """The joint claims, the probability to meet a prefix against each, and how long each expert is active."""
    measures = report.measures
    return {
        **{claim: str(report[claim].verdict) for claim in ("pointwise_joint", "interval_joint")},
        "overlap": float(report["pointwise_joint"].residual),
        "both_active": float(report["interval_joint"].residual),
        "tv_to_switching": float(measures.tv_to_switching),
        "active_steps": {name: float(found.expected_active_steps) for name, found in measures.experts.items()},
    }


def bounds(report: Report) -> dict[str, Any]:
    """How far the composition is from what it ought to be, with what bounds it from above (theory.md 8)."""
    found = {}
    for comparison in report.robust.comparisons:
        found[comparison.name] = {
            "tv": float(comparison.tv),
            "bounds": {
                bound.name: _number(bound.value)
                for bound in comparison.bounds
                if bound.quantity == "tv" and not bound.below
            },
        }
    return {"threshold": float(report.question.threshold), **found}


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(float(value)) else float(value)
